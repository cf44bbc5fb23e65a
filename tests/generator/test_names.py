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


@pytest.mark.parametrize("machine", machine_names())
def test_no_loop_starts_from_its_own_iterator(tmp_path: Path, machine: str) -> None:
    unit = generated(tmp_path, ELIMINATION, KernelOptions(machine=machine))
    assert unit.slave is not None
    declared = re.findall(r"const long (\w+) = sw_args->", unit.slave.text)
    loops = re.findall(r"for \(long (\w+) = (.*?);", unit.slave.text)
    assert loops
    for name, first in loops:
        assert name not in declared
        assert not re.search(rf"\b{name}\b", first)


def test_blocks_of_tiles_know_the_host_loops(tmp_path: Path) -> None:
    text = ELIMINATION.replace("int n, double a[restrict n][n]", "int n, double a[restrict n][n + 3]")
    unit = generated(tmp_path, text, KernelOptions(distribution=Distribution.BLOCK))
    assert unit.slave is not None
    blocks = [line for line in unit.slave.text.splitlines() if "sw_tiles0 =" in line]
    declared = set(re.findall(r"const long (\w+) = sw_args->", unit.slave.text))
    for line in blocks:
        assert set(re.findall(r"[a-z]\w*", line.split("=", 1)[1])) <= declared | {"sw_first0"}
    assert blocks
