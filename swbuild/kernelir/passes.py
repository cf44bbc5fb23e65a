"""Passes over the kernel IR; each returns a new tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from swbuild.expressions.nodes import Expression, Name
from swbuild.expressions.trees import mentions, substituted
from swbuild.kernelir.nodes import (
    Block,
    Compute,
    Counter,
    Deal,
    Guard,
    Launch,
    Loop,
    Node,
    Piece,
    Row,
    Window,
)
from swbuild.kernelir.origin import Role
from swbuild.machine.reserved import is_reserved
from swbuild.names import own, plain

_Same = TypeVar("_Same", bound=Node)

__all__ = [
    "children",
    "expressions_of",
    "loop_name",
    "name_loops",
    "transform",
    "walk",
    "with_expressions",
    "with_values",
]


def walk(node: Node) -> list[Node]:
    """Return ``node`` and all nodes below it, in program order."""
    found: list[Node] = [node]
    for child in children(node):
        found += walk(child)
    return found


def children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Block):
        return node.children
    if isinstance(node, (Loop, Counter, Deal)):
        return (node.body,)
    if isinstance(node, Guard):
        return (node.then,) if node.otherwise is None else (node.then, node.otherwise)
    return ()


def expressions_of(node: Node) -> Iterator[Expression]:
    """Yield the expressions of ``node`` itself."""

    def within(value: Any) -> Iterator[Expression]:
        if isinstance(value, Expression):
            yield value
        elif isinstance(value, tuple):
            for item in value:
                yield from within(item)

    for item in fields(node):
        value = getattr(node, item.name)
        yield from within(value)
        if item.name in ("part", "tile"):
            for inner in fields(value):
                yield from within(getattr(value, inner.name))


def transform(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return the tree with ``change`` applied to every node, children first."""
    if isinstance(node, Block):
        node = Block(tuple(transform(child, change) for child in node.children))
    elif isinstance(node, (Loop, Counter, Deal)):
        node = replace(node, body=transform(node.body, change))
    elif isinstance(node, Guard):
        otherwise = None if node.otherwise is None else transform(node.otherwise, change)
        node = replace(node, then=transform(node.then, change), otherwise=otherwise)
    return change(node)


def name_loops(node: Node, names: dict[str, tuple[str, ...]], taken: frozenset[str]) -> Node:
    """Rename the AST's iterators after the loops of the source.

    ``names`` gives, per statement (and per kernel launched), its iterators' names; a loop whose
    iterator *is* a statement's iterator takes that name, a loop that gives the first value of such
    a loop (a tile loop) one with ``0`` appended; ``taken`` are names used for other things.
    """
    return _named(node, names, taken, {})


def _named(
    node: Node, names: dict[str, tuple[str, ...]], taken: frozenset[str], new: dict[str, Expression]
) -> Node:
    """Return ``node`` with the loops in it named; ``new`` are the names of those around it."""
    if isinstance(node, Block):
        return Block(tuple(_named(child, names, taken, new) for child in node.children))
    if isinstance(node, Guard):
        otherwise = None if node.otherwise is None else _named(node.otherwise, names, taken, new)
        then = _named(node.then, names, taken, new)
        return Guard(substituted(node.condition, new), then, otherwise)
    if isinstance(node, Counter):
        return replace(_with_values_in(node, new), body=_named(node.body, names, taken, new))
    if not isinstance(node, (Loop, Deal)):
        return _with_values_in(node, new)
    wish = _wish(node, names)
    name = loop_name(*wish, taken) if wish else node.iterator
    new = new | {node.iterator: Name(name)}
    body = _named(node.body, names, taken | {name}, new)
    return replace(_with_values_in(node, new), iterator=name, body=body)


def loop_name(wish: str, is_users: bool, taken: frozenset[str]) -> str:
    """Return a name for a loop that is none of ``taken``: ``wish`` itself, or one of ours that reads like it.

    ``is_users``: it stands for what the source calls ``wish``.
    """
    if is_users and wish not in taken and not is_reserved(wish) and wish == plain(wish):
        return wish
    wish = plain(wish)
    while own(wish, "loop") in taken:
        wish += "_"
    return own(wish, "loop")


def _wish(loop: Loop | Deal, names: dict[str, tuple[str, ...]]) -> tuple[str, bool] | None:
    """Return what to call ``loop``, and whether the source calls it so."""
    if loop.origin.role is Role.DEALT:
        return _wish_of_numbers(loop, names)
    for found in walk(loop.body):
        if isinstance(found, Compute):
            wishes = zip(found.iterators, names[found.statement], strict=True)
        elif isinstance(found, Launch):
            wishes = zip(found.loops, names[found.kernel], strict=True)
        else:
            continue
        for value, name in wishes:
            if value == Name(loop.iterator):
                return name, True
    for found in walk(loop.body):
        if isinstance(found, Loop) and found.first is not None and mentions(found.first, loop.iterator):
            inner = _wish(found, names)
            if inner is not None and found.iterator != loop.iterator:
                return f"{inner[0]}{'0' if found.condition else '_round'}", False
    return None


def _wish_of_numbers(loop: Loop | Deal, names: dict[str, tuple[str, ...]]) -> tuple[str, bool] | None:
    """Return what to call ``loop``, over the numbers of tiles: after the loop that begins at such a tile."""
    for found in walk(loop.body):
        if isinstance(found, Compute):  # of a tile of a single iteration
            wishes = zip(found.iterators, names[found.statement], strict=True)
            whole = next((name for value, name in wishes if value == Name(loop.iterator)), None)
            if whole is not None:
                return whole, True
        elif isinstance(found, Loop) and found.first is not None and mentions(found.first, loop.iterator):
            wish = _wish(found, names)
            if wish is not None:
                return f"{wish[0] if wish[1] else wish[0].removesuffix('0')}_tile", False
    return None


def with_values(node: Node, values: Mapping[str, Expression]) -> Node:
    """Return the tree with variables, by their names, replaced by ``values`` in every expression."""
    return transform(node, lambda found: _with_values_in(found, values))


def with_expressions(node: Node, change: Callable[[Expression], Expression]) -> Node:
    """Return the tree with every expression in it as ``change`` makes it."""
    return transform(node, lambda found: _changed(found, change))


def _with_values_in(node: _Same, values: Mapping[str, Expression]) -> _Same:
    """Return ``node`` with ``values`` in its own expressions, not in those of the nodes below it."""
    return _changed(node, lambda expression: substituted(expression, values))


def _changed(node: _Same, change: Callable[[Expression], Expression]) -> _Same:
    """Return ``node`` with its own expressions changed, not those of the nodes below it."""

    def changed(value: Any) -> Any:
        if isinstance(value, Expression):
            return change(value)
        if isinstance(value, tuple):
            return tuple(changed(item) for item in value)
        return within(value) if isinstance(value, (Piece, Row, Window)) else value

    def within(holder: Any) -> Any:
        return replace(holder, **{item.name: changed(getattr(holder, item.name)) for item in fields(holder)})

    result: _Same = within(node)
    return result
