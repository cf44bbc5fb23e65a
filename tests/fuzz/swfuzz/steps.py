"""Random sequences of transformations that are legal for a region."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swbuild.frontend.scop import Scop

__all__ = ["random_steps"]


def random_steps(scop: Scop, random: Random, attempts: int = 10) -> tuple[Any, ...]:
    """Return those of ``attempts`` random steps that are legal one after the other."""
    from swbuild.diagnostics import SwbuildError
    from swbuild.polyhedral.context import lightened
    from swbuild.polyhedral.dataflow import analyse, relations
    from swbuild.polyhedral.looptree import loop_tree
    from swbuild.transform.apply import apply_steps

    scop = lightened(scop)
    dependences = analyse(relations(scop), scop.schedule)
    tree, steps = loop_tree(scop), ()
    for _ in range(attempts):
        step = _proposal(tree, random)
        if step is None:
            break
        try:
            found = apply_steps(scop, (*steps, step), dependences, dependences.all)
        except SwbuildError as error:
            if {d.code for d in error.diagnostics} <= {"SW310", "SW311"}:
                continue
            raise
        tree, steps = found.tree, (*steps, step)
    return steps


def _proposal(tree: Any, random: Random) -> Any:
    from swbuild.options import Step, StepKind
    from swbuild.polyhedral.looptree import leaves, loops

    found = loops(tree)
    if not found:
        return None
    seen: dict[str, int] = {}
    names = []
    for loop in found:
        seen[loop.name] = seen.get(loop.name, 0) + 1
        names.append(f"{loop.name}#{seen[loop.name]}")
    rare = [StepKind.FUSE, StepKind.DISTRIBUTE] * 3  # few loops can be cut or joined
    kind = random.choice([*StepKind, *rare])
    one, other = random.choice(names), random.choice(names)
    number = random.choice((2, 3, 4, 8))
    if kind in (StepKind.INTERCHANGE, StepKind.FUSE):
        return Step(kind, (one, other))
    if kind is StepKind.SKEW:
        return Step(kind, (one, other), (random.choice((-1, 1, 2)),))
    if kind is StepKind.TILE:
        at = random.randrange(len(names))
        chosen = names[at : at + random.choice((1, 2, 3))]
        return Step(kind, tuple(chosen), tuple(random.choice((2, 4, 8)) for _ in chosen))
    if kind is StepKind.SHIFT:
        statements = tuple(leaf.statement for leaf in leaves(tree) if random.random() < 0.5)
        return Step(kind, (one,), (random.choice((-1, 1, 3)),), statements)
    if kind in (StepKind.REVERSE, StepKind.DISTRIBUTE):
        return Step(kind, (one,))
    return Step(kind, (one,), (number,))
