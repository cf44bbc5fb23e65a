"""Rows of what is written that are intervals; iterators in terms of loops that count sums of them."""

from __future__ import annotations

from itertools import product

import islpy as isl
import pytest

from swbuild.expressions.printing import c_text
from swbuild.expressions.trees import names_in
from swbuild.memory.rows import filled_rows, is_rowwise
from swbuild.planning.iterators import iterators_by

WRITTEN = {
    "[n] -> { [t] -> A[i, j] : 4t <= i < 4t + 4 and 0 <= j < n }": True,
    "[n] -> { [t] -> A[i, j] : 0 <= i < n and i <= j < 2i }": True,
    "{ [t] -> A[i, j] : exists (c : 0 <= c < 4 and t <= i < t + 3 and 8t - 2c <= j < 8t - 2c + 5) }": True,
    "{ [t] -> A[i, j] : exists (c : 0 <= c < 4 and t <= i < t + 3 and 8t - 2c <= j < 8t - 2c + 1) }": False,
    "{ [t] -> A[i, j] : 0 <= i < 3 and 0 <= j < 9 and (j) mod 2 = 0 }": False,
    "{ [t] -> A[i, j] : 0 <= i < 3 and (0 <= j < 3 or 4 <= j < 6) }": False,
    "{ [t] -> A[i, j] : 0 <= i < 3 and (0 <= j < 3 or 3 <= j < 6) }": True,
    "{ [t] -> A[j] : t <= j < t + 4 }": True,
    "{ [t] -> A[j] : j = t or j = t + 2 }": False,
    "[n] -> { [t] -> A[j] : j = t or (j = t + 2 and n > 5) }": False,
    "{ [t] -> A[i, j, k] : 0 <= i < 3 and 0 <= j < 9 and (j) mod 2 = 0 and j <= k < 12 }": True,
    "{ [t] -> A[i, j] : 0 <= i < 0 and 0 <= j < 0 }": True,
}


@pytest.mark.parametrize("text", WRITTEN)
def test_rows_are_intervals_if_filling_them_adds_nothing(text: str) -> None:
    written = isl.Map(text)
    assert is_rowwise(written) is WRITTEN[text]
    assert is_rowwise(written) == filled_rows(written).is_subset(written)


#: Factors of t, i and j, and what is added.
LOOPS = {
    "i, j": [(0, 1, 0, 0), (0, 0, 1, 0)],
    "t, 2t + i + j, t + i": [(1, 0, 0, 0), (2, 1, 1, 0), (1, 1, 0, 0)],
    "3t + 2i + j, t + i": [(3, 2, 1, 0), (1, 1, 0, 0)],
    "7 - j, t - i + 3": [(0, 0, -1, 7), (1, -1, 0, 3)],
}


@pytest.mark.parametrize("name", LOOPS)
def test_iterators_come_back_from_what_loops_count(name: str) -> None:
    rows, own = LOOPS[name], ["t", "i", "j"]
    loops = [isl.Aff(f"{{ S[t, i, j] -> [({t}t + {i}i + {j}j + {by})] }}") for t, i, j, by in rows]
    names = [f"c{k}" for k in range(len(loops))]
    found = iterators_by(loops, names, own)
    assert found is not None
    for values in product((-2, 0, 5), repeat=3):
        counted = [sum(f * v for f, v in zip(row, (*values, 1), strict=True)) for row in rows]
        known = {**dict(zip(own, values, strict=True)), **dict(zip(names, counted, strict=True))}
        assert [eval(c_text(each), {}, known) for each in found] == list(values)
    left = {name for each in found for name in names_in(each)} & set(own)
    assert len(left) == 3 - len(loops)


def test_loops_may_begin_at_a_size() -> None:
    loops = [isl.Aff(f"[n] -> {{ S[t, i, j] -> [({text})] }}") for text in ("n - i", "j + i - 2n + 1")]
    found = iterators_by(loops, ["c0", "c1"], ["t", "i", "j"])
    assert found is not None
    known = {"t": 4, "n": 7, "c0": 7 - 3, "c1": 9 + 3 - 14 + 1}
    assert [eval(c_text(each), {}, known) for each in found] == [4, 3, 9]


@pytest.mark.parametrize("text", ["(2i)", "(floor((i)/2))"])
def test_loops_that_count_anything_else_are_not_solved(text: str) -> None:
    loop = isl.Aff(f"{{ S[t, i, j] -> [{text}] }}")
    assert iterators_by([loop], ["c0"], ["t", "i", "j"]) is None
    again = isl.Aff("{ S[t, i, j] -> [(i)] }")
    assert iterators_by([again, again], ["c0", "c1"], ["t", "i", "j"]) is None
