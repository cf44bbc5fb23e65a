"""Loops of assembly whose cycles were derived by hand, on the two pipes of the SW26010.

P0 takes floating work, shuffles and multiplications, P1 memory, branches and register communication;
integers go to either.  Cycles to a use: integer and shuffle 1, integer load 3 (to a store 4), floating load 4
(to a store 5), load with broadcast 5, receive 4, floating arithmetic 7 (to a store 5), comparisons,
conversions and integer multiplication 7, division 34, and nothing else divides meanwhile.  ``@n`` is the
cycle of a turn at which an instruction issues; the turn behind a branch begins in the cycle after it.
"""

from __future__ import annotations

import pytest

from swbuild.machine import load, machine_names
from swbuild.sw64.instructions import Kind
from swbuild.sw64.pipeline import Operation, Wait, block_cycles, costs, issue, loop_cycles, turns
from swbuild.sw64.rules import operation, rules, scheduler_rules
from swbuild.sw64.syntax import Instruction, read

RULES = rules(load("sw26010"))


def operations(text: str) -> list[Operation]:
    """Return the operations of one line of assembly, statements separated by semicolons."""
    found = [operation(item) for item in read(text) if isinstance(item, Instruction)]
    assert all(found)
    return [item for item in found if item]


def turn(body: str) -> list[Operation]:
    """Return the operations of a loop; one that does not say how it jumps back counts down in $28."""
    return operations(body if body.endswith(",l") else f"{body}; bgt $28,l")


STEP = "ldi $16,8($16); subw $28,1,$28"

LOOPS = {
    # Sixteen independent multiply-adds fill P0; the counter and the branch go beside them: 16.
    "tile": ("subw $28,1,$28; " + "; ".join(f"vmad $1,$2,${n},${n}" for n in range(10, 26)), 16),
    # The same with the counter last: it goes beside the sixteenth @15, the branch waits for it, @16: 17.
    "late counter": (
        "; ".join(f"vmad $1,$2,${n},${n}" for n in range(10, 26)) + "; subw $28,1,$28",
        17,
    ),
    # Each addition needs the one of the turn before: 7.
    "sum in one register": ("faddd $1,$2,$1; subw $28,1,$28", 7),
    # Four sums in four registers: additions @0 to @3, counter @3, branch @4, but each sum returns after 7: 7.
    "sum in four registers": (
        "faddd $1,$9,$1; faddd $2,$9,$2; faddd $3,$9,$3; faddd $4,$9,$4; subw $28,1,$28",
        7,
    ),
    # The branch tests what was loaded 3 cycles before; the next load issues in the cycle after it: 4.
    "pointers": ("ldl $1,0($1); bne $1,l", 4),
    # Load @0; sum @3 with the pointer's step beside it; counter @4, branch @5: 6.
    "integer sum": ("ldw $1,0($2); addl $3,$1,$3; addl $2,4,$2; subw $28,1,$28", 6),
    # Steps moved under the load: load and step @0, counter @1, sum and branch @3: 4.
    "integer sum, ordered": ("ldw $1,0($2); addl $2,4,$2; subw $28,1,$28; addl $3,$1,$3", 4),
    # Nine operations of integers, two a cycle; the ninth @4 on P0, since the branch beside it needs P1: 5.
    "independent integers": (
        "subw $28,1,$28; " + "; ".join(f"addw ${n},1,${n}" for n in range(1, 9)),
        5,
    ),
    # A multiplication needs the product of the turn before: 7.
    "products": ("mull $1,$2,$1; subw $28,1,$28", 7),
    # Two independent divisions: the second waits for the unit, and the next turn's first for it: 34 + 34.
    "divisions": ("fdivd $1,$2,$3; fdivd $4,$2,$5; subw $28,1,$28", 68),
    # A square root and a division share the unit: 68.
    "root and division": ("fsqrtd $1,$2; fdivd $4,$5,$6; subw $28,1,$28", 68),
    # Three multiply-adds, the counter and the branch issue while the division is under way: 34.
    "work under a division": (
        "vdivd $1,$2,$3; vmad $4,$5,$10,$10; vmad $4,$5,$11,$11; vmad $4,$5,$12,$12; subw $28,1,$28",
        34,
    ),
    # Loads @0 and @1, multiply-add @5 with a step beside it, second step and counter @6, branch @7: 8.
    "dot product": (
        "vldd $1,0($16); vldd $2,0($17); vmad $1,$2,$3,$3; ldi $16,32($16); ldi $17,32($17); subw $28,1,$28",
        8,
    ),
    # Loads @0 to @7; multiply-adds @7 (its data since @5), @8, @9 (loads @4, @5), @11 (loads @6, @7) with a
    # step beside it, second step and counter @12, branch @13: 14.
    "dot product, four times": (
        "; ".join(f"vldd ${2 * n + 1},{32 * n}($16); vldd ${2 * n + 2},{32 * n}($17)" for n in range(4))
        + "; "
        + "; ".join(f"vmad ${2 * n + 1},${2 * n + 2},${20 + n},${20 + n}" for n in range(4))
        + "; ldi $16,128($16); ldi $17,128($17); subw $28,1,$28",
        14,
    ),
    # Counter and first store @0, stores @1 to @3, step beside the last, branch @4: 5.
    "stores": (
        "subw $28,1,$28; vstd $1,0($16); vstd $1,32($16); vstd $1,64($16); vstd $1,96($16); ldi $16,128($16)",
        5,
    ),
    # Load @0, store of it @4 with a step beside it, second step and counter @5, branch @6: 7.
    "copy of integers": (
        "ldl $1,0($16); stl $1,0($17); ldi $16,8($16); ldi $17,8($17); subw $28,1,$28",
        7,
    ),
    # The same with a floating load, 5 to the store: 8.
    "copy of doubles": (
        "fldd $1,0($16); fstd $1,0($17); ldi $16,8($16); ldi $17,8($17); subw $28,1,$28",
        8,
    ),
    # Load and step @0, conversion @4, sum @11 with the counter beside it, branch @12: 13.
    "floats into a double": (
        "flds $1,0($16); ldi $16,4($16); fcvtsd $1,$2; faddd $3,$2,$3; subw $28,1,$28",
        13,
    ),
    # The maximum goes round through comparison and selection, 7 + 7: 14.
    "maximum": (
        "fldd $1,0($16); ldi $16,8($16); fcmplt $2,$1,$3; fselne $3,$1,$2,$2; subw $28,1,$28",
        14,
    ),
    # Load @0, comparison @3, selection @4 with the step beside it, counter @5, branch @6: 7.
    "integer maximum": (
        "ldw $1,0($16); cmplt $2,$1,$3; selne $3,$1,$2,$2; ldi $16,4($16); subw $28,1,$28",
        7,
    ),
    # Receive @0, multiply-add 4 later, counter beside it, branch the cycle after: 6, but the sum takes 7.
    "receive": ("getr $1; vmad $1,$2,$3,$3; subw $28,1,$28", 7),
    # Sends @0 to @3, counter beside the last, branch @4: 5.
    "sends": ("putr $1,8; putr $2,8; putr $3,8; putr $4,8; subw $28,1,$28", 5),
    # Load with broadcast @0, multiply-adds @5 and @6, step beside the second, counter @7, branch @8: 9.
    "broadcast along a column": (
        "lddec $1,0($16); vmad $1,$2,$3,$3; vmad $1,$4,$5,$5; ldi $16,8($16); subw $28,1,$28",
        9,
    ),
    # Load-and-broadcast @0, multiply-add 4 later @4, step beside it, counter @5, branch @6: 7, as the sum.
    "broadcast into a vector": ("ldde $1,0($16); vmad $1,$2,$3,$3; ldi $16,8($16); subw $28,1,$28", 7),
    # Words @0 and @1, their parts @3 and @4, joined @5, summed @6 with the step, counter @7, branch @8: 9.
    "unaligned": (
        "ldl_u $1,0($16); ldl_u $2,7($16); extll $1,$16,$1; exthl $2,$16,$2; bis $1,$2,$1; addl $3,$1,$3; "
        + STEP,
        9,
    ),
    # A register that is spilt in between: store 5 after the multiply-add, load 1 after it, its use 4 on: 10.
    "spill": ("vmad $1,$2,$3,$3; vstd $3,0($30); vldd $3,0($30); subw $28,1,$28", 10),
    # The load may not be over before the product that it overwrites: @0, @4 (4 + 4 > 7), branch @5: 6.
    "writes in order": ("fmuld $1,$2,$3; fldd $3,0($16); subw $28,1,$28", 6),
    # Load @0, shuffle @4, sum @5 with the counter beside it, branch @6: 7, as the sum.
    "shuffle": ("vldd $1,0($16); vshff $1,$1,$31,$2; vaddd $2,$3,$3; subw $28,1,$28", 7),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_takes_the_cycles_derived_by_hand(name: str) -> None:
    body, cycles = LOOPS[name]
    assert loop_cycles(turn(body), RULES) == cycles


def test_a_block_ends_with_its_last_issue() -> None:
    assert block_cycles(operations("ldw $1,0($2); stw $1,8($2)"), RULES) == 5
    assert block_cycles([], RULES) == 0
    assert loop_cycles([], RULES) == 0


def test_a_slot_says_what_it_waited_for() -> None:
    first, second, third = issue(operations("fldd $1,0($16)\nfldd $2,8($16)\nfaddd $1,$2,$3"), RULES)
    assert (first.wait, second.wait) == (None, Wait(1, "pipe", 1))
    assert (third.cycle, third.pipe, third.wait) == (5, 0, Wait(4, "register", 2, 2))
    _, root = issue(operations("fdivd $1,$2,$3\nfsqrtd $4,$5"), RULES)
    assert root.wait == Wait(33, "unit", 1)


def test_a_slot_waits_for_the_turn_before() -> None:
    ((add, _, _),) = turns(operations("faddd $1,$2,$1\nsubw $28,1,$28\nbgt $28,l"), RULES).slots
    assert add.wait == Wait(5, "register", 1, 1)


def test_costs_of_the_slots_add_up_to_the_cycles() -> None:
    slots = issue(operations("ldw $1,0($2); addw $1,1,$1; addw $3,1,$3; stw $1,0($2)"), RULES)
    assert costs(slots, 5) == [(1, 0), (3, 2), (0, 0), (1, 0)]
    ((*turn,),) = turns(operations("faddd $1,$2,$1; subw $28,1,$28; bgt $28,l"), RULES).slots
    assert costs(turn, 7) == [(6, 5), (0, 0), (1, 0)]
    assert costs(turn, 9) == [(6, 5), (0, 0), (3, 2)]
    assert costs([], 0) == []


def test_a_taken_jump_may_cost_cycles() -> None:
    slower = rules(load("sw26010", {"pipes.branch_cycles": 2}))
    assert loop_cycles(operations("subw $28,1,$28; bgt $28,l"), slower) == 4
    assert loop_cycles(operations("subw $28,1,$28; bgt $28,l"), RULES) == 2


@pytest.mark.parametrize("machine", machine_names())
def test_every_class_of_instructions_has_pipes_and_a_latency(machine: str) -> None:
    for made in (rules(load(machine)), scheduler_rules(load(machine))):
        assert set(made.takes) == set(made.latency) == set(Kind)
        assert {pipe for pipes in made.takes.values() for pipe in pipes} == set(range(made.pipes))


def test_the_compiler_believes_in_four_integers_two_of_them_in_memory_and_two_floats() -> None:
    believed = scheduler_rules(load("sw26010"))
    assert block_cycles(operations("addw $1,1,$1; addw $2,1,$2; ldw $3,0($9); stw $4,0($9)"), believed) == 1
    assert block_cycles(operations("ldw $3,0($9); ldw $5,4($9); stw $4,0($9)"), believed) == 2
    assert block_cycles(operations("; ".join(f"addw ${n},1,${n}" for n in range(1, 6))), believed) == 2
    assert block_cycles(operations("vmad $1,$2,$3,$3; vmad $1,$2,$4,$4; vmad $1,$2,$5,$5"), believed) == 2
    assert block_cycles(operations("fcmplt $1,$2,$3; fcmplt $1,$2,$4"), believed) == 2
    assert block_cycles(operations("faddd $1,$2,$3; fstd $3,0($9)"), believed) == 5


@pytest.mark.parametrize(
    ("name", "value", "loop", "cycles"),
    [
        ("pipes.float_latency", 4, "sum in one register", 4),
        ("pipes.divide_cycles", 20, "divisions", 40),
        ("pipes.float_to_store", 7, "spill", 12),
        ("pipes.load_to_store", 3, "copy of integers", 6),
        ("pipes.receive_latency", 6, "receive", 8),
        ("pipes.integer_pipe", 1, "independent integers", 10),
        ("pipes.shuffle_pipe", 1, "shuffle", 7),
    ],
)
def test_numbers_of_the_machine_file_decide(name: str, value: int, loop: str, cycles: float) -> None:
    changed = rules(load("sw26010", {name: value}))
    assert loop_cycles(turn(LOOPS[loop][0]), changed) == cycles
