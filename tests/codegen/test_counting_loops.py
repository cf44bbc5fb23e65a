"""Loops that count with pointers, or with ``while``: code and results are those of plain ``for`` loops."""

from __future__ import annotations

import re  # reads C text
from pathlib import Path

import pytest
from emulator_programs import build_generated, launch, run_serially
from generation import generated, model_of

from swbuild.options import KernelOptions, Where

#: Functions of one region each, over arrays x and y of 40 n numbers at least.
FUNCTIONS = """
struct pair { double x, y; };
struct vector { int n; double *data; };
void scaled(int n, double *x, double *y) {
#pragma scop
    for (double *p = x; p < x + n; p++) *p *= 2.0;
#pragma endscop
}
double product(int n, const double *x, const double *y) {
    double s = 0;
    const double *p, *q = y, *const end = x + n;
#pragma scop
    for (p = x; p != end; ++p) s += *p * *q++;
#pragma endscop
    return s;
}
void rows(int n, double *x, double *y) {
#pragma scop
    for (int i = 0; i < 40; i++) {
        double *row = x + i * n;
        const double *q = y;
        for (double *p = row; p < row + n; p++, q++) *p += *q;
    }
#pragma endscop
}
void whole_rows(int n, double (*x)[40], double *y) {
#pragma scop
    for (double (*r)[40] = x; r < x + n; r++) {
        int j = 0;
        for (double *p = *r; p < *r + 40; p++) *p += y[j++];
    }
#pragma endscop
}
void ended(int n, double *x, double *y) {
#pragma scop
    double *p = x, *end = &x[n];
    int count = 0;
    while (p < end) {
        *p = *p + y[count++];
        p++;
    }
    double *q = x;
    while (&x[n / 2] > q) *q++ += 1.0;
#pragma endscop
}
void by_twos(int n, double (*x)[40], double *y) {
    const long all = 40 * n;
#pragma scop
    for (double *p = &x[0][0]; p < &x[0][0] + all; p += 2) p[1] = p[0] + 3.0;
#pragma endscop
}
void pairs(int n, struct pair *s, double *y) {
    struct pair *p;
#pragma scop
    for (p = s + 1; s + n > p; p++) p->x += p[-1].y;
    for (p = &s[2]; p <= &s[n - 1]; ++p) p->y = (*p).x * 2 + (p - s) + (p == s + 3 ? 0.5 : y[p - s]);
#pragma endscop
}
void wrapped(unsigned n, double *x, double *y) {
#pragma scop
    const double *q = y;
    for (double *p = 2 + x; p < x + n - 1; p += 1) *p += *q++ - y[p - &x[2]];
#pragma endscop
}
void shifted(int n, double *x, double *y) {
#pragma scop
    double *q = y;
    for (double *p = x + 2; p < x + n - 1; p += 1) *q++ = p[1] + *(p - 1);
#pragma endscop
}
void member(int n, double *x, double *y) {
    struct vector v = {n, x};
#pragma scop
    for (double *p = v.data; p < v.data + v.n; p++) *p -= y[p - v.data];
#pragma endscop
}
void summed(int n, double *x, double *y) {
    int i, j;
#pragma scop
    i = 0;
    while (i < n) {
        j = 0;
        while (j < 33) y[j++] += x[i];
        i++;
    }
#pragma endscop
}
int third(int n, double *x, double *y) {
    int k;
#pragma scop
    k = 3;
    while (n > k) {
        x[k] += k;
        k += 2;
    }
#pragma endscop
    return k;
}
void declared(int n, double *x, double *y) {
#pragma scop
    int i = 1;
    double last = 0.5;
    while (i <= n) {
        x[i] = y[i] + last;
        i = i + 1;
    }
#pragma endscop
}
void until(int n, double *restrict x, double *restrict y) {
#pragma scop
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (x[k] < 6) k++;
        y[i] += k;
    }
#pragma endscop
}
"""

NAMES = re.findall(r"^\w+ (\w+)\(", FUNCTIONS, re.MULTILINE)
CALLS = "".join(
    f'        fill(), show("{name}", n, {call});\n'
    for name in NAMES
    for call in [
        f"{name}(n, x, y)" if name in ("product", "third") else f"({name}(n, (void *)x, (void *)y), 0)"
    ]
)
PROGRAM = (
    "#include <stdio.h>\n"
    + FUNCTIONS
    + """
static double x[6000], y[6000];
static void fill(void) {
    for (int i = 0; i < 6000; i++) x[i] = i % 13 + 0.5, y[i] = i % 7 - 0.25;
}
static void show(const char *name, int n, double result) {
    double sum = 0;
    for (int i = 0; i < 6000; i++) sum += (i % 17 + 1) * (x[i] + 3 * y[i]);
    printf("%s %d %.17g %.17g\\n", name, n, result, sum);
}
int main(void) {
    int sizes[] = {0, 1, 2, 3, 4, 7, 64, 101, 131};
    for (int k = 0; k < 9; k++) {
        int n = sizes[k];
"""
    + CALLS
    + "    }\n    return 0;\n}\n"
)


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_results_are_those_of_the_source(machine: str, tmp_path: Path) -> None:
    options = KernelOptions(machine=machine, where=Where.CPES, reassociate=False)
    unit = generated(tmp_path, PROGRAM, options)
    in_order = {"product"}  # a sum in the order of the source
    assert {r.scop.name for r in unit.regions if not r.report["kernels"]} == in_order
    build_generated(machine, unit, tmp_path)
    found = launch(machine, tmp_path, "checked")
    assert found.status == 0, found.err
    assert found.out == run_serially(tmp_path / "region.c")


#: Regions with loops whose counters are seen to do something else, or are not seen to be in one array.
OTHERS = {
    "two arrays": "for (double *p = a; p < b; p++) *p = 1;",
    "downward": "for (double *p = a + n; p > a; p--) p[-1] = 1;",
    "no start": "for (; p < a + n; p++) *p = 1;",
    "read after the loop": "for (p = a; p < a + n; p++) *p = 1; a[p - a] = 2;",
    "stepped inside": "for (double *p = a; p < a + n; p++) { *p = 1; if (n > 5) p++; }",
    "kept": "for (double *p = a; p < a + n; p++) { kept = p; *p = 1; }",
    "an end that moves": "for (double *p = a; p < a + n; p++) { *p = 1; n--; }",
    "a start that moves": "for (double *p = a; p < a + n; p++) { *p = 1; a++; }",
    "an end set twice": "double *e = a + n; e = a + 1; for (double *p = a; p < e; p++) *p = 1;",
    "steps that vary": "for (double *p = a; p < a + n; p += n) *p = 1;",
    "other elements": "for (float *p = (float *)a; p < (float *)a + n; p++) *p = 1;",
    "a step that may not come": "int i = 0; while (i < n) { if (a[i] > 0) continue; a[i] = 1; i++; }",
    "stepped twice": "int i = 0; while (i < n) { a[i++] = 1; i++; }",
    "tested and stepped": "int i = n; while (i--) a[i] = 1;",
    "set once for all": "for (int j = 0; j < 2; j++) { static int i = 0; while (i < n) { a[i] = j; i++; } }",
    "do": "int i = 0; do { a[i] = 1; i++; } while (i < n);",
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_loops_are_refused(case: str, tmp_path: Path) -> None:
    head = "double *kept; void f(int n, double *a, double *b, double *p)"
    model = model_of(tmp_path, f"{head} {{\n#pragma scop\n{OTHERS[case]}\n#pragma endscop\n}}\n")
    assert model.refused and not model.scops
