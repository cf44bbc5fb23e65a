"""The stages whose values can be shown, in the order in which they are reached."""

from __future__ import annotations

from enum import Enum

from swbuild.diagnostics import Diagnostic, Span, SwbuildError

__all__ = ["ALL", "Stage", "parse_stages"]

ALL = "all"


class Stage(Enum):
    """A stage; the value is its name on the command line and in the names of files."""

    SCOP = "scop"
    DEPENDENCES = "dependences"
    SCHEDULE = "schedule"
    CANDIDATES = "candidates"
    PLAN = "plan"
    PROGRAM = "program"
    IR = "ir"


def parse_stages(text: str, flag: str) -> tuple[Stage, ...]:
    """Return the stages that ``text`` names, separated by commas, each once and in their order.

    Raise :class:`SwbuildError` at ``flag`` for every word that names none.
    """
    words = [word.strip() for word in text.split(",")]
    unknown = [word for word in dict.fromkeys(words) if word != ALL and word not in _NAMES]
    if unknown:
        raise SwbuildError(_unknown(word, flag) for word in unknown)
    return tuple(stage for stage in Stage if ALL in words or stage.value in words)


_NAMES = frozenset(stage.value for stage in Stage)


def _unknown(word: str, flag: str) -> Diagnostic:
    from swbuild.manifest.suggest import did_you_mean

    message = f"'{word}' is no stage of the generator" if word else "the name of a stage is missing"
    return Diagnostic("SW100", message, Span(flag), did_you_mean(word, [*(s.value for s in Stage), ALL]))
