"""Of a box that a visit writes, only what it reads of the values from before is got, if that is little."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from generation import generated
from turns import MACHINES, in_turn

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_sources
from swbuild.options import KernelOptions, Where

#: A tridiagonal solver for each row: elimination forwards, substitution backwards.
SOLVER = """void f(int rows, int n, double d[restrict rows][n], double p[restrict rows][n],
       double x[restrict rows][n])
{
#pragma scop
for (int i = 0; i < rows; i++) {
  p[i][0] = 0.5;
  for (int j = 1; j < n; j++)
    p[i][j] = d[i][j] / (4.0 - p[i][j - 1]);
  for (int j = n - 2; j >= 0; j--)
    x[i][j] = d[i][j] - p[i][j] * x[i][j + 1];
}
#pragma endscop
}
"""

#: The same along columns: what is read of the row before is one row.
COLUMNS = """void f(int rows, int n, double d[restrict rows][n], double p[restrict rows][n])
{
#pragma scop
for (int i = 1; i < rows; i++)
  for (int j = 0; j < n; j++)
    p[i][j] = d[i][j] / (4.0 - p[i - 1][j]);
#pragma endscop
}
"""

#: Two steps back, in float: in a tile of one row, nobody reads or writes the one before.
TWO_BACK = (
    COLUMNS.replace("double", "float").replace("int i = 1", "int i = 2").replace("p[i - 1]", "p[i - 2]")
)

#: Some elements keep their values: all of the box is needed to put it.
SOMETIMES = COLUMNS.replace("    p[i][j] =", "    if (d[i][j] > 0.0) p[i][j] =")

#: Each element is read before it is written.
IN_PLACE = COLUMNS.replace("p[i][j] =", "p[i][j] = p[i][j] +")

#: Two bytes an element: less than what is moved at a time.
SMALL = COLUMNS.replace("double", "short").replace("/ (4.0 - p[i - 1][j])", "+ p[i - 1][j]")

LITTLE = {"solver": SOLVER, "columns": COLUMNS}
ALL = {"two back": TWO_BACK, "sometimes": SOMETIMES, "in place": IN_PLACE, "small": SMALL}

_ROW_OF_P = re.compile(r"athread_get\(PE_MODE, p \+ [^;]*, &LDM_p")
_BOX_OF_P = re.compile(r"athread_get\(PE_MODE, p \+ [^;]*, p\w*_ldm")


def _options(machine: str = "sw26010", tile: tuple[int, ...] = ()) -> KernelOptions:
    return KernelOptions(machine=machine, where=Where.CPES, tile=tile)


def _slave(directory: Path, text: str, tile: tuple[int, ...] = ()) -> str:
    unit = generated(directory, text, _options(tile=tile))
    assert unit.slave is not None
    return unit.slave.text


@pytest.mark.parametrize("name", LITTLE)
def test_values_from_before_are_got_alone(name: str, tmp_path: Path) -> None:
    slave = _slave(tmp_path, LITTLE[name])
    assert _ROW_OF_P.search(slave)
    assert "get (what is not written before)" in slave


@pytest.mark.parametrize("name", ALL)
def test_the_box_is_got_where_all_of_it_is_needed(name: str, tmp_path: Path) -> None:
    slave = _slave(tmp_path, ALL[name], (16, 16))
    assert _BOX_OF_P.search(slave)
    assert not _ROW_OF_P.search(slave)


def test_much_of_a_box_is_got_with_all_of_it(tmp_path: Path) -> None:
    """One row of three."""
    slave = _slave(tmp_path, COLUMNS, (16, 2))
    assert _BOX_OF_P.search(slave)
    assert not _ROW_OF_P.search(slave)


@pytest.mark.parametrize(("name", "machine"), in_turn([*LITTLE, *ALL], MACHINES))
@pytest.mark.parametrize("tile", [(), (16, 8), (3, 5)])
def test_results_are_those_of_the_serial_loops(
    name: str, machine: str, tile: tuple[int, ...], tmp_path: Path
) -> None:
    path = tmp_path / "p.c"
    path.write_text((LITTLE | ALL)[name], encoding="utf-8")
    sizes = [(1, 1), (2, 3), (7, 40), (130, 67), (65, 300)]
    check = RegionCheck(tuple({"rows": rows, "n": n} for rows, n in sizes))
    task = SourceTask(path, options={"f": _options(machine, tile)}, default_check=check)
    (result,) = check_sources([task], CheckSettings(modes=("checked", "late"), jobs=1))
    assert result.outcome is Outcome.PASS, result.message
