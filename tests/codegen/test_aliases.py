# ruff: noqa: E501 (C text is easier to read in one line)
"""Regions called with objects that lie apart, then with objects that overlap: a program tells the difference.

The program runs serially, and on the emulated core group; what lies apart has to be offloaded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from emulator_programs import Outcome, build_generated, launch, run_serially
from generation import generated, model_of

from swbuild.generate import generate_unit

TOP = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct g { double p[100], w[10][12], s; struct g *o; double *q, *restrict r; int n, k, ints[64]; };
struct h { int n; double w[50]; };
static struct g x, y;
static struct h one;
static double b[400], c[400] __attribute__((aligned(256))), number, *there;
static double *cells[4], *restrict kept[2], *restrict lone;
static struct g *levels[2], pair[2];
static int v[400], counter;
static void *block(void) { static void *it; return it ? it : (it = calloc(1, 4096)); }
"""

MAIN = """
extern unsigned long swemu_spawn_count(void) __attribute__((weak));
static unsigned sum(void)
{
    unsigned found = 0;
    const unsigned char *all[] = { (void *)x.p, (void *)x.w, (void *)&x.s, (void *)&x.n, (void *)y.p, (void *)y.w, (void *)&y.s, (void *)&y.n,
                                   (void *)one.w, (void *)b, (void *)c, (void *)v, (void *)&number, (void *)&counter, (void *)&one.n };
    const int sizes[] = { 800, 960, 8, 264, 800, 960, 8, 264, 400, 3200, 3200, 1600, 8, 4, 4 };
    for (int k = 0; k < 15; k++)
        for (int i = 0; i < sizes[k]; i++)
            found = found * 31 + all[k][i];
    return found;
}
static void fill(struct g *z, struct g *o, double *q)
{
    for (int i = 0; i < 100; i++) z->p[i] = i * 1.5;
    for (int i = 0; i < 120; i++) z->w[i / 12][i % 12] = i;
    for (int i = 0; i < 64; i++) z->ints[i] = 40;
    z->o = o; z->q = z->r = q; z->s = 3; z->n = 80; z->k = 70;
}
static void begin(void)
{
    for (int i = 0; i < 400; i++) { b[i] = i; c[i] = 2 * i; v[i] = 60; }
    fill(&x, &y, c); fill(&y, &x, b + 200);
    cells[0] = b; cells[1] = c; cells[2] = b + 200; cells[3] = c + 200; kept[0] = b; kept[1] = c; lone = c; levels[0] = &x; levels[1] = &y;
    one.n = 45; number = 4; counter = 5; there = c;
    for (int i = 0; i < 50; i++) one.w[i] = i;
}
#define RUN(name, ...) begin(); __VA_ARGS__; printf(name " %u\\n", sum()); if (swemu_spawn_count) fprintf(stderr, name " %lu\\n", swemu_spawn_count());
"""


@dataclass(frozen=True)
class Case:
    """A function, a call of it with objects that lie apart, and one with objects that overlap."""

    name: str
    signature: str
    region: str
    apart: str
    overlapping: str
    before: str = ""


CASES = [
    Case("member_array", "struct g *z", "for (int i = 1; i < 100; i++) z->p[i] = z->o->p[i - 1] + 1;", "&x", "x.o = &x; &x"),
    Case("rows", "struct g *z", "for (int i = 1; i < 10; i++) for (int j = 0; j < 12; j++) z->w[i][j] = z->o->w[i - 1][j] + 1;", "&x", "x.o = &x; &x"),
    Case("two_steps", "struct g *z", "for (int i = 1; i < 100; i++) z->p[i] = z->o->o->p[i - 1] + 1;", "y.o = &y; &x", "&x"),
    Case("pointer_member", "struct g *z", "for (int i = 1; i < 100; i++) z->q[i] = z->o->q[i - 1] + 1;", "&x", "x.o = &x; &x"),
    Case("member_and_pointer", "struct g *z", "for (int i = 1; i < 100; i++) z->p[i] = z->q[i - 1] + 1;", "&x", "x.q = x.p; &x"),
    Case("member_number", "struct g *z", "for (int i = 0; i < 100; i++) { z->s = i * 2.0; b[i] = z->o->s; }", "&x", "x.o = &x; &x"),
    Case("two_parameters", "struct g *z, struct g *u", "for (int i = 1; i < 100; i++) z->p[i] = u->p[i - 1] + 1;", "&x, &y", "&x, &x"),
    Case("numbers_of_two", "struct g *z, struct g *u", "for (int i = 0; i < 100; i++) { z->s = i; b[i] = u->s; }", "&x, &y", "&x, &x"),
    Case("size", "struct g *z", "for (int i = 0; i < z->o->n; i++) { b[i] = 1; z->n = 50; }", "&x", "x.o = &x; &x"),
    Case("size_in_array", "struct g *z, int *a", "for (int i = 0; i < z->n; i++) a[i] = i;", "&x, v", "&x, &x.n - 40"),
    Case("size_of_file_scope", "int *a", "for (int i = 0; i < one.n; i++) a[i] = 90;", "v", "&one.n"),
    Case("factor", "double *s, double *a", "for (int i = 0; i < 100; i++) a[i] = a[i] * *s;", "&x.s, x.p", "&x.p[50], x.p"),
    Case("integer_factor", "int *k, int *a", "for (int i = 0; i < 64; i++) a[i] = *k + i;", "&x.k, v", "v + 20, v"),
    Case("file_scope", "double *a", "for (int i = 1; i < 50; i++) one.w[i] = a[i - 1] + 1;", "b", "one.w"),
    Case("below_start", "double *p, double *q", "for (int i = 0; i < 50; i++) p[i - 1] = q[i] * 2;", "b + 60, b", "b + 50, b"),
    Case("restrict_copied", "struct g *z", "for (int i = 1; i < 64; i++) z->r[i] = t[i - 1] + 1;", "&x", "y.r = x.r; &x", "double *t = z->o->r;"),
    Case("restrict_of_two", "struct g *z, struct g *u", "for (int i = 1; i < 64; i++) z->r[i] = u->r[i - 1] + 1;", "&x, &y", "&x, &x"),
    Case("restrict_then_on", "struct g *restrict z", "for (int i = 1; i < 64; i++) z->o->p[i] = z->p[i - 1] + 1;", "&x", "x.o = &x; &x"),
    Case("characters_over_pointer", "char *t, struct g *z", "for (int i = 0; i < 64; i++) { z->q[i] = 3; t[0] = 32; }", "(char *)v, &x", "(char *)&x.q, &x"),
    Case("characters_over_pointer_variable", "char *t", "for (int i = 0; i < 64; i++) { there[i] = 3; t[0] = 32; }", "(char *)v", "(char *)&there"),
    Case("characters_over_size", "char *t, struct g *z", "for (int i = 0; i < z->n; i++) { z->q[i] = 1; t[0] = 60; }", "(char *)v, &x", "(char *)&x.n, &x"),
    Case("counter_read", "double *restrict a, int *t", "for (counter = 0; counter < 64; counter++) a[counter] = *t;", "b, v", "b, &counter"),
    Case("linearised", "int n, int m, double *a, double *t", "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) a[i * m + j] = t[(i - 1) * m + j] + 1;", "9, 8, b, c", "9, 8, b, b"),
    Case("behind_the_end", "double *restrict p, double *restrict q", "for (int i = 0; i < 100; i++) { if (v[i] < 60) p[i] += 1; q[i] = i; }", "b, c", "b, b + 50", "for (int i = 0; i < 50; i++) v[i] = i;"),
    Case("behind_the_end_in_rows", "double (*restrict p)[10], double *restrict q", "for (int i = 0; i < 10; i++) for (int j = 0; j < 10; j++) { if (v[i] < 60) p[i][j] = j; q[10 * i + j] = i; }", "(void *)b, c", "(void *)b, b + 50", "for (int i = 0; i < 5; i++) v[i] = i;"),
    Case("behind_the_end_of_integers", "int *p, double *q", "for (int i = 0; i < 100; i++) { if (c[i] < 60) p[i] += 1; q[i] = i; }", "v, b", "(int *)block(), (double *)block() + 15"),
    Case("ends_meet", "double (*a)[8], double (*t)[8]", "for (int i = 1; i < 9; i++) for (int j = 0; j < 8; j++) a[i][j] = t[i - 1][j] + 1;", "(void *)b, (void *)(b + 72)", "(void *)b, (void *)(b + 71)"),
    Case("numbered", "double *u[]", "for (int i = 1; i < 100; i++) { u[1][i] = u[0][i - 1] + u[3][i]; u[2][i] *= u[0][i]; }", "cells", "cells[1] = cells[0]; cells"),
    Case("numbered_of_file_scope", "int n", "for (int i = 1; i < n; i++) cells[1][i] = (*cells)[i - 1] + 1;", "100", "cells[1] = b + 50; 100"),
    Case("numbered_in_turn", "int n, double **u", "for (int k = 0; k < 4; k++) for (int i = 1; i < n; i++) u[(k + 1) % 2][i] = u[k % 2][i - 1] + k;", "100, cells", "cells[1] = cells[0]; 100, cells"),
    Case("numbered_structures", "struct g *z[]", "for (int i = 1; i < z[0]->n; i++) z[1]->p[i] = z[0]->q[i - 1] + z[0]->p[i];", "levels", "levels[1] = &x; levels"),
    Case("numbered_blocks", "struct g *z", "for (int i = 1; i < 50; i++) z[1].q[i] = z[0].q[i - 1] + 1;", "pair[0] = x; pair[1] = y; pair", "pair[0] = x; pair[1] = x; pair"),
    Case("numbered_restrict", "double *restrict *u, double *restrict *w", "for (int i = 1; i < 100; i++) u[1][i] = w[0][i - 1] + 1;", "kept, kept", "kept, kept + 1"),
    Case("numbered_restrict_and_variable", "double *restrict *u", "for (int i = 1; i < 100; i++) u[0][i] = lone[i - 1] + 1;", "kept", "&lone"),
    Case("characters_over_numbered", "char *a, double **u", "for (int i = 0; i < 64; i++) { u[1][i] = 3; a[0] = 32; }", "(char *)v, cells", "(char *)&cells[1], cells"),
]  # fmt: skip


def text() -> str:
    functions = [
        f"void {c.name}({c.signature})\n{{ {c.before}\n#pragma scop\n{c.region}\n#pragma endscop\n}}\n"
        for c in CASES
    ]
    calls = [
        f'    RUN("{c.name} {what}", {_called(c.name, how)})\n'
        for c in CASES
        for what, how in (("apart", c.apart), ("overlapping", c.overlapping))
    ]
    return TOP + "".join(functions) + MAIN + "int main(void)\n{\n" + "".join(calls) + "    return 0;\n}\n"


def _called(name: str, arguments: str) -> str:
    """Return a call; arguments may begin with an assignment that is made before."""
    set_up, comma, rest = arguments.rpartition(";")
    return f"{set_up}{comma} {name}({rest.strip()})"


@dataclass(frozen=True)
class Runs:
    serial: str
    emulated: Outcome

    def spawns(self, label: str) -> int:
        """Return how many kernels one call has started."""
        counts = re.findall(r"^(\w+ \w+) (\d+)$", self.emulated.err, re.MULTILINE)
        position = [name for name, _ in counts].index(label)
        return int(counts[position][1]) - (int(counts[position - 1][1]) if position else 0)


@cache
def _runs(folder: Path) -> Runs:
    build_generated("sw26010", generated(folder, text()), folder)
    return Runs(run_serially(folder / "region.c"), launch("sw26010", folder, "checked"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return _runs(tmp_path_factory.mktemp("aliases"))


def test_the_program_computes_the_same_however_its_objects_lie(runs: Runs) -> None:
    assert runs.emulated.status == 0, runs.emulated.err
    assert runs.emulated.out.splitlines() == runs.serial.splitlines()


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_what_lies_apart_is_offloaded_and_what_overlaps_is_not(case: Case, runs: Runs) -> None:
    assert runs.spawns(f"{case.name} apart") > 0
    assert runs.spawns(f"{case.name} overlapping") == 0


def test_sizes_of_ranges_are_computed_in_64_bits(tmp_path: Path) -> None:
    model = model_of(
        tmp_path,
        "void f(double (*a)[50000][50000], double (*t)[50000][50000]) {\n#pragma scop\nfor (int i = 0; i < 50000; i++)\n"
        "for (int j = 0; j < 50000; j++) a[1][i][j] = t[1][i][j];\n#pragma endscop\n}\n",
    )
    assert "+ 40000000000 &&" in generate_unit(model, {}).host.text
