"""The rewriting of preprocessed slave code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "swbuild" / "emulator" / "driver"))

import assembly
import ctext
import rewrite

LOOPS = {
    "while (r != 1);": True,
    "while (r != 1) {}": True,
    "while (r != 1) { ; }": True,
    "do {} while (r != 1);": True,
    "do ; while (r != 1);": True,
    "for (; r != 1;);": True,
    "for (i = 0; r != 1;);": False,
    "while (r != 1) g();": False,
    "do g(); while (r != 1);": False,
    "do { g(); } while (r != 1);": False,
}


@pytest.mark.parametrize("loop", LOOPS)
def test_spin_loops_with_an_empty_body_call_the_runtime(loop: str) -> None:
    text = rewrite.rewrite(f"void f(void) {{ if (x) {loop} else h(); }}\n", slave=True).text
    assert ("__swemu_relax" in text) == LOOPS[loop]


def test_lines_stay() -> None:
    text = "void f(void)\n{\n    while (r\n           != 1)\n    {\n    }\n    g();\n}\n"
    changed = rewrite.rewrite(text, slave=True).text
    assert changed.count("\n") == text.count("\n")
    assert changed.splitlines()[6] == "    g();"


def test_the_word_that_a_loop_looks_at_is_passed_on() -> None:
    assert "&(reply)" in rewrite.rewrite("void f(void) { while (reply != n); }", slave=True).text
    assert "&(s->r[2])" in rewrite.rewrite("void f(void) { while (s->r[2] < 4); }", slave=True).text
    assert "(const volatile void*)0" in rewrite.rewrite("void f(void) { while (!done()); }", slave=True).text


def test_strings_and_host_code_are_left_alone() -> None:
    text = 'void f(void) { puts("while (x);"); }'
    assert rewrite.rewrite(text, slave=True).text == text
    loop = "void f(void) { while (x); }"
    assert rewrite.rewrite(loop, slave=False).text == loop


def _preprocessed(header: str, flags: str, inside: str) -> str:
    """Return a text as the preprocessor makes it of a file with two functions around what it includes."""
    return (
        '# 1 "/our/include/swemu_prelude.h" 1 3\n# 1 "k.c"\nvoid f(void) { while (first != 0); }\n'
        f'# 1 "{header}" {flags}\n{inside}\n# 3 "k.c" 2\nint a[3];\nvoid g(void) {{ while (last != 0); }}\n'
    )


@pytest.mark.parametrize(
    ("header", "flags", "own"),
    [
        ("/usr/include/x.h", "1 3 4", False),
        ("/our/include/simd.h", "1 3", False),
        ("/project/include/x.h", "1 3", True),
        ("/usr/local/include/x.h", "1 3", True),
        ("/usr/include/x.h", "1", True),
        ("x.h", "1", True),
    ],
)
def test_installed_headers_are_not_looked_into(header: str, flags: str, own: bool) -> None:
    text = rewrite.rewrite(
        _preprocessed(header, flags, "void h(void) { while (within != 0); }"), slave=True
    ).text
    assert ("&(within)" in text) == own
    assert "&(first)" in text
    assert "&(last)" in text
    aligned = rewrite.rewrite(_preprocessed(header, flags, "struct s { int n; };"), slave=True, align=32).text
    assert "int a[3] __attribute__((aligned(32)));" in aligned
    functions = rewrite.inline_functions(_preprocessed(header, flags, "inline int h(int n) { return n; }"))
    assert functions == ({"h"} if own else set())


def test_what_macros_of_headers_become_is_part_of_the_file() -> None:
    text = _preprocessed("/usr/include/x.h", "1 3", "int h;").replace(
        "while (last != 0)", 'while (last !=\n# 4 "k.c" 3 4\n((void *)0)\n# 4 "k.c"\n)'
    )
    assert "&(last)" in rewrite.rewrite(text, slave=True).text


def test_what_comes_first_after_a_header_is_looked_at() -> None:
    text = '# 1 "/usr/include/x.h" 1 3\nint h;\n# 2 "k.c" 2\nint a[3];\n'
    assert "int a[3] __attribute__((aligned(32)));" in rewrite.rewrite(text, slave=True, align=32).text


def test_places_are_those_that_the_preprocessor_tells() -> None:
    text = '\nint a;\n# 7 "x.c"\nint b;\n\nint c;\n# 3 "y.h" 1 3\nint d;\n'
    found = ctext.Places(text)
    places = {name: found.of(text.index(f"int {name}")) for name in "abcd"}
    assert places == {
        "a": ("?", 2, False),
        "b": ("x.c", 7, False),
        "c": ("x.c", 9, False),
        "d": ("y.h", 3, True),
    }


def test_assembly_becomes_c_over_registers() -> None:
    assert "__swemu_memb();" in code('"memb"')
    assert "__swemu_r100.l=__swemu_csr(4);" in code('"rcsr %0, 4":"=r"(t)')
    assert "__swemu_reg_send(&__swemu_r100," in code('"putr %0,%1\\n"::"r"(v),"r"(d):"memory"')
    assert assembly.translate('""') is None


def code(body: str) -> str:
    made = assembly.translate(body)
    assert made is not None
    return str(made.code)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('"frobnicate %0":"=r"(t)', "'frobnicate' is not known"),
        ('"addl %0,$5,%0":"+r"(t)', "reads \\$5"),
        ('"ldl %0,0($30)":"=r"(t)', "reads \\$30"),
        ('"addl %1,1,%0":"=r"(t)', "operand '%1'"),
        ('"addl %w0,1,%0":"+r"(t)', "operand '%w0'"),
        ('"bne %0,out"::"r"(t)', "branch to 'out'"),
        ('"bne %0,1f"::"r"(t)', "branch to '1f'"),
        ('"bsr $26,f"', "calls and returns"),
        ('"ret $31,($26),1"', "calls and returns"),
        ('".word 5"', "directive '.word'"),
        ('"addl %0,%1":"=r"(t):"r"(u)', "takes 3 operands"),
        ('"vinsw %0,%1,%2,%1"::"r"(t),"r"(v),"i"(n)', "number __swemu_i102"),
    ],
)
def test_what_assembly_says_and_is_not_known_is_refused(body: str, reason: str) -> None:
    with pytest.raises(assembly.Unknown, match=reason):
        assembly.translate(body)
