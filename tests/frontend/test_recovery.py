"""Text that compilers take and C11 does not know: it matters only where a region needs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.diagnostics import SwbuildError
from swbuild.frontend import CppOptions, SourceModel, read_source

LOOP = "#pragma scop\n  for (int i = 0; i < n; i++)\n    a[i] = 2.0 * b[i];\n#pragma endscop\n"
HEAD = "void f(int n, double a[restrict n], const double b[restrict n]) {\n"

FILE = {
    "typeof": "typeof(double) table[100];\n__typeof__(table[0]) other(void) { return 1.0; }\n",
    "typedef": "typedef __typeof__(1.0) real;\nreal unused(real x) { return x; }\n",
    "case_range": "int g(int x) { switch (x) { case 1 ... 5: return 1; default: return 0; } }\n",
    "computed_goto": "void *g(int x) { void *p[] = { &&l, &&m }; goto *p[x]; l: return 0; m: return p; }\n",
    "statements": "int g(int x) { return ({ int y = x; y++; y; }); }\n",
    "nested": "int g(int x) { int in(int y) { return x + y; } return in(2); }\n",
    "designated": "int table[] = { [0 ... 9] = 1, [20] = 2 };\nint g(int x) { return table[x]; }\n",
    "attributes": "[[nodiscard]] static int g([[maybe_unused]] int x) { return 1; }\n",
    "letters": "struct \u00e4 { int \u00f6; }; int gr\u00f6\u00dfe(struct \u00e4 *s) { return s->\u00f6; }\n",
    "imaginary": "double _Complex g(double _Complex x) { return x * 2.0i + __real__ x; }\n",
}

BEFORE = {
    "typeof": "__typeof__(a[0]) k = 2.0; a[0] = k;",
    "auto": "__auto_type k = 2.0; a[0] = k;",
    "label": "__label__ out; if (n < 0) goto out; n += 0; out: ;",
    "int128": "__int128 z = n; if (z > 5) n = 3;",
    "elvis": "n = n ?: 3;",
    "range": "switch (n) { case 1 ... 4: n = 3; break; default: break; }",
    "nested": "void in(void) { n++; } in();",
    "statements": "n = ({ int m = n; m--; m; });",
    "literal": "int *v = (int[]){ [0 ... 3] = 1 }; n = v[2];",
    "selected": 'const char *s = _Generic(n, int: "int", default: "x"); a[0] = s[0];',
    "loop": "for (int *p = ({ int q = n; &q; }); p; p = 0) { n--; }",
    "letter": "double \u03c0 = 3.14; a[0] = \u03c0;",
    "attributes": "[[maybe_unused]] int k = n; switch (n) { case 1: k++; [[fallthrough]]; default: ; }",
    "structure": "struct { int x; } s[2] = { [0 ... 1] = { 1 } }; n = s[1].x;",
}


def read(tmp_path: Path, text: str) -> SourceModel:
    path = tmp_path / "file.c"
    path.write_text(text)
    return read_source(path, CppOptions(), None)


@pytest.mark.parametrize("name", FILE)
def test_other_functions_may_hold_anything(name: str, tmp_path: Path) -> None:
    use = "  (void)g(1);\n" if " g(" in FILE[name] else ""
    model = read(tmp_path, FILE[name] + HEAD + use + LOOP + use + "}\n")
    assert [scop.name for scop in model.scops] == ["f"]


@pytest.mark.parametrize("name", BEFORE)
def test_what_stands_around_a_region_may_be_anything(name: str, tmp_path: Path) -> None:
    model = read(tmp_path, f"{HEAD}  {BEFORE[name]}\n{LOOP}  {{ {BEFORE[name]} }}\n}}\n")
    assert [scop.name for scop in model.scops] == ["f"]


def test_a_name_of_a_declaration_that_is_not_understood_is_no_other_object(tmp_path: Path) -> None:
    text = f"double b[64];\nvoid f(int n, double a[n]) {{\n  double b[8] = {{ [0 ... 7] = 2.0 }};\n{LOOP}}}\n"
    model = read(tmp_path, text)
    assert "'b' has type (not understood)" in model.refused[0].diagnostics[0].message


def test_what_is_not_understood_may_change_what_it_names(tmp_path: Path) -> None:
    text = "  const int plane = n * n;\n  int last = n * n;\n  void *p = ({ void *q = &last; q++; q; });\n"
    loop = LOOP.replace("b[i]", "b[i * last + plane]")
    (scop,) = read(tmp_path, HEAD + text + loop + "}\n").scops
    assert {parameter.name for parameter in scop.parameters} == {"n", "last"}


def test_inline_assembly_may_change_its_operands(tmp_path: Path) -> None:
    text = (
        '  int plane = n * 3;\n  __asm__ volatile("addl $1, %[n] # : a" :\n [n] "+r"(\nn) : :\n "memory");\n'
    )
    (scop,) = read(tmp_path, HEAD + text + LOOP.replace("b[i]", "b[i * plane]") + "}\n").scops
    assert {parameter.name for parameter in scop.parameters} == {"n", "plane"}
    assert scop.span.line == 7


def test_inline_assembly_may_read_its_operands(tmp_path: Path) -> None:
    text = '  double r;\n  asm("movsd %1, %0" : "=x"(r) : "x"(s));\n  a[0] = r;\n}\n'
    loop = LOOP.replace("#pragma endscop", "  s = b[0];\n#pragma endscop")
    (scop,) = read(tmp_path, HEAD + "  double s = 0;\n" + loop + text).scops
    assert any(array.name == "s" and array.live_out for array in scop.arrays)


OTHER_NAMES = {"alias": '__attribute__((alias("x")))', "label": 'asm("x")'}


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_objects_that_may_be_others_are_refused(name: str, tmp_path: Path) -> None:
    text = f"extern double x[100];\nextern double y[100] {OTHER_NAMES[name]};\n"
    loop = LOOP.replace("b[i]", "x[i]").replace("a[i]", "y[i]")
    model = read(tmp_path, text + HEAD + LOOP + loop + '  register int k asm("r12") = n;\n  a[0] = k;\n}\n')
    assert [scop.name for scop in model.scops] == ["f_0"]
    assert "'y' has type with the attribute" in model.refused[0].diagnostics[0].message


AGAIN = {
    "array": ("extern double x[100]; ", "set(i, b[i]); a[i] = x[i - 1];"),
    "called first": ("extern double x[100]; ", "a[i] = 2 * x[i - 1]; set(i, b[i]);"),
    "variable": ("extern int count; ", "a[i] = count; set(i, b[i]);"),
    "size": ("extern int count; ", "if (i < count) a[i] = 1; set(i, b[i]);"),
}


@pytest.mark.parametrize("name", AGAIN)
def test_a_global_that_is_declared_again_is_one_object(name: str, tmp_path: Path) -> None:
    text = "double x[100];\nint count;\nstatic void set(int i, double v) { x[i] = v; count++; }\n"
    declared, body = AGAIN[name]
    head, loop = f"{text}{HEAD}  {declared}\n", LOOP.replace("a[i] = 2.0 * b[i];", f"{{ {body} }}")
    model = read(tmp_path, f"{head}{loop}}}\n")
    assert "two declarations of" in " ".join(problem.message for problem in model.refused[0].diagnostics)
    plain = read(tmp_path, head + LOOP.replace("b[i]", "(count + x[i])") + "}\n")
    assert [scop.name for scop in plain.scops] == ["f"]


def test_a_jump_in_what_is_not_understood_keeps_variables_alive(tmp_path: Path) -> None:
    head = "double f(int n, double a[restrict n], const double b[restrict n], int p) {\n  double s = 0;\n"
    loop = "  for (;;) {\n#pragma scop\n    s = b[0];\n#pragma endscop\n    if (p == 2.0i) { p++; break; }\n"
    text = f"{head}{loop}    s = 0;\n  }}\n  return s;\n}}\n"
    (scop,) = read(tmp_path, text).scops
    assert any(array.name == "s" and array.live_out for array in scop.arrays)


def test_a_region_with_text_that_is_not_understood_is_refused_alone(tmp_path: Path) -> None:
    bad = LOOP.replace("b[i]", "({ double x = b[i]; x += 1; x; })")
    model = read(tmp_path, HEAD + LOOP + "  a[0] = 1;\n" + bad + "}\n")
    assert [scop.name for scop in model.scops] == ["f_0"]
    (problem,) = model.refused[0].diagnostics
    assert (problem.code, problem.span.line, problem.span.column) == ("SW202", 9, 18)
    assert problem.hint == "write it in C11, or leave it outside of the region"


@pytest.mark.parametrize("text", ["int g( { }", "int g(void) { return 1 }", "int g(int x) { x ?? 3; }"])
def test_an_error_of_the_compiler_stays_one(text: str, tmp_path: Path) -> None:
    with pytest.raises(SwbuildError, match="SW202"):
        read(
            tmp_path,
            f"{HEAD}  {text[:0]}__typeof__(n) k = 2; \n{LOOP}}}\n{text}\n{HEAD.replace('f(', 'h(')}}}\n",
        )


def test_names_beyond_ascii_in_a_region_are_refused_with_it(tmp_path: Path) -> None:
    other = (HEAD + LOOP).replace("b[", "\u00fc[").replace("f(", "g(")
    model = read(tmp_path, f"{HEAD}{LOOP}}}\n{other}}}\n")
    assert [scop.name for scop in model.scops] == ["f"]
    assert "'\u00fc'" in model.refused[0].diagnostics[0].message


def test_attributes_that_matter_to_types_are_not_passed_over(tmp_path: Path) -> None:
    text = "typedef double t [[gnu::vector_size(16)]];\nt x;\n"
    with pytest.raises(SwbuildError, match="SW202"):
        read(tmp_path, text + HEAD.replace("double a", "t a") + LOOP + "}\n")


def test_a_region_inside_of_what_is_not_understood_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SwbuildError, match="SW202"):
        read(tmp_path, f"{HEAD}  void in(void) {{\n{LOOP}  }}\n  in();\n}}\n")
