"""The rules of issue that a machine file states, and what they see of an instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swbuild.sw64.instructions import ZERO, Kind, reads, shape, writes
from swbuild.sw64.pipeline import Operation, Rules
from swbuild.sw64.syntax import Instruction, register_number

if TYPE_CHECKING:
    from swbuild.machine import MachineModel

__all__ = ["operation", "rules", "scheduler_rules"]

_MEMORY = {Kind.LOAD, Kind.FLOAT_LOAD, Kind.STORE, Kind.SEND, Kind.RECEIVE, Kind.CONTROL}

#: A pipe's number in a machine file that stands for both.
EITHER = 2


def operation(instruction: Instruction) -> Operation | None:
    """Return what the pipes know of an instruction; None when its meaning is not known."""
    known = shape(instruction)
    if known is None:
        return None
    number = register_number(instruction.operands[0]) if known.kind is Kind.STORE else None
    stored = () if number is None or number == ZERO else (number,)
    text = f"{instruction.mnemonic} {', '.join(instruction.operands)}".strip()
    return Operation(known.kind, reads(instruction), writes(instruction), stored, instruction.line, text)


def rules(machine: MachineModel) -> Rules:
    """Return how the machine's CPEs issue."""
    pipes = machine.pipes
    places = {
        Kind.INTEGER: pipes.integer_pipe,
        Kind.MULTIPLY: pipes.multiply_pipe,
        Kind.FLOAT: pipes.float_pipe,
        Kind.COMPARE: pipes.float_pipe,
        Kind.CONVERT: pipes.float_pipe,
        Kind.DIVIDE: pipes.float_pipe,
        Kind.VECTOR: pipes.vector_pipe,
        Kind.SHUFFLE: pipes.shuffle_pipe,
        Kind.TRANSFER: pipes.float_pipe,
        Kind.LOAD: pipes.memory_pipe,
        Kind.FLOAT_LOAD: pipes.memory_pipe,
        Kind.STORE: pipes.memory_pipe,
        Kind.BRANCH: pipes.branch_pipe,
        Kind.CALL: pipes.branch_pipe,
        Kind.SEND: pipes.memory_pipe,
        Kind.RECEIVE: pipes.memory_pipe,
        Kind.CONTROL: pipes.memory_pipe,
        Kind.NONE: EITHER,
    }
    latency = {
        Kind.INTEGER: pipes.integer_latency,
        Kind.MULTIPLY: pipes.multiply_latency,
        Kind.FLOAT: pipes.float_latency,
        Kind.COMPARE: pipes.compare_latency,
        Kind.CONVERT: pipes.convert_latency,
        Kind.DIVIDE: pipes.divide_cycles,
        Kind.VECTOR: pipes.vector_latency,
        Kind.SHUFFLE: pipes.shuffle_latency,
        Kind.TRANSFER: pipes.transfer_latency,
        Kind.LOAD: pipes.load_latency,
        Kind.FLOAT_LOAD: pipes.float_load_latency,
        Kind.STORE: 1,
        Kind.BRANCH: 1,
        Kind.CALL: 1,
        Kind.SEND: pipes.broadcast_latency,
        Kind.RECEIVE: pipes.receive_latency,
        Kind.CONTROL: pipes.control_latency,
        Kind.NONE: 1,
    }
    stored = {
        Kind.LOAD: pipes.load_to_store,
        Kind.FLOAT_LOAD: pipes.float_load_to_store,
        Kind.FLOAT: pipes.float_to_store,
    }
    return Rules(
        2,
        {kind: (0, 1) if place == EITHER else (place,) for kind, place in places.items()},
        latency,
        stored,
        {Kind.DIVIDE: pipes.divide_cycles},
        pipes.branch_cycles,
    )


def scheduler_rules(machine: MachineModel) -> Rules:
    """Return how the vendor's compiler believes that operations issue when it orders a block.

    Integers and memory share slots, memory has some of them; comparisons, conversions and divisions have the
    first of the floating slots alone.
    """
    assumed, own = machine.scheduler, rules(machine)
    floats = tuple(range(assumed.float_slots))
    count = assumed.float_slots + assumed.integer_slots
    integers = tuple(range(assumed.float_slots, count))
    takes = {kind: _slots(kind, floats, integers, integers[-assumed.memory_slots :]) for kind in Kind}
    latency = {
        **own.latency,
        Kind.FLOAT: assumed.float_latency,
        Kind.COMPARE: assumed.compare_latency,
        Kind.CONVERT: assumed.convert_latency,
        Kind.DIVIDE: assumed.divide_latency,
        Kind.TRANSFER: assumed.transfer_latency,
    }
    stored = {**own.stored, Kind.FLOAT: assumed.float_latency}
    return Rules(count, takes, latency, stored, {})


def _slots(
    kind: Kind, floats: tuple[int, ...], integers: tuple[int, ...], memory: tuple[int, ...]
) -> tuple[int, ...]:
    if kind in {Kind.COMPARE, Kind.CONVERT, Kind.DIVIDE}:
        return floats[:1]
    if kind in {Kind.FLOAT, Kind.VECTOR, Kind.SHUFFLE, Kind.TRANSFER}:
        return floats
    return memory if kind in _MEMORY else integers
