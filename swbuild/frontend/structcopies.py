"""Assignments of whole structures, written out member by member."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from pycparser import c_ast

from swbuild.frontend.ctype import ArrayType, CType, Scalar, StructType
from swbuild.frontend.layout import Extent

__all__ = ["copies", "initial_values"]

_MOST = 32

#: The way from a structure to one number in it: names of members and subscripts.
_Path = tuple["str | int", ...]


def copies(
    node: c_ast.Assignment, kind: StructType, extent: Extent, copied: Callable[[c_ast.Node], c_ast.Node]
) -> list[c_ast.Node] | None:
    """Return the assignments that ``node``, which copies a structure of type ``kind``, stands for.

    ``copied`` makes another node that means the same.  None where there is no such list: the value is
    no variable or element, or the structure holds what is no number, or a lot.
    """
    paths = _paths(kind, extent)
    if node.op != "=" or paths is None or not _is_place(node.rvalue):
        return None
    found: list[c_ast.Node] = []
    for path in paths:
        target, value = (_member(copied(side), path, node) for side in (node.lvalue, node.rvalue))
        found.append(c_ast.Assignment("=", target, value, node.coord))
    return found


def initial_values(
    target: c_ast.Node,
    values: c_ast.InitList,
    kind: StructType,
    extent: Extent,
    copied: Callable[[c_ast.Node], c_ast.Node],
) -> list[c_ast.Node] | None:
    """Return the assignments for ``{a, b}`` as the initial value of a structure of plain numbers."""
    paths = _paths(kind, extent)
    items = list(values.exprs)
    flat = all(isinstance(member, Scalar) for member in kind.fields.values())
    if paths is None or not flat or len(items) > len(paths):
        return None
    if any(isinstance(item, (c_ast.InitList, c_ast.NamedInitializer)) for item in items):
        return None
    found: list[c_ast.Node] = []
    for path, item in itertools.zip_longest(paths, items):
        value = item if item is not None else c_ast.Constant("int", "0", values.coord)
        found.append(c_ast.Assignment("=", _member(copied(target), path, values), value, values.coord))
    return found


def _paths(kind: CType, extent: Extent) -> list[_Path] | None:
    """Return the ways to all numbers in a type, None where it holds anything else or too many."""
    if isinstance(kind, Scalar):
        return [()]
    steps: list[tuple[str | int, CType]]
    if isinstance(kind, StructType) and kind.keyword == "struct" and kind.regular and not kind.bitfields:
        steps = list(kind.fields.items())
    elif isinstance(kind, ArrayType) and kind.extent is not None:
        count = extent(kind.extent)
        if count is None or count > _MOST:
            return None
        steps = [(index, kind.target) for index in range(count)]
    else:
        return None
    found: list[_Path] = []
    for step, inner in steps:
        below = _paths(inner, extent)
        if below is None or len(found) + len(below) > _MOST:
            return None
        found += [(step, *rest) for rest in below]
    return found or None


def _is_place(node: c_ast.Node) -> bool:
    while isinstance(node, (c_ast.ArrayRef, c_ast.StructRef)):
        node = node.name
    if isinstance(node, c_ast.UnaryOp) and node.op == "*":
        return True
    return isinstance(node, c_ast.ID)


def _member(node: c_ast.Node, path: _Path, at: c_ast.Node) -> c_ast.Node:
    for step in path:
        if isinstance(step, str):
            node = c_ast.StructRef(node, ".", c_ast.ID(step, at.coord), at.coord)
        else:
            node = c_ast.ArrayRef(node, c_ast.Constant("int", str(step), at.coord), at.coord)
    return node
