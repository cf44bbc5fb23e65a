"""Who does what of a kernel: rounds of tiles, rows of different lengths, tiles dealt out together."""

from __future__ import annotations

from itertools import product

import islpy as isl
import pytest

from swbuild.mapping.tiling import Mapping
from swbuild.options import Distribution
from swbuild.planning.counting import bounds_of
from swbuild.planning.loops import Loops, Nest
from swbuild.planning.sharing import Share, share_of

SHAPES = {
    "triangle": "j <= i",
    "other triangle": "j >= i",
    "box": "true",
    "band": "i - 40 <= j <= i",
}


def loops(shape: str, tiles: tuple[int, int], inner: str = "k = 0") -> Loops:
    """Return the loops of a kernel over i and j below n, of which tiles are shared out."""
    domain = f"0 <= i < n and 0 <= j < n and {SHAPES[shape]}"
    a, b = tiles
    first = f"a = {a} * floor(i / {a}) and b = {b} * floor(j / {b})"
    top = isl.Set(f"[n] -> {{ [a, b] : exists i, j : {domain} and {first} }}")
    points = isl.Set(f"[n] -> {{ [a, b, i, j, k] : {domain} and {first} and {inner} }}")
    nests = {"S0": Nest(bounds_of(points, ("n",)), None)}
    return Loops(("n",), ("n",), 2, tiles, 0, bounds_of(top, ("n",)), {}, nests)


def by_hand(shape: str, tiles: tuple[int, int], mapping: Mapping, n: int) -> Share:
    inside = {
        "triangle": lambda i, j: j <= i,
        "other triangle": lambda i, j: j >= i,
        "box": lambda i, j: True,
        "band": lambda i, j: i - 40 <= j <= i,
    }[shape]
    points: dict[tuple[int, int], int] = {}
    for i, j in product(range(n), range(n)):
        if inside(i, j):
            tile = i // tiles[0], j // tiles[1]
            points[tile] = points.get(tile, 0) + 1
    work: dict[object, int] = {}
    most: dict[object, int] = {}
    for number, (tile, count) in enumerate(sorted(points.items())):
        owner: object = tuple(t % c for t, c in zip(tile, mapping.threads, strict=True))
        turn: object = tuple(t // c for t, c in zip(tile, mapping.threads, strict=True))
        if mapping.is_joint:
            turn, owner = divmod(number, mapping.threads[0])
        work[owner] = work.get(owner, 0) + count
        most[turn] = max(count, most.get(turn, 0))
    total = sum(work.values())
    return Share(float(len(work)), max(work.values()) / total, sum(most.values()) / total)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("threads", "distribution"),
    [((8, 8), Distribution.CYCLIC), ((16, 4), Distribution.CYCLIC), ((64, 1), Distribution.JOINT)],
)
@pytest.mark.parametrize(("tiles", "n"), [((8, 8), 100), ((8, 4), 230), ((2, 12), 300)])
def test_shares_are_near_those_of_the_tiles(
    shape: str, threads: tuple[int, int], distribution: Distribution, tiles: tuple[int, int], n: int
) -> None:
    """Whether tiles are looked at one by one or are too many for that."""
    mapping = Mapping(threads, tiles, distribution)
    found = share_of(loops(shape, tiles), mapping, {"S0": 1.0}, (n,))
    right = by_hand(shape, tiles, mapping, n)
    assert found.busy == pytest.approx(right.busy, rel=0.05)
    assert found.largest == pytest.approx(right.largest, rel=0.2)
    few = loops(shape, tiles).top.count((n,)) <= 300
    assert found.in_step == pytest.approx(right.in_step if few else found.largest, rel=0.1)


def test_rounds_that_do_not_begin_with_the_first_cpe_are_one_more() -> None:
    """Tiles from the middle of a round on: no CPE has two, but there are two rounds."""
    top = isl.Set("[n, m] -> { [a] : m <= a < n }")
    points = isl.Set("[n, m] -> { [a, i] : m <= i < n and a = i }")
    nests = {"S0": Nest(bounds_of(points, ("n", "m")), None)}
    names = ("n", "m")
    line = Loops(names, names, 1, (1,), 0, bounds_of(top, names), {}, nests)
    mapping = Mapping((64,), (1,), Distribution.CYCLIC)
    assert share_of(line, mapping, {"S0": 1.0}, (75, 37)) == Share(38.0, 1 / 38, 2 / 38)
    assert share_of(line, mapping, {"S0": 1.0}, (38, 0)) == Share(38.0, 1 / 38, 1 / 38)
