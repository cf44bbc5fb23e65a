# ruff: noqa: E501 (C text is easier to read in one line)
"""What a model says of arrays, parameters, context and assumptions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import islpy as isl
import pytest

from swbuild.expressions.c import Assignment, Call, IteratorRef, Operation, ParameterRef
from swbuild.expressions.trees import walk
from swbuild.expressions.types import DOUBLE, FLOAT, INT
from swbuild.frontend import CppOptions, RegionRequest, read_source
from swbuild.frontend.scop import AccessKind, Scop, Storage


def model(tmp_path: Path, text: str, request: RegionRequest | None = None) -> Scop:
    path = tmp_path / "file.c"
    path.write_text(text)
    found = read_source(path, CppOptions(), None if request is None else [request])
    assert not found.refused, "\n".join(str(d) for d in found.refused[0].diagnostics)
    return found.scops[0]


def same(found: isl.Set, expected: str) -> bool:
    return bool(found.is_equal(isl.Set(expected)))


GEMM = """\
#include <stdio.h>
#define N 40
typedef double real;
void gemm(int n, int m, real alpha, real C[n][m], const real (*B)[m], float *restrict v) {
  int i, j;
#pragma scop mult
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      C[i][j] = C[i][j] * alpha + B[i][j] * v[j + 1];
#pragma endscop
}
"""


def test_a_plain_kernel(tmp_path: Path) -> None:
    scop = model(tmp_path, GEMM)
    assert (scop.name, scop.function, scop.label) == ("mult", "gemm", "mult")
    assert (scop.span.line, scop.span.end_line) == (6, 10)
    assert [(p.name, p.expression, p.type.name) for p in scop.parameters] == [
        ("n", "n", "int"),
        ("m", "m", "int"),
    ]
    (statement,) = scop.statements
    assert same(statement.domain, "[n, m] -> { S0[i, j] : 0 <= i < n and 0 <= j < m }")
    assert [(i.name, i.type.name) for i in statement.iterators] == [("i", "int"), ("j", "int")]
    operations = [
        (n.operator, n.computed) for n in walk(statement.body) if isinstance(n, Operation | Assignment)
    ]
    assert operations == [("=", DOUBLE), ("+", DOUBLE), ("*", DOUBLE), ("*", DOUBLE)]
    kinds = [(a.array, a.kind) for a in statement.accesses]
    assert kinds.count(("C", AccessKind.MUST_WRITE)) == 1 and kinds.count(("C", AccessKind.READ)) == 1
    assert scop.assumptions.plain_is_universe()


def test_arrays_say_how_they_are_declared_and_reached(tmp_path: Path) -> None:
    scop = model(tmp_path, GEMM)
    declarations = {a.name: (a.declaration, a.address.text, a.element.name, a.is_const) for a in scop.arrays}
    assert declarations == {
        "C": ("double C[n][m]", "&C[0][0]", "double", False),
        "alpha": ("double alpha", "&alpha", "double", False),
        "B": ("const double (*B)[m]", "&B[0][0]", "double", True),
        "v": ("float *restrict v", "v", "float", False),
    }
    assert [e is None for e in scop.array("B").extents] == [True, False]
    assert scop.array("C").extents[1].is_equal(isl.PwAff("[n, m] -> { [(m)] }"))
    assert scop.array("alpha").is_scalar and scop.array("v").extents == (None,)


def test_pointers_may_alias_unless_restrict_or_of_another_type(tmp_path: Path) -> None:
    scop = model(tmp_path, GEMM)
    assert scop.overlaps == (("C", "B"),)


ALIASES = {
    "local arrays are their own": ("double a[10], b[10];", "a[i] = b[i];", {"a": False, "b": False}),
    "a pointer into an array": ("double a[10]; double *b = a;", "a[i] = b[i];", {"a": True, "b": True}),
    "fresh memory": (
        "double *a = malloc(80); double b[10];", "a[i] = b[i];", {"a": False, "b": False}),
    "fresh memory that went elsewhere": (
        "double *a = malloc(80); double *b = a;", "a[i] = b[i];", {"a": True, "b": True}),
    "two reads": ("double c[10];", "c[i] = p[i] + q[i];", {"c": False, "p": False, "q": False}),
    "a global and a parameter": ("", "g[i] = p[i];", {"g": True, "p": True}),
    "a global and a local": ("double c[10];", "g[i] = c[i];", {"g": False, "c": False}),
    "other types": ("", "k[i] = (int)p[i];", {"k": False, "p": False}),
    "characters alias all": ("", "ch[i] = p[i];", {"ch": True, "p": True}),
    "members of one structure": ("", "s->u[i] = s->w[i];", {"s_u": False, "s_w": False}),
    "restrict, and copied": ("double *b = r;", "r[i] = b[i];", {"r": True, "b": True}),
    "restrict": ("double *b = p;", "r[i] = b[i];", {"r": False, "b": False}),
    "a pointer in a structure": ("", "s->u[i] = s->v[i];", {"s_u": True, "s_v": True}),
    "restrict, and an element's address": ("double *b = &r[1];", "b[i] = r[i];", {"b": True, "r": True}),
    "restrict, and an element's address in a cast": (
        "double *b = (double *)(i0 ? (void *)&r[1] : 0);", "b[i] = r[i];", {"b": True, "r": True}),
    "restrict, and an element's address in a call": (
        "double *b = moved(&r[1]);", "b[i] = r[i];", {"b": True, "r": True}),
    "restrict, and an element's address in a literal": (
        "double *b = (struct st){.v = &r[1]}.v;", "b[i] = r[i];", {"b": True, "r": True}),
    "restrict, and an element's address assigned in passing": (
        "double *b; if ((b = &r[1])) i0++;", "b[i] = r[i];", {"b": True, "r": True}),
    "restrict, and elements read": (
        "double *b = p; i0 = r[1] > r[i0] && *r > sizeof r;", "b[i] = r[i];", {"b": False, "r": False}),
    "restrict, and a row": ("double *b = rr[1];", "b[i] = rr[1][i];", {"b": True, "rr": True}),
    "restrict, and what points to a row": ("double *b = *rr + 1;", "b[i] = rr[0][i];", {"b": True, "rr": True}),
    "restrict, and a row of a parameter": ("double *b = ra[1];", "b[i] = ra[1][i];", {"b": True, "ra": True}),
    "restrict, and a number of a row": (
        "double *b = p; i0 = rr[1][2] > **rr;", "b[i] = rr[1][i];", {"b": False, "rr": False}),
    "restrict, and an array in a structure": (
        "double *b = t->u + 1;", "b[i] = t->u[i];", {"b": True, "t_u": True}),
    "restrict, and a member's address": (
        "double *b = &(*t).u[1];", "b[i] = t->u[i];", {"b": True, "t_u": True}),
    "restrict, and a row in a structure": (
        "double *b = t->m[1];", "b[i] = t->m[1][i];", {"b": True, "t_m": True}),
    "restrict, and numbers of a structure": (
        "double *b = p; i0 = t->u[2] > t->m[1][i0];", "b[i] = t->u[i];", {"b": False, "t_u": False}),
    "a restrict member, and an element's address": (
        "double *b = &s->r[1];", "b[i] = s->r[i];", {"b": True, "s_r": True}),
    "a restrict member, and its structure handed on": (
        "double *b = found(s);", "b[i] = s->r[i];", {"b": True, "s_r": True}),
    "a restrict member, and elements read": (
        "double *b = p; i0 = s->r[1] > *s->r;", "b[i] = s->r[i];", {"b": False, "s_r": False}),
    "a local structure's array": ("struct st o; double *b = o.u;", "b[i] = o.u[i];", {"b": True, "o_u": True}),
    "a local structure's row": (
        "struct st o; double *b = o.m[1];", "b[i] = o.m[1][i];", {"b": True, "o_m": True}),
    "an array of structures": (
        "struct st o[3]; double *b = o[1].u;", "b[i] = o[1].w[i];", {"b": True, "o": True}),
    "the array of a structure as an argument": (
        "double *b = moved(c0.u);", "b[i] = c0.u[i];", {"b": True, "c0_u": True}),
    "a local structure's numbers": (
        "struct st o; double *b = p; o.u[1] = o.m[1][i0]; i0 = sizeof o.u;", "b[i] = o.u[i];",
        {"b": False, "o_u": False}),
    "memory of a function that a variable points to": (
        "double *(*alloca)(int) = 0; double *a = alloca(80), *b = alloca(80);", "a[i] = b[i];",
        {"a": True, "b": True}),
    "memory of a function of the file": (
        "double *a = aligned_alloc(8, 80), *b = aligned_alloc(8, 80);", "a[i] = b[i];", {"a": True, "b": True}),
}  # fmt: skip


@pytest.mark.parametrize("what", ALIASES)
def test_aliases(what: str, tmp_path: Path) -> None:
    before, body, expected = ALIASES[what]
    scop = model(
        tmp_path,
        "void *malloc(unsigned long);\nstatic double pool[10]; double *aligned_alloc(int a, int n) { return pool; }\n"
        "double g[10]; struct st { double u[10], w[10]; double *v; double m[3][12], *restrict r; };\n"
        "double *moved(double *v); double *found(struct st *s);\n"
        "void f(double *p, double *q, int *k, char *ch, struct st *s, double *restrict r, double (*restrict rr)[20],\n"
        "       double ra[restrict 4][20], struct st *restrict t, struct st c0, int i0) {\n"
        f"{before}\n#pragma scop\n"
        f"for (int i = 0; i < 10; i++) {body}\n#pragma endscop\n}}\n",
    )
    overlapping = {name for pair in scop.overlaps for name in pair}
    assert {a.name: a.name in overlapping for a in scop.arrays} == expected


def test_constant_extents_may_stand_before_variable_ones(tmp_path: Path) -> None:
    text = "void f(int n, double A[n][3][n], double (*B)[2][n]) {\n#pragma scop\nfor (int i = 0; i < n; i++) A[i][1][i] = B[i][0][i];\n#pragma endscop\n}\n"
    assert [str(e) for e in model(tmp_path, text).array("A").extents[1:]] == [
        "[n] -> { [(3)] }",
        "[n] -> { [(n)] }",
    ]


HELD = {
    "a size and integers": ("", "for (int i = 0; i < s->n; i++) k[i] = 1;", {"s->n": ("k",)}),
    "a size and other numbers": ("", "for (int i = 0; i < s->n; i++) p[i] = 1;", {}),
    "a size and what restrict keeps apart": ("", "for (int i = 0; i < s->n; i++) kr[i] = 1;", {}),
    "a size of file scope": ("", "for (int i = 0; i < gn; i++) k[i] = 1;", {"gn": ("k",)}),
    "a local size": ("int n = *k;", "for (int i = 0; i < n; i++) k[i] = 1;", {}),
    "a local size with an address": ("int n = *k; int *t = &n;", "for (int i = 0; i < n; i++) k[i] = *t;", {"n": ("k",)}),
    "characters and pointers": (
        "", "for (int i = 0; i < 9; i++) { c[i] = 1; s->v[i] = g[i]; }", {"s->v": ("c",)}),
    "the pointer of the characters": ("", "for (int i = 0; i < 9; i++) s->c[i] = 1;", {"s->c": ("s_c",)}),
    "other ways to one size": ("", "for (int i = 0; i < s->o->n; i++) { p[i] = 0; s->n = 3; }", {"s->o->n": ("s_n",)}),
}  # fmt: skip


@pytest.mark.parametrize("what", HELD)
def test_what_is_read_once_must_lie_apart_from_writes(what: str, tmp_path: Path) -> None:
    before, region, expected = HELD[what]
    scop = model(
        tmp_path,
        "struct st { int n; double *v; char *c; struct st *o; }; int gn; double g[10];\n"
        f"void f(double *restrict p, int *k, int *restrict kr, char *c, struct st *s) {{ {before}\n"
        f"#pragma scop\n{region}\n#pragma endscop\n}}\n",
    )
    assert {held.expression: held.apart_from for held in scop.held} == expected


LIVE = {
    "read later": ("", "use(t);", True),
    "never named again": ("", "", False),
    "set before it is read": ("", "t = 1; use(t);", False),
    "set in one branch only": ("", "if (n) t = 1; use(t);", True),
    "set in both branches": ("", "if (n) t = 1; else t = 2; use(t);", False),
    "read in the next round": ("for (int r = 0; r < n; r++) { use(t);", "}", True),
    "set in the next round": ("for (int r = 0; r < n; r++) { t = 0; use(t);", "}", False),
    "read after a break": ("while (1) {", "if (n) break; t = 3; } use(t);", True),
    "set before a break": ("while (1) {", "t = 3; if (n) break; } use(t);", False),
    "address known": ("double *p = &t;", "use(*p);", True),
    "jumps": ("again: use(t);", "if (n) goto again;", True),
    "returned": ("", "return (void)t;", True),
    "a switch": ("", "switch (n) { case 1: use(t); }", True),
    "compound assignment": ("", "t += 1;", True),
    "read by the condition of a loop": ("do {", "} while (t > 1);", True),
    "dead in a later loop": ("", "for (t = 0; t < 3; t++) use(t);", False),
}


@pytest.mark.parametrize("what", LIVE)
def test_what_is_live_after_the_region(what: str, tmp_path: Path) -> None:
    before, after, expected = LIVE[what]
    scop = model(
        tmp_path,
        "void use(double v);\n"
        f"void f(int n, double *restrict x) {{ double t = 0; {before}\n#pragma scop\n"
        f"for (int i = 0; i < n; i++) t = t + x[i];\n#pragma endscop\n{after}\n}}\n",
    )
    assert scop.array("t").live_out is expected
    assert scop.array("x").live_out is True


HANDED_ON = {
    "a member array": ("const double *p = o.v;", "use(*p);", True),
    "a member array handed to a function": ("take(o.v);", "", True),
    "a row of a member": ("const double *p = o.m[1];", "use(*p);", True),
    "the address of a member": ("const double *p = &o.m[1][2];", "use(*p);", True),
    "an inner structure's array": ("const double *p = o.in.v;", "use(*p);", True),
    "copies of numbers": ("use(o.v[1]); use(*o.m[1]); use(o.in.v[2]);", "", False),
    "a copy of the structure": ("struct st c = o;", "use(c.v[1]);", False),
}


@pytest.mark.parametrize("what", HANDED_ON)
def test_a_structure_whose_address_is_handed_on_is_live_after_the_region(what: str, tmp_path: Path) -> None:
    before, after, expected = HANDED_ON[what]
    scop = model(
        tmp_path,
        "struct st { double v[9], m[3][9]; struct { double v[9]; } in; }; void use(double v); void take(double *v);\n"
        f"void f(int n, double *restrict x) {{ struct st o = {{0}}; {before}\n#pragma scop\n"
        f"for (int i = 0; i < 9; i++) {{ o.v[i] = x[i]; x[i] += o.v[8 - i]; }}\n#pragma endscop\n{after}\n}}\n",
    )
    assert scop.array("o_v").live_out is expected


def test_storage_and_depth(tmp_path: Path) -> None:
    scop = model(
        tmp_path,
        "static double g[9];\nvoid f(int n, double *restrict p) { double loc[9]; static double st[9];\n#pragma scop\n"
        "for (int i = 0; i < n; i++) { double t = p[i]; for (int j = 0; j < 9; j++) { double u[2]; u[0] = t; "
        "loc[j] = u[0]; st[j] = t; g[j] = t; } }\n#pragma endscop\n}\n",
    )
    found = {a.name: (a.storage, a.scope_depth, a.live_out) for a in scop.arrays}
    assert found == {
        "p": (Storage.PARAMETER, 0, True),
        "t": (Storage.REGION, 1, False),
        "u": (Storage.REGION, 2, False),
        "loc": (Storage.LOCAL, 0, False),
        "st": (Storage.GLOBAL, 0, True),
        "g": (Storage.GLOBAL, 0, True),
    }


def test_a_size_read_only_in_bodies_is_a_scalar_and_no_parameter(tmp_path: Path) -> None:
    scop = model(
        tmp_path,
        "void f(int n, int k, double *x) {\n#pragma scop\nfor (int i = 0; i < n; i++) x[i] = k + n + i;\n#pragma endscop\n}\n",
    )
    assert [p.name for p in scop.parameters] == ["n"]
    assert scop.array("k").is_scalar
    body = list(walk(scop.statements[0].body))
    assert ParameterRef(INT, "n") in body and IteratorRef(INT, 0) in body


def test_a_flag_that_is_only_tested_in_expressions_is_data(tmp_path: Path) -> None:
    scop = model(
        tmp_path,
        "void f(int n, int mode, int k, double *restrict x) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) x[i] = mode ? 1 : i < k ? 2 : x[i];\n#pragma endscop\n}\n",
    )
    assert [p.name for p in scop.parameters] == ["n", "k"]
    assert scop.array("mode").is_scalar


TYPES = {
    "int": "[n] -> { : -2147483648 <= n <= 2147483647 }",
    "unsigned": "[n] -> { : 0 <= n <= 4294967295 }",
    "short": "[n] -> { : -32768 <= n <= 32767 }",
    "unsigned char": "[n] -> { : 0 <= n <= 255 }",
    "unsigned long": "[n] -> { : n >= 0 }",
    "long": "[n] -> { : }",
    "_Bool": "[n] -> { : 0 <= n <= 1 }",
}


@pytest.mark.parametrize("kind", TYPES)
def test_the_context_holds_the_range_of_the_type(kind: str, tmp_path: Path) -> None:
    scop = model(
        tmp_path,
        f"void f({kind} n, double *x) {{\n#pragma scop\nfor (long i = 0; i < n; i++) x[i] = 0;\n#pragma endscop\n}}\n",
    )
    assert same(scop.context, TYPES[kind])


ASSUMED = {
    "inside rows": ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = 0;", "[n, m] -> { : }"),
    "rows of another length": ("for (int i = 0; i < m; i++) A[0][i] = 0;", "[n, m] -> { : n >= 1 }"),
    "left of the array": ("for (int j = 0; j < m; j++) w[j - n] = 0;", "[n, m] -> { : n <= 0 and m <= 50 + n }"),
    "unsigned difference": ("for (unsigned j = 0; j < u - 1; j++) x[j] = 0;", "[u] -> { : u >= 1 }"),
    "mixed comparison": ("for (unsigned j = 0; j < n; j++) x[j] = 0;", "[n] -> { : n >= 0 }"),
    "narrow counter": ("for (char c = 0; c < n; c++) x[c] = 0;", "[n] -> { : n <= 127 }"),
    "unsigned sum in the condition": ("for (unsigned j = 0; j + 1 < u; j++) x[j] = 0;", "[u] -> { : }"),
    "meeting the end": ("for (int i = 0; i != n; i += 2) x[i] = 0;", "[n] -> { : n >= 0 and n mod 2 = 0 }"),
    "known extent": ("for (int i = 0; i < n; i++) w[i] = 0;", "[n] -> { : n <= 50 }"),
    "only where it runs": ("if (n > 10) for (int i = 0; i < m; i++) w[i] = 0; for (int i = 0; i < m; i++) x[i] = 1;",
                           "[n, m] -> { : n <= 10 or m <= 50 }"),
}  # fmt: skip


@pytest.mark.parametrize("what", ASSUMED)
def test_what_must_hold_for_the_model_is_an_assumption(what: str, tmp_path: Path) -> None:
    region, expected = ASSUMED[what]
    scop = model(
        tmp_path,
        "void f(int n, int m, unsigned u, double A[restrict n][m], double *restrict x) { double w[50];\n"
        f"#pragma scop\n{region}\n#pragma endscop\nx[0] = w[0];\n}}\n",
    )
    assert scop.assumptions.intersect(scop.context).is_equal(isl.Set(expected).intersect(scop.context))


def test_params_and_assume_are_known_without_a_test(tmp_path: Path) -> None:
    request = RegionRequest("r", index=0, params={"n": 8}, assume=("m >= 4 && m % 4 == 0", "m <= 64"))
    scop = model(tmp_path, GEMM, request)
    assert scop.name == "r"
    assert same(scop.context, "[n, m] -> { : n = 8 and 4 <= m <= 64 and m mod 4 = 0 }")


def test_a_shape_may_be_given(tmp_path: Path) -> None:
    text = (
        "void f(int n, int m, double *A) {\n#pragma scop\nfor (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
        "A[i * 100 + j] = 0;\n#pragma endscop\n}\n"
    )
    plain = model(tmp_path, text)
    assert plain.array("A").extents == (None,)
    shaped = model(tmp_path, text, RegionRequest("f", index=0, arrays={"A": ("n", "100")}))
    assert len(shaped.array("A").extents) == 2
    (access,) = shaped.statements[0].accesses
    assert access.relation.range().is_equal(isl.Set("[n, m] -> { A[i, j] : 0 <= i < n and 0 <= j < m }"))
    assert shaped.assumptions.intersect(shaped.context).is_equal(
        isl.Set("[n, m] -> { : m <= 100 }").intersect(shaped.context)
    )


def test_a_variable_that_is_used_later_is_still_set(tmp_path: Path) -> None:
    text = (
        "int f(int n, double *A) {\nint p = 0;\n#pragma scop\nfor (int i = 0; i < n; i++) { p = i * n; A[p] = 0; }\n"
        "#pragma endscop\nreturn p;\n}\n"
    )
    assert len(model(tmp_path, text).statements) == 2
    assert len(model(tmp_path, text.replace("return p", "return 0")).statements) == 1


@pytest.mark.parametrize(
    ("subscript", "rank"),
    [
        ("i * 100 + j", 2),
        ("(i + 1) * 100 - 1 - j", 2),
        ("j * 7 + i * 700 + k", 3),
        ("i + j", 1),
        ("i * 50 + j", 1),
        ("i * 100 + j * 3 + k", 1),
        ("i * 4 + j / 25", 1),
    ],
)
def test_constant_strides_become_dimensions_where_rows_are_kept(
    subscript: str, rank: int, tmp_path: Path
) -> None:
    scop = model(
        tmp_path,
        "void f(int n, double *A) {\n#pragma scop\nfor (int i = 0; i < n; i++) for (int j = 0; j < 100; j++) "
        f"for (int k = 0; k < 7; k++) A[{subscript}] = 0;\n#pragma endscop\n}}\n",
    )
    assert len(scop.array("A").extents) == rank
    assert scop.assumptions.plain_is_universe()


def test_narrow_unsigned_products_are_not_taken_apart(tmp_path: Path) -> None:
    text = (
        "void f(KIND n, KIND m, double *A) {\n#pragma scop\nfor (KIND i = 0; i < n; i++) for (KIND j = 0; j < m; j++) "
        "A[i * m + j] = 0;\n#pragma endscop\n}\n"
    )
    narrow = model(tmp_path, text.replace("KIND", "unsigned"))
    assert not narrow.statements[0].accesses[-1].affine
    wide = model(tmp_path, text.replace("KIND", "unsigned long"))
    assert wide.statements[0].accesses[-1].affine and len(wide.array("A").extents) == 2


def test_long_sums_do_not_exhaust_the_stack(tmp_path: Path) -> None:
    terms = " + ".join(f"x[i + {k}]" for k in range(400))
    scop = model(
        tmp_path,
        "void f(int n, double *restrict x, double *restrict y) {\n#pragma scop\n"
        f"for (int i = 0; i < n; i++) y[i] = {terms};\n#pragma endscop\n}}\n",
    )
    assert len(scop.statements[0].accesses) == 401


def test_gathers_keep_their_subscripts(tmp_path: Path) -> None:
    scop = model(
        tmp_path,
        "void f(int n, double *restrict x, double y[restrict 30], const int *idx) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) x[i] = y[idx[i]];\n#pragma endscop\n}\n",
    )
    access = next(a for a in scop.statements[0].accesses if a.array == "y")
    assert not access.affine and len(access.index_body) == 1
    assert access.relation.range().is_equal(isl.Set("[n] -> { y[k] : 0 <= k < 30 and n > 0 }"))
    index = next(a for a in scop.statements[0].accesses if a.array == "idx")
    assert index.affine and index.kind is AccessKind.READ


def test_a_scatter_is_a_may_write(tmp_path: Path) -> None:
    scop = model(
        tmp_path,
        "void f(int n, double *restrict x, const int *idx) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) x[idx[i]] = 1;\n#pragma endscop\n}\n",
    )
    assert [a.kind for a in scop.statements[0].accesses if a.array == "x"] == [AccessKind.MAY_WRITE]


def test_the_schedule_is_the_textual_order(tmp_path: Path) -> None:
    scop = model(
        tmp_path,
        "void f(int n, double *x) {\n#pragma scop\nfor (int i = n - 1; i >= 0; i--) { x[i] = 0; "
        "for (int j = 0; j < i; j++) x[j] += x[i]; }\nx[0] = 1;\n#pragma endscop\n}\n",
    )
    flat = scop.schedule.get_map()
    order = isl.UnionMap(
        "{ S0[i] -> [0, -i, 0, 0]; S1[i, j] -> [0, -i, 1, j]; S2[] -> [1, 0, 0, 0] }"
    ).intersect_domain(flat.domain())
    assert flat.lex_lt_union_map(flat).is_equal(order.lex_lt_union_map(order))


def test_functions_called_go_to_the_prelude_and_headers_to_includes(tmp_path: Path) -> None:
    scop = model(
        tmp_path,
        "#include <math.h>\n#include <stdlib.h>\nenum { TWO = 2 }; typedef float small;\n"
        "static small twice(small v) { return TWO * v; }\n"
        "double outside(double v) __attribute__((const));\n"
        "void f(int n, double *x) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) x[i] = sqrt(twice(i)) + outside(x[i]) + abs(i);\n#pragma endscop\n}\n",
    )
    assert scop.includes == ("math.h", "stdlib.h")
    prelude = "\n".join(scop.prelude)
    assert "static float twice(float v)" in prelude and "2 * v" in prelude
    assert "double outside(double v);" in scop.prelude
    calls = {n.function: n.type for n in walk(scop.statements[0].body) if isinstance(n, Call)}
    assert calls == {"sqrt": DOUBLE, "twice": FLOAT, "outside": DOUBLE, "abs": INT}


def test_names_that_clash_are_told_apart(tmp_path: Path) -> None:
    scop = model(
        tmp_path,
        "struct st { double a[9]; };\nvoid f(struct st *s, double *restrict s_a) {\n#pragma scop\n"
        "for (int i = 0; i < 9; i++) { double t = s_a[i]; { double t = 1; s->a[i] = t; } s_a[i] = t; }\n"
        "#pragma endscop\n}\n",
    )
    names = [a.name for a in scop.arrays]
    assert len(names) == len(set(names)) and {"s_a", "s_a_2", "t", "t_2"} == set(names)


def test_dependencies_name_every_file_read(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("#define LIMIT 7\n")
    path = tmp_path / "file.c"
    path.write_text('#include "own.h"\n#include <math.h>\nvoid f(double *x) {\n#pragma scop\n'
                    "for (int i = 0; i < LIMIT; i++) x[i] = BASE;\n#pragma endscop\n}\n")  # fmt: skip
    found = read_source(path, CppOptions(includes=(str(tmp_path),), defines=("BASE=2",)), None)
    assert found.dependencies[0] == str(path)
    assert any(name.endswith("own.h") for name in found.dependencies)
    assert any(name.endswith("math.h") for name in found.dependencies)
    assert found.text == path.read_text()


def test_text_survives_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "latin.c"
    raw = (
        b"/* caf\xe9 \r\n */\r\nvoid f(double *x) {\r\n#pragma scop\r\nx[0] = 1;\r\n#pragma endscop\r\n}\r\n"
    )
    path.write_bytes(raw)
    found = read_source(path, CppOptions(), None)
    assert found.text.encode("utf-8", "surrogateescape") == raw
    assert (found.scops[0].span.line, found.scops[0].span.end_line) == (4, 6)


def test_default_names_are_distinct_identifiers(tmp_path: Path) -> None:
    path = tmp_path / "names.c"
    one = "#pragma scop{}\nx[0] = 1;\n#pragma endscop\n"
    path.write_text(
        f"void f(double *x) {{\n{one.format('')}{one.format(' lab')}}}\nvoid g(double *x) {{\n{one.format('')}}}\n"
        f"void h(double *x) {{\n{one.format(' lab')}}}\n"
    )
    assert [s.name for s in read_source(path, CppOptions(), None).scops] == ["f_0", "lab", "g", "lab_1"]


def test_pragmas_in_comments_and_dead_code_do_not_count(tmp_path: Path) -> None:
    scop = model(
        tmp_path,
        "#if 0\n#pragma scop\n#endif\n/*\n#pragma scop\n*/\nvoid f(double *x) {\n#pragma scop\nx[0] = 1;\n#pragma endscop\n}\n",
    )
    assert scop.span.line == 8


def test_the_package_is_light() -> None:
    code = "import sys, swbuild.frontend; print('islpy' in sys.modules, 'pycparser' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


JOINED = {
    "set in the first branch": ("if (i < m) k = i + u; else k = 3;", "n = m = 10 and u = 250"),
    "set in the second branch": ("if (i < m) k = 3; else k = i + u;", "n = 10 and m = 0 and u = 250"),
    "set before, and in one branch": ("k = i + u; if (i < m) k = 3;", "n = 10 and m = 0 and u = 250"),
    "set in both": ("if (i < m) k = i + u; else k = i + 2 * u;", "n = 10 and m = 10 and u = 250"),
    "set in both, second": ("if (i < m) k = i + u; else k = i + 2 * u;", "n = 10 and m = 0 and u = 125"),
    "nested": ("if (i < m) { if (i < u) k = i + u; else k = 4; } else k = 3;", "n = m = 10 and u = 250"),
    "copied": ("if (i < m) k = i + u; else k = 3; unsigned char t = k; k = t;", "n = m = 10 and u = 250"),
}


@pytest.mark.parametrize("name", JOINED)
def test_a_value_of_two_branches_needs_what_both_need(name: str, tmp_path: Path) -> None:
    text, wraps = JOINED[name]
    scop = model(
        tmp_path,
        f"""\
void f(int n, int m, int u, double *restrict x) {{
#pragma scop
  for (int i = 0; i < n; i++) {{ unsigned char k; {text} x[k] = i; }}
#pragma endscop
}}
""",
    )
    assert scop.assumptions.intersect(isl.Set(f"[n, m, u] -> {{ : {wraps} }}")).is_empty()
    assert not scop.assumptions.intersect(isl.Set("[n, m, u] -> { : n = m = 10 and u = 1 }")).is_empty()


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        ("A[2 * i] = A[2 * i + 1];", 2),
        ("A[9 * i + 8] = A[9 * i + 1];", 2),
        ("A[12 * i + 3] = A[12 * i + 1];", 2),
        ("A[3 * i] = B[i] + A[3 * i + 1];", 1),
        ("A[2 * i + 2] = A[2 * i + 1];", 1),
        ("B[i] = A[4 * i + 1];", 1),
        ("B[i] = A[8 * i + 6] + A[8 * i + 9];", 1),
    ],
)
def test_short_rows_are_taken_apart_only_where_they_are_whole(tmp_path: Path, body: str, rows: int) -> None:
    text = f"void f(int n, double *restrict A, double *restrict B) {{\n#pragma scop\nfor (int i = 0; i < n; i++) {{ {body} }}\n#pragma endscop\n}}\n"
    assert len(model(tmp_path, text).array("A").extents) == rows


def test_short_rows_of_an_array_of_known_length_are_taken_apart(tmp_path: Path) -> None:
    text = "double A[600];\nvoid f(int n) {\n#pragma scop\nfor (int i = 0; i < 200; i++) A[3 * i] = A[3 * i + 1];\n#pragma endscop\n}\n"
    assert len(model(tmp_path, text).array("A").extents) == 2


def test_loops_in_macros_that_run_once_are_counted_loops(tmp_path: Path) -> None:
    text = (
        "#define ZERO(v) do { for (int i = 0; i < n; i++) v[i] = 0; } while (0)\n"
        "void f(int n, double *restrict x, double *restrict y)\n{\n"
        "#pragma scop\nZERO(x);\nfor (int t = 0; t < n; t++) ZERO(y);\n#pragma endscop\n}\n"
    )
    scop = model(tmp_path, text)
    assert [len(statement.iterators) for statement in scop.statements] == [1, 2]


@pytest.mark.parametrize(
    "place", ["k & 0x7fffffffffffffff", "k % 9223372036854775808u", "k & -0x7fffffffffffffff - 1"]
)
def test_divisors_beyond_long_are_left_to_the_compiler(place: str, tmp_path: Path) -> None:
    loop = f"for (long k = 0; k < n; k++) x[{place}] += 1;"
    scop = model(tmp_path, f"void f(int n, double *x)\n{{\n#pragma scop\n{loop}\n#pragma endscop\n}}\n")
    assert len(scop.statements) == 1


@pytest.mark.parametrize(
    "head",
    [
        "unsigned i = n - 1; i != (unsigned long)-1; i--",  # never equal
        "unsigned i = n - 1; i < m; i--",  # all numbers of the type may be less
        "unsigned i = n - 1; i < n; i -= 2",  # may pass by the end
        "unsigned char i = 9; i < 300; i--",  # promoted
        "unsigned i = n - 1; i <= n; i--",
    ],
)
def test_counters_that_wrap_end_loops_only_where_that_is_certain(head: str, tmp_path: Path) -> None:
    text = f"""void f(unsigned n, long m, double *a) {{
#pragma scop
    for ({head}) a[i] += 1;
#pragma endscop
}}
"""
    source = tmp_path / "x.c"
    source.write_text(text)
    found = read_source(source, CppOptions(), None)
    assert not found.scops
    (refused,) = found.refused
    assert {problem.code for problem in refused.diagnostics} <= {"SW221", "SW226"}


@pytest.mark.parametrize(("kind", "most"), [("unsigned", 2**32 - 1), ("unsigned long", 2**64 - 1)])
def test_a_loop_that_starts_with_the_number_that_ends_it_makes_no_iteration(
    kind: str, most: int, tmp_path: Path
) -> None:
    text = f"""void f({kind} last, double *restrict a) {{
#pragma scop
    for ({kind} i = last; i != -1; i--) a[i] += 1;
#pragma endscop
}}
"""
    (statement,) = model(tmp_path, text).statements
    assert same(statement.domain, f"[last] -> {{ S0[i] : 0 <= i <= last and last < {most} }}")
