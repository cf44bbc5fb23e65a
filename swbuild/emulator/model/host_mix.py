"""Which operations a block of host code has, and which chains lead from one turn of a loop to the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, replace

from swbuild.emulator.model.host_block import Chain, Mix
from swbuild.emulator.model.host_blocks import Block
from swbuild.emulator.model.host_operations import KINDS, Operation, Unit, fuse, operations
from swbuild.emulator.model.probes import memory_operand
from swbuild.emulator.model.schedule import LIBRARY
from swbuild.machine import Host

__all__ = ["mix_of"]

_NO_CHAIN = frozenset({"flags", "loaded", "stored", "address"})


def mix_of(block: Block, lines: Sequence[str], host: Host) -> Mix:
    """Return the mix of a block that stands in ``lines``."""
    found = fuse(block.operations)
    kinds = [_kind(operation) for operation in found if operation.unit is not Unit.NONE]
    used = [operation for operation in found if operation.unit is not Unit.NONE]
    return Mix(
        operations=sum(min(operation.slots, 1.0) for operation in used),
        memory=sum(operation.slots for operation in used if operation.unit is Unit.MEMORY),
        arithmetic=sum(o.slots for o in used if o.unit is Unit.FLOAT and _kind(o) != "divide"),
        divide=kinds.count("divide"),
        integer_divide=kinds.count("integer_divide"),
        calls=sum(operation.role == "call" and operation.target in LIBRARY for operation in found),
        chains=_chains(block, lines, host),
    )


def _kind(operation: Operation) -> str:
    return KINDS.get(int(operation.latency), "other")


def _chains(block: Block, lines: Sequence[str], host: Host) -> tuple[Chain, ...]:
    """Return the chains of a loop's turn; none if the block is no loop by itself or with its test."""
    if block.test is None and not block.jumps_to(block.label):
        return ()
    turn = [*block.operations, *(block.test.operations if block.test else ())]
    changed = {name for operation in turn for name in operation.writes}
    turn[: len(block.operations)] = _through_memory(block.operations, lines, changed)
    turn = fuse(turn)
    names = {name for operation in turn for name in operation.writes} - _NO_CHAIN
    chains = {_chain(turn, name, host) for name in sorted(names)} - {Chain()}
    return tuple(chain for chain in sorted(chains, key=astuple) if not _covered(chain, chains))


def _covered(chain: Chain, others: Iterable[Chain]) -> bool:
    """Return whether another chain has as many operations of every kind."""
    return any(
        other != chain and all(a <= b for a, b in zip(astuple(chain), astuple(other), strict=True))
        for other in others
    )


def _through_memory(found: Sequence[Operation], lines: Sequence[str], changed: set[str]) -> list[Operation]:
    """Return the block's operations with places that every turn loads and stores again as names.

    A sum that the compiler keeps in memory (``C[i][j] += ...`` in the loop over k) is a chain through there.
    """
    result: list[Operation] = []
    for line in lines:
        count = len(operations(line))
        address = memory_operand(line)
        for operation in found[len(result) : len(result) + count]:
            result.append(_named(operation, address, changed))
    return [*result, *found[len(result) :]]


def _named(operation: Operation, address: str, changed: set[str]) -> Operation:
    """Return an access of a place that is the same in all turns with the place as a name; leave others."""
    if operation.role not in ("load", "store") or not address or operation.unit is Unit.NONE:
        return operation
    (register,) = operations(f"leaq {address}, %r11")
    if register.reads & changed:
        return operation
    place = frozenset({f"[{address}]"})
    if operation.role == "load":
        return replace(operation, reads=operation.reads | place)
    return replace(operation, writes=operation.writes | place)


def _chain(turn: Sequence[Operation], name: str, host: Host) -> Chain:
    """Return the longest chain through a turn that starts and ends in ``name``."""
    depth = {name: Chain()}
    for operation in turn:
        known = [depth[read] for read in operation.reads if read in depth]
        for written in operation.writes:
            depth.pop(written, None)
            if known:
                longest = max(known, key=lambda chain: (chain.cycles(host), astuple(chain)))
                depth[written] = _longer(longest, operation)
    return depth.get(name, Chain())


def _longer(chain: Chain, operation: Operation) -> Chain:
    kind = _kind(operation)
    if kind == "other":
        return replace(chain, other=chain.other + int(operation.latency))
    return replace(chain, **{kind: getattr(chain, kind) + 1})
