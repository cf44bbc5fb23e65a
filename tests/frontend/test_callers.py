"""Sizes that a file's own calls pass to a region's function: likely values, which nothing relies on."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.frontend import CppOptions, read_source

REGION = """
void run(int steps, int n, double a[n]) {
#pragma scop
for (int t = 0; t < steps; t++) for (int i = 0; i < n; i++) a[i] += 1;
#pragma endscop
}
"""

CALLS = {
    "constants": ("void f(double *a) { run(20, 1000, a); }", {"steps": 20, "n": 1000}),
    "expressions": ("void f(double *a) { run(4 * 5, (1 << 10) - 1, a); }", {"steps": 20, "n": 1023}),
    "variables": (
        "void f(double *a) { int n = 1000, steps; steps = 20; run(steps, n + 2, a); }",
        {"steps": 20, "n": 1002},
    ),
    "defaults of arguments": (
        """int atoi(const char *);
        int main(int argc, char **argv) {
            double a[9999];
            int n = argc > 1 ? atoi(argv[1]) : 1000;
            int steps = 20;
            if (argc > 2) steps = atoi(argv[2]);
            run(steps, n, a);
        }""",
        {"steps": 20, "n": 1000},
    ),
    "of several calls the largest": (
        "void f(double *a) { run(2, 10, a); run(20, 1000, a); run(3, 30, a); }",
        {"steps": 20, "n": 1000},
    ),
    "through callers": (
        "void g(int all, double *a) { run(all, all * 2, a); } void f(double *a) { g(20, a); }",
        {"steps": 20, "n": 40},
    ),
    "variables of the file": (
        "static int n = 1000; int s; void set(void) { s = 20; } void f(double *a) { run(s, n, a); }",
        {"steps": 20, "n": 1000},
    ),
    "constants of an enumeration": (
        "enum { N = 1000, STEPS }; void f(double *a) { run(STEPS - 981, N, a); }",
        {"n": 1000},
    ),
    "macros": (
        "#define STEPS 20\n#define N (STEPS * 50)\nvoid f(double *a) { run(STEPS, N, a); }",
        {"steps": 20, "n": 1000},
    ),
    "what nobody can tell": ("int size(void); void f(double *a) { run(size(), size() + 1, a); }", {}),
    "no sizes": ("void f(double *a) { run(0, -1, a); }", {}),
    "members of other names": (
        "struct s { int n; }; void f(double *a, int n) { struct s x; x.n = 5; run(20, n, a); }",
        {"steps": 20},
    ),
    "comparisons": ("void f(double *a, int n) { if (n == 7) run(20, n, a); }", {"steps": 20}),
    "in a circle": (
        """void h(int k, double *a);
        void g(int k, double *a) { run(k, k, a); h(k, a); }
        void h(int k, double *a) { g(k, a); }""",
        {},
    ),
    "text no parser knows": (
        "void f(double *a) { __auto_type m = (typeof(1)) { 3 }; run(({ 1; }), 1000, a); (void)m; }",
        {"n": 1000},
    ),
}


def usual(tmp_path: Path, text: str) -> dict[str, int]:
    source = tmp_path / "x.c"
    source.write_text(text)
    (scop,) = read_source(source, CppOptions(), None).scops
    return dict(scop.usual)


@pytest.mark.parametrize("what", CALLS)
def test_calls_tell_usual_sizes(what: str, tmp_path: Path) -> None:
    text, wanted = CALLS[what]
    assert usual(tmp_path, REGION + text + "\n") == wanted


def test_a_variable_of_the_regions_function_tells_its_size(tmp_path: Path) -> None:
    text = """
int atoi(const char *);
double a[9999];
int main(int argc, char **argv) {
    int n = 1000;
    if (argc > 1) n = atoi(argv[1]);
#pragma scop
    for (int i = 0; i < n; i++) a[i] += 1;
#pragma endscop
}
"""
    assert usual(tmp_path, text) == {"n": 1000}
