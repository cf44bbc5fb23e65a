"""Text that depends on where it is compiled: the same value everywhere, or a refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.expressions.statement_printing import statement_text
from swbuild.frontend import CppOptions, read_source
from swbuild.frontend.request import SourceModel

FRAME = """\
#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define NUMBER __COUNTER__
#define UNIQUE JOIN(unique, __COUNTER__)
#define HERE __LINE__
static double line(double v) {{ if (v > 1) return v; return __LINE__; }}
{before}
void f(int n, double *restrict x) {{
#pragma scop
{region}
#pragma endscop
}}
"""
LOOP = "for (int i = 0; i < n; i++) x[i] = "

REFUSED = {
    "counter": ("", LOOP + "__COUNTER__;", "__COUNTER__"),
    "counter_in_a_macro": ("", LOOP + "NUMBER;", "__COUNTER__"),
    "counter_in_a_name": ("", "for (int i = 0; i < n; i++) { double UNIQUE = 1; x[i] = 2; }", "__COUNTER__"),
    "counter_in_a_condition": ("", "#if __COUNTER__\n" + LOOP + "1;\n#endif\nx[0] = 3;", "__COUNTER__"),
    "counter_of_a_header": ('#include "n.h"', LOOP + "FROM_HEADER;", "__COUNTER__"),
    "line": ("#line 500", LOOP + "__LINE__;", "__LINE__"),
    "line_in_a_macro": ('#line 500 "other.y"', LOOP + "HERE + 1;", "__LINE__"),
    "line_in_a_condition": ("#line 500", "#if __LINE__ > 400\n" + LOOP + "1;\n#endif\nx[0] = 3;", "__LINE__"),
    "level": ("", "#ifdef __OPTIMIZE__\n" + LOOP + "1;\n#else\n" + LOOP + "2;\n#endif", "__OPTIMIZE__"),
    "level_in_a_macro": (
        "#ifdef __NO_INLINE__\n#define K 1\n#else\n#define K 2\n#endif",
        LOOP + "K;",
        "__NO_INLINE__",
    ),
    "level_in_a_function": (
        "static double k(void) {\n#ifdef __OPTIMIZE__\nreturn 1;\n#else\nreturn 2;\n#endif\n}",
        LOOP + "k();",
        "__OPTIMIZE__",
    ),
    "level_in_a_constant": (
        "static const int k =\n#ifdef __OPTIMIZE__\n1;\n#else\n2;\n#endif",
        LOOP + "k;",
        "__OPTIMIZE__",
    ),
    "level_in_a_type": (
        "#ifdef __OPTIMIZE__\ntypedef float base;\n#else\ntypedef double base;\n#endif\ntypedef base real;",
        LOOP + "(real)i / 3;",
        "__OPTIMIZE__",
    ),
    "level_in_a_member": (
        "struct s { int a;\n#ifdef __OPTIMIZE__\nint b;\n#endif\nint c; };\nstatic struct s all[9];",
        LOOP + "all[i].c;",
        "__OPTIMIZE__",
    ),
    "line_in_a_constant": ("#line 500\nstatic const int k = __LINE__;", LOOP + "k;", "__LINE__"),
    "line_in_a_function": ("#line 500\nstatic double at(void) { return HERE; }", LOOP + "at();", "__LINE__"),
}
KEPT = {
    "level_elsewhere": (
        "#include <stdlib.h>\n#ifdef __OPTIMIZE__\nint fast;\n#endif",
        LOOP + "i + 7;",
        "+ 7",
    ),
    "level_in_another_function": (
        '#include <stdio.h>\nstatic void tell(int k) {\n#ifdef __OPTIMIZE__\nprintf("%d", k);\n#endif\n}',
        LOOP + "i + 8;",
        "+ 8",
    ),
    "line": ("", LOOP + "__LINE__ + HERE + line(i);", "10"),
    "counter_elsewhere": ("int NUMBER_BEFORE[__COUNTER__ + 1]; int UNIQUE;", LOOP + "i;", "@0"),
    "renumbered": ("#line 500", LOOP + "i;", "@0"),
}


def _read(directory: Path, before: str, region: str) -> SourceModel:
    path = directory / "f.c"
    (directory / "n.h").write_text("#define FROM_HEADER (1 + __COUNTER__)\n")
    path.write_text(FRAME.format(before=before, region=region))
    return read_source(path, CppOptions(), None)


@pytest.mark.parametrize("name", REFUSED)
def test_a_region_whose_text_moves_is_refused(name: str, tmp_path: Path) -> None:
    before, region, word = REFUSED[name]
    model = _read(tmp_path, before, region)
    assert not model.scops
    (problem,) = model.refused[0].diagnostics
    line = FRAME.format(before=before, region=region).split("\n").index("#pragma scop") + 1
    assert (problem.code, problem.span.line) == ("SW230", line) and word in problem.message and problem.hint


@pytest.mark.parametrize("name", KEPT)
def test_other_regions_keep_their_values(name: str, tmp_path: Path) -> None:
    before, region, text = KEPT[name]
    model = _read(tmp_path, before, region)
    assert not model.refused
    assert text in statement_text(model.scops[0].statements[0].body)
