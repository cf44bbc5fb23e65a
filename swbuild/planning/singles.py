"""What one CPE runs for all between the kernels of a loop, so that the host need not step in."""

from __future__ import annotations

from dataclasses import replace

from swbuild.frontend.scop import Scop
from swbuild.mapping.regiontree import Kernel
from swbuild.options import KernelOptions
from swbuild.planning.ordering import Order, split_tree
from swbuild.planning.placing import Record, place_kernel
from swbuild.planning.sizes import Sizes
from swbuild.planning.tilings import Infeasible, Placed
from swbuild.polyhedral.privatise import NotPrivate, Private, contraction_is_safe

__all__ = ["place_single", "private_in", "with_singles"]


def with_singles(scop: Scop, order: Order) -> Order | None:
    """Return ``order`` with single kernels for what the host would run in loops beside kernels, if any.

    Copies of private arrays stay with whom they are.
    """
    spaces = {array.name for array in scop.arrays if not array.is_scalar} & order.scheduled.private.names
    users = frozenset[str]().union(*(scop.users(name) for name in spaces))
    alone = frozenset(order.tree.statements) - users
    tree = split_tree(scop, order.scheduled, alone=alone)
    if not any(kernel.single for kernel in tree.kernels):
        return None
    return replace(order, tree=tree, alone=alone)


def private_in(private: Private, kernel: Kernel) -> Private:
    """Return those of the variables ``private`` to iterations of which ``kernel`` has copies of its own.

    What one processor runs in order has one copy, in main memory, whoever is at work.
    """
    return private.without(private.names) if kernel.single else private


def place_single(
    scop: Scop, options: KernelOptions, order: Order, kernel: Kernel, sizes: Sizes, record: Record
) -> Placed | Infeasible:
    """Return ``kernel``, which a single CPE runs, with its tiles and buffers.

    The user's tiles are for other kernels.
    """
    private = order.scheduled.private
    scheduled = replace(order.scheduled, private=private_in(private, kernel))
    placed = place_kernel(scop, replace(options, tile=()), scheduled, kernel, (), sizes, record)
    if not isinstance(placed, Placed):
        return placed
    used = (name for name in private.names if scop.users(name) & set(kernel.statements))
    schedule = placed.tiled.schedule
    lost = (name for name in used if not contraction_is_safe(scop, private, name, schedule))
    unsafe = frozenset(lost)
    return NotPrivate(unsafe) if unsafe else placed
