"""Take out of x86 code what only its few and narrow registers make: values that pass through the stack.

A CPE has 32 registers of its vector's full width, so a value that is stored to a place of the stack and
loaded again in the same block stays in a register there, and a store that nothing ever loads is no store.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from swbuild.emulator.model.instructions import Operation, Unit

__all__ = ["loaded_slots", "without_detours"]


def loaded_slots(blocks: Iterable[Sequence[Operation]]) -> frozenset[str]:
    """Return the places of the stack from which some block loads what it has not stored itself."""
    found: set[str] = set()
    for block in blocks:
        stored: set[str] = set()
        for operation in block:
            if operation.role == "store":
                stored.add(operation.target)
            elif operation.role == "load" and operation.target not in stored:
                found.add(operation.target)
    return frozenset(found - {""})


def without_detours(block: Sequence[Operation], needed: frozenset[str]) -> list[Operation]:
    """Return the block with loads of its own stack stores as moves, and stores outside ``needed`` gone."""
    stored: set[str] = set()
    result = []
    for operation in block:
        slot = operation.target
        if operation.role == "store" and slot:
            stored.add(slot)
            result.append(
                _as_move(operation, writes=frozenset({slot})) if slot not in needed else _named(operation)
            )
        elif operation.role == "load" and slot in stored:
            result.append(_as_move(operation, reads=frozenset({slot})))
        else:
            result.append(operation)
    return result


def _named(store: Operation) -> Operation:
    """Return a store that stays, with its place as a name that later loads in the block can read."""
    return replace(store, writes=store.writes | {store.target})


def _as_move(
    operation: Operation, reads: frozenset[str] | None = None, writes: frozenset[str] | None = None
) -> Operation:
    return replace(
        operation,
        unit=Unit.NONE,
        slots=0.0,
        latency=0.0,
        reads=operation.reads if reads is None else reads,
        writes=operation.writes if writes is None else writes,
    )
