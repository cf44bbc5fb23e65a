"""What blocks of host code ask of the management core, read from assembly."""

from __future__ import annotations

import pytest

from swbuild.emulator.model.blocks import Reader
from swbuild.emulator.model.flow import connected
from swbuild.emulator.model.host_instrument import instrument_host
from swbuild.emulator.model.host_mix import mixes
from swbuild.machine import load
from swbuild.machine.cost.host import Chain, Mix

MACHINE = load("sw26010")
HOST = MACHINE.host


def of(*lines: str) -> list[Mix]:
    text = "\t.text\nf:\n" + "".join(line if line.endswith(":\n") else f"\t{line}\n" for line in lines)
    (function,) = connected(Reader(text, 32, roomy=True))
    return mixes(function, HOST)


def only(*lines: str) -> Mix:
    (found,) = of(*lines, "ret")
    return found


@pytest.mark.parametrize(
    ("lines", "operations", "memory", "arithmetic"),
    [
        (["addsd %xmm1, %xmm0"], 2, 0, 1),
        (["addsd 8(%rdx), %xmm0"], 3, 1, 1),
        (["addsd 8(%rdx,%rax,8), %xmm0"], 4, 1, 1),
        (["addl $1, 4(%rdi)"], 4, 2, 0),
        (["cmpq %rax, 8(%rcx)", "setl %al"], 3, 1, 0),
        (["mulsd %xmm1, %xmm0", "addsd %xmm2, %xmm0"], 2, 0, 1),
        (["mulsd %xmm1, %xmm0", "movsd %xmm0, (%rax)", "addsd %xmm2, %xmm0"], 4, 1, 2),
        (["addpd %xmm1, %xmm0", "addpd %xmm3, %xmm2", "movapd %xmm2, (%rax)"], 3, 1, 1),
        (["movapd %xmm1, %xmm0"], 1, 0, 0),
        (["pushfq", "popfq", "cpuid", "rep stosq", "xchgq %rax, (%rdi)", "fldt (%rsp)"], 10, 5, 0),
    ],
)
def test_operations_of_blocks(lines: list[str], operations: int, memory: int, arithmetic: int) -> None:
    found = only(*lines)
    assert (found.operations, found.memory, found.arithmetic) == (operations, memory, arithmetic)


def test_what_x86_keeps_on_the_stack_for_want_of_registers_stays_in_a_register() -> None:
    lines = ("movsd %xmm1, 24(%rsp){}", "addsd 24(%rsp), %xmm0{}")
    spilled, meant = (only(*(line.format(mark) for line in lines)) for mark in ("\t# x, %sfp", ""))
    assert (spilled.memory, meant.memory) == (0, 2)


def test_a_sum_that_is_kept_in_memory_is_a_chain_through_there() -> None:
    fixed, moving = (
        of(".L3:\n", "addsd (%rdi), %xmm0", "movsd %xmm0, (%rdi)", *more, "cmpq %rsi, %rax", "jne .L3", "ret")
        for more in (["movsd 8(%rdx,%rax,8), %xmm0", "addq $1, %rax"], ["addq $8, %rdi", "addq $1, %rax"])
    )
    assert Chain(arithmetic=1, load=1, other=1) in fixed[0].chains
    assert Chain(arithmetic=1) in moving[0].chains and not any(chain.load for chain in moving[0].chains)


def test_a_loop_that_is_entered_at_its_test_has_its_chain_in_its_body() -> None:
    _, body, test, _ = of(
        *("jmp .L2", ".L3:\n", "mulsd %xmm1, %xmm0", "addq $1, %rax"),
        *(".L2:\n", "cmpq %rsi, %rax", "jne .L3", "ret"),
    )
    assert Chain(arithmetic=1) in body.chains and not test.chains


def test_code_behind_another_section_is_read_again() -> None:
    (_, between), plain = (
        of("jmp .L1", *more, ".L1:\n", "addsd %xmm1, %xmm0", "ret")
        for more in (['.section .data,"aw"', ".previous"], [])
    )
    assert between == plain[1] and between.arithmetic == 1


@pytest.mark.parametrize(
    ("between", "saved"),
    [
        ("movsd (%rdi), %xmm0", False),
        ("movl 8(%rdi), %ecx", False),
        ("movq %rsi, %rdi\n\tmovsd (%rdi), %xmm0", True),  # the address is made where flags are live
        ("leaq 8(%rdi), %rdi\n\tmovsd (%rdi), %xmm0", True),
        ("cltd\n\tmovsd (%rdi), %xmm0", True),  # what it does is not known here
    ],
)
def test_an_access_is_told_of_ahead_of_the_flags_that_are_live_there(between: str, saved: bool) -> None:
    lines = ("movq %rdx, %rax", "cmpq %rax, %rsi", ".loc 1 2 3", between, "jne .L1\n.L1:\n\tret\n")
    text = "\t.text\nf:\n\t" + "\n\t".join(lines)
    made = instrument_host(text, MACHINE)
    assert ("pushfq" in made) is saved
    told = made.index("8(%rdi), %r11" if "ecx" in between else "(%rdi), %r11")
    assert (told < made.index("cmpq %rax, %rsi")) is not saved
