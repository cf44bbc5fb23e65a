"""Diamonds over time are as wide as takes least, by what their fronts move and compute."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest
from generation import unit_of
from turns import MACHINES

from swbuild.machine import load
from swbuild.options import KernelOptions
from swbuild.planning.widths import Plane, cheapest

#: two fields of doubles whose sweeps reach one element far, about as `jacobi_2d` has them
FIELDS = (8, 8)


def plane(machine: str = "sw26010", elements: tuple[int, ...] = FIELDS, slope: int = 1) -> Plane:
    found = load(machine)
    return Plane((slope, slope), 2, elements, found.ldm_budget, 2.0, found)


@pytest.mark.parametrize("machine", MACHINES)
def test_boxes_of_a_piece_fit_the_ldm_and_fill_most_of_it(machine: str) -> None:
    for slope in (1, 2):
        found = plane(machine, slope=slope)
        for width in (12, 20, 32):
            rows, columns = width + 2 * slope, found.length(width) + slope * (width // slope + 2)
            held = rows * columns * sum(FIELDS)
            assert 0.6 * found.budget < held <= found.budget


def test_long_runs_over_large_planes_have_wider_diamonds_than_small_ones() -> None:
    found = plane("sw26010-pro")
    (small, _), (large, _) = (cheapest(found, [(1000, (n, n))]) or (0, 0) for n in (140, 3000))
    assert small < large


def test_short_runs_have_no_wide_diamonds() -> None:
    """The first and the last of their fronts are half empty."""
    found = plane("sw26010-pro")
    widths = [cheapest(found, [(sweeps, (1300, 1300))]) for sweeps in (4, 4000)]
    assert widths[0] is not None and widths[1] is not None and widths[0][0] < widths[1][0]


def test_many_fields_have_narrow_diamonds() -> None:
    """What a piece leans over is to be a small part of it."""
    few, many = (
        cheapest(plane(elements=elements), [(1000, (1000, 1000))]) for elements in (FIELDS, (8,) * 6)
    )
    assert few is not None and many is not None and many[0] < few[0]


def test_sizes_count_alike() -> None:
    found, sizes = plane("sw26010-pro"), [(300, (140, 140)), (3000, (3000, 3000))]
    chosen = cheapest(found, sizes)
    assert chosen is not None

    def loss(width: int) -> float:
        best = [found.cycles((cheapest(found, [size]) or (0, 0))[0], *size) for size in sizes]
        taken = [found.cycles(width, *size) for size in sizes]
        return taken[0] / best[0] * taken[1] / best[1]

    assert loss(chosen[0]) == min(loss(width) for width in range(12, 33, 4))


def test_diamonds_are_over_whole_steps_where_that_can_be() -> None:
    assert replace(plane(), in_a_step=3).widths == [12, 24]
    assert replace(plane(), in_a_step=5).widths == [20]
    assert replace(plane(), in_a_step=7, slopes=(2, 2)).widths == [28]
    assert replace(plane(), in_a_step=9).widths == [*range(12, 33, 4)]


def test_where_no_piece_fits_there_are_no_diamonds() -> None:
    assert cheapest(replace(plane(), budget=1024), [(100, (100, 100))]) is None


def test_a_second_round_for_few_diamonds_is_counted() -> None:
    """One more than the CPEs costs a round more, in which one CPE works alone."""
    found = plane()
    one, two = (
        found.cycles(20, 100, (20 * count, 1000)) for count in (found.machine.cpes - 1, found.machine.cpes)
    )
    assert one < two < inf and two > 1.02 * one


@pytest.mark.parametrize("machine", [pytest.param("sw26010", marks=pytest.mark.matrix), "sw26010-pro"])
def test_sizes_that_are_known_decide(machine: str) -> None:
    def width(n: int) -> int:
        options = KernelOptions(machine=machine, typical={"n": n, "steps": 100})
        (region,) = unit_of("jacobi-2d", options).regions
        front: list[int] = region.report["wavefront_tile"]
        return front[0]

    assert width(120) < width(1200)
