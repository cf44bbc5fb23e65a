"""Which of many combinations every run of the tests tries: each value beside others, in turn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

__all__ = ["MACHINES", "in_turn"]

MACHINES = ("sw26010", "sw26010-pro")


def in_turn(*axes: Sequence[Any]) -> list[Any]:
    """Return all combinations of values of ``axes`` as parameters, a half of them for every run.

    Those are the ones whose positions add up to an even number, so that each value of an axis comes about as
    often as any other.  The others are marked ``matrix``.
    """
    found = []
    for places in product(*(range(len(axis)) for axis in axes)):
        values = [axis[place] for axis, place in zip(axes, places, strict=True)]
        marks = pytest.mark.matrix if sum(places) % 2 else ()
        found.append(pytest.param(*values, marks=marks))
    return found
