"""Multiply-adds of a kernel as calls: of the machine's functions for vectors, else of the compiler's own."""

from __future__ import annotations

from dataclasses import replace

from swbuild.expressions.c import Call
from swbuild.expressions.contraction import MultiplyAdd, called, spelled
from swbuild.expressions.nodes import Expression
from swbuild.expressions.types import FLOAT
from swbuild.kernelir.nodes import Compute, Node, Register
from swbuild.kernelir.passes import transform
from swbuild.machine import Dialect

__all__ = ["with_multiply_adds"]


def with_multiply_adds(node: Node, dialect: Dialect) -> Node:
    """Return the tree with its multiply-adds as calls."""

    vectors, (of_doubles, of_floats) = dialect.vectors, dialect.multiply_add

    def spell(found: MultiplyAdd) -> Expression:
        names = {
            vectors.double_type: vectors.multiply_add_double,
            vectors.float_type: vectors.multiply_add_float,
        }.get(found.type.name)
        if names is None:
            return called(found, of_floats if found.type == FLOAT else of_doubles)
        name = names[1] if found.subtracted else names[2] if found.negated else names[0]
        return Call(found.type, name, (found.left, found.right, found.addend))

    def change(node: Node) -> Node:
        if isinstance(node, Compute):
            return replace(node, body=spelled(node.body, spell))
        if isinstance(node, Register):
            return replace(node, value=spelled(node.value, spell))
        return node

    return transform(node, change)
