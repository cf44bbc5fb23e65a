"""Basic blocks of assembly, its functions and loops, and the cycles and stalls of its lines."""

from __future__ import annotations

import pytest

from swbuild.machine import load
from swbuild.sw64.blocks import basic_blocks, function, line_costs
from swbuild.sw64.rules import rules
from swbuild.sw64.syntax import Label, read

RULES = rules(load("sw26010"))

FILE = """\
\t.globl f
f:
.LCFI_f:\tldi $1,10($31)
.L1:
.L2:\tsubw $1,1,$1
.LCFI_g:\tbgt $1,.L1
\tldw $2,0($16)
\taddw $2,1,$0
\tret $31,($26),1
\t.end f
\t.ent g
g:
1:\tldl $1,0($1)
\tbne $1,1b
\tret $31,($26),1
\t.section .debug_frame
\t.4byte .LCFI_f
"""


def test_blocks_begin_where_something_may_jump_and_end_behind_jumps() -> None:
    found = [(block.labels, [item.line for item in block.instructions], block.loops) for block in BLOCKS]
    assert found == [
        (("f", ".LCFI_f"), [3], False),
        ((".L1", ".L2"), [5, 6], True),
        ((), [7, 8, 9], False),
        (("g", "1"), [13, 14], True),
        ((), [15], False),
    ]


BLOCKS = basic_blocks(read(FILE))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("f:\n addw $1,1,$1\n.L:\n addw $1,1,$1\n", 1),
        ("f:\n addw $1,1,$1\n1:\n addw $1,1,$1\n", 2),
        ("f:\n addw $1,1,$1\n.L:\n addw $1,1,$1\n.section .rodata\n.quad .L\n", 2),
        ("f:\n addw $1,1,$1\n.L:\n addw $1,1,$1\n.section .debug_line\n.quad .L\n", 1),
        ("f:\n addw $1,1,$1\n.L:\n addw $1,1,$1\n.section .debug_line\n.text\n.quad .L\n", 2),
        ("f:\n addw $1,1,$1\n.L:\n addw $1,1,$1\n ldi $2,.L($31)\n", 2),
    ],
)
def test_only_labels_that_something_names_begin_a_block(text: str, count: int) -> None:
    assert len(basic_blocks(read(text))) == count


def test_a_branch_forward_or_elsewhere_makes_no_loop() -> None:
    assert not any(block.loops for block in basic_blocks(read("1: subw $1,1,$1\n bgt $1,1f\n1: bgt $1,2b\n")))
    assert not basic_blocks(read(".L: subw $1,1,$1\n br $31,.M\n.M: nop\n"))[0].loops


@pytest.mark.parametrize(("name", "lines"), [("f", (3, 9)), ("g", (13, 15)), ("h", None)])
def test_a_function_ends_at_its_end_or_at_the_next(name: str, lines: tuple[int, int] | None) -> None:
    found = [item.line for block in basic_blocks(function(read(FILE), name)) for item in block.instructions]
    assert (found[0], found[-1]) == lines if lines else not found


def test_a_function_may_have_several_labels() -> None:
    items = function(read("\t.globl f\nf:\n$ng..f:\n nop\n\t.globl g\ng: nop\n"), "f")
    assert [item.name for item in items if isinstance(item, Label)] == ["f", "$ng..f"]


def test_lines_have_cycles_and_stalls() -> None:
    """The load @0, the sum @3, the return beside it; loops by their steady state; unknown ones not at all."""
    found = line_costs(read(FILE + "\tfrob $1\n.L9:\tnop\n\tbne $1,.L9\n"), RULES)
    figures = {line: (cost.cycles, cost.stalls) for line, cost in found.items()}
    assert {line: figures[line] for line in (5, 6, 7, 8, 9)} == {
        5: (1, 0),
        6: (1, 0),
        7: (1, 0),
        8: (3, 2),
        9: (0, 0),
    }
    assert (figures[13], figures[14]) == ((1, 0), (3, 2))
    assert 18 not in found and {19, 20} <= set(found)


def test_two_instructions_of_a_line_add_up() -> None:
    found = line_costs(read("ldw $1,0($2); addw $1,1,$1; addw $1,1,$1"), RULES)[1]
    assert (found.cycles, found.stalls, len(found.waits)) == (5, 2, 1)
