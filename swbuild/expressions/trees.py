"""What can be asked of any expression, and made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from swbuild.expressions.nodes import Constant, Expression, Name

__all__ = ["constant_value", "map_children", "mentions", "names_in", "substituted", "transformed", "walk"]


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield ``expression`` and all nodes below it, each before its operands."""
    yield expression
    for child in expression.children:
        yield from walk(child)


def map_children(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return ``expression`` with ``change`` made to each operand; the same object where none changes."""
    before = expression.children
    after = tuple(change(child) for child in before)
    if all(new is old for new, old in zip(after, before, strict=True)):
        return expression
    return expression.rebuilt(after)


def names_in(expression: Expression) -> frozenset[str]:
    """Return the names of all variables."""
    return frozenset(node.name for node in walk(expression) if isinstance(node, Name))


def mentions(expression: Expression, name: str) -> bool:
    """Return whether the variable ``name`` is used."""
    return any(isinstance(node, Name) and node.name == name for node in walk(expression))


def substituted(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """Return ``expression`` with variables, by their names, replaced by ``values``, all at once."""
    if isinstance(expression, Name):
        return values.get(expression.name, expression)
    return map_children(expression, lambda child: substituted(child, values))


def constant_value(expression: Expression) -> int | None:
    """Return the value of an integer as it stands in the code, None for all else."""
    return expression.value if isinstance(expression, Constant) else None


def transformed(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return ``expression`` with ``change`` made to every node, operands first."""
    return change(map_children(expression, lambda child: transformed(child, change)))
