# ruff: noqa: E501 (C text is easier to read in one line)
"""Types that have no model: every way to name one is refused, at its place and with its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.frontend import CppOptions, read_source

# Declarations of the file, the function's parameters behind n and x, its text before the region, the region
# with '@' where the refusal points to, and what it says.
REFUSED = {
    "enum_of_unknown_value": ("double table[3];\nenum e { A = sizeof table / 4, B };", "", "", "for (int i = 0; i < n; i++) x[i] = @B;", "whose values are not known"),
    "type_of_unknown_enum": ("double table[3];\nenum e { A = sizeof table / 4, B };", "enum e *k", "", "for (int i = 0; i < n; i++) x[i] = @k[i];", "whose values are not known"),
    "int_constant_of_a_wide_enum": ("enum e { A, B = 0x80000000 };", "", "", "for (int i = 0; i < n; i++) x[i] = @A;", "whose type compilers choose"),
    "forward_enum": ("enum e;", "enum e *k", "", "for (int i = 0; i < n; i++) x[i] = @k[i];", "enum e, which is not defined here"),
    "enum_in_two_blocks": ("enum e { A };", "", "enum e { B = -1 }; enum e k = 0;", "for (int i = 0; i < n; i++) x[i] = @k;", "different types in different blocks"),
    "typedef_in_two_blocks": ("typedef int T;", "", "{ typedef float T; T q = 1; x[0] = q; }", "for (int i = 0; i < n; i++) x[i] = @(T)(i / 2.0);", "different types in different blocks"),
    "struct_in_two_blocks": ("struct s { double a; float b; };", "", "struct s { float b; double a; }; struct s z[8]; z[0].a = 1;", "for (int i = 0; i < 8; i++) x[i] = @z[i].a;", "different types in different blocks"),
    "volatile_structure": ("struct s { double a; };", "volatile struct s *z", "", "for (int i = 0; i < n; i++) x[i] = @z->a;", "volatile structure"),
    "volatile_row": ("typedef double row[4];", "volatile row *z", "", "for (int i = 0; i < n; i++) x[i] = @z[i][0];", "is volatile"),
    "typedef_in_a_called_function": ("typedef int T;\nstatic double half(double v) { typedef double T; if (v > 3) return (T)v; return v / 2; }", "", "", "for (int i = 0; i < n; i++) x[i] = 1 + @half(i);", "defines a type of its own"),
    "hidden_constant_in_a_called_function": ("enum { N = 3 };\nstatic double twice(double N) { if (N > 3) return N; return N * 2; }", "", "", "for (int i = 0; i < n; i++) x[i] = 1 + @twice(i);", "hides an enumeration constant"),
}  # fmt: skip


def _source(name: str) -> tuple[str, int, int]:
    before, parameters, inside, region, _ = REFUSED[name]
    text = (
        f"{before}\nvoid f(int n, double *restrict x{', ' * bool(parameters)}{parameters}) {{\n{inside}\n"
        f"#pragma scop\n{region}\n#pragma endscop\n}}\n"
    )
    offset = text.index("@")
    return text.replace("@", ""), text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


@pytest.mark.parametrize("name", REFUSED)
def test_a_type_without_a_model_is_refused_at_its_place(name: str, tmp_path: Path) -> None:
    text, line, column = _source(name)
    path = tmp_path / "types.c"
    path.write_text(text)
    model = read_source(path, CppOptions(), None)
    assert not model.scops
    first = model.refused[0].diagnostics[0]
    assert (first.span.line, first.span.column) == (line, column), first
    assert REFUSED[name][-1] in first.message and first.hint, first
