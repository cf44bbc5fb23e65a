"""Passes over the kernel IR; each returns a new tree."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from swbuild.kernelir.nodes import (
    Begin,
    Block,
    Compute,
    Counter,
    Guard,
    Launch,
    Loop,
    Node,
    Place,
    Put,
    RowPut,
    Wait,
)
from swbuild.machine.reserved import is_reserved
from swbuild.names import own, plain

__all__ = ["count_waits", "loop_name", "name_loops", "rename", "transform", "walk", "words"]


def walk(node: Node) -> list[Node]:
    """Return ``node`` and all nodes below it, in program order."""
    found: list[Node] = [node]
    for child in _children(node):
        found += walk(child)
    return found


def _children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Block):
        return node.children
    if isinstance(node, (Loop, Counter)):
        return (node.body,)
    if isinstance(node, Guard):
        return (node.then,) if node.otherwise is None else (node.then, node.otherwise)
    return ()


def transform(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return the tree with ``change`` applied to every node, children first."""
    if isinstance(node, Block):
        node = Block(tuple(transform(child, change) for child in node.children))
    elif isinstance(node, (Loop, Counter)):
        node = replace(node, body=transform(node.body, change))
    elif isinstance(node, Guard):
        otherwise = None if node.otherwise is None else transform(node.otherwise, change)
        node = replace(node, then=transform(node.then, change), otherwise=otherwise)
    return change(node)


def count_waits(node: Node, operations: Callable[[str], int | None]) -> Node:
    """Give every group of transfers its size where all of them are issued unconditionally.

    ``operations`` says how many DMA operations a buffer's whole box takes (None: not constant).
    """

    def change(found: Node) -> Node:
        return Block(tuple(_counted(list(found.children), operations))) if isinstance(found, Block) else found

    return transform(node, change)


def _counted(children: list[Node], operations: Callable[[str], int | None]) -> list[Node]:
    opened = -1
    for position, child in enumerate(children):
        if isinstance(child, Begin):
            opened = position
        elif isinstance(child, Wait) and opened >= 0:
            count = _group_size(children[opened + 1 : position], operations)
            if count is not None:
                begin = children[opened]
                assert isinstance(begin, Begin)
                children[opened] = replace(begin, dynamic=False)
                children[position] = replace(child, count=count)
            opened = -1
    return children


def _group_size(group: list[Node], operations: Callable[[str], int | None]) -> int | None:
    count = 0
    for node in group:
        if isinstance(node, Put) or (isinstance(node, Place) and node.get):
            needed = operations(node.buffer)
            if needed is None:
                return None
            count += needed
        elif not isinstance(node, Place) and _moves_data(node):
            return None
    return count


def _moves_data(node: Node) -> bool:
    return any(isinstance(inner, (Place, Put, RowPut)) for inner in walk(node))


def name_loops(node: Node, names: dict[str, tuple[str, ...]], taken: frozenset[str]) -> Node:
    """Rename the AST's iterators after the loops of the source.

    ``names`` gives, per statement (and per kernel launched), its iterators' names; a loop whose
    iterator *is* a statement's iterator takes that name, a loop that gives the first value of such
    a loop (a tile loop) one with ``0`` appended; ``taken`` are names used for other things.
    """
    return _named(node, names, taken)


def _named(node: Node, names: dict[str, tuple[str, ...]], taken: frozenset[str]) -> Node:
    if isinstance(node, Block):
        return Block(tuple(_named(child, names, taken) for child in node.children))
    if isinstance(node, Guard):
        otherwise = None if node.otherwise is None else _named(node.otherwise, names, taken)
        return replace(node, then=_named(node.then, names, taken), otherwise=otherwise)
    if not isinstance(node, Loop):
        return node
    wish = _wish(node, names)
    name = loop_name(*wish, taken) if wish else node.iterator
    renamed = rename(node, node.iterator, name)
    assert isinstance(renamed, Loop)
    return replace(renamed, body=_named(renamed.body, names, taken | {name}))


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


def _wish(loop: Loop, names: dict[str, tuple[str, ...]]) -> tuple[str, bool] | None:
    """Return what to call ``loop``, and whether the source calls it so."""
    for found in walk(loop.body):
        if isinstance(found, Compute):
            wishes = zip(found.iterators, names[found.statement], strict=True)
        elif isinstance(found, Launch):
            wishes = zip(found.loops, names[found.kernel], strict=True)
        else:
            continue
        for value, name in wishes:
            if value == loop.iterator:
                return name, True
    for found in walk(loop.body):
        if isinstance(found, Loop) and _mentions(found.first, loop.iterator):
            inner = _wish(found, names)
            if inner is not None and found.iterator != loop.iterator:
                return f"{inner[0]}0", False
    return None


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def rename(node: Node, old: str, new: str) -> Node:
    """Return the tree with the identifier ``old`` replaced by ``new`` in every expression."""
    pattern = re.compile(rf"\b{re.escape(old)}\b")

    def text(value: str) -> str:
        return pattern.sub(new, value)

    def change(found: Node) -> Node:
        values: dict[str, Any] = {}
        for field in type(found).__dataclass_fields__:
            value = getattr(found, field)
            if field in _TEXT and isinstance(value, str):
                values[field] = text(value)
            elif field in _TEXT and isinstance(value, tuple):
                values[field] = tuple(text(item) for item in value)
        return replace(found, **values) if values else found

    return transform(node, change)


def words(node: Node) -> frozenset[str]:
    """Return every identifier in the expressions and statements of the tree."""
    found: set[str] = set()
    for inner in walk(node):
        for field in _TEXT & set(type(inner).__dataclass_fields__):
            value = getattr(inner, field)
            texts = value if isinstance(value, tuple) else (value,)
            found.update(word for text in texts for word in _WORD.findall(text))
    return frozenset(found)


_WORD = re.compile(r"[^\W\d]\w*")

#: the fields of nodes that hold expressions or statements
_TEXT = frozenset(
    (
        "iterator",
        "first",
        "condition",
        "step",
        "text",
        "iterators",
        "loops",
        "low",
        "size",
        "outer",
        "index",
    )
)
