"""GNU C's ``({ T x = a; ... value; })`` as one expression, where no effect is lost or done twice."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from pycparser import c_ast

from swbuild.frontend.changes import writes
from swbuild.frontend.syntax import change_children

__all__ = ["MayBeTwiceError", "substituted"]


class MayBeTwiceError(Exception):
    """The value of a variable has effects, which its replacement would repeat."""


def substituted(
    given: Sequence[tuple[str, c_ast.Typename | None, c_ast.Node]], value: c_ast.Node
) -> c_ast.Node:
    """Return ``value`` with the names of ``given`` (name, type, first value) replaced by their first values.

    A value is converted to the type where there is one.  Raise MayBeTwiceError where an assignment is in it.
    """
    known: dict[str, c_ast.Node] = {}
    for name, kind, first in given:
        start = _replaced(first, known)
        known[name] = start if kind is None else c_ast.Cast(kind, start, first.coord)
    if any(True for node in (value, *known.values()) for _ in writes(node)):
        raise MayBeTwiceError
    return _replaced(value, known)


def _replaced(node: c_ast.Node, known: dict[str, c_ast.Node]) -> c_ast.Node:
    if isinstance(node, c_ast.ID):
        return copy.deepcopy(known[node.name]) if node.name in known else node
    if isinstance(node, c_ast.StructRef):  # its field is no variable
        node.name = _replaced(node.name, known)
    else:
        change_children(node, lambda child: _replaced(child, known))
    return node
