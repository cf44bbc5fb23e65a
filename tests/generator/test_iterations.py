"""Statements that share scalars of their iteration stay in one nest where nothing is lost by it."""

from __future__ import annotations

import re
from pathlib import Path

from generation import generated

from swbuild.options import Fusion, KernelOptions, Preset

_WHOLE = """
void relax(int n, int m, double w, double a[restrict n][m][4], double b[restrict n][m][4]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double sum = 0;
      for (int k = 0; k < 4; k++)
        sum += a[i][j][k];
      double mean = sum / 4;
      for (int k = 0; k < 4; k++)
        b[i][j][k] = a[i][j][k] + w * (mean - a[i][j][k]);
    }
#pragma endscop
}
"""

#: The inner loop is as long as the array: its data do not fit the LDM for a whole tile.
_LONG = _WHOLE.replace("[4]", "[m]").replace("k < 4", "k < m").replace("int j = 0; j < m", "int j = 0; j < 8")


def _slave(directory: Path, text: str, options: KernelOptions | None = None) -> str:
    slave = generated(directory, text, options).slave
    assert slave is not None
    return slave.text


def test_scalars_of_an_iteration_are_variables_of_the_slave_file(tmp_path: Path) -> None:
    slave = _slave(tmp_path, _WHOLE)
    assert re.search(r"^ +double .*\bsum\b.*;$", slave, re.MULTILINE)
    assert "LDM_sum" not in slave
    assert len(re.findall(r"for \(long j = ", slave)) == 1


def test_a_loop_that_data_must_be_moved_in_is_distributed(tmp_path: Path) -> None:
    slave = _slave(tmp_path, _LONG, KernelOptions(tile=(16,)))
    assert "LDM_sum" in slave
    steps = re.findall(r"^ *for \(long k0 = .*$", slave, re.MULTILINE)
    assert len(steps) == 2
    assert all(line.startswith("      for") for line in steps), "moved between tiles"


def test_tiles_of_the_user_are_kept(tmp_path: Path) -> None:
    slave = _slave(tmp_path, _WHOLE, KernelOptions(tile=(5, 7)))
    assert "LDM_sum" not in slave
    assert "i0 + 4)" in slave
    assert "j0 + 6)" in slave


def test_the_classic_preset_is_what_it_was(tmp_path: Path) -> None:
    assert "LDM_sum" not in _slave(tmp_path, _WHOLE, KernelOptions(preset=Preset.CLASSIC))


def test_a_scalar_that_holds_one_value_after_the_other_is_a_variable(tmp_path: Path) -> None:
    """Sixteen statements of one iteration, as in a collision of lattice Boltzmann methods."""
    lines = [f"c = u {'+-'[k % 2]} {k} * v; f[{k}][i][j] = g[{k}][i][j] + c * c;" for k in range(7)]
    body = "\n".join(["double c, u = g[7][i][j]; double v = g[8][i][j];", *lines])
    text = (
        "void collide(int n, int m, double f[restrict 9][n][m], double g[restrict 9][n][m]) {\n#pragma scop\n"
        f"for (int i = 0; i < n; i++)\nfor (int j = 0; j < m; j++) {{\n{body}\n}}\n#pragma endscop\n}}\n"
    )
    unit = generated(tmp_path, text)
    (region,) = unit.regions
    assert region.report["private"] == ["c", "u", "v"]
    assert region.report["sequential_loops"] == [] and region.report["host_statements"] == []
    (kernel,) = region.report["kernels"]
    assert kernel["host_loops"] == 0 and kernel["mapped_loops"] == 2
    assert unit.slave is not None and re.search(r"^ +double c;$", unit.slave.text, re.MULTILINE)
    assert len(re.findall(r"for \(long j = ", unit.slave.text)) == 1


_APART = """
void shift(int n, int m, double a[restrict n][m], double b[restrict n][m], double c[restrict n][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      b[i][j] = 2 * a[i][j];
      c[i][j] = 3 * a[i][j];
    }
#pragma endscop
}
"""

#: In one nest the second statement would keep all of it from being parallel in j.
_SEQUENTIAL = _APART.replace("c[i][j] = 3 * a[i][j]", "c[i][j] = j ? c[i][j - 1] : 1")


def _kernels(directory: Path, text: str, options: KernelOptions | None = None) -> list[list[str]]:
    (region,) = generated(directory, text, options).regions
    return [kernel["statements"] for kernel in region.report["kernels"]]


def test_statements_of_one_nest_share_a_kernel(tmp_path: Path) -> None:
    assert _kernels(tmp_path, _APART) == [["S0", "S1"]]


def test_statements_are_separate_kernels_where_one_would_lose_a_parallel_loop(tmp_path: Path) -> None:
    assert sorted(_kernels(tmp_path, _SEQUENTIAL)) == [["S0"], ["S1"]]


def test_minimal_fusion_separates_them(tmp_path: Path) -> None:
    assert len(_kernels(tmp_path, _APART, KernelOptions(fusion=Fusion.MIN))) == 2
