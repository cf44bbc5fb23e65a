"""The pragmas of regions: where they stand in the user's text, and which two belong together.

Generated host files replace whole lines, so each pragma needs a line of its own, and directives between
two of them must not reach out of the region.
"""

from __future__ import annotations

import re  # reads pragmas and directives in the user's text
from collections.abc import Iterable, Iterator, Sequence

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Note, Span, SwbuildError
from swbuild.frontend.preprocess import Preprocessed

__all__ = ["Marker", "find_markers", "paired"]

_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(scop|endscop)\b[ \t]*([^\n]*)", re.MULTILINE)
_PLAIN = re.compile(
    r'\s*(?:(?:\#|%:|\?\?=)\s*pragma\s+(?:scop|endscop)\b[^\\]*|_Pragma\s*\(\s*"[^"]*"\s*\)\s*)'
)
_SKIPPED = re.compile(r'/\*.*?\*/|//(?:\\\n|[^\n])*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)
_CONDITIONAL = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(if|ifdef|ifndef|elif|else|endif)\b")


@dataclass(frozen=True, slots=True)
class Marker:
    """One ``#pragma scop`` (``opens``) or ``#pragma endscop`` that survived preprocessing.

    ``label`` is all that follows on its line.
    """

    opens: bool
    label: str
    offset: int
    file: str
    line: int

    @property
    def text(self) -> str:
        """How the pragma is spelled."""
        return "#pragma scop" if self.opens else "#pragma endscop"

    @property
    def span(self) -> Span:
        """Where it stands."""
        return Span(self.file, self.line, 1)


def find_markers(source: Preprocessed) -> tuple[Marker, ...]:
    """Return the region pragmas of all files that ``source`` is made of, in textual order."""
    found = []
    for match in _PRAGMA.finditer(source.text):
        origin = source.origin(match.start())
        label = " ".join(match[2].split())
        found.append(Marker(match[1] == "scop", label, match.start(), origin.file, origin.line))
    return tuple(found)


def paired(markers: Sequence[Marker], path: str, text: str) -> tuple[tuple[Marker, Marker], ...]:
    """Return the pairs of opening and closing pragmas of the file ``path``, which reads ``text``.

    Raise for all that do not pair or stand where no region can begin or end, and for none at all.
    """
    own = [marker for marker in markers if marker.file == path]
    foreign = [marker for marker in markers if marker.file != path]
    problems: list[Diagnostic] = []
    pairs = list(_pairs(own, foreign, problems))
    lines = _without_comments(text).split("\n")
    problems += _misplaced(own, lines, text.split("\n"))
    problems += _mislabelled(pairs, own)
    problems += _across_conditionals(pairs, lines)
    if not problems and not pairs:
        problems.append(_none(path, foreign))
    if problems:
        raise SwbuildError(problems)
    return tuple(pairs)


def _pairs(
    markers: Iterable[Marker], foreign: Sequence[Marker], problems: list[Diagnostic]
) -> Iterator[tuple[Marker, Marker]]:
    opened: Marker | None = None
    for marker in markers:
        if marker.opens and opened is not None:
            what = "'#pragma scop' inside a region; regions cannot be nested"
            hint = "close the first region with '#pragma endscop'"
            note = Note("the region begins here", opened.span)
            problems.append(Diagnostic("SW204", what, marker.span, hint, notes=(note,)))
        elif marker.opens:
            opened = marker
        elif opened is None:
            what = "'#pragma endscop' without '#pragma scop'"
            hint = "put '#pragma scop' before the first statement of the region"
            problems.append(Diagnostic("SW204", what, marker.span, hint, notes=_elsewhere(foreign, True)))
        else:
            yield opened, marker
            opened = None
    if opened is not None:
        hint = "put '#pragma endscop' after the last statement of the region"
        what, notes = "'#pragma scop' is never closed", _elsewhere(foreign, False)
        problems.append(Diagnostic("SW204", what, opened.span, hint, notes=notes))


def _elsewhere(foreign: Sequence[Marker], opens: bool) -> tuple[Note, ...]:
    """Return notes on the pragmas of other files that somebody may have meant."""
    found = [marker for marker in foreign if marker.opens is opens]
    return tuple(Note(f"this '{marker.text}' is in another file", marker.span) for marker in found[:1])


def _none(path: str, foreign: Sequence[Marker]) -> Diagnostic:
    what, hint = "no '#pragma scop' in this file", "put '#pragma scop' and '#pragma endscop' around the loops"
    if foreign:
        what += ", only in one that it includes"
        hint = "name the file in which the region stands"
    return Diagnostic(
        "SW203", what, Span(path), f"{hint} (and check the -D definitions)", notes=_elsewhere(foreign, True)
    )


def _misplaced(
    markers: Iterable[Marker], lines: Sequence[str], original: Sequence[str]
) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each pragma that has no line of its own, in ``lines`` without comments."""
    for marker in markers:
        line = lines[marker.line - 1] if marker.line <= len(lines) else ""
        alone = _without_comments(original[marker.line - 1]) if line else ""
        if not (_PLAIN.fullmatch(line) and _PLAIN.fullmatch(alone)) or "/*" in alone:
            what = f"'{marker.text}' is in a macro, or shares its line with other text"
            hint = f"write '{marker.text}' on one line of its own"
            yield Diagnostic("SW204", what, marker.span, hint)


def _mislabelled(pairs: Iterable[tuple[Marker, Marker]], markers: Iterable[Marker]) -> Iterator[Diagnostic]:
    for marker in markers:
        if not re.fullmatch(r"(?:[^\W\d]\w*)?", marker.label, re.ASCII):
            what = f"'{marker.label}' is no label of a region"
            hint = "a label is one C identifier; options of a region belong into the manifest"
            yield Diagnostic("SW204", what, marker.span, hint)
    for first, last in pairs:
        if last.label not in ("", first.label):
            what = f"'#pragma endscop {last.label}' ends the region '{first.label or 'without a label'}'"
            note = Note("the region begins here", first.span)
            yield Diagnostic("SW204", what, last.span, "leave the label out, or repeat it", notes=(note,))


def _across_conditionals(
    pairs: Iterable[tuple[Marker, Marker]], lines: Sequence[str]
) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each pair that conditional directives keep apart."""
    for first, last in pairs:
        found = enumerate(lines[first.line : last.line - 1], first.line + 1)
        words = [(number, match[1]) for number, line in found if (match := _CONDITIONAL.match(line))]
        number = _leaving(words)
        if number:
            what = "the region begins and ends in different branches of '#if'"
            note = Note("this directive belongs to one of them only", Span(first.file, number, 1))
            hint = "put both pragmas into one branch, or both around the whole '#if'"
            yield Diagnostic("SW207", what, first.span, hint, notes=(note,))


def _leaving(words: Iterable[tuple[int, str]]) -> int:
    """Return the line of the first conditional directive without its partner, or 0."""
    opened: list[int] = []
    for number, word in words:
        if word.startswith("if"):
            opened.append(number)
        elif not opened:
            return number
        elif word == "endif":
            opened.pop()
    return opened[0] if opened else 0


def _without_comments(text: str) -> str:
    """Return ``text`` with a blank for each comment, its lines where they were."""
    return _SKIPPED.sub(lambda m: m[0] if m[0][0] != "/" else " " + "\n" * m[0].count("\n"), text)
