"""Running the C preprocessor, and knowing where each of its output lines comes from."""

from __future__ import annotations

import os
import re  # reads output and messages of the preprocessor
import subprocess
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import accumulate, pairwise
from pathlib import Path

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.frontend.request import CppOptions
from swbuild.timings import count, step

__all__ = [
    "Origin",
    "Preprocessed",
    "compiler_errors",
    "counted_on",
    "preprocess",
    "renumbered",
    "run_compiler",
]

_MARKER = re.compile(r'^#[ \t]*(?:line[ \t]+)?(\d+)[ \t]+"((?:[^"\\]|\\.)*)"([^\n]*)\n?', re.MULTILINE)
_RENUMBERED = re.compile(rb"^[ \t]*(?:#|%:)[ \t]*(?:line\b|\d)[^\r\n]*", re.MULTILINE)
_MACRO = re.compile(r"^#(?:define|undef) ([\w$]+)[^\n]*", re.MULTILINE)
_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b'"': b'"', b"\\": b"\\"}
_COMMAND_LINE = "<command-line>"
_MACHINE_HEADERS = frozenset(("athread.h", "slave.h", "crts.h", "dma.h", "simd.h"))
_GCC_ERROR = re.compile(r"^(.*?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a piece of preprocessed text comes from."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Preprocessed:
    """The preprocessed text of ``path``; ``offsets``, ``files``, ``lines`` and ``system`` (a header of the
    system or of a machine) say what follows each line marker.  ``macros`` are all that were
    ever defined, with the files.
    """

    path: str
    text: str
    offsets: tuple[int, ...] = field(repr=False)
    files: tuple[str, ...] = field(repr=False)
    lines: tuple[int, ...] = field(repr=False)
    system: tuple[bool, ...] = field(repr=False)
    dependencies: tuple[str, ...] = field(repr=False)
    macros: frozenset[tuple[str, str, bool]] = field(repr=False)

    def in_system_header(self, offset: int) -> bool:
        """Return whether the character at ``offset`` comes from a system header."""
        index = bisect_right(self.offsets, offset) - 1
        return index >= 0 and self.system[index]

    def own_texts(self) -> Iterator[str]:
        """Yield the pieces of the text that come from no system header."""
        ends = (*self.offsets[1:], len(self.text))
        for start, end, system in zip(self.offsets, ends, self.system, strict=True):
            if not system:
                yield _MARKER.sub("", self.text[start:end])

    @property
    def own_files(self) -> frozenset[str]:
        """The files of the text that are no system headers."""
        return frozenset(f for f, system in zip(self.files, self.system, strict=True) if not system)

    def own_macros(self) -> frozenset[str]:
        """Return the macros of the user's own files and options."""
        return frozenset(name for name, file, system in self.macros if not (system or file == "<built-in>"))

    def given_macros(self) -> frozenset[str]:
        """Return the macros of the options."""
        return frozenset(name for name, file, _ in self.macros if file == _COMMAND_LINE)

    def origin(self, offset: int) -> Origin:
        """Return the user's file, line and (preprocessed) column of the character at ``offset``."""
        index = bisect_right(self.offsets, offset) - 1
        column = offset - (self.text.rfind("\n", 0, offset) + 1) + 1
        if index < 0:
            return Origin(self.path, self.text.count("\n", 0, offset) + 1, column)
        line = self.lines[index] + self.text.count("\n", self.offsets[index], offset)
        return Origin(self.files[index], line, column)


@step("preprocess")
def preprocess(path: Path, options: CppOptions) -> Preprocessed:
    """Return ``path`` preprocessed by the compiler driver of ``options``; its errors become ours."""
    try:
        done = _preprocessor(path, options)
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


def _preprocessor(path: Path, options: CppOptions) -> subprocess.CompletedProcess[str]:
    """Run the preprocessor; its line markers count the lines of ``path`` whatever ``#line`` says there."""
    text = path.read_bytes()
    if not _RENUMBERED.search(text):
        return run_compiler([options.compiler, "-E", "-dD", *_switches(options), "-x", "c", str(path)])
    return _piped(path, options, _RENUMBERED.sub(b"", text))


def _piped(
    path: Path, options: CppOptions, text: bytes, before: bytes = b""
) -> subprocess.CompletedProcess[str]:
    """Run the preprocessor on ``before`` and then ``text`` in place of what ``path`` holds."""
    name = str(path).replace("\\", "\\\\").replace('"', '\\"')
    plain = before + f'#line 1 "{name}"\n'.encode("utf-8", "surrogateescape") + text
    # Text from a pipe is nobody's neighbour: from "/", only the folders named here have headers.
    beside = f"-iquote{os.path.abspath(path.parent)}"
    away = replace(options, includes=tuple(map(os.path.abspath, options.includes)))
    driver = os.path.abspath(options.compiler) if os.sep in options.compiler else options.compiler
    return run_compiler([driver, "-E", "-dD", beside, *_switches(away), "-x", "c", "-"], plain, "/")


def counted_on(path: Path, options: CppOptions) -> Preprocessed:
    """Return ``path`` preprocessed as if ``__COUNTER__`` had been used before it."""
    text = _RENUMBERED.sub(b"", path.read_bytes())
    return _with_markers(str(path), _piped(path, options, text, b"#if __COUNTER__\n#endif\n").stdout)


def renumbered(path: Path, options: CppOptions) -> Preprocessed | None:
    """Return ``path`` preprocessed with the line numbers that its ``#line`` give; None if there are none."""
    text = path.read_bytes()
    if not _RENUMBERED.search(text):
        return None
    return _with_markers(str(path), _piped(path, options, text).stdout)


def optimised(path: Path, options: CppOptions) -> Preprocessed:
    """Return ``path`` preprocessed as for a build at another level of optimisation."""
    level = "-O0" if any(flag.startswith("-O") and flag != "-O0" for flag in options.flags) else "-O2"
    other = replace(options, flags=(*options.flags, level))
    return _with_markers(str(path), _preprocessor(path, other).stdout)


def _switches(options: CppOptions) -> list[str]:
    return [*options.flags, *(f"-I{d}" for d in options.includes), *(f"-D{d}" for d in options.defines)]


def run_compiler(
    command: Sequence[str], text: bytes | None = None, directory: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a compiler that speaks plain English; give it ``text`` as its input."""
    count("compiler runs")
    done = subprocess.run(
        command, capture_output=True, check=False, env=_english(), input=text, cwd=directory
    )
    out, err = (stream.decode("utf-8", "surrogateescape") for stream in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(command, done.returncode, out, err)


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
    command = [options.compiler, "-fsyntax-only", "-w", *_switches(options), "-x", "c", str(path)]
    done = run_compiler(command)
    return [
        Diagnostic("SW202", f"syntax error: {message}", span, "make the file one that the compiler accepts")
        for span, message in _messages(done.stderr)
    ]


def _unquoted(name: str) -> str:
    """Return the name of a file that a line marker spells as a C string."""
    if "\\" not in name:
        return name
    text = name.encode("utf-8", "surrogateescape")
    found = re.sub(rb"\\([0-7]{1,3}|.)", lambda m: _ESCAPED.get(m[1]) or bytes([int(m[1], 8)]), text)
    return found.decode("utf-8", "surrogateescape")


def _with_markers(path: str, listing: str) -> Preprocessed:
    """Take apart what the preprocessor wrote; lines that define macros become empty ones."""
    macros = tuple(_MACRO.finditer(listing))
    places, files, lines, system = [], [], [], []
    for match in _MARKER.finditer(listing):
        places.append(match.end())
        lines.append(int(match[1]))
        files.append(_unquoted(match[2]))
        system.append("3" in match[3].split() or os.path.basename(files[-1]) in _MACHINE_HEADERS)
    text, offsets = _without(listing, [match.span() for match in macros], places)
    where = [(match[1], bisect_right(places, match.start()) - 1) for match in macros]
    defined = frozenset((name, files[k], system[k]) for name, k in where if k >= 0)
    read = dict.fromkeys(f for f in files if not f.startswith("<") and not f.endswith("/"))
    origins = (tuple(offsets), tuple(files), tuple(lines), tuple(system))
    return Preprocessed(path, text, *origins, tuple(read), defined)


def _without(text: str, spans: Sequence[tuple[int, int]], places: Sequence[int]) -> tuple[str, list[int]]:
    """Return ``text`` without ``spans``, and where ``places``, which are outside of those, are in it."""
    kept = [
        text[before:after]
        for before, after in pairwise((0, *(end for span in spans for end in span), len(text)))
    ]
    ends, removed = [end for _, end in spans], [0, *accumulate(end - start for start, end in spans)]
    return "".join(kept[::2]), [place - removed[bisect_right(ends, place)] for place in places]
