# ruff: noqa: E501 (C text is easier to read in one line)
"""Arrays of unknown length whose last row ends early: nothing behind their last element is read or written."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulator_programs import build_generated, launch, run_serially
from generation import generated

from swbuild.options import KernelOptions

#: Function: its loops over ``a`` and ``b``, and how many elements of ``a`` there are.
FUNCTIONS = {
    "interleaved": ("for (int j = 0; j < n; j++) a[2 * j + 2] = a[2 * j + 1] + b[j];", "2 * n + 1"),
    "triangle": ("for (int i = 0; i < n; i++) for (int j = 0; j < n - i; j++) a[i * n + j] = a[i * n + j] * 2 + b[j];", "(n - 1) * n + 1"),
    "read_only": ("for (int i = 0; i < n; i++) for (int j = 0; j < n - i; j++) b[i] += a[j * n + i];", "(n - 1) * n + 1"),
    "pyramid": ("for (int i = 0; i < n; i++) for (int j = 0; j < n - i; j++) for (int k = 0; k < n - i - j; k++) a[(i * n + j) * n + k] += b[k];", "(n - 1) * n * n + 1"),
    "odd_rows": ("for (int i = 0; i < n; i++) for (int j = 0; j < 2 * n - 2 * i - 1; j += 2) a[i * (2 * n) + j] = 1 - a[i * (2 * n) + j];", "(n - 1) * 2 * n + 1"),
    "conditional": ("for (int i = 0; i < n; i++) for (int j = 0; j < n - i; j++) if (b[j] > 0.5) a[i * n + j] = b[j];", "(n - 1) * n + 1"),
}  # fmt: skip

MAIN = """
/* Returns memory for so many elements, right before a page that nobody may touch. */
static double *tight(long count)
{
    long page = sysconf(_SC_PAGESIZE), whole = (count * 8 + page - 1) / page * page;
    char *p = mmap(0, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + whole, page, PROT_NONE))
        exit(3);
    double *found = (double *)(p + whole) - count;
    for (long k = 0; k < count; k++)
        found[k] = (k * 7 % 31) / 31.0;
    return found;
}
int main(void)
{
    static const int sizes[] = {1, 2, 31, 33, 67};
    for (int s = 0; s < 5; s++) {
        int n = sizes[s];
CALLS    }
    return 0;
}
"""
CALL = """        {
            long count = LENGTH;
            double *a = tight(count), *b = tight(n), sum = 0;
            NAME(n, a, b);
            for (long k = 0; k < count; k++)
                sum += a[k] * (k % 13 + 1);
            for (long k = 0; k < n; k++)
                sum += b[k] * (k % 11 + 1);
            printf("NAME %d %.17g\\n", n, sum);
        }
"""


def _program() -> str:
    functions, calls = "", ""
    for name, (loops, length) in FUNCTIONS.items():
        functions += f"void {name}(int n, double *restrict a, double *restrict b)\n{{\n#pragma scop\n  {loops}\n#pragma endscop\n}}\n"
        calls += CALL.replace("NAME", name).replace("LENGTH", length.replace("n", "(long)n"))
    heads = "#define _GNU_SOURCE\n#include <stdio.h>\n#include <stdlib.h>\n#include <sys/mman.h>\n#include <unistd.h>\n"
    return heads + functions + MAIN.replace("CALLS", calls)


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_nothing_behind_the_last_element_is_touched(tmp_path: Path, machine: str) -> None:
    unit = generated(tmp_path, _program(), KernelOptions(machine=machine))
    assert [len(region.kernels) for region in unit.regions] == [1] * len(FUNCTIONS)
    build_generated(machine, unit, tmp_path)
    expected = run_serially(tmp_path / "region.c")
    for mode in ("eager", "late", "checked"):
        done = launch(machine, tmp_path, mode)
        assert (done.status, done.out) == (0, expected), done.err


def test_rows_that_are_known_to_be_whole_move_in_one_transfer(tmp_path: Path) -> None:
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i * n + j] *= 2;"
    unit = generated(tmp_path, f"void f(int n, double *a) {{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n")
    assert unit.slave is not None
    assert "athread_get(PE_MODE, a + a_lo0 * n + a_lo1, a_ldm, a_n0 * a_n1 * 8" in unit.slave.text
