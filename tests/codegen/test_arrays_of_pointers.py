"""Arrays of pointers whose numbers are constants, also those of short loops: each element is an array."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulator_programs import build_generated, launch, run_serially
from generation import generated, model_of

from swbuild.options import KernelOptions, Where

#: Functions of one region each; what they return is printed, too.
FUNCTIONS = {
    "sw26010": """
void fields(int n, double dt) {
    int v, i;
#pragma scop
    for (v = 0; v < FIELDS; v++)
        for (i = 1; i < n - 1; i++) r[v][i] = q[v][i] - dt * (q[v][i + 1] - q[v][i - 1]) * q[RHO][i] + v;
    for (v = 1; v <= MY; v++)
        for (i = 0; i < n; i++) q[v][i] = r[v][i] / (v + 1);
#pragma endscop
}
double planes(int n, int steps, double *u[2]) {
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++) u[(t + 1) % 2][i] = 0.3 * (u[t % 2][i - 1] + u[t % 2][i + 1]) + t;
#pragma endscop
    return u[0][n / 2] - u[1][n / 3];
}
void grids(int n, struct cell *c) {
#pragma scop
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < n; i++)
            for (unsigned k = 0; k <= 2; ++k) c[s].q[k][i] += c[1 - s].phi[i] * (k - 1u);
#pragma endscop
}
""",
    "sw26010-pro": """
void sums(int n) {
#pragma scop
    for (int i = 1; i < n - 1; i++) {
        double s = 0;
        for (int v = 0; v < FIELDS; v++) s += q[v][i] * (v % 2 ? -1 : 2);
        for (int v = 0; v < FIELDS; ++v) r[v][i] = s * q[v][i];
    }
#pragma endscop
}
double local(int n, double *a, double *b) {
    double *u[] = {a, b, r[0], r[1]};
#pragma scop
    for (int d = 0; d < 2; d++)
        for (int v = 0; v < 2; v++)
            for (int i = 0; i < n / 3; i++)
                for (int j = 0; j < 3; j++) {
                    double *f = u[2 + v];
                    f[i * 3 + j] += u[d][i * 3 + j] * (d + 1) - v;
                }
#pragma endscop
    return u[3][0];
}
void levels(struct cell **lev, int first) {
#pragma scop
    for (int l = 0; l < 2; l++)
        for (int i = first; i < lev[l]->n; i++) lev[1 - l]->phi[i] += 0.5 * lev[l]->q[l][i];
#pragma endscop
}
""",
}

TOP = """
#include <stdio.h>
enum { RHO, MX, MY, FIELDS };
struct cell { int n; double *q[3], *phi; };
static double *q[FIELDS], *r[FIELDS], memory[9][3000];
"""

CALLS = {
    "sw26010": """
        show("fields", n, (fields(n, 0.25), 0.0));
        for (int steps = 0; steps < 4; steps++) show("planes", n, planes(n, steps, q));
        show("grids", n, (grids(n, cells), 0.0));""",
    "sw26010-pro": """
        show("sums", n, (sums(n), 0.0));
        show("local", n, local(n, q[0], q[1]));
        show("levels", n, (levels(both, 1), 0.0));""",
}


def _program(machine: str) -> str:
    return (
        TOP
        + FUNCTIONS[machine]
        + """
static void show(const char *name, int n, double value) {
    printf("%s %d %.17g", name, n, value);
    for (int k = 0; k < 9; k++) {
        double sum = 0;
        for (int i = 0; i < 3000; i++) {
            sum += memory[k][i] * (i % 13 + 1);
            memory[k][i] = (i * (37 + k) % 101) * 0.25 + k;
        }
        printf(" %.17g", sum);
    }
    printf("\\\\n");
}
int main(void) {
    static const int sizes[] = {0, 1, 2, 3, 64, 131, 2999};
    struct cell cells[] = {{0, {memory[0], memory[1], memory[2]}, memory[3]},
                           {0, {memory[4], memory[5], memory[6]}, memory[7]}};
    struct cell *both[] = {cells, cells + 1};
    (void)both;
    for (int v = 0; v < FIELDS; v++) q[v] = memory[v], r[v] = memory[FIELDS + v];
    for (int k = -1; k < 7; k++) {
        int n = k < 0 ? 5 : sizes[k];
        cells[0].n = n, cells[1].n = n / 2;""".replace("\\\\", "\\")
        + CALLS[machine]
        + "\n    }\n    return 0;\n}\n"
    )


@pytest.mark.parametrize("machine", FUNCTIONS)
def test_results_are_those_of_the_source(machine: str, tmp_path: Path) -> None:
    unit = generated(tmp_path, _program(machine), KernelOptions(machine=machine, where=Where.CPES))
    assert all(region.report["kernels"] for region in unit.regions)
    build_generated(machine, unit, tmp_path)
    found = launch(machine, tmp_path, "checked")
    assert found.status == 0, found.err
    assert found.out == run_serially(tmp_path / "region.c")


#: Regions that do not say which pointer is meant, or change it.
OTHERS = {
    "below the first": "for (int i = 0; i < n; i++) u[-1][i] = 1;",
    "an element that changes": "for (int i = 0; i < n; i++) u[0][i] = 1; u[0] = u[1];",
    "a counter that is set": (
        "for (int v = 0; v < 3; v++) { v += k; for (int i = 0; i < n; i++) u[v][i] = 1; }"
    ),
    "a loop that is left": (
        "for (int v = 0; v < 3; v++) { if (a[v] > 9) break; for (int i = 0; i < n; i++) u[v][i] = 1; }"
    ),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_elements_are_refused(case: str, tmp_path: Path) -> None:
    region = OTHERS[case]
    head = "int f(int n, int k, double *a, double **u)"
    model = model_of(tmp_path, f"{head}\n{{\n#pragma scop\n{region}\n#pragma endscop\nreturn k; }}\n")
    assert model.refused and not model.scops
