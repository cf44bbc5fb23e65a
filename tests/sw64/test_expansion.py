"""Macros, repetitions, conditions and constants of the assembler come to what GNU as makes of them."""

from __future__ import annotations

import pytest

from swbuild.sw64.expansion import expand
from swbuild.sw64.expressions import number
from swbuild.sw64.syntax import Instruction

MACRO = """\t.macro m a, b=dd, c:vararg
\t.ascii "[\\a|\\b|\\c]"
\t.endm
"""


def made(text: str) -> list[str]:
    expanded = expand(text)
    assert not expanded.problems
    return [" ".join(row.text.split()) for row in expanded.rows]


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("m 1 2", "1|2|"),
        ("m a + b, c", "a+b|c|"),
        ("m a +b c", "a+b|c|"),
        ("m (1 + 2), 3", "(1+2)|3|"),
        ("m x,,z,  w q", "x|dd|z,w q"),
        ("m b=5, a=6", "6|5|"),
        ("m a b=3", "a|3|"),
        ('m "q r", "s,t"', "q r|s,t|"),
        ("m", "|dd|"),
        ("m 1 2 3 4", "1|2|3 4"),
        ("m 1,", "1|dd|"),
        ("m (a, b) c", "(a|b)c|"),
        ("M $1, -8($2); m 2", "$1|-8($2)|"),
    ],
)
def test_arguments_are_taken_as_gnu_as_takes_them(call: str, found: str) -> None:
    """What each call gives was seen with GNU as 2.40."""
    assert made(MACRO + call)[0] == f'.ascii "[{found}]"'


def test_repetitions_count_with_the_constants_of_their_place() -> None:
    text = (
        ".set i, 2\n.rept i\nldl $1, 8*i($17) !x # [4]\ni = i - 3\n.endr\n.irp r 1, 2 3\nmov \\r, $\\r\\()0\n"
    )
    text += ".endr\n.irpc c, ab\n.L\\c: nop; mov i, $1\n.endr"
    assert [row for row in made(text) if not row.startswith(".set")] == [
        "ldl $1, 8*2($17) !x # [4]",
        "ldl $1, 8*(-1)($17) !x # [4]",
        *("mov 1, $10", "mov 2, $20", "mov 3, $30"),
        *(".La:", "nop", "mov (-4), $1", ".Lb:", "nop", "mov (-4), $1"),
    ]


def test_macros_call_and_define_macros_and_leave_early() -> None:
    text = """.macro outer x
.macro inner\\x y
.if \\y > 1 && !0
mov \\y, $\\x
.exitm
.elseif \\y
.Lone\\@:
.else
.ifndef none
.ifc a, a
nop
.endif
.endif
.endif
\\none
.endm
inner\\x \\x+1
.endm
.rept 2
outer 5
.exitm
.endr
inner5 1
inner5 0
.purgem inner5
outer 5
"""
    assert made(text) == ["mov 5+1, $5", ".Lone0:", "\\none", "nop", "\\none", "mov 5+1, $5"]


def test_items_keep_the_line_in_the_macro() -> None:
    text = ".macro m a\n\taddw $1, \\a, $1\n.endm\nm 1; m 2\n\tnop"
    assert [item for item in expand(text).items() if isinstance(item, Instruction)] == [
        Instruction(2, "addw", ("$1", "1", "$1")),
        Instruction(2, "addw", ("$1", "2", "$1")),
        Instruction(5, "nop", ()),
    ]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (".macro r x\nr \\x\n.endm\nr 1", 2, "the macro 'r' calls itself without end"),
        (".macro t\nt\nt\n.endm\nt", 2, "the macro 't' calls itself without end"),
        (".rept 900000\nnop\n.endr", 1, "'.rept' repeats more than 400000 times"),
        (".rept 999\n.rept 999\nnop\n.endr\n.endr", 3, "macros make more than 400000 statements"),
        ("nop\n.rept 5", 2, "'.rept' has no '.endr'"),
        (".if foo\n.endif", 1, "'foo' is no number here"),
        (".if 1\nnop", 1, "'.if' has no '.endif'"),
        (".exitm", 1, "'.exitm' stands outside of macros"),
        ("nop\n.endr", 2, "'.endr' has no begin"),
        (".altmacro", 1, "the directive '.altmacro' is not emulated"),
        (".macro z a:req\n.endm\nz", 3, "the macro 'z' needs its argument 'a'"),
        (".macro z a\n.endm\nz 1, 2", 3, "the macro 'z' takes 1 arguments, not 2"),
        (
            ".macro z a b\n.endm\nz a=1 2",
            3,
            "the macro 'z' gets an argument without a name behind one with a name",
        ),
        (".macro z\n.endm\n.macro Z\n.endm", 3, "the macro 'Z' is defined already"),
        ('.macro z\n.error "no \\@"\n.endm\nz', 2, "no 0"),
    ],
)
def test_what_is_wrong_is_said_at_its_line(text: str, line: int, problem: str) -> None:
    assert [(row.line, said) for row, said in expand(text).problems] == [(line, problem)]


def test_expressions_have_the_levels_of_gnu_as() -> None:
    """The values were seen with GNU as 2.40."""
    texts = [
        "1+2|4",
        "7==7",
        "3*2%4",
        "!0",
        "1<<2+1",
        "-7/2",
        "-7%2",
        "3&&2",
        "5^1",
        "1<2",
        "0b101",
        "0||0",
        "1<>1",
    ]
    assert [number(text, {}) for text in texts] == [7, -1, 2, 1, 5, -3, -1, 1, 4, -1, 5, 0, 0]
