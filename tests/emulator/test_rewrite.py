"""The rewriting of preprocessed slave code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "swbuild" / "emulator" / "driver"))

import assembly
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
    text = rewrite.rewrite(f"void f(void) {{ if (x) {loop} else h(); }}\n", slave=True)
    assert ("__swemu_relax" in text) == LOOPS[loop]


def test_lines_stay() -> None:
    text = "void f(void)\n{\n    while (r\n           != 1)\n    {\n    }\n    g();\n}\n"
    changed = rewrite.rewrite(text, slave=True)
    assert changed.count("\n") == text.count("\n")
    assert changed.splitlines()[6] == "    g();"


def test_the_word_that_a_loop_looks_at_is_passed_on() -> None:
    assert "&(reply)" in rewrite.rewrite("void f(void) { while (reply != n); }", slave=True)
    assert "&(s->r[2])" in rewrite.rewrite("void f(void) { while (s->r[2] < 4); }", slave=True)
    assert "(const volatile void*)0" in rewrite.rewrite("void f(void) { while (!done()); }", slave=True)


def test_strings_and_host_code_are_left_alone() -> None:
    text = 'void f(void) { puts("while (x);"); }'
    assert rewrite.rewrite(text, slave=True) == text
    loop = "void f(void) { while (x); }"
    assert rewrite.rewrite(loop, slave=False) == loop


def test_assembly_becomes_calls() -> None:
    assert assembly.translate('"memb"') == "{__swemu_memb();}"
    assert assembly.translate('"rcsr %0, 4":"=r"(t)') == "{(t)=__swemu_csr(4);}"
    code = assembly.translate('"putr %0,%1\\n"::"r"(v),"r"(d):"memory"')
    assert code is not None and "__swemu_reg_send(&__swemu_v,sizeof __swemu_v,(int)((d)),0)" in code
    assert assembly.translate('""') is None
    with pytest.raises(assembly.UnknownInstruction):
        assembly.translate('"frobnicate %0":"=r"(t)')
