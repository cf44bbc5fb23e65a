# ruff: noqa: E501 (C text is easier to read in one line)
"""Tables of pointers to rows (``double **A``): arrays where their rows are evenly spaced, else left to the host."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulator_programs import build_generated, launch, run_serially
from generation import generated, model_of

from swbuild.check import CheckSettings, Outcome, SourceTask, check_sources
from swbuild.options import KernelOptions, Where

#: What the functions need before them.
NEEDED = """
struct grid { int n; double **u, **v; };
static double at(double **m, int i, int j) { return m[i][j]; }
static void halved(int n, double **a, double **b) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) b[i][j] = at(a, j, i) / 2;
}
"""

#: Functions of one region each.
FUNCTIONS = {
    "product": """void product(int n, double **A, double **B, double **C) {
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
        }
#pragma endscop
}
""",
    "edges": """void edges(struct grid *g) {
    int n = g->n;
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) g->v[i][j] = g->u[i][j - 1] + g->u[i][j + 1] + g->u[i - 1][j] + g->u[i + 1][j];
    for (int j = 0; j < n; j++) { g->v[0][j] = g->u[0][j]; g->v[n - 1][j] = 1; }
#pragma endscop
}
""",
    "steps": """void steps(int n, int m, double **now, double **next) {
#pragma scop
    for (int t = 0; t < m; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) next[i][j] = 0.25 * (now[i][j - 1] + now[i - 1][j] + now[i + 1][j]) + t;
        double **other = now; now = next; next = other;
    }
#pragma endscop
}
""",
    "rows": """void rows(int n, double **A, double *x) {
#pragma scop
    for (int i = 0; i < n; i++) {
        double *row = A[i], sum = 0;
        for (int j = 0; j < n; j++) sum += row[j] * x[j];
        x[n + i] = sum;
    }
#pragma endscop
}
""",
    "from_one": """void from_one(unsigned n, float **a) {
#pragma scop
    for (unsigned i = 1; i <= n; i++)
        for (unsigned j = 1; j <= n; j++) *(*(a + i) + j) += i - 2.0f * j;
#pragma endscop
}
""",
    "factors": """void factors(int n, double **A) {
#pragma scop
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            A[i][k] /= A[k][k];
            for (int j = k + 1; j < n; j++) A[i][j] -= A[i][k] * A[k][j];
        }
#pragma endscop
}
""",
    "called": """void called(int n, double **a, double **b) {
#pragma scop
    halved(n, a, b);
#pragma endscop
}
""",
    "planes": """void planes(int n, int m, double ***u, double ***v) {
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            for (int k = 1; k < n - 1; k++) v[i][j][k] = u[i][j][k] + u[i - 1][j][k] - u[i][j + 1][k] * u[i][j][k - 1];
#pragma endscop
}
""",
    "one_plane": """void one_plane(int n, int r, float ***u) {
#pragma scop
    for (int j = 1; j <= n; j++) {
        float *row = u[r][j];
        for (int k = 0; k < n; k++) row[k] += j - k;
    }
#pragma endscop
}
""",
    "counted": """struct counted { int k; double *r[50]; };
void counted(struct counted *w, int n) {
    double *own[n + 1];
    for (int i = 0; i <= n; i++) own[i] = w->r[i];
#pragma scop
    for (int i = 0; i < w->k; i++)
        for (int j = 0; j < n; j++) { w->r[i][j] += own[i][j] + i; }
#pragma endscop
}
""",
    "one": """void one(int n, int r, double **A) {
#pragma scop
    for (int j = 0; j < n; j++) A[r][j] *= 2;
#pragma endscop
}
""",
    "flags": """void flags(int n, double **A, char *flag) {
#pragma scop
    for (int i = 0; i < n; i++) flag[i] = A[i][0] > 0.5;
#pragma endscop
}
""",
}  # fmt: skip

HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern unsigned long swemu_spawn_count(void) __attribute__((weak));
"""

#: Prints after each call what it left and, to standard error, how many kernels it started; what is printed
#: begins with how rows lie.
MAIN = """
static unsigned long before;
static void show(const char *name, const double *block) {
    double sum = 0;
    for (int i = 0; i < 40000; i++) sum += block[i] * (i % 101 + 1);
    printf("%s %.17g\\n", name, sum);
    if (swemu_spawn_count) { fprintf(stderr, "%s %lu\\n", name, swemu_spawn_count() - before); before = swemu_spawn_count(); }
}
static double block[40000], vector[400];
/* Row i of table k begins at block + k * apart + i * step. */
static double **laid(int k, int n, long apart, long step) {
    double **rows = malloc((n + 2) * sizeof *rows);
    for (int i = 0; i < n; i++) rows[i] = block + k * apart + i * step;
    return rows;
}
static void all(const char *how, int n, long apart, long step, int swap) {
    char name[99];
    double **t[3];
    for (int k = 0; k < 3; k++) {
        t[k] = laid(k, n, apart, step);
        if (swap) { double *row = t[k][1]; t[k][1] = t[k][2]; t[k][2] = row; }
    }
    struct grid g = { n, t[0], t[2] };
    for (int i = 0; i < 40000; i++) block[i] = (i * 7 % 13 - 5) / 8.0;
    for (int i = 0; i < 400; i++) vector[i] = i % 5 - 1.5;
#define SHOW(f) sprintf(name, "%s %s", how, f); show(name, block)
    product(n, t[0], t[1], t[2]); SHOW("product");
    edges(&g); SHOW("edges");
    steps(n, 7, t[0], t[1]); SHOW("steps");
    rows(n, t[0], vector); memcpy(block, vector, sizeof vector); SHOW("rows");
    called(n, t[0], t[1]); SHOW("called");
    for (int i = 0; i < n; i++) t[2][i][i] += 900;
    factors(n, t[2]); SHOW("factors");
}
/* Planes of n rows, pitch elements apart, in planes that are apart by so many elements. */
static void *layered(int planes, int n, long apart, long pitch, long size) {
    char ***found = malloc(planes * sizeof *found);
    for (int i = 0; i < planes; i++) {
        found[i] = malloc(n * sizeof **found);
        for (int j = 0; j < n; j++) found[i][j] = (char *)block + (i * apart + j * pitch) * size;
    }
    return found;
}
static void all_planes(void) {
    double ***u = layered(20, 10, 200, 20, 8), ***v = layered(20, 10, 396, 22, 8);
    for (int i = 0; i < 40000; i++) block[i] = i * 5 % 9 - 2;
    for (int i = 0; i < 20; i++) for (int j = 0; j < 10; j++) v[i][j] += 8000;
    planes(20, 10, u, v); show("right planes", block);
    planes(20, 10, layered(20, 10, 207, 20, 8), v); show("wrong planes", block);
    planes(20, 10, layered(20, 10, 200, 2, 8), v); show("wrong rows", block);
    double *row = u[3][4]; u[3][4] = u[3][5]; u[3][5] = row;
    planes(20, 10, u, v); show("wrong order", block);
    planes(2, 10, 0, 0); planes(20, 2, u, 0); planes(0, 0, 0, 0); show("wrong no planes", block);
    float ***f = layered(3, 11, 110, 10, 4);
    f[0] = f[2] = 0;
    for (int i = 0; i < 4000; i++) ((float *)block)[i] = i % 9;
    one_plane(10, 1, f);
    for (int i = 3999; i >= 0; i--) block[i] = ((float *)block)[i];
    show("right one plane", block);
}
int main(void) {
    all_planes();
    all("block", 37, 37 * 37, 37, 0);
    all("padded", 37, 2000, 41, 0);
    all("beside", 37, 37, 111, 0);
    all("swapped", 37, 37 * 37, 37, 1);
    all("sliding", 37, 2000, 1, 0);
    double **t = laid(0, 60, 0, 60), *up[60];
    one(50, 9, t); show("right one", block);
    for (int i = 0; i < 60; i++) up[i] = t[59 - i];
    factors(30, up); show("wrong downwards", block);
    float *ones[40];
    ones[0] = (float *)1; /* leads nowhere */
    for (int i = 1; i < 40; i++) ones[i] = (float *)block + 50 * (i - 1) - 1;
    for (int i = 0; i < 4000; i++) ((float *)block)[i] = i % 9;
    from_one(39, ones);
    for (int i = 3999; i >= 0; i--) block[i] = ((float *)block)[i];
    show("right from_one", block);
    static char flag[60];
    flags(60, t, flag); show("right flags", block);
    flags(60, t, (char *)t); show("wrong flags", block);
    for (int i = 0; i < 60; i++) printf("%d%d ", flag[i], ((char *)t)[i]);
    product(0, 0, 0, 0); steps(0, 3, 0, 0); called(-1, 0, 0); rows(0, 0, 0); from_one(0, 0); show("wrong none", block);
    return 0;
}
"""

#: The ways of laying rows out that kernels can be given.
SPACED = {"block", "padded", "right"}


def test_kernels_run_where_rows_are_evenly_spaced(tmp_path: Path) -> None:
    text = HEAD + NEEDED + "".join(FUNCTIONS.values()) + MAIN
    unit = generated(tmp_path, text, KernelOptions(where=Where.CPES))
    assert all(region.report["kernels"] for region in unit.regions)
    build_generated("sw26010", unit, tmp_path)
    found = launch("sw26010", tmp_path, "checked")
    assert found.status == 0, found.err
    assert found.out == run_serially(tmp_path / "region.c")
    spawns = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in found.err.splitlines()}
    assert len(spawns) == 5 * 6 + 12
    ran = {name for name, count in spawns.items() if count}
    alone = {"beside rows", "beside factors"}  # one table only
    assert ran == {name for name in spawns if name.split()[0] in SPACED} | alone


#: What is checked against the serial reference, by the machine.
CHECKED = {
    "sw26010": ("edges", "called", "flags", "one_plane", "counted"),
    "sw26010-pro": ("product", "steps", "rows", "from_one", "one"),
}


@pytest.mark.parametrize("machine", CHECKED)
def test_regions_compute_what_the_source_does(machine: str, tmp_path: Path) -> None:
    source = tmp_path / "rows.c"
    source.write_text(NEEDED + "".join(FUNCTIONS[name] for name in CHECKED[machine]))
    tasks = [SourceTask(source, default_options=KernelOptions(machine=machine, where=Where.CPES))]
    found = list(check_sources(tasks, CheckSettings(modes=("checked",), jobs=1)))
    assert [result.outcome for result in found] == [Outcome.PASS] * len(CHECKED[machine])
    assert all(result.kernels for result in found)


def test_what_the_host_asks_for_is_told_in_words(tmp_path: Path) -> None:
    unit = generated(tmp_path, NEEDED + FUNCTIONS["edges"], KernelOptions(where=Where.CPES, tile=(8, 8)))
    assert unit.regions[0].refusals[:2] == (
        "the rows of 'g->v' are not evenly spaced",
        "the rows of 'g->u' are not evenly spaced",
    )


@pytest.mark.parametrize("declared", ["double (*A)[n]", "double **A"])
def test_what_lies_between_rows_is_not_taken_to_be_there(declared: str, tmp_path: Path) -> None:
    region = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j += 2) A[i][j] = 1;"
    model = model_of(
        tmp_path, f"void f(int n, {declared})\n{{\n#pragma scop\n{region}\n#pragma endscop\n}}\n"
    )
    (array,) = model.scops[0].arrays
    assert (array.whole_rows is None) == ("**" in declared)


#: Regions whose rows are not known to stay, or not known at all.
OTHERS = {
    "rows that change": "for (int i = 0; i < n; i++) { A[i][0] = 1; A[i] = A[0]; }",
    "rows that change places": "for (int i = 1; i < n; i++) { double *t = A[i]; A[i] = A[0]; A[0] = t; A[i][0] = 1; }",
    "a table that moves": "for (int i = 0; i < n; i++) { A[i][0] = 1; A += k[i]; }",
    "numbers that are data": "for (int i = 0; i < n; i++) A[k[i]][0] = 1;",
    "columns that are data": "for (int i = 0; i < n; i++) A[i][k[i]] = 1;",
    "a table of the region's": "double **B = n > 3 ? A : 0; for (int i = 0; i < n; i++) B[i][0] = 1;",
    "volatile numbers": "for (int i = 0; i < n; i++) V[i][0] = 1;",
    "characters in memory beside a table there": "for (int i = 0; i < n; i++) *s->c = *s->u[i];",
    "tables of tables that are not used alike": "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) T[i][j][0] = 1;",
    "planes that may not be there": "for (int i = 0; i < n; i += 2) for (int j = 0; j < n; j++) T[i][j][0] = 1;",
    "tables of tables of tables": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) Q[i][j][i][0] = 1;",
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_tables_are_refused(case: str, tmp_path: Path) -> None:
    head = "struct s { double **u; char *c; };\n"
    parameters = "int n, int *k, double **A, volatile double **V, double ***T, double ****Q, struct s *s"
    model = model_of(
        tmp_path, f"{head}void f({parameters})\n{{\n#pragma scop\n{OTHERS[case]}\n#pragma endscop\n}}\n"
    )
    assert model.refused and not model.scops
