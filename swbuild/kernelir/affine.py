"""What expressions say of their variables, as isl's sets and functions of parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce

import islpy as isl

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
from swbuild.islnumbers import int_of

__all__ = [
    "NotAffine",
    "as_set",
    "as_value",
    "by_name",
    "least_of",
    "most_of",
    "remainder_of",
    "without_names",
]

_PARAM, _SET = isl.dim_type.param, isl.dim_type.set


class NotAffine(Exception):
    """An expression that isl has no form for."""


def as_value(expression: Expression) -> isl.PwAff:
    """Return ``expression`` as a function of its variables, which are parameters.

    Raise :class:`NotAffine` where it is none that is affine but for divisions by numbers.
    """
    if isinstance(expression, Constant):
        return isl.PwAff(f"{{ [({expression.value})] }}")
    if isinstance(expression, Name):
        return _variable(expression.name)
    if isinstance(expression, Parenthesised):
        return as_value(expression.operand)
    if isinstance(expression, Negation):
        return as_value(expression.operand).neg()
    if isinstance(expression, Min):
        return reduce(isl.PwAff.min, map(as_value, expression.operands))
    if isinstance(expression, Max):
        return reduce(isl.PwAff.max, map(as_value, expression.operands))
    if isinstance(expression, Select):
        where = as_set(expression.condition)
        then = as_value(expression.then).intersect_params(where)
        return then.union_add(as_value(expression.otherwise).intersect_params(where.complement()))
    if isinstance(expression, FloorDivision):
        return as_value(expression.left).scale_down_val(_divisor(expression.right)).floor()
    if isinstance(expression, Binary):
        return _of_two(expression)
    raise NotAffine


def _variable(name: str) -> isl.PwAff:
    space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 1).set_dim_id(_PARAM, 0, isl.Id(name))
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), _PARAM, 0))


def _divisor(expression: Expression) -> isl.Val:
    if isinstance(expression, Constant) and expression.value > 0:
        return isl.Val.int_from_si(isl.DEFAULT_CONTEXT, expression.value)
    raise NotAffine


def _of_two(expression: Binary) -> isl.PwAff:
    """Return the value of ``expression``; what it divides is not negative, or a multiple of the divisor."""
    operator = expression.operator
    left = as_value(expression.left)
    if operator is BinaryOperator.DIV:
        return left.scale_down_val(_divisor(expression.right)).floor()
    if operator is BinaryOperator.MOD:
        return left.mod_val(_divisor(expression.right))
    right = as_value(expression.right)
    if operator is BinaryOperator.ADD:
        return left.add(right)
    if operator is BinaryOperator.SUB:
        return left.sub(right)
    if operator is BinaryOperator.MUL and (left.is_cst() or right.is_cst()):
        return left.mul(right)
    raise NotAffine


_COMPARED: Mapping[BinaryOperator, Callable[[isl.PwAff, isl.PwAff], isl.Set]] = {
    BinaryOperator.EQ: isl.PwAff.eq_set,
    BinaryOperator.LT: isl.PwAff.lt_set,
    BinaryOperator.LE: isl.PwAff.le_set,
    BinaryOperator.GT: isl.PwAff.gt_set,
    BinaryOperator.GE: isl.PwAff.ge_set,
}


def as_set(condition: Expression) -> isl.Set:
    """Return where ``condition`` holds, as a set of parameters; raise :class:`NotAffine` if isl cannot."""
    if isinstance(condition, Parenthesised):
        return as_set(condition.operand)
    if not isinstance(condition, Binary):
        raise NotAffine
    if condition.operator is BinaryOperator.AND:
        return as_set(condition.left).intersect(as_set(condition.right))
    if condition.operator is BinaryOperator.OR:
        return as_set(condition.left).union(as_set(condition.right))
    if condition.operator not in _COMPARED:
        raise NotAffine
    compared = _COMPARED[condition.operator](as_value(condition.left), as_value(condition.right))
    return compared.params()


def by_name(found: isl.Set) -> isl.Set:
    """Return the same set, its parameters told by their names alone, as the variables of expressions are."""
    for position in range(found.dim(_PARAM)):
        found = found.set_dim_id(_PARAM, position, isl.Id(str(found.get_dim_name(_PARAM, position))))
    return found


def without_names(found: isl.Set, names: Iterable[str]) -> isl.Set:
    """Return the values of the other parameters for which ``names`` have values such that all are in it."""
    for name in names:
        position = found.find_dim_by_name(_PARAM, name)
        if position >= 0:
            found = found.project_out(_PARAM, position, 1)
    return found.coalesce()


def least_of(found: isl.Set, name: str) -> isl.PwAff:
    """Return the least value of the parameter ``name`` in ``found``, in terms of the others."""
    position = found.find_dim_by_name(_PARAM, name)
    return isl.Set.from_params(found).move_dims(_SET, 0, _PARAM, position, 1).dim_min(0).coalesce()


def most_of(found: isl.Set, value: isl.PwAff) -> int | None:
    """Return the largest ``value`` that parameters in ``found`` give, None where there is no such number."""
    values = isl.Set.from_pw_aff(value).intersect_params(found)
    most = values.project_out(_PARAM, 0, values.dim(_PARAM)).dim_max_val(0)
    return int_of(most) if most.is_int() else None


def remainder_of(value: isl.PwAff, step: int) -> int | None:
    """Return ``value % step`` where that is a number, None where it is not."""
    rest = value.mod_val(isl.Val.int_from_si(isl.DEFAULT_CONTEXT, step)).coalesce()
    if rest.n_piece() != 1 or not rest.is_cst():
        return None
    return int_of(rest.get_pieces()[0][1].get_constant_val())
