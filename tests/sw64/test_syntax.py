"""Assembly of the SW64 family is read as its compilers write it and as people write it by hand."""

from __future__ import annotations

import pytest

from swbuild.sw64.instructions import Kind, reads, shape, writes
from swbuild.sw64.syntax import Directive, Instruction, Label, Memory, memory_operand, read, register_number


def test_a_line_of_a_listing_has_operands_relocation_and_cycle() -> None:
    text = (
        "\tldl\t$7,.data($gp)             \t!literal\t# [3] .data\n\tldih\t$gp,0($27)  !gpdisp!2\t# [0] 0\n"
    )
    assert read(text) == [
        Instruction(1, "ldl", ("$7", ".data($gp)"), "literal", 3),
        Instruction(2, "ldih", ("$gp", "0($27)"), "gpdisp", 0),
    ]


def test_labels_directives_and_comments_keep_their_lines() -> None:
    text = '/* two\nlines */\n.L1: 1:  addw $1,1,$2 # not [4]\n\t.ascii "a#b;c"\n$ng..fun:\n// nothing\n'
    assert read(text) == [
        Label(3, ".L1"),
        Label(3, "1"),
        Instruction(3, "addw", ("$1", "1", "$2")),
        Directive(4, ".ascii", '"a#b;c"'),
        Label(5, "$ng..fun"),
    ]


@pytest.mark.parametrize(
    ("operand", "number"),
    [("$5", 5), ("$f23", 55), ("$f31", 31), ("$sp", 30), ("$gp", 29), ("$63", 63), ("5", None), ("$x", None)],
)
def test_registers_go_by_number_and_by_name(operand: str, number: int | None) -> None:
    assert register_number(operand) == number


@pytest.mark.parametrize(
    ("operand", "address"),
    [
        ("-32($15)", Memory("-32", 15)),
        ("($4)", Memory("", 4)),
        ("(4+8)($sp)", Memory("(4+8)", 30)),
        ("_MYID+4($31)", Memory("_MYID+4", 31)),
        ("$4", None),
    ],
)
def test_addresses_have_a_displacement_and_a_base(operand: str, address: Memory | None) -> None:
    assert memory_operand(operand) == address


@pytest.mark.parametrize(
    ("text", "read_registers", "written", "kind"),
    [
        ("vmad $1,$7,$11,$11", (1, 7, 11), (11,), Kind.FLOAT),
        ("stl $31,736($sp)", (30,), (), Kind.STORE),
        ("ldw $7,56($sp)", (30,), (7,), Kind.LOAD),
        ("addw $5,1,$5", (5,), (5,), Kind.INTEGER),
        ("vinsw $31,$29,7,$29", (29,), (29,), Kind.SHUFFLE),
        ("beq $1,.L", (1,), (), Kind.BRANCH),
        ("ret $31,($26),1", (26,), (), Kind.CALL),
        ("getr $3", (), (3,), Kind.RECEIVE),
        ("putr $1,8", (1,), (), Kind.SEND),
    ],
)
def test_what_an_instruction_reads_and_writes(
    text: str, read_registers: tuple[int, ...], written: tuple[int, ...], kind: Kind
) -> None:
    (instruction,) = read(text)
    assert isinstance(instruction, Instruction)
    found = shape(instruction)
    assert found is not None
    assert (reads(instruction), writes(instruction), found.kind) == (read_registers, written, kind)


@pytest.mark.parametrize("text", ["vfrobnicate $1,$2,$3", "addw $1,$2"])
def test_what_is_not_known_has_no_shape(text: str) -> None:
    (instruction,) = read(text)
    assert isinstance(instruction, Instruction)
    assert shape(instruction) is None
