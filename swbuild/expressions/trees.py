"""What can be asked of any expression, and made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Name

__all__ = [
    "added_up",
    "constant_value",
    "mentions",
    "names_in",
    "substituted",
    "transformed",
    "walk",
    "without_zeros",
]


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield ``expression`` and all nodes below it, each before its operands."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)


def names_in(expression: Expression) -> frozenset[str]:
    """Return the names of all variables."""
    return frozenset(node.name for node in walk(expression) if isinstance(node, Name))


def mentions(expression: Expression, name: str) -> bool:
    """Return whether the variable ``name`` is used."""
    return any(isinstance(node, Name) and node.name == name for node in walk(expression))


def substituted(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """Return ``expression`` with variables, by their names, replaced by ``values``, all at once."""
    return transformed(
        expression, lambda node: values.get(node.name, node) if isinstance(node, Name) else node
    )


def constant_value(expression: Expression) -> int | None:
    """Return the value of an integer as it stands in the code, None for all else."""
    return expression.value if isinstance(expression, Constant) else None


def without_zeros(expression: Expression) -> Expression:
    """Return ``expression`` without zeros that are added or subtracted."""

    def change(node: Expression) -> Expression:
        if not isinstance(node, Binary) or constant_value(node.right) != 0:
            return node
        return node.left if node.operator in (BinaryOperator.ADD, BinaryOperator.SUB) else node

    return transformed(expression, change)


def added_up(expression: Expression) -> Expression:
    """Return ``expression`` with constants that are added to a value one after the other as one number."""

    def change(node: Expression) -> Expression:
        if not isinstance(node, Binary) or node.operator is not BinaryOperator.ADD:
            return node
        left, number = node.left, constant_value(node.right)
        if number is not None and constant_value(left) is not None:
            return Constant(left.value + number) if isinstance(left, Constant) else node
        if number is None or not isinstance(left, Binary) or left.operator is not BinaryOperator.ADD:
            return node
        before = constant_value(left.right)
        return node if before is None else Binary(node.operator, left.left, Constant(before + number))

    return transformed(expression, change)


def transformed(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return ``expression`` with ``change`` made to every node, operands first."""
    before, after = expression.children, []
    for child in before:  # one call a level: sums of hundreds of terms are trees as deep
        after.append(transformed(child, change))
    if any(new is not old for new, old in zip(after, before, strict=True)):
        expression = expression.rebuilt(tuple(after))
    return change(expression)
