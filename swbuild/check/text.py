"""Outputs of programs as text: equal to the byte, or number by number within a tolerance."""

from __future__ import annotations

import re  # reads output of programs
from collections.abc import Iterator
from itertools import zip_longest

import numpy as np

from swbuild.check.compare import EXACT, Tolerance, compare_arrays
from swbuild.classes import dataclass

__all__ = ["TextDifference", "compare_texts"]

_TOKEN = re.compile(r"\S+")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf(?:inity)?|nan)\Z", re.I)


@dataclass(frozen=True, slots=True)
class TextDifference:
    """The first place where an output differs: ``expected`` or ``actual`` is ``None`` where it has ended."""

    name: str
    line: int
    expected: str | None
    actual: str | None
    count: int

    def __str__(self) -> str:
        return (
            f"{self.name}, line {self.line}: expected {_shown(self.expected)}, got {_shown(self.actual)}"
            f" ({self.count} line{'s' if self.count > 1 else ''} differ)"
        )


def compare_texts(
    name: str, expected: str | None, actual: str | None, tolerance: Tolerance
) -> TextDifference | None:
    """Return the first difference of two outputs, or ``None``; an output that is ``None`` does not exist."""
    if expected == actual:
        return None
    bad = list(_bad_lines(expected, actual, tolerance))
    if not bad:
        return None
    line, left, right = bad[0]
    return TextDifference(name, line, left, right, len(bad))


def _bad_lines(
    expected: str | None, actual: str | None, tolerance: Tolerance
) -> Iterator[tuple[int, str | None, str | None]]:
    if expected is None or actual is None:
        yield 0, expected and _first(expected), actual and _first(actual)
        return
    lines = zip_longest(expected.split("\n"), actual.split("\n"))
    for number, (left, right) in enumerate(lines, 1):
        if left != right and not (tolerance != EXACT and _near(left, right, tolerance)):
            yield number, left, right


def _near(expected: str | None, actual: str | None, tolerance: Tolerance) -> bool:
    """Return whether two lines have the same words and numbers that are near."""
    if expected is None or actual is None:
        return False
    left, right = _TOKEN.findall(expected), _TOKEN.findall(actual)
    return len(left) == len(right) and all(
        _near_token(a, b, tolerance) for a, b in zip(left, right, strict=True)
    )


def _near_token(expected: str, actual: str, tolerance: Tolerance) -> bool:
    if expected == actual:
        return True
    if not (_NUMBER.match(expected) and _NUMBER.match(actual)):
        return False
    numbers = np.array([float(expected)]), np.array([float(actual)])
    return compare_arrays("", *numbers, tolerance).good


def _first(text: str) -> str:
    return text.split("\n", 1)[0]


def _shown(text: str | None) -> str:
    return "nothing" if text is None else repr(text if len(text) <= 100 else text[:97] + "...")
