"""Names in the emitted code never capture each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from generation import generated

from swbuild.machine import machine_names
from swbuild.options import Distribution, KernelOptions

#: elimination: the loop of the host and a loop of the kernel both come from loops named j
ELIMINATION = """void f(int n, double a[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        a[i][j] -= a[i][k] * a[k][j];
      a[i][j] /= a[j][j];
    }
    for (int j = i; j < n; j++)
      for (int k = 0; k < i; k++)
        a[i][j] -= a[i][k] * a[k][j];
  }
#pragma endscop
}
"""


def kernels_in(slave: str) -> str:
    """Return the text of the kernels, without that of a spawn that they are phases of."""
    return slave.partition("\nvoid ")[0] if "\nstatic void" in slave else slave


def declared_in(slave: str) -> list[str]:
    """Return the sizes and the host's loops that kernels fetch, or are passed as phases."""
    return re.findall(r"const long (\w+)(?: = sw_args->|[,)])", kernels_in(slave))


@pytest.mark.parametrize("machine", machine_names())
def test_no_loop_starts_from_its_own_iterator(tmp_path: Path, machine: str) -> None:
    unit = generated(tmp_path, ELIMINATION, KernelOptions(machine=machine))
    assert unit.slave is not None
    declared = declared_in(unit.slave.text)
    loops = re.findall(r"for \(long (\w+) = (.*?);", kernels_in(unit.slave.text))
    assert loops
    for name, first in loops:
        assert name not in declared
        assert not re.search(rf"\b{name}\b", first)


def test_blocks_of_tiles_know_the_host_loops(tmp_path: Path) -> None:
    text = ELIMINATION.replace("int n, double a[restrict n][n]", "int n, double a[restrict n][n + 3]")
    unit = generated(tmp_path, text, KernelOptions(distribution=Distribution.BLOCK))
    assert unit.slave is not None
    blocks = [line for line in unit.slave.text.splitlines() if "sw_tiles0 =" in line]
    declared = set(declared_in(unit.slave.text))
    for line in blocks:
        assert set(re.findall(r"[a-z]\w*", line.split("=", 1)[1])) <= declared | {"sw_first0"}
    assert blocks


#: the host alone counts to i, which macros call a subscript, too
COUNTED_BY_THE_HOST = """void f(int i, double a[restrict 200][300], double b[restrict 200][300])
{
#pragma scop
  for (int t = 0; t < i; t++) {
    for (int x = 0; x < 200; x++)
      for (int y = 0; y < 300; y++)
        a[x][y] = b[y % 200][x] + 1.0;
    for (int x = 0; x < 200; x++)
      for (int y = 0; y < 300; y++)
        b[x][y] = a[199 - x][y] * 0.5;
  }
#pragma endscop
}
"""

#: a size that is only in the way to an element, and one that is only in the length of a row
SIZES = """void f(int n, int m, int k, double a[restrict n][m], int p[restrict n],
       double q[restrict 4 * n][k])
{
#pragma scop
  for (int x = 0; x < n; x++)
    for (int y = 0; y < m; y++)
      a[x][y] = q[p[x] + y][0];
#pragma endscop
}
"""


@pytest.mark.parametrize(("function", "kernel"), [("slave_f", "cpe_slave_f_k0"), ("slaves", "slaves_k0")])
def test_names_of_kernels_do_not_begin_as_slave_compilers_have_it(
    tmp_path: Path, function: str, kernel: str
) -> None:
    unit = generated(tmp_path, ELIMINATION.replace("void f(", f"void {function}("), KernelOptions())
    assert unit.slave is not None and f"void {kernel}(" in unit.slave.text


@pytest.mark.parametrize("distribution", Distribution)
@pytest.mark.parametrize(
    ("source", "named", "unnamed"), [(COUNTED_BY_THE_HOST, (), "i"), (SIZES, ("n", "m", "k"), "p0")]
)
def test_kernels_declare_the_names_that_they_use(
    tmp_path: Path, source: str, named: tuple[str, ...], unnamed: str, distribution: Distribution
) -> None:
    unit = generated(tmp_path, source, KernelOptions(distribution=distribution))
    assert unit.slave is not None and "LDM_" in unit.slave.text
    declared = declared_in(unit.slave.text)
    assert set(named) <= set(declared) and unnamed not in declared
