"""How many cycles a CPE spends in one turn of a loop, from the operations of its body and who waits for whom.

The compiler puts several turns into one and arranges their operations, the longest chain first; the two pipes
issue them in order, and turns do not overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import lru_cache

from swbuild.classes import dataclass
from swbuild.machine.model import MachineModel, Pipes

__all__ = ["Block", "Kind", "Operation", "turn_cycles"]

_EITHER = 2


class Kind(Enum):
    """What an operation needs of the core."""

    LOAD = "load"
    STORE = "store"
    SHUFFLE = "shuffle"
    FLOAT = "float"
    COMPARE = "compare"
    CONVERT = "convert"
    DIVIDE = "divide"
    INTEGER = "integer"
    MULTIPLY = "multiply"
    VECTOR = "integers in vectors"
    BRANCH = "branch"


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation; ``sources`` are the numbers of those in the same turn whose results it needs.

    ``carried``: it needs the result of the operation of that number in the turn before, too.
    """

    kind: Kind
    sources: tuple[int, ...] = ()
    carried: int | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """The body of a loop: its operations in an order that the program may have.

    ``software`` are the cycles of what has no instruction: divisions of integers, functions of the library.
    """

    operations: tuple[Operation, ...]
    software: float = 0.0


@lru_cache(maxsize=1024)
def turn_cycles(block: Block, machine: MachineModel, turns: int = 0) -> float:
    """Return the cycles of one turn where the compiler puts ``turns`` into one (0: as many as it likes)."""
    times = turns or _turns(block, machine)
    nodes = [
        Operation(op.kind, tuple(_sources(op, copy, len(block.operations))))
        for copy in range(times)
        for op in block.operations
    ]
    return _length(nodes, machine.pipes) / times + block.software


def _turns(block: Block, machine: MachineModel) -> int:
    times = max(1, machine.compute.unroll)
    while times > 1 and times * len(block.operations) > machine.compute.unroll_size:
        times //= 2
    return times


def _sources(operation: Operation, copy: int, size: int) -> list[int]:
    """Return the sources of an operation in the ``copy``-th of several turns of ``size`` operations."""
    found = [copy * size + source for source in operation.sources]
    if operation.carried is not None and copy:
        found.append((copy - 1) * size + operation.carried)
    return found


def _length(nodes: Sequence[Operation], pipes: Pipes) -> float:
    """Return the cycles until all ``nodes`` and a jump behind them have been issued."""
    latencies = [_latencies(node.kind, pipes) for node in nodes]
    heights = _heights(nodes, latencies)
    ready = [0] * len(nodes)
    left = [len(node.sources) for node in nodes]
    readers: list[list[int]] = [[] for _ in nodes]
    for number, node in enumerate(nodes):
        for source in node.sources:
            readers[source].append(number)
    able = [number for number, count in enumerate(left) if not count]
    cycle, last, divider = 0, 0, 0
    while able:
        free = {0, 1}
        for number in sorted((n for n in able if ready[n] <= cycle), key=lambda n: (-heights[n], n)):
            kind = nodes[number].kind
            pipe = next((p for p in _takes(kind, pipes) if p in free), None)
            if pipe is None or (kind is Kind.DIVIDE and divider > cycle):
                continue
            free.discard(pipe)
            able.remove(number)
            last = cycle
            divider = cycle + pipes.divide_cycles if kind is Kind.DIVIDE else divider
            for reader in readers[number]:
                usual, stored = latencies[number]
                wait = stored if nodes[reader].kind is Kind.STORE else usual
                ready[reader] = max(ready[reader], cycle + wait)
                left[reader] -= 1
                if not left[reader]:
                    able.append(reader)
            if not free:
                break
        cycle += 1
    return max(last + 1, divider) + 1 + pipes.branch_cycles


def _heights(nodes: Sequence[Operation], latencies: Sequence[tuple[int, int]]) -> list[int]:
    """Return for every node the cycles from it to the end."""
    heights = [0] * len(nodes)
    for number in range(len(nodes) - 1, -1, -1):
        for source in nodes[number].sources:
            heights[source] = max(heights[source], latencies[source][0] + heights[number])
    return heights


def _latencies(kind: Kind, pipes: Pipes) -> tuple[int, int]:
    """Return the cycles to the use of a result, and to a store of it."""
    if kind is Kind.LOAD:
        return pipes.float_load_latency, pipes.float_load_to_store
    if kind is Kind.FLOAT:
        return pipes.float_latency, pipes.float_to_store
    usual = {
        Kind.COMPARE: pipes.compare_latency,
        Kind.CONVERT: pipes.convert_latency,
        Kind.DIVIDE: pipes.divide_cycles,
        Kind.MULTIPLY: pipes.multiply_latency,
        Kind.STORE: 1,
        Kind.SHUFFLE: pipes.shuffle_latency,
        Kind.VECTOR: pipes.vector_latency,
    }.get(kind, pipes.integer_latency)
    return usual, usual


def _takes(kind: Kind, pipes: Pipes) -> tuple[int, ...]:
    pipe = {
        Kind.LOAD: pipes.memory_pipe,
        Kind.STORE: pipes.memory_pipe,
        Kind.INTEGER: pipes.integer_pipe,
        Kind.MULTIPLY: pipes.multiply_pipe,
        Kind.BRANCH: pipes.branch_pipe,
        Kind.SHUFFLE: pipes.shuffle_pipe,
        Kind.VECTOR: pipes.vector_pipe,
    }.get(kind, pipes.float_pipe)
    return (1, 0) if pipe == _EITHER else (pipe,)
