"""Pointers that change places after each step of a loop: code of several steps, without exchanges."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulator_programs import build_generated, launch, run_serially
from generation import generated, model_of

from swbuild.options import KernelOptions, Where

#: Functions with such loops; what they return tells where their pointers are in the end.
FUNCTIONS = """
#define SWAP(type, one, other) do { type t_ = one; one = other; other = t_; } while (0)
double line(int n, int steps, double *a, double *b) {
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) b[i] = 0.25 * (a[i - 1] + 2 * a[i] + a[i + 1]) + t;
        double *tmp = a;
        a = b;
        b = tmp;
    }
#pragma endscop
    return a[n / 2] - 3 * b[n / 3];
}
double plane(int n, int first, int last, double a[restrict n][n], double b[restrict n][n]) {
    int t;
    double (*spare)[n];
#pragma scop
    for (t = first; t <= last; ++t) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) b[i][j] = 0.2 * (a[i - 1][j] + a[i + 1][j] + a[i][j]);
        spare = b, b = a, a = spare;
    }
#pragma endscop
    return a[n / 2][n / 2] - 3 * b[1][n / 3];
}
double wave(int n, int steps, double *restrict was, double *restrict is, double *restrict next) {
#pragma scop
    for (int i = 0; i < n; i++) next[i] = is[i];
    for (int t = 1; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) {
            double d = is[i - 1] - 2 * is[i] + is[i + 1];
            next[i] = 2 * is[i] - was[i] + 0.3 * d;
        }
        double *free = was;
        was = is;
        is = next;
        next = free;
    }
    for (int i = 0; i < n; i++) is[i] += 0.5 * was[i] - next[i];
#pragma endscop
    return was[n / 2] + 2 * is[n / 2] + 4 * next[n / 2];
}
double *front, *back;
void global(int n, unsigned steps) {
    double *a = front, *b = back;
#pragma scop
    for (unsigned t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++) b[i] = a[n - 1 - i] + 1;
        SWAP(double *, a, b);
    }
    for (int i = 0; i < n; i++) a[i] *= 2;
#pragma endscop
    front = a, back = b;
}
double turns(int n, int steps, double (*a)[n], double (*b)[n]) {
#pragma scop
    for (int t = 0; t < steps; t++) {
        double (*from)[n] = t % 2 ? b : a, (*to)[n] = (t & 1) == 0 ? b : a;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) to[i][j] = 0.2 * (from[i - 1][j] + from[i][j + 1] + t);
    }
    for (int i = 0; i < n; i++) a[i][i] += b[i][0];
#pragma endscop
    return a[n / 2][n / 2] - 3 * b[1][n / 3];
}
void branches(int n, int steps, float *restrict a, float *restrict b) {
#pragma scop
    for (int t = 3; t < steps; t++) {
        if (t % 2 == 0) {
            for (int i = 1; i < n; i++) b[i] = a[i - 1] + 0.5f * t;
        } else {
            for (int i = 1; i < n; i++) a[i] = b[i - 1] + 0.25f * a[i];
        }
        if (!(t % 2)) b[0] += t;
    }
#pragma endscop
}
void quiet(int n, int steps, float *restrict a, float *restrict b) {
#pragma scop
    for (int t = 0; t < steps; t++) {
        float *row = a + 1;
        for (int i = 0; i < n - 2; i++) b[i + 1] = row[i - 1] + 0.5f * row[i + 1];
        float *tmp = a; a = b; b = tmp;
    }
#pragma endscop
}
void remainders(int n, unsigned steps, double u[restrict 2][n]) {
#pragma scop
    for (unsigned t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++) u[(t + 1) % 2][i] = 0.3 * (u[t % 2][i - 1] + u[t & 1][i + 1]) + t % 2;
#pragma endscop
}
void thirds(int n, int steps, double u[restrict 3][n]) {
#pragma scop
    for (int t = 1; t < steps; t++) {
        unsigned was = (t + 2) % 3, next = (1 + t) % 3;
        for (int i = 1; i < n - 1; i++)
            u[next][i] = u[t % 3][i - 1] + u[t % 3][i + 1] - u[was][i] + 1e-9 * -(t % 3);
    }
    for (int i = 0; i < n; i++) u[0][i] += 2 * u[1][i];
#pragma endscop
}
int toggles(int n, int steps, int cur, double u[restrict 2][n]) {
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) u[1 - cur][i] = 0.3 * (u[cur][i - 1] + u[cur][i + 1]) + cur;
        cur = 1 - cur;
    }
    for (int i = 0; i < n; i++) u[cur][i] *= 2;
#pragma endscop
    return cur;
}
int indices(int n, int steps, double u[restrict 3][n]) {
    int was = 0, is = 1, next = 2, flag = 0;
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) u[next][i] = u[is][i - 1] + u[is][i + 1] - u[was][i];
        int spare = was;
        was = is; is = next; next = spare;
    }
#pragma endscop
    return was + 4 * is + 16 * next + flag;
}
double ripples(int n, int rounds, double *restrict was, double *restrict is, double *restrict next) {
#pragma scop
    for (int t = 1; t < rounds; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                next[i * n + j] = is[i * n + j] - 0.5 * was[i * n + j] + 0.1 * (is[(i - 1) * n + j]
                    + is[(i + 1) * n + j] + is[i * n + j - 1] + is[i * n + j + 1]);
        double *free = was;
        was = is;
        is = next;
        next = free;
    }
#pragma endscop
    return was[n * n / 2] + 2 * is[n * n / 2] + 4 * next[n * n / 2];
}
"""

PROGRAM = (
    "#include <stdio.h>\n"
    + FUNCTIONS
    + """
static double x[3][4000], p[2][40 * 40];
static float f[2][4000];
static void fill(void) {
    for (int i = 0; i < 4000; i++) {
        for (int k = 0; k < 3; k++) x[k][i] = (i * 37 % 101) * 0.25 + k;
        for (int k = 0; k < 2; k++) f[k][i] = (i * 17 % 23) * 0.5f - k;
    }
    for (int k = 0; k < 2; k++) for (int i = 0; i < 1600; i++) p[k][i] = (i * 29 % 31) - 7 * k;
}
static void show(const char *name, int n, int steps, double value) {
    double sums[8] = {0};
    for (int k = 0; k < 3; k++) for (int i = 0; i < 4000; i++) sums[k] += x[k][i] * (i % 13 + 1);
    for (int k = 0; k < 2; k++) for (int i = 0; i < 1600; i++) sums[3 + k] += p[k][i] * (i % 11 + 1);
    for (int k = 0; k < 2; k++) for (int i = 0; i < 4000; i++) sums[5 + k] += f[k][i] * (i % 7 + 1);
    printf("%s %d %d: %.17g", name, n, steps, value);
    for (int k = 0; k < 7; k++) printf(" %.17g", sums[k]);
    printf("\\n");
}
int main(void) {
    static const int sizes[] = {1, 2, 3, 37, 40}, lengths[] = {1, 3, 130, 4000};
    for (int steps = -1; steps < 8; steps++) {
        for (int k = 0; k < 4; k++) {
            int n = lengths[k];
            fill(), show("line", n, steps, line(n, steps, x[0], x[1]));
            fill(), show("wave", n, steps, wave(n, steps, x[0], x[1], x[2]));
            front = x[0], back = x[1];
            fill(), global(n, steps < 0 ? 0 : steps);
            show("global", n, steps, front - x[0] + 2.0 * (back - x[0]));
            if (n < 2000) {
                fill(), remainders(n, steps < 0 ? 0 : steps, (void *)x), show("remainders", n, steps, 0);
                fill(), thirds(n, steps < 0 ? 0 : steps, (void *)x), show("thirds", n, steps, 0);
                fill(), show("toggles", n, steps, toggles(n, steps, n % 2, (void *)x));
                fill(), show("indices", n, steps, indices(n, steps, (void *)x));
            }
            fill(), quiet(n, steps, f[0], f[1]), show("quiet", n, steps, 0);
            fill(), branches(n, steps, f[0], f[1]), show("branches", n, steps, 0);
        }
        for (int k = 0; k < 5; k++) {
            int n = sizes[k];
            fill(), show("ripples", n, steps, ripples(n, steps, x[0], x[1], x[2]));
            fill(), show("turns", n, steps, turns(n, steps, (void *)p[0], (void *)p[1]));
            fill(), show("plane", n, steps, plane(n, 2, steps, (void *)p[0], (void *)p[1]));
            fill(), show("plane", n, steps, plane(n, -3, steps, (void *)p[0], (void *)p[1]));
        }
    }
    return 0;
}
"""
)


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_pointers_change_places_as_in_the_source(machine: str, tmp_path: Path) -> None:
    unit = generated(tmp_path, PROGRAM, KernelOptions(machine=machine, where=Where.CPES))
    assert all(region.report["kernels"] for region in unit.regions)
    _assert_they_are_put_in_their_places(unit.host.text)
    build_generated(machine, unit, tmp_path)
    found = launch(machine, tmp_path, "checked")
    assert found.status == 0, found.err
    assert found.out == run_serially(tmp_path / "region.c")


def _assert_they_are_put_in_their_places(text: str) -> None:
    """Check what the host does with pointers and numbers that are read after the region."""
    assert "} else if ((0 < steps) && ((steps % 2) == 1)) { void *sw_was_a = a;" in text  # line
    assert "((last + 1) - first) % 2" in text  # plane
    assert "((steps - 1) % 3) == 2" in text  # wave
    quiet = text[text.index("void quiet(") : text.index("void remainders(")]
    assert "(steps % 2) == 1" not in quiet
    assert "((steps % 2) == 1)) { cur = 1 - cur; }" in text  # toggles
    assert "int sw_was_was = was;" in text  # indices


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_planes_with_linear_subscripts_that_change_places_run_in_tiles_over_time(
    machine: str, tmp_path: Path
) -> None:
    text = FUNCTIONS[FUNCTIONS.index("double ripples") :]
    unit = generated(tmp_path, text, KernelOptions(machine=machine))
    assert "const long rounds_2 = " in unit.host.text  # of three steps each; `rounds` is the source's
    (region,) = unit.regions
    over_time, *left = region.report["kernels"]
    assert len(region.report["wavefront_tile"]) == 2
    # the first and the last row of a plane are not certain to be in memory as a whole
    assert {buffer["store"] for buffer in over_time["buffers"]} == {"rows"}
    # none of the sizes that are planned for runs all of these
    assert len(left) == 3
    assert all(min(kernel["tile"]) > 1 for kernel in left)


#: Regions with a loop over `steps` that does STEP from `a` to `b`, in which pointers are set otherwise.
STAYS = {
    "set elsewhere, too": "a = c; for (int t = 0; t < steps; t++) { STEP double *s = a; a = b; b = s; }",
    "set in a branch": "for (int t = 0; t < steps; t++) { STEP if (t > 3) { double *s = a; a = b; b = s; } }",
    "not a permutation": "for (int t = 0; t < steps; t++) { STEP a = b; }",
    "one of two": "for (int t = 0; t < steps; t++) { STEP a = b; b = c; }",
    "moved": "for (int t = 0; t < steps; t++) { STEP double *s = a; a = b + 1; b = s; }",
    "by the exchange before it ends": (
        "for (int t = 0; t < steps; t++) { STEP if (a[t] > 9) break; double *s = a; a = b; b = s; }"
    ),
    "inside another loop": (
        "for (int k = 0; k < n; k++) for (int t = 0; t < steps; t++) { STEP double *s = a; a = b; b = s; }"
    ),
    "a bound that moves": "for (int t = 0; t < steps; t++) { STEP steps -= 1; double *s = a; a = b; b = s; }",
    "steps of two": "for (int t = 0; t < steps; t += 2) { STEP double *s = a; a = b; b = s; }",
    "a bound of type double": "for (int t = 0; t < 7.5; t++) { STEP double *s = a; a = b; b = s; }",
    "spare is read": "for (int t = 0; t < steps; t++) { STEP b[0] = c[0]; c = a; a = b; b = c; }",
}


@pytest.mark.parametrize("case", STAYS)
def test_other_changes_of_pointers_are_refused(case: str, tmp_path: Path) -> None:
    step = "for (int i = 0; i < n; i++) b[i] = a[i];"
    region = STAYS[case].replace("STEP", step)
    head = "void f(int n, int steps, double *a, double *b, double *c)"
    model = model_of(tmp_path, f"{head} {{\n#pragma scop\n{region}\n#pragma endscop\n}}\n")
    assert model.refused and not model.scops


#: Loops over `steps` that take no turns, or none that come back for certain.
NO_TURNS = {
    "set elsewhere, too": "cur = n % 2; for (int t = 0; t < steps; t++) { ROW(u[cur]) cur = 1 - cur; }",
    "set in a branch": "for (int t = 0; t < steps; t++) { ROW(u[cur]) if (t > 3) cur = 1 - cur; }",
    "another number": "for (int t = 0; t < steps; t++) { ROW(u[cur]) cur = 1 - n; }",
    "before it is used": "for (int t = 0; t < steps; t++) { cur = 1 - cur; ROW(u[cur]) }",
    "the last subscript": "for (int t = 0; t < steps; t++) for (int j = 0; j < n; j++) u[j][t % 2] += n;",
    "innermost loops": "for (int t = 0; t < steps; t++) u[t % 2][1] += n;",
    "planes that are read alone": (
        "for (int t = 0; t < steps; t++) for (int j = 0; j < n; j++) u[0][j] += u[1 + t % 2][j];"
    ),
    "another counter": "for (int t = 0; t < steps; t++) for (int i = 0; i < n; i++) u[(t + i) % 2][i] += n;",
    "a start that is not known": "for (int t = n; t < steps; t++) ROW(u[t % 2])",
    "a start below zero": "for (int t = -1; t < steps; t++) if (t >= 0) ROW(u[t % 2])",
    "less than the counter": "for (int t = 0; t < steps; t++) ROW(u[(t - 1) % 2 + 1])",
    "as far as it goes": "for (int t = 0; t < n + cur; t++) { ROW(u[cur]) cur = 1 - cur; }",
    "the counter itself": "for (int t = 0; t < n; t++) { ROW(u[cur]) int s = t; t = cur; cur = s; }",
    "a start of another type": "for (unsigned t = cur; t < steps; t++) ROW(u[t % 2])",
    "sums that wrap around": "for (unsigned t = 0; t < steps; t++) ROW(u[(t + 2) % 3])",
    "more steps than are written out": "for (int t = 0; t < steps; t++) ROW(u[t % 5])",
}


@pytest.mark.parametrize("case", NO_TURNS)
def test_steps_that_take_no_turns_stay_one_by_one(case: str, tmp_path: Path) -> None:
    row = "#define ROW(row) for (int j = 0; j < n; j++) row[j] += n;\n"
    head = f"{row}void f(int n, int steps, int cur, double u[restrict 5][n])"
    model = model_of(tmp_path, f"{head} {{\n#pragma scop\n{NO_TURNS[case]}\n#pragma endscop\n}}\n")
    assert all(not scop.quotients for scop in model.scops)
    turns = "for (int t = 0; t < steps; t++) ROW(u[t % 2])"
    (scop,) = model_of(tmp_path, f"{head} {{\n#pragma scop\n{turns}\n#pragma endscop\n}}\n").scops
    assert len(scop.quotients) == 1
