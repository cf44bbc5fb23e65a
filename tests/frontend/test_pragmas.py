"""Where regions begin and end: pragmas in every spelling, and every way of putting them wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.diagnostics import SwbuildError
from swbuild.frontend import CppOptions, SourceModel, read_source

LOOP = "for (int i = 0; i < n; i++) x[i] = 1;"


def read(directory: Path, begin: str, end: str = "#pragma endscop", loop: str = LOOP) -> SourceModel:
    path = directory / "region.c"
    path.write_text(f"void f(int n, double *x)\n{{\n{begin}\n{loop}\n{end}\n}}\n")
    return read_source(path, CppOptions(), None)


GOOD = {
    "plain": ("#pragma scop", "#pragma endscop", 3, "f"),
    "indented": ("   #  pragma  scop  name", "\t#pragma endscop", 3, "name"),
    "comments": ("/* a */ #pragma scop name // b", "/**/ # /**/ pragma endscop /* c */", 3, "name"),
    "label_repeated": ("#pragma scop name", "#pragma endscop name", 3, "name"),
    "operator": ('_Pragma("scop name")', '  _Pragma ( "endscop" )  /* c */', 3, "name"),
    "digraph": ("%:pragma scop", "%:pragma endscop", 3, "f"),
    "renumbered": ('#line 90 "x.y"\n#pragma scop', "#pragma endscop", 4, "f"),
    "renumbered_inside": ("#pragma scop\n# 9", '#line 7 "z"\n#pragma endscop', 3, "f"),
    "in_a_branch": ("#if 1\n#pragma scop", "#pragma endscop\n#endif", 4, "f"),
    "around_a_branch": ("#pragma scop\n#ifdef N\nx[0] = 1;\n#else", "#endif\n#pragma endscop", 3, "f"),
    "behind_a_label": ("again:\n#pragma scop", "#pragma endscop\nif (x[0] > 2) goto again;", 4, "f"),
    "in_a_case": ("switch (n) {\ncase 1:\n#pragma scop", "#pragma endscop\nbreak;\n}", 5, "f"),
    "in_a_case_of_two": ("switch (n) {\ncase 1: case 2: n++;\n#pragma scop", "#pragma endscop\n}", 5, "f"),
    "in_a_default": ("switch (n) {\ncase 1: break;\ndefault:\n#pragma scop", "#pragma endscop\n}", 6, "f"),
    "branch_in_a_comment": ("#pragma scop\n/*\n#endif\n*/", "#pragma endscop", 3, "f"),
}


@pytest.mark.parametrize("name", GOOD)
def test_spellings_that_work(name: str, tmp_path: Path) -> None:
    begin, end, line, label = GOOD[name]
    (scop,) = read(tmp_path, begin, end).scops
    assert (scop.name, scop.span.line) == (label, line)


BAD = {
    "beside_code": ('n = 2; _Pragma("scop")', "#pragma endscop", "SW204", 3, "shares its line"),
    "end_beside_code": ("#pragma scop", '_Pragma("endscop") n = 2;', "SW204", 5, "shares its line"),
    "in_a_macro": ('#define S _Pragma("scop")\nS', "#pragma endscop", "SW204", 4, "in a macro"),
    "continued": ("#pragma \\\n scop", "#pragma endscop", "SW204", 3, "shares its line"),
    "continues": ("#pragma scop", "#pragma endscop \\\n", "SW204", 5, "shares its line"),
    "comment_begins": ("#pragma scop /* a\n b */", "#pragma endscop", "SW204", 3, "shares its line"),
    "comment_ends": ("/* a\n b */ #pragma scop", "#pragma endscop", "SW204", 4, "shares its line"),
    "two_words": ("#pragma scop a b", "#pragma endscop", "SW204", 3, "'a b' is no label"),
    "clause": ("#pragma scop private(x)", "#pragma endscop", "SW204", 3, "'private(x)' is no label"),
    "number": ("#pragma scop 1x", "#pragma endscop", "SW204", 3, "'1x' is no label"),
    "other_label": ("#pragma scop a", "#pragma endscop b", "SW204", 5, "ends the region 'a'"),
    "no_label": ("#pragma scop", "#pragma endscop b", "SW204", 5, "without a label"),
    "two_branches": ("#if 1\n#pragma scop\n#endif", "#pragma endscop", "SW207", 4, "different branches"),
    "other_block": ("if (n > 1) {\n#pragma scop", "} else {\n#pragma endscop\n}", "SW207", 4, "one block"),
    "other_case": (
        "switch (n) {\ncase 1:\n#pragma scop",
        "case 2:\n#pragma endscop\n}",
        "SW207",
        5,
        "one block",
    ),
    "branch_without_braces": ("if (n > 1)\n#pragma scop", "#pragma endscop", "SW207", 4, "head of a branch"),
    "loop_without_braces": (
        "for (int t = 0; t < 3; t++)\n#pragma GCC unroll 3\n#pragma scop",
        "#pragma endscop",
        "SW207",
        5,
        "head of a branch or loop",
    ),
    "end_missing": ("#pragma scop", "#if 0\n#pragma endscop\n#endif", "SW204", 3, "never closed"),
    "end_in_a_header": ("#pragma scop", '#include "end.h"', "SW204", 3, "end.h:1:1: note"),
    "begin_in_a_header": ('#include "begin.h"', "#pragma endscop", "SW204", 5, "begin.h:1:1: note"),
    "all_in_a_header": ('#include "begin.h"', '#include "end.h"', "SW203", 0, "one that it includes"),
}


@pytest.mark.parametrize("name", BAD)
def test_pragmas_that_are_no_limits_of_a_region(name: str, tmp_path: Path) -> None:
    begin, end, code, line, says = BAD[name]
    (tmp_path / "begin.h").write_text("#pragma scop\n")
    (tmp_path / "end.h").write_text("#pragma endscop\n")
    with pytest.raises(SwbuildError) as caught:
        read(tmp_path, begin, end)
    first = caught.value.diagnostics[0]
    assert (first.code, first.span.line) == (code, line) and first.hint, str(caught.value)
    assert says in str(caught.value)


def test_headers_are_found_beside_a_renumbered_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there" / "inc").mkdir(parents=True)
    (tmp_path / "there" / "inc" / "far.h").write_text("#define FAR 1\n")
    (tmp_path / "there" / "near.h").write_text("#define NEAR 1\n")
    (tmp_path / "near.h").write_text("#error not this one\n")
    path = tmp_path / "there" / "region.c"
    path.write_text(
        '#line 5 "other.y"\n#include "near.h"\n#include <far.h>\nvoid f(double *x)\n{\n'
        "#pragma scop\nfor (int i = NEAR; i < 9 + FAR; i++) x[i] = undeclared;\n#pragma endscop\n}\n"
    )
    monkeypatch.chdir(tmp_path)
    model = read_source(Path("there/region.c"), CppOptions(includes=("there/inc",)), None)
    (found,) = model.refused[0].diagnostics
    assert str(found.span) == "there/region.c:7:45"
    assert {"region.c", "near.h", "far.h"} <= {Path(name).name for name in model.dependencies}


NESTED = {
    "parentheses": f"x[0] = {'(' * 3000}n{')' * 3000};",
    "blocks": "{" * 3000 + LOOP + "}" * 3000,
    "branches": " else ".join(f"if (n == {k}) x[0] = 1;" for k in range(3000)),
    "signs": f"x[0] = {'- ' * 3000}n;",
    "loops": "for (;;) " * 3000 + ";",
}


@pytest.mark.parametrize("name", NESTED)
def test_text_that_nests_too_deeply_has_a_place(name: str, tmp_path: Path) -> None:
    with pytest.raises(SwbuildError) as caught:
        read(tmp_path, "#pragma scop", loop=NESTED[name])
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.line) == ("SW202", 4) and found.span.column > 100
    assert "nests too deeply" in found.message
