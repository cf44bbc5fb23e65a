"""Variables that a register tile holds: their declarations, what fills them, and stores of vectors."""

from __future__ import annotations

from swbuild.expressions.printing import argument_text, c_text
from swbuild.kernelir.nodes import Fetch, Keep, Register
from swbuild.machine import Vectors

__all__ = ["held"]


def held(node: Register | Fetch | Keep, vectors: Vectors) -> str:
    """Return ``node`` as C."""
    if isinstance(node, Keep):
        if not node.vector:
            return f"{c_text(node.place)} = {node.name};"
        return vectors.store.format(vector=node.name, place=c_text(node.place))
    fill, gather = {
        vectors.double_type: (vectors.fill_double, vectors.gather_double),
        vectors.int_type: (vectors.fill_int, vectors.gather_int),
    }.get(node.type.name, (vectors.fill_float, vectors.gather_float))
    if isinstance(node, Fetch) and node.further:
        values = ", ".join(map(argument_text, (node.place, *node.further)))
        return f"{node.type.name} {node.name} = {gather.format(values=values)};"
    if isinstance(node, Fetch):
        template = vectors.spread if node.spread else vectors.load
        return f"{node.type.name} {node.name}; {template.format(vector=node.name, place=c_text(node.place))}"
    value = argument_text(node.value)
    if node.fill:
        value = fill.format(value=value)
    return f"{node.type.name} {node.name} = {value};"
