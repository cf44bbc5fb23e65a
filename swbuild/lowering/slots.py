"""Which buffers of a kernel have further slots: for transfers meanwhile, or to hand boxes on from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Name
from swbuild.frontend.scop import Scop
from swbuild.kernelir.deferring import deferred
from swbuild.kernelir.handing import handed_ahead
from swbuild.kernelir.nodes import Node
from swbuild.kernelir.prefetching import prefetched
from swbuild.kernelir.program import Program
from swbuild.kernelir.sharing import Grid, InMessages, shared
from swbuild.machine import MachineModel
from swbuild.mapping.tiling import Mapping as Dealt
from swbuild.mapping.tiling import telling_names
from swbuild.planning.slots import Room, slotted
from swbuild.planning.tilings import Placed

__all__ = ["with_shared_boxes", "with_slots"]

_NO_ROOM = "the LDM has no room for its second slot"


def with_slots(scop: Scop, place: Placed, program: Program) -> tuple[Program, Placed]:
    """Return ``program``, the code of the kernel ``place``, with gets ahead and puts late, and its plan.

    Buffers are filled early, and then stored late, as long as the LDM has room for further slots: those that
    the kernel only reads, if their arrays are not stored in the loop that gets them, those that it only
    writes, if nothing else touches their arrays in the loop that stores them, and those of arrays whose other
    visits have nothing to do with what a visit stores.  All CPEs are done with the kernel before
    another kernel writes what they hold, or reads what they have stored.
    """
    room = Room(place)
    early = prefetched(program.result, room.take_for_gets, room.may_come_beside)
    kept = [name for name in sorted(place.handed - early.buffers) if room.take_to_hand_on(name)]
    late = deferred(early.tree, room.take_for_puts)
    further = Counter((*early.buffers, *late.buffers))
    buffers = tuple(slotted(b, 1 + further[b.name]) if b.name in further else b for b in place.plan.buffers)
    plan = replace(place.plan, buffers=buffers, bytes=place.plan.bytes + room.taken)
    if kept:  # their second slots are for the pass that hands boxes on
        plan = replace(plan, bytes=sum(buffer.total for buffer in buffers))
    program = program.after("get ahead", early.tree).after("put late", late.tree)
    return program, replace(place, plan=plan)


def with_shared_boxes(
    scop: Scop, place: Placed, body: Node, machine: MachineModel
) -> tuple[Node, Placed, Mapping[str, str]]:
    """Return ``body``, the code of the kernel ``place``, with boxes handed on by who gets them, and its plan.

    So are those boxes of ``place.handed`` that all CPEs of a row, of a column or of the core group read
    alike, as long as the LDM has room for second slots, from which they are handed on.  The others come
    last, with the reasons why they are not.
    """
    room, mapping = Room(place), place.tiled.mapping
    may = frozenset(
        b.name for b in place.plan.buffers if b.name in place.handed and room.take_to_hand_on(b.name)
    )
    grid = _grid(mapping, machine)
    launched = place.tiled.kernel.launched.intersect(scop.context).intersect(scop.assumptions)
    found = shared(body, grid, may, launched)
    ahead: set[str] = set()

    def may_be_ahead(names: tuple[str, ...]) -> bool:
        taken = room.take_to_hand_on_ahead(name for name in names if name not in ahead)
        ahead.update(names if taken else ())
        return taken

    begins = bool(machine.dialect.broadcasts.begin_row)
    tree = handed_ahead(found.tree, may_be_ahead) if begins else found.tree
    slots = {name: 4 if name in ahead else 2 for name in found.buffers}
    buffers = tuple(slotted(b, slots[b.name]) if b.name in slots else b for b in place.plan.buffers)
    taken = sum(b.total for b in buffers) - sum(b.total for b in place.plan.buffers)
    plan = replace(place.plan, buffers=buffers, bytes=place.plan.bytes + taken)
    refused = {name: found.refused.get(name, _NO_ROOM) for name in sorted(place.handed - found.buffers)}
    return tree, replace(place, plan=plan), refused


def _grid(mapping: Dealt, machine: MachineModel) -> Grid:
    """Return the CPEs as ``mapping`` numbers them in a kernel, row by row of the mesh."""
    threads, (rows, columns) = telling_names(mapping), machine.mesh
    straight = mapping.threads == machine.mesh
    if machine.dialect.broadcasts.row:
        return Grid(threads, rows, straight)
    names = [*threads]
    cpe: Expression = Name(names[0])
    if len(names) > 1:
        count = Constant(mapping.threads[1])
        cpe = Binary(BinaryOperator.ADD, Binary(BinaryOperator.MUL, cpe, count), Name(names[1]))
    return Grid(threads, rows, straight, InMessages(cpe, columns))
