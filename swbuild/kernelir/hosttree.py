"""The kernel IR of the host side of a region: launches, the loops around them and what stays."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from swbuild.frontend.scop import Scop
from swbuild.kernelir.astwalk import Due, Leaves, build_ir, require_simple
from swbuild.kernelir.bodies import Spell, compute_leaf
from swbuild.kernelir.expressions import value_in
from swbuild.kernelir.nodes import Launch, Node
from swbuild.kernelir.origin import paths_of
from swbuild.mapping.regiontree import HostTree
from swbuild.polyhedral.islutil import is_plain, loop_values, sets_of

__all__ = ["build_host"]


def build_host(scop: Scop, tree: HostTree, spell: Spell, *, doubtful: bool = False) -> Node:
    """Return the IR that the host runs for the region.

    ``doubtful``: raise :class:`TooComplicated` where that would take long.
    """
    leaves: Leaves = {kernel.name: _launch(kernel.name) for kernel in tree.kernels}
    present = {str(piece.get_tuple_name()) for piece in sets_of(tree.schedule.get_domain())}
    for statement in scop.statements:
        if statement.name in present:
            leaves[statement.name] = compute_leaf(scop, statement, spell)
    context = scop.context.intersect(scop.assumptions)
    if doubtful:
        require_simple(tree.schedule, context)
    paths = paths_of(tree.schedule, host=True)
    return build_ir(tree.schedule, context, leaves, paths, _due(tree.schedule))


def _due(schedule: isl.Schedule) -> Due | None:
    return None if is_plain(schedule) else Due(schedule.get_domain(), loop_values(schedule))


def _launch(name: str) -> Callable[[isl.AstBuild, isl.PwMultiAff], Launch]:
    def make(build: isl.AstBuild, instances: isl.PwMultiAff) -> Launch:
        count = instances.dim(isl.dim_type.out)
        loops = tuple(value_in(build, instances.get_pw_aff(k)) for k in range(count))
        return Launch(name, loops)

    return make
