"""The order that was chosen, and what of it leaves the host."""

from __future__ import annotations

from collections.abc import Iterator

from swbuild.dump.text import indented, listed, set_lines
from swbuild.dump.trees import tree_lines
from swbuild.planning.ordering import Order

__all__ = ["schedule_lines"]


def schedule_lines(order: Order) -> Iterator[str]:
    """Yield the schedule tree of ``order``, then the host's tree and the tree of every kernel."""
    scheduled = order.scheduled
    yield f"from {scheduled.origin.value}"
    yield f"peeled: {listed(scheduled.peeled)}"
    yield f"tiles of wavefronts: {listed(scheduled.front)}"
    if scheduled.block:
        yield f"iterations in a block: {scheduled.block}"
    for unroll in order.unrolls:
        yield f"unroll {unroll.name} by {unroll.factor} in {listed(sorted(unroll.statements))}"
    yield "region"
    yield from indented(tree_lines(scheduled.schedule))
    yield "host"
    yield from indented(tree_lines(order.tree.schedule))
    for kernel in order.tree.kernels:
        yield f"kernel {kernel.name}"
        yield f"  parallel loops: {kernel.parallel}"
        yield f"  tiles of a wavefront: {'yes' if kernel.in_front else 'no'}"
        yield from (f"  launched at {line}" for line in set_lines(kernel.launches))
        yield from indented(tree_lines(kernel.schedule))
