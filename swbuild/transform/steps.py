"""The transformations: each takes a tree of loops and returns another one, whatever the dependences.

A loop is named by its counter, ``i``; where several loops have that name, ``i#2`` is the second one in
the order of the text.  A step that does not fit the tree raises :class:`Misfit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import islpy as isl

from swbuild.options import Step, StepKind
from swbuild.polyhedral.looptree import Leaf, Loop, Sequence, Tree, leaves, loops

__all__ = ["Misfit", "find_loop", "transformed"]


class Misfit(Exception):
    """A step that cannot be done on this tree: what is wrong, and what to do about it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def transformed(tree: Tree, step: Step) -> Tree:
    """Return ``tree`` after ``step``; the same instances in another order, or in other loops."""
    return _FUNCTIONS[step.kind](tree, step)


def find_loop(tree: Tree, name: str) -> Loop:
    """Return the loop of this name."""
    counter, _, number = name.partition("#")
    named = [loop for loop in loops(tree) if loop.name == counter]
    if number and 1 <= int(number) <= len(named):
        return named[int(number) - 1]
    if len(named) == 1 and not number:
        return named[0]
    if not named:
        known = ", ".join(dict.fromkeys(loop.name for loop in loops(tree)))
        raise Misfit(f"there is no loop `{counter}` here", f"the loops are: {known or 'none'}")
    places = ", ".join(f"`{counter}#{k + 1}` {_where(loop)}" for k, loop in enumerate(named))
    if number:
        raise Misfit(f"there is no loop `{name}` here", f"there are: {places}")
    raise Misfit(f"`{name}` names {len(named)} loops", f"say which one: {places}")


def _where(loop: Loop) -> str:
    held = ", ".join(leaf.statement for leaf in leaves(loop))
    return f"(line {loop.line}, around {held})" if loop.line else f"(around {held})"


def _interchange(tree: Tree, step: Step) -> Tree:
    """Swap two loops of one nest; the loops between them stay where they are."""
    first, second = _two_loops(tree, step)
    if any(loop is first for loop in loops(second)):
        first, second = second, first
    nest = _nest(first, second)
    nest[0], nest[-1] = nest[-1], nest[0]
    return _exchanged(tree, first, _wrapped(nest, second.body))


def _two_loops(tree: Tree, step: Step) -> tuple[Loop, Loop]:
    first, second = (find_loop(tree, name) for name in step.loops)
    if first is second:
        raise Misfit("both names are of the same loop", "name two loops")
    return first, second


def _nest(outer: Loop, inner: Loop) -> list[Loop]:
    """Return the loops from ``outer`` down to ``inner``, with nothing between them."""
    nest = [outer]
    while nest[-1] is not inner:
        body = nest[-1].body
        if not isinstance(body, Loop):
            why = "other statements stand between them" if _holds(outer, inner) else "one is not in the other"
            raise Misfit(
                f"`{outer.name}` and `{inner.name}` are no perfect nest: {why}", "`distribute` comes first"
            )
        nest.append(body)
    return nest


def _holds(outer: Loop, inner: Loop) -> bool:
    return any(loop is inner for loop in loops(outer))


def _wrapped(nest: Iterable[Loop], body: Tree) -> Tree:
    for loop in reversed(list(nest)):
        body = replace(loop, body=body)
    return body


def _exchanged(tree: Tree, old: Tree, new: Tree) -> Tree:
    """Return ``tree`` with ``new`` where the node ``old`` stands; sequences in sequences become one."""
    if tree is old:
        return new
    if isinstance(tree, Loop):
        return replace(tree, body=_exchanged(tree.body, old, new))
    if isinstance(tree, Sequence):
        return _flat([_exchanged(part, old, new) for part in tree.parts])
    return tree


def _flat(parts: Iterable[Tree]) -> Tree:
    found: list[Tree] = []
    for part in parts:
        found += part.parts if isinstance(part, Sequence) else (part,)
    return found[0] if len(found) == 1 else Sequence(tuple(found))


def _reverse(tree: Tree, step: Step) -> Tree:
    """Run a loop from its last iteration to its first."""
    loop = find_loop(tree, step.loops[0])
    return _exchanged(tree, loop, replace(loop, value=loop.value.neg()))


def _scale(tree: Tree, step: Step) -> Tree:
    """Multiply a loop's counter: its iterations lie ``factor`` apart."""
    loop = find_loop(tree, step.loops[0])
    return _exchanged(tree, loop, replace(loop, value=loop.value.scale_val(isl.Val(step.amounts[0]))))


def _skew(tree: Tree, step: Step) -> Tree:
    """Add ``factor`` times the counter of an outer loop to a loop's counter."""
    loop, by = (find_loop(tree, name) for name in step.loops)
    if loop is by or not _holds(by, loop):
        raise Misfit(f"`{loop.name}` is not inside `{by.name}`", "a loop is skewed by one around it")
    added = by.value.scale_val(isl.Val(step.amounts[0]))
    value = loop.value.add(added.intersect_domain(loop.value.domain()))
    return _exchanged(tree, loop, replace(loop, value=value))


def _shift(tree: Tree, step: Step) -> Tree:
    """Run statements ``by`` iterations later in a loop, all of them or those named."""
    loop = find_loop(tree, step.loops[0])
    chosen = _statements(loop, step) or [leaf.statement for leaf in leaves(loop)]
    pieces = loop.value.get_pw_aff_list()
    value: isl.UnionPwAff | None = None
    for k in range(pieces.n_pw_aff()):
        piece = pieces.get_at(k)
        if piece.domain().get_tuple_name() in chosen:
            piece = piece.add_constant_val(isl.Val(step.amounts[0]))
        union = isl.UnionPwAff.from_pw_aff(piece)
        value = union if value is None else value.union_add(union)
    assert value is not None
    return _exchanged(tree, loop, replace(loop, value=value))


def _statements(loop: Loop, step: Step) -> list[str]:
    """Return the statements that ``step`` names, all of them in ``loop``."""
    inside = [leaf.statement for leaf in leaves(loop)]
    for name in step.statements:
        if name not in inside:
            raise Misfit(
                f"the loop `{loop.name}` holds no statement `{name}`", f"it holds {', '.join(inside)}"
            )
    return list(step.statements)


def _fuse(tree: Tree, step: Step) -> Tree:
    """Make one loop of two that follow each other; the first one's body comes first in each iteration."""
    first, second = _two_loops(tree, step)
    parent = _parent_sequence(tree, first)
    at = -1 if parent is None else next(k for k, part in enumerate(parent.parts) if part is first)
    after = None if parent is None else next(iter(parent.parts[at + 1 :]), None)
    if parent is None or after is not second:
        message = f"`{step.loops[1]}` does not follow right after `{step.loops[0]}` on its level"
        raise Misfit(message, "loops that are fused stand side by side")
    body = _flat([first.body, second.body])
    fused = replace(first, value=first.value.union_add(second.value), body=body)
    return _exchanged(tree, parent, _flat((*parent.parts[:at], fused, *parent.parts[at + 2 :])))


def _parent_sequence(tree: Tree, wanted: Tree) -> Sequence | None:
    """Return the sequence that has ``wanted`` among its parts."""
    if isinstance(tree, Leaf):
        return None
    if isinstance(tree, Loop):
        return _parent_sequence(tree.body, wanted)
    if any(part is wanted for part in tree.parts):
        return tree
    found = (_parent_sequence(part, wanted) for part in tree.parts)
    return next((sequence for sequence in found if sequence is not None), None)


def _distribute(tree: Tree, step: Step) -> Tree:
    """Cut a loop into one per part of its body, or into two before each statement named."""
    loop = find_loop(tree, step.loops[0])
    cuts = _statements(loop, step)
    parts = loop.body.parts if isinstance(loop.body, Sequence) else (loop.body,)
    groups: list[list[Tree]] = [[]]
    for part in parts:
        if groups[-1] and (not cuts or leaves(part)[0].statement in cuts):
            groups.append([])
        groups[-1].append(part)
    if len(groups) != 1 + (len(cuts) or len(parts) - 1) or len(groups) == 1:
        raise Misfit(
            f"there is nothing to cut in the loop `{loop.name}` there",
            "a loop is cut between the statements and loops that stand directly in it",
        )
    return _exchanged(tree, loop, _flat([_around(loop, group) for group in groups]))


def _around(loop: Loop, group: list[Tree]) -> Loop:
    domain = isl.UnionSet("{ }")
    for part in group:
        for leaf in leaves(part):
            domain = domain.union(leaf.domain.to_union_set())
    return replace(loop, value=loop.value.intersect_domain(domain), body=_flat(group))


def _strip_mine(tree: Tree, step: Step) -> Tree:
    """Cut a loop into strips: a new loop ``<name>_t`` over them around the loop itself."""
    loop = find_loop(tree, step.loops[0])
    return _exchanged(tree, loop, _wrapped([_strips(loop, step.amounts[0]), loop], loop.body))


def _strips(loop: Loop, size: int) -> Loop:
    value = loop.value.scale_down_val(isl.Val(size)).floor()
    return Loop(f"{loop.name}_t", 0, value, loop.body)


def _tile(tree: Tree, step: Step) -> Tree:
    """Cut the loops of a nest into strips and run tile by tile: all ``<name>_t`` loops go outside."""
    nest = [find_loop(tree, name) for name in step.loops]
    whole = _nest(nest[0], nest[-1])
    if len(whole) != len(nest) or any(a is not b for a, b in zip(whole, nest, strict=True)):
        names = ", ".join(f"`{loop.name}`" for loop in whole)
        raise Misfit("the loops to tile must follow each other in the nest", f"the nest there is {names}")
    strips = [_strips(loop, size) for loop, size in zip(nest, step.amounts, strict=True)]
    return _exchanged(tree, nest[0], _wrapped([*strips, *nest], nest[-1].body))


def _unroll(tree: Tree, step: Step) -> Tree:
    """Leave the order as it is (the emitted code is unrolled); the loop must exist."""
    find_loop(tree, step.loops[0])
    return tree


_FUNCTIONS: dict[StepKind, Callable[[Tree, Step], Tree]] = {
    StepKind.INTERCHANGE: _interchange,
    StepKind.REVERSE: _reverse,
    StepKind.SKEW: _skew,
    StepKind.SCALE: _scale,
    StepKind.SHIFT: _shift,
    StepKind.FUSE: _fuse,
    StepKind.DISTRIBUTE: _distribute,
    StepKind.TILE: _tile,
    StepKind.STRIP_MINE: _strip_mine,
    StepKind.UNROLL: _unroll,
}
