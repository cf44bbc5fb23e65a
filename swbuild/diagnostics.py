"""Located messages: the one way in which swbuild speaks of a user's mistake.

A stage that finds a mistake makes a :class:`Diagnostic`, collects as many of them as it can,
and raises them together as one :class:`SwbuildError`.  The command line prints them in the
compilers' own form, ``file:line:column: error[SW101]: what; why  hint: how to fix``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from enum import Enum

from swbuild.classes import dataclass

__all__ = ["INTERNAL", "Diagnostic", "Note", "Severity", "Span", "SwbuildError", "internal_error", "render"]

_REPORT = (
    "this is a defect of swbuild, not of your input; please report it with the input and the output of the "
    "same command under SWBUILD_DEBUG=1"
)

#: The code of a defect of swbuild itself.
INTERNAL = "SW490"


class Severity(Enum):
    """How bad it is: an error stops the stage, a warning and a remark do not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A place in a user's file; lines and columns count from 1, 0 means "unknown"."""

    file: str
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Note:
    """A second place that belongs to a diagnostic (the other end of a dependence, say)."""

    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message: ``code`` is stable (``SW101``), ``message`` says what and why, ``hint`` how to mend it."""

    code: str
    message: str
    span: Span
    hint: str = ""
    severity: Severity = Severity.ERROR
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.span}: {self.severity.value}[{self.code}]: {self.message}"]
        lines += [f"{note.span}: note: {note.message}" for note in self.notes]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class SwbuildError(Exception):
    """A user's mistake (or several of one input); never empty."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        if not found:
            raise ValueError("SwbuildError needs at least one diagnostic")
        self.diagnostics: tuple[Diagnostic, ...] = tuple(sorted(found, key=lambda d: d.span))
        super().__init__(render(self.diagnostics))


def internal_error(error: Exception, span: Span, what: str = "") -> Diagnostic:
    """Return the diagnostic for an exception that should not have come out of swbuild.

    ``what`` says what it was about.  Under ``SWBUILD_DEBUG`` the traceback is printed, too.
    """
    import traceback  # not before there is one

    if os.environ.get("SWBUILD_DEBUG"):
        traceback.print_exception(error)
    place = traceback.extract_tb(error.__traceback__)[-1:]
    where = "".join(f" ({os.path.basename(frame.filename)}:{frame.lineno})" for frame in place)
    said = str(error).split("\n", 1)[0][:200]
    message = f"internal error{what and f' in {what}'}: {type(error).__name__}: {said}{where}"
    return Diagnostic(INTERNAL, message, span, _REPORT)


def render(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the diagnostics as the text that a terminal or a log shows, one after the other."""
    return "\n".join(str(diagnostic) for diagnostic in diagnostics)
