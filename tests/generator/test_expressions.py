"""Expressions as trees: questions, changes and their C text."""

from __future__ import annotations

import itertools

import pytest

from swbuild.expressions.linear import distance
from swbuild.expressions.nodes import (
    Binary,
    BinaryOperator,
    Constant,
    Expression,
    FloorDivision,
    Max,
    Min,
    Name,
    Negation,
    Parenthesised,
    Select,
)
from swbuild.expressions.printing import c_text
from swbuild.expressions.trees import constant_value, mentions, names_in, substituted, transformed, walk
from swbuild.names import plain_name

K, J, N = Name("i"), Name("j"), Name("n")
ONE = Constant(1)
TREE = Select(
    Binary(BinaryOperator.LT, K, N),
    Min((Negation(K), Max((J, N)), Constant(3))),
    FloorDivision(Binary(BinaryOperator.ADD, K, ONE), Constant(-2)),
)


def text(expression: Expression) -> str:
    return plain_name(c_text(expression))


def test_a_tree_is_printed_as_c() -> None:
    assert text(TREE) == "(i < n ? SW_MIN(-i, SW_MIN(SW_MAX(j, n), 3)) : SW_FLOORDIV(i + 1, -2))"


ARITHMETIC = (BinaryOperator.ADD, BinaryOperator.SUB, BinaryOperator.MUL, BinaryOperator.MOD)


def value(expression: Expression) -> int:
    if isinstance(expression, Binary):
        left, right = value(expression.left), value(expression.right)
        signs = {"+": left + right, "-": left - right, "*": left * right}
        return signs.get(expression.operator.value, left % right if right else 0)
    assert isinstance(expression, (Constant, Negation))
    return expression.value if isinstance(expression, Constant) else -value(expression.operand)


def test_parentheses_keep_the_tree() -> None:
    two, three, five = Constant(2), Constant(3), Constant(5)
    for outer, inner in itertools.product(ARITHMETIC, repeat=2):
        for tree in (
            Binary(outer, Binary(inner, five, three), two),
            Binary(outer, five, Binary(inner, three, two)),
            Binary(outer, five, Negation(Binary(inner, three, two))),
        ):
            # Python's % differs from C's for negative operands alone
            if "%" not in c_text(tree) or "-" not in c_text(tree):
                assert eval(c_text(tree)) == value(tree), c_text(tree)


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (Binary(BinaryOperator.SUB, K, Binary(BinaryOperator.SUB, J, N)), "i - (j - n)"),
        (Binary(BinaryOperator.SUB, Binary(BinaryOperator.SUB, K, J), N), "i - j - n"),
        (Binary(BinaryOperator.MUL, Constant(-2), Binary(BinaryOperator.ADD, K, ONE)), "-2 * (i + 1)"),
        (Negation(Negation(K)), "-(-i)"),
        (Binary(BinaryOperator.OR, Binary(BinaryOperator.AND, K, J), Name("m")), "(i && j) || m"),
        (Binary(BinaryOperator.AND, K, Binary(BinaryOperator.OR, J, N)), "i && (j || n)"),
    ],
)
def test_parentheses_stand_where_they_are_needed(tree: Expression, expected: str) -> None:
    assert text(tree) == expected


def test_names_are_found_wherever_they_stand() -> None:
    assert names_in(TREE) == {"i", "j", "n"}
    assert mentions(TREE, "j") and not mentions(TREE, "m")
    assert not mentions(Name("n1"), "n"), "a name is a whole word"


def test_names_are_substituted_all_at_once() -> None:
    swapped = substituted(Binary(BinaryOperator.ADD, K, J), {"i": J, "j": Binary(BinaryOperator.ADD, K, N)})
    assert swapped == Binary(BinaryOperator.ADD, J, Binary(BinaryOperator.ADD, K, N))
    assert text(substituted(Binary(BinaryOperator.MUL, K, N), {"i": Binary(BinaryOperator.ADD, K, ONE)})) == (
        "(i + 1) * n"
    )


def test_what_does_not_change_stays_the_same_object() -> None:
    assert substituted(TREE, {"m": ONE}) is TREE
    assert transformed(TREE, lambda node: node) is TREE


def test_every_node_is_rebuilt_from_its_children() -> None:
    for node in walk(TREE):
        assert node.rebuilt(node.children) == node


def test_only_an_integer_as_it_stands_is_constant() -> None:
    assert constant_value(Constant(-7)) == -7
    assert constant_value(Negation(Constant(7))) is None and constant_value(N) is None


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (Binary(BinaryOperator.ADD, K, ONE), Binary(BinaryOperator.SUB, K, Constant(3)), -4),
        (Binary(BinaryOperator.MUL, Constant(2), K), Binary(BinaryOperator.ADD, K, K), 0),
        (Negation(K), Binary(BinaryOperator.SUB, Constant(7), Parenthesised(K)), 7),
        (
            Binary(BinaryOperator.MUL, J, K),
            Binary(BinaryOperator.ADD, ONE, Binary(BinaryOperator.MUL, J, K)),
            1,
        ),
        (K, J, None),
        (K, Binary(BinaryOperator.MUL, K, K), None),
    ],
)
def test_the_distance_of_two_sums_is_known_where_it_is_constant(
    first: Expression, last: Expression, expected: int | None
) -> None:
    assert distance(first, last) == expected
