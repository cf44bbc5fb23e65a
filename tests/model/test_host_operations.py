"""What instructions of host code ask of the management core."""

from __future__ import annotations

import pytest

from swbuild.emulator.model.host_blocks import blocks
from swbuild.emulator.model.host_operations import Operation, Unit, fuse, operations


def units(line: str) -> list[str]:
    return [operation.unit.value for operation in operations(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("\taddsd\t%xmm1, %xmm0", ["float"]),
        ("\taddsd\t8(%rdx), %xmm0", ["memory", "float"]),
        ("\taddsd\t8(%rdx,%rax,8), %xmm0", ["integer", "memory", "float"]),
        ("\tmovsd\t(%rsi), %xmm1", ["memory"]),
        ("\tmovsd\t%xmm1, (%rsi)", ["memory"]),
        ("\tmovsd\t%xmm1, buffer@tpoff+8(%rax)", ["memory"]),
        ("\tmovq\t%fs:0, %rax", ["memory"]),
        ("\tmovapd\t%xmm1, %xmm0", ["none"]),
        ("\tmovl\t$7, %eax", ["integer"]),
        ("\txorl\t%eax, %eax", ["none"]),
        ("\taddl\t$1, 4(%rsp)", ["memory", "integer", "memory"]),
        ("\tincl\t4(%rsp)", ["memory", "integer", "memory"]),
        ("\tcmpq\t%rax, 8(%rcx)", ["memory", "integer"]),
        ("\tleaq\t(%rax,%rbx,4), %rcx", ["integer"]),
        ("\tpushq\t%rbx", ["memory"]),
        ("\tjne\t.L3", ["control"]),
        ("\tcall\tf@PLT", ["control"]),
        ("\t.loc 1 2 3", []),
        (".L3:", []),
        ("\tnop", []),
        ("\trep stosq", ["integer"]),
    ],
)
def test_classes_of_instructions(line: str, expected: list[str]) -> None:
    assert units(line) == expected


def test_a_comparison_with_memory_stores_nothing() -> None:
    assert sum(operation.unit is Unit.MEMORY for operation in operations("\tcmpl\t$3, (%rax)")) == 1


def test_half_a_vector_register_is_half_an_operation() -> None:
    (half,) = operations("\taddpd\t%xmm1, %xmm0")
    assert half.slots == 0.5


def parse(*lines: str) -> list[Operation]:
    return [operation for line in lines for operation in operations("\t" + line)]


def test_a_product_and_its_sum_are_one_operation() -> None:
    fused = fuse(parse("mulsd %xmm1, %xmm0", "addsd %xmm0, %xmm2"))
    assert [operation.unit for operation in fused] == [Unit.NONE, Unit.FLOAT]
    assert {"v0", "v1", "v2"} <= fused[1].reads


def test_a_product_that_something_else_reads_stays() -> None:
    fused = fuse(parse("mulsd %xmm1, %xmm0", "movsd %xmm0, (%rax)", "addsd %xmm0, %xmm2"))
    assert fused[0].unit is Unit.FLOAT and fused[0].slots == 1.0


def stack_units(*lines: str) -> list[str]:
    (block,) = blocks("\t.text\nf:\n" + "".join(f"\t{line}\n" for line in lines))
    return [operation.unit.value for operation in block.operations]


def test_a_value_that_passes_through_the_stack_stays_in_its_register() -> None:
    assert stack_units("movapd %xmm1, -24(%rsp)", "movapd -24(%rsp), %xmm2") == ["none", "none"]


def test_data_elsewhere_is_no_detour() -> None:
    assert stack_units("movapd %xmm1, (%rax)", "movapd (%rax), %xmm2") == ["memory", "memory"]


def test_a_function_that_gives_away_an_address_of_its_stack_keeps_its_stores() -> None:
    plain = "f:\n\tmovsd\t%xmm0, -8(%rsp)\n\tret\n"
    taken = "f:\n\tmovsd\t%xmm0, -8(%rsp)\n\tleaq\t-8(%rsp), %rdi\n\tcall\tg\n\tret\n"
    count = [
        sum(op.unit is Unit.MEMORY for block in blocks(text) for op in block.operations)
        for text in ("\t.text\n" + plain, "\t.text\n" + taken)
    ]
    assert count == [0, 1]
