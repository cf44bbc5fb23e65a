"""Unrolling of loops in the kernel IR."""

from __future__ import annotations

from dataclasses import replace

from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Name, Parenthesised
from swbuild.kernelir.nodes import Block, Compute, Counter, Guard, Loop, Node
from swbuild.kernelir.origin import Role
from swbuild.kernelir.passes import transform, walk, with_values
from swbuild.names import plain_name

__all__ = ["unrolled"]


def unrolled(node: Node, name: str, statements: frozenset[str], factor: int) -> tuple[Node, int]:
    """Return the tree with ``factor`` copies of the bodies of some loops, and how many loops those are.

    They are the loops over ``name`` that compute nothing but ``statements`` and move no data.  A loop
    with fewer iterations left than copies runs them one by one.
    """
    count = 0

    def change(found: Node) -> Node:
        nonlocal count
        if isinstance(found, Loop) and _is_wanted(found, name, statements):
            count += 1
            return _copied(found, factor)
        return found

    return transform(node, change), count


def _is_wanted(loop: Loop, name: str, statements: frozenset[str]) -> bool:
    if loop.condition is None or loop.first is None:
        return False
    below = walk(loop.body)
    computed = {found.statement for found in below if isinstance(found, Compute)}
    simple = all(isinstance(found, (Block, Compute, Counter, Guard, Loop)) for found in below)
    return simple and bool(computed) and computed <= statements and _stem(loop.iterator) == _stem(name)


def _stem(name: str) -> str:
    """Return the name in the source behind a loop's, which may have underscores added."""
    return plain_name(name).rstrip("_")


def _copied(loop: Loop, factor: int) -> Node:
    """Return ``loop`` as one with ``factor`` copies of its body, followed by one for the rest."""
    assert loop.first is not None and loop.condition is not None
    copies = tuple(_at(loop.body, loop.iterator, k * loop.step) for k in range(factor))
    last = _at(Guard(loop.condition, loop.body), loop.iterator, (factor - 1) * loop.step)
    assert isinstance(last, Guard)
    main = replace(
        loop,
        first=None,
        condition=last.condition,
        step=factor * loop.step,
        body=Block(copies),
        origin=replace(loop.origin, role=Role.UNROLLED),
    )
    rest = replace(loop, first=None, origin=replace(loop.origin, role=Role.REMAINDER))
    return Counter(loop.iterator, loop.first, Block((main, rest)))


def _at(node: Node, iterator: str, offset: int) -> Node:
    """Return ``node`` for the iteration that is ``offset`` after that of ``iterator``."""
    later = Parenthesised(Binary(BinaryOperator.ADD, Name(iterator), Constant(offset)))
    return with_values(node, {iterator: later}) if offset else node
