"""Points of sets at given sizes: counted and listed as isl itself does for sets without parameters."""

from __future__ import annotations

import islpy as isl
import pytest

from swbuild.polyhedral.points import Points, TooMany

SETS = (
    "P[i, j] : 0 <= i < n and i <= j < m and (i + j) mod 3 = 1",
    "P[i, j] : (0 <= i < n and i <= j < m) or (5 <= i < m and 0 <= j < n and n > 7)",
    "P[] : n > m",
    "P[i, j] : exists e : i = 2e and 0 <= i < n - j and 0 <= 3j < m and (i > j + 3 or i < j)",
    "P[i] : -n <= 2i <= m or i = 100",
)


@pytest.mark.parametrize("text", SETS)
def test_points_are_those_of_the_set(text: str) -> None:
    whole = isl.Set(f"[n, m] -> {{ {text} }}")
    points = Points(whole)
    for n in (-1, 0, 1, 5, 9, 20):
        for m in (0, 1, 7, 13, 30):
            expected = _listed(whole.intersect_params(isl.Set(f"[n, m] -> {{ : n = {n} and m = {m} }}")))
            assert points.count({"n": n, "m": m}, 10**6) == len(expected)
            assert sorted(map(tuple, points.all({"n": n, "m": m}, 10**6).tolist())) == expected


def test_the_effort_is_limited() -> None:
    points = Points(isl.Set("[n] -> { P[i, j, k] : 0 <= i, j, k < n }"))
    assert points.count({"n": 1000}, 1_000_000) == 10**9
    with pytest.raises(TooMany):
        points.count({"n": 1001}, 1_000_000)


def _listed(values: isl.Set) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    dimensions = range(values.dim(isl.dim_type.set))

    def take(point: isl.Point) -> None:
        values = (point.get_coordinate_val(isl.dim_type.set, i) for i in dimensions)
        found.append(tuple(int(value.to_python()) for value in values))

    values.foreach_point(take)
    return sorted(found)
