"""Which of many combinations every run of the tests tries: each value beside others, in turn."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product
from typing import Any

import pytest

__all__ = ["MACHINES", "dealt", "in_turn"]

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


def dealt(names: Collection[str], *settings: tuple[Any, ...]) -> list[Any]:
    """Return parameters: the values of one of ``settings``, and last the names of the programs it is for.

    The programs ``names`` are dealt out to the settings like cards, so that every run tries each program
    under one of them and each setting with its share of the programs.  Other shares are marked ``matrix``.
    """
    hands = [[*names][first :: len(settings)] for first in range(len(settings))]
    found = []
    for shift in range(len(settings)):
        for place, setting in enumerate(settings):
            hand = hands[(place + shift) % len(settings)]
            label = "-".join(getattr(value, "name", str(value)) for value in setting)
            marks = pytest.mark.matrix if shift else ()
            found.append(pytest.param(*setting, hand, id=f"{label}-{hand[0]}", marks=marks))
    return found
