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
    "vector_typedef": ("typedef float v4 __attribute__((vector_size(16)));", "v4 *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i][0];", "vector_size"),
    "vector_parameter": ("", "float v __attribute__((vector_size(16)))", "", "for (int i = 0; i < n; i++) x[i] = @v[0];", "vector_size"),
    "vector_before_the_name": ("", "float __attribute__((__vector_size__(16))) *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i][0];", "vector_size"),
    "vector_local": ("", "", "float __attribute__((vector_size(16))) v = {1, 2};", "for (int i = 0; i < n; i++) x[i] = @v[1];", "vector_size"),
    "vector_in_the_region": ("", "", "", "for (int i = 0; i < n; i++) { float __attribute__((vector_size(16))) @v = {1, 2}; x[i] = v[1]; }", "vector_size"),
    "vector_member": ("struct s { int a; float v __attribute__((vector_size(16))); };", "struct s *s", "", "for (int i = 0; i < n; i++) x[i] = @s->v[1];", "vector_size"),
    "vector_cast": ("typedef float v4 __attribute__((vector_size(16)));", "", "", "for (int i = 0; i < n; i++) x[i] = (@(v4){1})[0];", "names no array"),
    "vector_global": ("typedef float v4 __attribute__((vector_size(16)));\nv4 table[9];", "", "", "for (int i = 0; i < n; i++) x[i] = @table[i][0];", "vector_size"),
    "vector_result": ("typedef float v4 __attribute__((vector_size(16)));\nstatic v4 pair(double a) { v4 r = {a, a}; if (a > 1) return r; return r; }", "", "", "for (int i = 0; i < n; i++) x[i] = @pair(i)[0];", "names no array"),
    "typedef_of_a_vector": ("typedef float v4 __attribute__((vector_size(16)));\ntypedef v4 *pv; typedef pv qv;", "qv v", "", "for (int i = 0; i < n; i++) x[i] = @v[i][0];", "vector_size"),
    "mode_typedef": ("typedef int wide __attribute__((mode(DI)));", "wide *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "mode"),
    "mode_local": ("", "", "int v __attribute__((__mode__(__QI__))) = 300;", "for (int i = 0; i < n; i++) x[i] = @v;", "mode"),
    "mode_cast": ("typedef unsigned q __attribute__((mode(QI)));", "", "", "for (int i = 0; i < n; i++) x[i] = @(q)(i * 100);", "mode"),
    "mode_cast_spelled_out": ("", "", "", "for (int i = 0; i < n; i++) x[i] = @(int __attribute__((mode(QI))))(i * 100);", "mode"),
    "mode_enum": ("enum __attribute__((mode(QI))) e { A, B };", "enum e *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "mode"),
    "packed_enum": ("enum e { A, B } __attribute__((packed));", "enum e *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "packed"),
    "packed_enum_in_front": ("enum __attribute__((__packed__)) e { A, B };", "struct { enum e k; } *v", "", "for (int i = 0; i < n; i++) x[i] = @v->k;", "packed"),
    "packed_enum_typedef": ("typedef enum { A, B } __attribute__((packed)) e;", "e *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "packed"),
    "int128": ("", "__int128 *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "__int128"),
    "unsigned_int128": ("typedef unsigned __int128 u;", "", "u k = 5;", "for (int i = 0; i < n; i++) x[i] = @k;", "__int128"),
    "int128_cast": ("", "", "", "for (int i = 0; i < n; i++) x[i] = @(__int128)i * i >> 3;", "__int128"),
    "uint128_t": ("", "__uint128_t *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "__uint128_t"),
    "int128_in_a_called_function": ("static double g(double a) { return @(__int128)a; }", "", "", "for (int i = 0; i < n; i++) x[i] = g(i);", "__int128"),
    "float128": ("", "__float128 *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "__float128"),
    "_Float128": ("typedef _Float128 q;", "q *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "_Float128"),
    "_Float64x": ("", "", "_Float64x k = 1;", "for (int i = 0; i < n; i++) x[i] = @k / 3;", "_Float64x"),
    "_Float32": ("", "struct { _Float32 k; } *v", "", "for (int i = 0; i < n; i++) x[i] = @v->k / 3;", "_Float32"),
    "_Float64": ("_Float64 k;", "", "", "for (int i = 0; i < n; i++) x[i] = @k / 3;", "_Float64"),
    "_Float16": ("", "_Float16 *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "_Float16"),
    "decimal": ("", "_Decimal64 *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "_Decimal64"),
    "float128_cast": ("", "", "", "for (int i = 0; i < n; i++) x[i] = @(__float128)i / 3;", "__float128"),
    "float128_result": ("__float128 far(double) __attribute__((const));", "", "", "for (int i = 0; i < n; i++) x[i] = @far(i);", "no number"),
    "complex": ("", "double _Complex *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "complex"),
    "complex_typedef": ("typedef __complex__ float c;", "c *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "complex"),
    "complex_cast": ("", "", "", "for (int i = 0; i < n; i++) x[i] = @(double _Complex)i;", "complex"),
    "long_double_cast": ("", "", "", "for (int i = 0; i < n; i++) x[i] = @(long double)i / 3;", "long double"),
    "long_double_constant": ("", "", "", "for (int i = 0; i < n; i++) x[i] = i / @3.0L;", "long double"),
    "long_double_result": ("long double far(double) __attribute__((const));", "", "", "for (int i = 0; i < n; i++) x[i] = @far(i);", "no number"),
    "atomic": ("", "_Atomic int *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "volatile"),
    "atomic_typedef": ("typedef _Atomic(int) a;", "a *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "volatile"),
    "atomic_pointer": ("", "double *_Atomic v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "atomic pointer"),
    "storage_order": ("struct __attribute__((scalar_storage_order(\"big-endian\"))) s { int a; int v[9]; };", "struct s *s", "", "for (int i = 0; i < n; i++) x[i] = @s->v[i];", "scalar_storage_order"),
    "storage_order_behind": ("typedef struct { int a; int v[9]; } __attribute__((scalar_storage_order(\"big-endian\"))) s;", "s *s", "", "for (int i = 0; i < n; i++) x[i] = @s->v[i];", "scalar_storage_order"),
    "storage_order_pragma": ("#pragma scalar_storage_order big-endian\nstruct s { int a; int v[9]; };\n#pragma scalar_storage_order default", "struct s *s", "", "for (int i = 0; i < n; i++) x[i] = @s->v[i];", "packed"),
    "packed_structure": ("struct s { char a; double v[9]; } __attribute__((packed));", "struct s *s", "", "for (int i = 0; i < n; i++) x[i] = @s->v[i];", "packed"),
    "packed_member": ("struct s { char a; double v[9] __attribute__((packed)); };", "struct s *s", "", "for (int i = 0; i < n; i++) x[i] = @s->v[i];", "packed"),
    "pragma_pack": ("#pragma pack(push, 1)\nstruct s { char a; double v[9]; };\n#pragma pack(pop)", "struct s *s", "", "for (int i = 0; i < n; i++) x[i] = @s->v[i];", "packed"),
    "aligned_typedef": ("typedef double less __attribute__((aligned(4)));", "struct { int a; less v; } *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i].v;", "alignment"),
    "may_alias": ("typedef int __attribute__((may_alias)) any;", "any *v", "", "for (int i = 0; i < n; i++) x[i] = @v[i];", "may_alias"),
    "cleanup": ("void gone(double *);", "", "", "for (int i = 0; i < n; i++) { double @t __attribute__((cleanup(gone))) = i; x[i] = t; }", "cleanup"),
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
