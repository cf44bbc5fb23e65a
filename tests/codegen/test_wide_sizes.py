"""Numbers beyond long are negative to generated code: sizes of type unsigned long that large are declined."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulator_programs import build_generated, launch, run_serially
from generation import generated

from swbuild.options import KernelOptions, Where

#: A counter that starts with the number that ends its loop, or beyond its end, makes no iteration.
PROGRAM = """
#include <stdio.h>
void narrow(unsigned last, double *restrict a) {
#pragma scop
    for (unsigned i = last; i != -1; i--) a[i] += 1;
#pragma endscop
}
void wide(unsigned long last, double *restrict a) {
#pragma scop
    for (unsigned long i = last; i != -1; i--) a[i] += 2;
#pragma endscop
}
void below(unsigned long last, unsigned long n, double *restrict a) {
#pragma scop
    for (unsigned long i = last; i < n; i--) a[i] += 3;
#pragma endscop
}
int main(void) {
    static double a[5000];
    narrow(-1, a), narrow(0, a), narrow(4000, a);
    wide(-1, a), wide(0, a), wide(4321, a);
    below(-1, 10, a), below(20, 10, a), below(9, 10, a), below(1500, 4000, a);
    for (int i = 0; i < 5000; i++) printf("%g ", a[i]);
    return 0;
}
"""


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_loops_that_end_below_zero_do_as_in_the_source(machine: str, tmp_path: Path) -> None:
    unit = generated(tmp_path, PROGRAM, KernelOptions(machine=machine, where=Where.CPES))
    assert "last <= 4294967294" in unit.host.text
    assert "if (!(last <= 1099511627776) || last < 0)" in unit.host.text
    build_generated(machine, unit, tmp_path)
    found = launch(machine, tmp_path, "checked")
    assert found.status == 0, found.err
    assert found.out == run_serially(tmp_path / "region.c")
