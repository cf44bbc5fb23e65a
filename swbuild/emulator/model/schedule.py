"""How many cycles a CPE spends in one basic block: a greedy schedule on the two pipes.

A CPE issues up to one operation per pipe and cycle, in order.  A compiler orders the operations of
a block so that latencies are hidden; we do as it would: list scheduling by critical path within
the block, no software pipelining.  A block that jumps back to itself is unrolled as the machine's
compiler does, and costs at least what its longest recurrence takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from swbuild.emulator.model.instructions import Operation, Unit
from swbuild.machine import MachineModel

__all__ = ["LIBRARY", "block_cycles", "fuse"]

_FUNCTIONS = [
    "exp",
    "exp2",
    "log",
    "pow",
    "sin",
    "cos",
    "tan",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "cbrt",
    "fmod",
]
#: The functions of the mathematical library whose calls are charged.
LIBRARY = frozenset(name + suffix for name in _FUNCTIONS for suffix in ("", "f"))


def block_cycles(block: Sequence[Operation], machine: MachineModel, loops: bool = False) -> float:
    """Return the cycles of one pass through a block; ``loops``: its last jump goes back to its start."""
    fused = fuse(block)
    times = max(1, machine.compute.unroll) if loops else 1
    cycles = _schedule(_further_pass(fused) * (times - 1) + fused)
    if any(operation.unit is Unit.CONTROL for operation in fused):
        cycles += machine.compute.branch_cycles
    calls = sum(_call_cycles(operation, machine) for operation in block if operation.role == "call")
    return max(cycles / times, _recurrence(fused) if loops else 0.0) + calls


def _further_pass(block: Sequence[Operation]) -> list[Operation]:
    """Return what an unrolled loop repeats.

    Not the jump, its comparison and the steps of its counters, and no address that follows from counters and
    constants: the further passes reach their data by displacements from the first one's addresses.
    """
    kept = [operation for operation in block if operation.unit is not Unit.CONTROL and not _counts(operation)]
    data = [operation for operation in kept if operation.role != "address"]
    varying = {name for operation in data for name in operation.writes}
    return [operation for operation in kept if operation.role != "address" or operation.reads & varying]


def _counts(operation: Operation) -> bool:
    """Return whether an operation only compares, or adds a constant to a register."""
    written = operation.writes - {"flags"}
    return operation.unit is Unit.INTEGER and (not written or written == operation.reads)


def _call_cycles(call: Operation, machine: MachineModel) -> float:
    """Return what a call costs beside instructions that are counted: those of the mathematical library.

    A call of the machine's own interface costs what the event that it records costs.
    """
    return machine.compute.library_cycles if call.target in LIBRARY else 0.0


def fuse(block: Sequence[Operation]) -> list[Operation]:
    """Return the block with each product that only the next use of it, a sum, needs melted into that sum.

    The machine has multiply-add instructions and its compilers use them; the emulator keeps the two
    apart so that its results are those of the serial reference.
    """
    found = list(block)
    for at, total in enumerate(found):
        source = _product_of(found, at) if total.role == "sum" else None
        if source is not None:
            product = found[source]
            found[at] = replace(total, reads=total.reads - product.writes | product.reads, role="")
            if product.writes & total.writes:  # two-operand code: x = x * y; x = x + z
                found[at] = replace(found[at], reads=total.reads - product.writes | product.reads)
            found[source] = replace(product, unit=Unit.NONE, slots=0.0, latency=0.0, role="")
    return found


def _product_of(found: Sequence[Operation], at: int) -> int | None:
    """Return the product whose result the sum ``at`` reads first-hand and nothing reads in between."""
    for name in sorted(found[at].reads):
        for k in range(at - 1, -1, -1):
            if name in found[k].writes:
                if found[k].role == "product":
                    return k
                break
            if name in found[k].reads:
                break
    return None


def _schedule(block: Sequence[Operation]) -> float:
    """Return the cycles that it takes to issue all operations, the most urgent first."""
    before = _dependences(block)
    urgency = _urgency(block, before)
    left = [len(sources) for sources in before]
    users: list[list[int]] = [[] for _ in block]
    for k, sources in enumerate(before):
        for source in sources:
            users[source].append(k)
    ready = [0.0] * len(block)
    waiting = [k for k, count in enumerate(left) if not count]
    pipes, end = [0.0, 0.0], 0.0
    spare = _spare_pipe(block)
    while waiting:
        start, _, k, pipe = min(_choice(block[k], ready[k], pipes, urgency[k], k, spare) for k in waiting)
        waiting.remove(k)
        if pipe >= 0:
            pipes[pipe] = start + block[k].slots
            end = max(end, start + block[k].slots)
        for user in users[k]:
            ready[user] = max(ready[user], start + block[k].latency)
            left[user] -= 1
            if not left[user]:
                waiting.append(user)
    return end


def _choice(
    operation: Operation, ready: float, pipes: Sequence[float], urgency: float, k: int, spare: int
) -> tuple[float, float, int, int]:
    """Return when an operation can start, its priority (smaller first), its number and its pipe."""
    if operation.unit is Unit.NONE:
        return ready, -urgency, k, -1
    if operation.unit is Unit.INTEGER:
        pipe = spare if max(pipes[spare], ready) <= max(pipes[1 - spare], ready) else 1 - spare
    else:
        pipe = 0 if operation.unit is Unit.FLOAT else 1
    return max(ready, pipes[pipe]), -urgency, k, pipe


def _spare_pipe(block: Sequence[Operation]) -> int:
    """Return the pipe with less work of its own: integers go there when both are free."""
    arithmetic = sum(operation.slots for operation in block if operation.unit is Unit.FLOAT)
    other = sum(operation.slots for operation in block if operation.unit in (Unit.MEMORY, Unit.CONTROL))
    return 0 if arithmetic <= other else 1


def _dependences(block: Sequence[Operation]) -> list[list[int]]:
    """Return for every operation the earlier ones whose results it reads; a jump comes after everything."""
    writer: dict[str, int] = {}
    before: list[list[int]] = []
    for k, operation in enumerate(block):
        before.append(sorted({writer[name] for name in operation.reads if name in writer}))
        writer.update(dict.fromkeys(operation.writes, k))
    return before


def _urgency(block: Sequence[Operation], before: Sequence[Sequence[int]]) -> list[float]:
    """Return for every operation the latency from it to the end of the block."""
    height = [operation.latency for operation in block]
    for k in range(len(block) - 1, -1, -1):
        for source in before[k]:
            height[source] = max(height[source], block[source].latency + height[k])
    return height


def _recurrence(block: Sequence[Operation]) -> float:
    """Return the longest chain through one pass that starts and ends in the same register."""
    written = {name for operation in block for name in operation.writes} - {
        "flags",
        "loaded",
        "stored",
        "address",
    }
    return max((_chain(block, name) for name in written), default=0.0)


def _chain(block: Sequence[Operation], name: str) -> float:
    depth = {name: 0.0}
    for operation in block:
        known = [depth[read] for read in operation.reads if read in depth]
        for written in operation.writes:
            depth.pop(written, None)
            if known:
                depth[written] = max(known) + operation.latency
    return depth.get(name, 0.0)
