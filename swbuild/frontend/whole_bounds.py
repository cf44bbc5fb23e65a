"""Comparisons of integers with constants of type double (``i < 1e3``) as those with integers.

C compares them as numbers of type double.  The conversion of integers keeps their order, and below 2^53 each
of them is a number of that type: with constants below that, the result is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, floor

from pycparser import c_ast

from swbuild.frontend.constants import EXACT, floating

__all__ = ["with_whole_bounds"]

#: The integer in place of a number that something is compared with on its left.
_WHOLE: Mapping[str, Callable[[float], int]] = {"<": ceil, ">=": ceil, "<=": floor, ">": floor}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def with_whole_bounds(node: c_ast.BinaryOp) -> c_ast.BinaryOp:
    """Return a comparison with integers in place of constants of type double, as true for all integers."""
    if node.op not in _WHOLE:
        return node
    left = _in_place(node.left, _TURNED[node.op])
    right = _in_place(node.right, node.op)
    unchanged = left is node.left and right is node.right
    return node if unchanged else c_ast.BinaryOp(node.op, left, right, node.coord)


def _in_place(node: c_ast.Node, op: str) -> c_ast.Node:
    """Return the integer in place of ``node`` if that is a number that something is ``op`` than."""
    number = floating(node)
    if number is None or not 0 <= number < EXACT:
        return node
    whole = _WHOLE[op](number)
    return c_ast.Constant("long int" if whole >= 1 << 31 else "int", str(whole), node.coord)
