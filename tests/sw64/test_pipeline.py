"""Loops of assembly whose cycles were derived by hand, on the two pipes of the SW26010.

P0 takes floating work, P1 memory, branches and register communication, integers go to either.  Cycles to a
use: integer 1, integer load 3 (to a store 4), floating load 4 (to a store 5), floating arithmetic 7, integer
multiplication 7, division 34 and nothing else divides meanwhile.
"""

from __future__ import annotations

import pytest

from swbuild.machine import load
from swbuild.options import Machine
from swbuild.sw64.pipeline import Operation, block_cycles, loop_cycles
from swbuild.sw64.rules import operation, rules
from swbuild.sw64.syntax import Instruction, read

RULES = rules(load(Machine.SW26010))


def operations(text: str) -> list[Operation]:
    """Return the operations of one line of assembly, statements separated by semicolons."""
    found = [operation(item) for item in read(text) if isinstance(item, Instruction)]
    assert all(found)
    return [item for item in found if item]


@pytest.mark.parametrize(
    ("body", "cycles"),
    [
        # Sixteen independent multiply-adds fill P0; four loads, a step and the branch fit beside them.
        ("subw $28,1,$28; " + "; ".join(f"vmad $1,$2,${n},${n}" for n in range(10, 26)) + "; bgt $28,l", 16),
        # Each addition needs the one of the turn before: 7.
        ("faddd $1,$2,$1; subw $28,1,$28; bgt $28,l", 7),
        # The branch tests what was loaded 3 cycles before; the next load issues in the cycle after it: 4.
        ("ldl $1,0($1); bne $1,l", 4),
    ],
)
def test_a_loop_takes_the_cycles_derived_by_hand(body: str, cycles: float) -> None:
    assert loop_cycles(operations(body), RULES) == cycles


def test_a_block_ends_with_its_last_issue() -> None:
    assert block_cycles(operations("ldw $1,0($2); stw $1,8($2)"), RULES) == 5
    assert block_cycles([], RULES) == 0
