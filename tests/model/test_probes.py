"""Which instructions are asked whether they access main memory, and how without harm to the flags."""

from __future__ import annotations

import pytest

from swbuild.emulator.model.instructions import steps
from swbuild.emulator.model.probes import probe
from swbuild.machine import load

MACHINE = load("sw26010")
LOAD, STORE = 0x100, 0x200


def asked(text: str) -> list[str]:
    lines = text.split("; ")
    return probe(lines, 0, steps(lines[0], MACHINE.simd.register_bytes))


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("movsd (%rax,%rdx,8), %xmm0", LOAD | 8),
        ("movss %xmm1, 12(%rdi)", STORE | 4),
        ("addl $1, (%rcx)", LOAD | STORE | 4),
        ("movzbl (%rsi), %eax", LOAD | 1),
        ("movslq 4(%rsi), %rax", LOAD | 4),
        ("movupd (%rax), %xmm3", LOAD | 16),
        ("cvtsi2sdl (%rax), %xmm3", LOAD | 4),
        ("cmpq $3, table(%rip)", LOAD | 8),
        ("movw $7, 8(%rbp)", STORE | 2),
    ],
)
def test_accesses_by_registers_and_of_variables_in_main_memory(line: str, what: int) -> None:
    assert f"\tmovl\t${what}, %r10d" in asked(line)


@pytest.mark.parametrize(
    "line",
    [
        "movsd 16(%rsp), %xmm0",
        "pushq -8(%r10)",
        "movsd %fs:a@tpoff(,%rax,8), %xmm0",
        "movsd .LC0(%rip), %xmm0",
        "movq table@GOTPCREL(%rip), %rax",
        "leaq 8(%rax), %rdx",
        "addsd %xmm1, %xmm0",
        "call *(%rax)",
        "ret",
    ],
)
def test_no_accesses_of_main_memory(line: str) -> None:
    assert asked(line) == []


@pytest.mark.parametrize(
    ("text", "compares"),
    [
        ("movsd (%rax), %xmm0; addq $8, %rax; jne .L3", True),
        ("movsd (%rax), %xmm0; call f", True),
        ("cmpl $3, (%rax); jg .L3", True),
        ("movsd (%rax), %xmm0; jg .L3", False),
        ("cmovg (%rax), %edx; ret", False),
        ("movsd (%rax), %xmm0; leaq 8(%rax), %rax; setg %al", False),
        ("movsd (%rax), %xmm0; .L4:; ret", False),
    ],
)
def test_flags_that_are_read_later_are_left_alone(text: str, compares: bool) -> None:
    assert any(line.startswith("\tcmpq") for line in asked(text)) == compares
