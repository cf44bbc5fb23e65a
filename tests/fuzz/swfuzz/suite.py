"""Runs the C programs of a test suite with their loops marked as regions: serial against offloaded.

    python -m swfuzz.suite DIRECTORY --keep found [--jobs 2] [--seconds 20]

Every outermost loop of every function becomes a region; in functions without loops, runs of assignments do.
Programs that do not compile or do not end well serially say nothing and are left out.  Start it in tests/fuzz
with the swbuild to try on PATH.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["Outcome", "main", "marked", "tried"]

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|^[ \t]*\#(?:[^\n\\]|\\.)*$|\w+|\S""",
    re.DOTALL | re.MULTILINE,
)
_LOOPS = ("for", "while", "do")
_NOT_ASSIGNED = (
    "return",
    "goto",
    "case",
    "default",
    "if",
    "else",
    "switch",
    "break",
    "continue",
    "asm",
    "__asm__",
)


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int


class _Scanner:
    """Finds the statements of function bodies by their brackets; declarations are statements like others."""

    def __init__(self, text: str) -> None:
        found = [_Token(m[0], m.start(), m.end()) for m in _TOKEN.finditer(text)]
        self.tokens = [t for t in found if not t.text.lstrip().startswith(("//", "/*", "#"))]

    def bodies(self) -> Iterator[int]:
        """Yield the opening brackets of function bodies: those after a parenthesis at the top level."""
        at = 0
        while at < len(self.tokens):
            if self.tokens[at].text == "{":
                if at and self.tokens[at - 1].text == ")":
                    yield at
                at = self.bracket(at)
            else:
                at += 1

    def bracket(self, at: int) -> int:
        """Return the place after the bracket that closes the one at ``at``."""
        depth = 0
        for place in range(at, len(self.tokens)):
            depth += (self.tokens[place].text in "({[") - (self.tokens[place].text in ")}]")
            if depth == 0:
                return place + 1
        raise ValueError("a bracket is never closed")

    def statement(self, at: int) -> int:
        """Return the place after the statement that begins at ``at``."""
        word = self.tokens[at].text
        if word == "{":
            return self.bracket(at)
        if word in ("for", "while", "if", "switch"):
            end = self.statement(self.bracket(at + 1))
            if word == "if" and end < len(self.tokens) and self.tokens[end].text == "else":
                return self.statement(end + 1)
            return end
        if word == "do":
            return self.bracket(self.statement(at + 1) + 1) + 1
        while self.tokens[at].text != ";":
            at = self.bracket(at) if self.tokens[at].text in "({[" else at + 1
        return at + 1

    def inside(self, at: int) -> Iterator[tuple[int, int]]:
        """Yield the statements of the block that opens at ``at``."""
        end, at = self.bracket(at) - 1, at + 1
        while at < end:
            yield at, (at := self.statement(at))

    def loops(self, at: int) -> Iterator[tuple[int, int]]:
        """Yield the outermost loops of a block, those of blocks in it included."""
        for first, last in self.inside(at):
            if self.tokens[first].text in _LOOPS:
                yield first, last
            elif self.tokens[first].text == "{":
                yield from self.loops(first)
            elif self.tokens[first].text == "if":
                yield from self.branches(first)

    def branches(self, at: int) -> Iterator[tuple[int, int]]:
        """Yield the outermost loops in the blocks of a conditional and of what follows its ``else``."""
        body = self.bracket(at + 1)
        if self.tokens[body].text == "{":
            yield from self.loops(body)
        other = self.statement(body)
        if self.tokens[other].text != "else":
            return
        if self.tokens[other + 1].text == "if":
            yield from self.branches(other + 1)
        elif self.tokens[other + 1].text == "{":
            yield from self.loops(other + 1)

    def assignments(self, at: int) -> Iterator[tuple[int, int]]:
        """Yield the runs of assignments of a block."""
        run: tuple[int, int] | None = None
        for first, last in self.inside(at):
            if self.is_assignment(first, last):
                run = (run[0] if run else first, last)
            elif run:
                yield run
                run = None
        if run:
            yield run

    def is_assignment(self, first: int, last: int) -> bool:
        words = [token.text for token in self.tokens[first:last]]
        if words[0] in _NOT_ASSIGNED or "{" in words or "=" not in words:
            return False
        left = words[: words.index("=")]
        named = [a for a, b in pairwise(left) if re.match(r"\w", a) and re.match(r"\w", b)]
        pointer = len(left) > 2 and re.match(r"\w", left[0]) is not None and left[1] == "*"
        return not named and not pointer  # two names in a row, or a star between them, declare something


def marked(text: str) -> str | None:
    """Return the C text with its regions marked, None where nothing is to be marked."""
    scanner = _Scanner(text)
    places: list[tuple[int, int]] = []
    try:
        for body in scanner.bodies():
            places += list(scanner.loops(body)) or list(scanner.assignments(body))
    except (ValueError, IndexError):
        return None
    for first, last in reversed(places):
        start, end = scanner.tokens[first].start, scanner.tokens[last - 1].end
        text = f"{text[:start]}\n#pragma scop\n{text[start:end]}\n#pragma endscop\n{text[end:]}"
    return text if places else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """``kind``: ``left out``, ``pass``, ``nothing offloaded``, or what went wrong; ``text`` about it."""

    kind: str
    text: str = ""


_FINE = ("left out", "pass", "skipped", "error", "timeout", "refused", "nothing offloaded")
_KINDS = {0: "pass", 77: "nothing offloaded", 2: "refused"}


def tried(source: Path, directory: Path, seconds: int) -> Outcome:
    """Return what becomes of one program; ``directory`` is empty scratch space."""
    text = marked(source.read_text(encoding="latin-1"))
    if text is None or not re.search(r"\bmain\b", text):
        return Outcome("left out")
    path = directory / source.name
    path.write_text(text, encoding="latin-1")
    include = f"-I{source.parent}"
    build = ["gcc", "-std=gnu99", "-O2", "-w", include, str(path), "-lm", "-o", str(directory / "serial")]
    if not _ends_well(build, directory, 60) or not _ends_well([str(directory / "serial")], directory, 1):
        return Outcome("left out")
    command = ["swbuild", "check", "--program", "--timeout", str(seconds), include, str(path)]
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, timeout=20 * seconds, check=False)
    except subprocess.TimeoutExpired:
        return Outcome("slow", f"swbuild took more than {20 * seconds} s")
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    return Outcome(_kind(done.returncode, said), said)


def _kind(status: int, said: str) -> str:
    verdict = re.search(r"^program: (.+)$", said, re.MULTILINE)
    if "Traceback" in said or "internal error" in said:
        return "traceback"
    return verdict[1] if verdict else _KINDS.get(status, f"status {status}")


def _ends_well(command: list[str], directory: Path, seconds: int) -> bool:
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _one(source: Path, seconds: int) -> tuple[Path, Outcome]:
    with TemporaryDirectory(prefix="swsuite-") as work:
        return source, tried(source, Path(work), seconds)


def main() -> int:
    """Try all programs below a directory; 1 when anything went wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path)
    parser.add_argument("--keep", type=Path, default=Path("found"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=20)
    args = parser.parse_args()
    args.keep.mkdir(parents=True, exist_ok=True)
    sources = sorted(args.directory.rglob("*.c"))
    total: Counter[str] = Counter()
    with ThreadPoolExecutor(args.jobs) as pool:
        for source, outcome in pool.map(lambda s: _one(s, args.seconds), sources):
            total[outcome.kind] += 1
            if outcome.kind not in _FINE:
                print(f"{source}: {outcome.kind}: {outcome.text.strip()[-300:]}", flush=True)
                (args.keep / f"{source.stem}.txt").write_text(f"{source}\n{outcome.kind}\n{outcome.text}")
    print(dict(total))
    return 1 if set(total) - set(_FINE) else 0


if __name__ == "__main__":
    sys.exit(main())
