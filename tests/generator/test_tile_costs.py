"""Register tiles as planning prices them, beside those that are emitted."""

from __future__ import annotations

from pathlib import Path

import pytest
from generation import model_of
from hypothesis import given
from hypothesis import strategies as st

from swbuild.attempt import RegionResult
from swbuild.compilation import compile_regions
from swbuild.frontend.scop import Scop
from swbuild.options import KernelOptions, Vectorize
from swbuild.planning.pointnests import point_nests
from swbuild.planning.tilecosts import TileCosts, even_lengths, tile_costs
from swbuild.planning.tilings import Placed

MACHINES = ("sw26010", "sw26010-pro")

PROGRAM = """\
#define N 200
double a[N][N], b[N][N], c[N][N], d[N][N], x[N];
void product(int n) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
void lines(int n) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 1; j < n; j++)
      d[i][j] = 0.5 * (a[i][j - 1] + a[i][j]);
#pragma endscop
}
void halves(int n) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      d[i][j] = a[i][j / 2];
#pragma endscop
}
void relax(int n) {
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      a[i][j] = (a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j]) / 5.0;
#pragma endscop
}
"""

PLAIN = 20.0


def compiled(folder: Path, name: str, options: KernelOptions) -> tuple[Scop, Placed, RegionResult]:
    """Return the model of the function ``name`` of PROGRAM, its kernel, and all that was made of it."""
    model = model_of(folder, PROGRAM)
    (found,) = [
        each.result
        for each in compile_regions(model, {scop.name: options for scop in model.scops})
        if each.scop is not None and each.scop.function == name
    ]
    assert isinstance(found, RegionResult)
    (placed,) = found.placed
    return found.assembled.code.scop, placed, found


def costs_of(folder: Path, name: str, options: KernelOptions) -> TileCosts:
    scop, placed, _ = compiled(folder, name, options)
    found = tile_costs(scop, placed.tiled.schedule, {}, placed.plan.names(), options)
    (tileable,) = found.values()
    return tileable.costs


@given(st.integers(1, 512), st.floats(0.5, 512))
def test_lengths_are_as_long_on_average_as_is_said(most: int, mean: float) -> None:
    lengths = even_lengths(most, mean)
    assert sum(share for share, _ in lengths) == pytest.approx(1)
    assert all(1 <= length <= most for _, length in lengths)
    expected = min(most, max(1.0, mean))
    assert sum(share * length for share, length in lengths) == pytest.approx(expected, abs=1)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ["product", "lines"])
def test_the_nest_that_is_priced_is_the_one_that_is_emitted(tmp_path: Path, machine: str, name: str) -> None:
    options = KernelOptions(machine=machine, tile=(16, 32, 64) if name == "product" else (16, 64))
    scop, placed, result = compiled(tmp_path, name, options)
    (nest,) = point_nests(scop, placed.tiled.schedule, placed.plan.names(), {})
    (kernel,) = result.assembled.code.kernels
    lengths = [((1.0, size),) for size in placed.tiled.sizes]
    costs = costs_of(tmp_path, name, options)
    assert len(nest.nest.loops) == len(placed.tiled.sizes)
    assert [tile.statements for tile in kernel.tiles] == [nest.statements]
    assert costs.per_iteration(lengths, PLAIN) < PLAIN / 2


@pytest.mark.parametrize("machine", MACHINES)
def test_points_along_a_diagonal_are_priced_side_by_side(tmp_path: Path, machine: str) -> None:
    """The loops of such a tile count sums of iterators: the nest that is priced has the innermost alone."""
    scop, placed, result = compiled(tmp_path, "relax", KernelOptions(machine=machine))
    (nest,) = point_nests(scop, placed.tiled.schedule, placed.plan.names(), {})
    (kernel,) = result.assembled.code.kernels
    assert nest.nest.is_slanted
    assert [(tile.statements, len(tile.jammed)) for tile in kernel.tiles] == [(nest.statements, 1)]
    costs = costs_of(tmp_path, "relax", KernelOptions(machine=machine))
    alone, (side_by_side,) = 80.0, [copies for _, copies in kernel.tiles[0].jammed]
    assert costs.per_iteration([((1.0, side_by_side),)], alone) < alone / 2
    assert costs.per_iteration([((1.0, 1),)], alone) == alone


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_left_over_beside_full_tiles_costs_more(tmp_path: Path, machine: str) -> None:
    costs = costs_of(tmp_path, "product", KernelOptions(machine=machine))

    def cycles(*lengths: int) -> float:
        return costs.per_iteration([((1.0, length),) for length in lengths], PLAIN)

    assert cycles(32, 64, 64) < cycles(33, 65, 65) < cycles(7, 7, 7)


def test_a_length_that_nobody_knows_is_long(tmp_path: Path) -> None:
    costs = costs_of(tmp_path, "product", KernelOptions())
    known = costs.per_iteration([((1.0, 64),)] * 3, PLAIN)
    assert costs.per_iteration([(), (), ()], PLAIN) == known


def test_what_has_no_register_tiles_has_no_price(tmp_path: Path) -> None:
    """Subscripts with fractions are not followed, and who wants plain loops gets them."""
    scop, placed, result = compiled(tmp_path, "halves", KernelOptions())
    (kernel,) = result.assembled.code.kernels
    assert kernel.tiles == ()
    assert tile_costs(scop, placed.tiled.schedule, {}, placed.plan.names(), KernelOptions()) == {}
    scop, placed, _ = compiled(tmp_path, "product", KernelOptions())
    plain = KernelOptions(vectorize=Vectorize.NEVER)
    assert tile_costs(scop, placed.tiled.schedule, {}, placed.plan.names(), plain) == {}
    assert tile_costs(scop, placed.tiled.schedule, {}, {}, KernelOptions()) == {}
