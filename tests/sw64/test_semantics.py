"""What instructions do, against an independent model."""

import pytest

from swbuild.sw64 import semantics
from swbuild.sw64.instructions import INSTRUCTIONS
from swbuild.sw64.meanings import BRANCHES, MEANINGS, REFUSED, SOURCES
from swbuild.sw64.semantics import HOST, SW3, SWS, Unknown
from swbuild.sw64.syntax import Instruction


def test_every_instruction_of_the_table_has_a_meaning_or_a_reason():
    known = MEANINGS.keys() | REFUSED.keys()
    left = [name for name in INSTRUCTIONS if name not in known and not semantics.is_control_flow(name)]
    assert not left and not known - INSTRUCTIONS.keys() - REFUSED.keys()
    assert all(name in BRANCHES for name, shape in INSTRUCTIONS.items() if shape.form in ("il", "rl"))
    assert {row.source for rows in MEANINGS.values() for row in rows} <= SOURCES.keys()


@pytest.mark.parametrize(
    ("text", "machine", "reason"),
    [
        ("umulqa $1,$2,$3", SW3, "not published"),
        ("rcsr $1,9", SW3, "number 9"),
        ("vinsw $1,$2,8,$3", SW3, "number 8"),
        ("addl $1,$40,$3", SW3, "register \\$40"),
        ("addl $1,x,$3", SW3, "'x' is no number"),
        ("ldw $1,lab($3)", SW3, "'lab' is no number"),
        ("putr $1,$2", SWS, "on this processor"),
        ("fcvtlw $f1,$f2", SW3, "on this processor"),
        ("bne $1,1b", HOST, "straight line"),
        ("frobnicate $1", HOST, "not known"),
    ],
)
def test_what_is_not_known_is_refused_by_name(text, machine, reason):
    name, operands = text.split()
    with pytest.raises(Unknown, match=reason):
        semantics.statement(Instruction(1, name, tuple(operands.split(","))), machine)
