"""Do all transfers keep to what the machine allows?"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from swbuild.expressions.nodes import Binary, BinaryOperator, Expression, Min, Name
from swbuild.expressions.trees import constant_value
from swbuild.kernelir.nodes import Loop, Node, Piece, Transfer, Whole, Window
from swbuild.kernelir.origin import Role
from swbuild.kernelir.passes import walk
from swbuild.kernelir.scope import Held, Scope
from swbuild.kernelir.transfers import size_of

__all__ = ["length_faults"]


def length_faults(node: Node, scope: Scope) -> Iterator[str]:
    """Yield which transfers in ``node`` are too long or may lie where the machine cannot move them."""
    for found in walk(node):
        if isinstance(found, Transfer) and not isinstance(found.part, Whole):
            yield from _moved(found, scope)
            yield from _aligned(found, scope)
        elif isinstance(found, Loop) and found.origin.role is Role.SPLIT and found.step > 1:
            yield from _stepped(found, scope)


def _aligned(node: Transfer, scope: Scope) -> Iterator[str]:
    buffer, unit = scope.buffers[node.buffer], scope.limits.alignment
    behind = node.part.whole if isinstance(node.part, Piece) else 0
    row = buffer.element * prod(buffer.bound[-behind - 1 :])  # small elements fill words together
    for what, value in (("rows", row), ("the beginning", buffer.alignment)):
        if value % unit:
            yield f"{what} of {node.buffer}: {value} bytes are no multiple of {unit}"


def _moved(node: Transfer, scope: Scope) -> Iterator[str]:
    """Yield by how much ``node`` is too long, at the largest size of its box."""
    buffer, part = scope.buffers[node.buffer], node.part
    assert not isinstance(part, Whole)
    length = (
        part.length if isinstance(part, Piece) else part.size[-1] if isinstance(part, Window) else part.size
    )
    row = _most(length, node.buffer, buffer, len(buffer.bound) - 1) * buffer.element
    rows = part.rows if isinstance(part, Piece) else part.size[-2] if isinstance(part, Window) else None
    total = row if rows is None else row * _most(rows, node.buffer, buffer, len(buffer.bound) - 2)
    what = f"the {node.group.direction.value} of {node.buffer}"
    if total > scope.limits.length:
        yield f"{what} moves up to {total} bytes, the machine at most {scope.limits.length}"
    if rows is not None and row > scope.limits.block:
        yield f"{what} moves blocks of up to {row} bytes, the machine of at most {scope.limits.block}"


def _most(size: Expression, name: str, buffer: Held, dimension: int) -> int:
    """Return the most that ``size``, a number of indices of ``dimension``, can be."""
    known = {size_of(name, k): bound for k, bound in enumerate(buffer.bound)}
    if isinstance(size, Name) and size in known:
        return known[size]
    value = constant_value(size)
    if value is not None:
        return value
    if isinstance(size, Binary) and size.operator is BinaryOperator.MUL:
        return _most(size.left, name, buffer, dimension) * _most(size.right, name, buffer, dimension)
    parts = size.operands if isinstance(size, Min) else ()
    return min([buffer.bound[dimension], *(_most(part, name, buffer, dimension) for part in parts)])


def _stepped(node: Loop, scope: Scope) -> Iterator[str]:
    for moved in (found for found in walk(node.body) if isinstance(found, Transfer)):
        step = node.step * scope.buffers[moved.buffer].element
        if step % scope.limits.alignment:
            yield f"parts of {moved.buffer} begin every {step} bytes, no multiple of {scope.limits.alignment}"
