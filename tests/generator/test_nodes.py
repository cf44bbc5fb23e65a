"""What holds of every kind of node: its operands and what it is made of follow from its fields."""

from __future__ import annotations

import dataclasses
from types import ModuleType

import pytest

from swbuild.classes import dataclass
from swbuild.expressions import c, nodes, statements
from swbuild.expressions.nodes import Constant, Expression
from swbuild.expressions.types import LONG

A, B, C, D = (Constant(k) for k in range(4))


def kinds(module: ModuleType) -> list[type[Expression]]:
    found = [k for k in vars(module).values() if isinstance(k, type) and issubclass(k, Expression)]
    return [k for k in found if dataclasses.is_dataclass(k) and k.__module__ == module.__name__]


@pytest.mark.parametrize("module", [nodes, c, statements], ids=lambda module: module.__name__)
def test_operands_are_the_fields_that_hold_trees(module: ModuleType) -> None:
    values = {"Expression": A, "tuple[Expression, ...]": (B, C), "ElementType": LONG}
    for kind in kinds(module):
        given = {f.name: values.get(str(f.type), "+") for f in dataclasses.fields(kind)}
        node = kind(**given)
        held = [v if isinstance(v, tuple) else (v,) for v in given.values() if v not in ("+", LONG)]
        assert node.children == tuple(x for part in held for x in part), kind
        other = node.rebuilt((D,) * len(node.children))
        assert type(other) is kind and set(other.children) <= {D}
        assert other.rebuilt(node.children) == node


def test_operands_keep_their_order() -> None:
    assert c.Element(LONG, A, (B, C)).children == (A, B, C)
    assert c.Element(LONG, A, (B, C)).rebuilt((C, A, B)) == c.Element(LONG, C, (A, B))
    assert statements.For(A, B, C, D).rebuilt((D, C, B, A)) == statements.For(D, C, B, A)


def test_nothing_follows_any_number_of_operands() -> None:
    @dataclass(frozen=True, slots=True)
    class Wrong(Expression):
        many: tuple[Expression, ...]
        one: Expression

    with pytest.raises(AssertionError, match="Wrong"):
        Wrong((A,), B).children  # noqa: B018  (a property)
