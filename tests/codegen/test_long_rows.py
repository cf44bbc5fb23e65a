# ruff: noqa: E501 (C text is easier to read in one line)
"""Rows of more than 2 GiB: what no strided transfer can skip is not moved by one, and no index overflows."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulator_programs import build_generated, launch, run_serially
from generation import generated

from swbuild.options import KernelOptions

#: Function, and whether it starts a kernel for rows of 2.4 GB and of 1.6 GB (or as long as its own are).
FUNCTIONS = {
    "sized": ("int m, double a[restrict 3][m], double b[restrict 3][m]", "a[i][j + 100] = b[i][j] * 2 + i", "(int)m, (void *)a, (void *)b", (0, 1)),
    "fixed": ("double (*restrict a)[300000000], double (*restrict b)[300000000]", "a[i][j + 100] = b[i][j] * 2 + i", "(void *)a, (void *)b", (1, 1)),
    "linearised": ("long m, double *restrict a, double *restrict b", "a[i * m + j + 100] = b[i * m + j] * 2 + i", "m, a, b", (0, 1)),
    "planes": ("int m, double a[restrict 3][m][64], double b[restrict 3][m][64]", "a[i][1][j] = b[i][0][j] * 2 + i", "(int)(m / 64), (void *)a, (void *)b", (1, 1)),
    "near": ("double (*restrict a)[250000000], double (*restrict b)[250000000]", "a[i][j + 100] = b[i][j] * 2 + i", "(void *)a, (void *)b", (1, 1)),
    "gathered": ("int *restrict k, double (*restrict a)[50000], double *restrict b", "b[64 * i + j] = a[k[64 * i + j]][7]", "k, (void *)a, b", (1, 1)),
    "far": ("double (*restrict a)[50000], double *restrict b", "b[64 * i + j] = a[14000 + i][j]", "(void *)a, b", (1, 1)),
}  # fmt: skip

MAIN = """
extern unsigned long swemu_spawn_count(void) __attribute__((weak));
static double *reserved(size_t bytes)
{
    double *p = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        exit(3);
    return p;
}
static void show(const char *name, double *a, double *b, long m)
{
    double sum = 0;
    for (int r = 0; r < 3; r++)
        for (int j = 0; j < 200; j++)
            sum += (a[r * m + j] + b[r * m + j] / 3) * (j + 1 + r);
    printf("%s %.17g\\n", name, sum);
    if (swemu_spawn_count)
        fprintf(stderr, "%s %lu\\n", name, swemu_spawn_count());
}
int main(void)
{
    double *a = reserved(8200000000L), *b = reserved(8200000000L);
    static int k[192];
    for (long m = 300000000; m >= 200000000; m -= 100000000) {
        for (int r = 0; r < 3; r++)
            for (int j = 0; j < 200; j++)
                a[r * m + j] = b[r * m + j] = r * 1000 + j;
        for (int i = 0; i < 192; i++) {
            k[i] = i * 100;
            a[k[i] * 50000L + 7] = i;
            a[(14000 + i / 64) * 50000L + i % 64] = i;
        }
CALLS    }
    return 0;
}
"""


def _program() -> str:
    functions = [
        f"void {name}({signature})\n{{\n#pragma scop\n    for (int i = 0; i < 3; i++)\n"
        f"        for (int j = 0; j < 64; j++)\n            {statement};\n#pragma endscop\n}}\n"
        for name, (signature, statement, _, _) in FUNCTIONS.items()
    ]
    calls = [f'        {n}({given}); show("{n}", a, b, m);\n' for n, (_, _, given, _) in FUNCTIONS.items()]
    head = "#include <stdio.h>\n#include <stdlib.h>\n#include <sys/mman.h>\n"
    return head + "".join(functions) + MAIN.replace("CALLS", "".join(calls))


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_long_rows_are_read_and_written_where_they_are(machine: str, tmp_path: Path) -> None:
    options = KernelOptions(machine=machine)
    unit = generated(tmp_path, _program(), options)
    build_generated(machine, unit, tmp_path)
    found = launch(machine, tmp_path, "checked")
    assert found.status == 0, found.err
    assert found.out == run_serially(tmp_path / "region.c")
    counts = [int(line.split()[1]) for line in found.err.splitlines()]
    spawns = [now - before for before, now in zip([0, *counts], counts, strict=False)]
    expected = [kernels[size] for size in (0, 1) for _, _, _, kernels in FUNCTIONS.values()]
    assert spawns == expected
