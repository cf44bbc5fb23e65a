"""Running the C preprocessor, and knowing where each of its output lines comes from."""

from __future__ import annotations

import os
import re
import subprocess
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.frontend.request import CppOptions

__all__ = ["Origin", "Preprocessed", "compiler_errors", "preprocess"]

_MARKER = re.compile(r'^#[ \t]*(?:line[ \t]+)?(\d+)[ \t]+"((?:[^"\\]|\\.)*)"[^\n]*\n?', re.MULTILINE)
_GCC_ERROR = re.compile(r"^(.*?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a piece of preprocessed text comes from."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Preprocessed:
    """The preprocessed text of ``path``; ``offsets``,
    ``files`` and ``lines`` say what follows each line marker.
    """

    path: str
    text: str
    offsets: tuple[int, ...] = field(repr=False)
    files: tuple[str, ...] = field(repr=False)
    lines: tuple[int, ...] = field(repr=False)
    dependencies: tuple[str, ...] = field(repr=False)

    def origin(self, offset: int) -> Origin:
        """Return the user's file, line and (preprocessed) column of the character at ``offset``."""
        index = bisect_right(self.offsets, offset) - 1
        column = offset - (self.text.rfind("\n", 0, offset) + 1) + 1
        if index < 0:
            return Origin(self.path, self.text.count("\n", 0, offset) + 1, column)
        line = self.lines[index] + self.text.count("\n", self.offsets[index], offset)
        return Origin(self.files[index], line, column)


def preprocess(path: Path, options: CppOptions) -> Preprocessed:
    """Return ``path`` preprocessed by the compiler driver of ``options``; its errors become ours."""
    command = [
        options.compiler,
        "-E",
        *(f"-I{d}" for d in options.includes),
        *(f"-D{d}" for d in options.defines),
    ]
    try:
        done = subprocess.run(
            [*command, "-x", "c", str(path)],
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
            env=_english(),
        )
    except OSError as error:
        raise SwbuildError(
            Diagnostic(
                "SW201",
                f"cannot run the preprocessor '{options.compiler}': {error.strerror}",
                Span(str(path)),
                "install a C compiler or name one with cpp.compiler",
            )
        ) from error
    if done.returncode:
        raise SwbuildError(_gcc_errors(path, done.stderr))
    return _with_markers(str(path), done.stdout)


def _english() -> dict[str, str]:
    """Return the environment in which compilers speak plain English."""
    return {**os.environ, "LC_ALL": "C"}


def _gcc_errors(path: Path, stderr: str) -> list[Diagnostic]:
    hint = "give include directories and definitions (-I, -D, or 'cpp' in the manifest) as for the compiler"
    found = [
        Diagnostic("SW201", f"preprocessing failed: {message}", span, hint)
        for span, message in _messages(stderr)
    ]
    return found or [
        Diagnostic("SW201", f"preprocessing failed: {stderr.strip()[:500]}", Span(str(path)), hint)
    ]


def _messages(stderr: str) -> list[tuple[Span, str]]:
    return [
        (Span(file, int(line), int(column or 0)), message)
        for file, line, column, message in _GCC_ERROR.findall(stderr)
    ]


def compiler_errors(path: Path, options: CppOptions) -> list[Diagnostic]:
    """Return the syntax errors that the compiler itself finds in ``path`` (none: it takes the file)."""
    switches = [*(f"-I{d}" for d in options.includes), *(f"-D{d}" for d in options.defines)]
    command = [options.compiler, "-fsyntax-only", "-w", *switches, "-x", "c", str(path)]
    done = subprocess.run(
        command, capture_output=True, text=True, errors="surrogateescape", check=False, env=_english()
    )
    return [
        Diagnostic("SW202", f"syntax error: {message}", span, "make the file one that the compiler accepts")
        for span, message in _messages(done.stderr)
    ]


def _with_markers(path: str, text: str) -> Preprocessed:
    offsets, files, lines = [], [], []
    for match in _MARKER.finditer(text):
        offsets.append(match.end())
        lines.append(int(match[1]))
        files.append(match[2].replace('\\"', '"').replace("\\\\", "\\"))
    read = dict.fromkeys(f for f in files if not f.startswith("<") and not f.endswith("/"))
    return Preprocessed(path, text, tuple(offsets), tuple(files), tuple(lines), tuple(read))
