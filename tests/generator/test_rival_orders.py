"""Orders of a whole region compete; those that certainly take longer than the best so far get no code."""

from __future__ import annotations

from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from generation import generated

from swbuild import attempt, region
from swbuild.mapping.regiontree import Kernel
from swbuild.options import Fusion, KernelOptions, Share, Where
from swbuild.planning import dividing
from swbuild.planning.ordering import Order

#: A loop over time, for which tiles over several steps are compared with the order of the source.
STEPS = """\
#define N 4000
double a[N], b[N];
void f(int n) {
#pragma scop
  for (int t = 0; t < 50; t++) {
    for (int i = 1; i < n - 1; i++)
      b[i] = a[i - 1] + a[i] + a[i + 1];
    for (int i = 1; i < n - 1; i++)
      a[i] = b[i - 1] + b[i] + b[i + 1];
  }
#pragma endscop
}
"""

#: Loops that blocks of the outermost one make several kernels of, one of them for a single CPE.
FACTORS = """\
#define N 2000
double a[N][N];
void f(int n) {
#pragma scop
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
      a[i][k] /= a[k][k];
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        a[i][j] -= a[i][k] * a[k][j];
  }
#pragma endscop
}
"""


def _watched(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> list[Any]:
    """Return what calls of ``name`` in ``module`` return from now on."""
    found: list[Any] = []
    work = getattr(module, name)

    def watched(*args: Any, **more: Any) -> Any:
        found.append(work(*args, **more))
        return found[-1]

    monkeypatch.setattr(module, name, watched)
    return found


def test_the_bound_of_an_order_is_below_its_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    least, compared = (
        _watched(monkeypatch, attempt, "least_cycles"),
        _watched(monkeypatch, region, "compared"),
    )
    generated(tmp_path, STEPS)
    assert len(least) == 1
    assert 0 < least[0] <= compared[1].cpes


def test_orders_that_cannot_win_get_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assembled = _watched(monkeypatch, attempt, "assemble")
    generated(tmp_path, STEPS)
    before = len(assembled)
    monkeypatch.setattr(attempt, "least_cycles", lambda *_: inf)
    generated(tmp_path, STEPS)
    assert len(assembled) - before == before - 1


def test_no_more_kernels_are_placed_of_an_order_that_cannot_win(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = KernelOptions(share=Share.NEVER)  # with boxes that CPEs share, kernels are placed without, too
    limits: list[Any] = []
    placed: list[str] = []
    place_order, place = attempt.place_order, dividing._Task.placed

    def watched(*args: Any) -> Any:
        placed.clear()
        limits.append((args[-1], place_order(*args), list(placed)))
        return limits[-1][1]

    def counted(task: Any, order: Order, kernel: Kernel) -> Any:
        placed.append(kernel.name)
        return place(task, order, kernel)

    monkeypatch.setattr(attempt, "place_order", watched)
    monkeypatch.setattr(dividing._Task, "placed", counted)
    generated(tmp_path, FACTORS, never)
    _, (_, kernels), names = limits[-1]
    assert len(names) == len(kernels) > 2
    monkeypatch.setattr(attempt, "least_cycles", lambda *_: inf)
    generated(tmp_path, FACTORS, never)
    limit, outcome, names = limits[-1]
    assert limit is not None
    assert isinstance(outcome, dividing.Dearer)
    assert names == [kernels[0].tiled.kernel.name]


#: What isl puts into one nest has one parallel loop there; most statements have two by themselves.
FUSED = """\
void f(int n, int way[restrict n][n])
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        way[i][j] = way[i][j] < way[i][k] + way[k][j] ? way[i][j] : way[i][k] + way[k][j];
#pragma endscop
}
"""


def _nests(tmp_path: Path, fusion: Fusion | None) -> list[tuple[int, int]]:
    """Return, per kernel, how many statements it has and how many loops are shared out."""
    (found,) = generated(tmp_path, FUSED, KernelOptions(fusion=fusion, where=Where.CPES)).regions
    return [(len(kernel["statements"]), kernel["mapped_loops"]) for kernel in found.report["kernels"]]


def test_nests_are_kept_apart_where_that_is_estimated_to_take_less_time(tmp_path: Path) -> None:
    chosen, apart, fused = (_nests(tmp_path, fusion) for fusion in (None, Fusion.MIN, Fusion.MAX))
    assert chosen == apart
    assert len(fused) < len(apart)
    assert sum(mapped == 2 for _, mapped in apart) > sum(mapped == 2 for _, mapped in fused)
