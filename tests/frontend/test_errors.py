# ruff: noqa: E501 (C text is easier to read in one line)
"""Every kind of refusal: its code, its exact place, why, and a hint; and all problems of a file at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from swbuild.diagnostics import Diagnostic, SwbuildError
from swbuild.frontend import CppOptions, RegionRequest, read_source

FRAME = """\
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#define SQUARE(v) ((v) * (v))
struct point {{ int x : 3; double y; double v[4]; }};
union both {{ int i; float f; }};
int external(int);
double global_state;
static double counting(double v) {{ static int calls; calls++; return v; }}
static double through(double *v) {{ *v += 1; return *v; }}
static int again(int n) {{ return n ? again(n - 1) : 0; }}
static double down(const double *v, int n) {{ double r = *v; if (n) r += down(v, n - 1); return r; }}
static double inner_call(double v) {{ v += counting(v); {{ double counting = 3; v += counting; }} return v; }}
static double inner_write(double v) {{ global_state = v; {{ double global_state = 3; v += global_state; }} return v; }}
static double moving(double *v) {{ double *p = v; p[0] += 1; return p[0]; }}
static int fours(double v) {{ return v / 4 * 4; }}
static int asking(int k, int (*how)(int)) {{ return how(k); }}
void kernel(int n, int m, double A[n][m], double *restrict x, struct point *s, union both *b, double **rows,
            struct point *points, volatile int *device, long double wide, int *counts, int *restrict idx) {{
  int i, j;
  double t = 0;
{before}
#pragma scop
{region}
#pragma endscop
{after}
}}
"""

# The expected place is where the first '@' stands in the region.
REFUSED = {
    "bound_product": ("SW211", "for (int i = 0; i < @n * m; i++) x[i] = 0;"),
    "bound_from_array": ("SW211", "for (int i = 0; i < @counts[n]; i++) x[i] = 0;"),
    "bound_written": ("SW211", "for (int i = 0; i < @n; i++) n = n - 1;"),
    "bound_float": ("SW211", "for (int i = 0; i < @t; i++) x[i] = 0;"),
    "bound_call": ("SW211", "for (int i = 0; i < @external(n); i++) x[i] = 0;"),
    "bound_of_a_double": ("SW211", "for (int i = 0; i < @fours(n); i++) x[i] = 0;"),
    "bound_by_a_function": ("SW211", "for (int i = 0; i < @asking(n, again); i++) x[i] = 0;"),
    "bound_quotient": ("SW211", "for (int i = 0; i < @n / m; i++) x[i] = 0;"),
    "step_variable": ("SW210", "for (int i = 0; i < n; i += @m) x[i] = 0;"),
    "step_product": ("SW210", "for (int i = 1; i < n; @i *= 2) x[i] = 0;"),
    "step_zero": ("SW226", "for (int i = 0; i < n; @i += 0) x[i] = 0;"),
    "no_condition": ("SW210", "@for (int i = 0;; i++) x[i] = 0;"),
    "no_step": ("SW210", "@for (int i = 0; i < n;) x[i++] = 0;"),
    "two_counters": ("SW210", "for (@i = 0, j = i; i < n; i++) x[i] = j;"),
    "float_counter": ("SW210", "for (t = 0; t < n; @t += 1) x[0] = t;"),
    "member_counter": ("SW210", "for (s->x = 0; s->x < n; @s->x++) x[0] = 1;"),
    "endless": ("SW226", "@for (int i = 0; i >= 0; i++) x[0] = i;"),
    "counter_modified": ("SW212", "for (i = 0; i < n; i++) { x[i] = 0; @i++; }"),
    "counter_of_two_loops": ("SW212", "for (i = 0; i < n; i++) for (@i = 0; i < 3; i++) x[i] = 0;"),
    "counter_inside_again": (
        "SW212",
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (@i = 1; i < 3; i++) x[j] = 0;",
    ),
    "counter_in_both_heads": (
        "SW212",
        "for (i = 0; i < n; i++) { x[i] = 1; for (@i = i; i < n; i++) x[i] = 2; }",
    ),
    "wide_character": ("SW216", "x[0] = @L'x';"),
    "unsigned_character": ("SW216", "x[0] = @u'\\xffff' > -1;"),
    "unicode_character": ("SW216", "x[0] = @'\\u00e9';"),
    "wide_bound": ("SW211", "for (int i = 0; i < @L'x'; i++) x[i] = 0;"),
    "large_constant": ("SW216", "x[0] = @99999999999999999999;"),
    "designated": ("SW216", "double a[3] = {[1] = @2}; for (i = 0; i < n; i++) x[i] = a[i % 3];"),
    "assembly_in_a_branch": ("SW214", 'for (i = 0; i < n; i++) if (i > 2) @asm("nop"); else x[i] = 1;'),
    "goto": ("SW213", "for (i = 0; i < n; i++) { if (x[i] > 0) @goto out; } out: x[0] = 1;"),
    "break": ("SW213", "for (i = 0; i < n; i++) { if (x[i] > 0) @break; x[i] = 1; }"),
    "continue": (
        "SW213",
        "for (i = 0; i < n; i++) { if (x[i] > 0) { x[i] = 3; if (i) @continue; x[i] = 2; } x[i] = 1; }",
    ),
    "return": ("SW213", "for (i = 0; i < n; i++) { if (x[i] > 0) @return; x[i] = 1; }"),
    "while": ("SW213", "@while (x[0] > 0) x[0] -= 1;"),
    "do": ("SW213", "@do x[0] -= 1; while (x[0] > 0);"),
    "switch": ("SW213", "@switch (n) { case 1: x[0] = 1; case 2: x[0] = 2; }"),
    "beyond_long": (
        "SW211",
        "for (unsigned long k = @0xFFFFFFFFFFFFFF00; k > 0xFFFFFFFFFFFFFF00 - n; k--) x[0xFFFFFFFFFFFFFF00 - k] = 1;",
    ),
    "unknown_call": ("SW214", "for (i = 0; i < n; i++) x[i] = @external(i);"),
    "printing": ("SW214", 'for (i = 0; i < n; i++) @printf("%d", i);'),
    "impure_call": ("SW214", "for (i = 0; i < n; i++) x[i] = @counting(x[i]);"),
    "pointer_call": ("SW214", "for (i = 0; i < n; i++) x[i] = 1 + @through(&x[i]);"),
    "recursive_call": ("SW214", "for (i = 0; i < n; i++) x[i] = @again(i);"),
    "recursive_reading": ("SW214", "for (i = 0; i < n; i++) x[i] = 1 + @down(x, i);"),
    "name_of_a_function_inside": ("SW214", "for (i = 0; i < n; i++) x[i] = 1 + @inner_call(x[i]);"),
    "name_of_a_global_inside": ("SW214", "for (i = 0; i < n; i++) x[i] = 1 + @inner_write(x[i]);"),
    "pointer_of_its_own": ("SW214", "for (i = 0; i < n; i++) x[i] = 1 + @moving(&x[i]);"),
    "behind_a_comma": ("SW214", "for (i = 0; i < n; i++) x[i] = (t = x[i], @down(&t, 0));"),
    "address": ("SW216", "for (i = 0; i < n; i++) x[i] = (&@x[i] != 0);"),
    "undeclared": ("SW227", "for (i = 0; i < n; i++) x[i] = @unknown;"),
    "undeclared_array": ("SW227", "for (i = 0; i < n; i++) @unknown[i] = 1;"),
    "volatile": ("SW217", "for (i = 0; i < n; i++) x[i] = @device[i];"),
    "bit_field": ("SW218", "x[0] = @s->x;"),
    "union": ("SW218", "x[0] = @b->f;"),
    "array_of_structures": ("SW218", "for (i = 0; i < n; i++) x[i] = @points[i].y;"),
    "structure_copy": ("SW218", "*s = @points[0];"),
    "pointer_rows": ("SW218", "for (i = 0; i < n; i++) x[i] = @rows[(int)x[i]][0];"),
    "long_double": ("SW218", "x[0] = @wide;"),
    "row_as_value": ("SW216", "x = @A[0];"),
    "pointer_step": ("SW216", "@x++;"),
    "too_many_subscripts": ("SW216", "x[0] = @x[0][1];"),
    "static_inside": ("SW216", "for (i = 0; i < n; i++) { static int @k; x[i] = 1; }"),
    "pointer_inside": ("SW223", "double @*p = x; for (i = 0; i < n; i++) p[i] = 0; p = x + 1; p[0] = 1;"),
    "const_written": ("SW216", "const double c = 1; @c = 2; x[0] = c;"),
    "string": ("SW216", 'x[0] = @"abc"[1];'),
    "assembler": ("SW214", '@asm volatile("nop" : "=r"(n)); x[0] = 1;'),
    "wraps": ("SW221", "for (unsigned i = 5; @i >= 0; i--) x[i] = 0;"),
    "below_array": ("SW221", "{ double w[4]; for (i = 0; i < 4; i++) @w[i - 1] = 0; x[0] = w[0]; }"),
    "outside_row": ("SW221", "for (i = 0; i < n; i++) for (j = 0; j < m + 1; j++) @A[i][j + m] = 0;"),
    "counter_updated": ("SW220", "for (i = 0; i < n; i++) x[i] = 0; @i += 2; x[i] = 1;"),
    "division_by_zero": ("SW216", "for (i = 0; i < @n / 0; i++) x[i] = 0;"),
    "macro_column": ("SW211", "for (i = 0; i < SQUARE(@n); i++) x[i] = 0;"),
    "nothing": ("SW228", ";"),
}


def _located(region: str, code: str) -> tuple[str, int, int]:
    text = FRAME.format(before="", region=region, after="")
    offset = text.find("@")
    if offset < 0:
        offset = text.index("scop")
    line, column = text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
    return text.replace("@", ""), line, column


def _refusals(tmp_path: Path, text: str) -> list[Diagnostic]:
    path = tmp_path / "kernel.c"
    path.write_text(text)
    model = read_source(path, CppOptions(), None)
    assert not model.scops
    return [d for region in model.refused for d in region.diagnostics]


@pytest.mark.parametrize("name", REFUSED)
def test_a_construct_without_a_model_is_refused_at_its_place(name: str, tmp_path: Path) -> None:
    code, region = REFUSED[name]
    text, line, column = _located(region, code)
    found = _refusals(tmp_path, text)
    assert [(d.code, d.span.line, d.span.column) for d in found][:1] == [(code, line, column)], found
    assert found[0].span.file.endswith("kernel.c")
    assert found[0].hint


VARIABLES = """\
#include <math.h>
typedef double function(double);
static double own(double v) { return v - 7; }
static void put(double *p, double v) { *p = v; }
static int low(int k) { return k > 5 ? 5 : k; }
static double (*chosen)(double) = own;
static void pass(double *p, double own(double)) { *p = own(*p); }
static void choose(double *p) { double (*own)(double) = sqrt; *p = own(*p); }
void kernel(int n, double *x, @) {
  @
#pragma scop
  @
#pragma endscop
}
"""

# A parameter, what stands before the region, the region, and the code of its refusal.
CALLED_VARIABLES = {
    "math": ("double (*exp)(double)", "", "for (int i = 0; i < n; i++) x[i] = exp(i);", "SW214"),
    "own": ("double (*own)(double)", "", "for (int i = 0; i < n; i++) x[i] = own(i);", "SW214"),
    "function": ("double exp(double)", "", "for (int i = 0; i < n; i++) x[i] = exp(i);", "SW214"),
    "named_type": ("function own", "", "for (int i = 0; i < n; i++) x[i] = own(i);", "SW214"),
    "effect": ("void (*put)(double *, double)", "", "for (int i = 0; i < n; i++) put(&x[i], i);", "SW214"),
    "bound": ("int (*low)(int)", "", "for (int i = 0; i < low(n); i++) x[i] = 0;", "SW211"),
    "first": ("int (*low)(int)", "", "for (int i = low(n); i < n; i++) x[i] = 0;", "SW211"),
    "least": ("int (*min)(int, int)", "", "for (int i = 0; i < min(n, 3); i++) x[i] = 0;", "SW211"),
    "local": (
        "int m",
        "double (*fabs)(double) = sqrt;",
        "for (int i = 0; i < n; i++) x[i] = fabs(i);",
        "SW214",
    ),
    "file": ("int m", "", "for (int i = 0; i < n; i++) x[i] = chosen(i);", "SW214"),
    "in_callee": ("int m", "", "for (int i = 0; i < n; i++) choose(&x[i]);", "SW214"),
    "to_callee": ("int m", "", "for (int i = 0; i < n; i++) pass(&x[i], sqrt);", "SW214"),
}


@pytest.mark.parametrize("name", CALLED_VARIABLES)
def test_a_call_of_a_variable_is_not_one_of_a_function_of_its_name(name: str, tmp_path: Path) -> None:
    *parts, code = CALLED_VARIABLES[name]
    text = VARIABLES
    for part in parts:
        text = text.replace("@", part, 1)
    assert code in [d.code for d in _refusals(tmp_path, text)]


def test_all_problems_of_a_region_are_reported_at_once(tmp_path: Path) -> None:
    region = "\n".join(
        text.replace("@", "") for _, text in (REFUSED["while"], REFUSED["unknown_call"], REFUSED["volatile"])
    )
    text = FRAME.format(before="", region=region, after="")
    assert [d.code for d in _refusals(tmp_path, text)] == ["SW213", "SW214", "SW217"]


BOUND = """\
void f(int n, int m, double *x) {
#pragma scop
for (int i = 0; i < n * m; i++) x[i] = 0;
#pragma endscop
}
"""

SHAPE = """\
void f(int n, int m, double x[restrict n][n * m]) {
#pragma scop
for (int i = 0; i < n; i++) x[i][i] = 0;
#pragma endscop
}
"""


def test_products_of_sizes_may_be_written_as_the_hints_say(tmp_path: Path) -> None:
    (refused,) = _refusals(tmp_path, BOUND)
    ((line, name),) = re.findall(r"'(const long (\w+) = n \* m;)'", refused.hint or "")
    path = tmp_path / "better.c"
    path.write_text(BOUND.replace("#pragma scop", f"{line}\n#pragma scop").replace("n * m; i", f"{name}; i"))
    assert read_source(path, CppOptions(), None).scops
    (refused,) = _refusals(tmp_path, SHAPE)
    assert "'[n][m]' for '[n * m]'" in (refused.hint or "")
    path.write_text(SHAPE.replace("[n * m]", "[n][m]").replace("x[i][i]", "x[i][i][0]"))
    assert read_source(path, CppOptions(), None).scops


def test_one_refused_region_does_not_take_the_others_along(tmp_path: Path) -> None:
    path = tmp_path / "two.c"
    path.write_text(
        "void f(int n, double *x) {\n#pragma scop first\nwhile (n) n--;\n#pragma endscop\n"
        "#pragma scop second\nfor (int i = 0; i < n; i++) x[i] = 0;\n#pragma endscop\n}\n"
    )
    model = read_source(path, CppOptions(), None)
    assert [r.name for r in model.refused] == ["first"] and [s.name for s in model.scops] == ["second"]


def test_a_region_that_is_too_complicated_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swbuild.frontend.modeller._MOST_OPERATIONS", 1000)
    region = "for (i = 0; i < n; i++) for (j = i / 3; j < m; j += 5) if ((i + j) % 7 == 3) x[j] = 0;"
    (found,) = _refusals(tmp_path, FRAME.format(before="", region=region, after=""))
    assert found.code == "SW229"
    monkeypatch.undo()
    path = tmp_path / "kernel.c"
    assert read_source(path, CppOptions(), None).scops, "the limit must not outlive the region"


FILES = {
    "missing_file": ("SW200", None, 0),
    "no_scop": ("SW203", "int f(void) { return 0; }\n", 0),
    "unclosed": ("SW204", "void f(int n) {\n#pragma scop\nn = 1;\n}\n", 2),
    "unopened": ("SW204", "void f(int n) {\nn = 1;\n#pragma endscop\n}\n", 3),
    "nested": ("SW204", "void f(int n) {\n#pragma scop\n#pragma scop\nn = 1;\n#pragma endscop\n}\n", 3),
    "two_blocks": ("SW207", "void f(int n) {\n#pragma scop\n{ n = 1;\n#pragma endscop\n}\n}\n", 2),
    "pragma_of_a_loop": (
        "SW207",
        "void f(int n) {\n#pragma GCC unroll 4\n#pragma scop\n;\n#pragma endscop\n}\n",
        3,
    ),
    "outside": ("SW207", "#pragma scop\nint x;\n#pragma endscop\nvoid f(void) {}\n", 1),
    "syntax": ("SW202", "void f(int n, double *x) {\n#pragma scop\nx[0] = = 1;\n#pragma endscop\n}\n", 3),
    "missing_brace": ("SW202", "void f(int n, double *x) {\n#pragma scop\nx[0] = 1;\n#pragma endscop\n", 3),
    "missing_header": (
        "SW201",
        '#include "nowhere.h"\nvoid f(int n) {\n#pragma scop\nn = 1;\n#pragma endscop\n}\n',
        1,
    ),
    "old_style": (
        "SW207",
        "void f(n, x)\nint n;\ndouble *x;\n{\n#pragma scop\nx[0] = n;\n#pragma endscop\n}\n",
        5,
    ),
    "no_place_in_the_message": (
        "SW202",
        "void f(double *x) {\nfor (void *p = &&l; p; p = 0) {\n#pragma scop\nx[0] = 1;\n#pragma endscop\n}\nl:;\n}\n",
        2,
    ),
    "beyond_c11": (
        "SW202",
        "void f(double *x) {\nvoid in(void) {\n#pragma scop\nx[0] = 1;\n#pragma endscop\n}\nin();\n}\n",
        2,
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_mistake_in_a_file_is_an_error_with_its_line(name: str, tmp_path: Path) -> None:
    code, text, line = FILES[name]
    path = tmp_path / "file.c"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SwbuildError) as caught:
        read_source(path, CppOptions(), None)
    first = caught.value.diagnostics[0]
    assert (first.code, first.span.line) == (code, line), str(caught.value)
    assert first.hint


def test_a_missing_compiler_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file.c"
    path.write_text("int x;\n")
    with pytest.raises(SwbuildError, match="SW201"):
        read_source(path, CppOptions(compiler="no-such-compiler"), None)


def test_a_statement_in_an_expression_is_called_that(tmp_path: Path) -> None:
    path = tmp_path / "file.c"
    path.write_text(
        "void f(double *x) {\n#pragma scop\nx[0] = ({ double y = x[1]; y++; y; });\n#pragma endscop\n}\n"
    )
    model = read_source(path, CppOptions(), None)
    (problem,) = model.refused[0].diagnostics
    assert "a statement in an expression" in problem.message
    assert (problem.code, problem.span.line, problem.span.column) == ("SW202", 3, 8)


TWO = (
    "void alpha(int n, double *x) {\n#pragma scop left\nfor (int i = 0; i < n; i++) x[i] = 0;\n#pragma endscop\n"
    "#pragma scop\nx[1] = 2;\n#pragma endscop\n}\n"
    "void beta(int n, double *x) {\n#pragma scop right\nx[1] = 2;\n#pragma endscop\n}\n"
)

REQUESTS = {
    "by_function": (RegionRequest("r", function="beta"), 10),
    "by_label": (RegionRequest("r", label="left"), 2),
    "by_function_and_index": (RegionRequest("r", function="alpha", index=1), 5),
    "by_index": (RegionRequest("r", index=2), 10),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_regions_are_found_by_function_label_and_index(name: str, tmp_path: Path) -> None:
    request, line = REQUESTS[name]
    path = tmp_path / "two.c"
    path.write_text(TWO)
    (scop,) = read_source(path, CppOptions(), [request]).scops
    assert (scop.name, scop.span.line) == ("r", line)


def test_regions_are_counted_from_the_top_also_in_inner_blocks(tmp_path: Path) -> None:
    path = tmp_path / "inner.c"
    loop = "#pragma scop\nfor (int i = 0; i < n; i++) x[i] += 1;\n#pragma endscop\n"
    path.write_text(f"void f(int n, double *x) {{\nif (n > 3) {{\n{loop}}}\n{loop}}}\n")
    every = read_source(path, CppOptions(), None).scops
    assert [(scop.name, scop.span.line) for scop in every] == [("f_0", 3), ("f_1", 7)]
    (scop,) = read_source(path, CppOptions(), [RegionRequest("r", function="f", index=1)]).scops
    assert scop.span.line == 7


@pytest.mark.parametrize(
    ("request_", "code", "says"),
    [
        (RegionRequest("r", function="alpa"), "SW205", "did you mean 'alpha'"),
        (RegionRequest("r", label="rihgt"), "SW205", "did you mean 'right'"),
        (RegionRequest("r", function="alpha"), "SW206", "fits 2 regions"),
        (RegionRequest("r", index=9), "SW205", "beta at line 10"),
    ],
)
def test_requests_that_fit_no_region_say_what_there_is(
    request_: RegionRequest, code: str, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "two.c"
    path.write_text(TWO)
    with pytest.raises(SwbuildError) as caught:
        read_source(path, CppOptions(), [request_])
    assert code in str(caught.value) and says in str(caught.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"params": {"nn": 3}}, "'nn' is not declared at the region"),
        ({"params": {"x": 3}}, "'x' is no integer variable"),
        ({"typical": {"nn": 300}}, "typical: 'nn' is not declared at the region"),
        ({"typical": {"x": 300}}, "typical: 'x' is no integer variable"),
        ({"assume": ("n >",)}, "is no C expression"),
        ({"assume": ("k > 2",)}, "'k' is not declared at the region"),
        ({"arrays": {"y": ("n",)}}, "'y' is not declared at the region"),
    ],
)
def test_options_that_do_not_fit_the_region_are_refused(
    options: dict[str, object], says: str, tmp_path: Path
) -> None:
    path = tmp_path / "two.c"
    path.write_text(TWO)
    request = RegionRequest("r", label="left", **options)  # type: ignore[arg-type]
    (refused,) = read_source(path, CppOptions(), [request]).refused
    assert [d.code for d in refused.diagnostics] == ["SW225"]
    assert re.search(re.escape(says), str(refused.diagnostics[0]))


@pytest.mark.parametrize(
    ("after", "code"),
    [("x[1] = k;", "SW222"), ("", None)],
)
def test_what_is_declared_inside_cannot_be_used_after(after: str, code: str | None, tmp_path: Path) -> None:
    path = tmp_path / "inside.c"
    path.write_text(
        f"void f(double *x) {{\n#pragma scop\nint k = 3; x[0] = k;\n#pragma endscop\n{after}\n}}\n"
    )
    refused = read_source(path, CppOptions(), None).refused
    assert [d.code for r in refused for d in r.diagnostics] == ([code] if code else [])
