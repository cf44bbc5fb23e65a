"""A region's steps, one after the other, each checked against the dependences."""

from __future__ import annotations

import islpy as isl

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Note, SwbuildError
from swbuild.frontend.scop import Scop
from swbuild.options import Step, StepKind
from swbuild.polyhedral.dataflow import Dependences
from swbuild.polyhedral.described import Described, described
from swbuild.polyhedral.islutil import maps_of
from swbuild.polyhedral.looptree import Tree, leaves, loop_tree, plain
from swbuild.transform.steps import Misfit, find_loop, transformed

__all__ = ["Transformed", "Unroll", "apply_steps"]


@dataclass(frozen=True, slots=True)
class Unroll:
    """Copy the body of the loop ``name`` around ``statements`` ``factor`` times in the emitted code."""

    name: str
    statements: frozenset[str]
    factor: int
    step: Step


@dataclass(frozen=True, slots=True)
class Transformed:
    """The loops after all steps, and which of them to unroll."""

    tree: Tree
    unrolls: tuple[Unroll, ...]


def apply_steps(
    scop: Scop, steps: tuple[Step, ...], dependences: Dependences, kept: isl.UnionMap
) -> Transformed:
    """Return the loops of ``scop`` after ``steps``; the order they end in keeps the pairs ``kept``.

    ``dependences`` are those that ``kept`` comes from, to say which one a step breaks.

    Raise :class:`SwbuildError` for the first step that does not fit the loops as they then are
    (SW310), or that would run the two ends of a dependence in the wrong order (SW311).
    """
    tree = loop_tree(scop)
    unrolls: list[Unroll] = []
    for step in steps:
        try:
            if step.kind is StepKind.UNROLL:
                unrolls.append(_unroll(tree, step, unrolls))
            tree = transformed(tree, step)
        except Misfit as misfit:
            problem = Diagnostic("SW310", f"{_title(step)}: {misfit.message}", step.span, misfit.hint)
            raise SwbuildError(problem) from None
        broken = _first_broken(scop, tree, dependences, kept)
        if broken is not None:
            raise SwbuildError(_refusal(step, broken))
    return Transformed(tree, tuple(unrolls))


def _unroll(tree: Tree, step: Step, before: list[Unroll]) -> Unroll:
    """Return what ``step`` unrolls; a loop is unrolled once."""
    loop = find_loop(tree, step.loops[0])
    held = frozenset(leaf.statement for leaf in leaves(loop))
    if any(other.name == loop.name and other.statements & held for other in before):
        raise Misfit("that loop is unrolled already", "give the product of the factors")
    return Unroll(loop.name, held, step.amounts[0], step)


def _title(step: Step) -> str:
    return f"`{step.kind.value}` of {', '.join(f'`{name}`' for name in step.loops)}"


def _first_broken(scop: Scop, tree: Tree, dependences: Dependences, kept: isl.UnionMap) -> Described | None:
    """Return a dependence of ``kept`` whose later end does not run later in ``tree``."""
    order = plain(tree).get_map()
    broken = kept.subtract(order.lex_lt_union_map(order))
    if broken.is_empty():
        return None
    flow = maps_of(broken.intersect(dependences.flow))
    return described(scop, flow[0], True) if flow else described(scop, maps_of(broken)[0], False)


def _refusal(step: Step, broken: Described) -> Diagnostic:
    names = ", ".join(loop.name for loop in broken.loops)
    apart = (
        f"distance ({', '.join(broken.distance)}) in the loops {names}" if names else "no loop around both"
    )
    message = (
        f"{_title(step)} breaks the {broken.kind} dependence of {broken.sink.name} "
        f"on {broken.source.name}: {broken.verbs}; {apart}"
    )
    notes = (Note("this must stay first", broken.source_span), Note("this must stay later", broken.sink_span))
    hint = "'swbuild explain --dependences' lists what an order has to keep"
    return Diagnostic("SW311", message, step.span, hint, notes=notes)
