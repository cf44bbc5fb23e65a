"""Expressions as C.

Minimum, maximum and floor division are the macros ``SW_MIN``, ``SW_MAX`` and ``SW_FLOORDIV`` of the
generated header.
"""

from __future__ import annotations

from functools import singledispatch

from swbuild.expressions.c import (
    AccessRef,
    Assignment,
    Call,
    Cast,
    Comma,
    Conditional,
    Element,
    InitialList,
    IteratorRef,
    Literal,
    Operation,
    ParameterRef,
    Parentheses,
    Step,
    Unary,
    Unrounded,
    Variable,
)
from swbuild.expressions.contraction import called, multiply_add
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
from swbuild.names import own

__all__ = ["argument_text", "c_text", "in_parentheses"]

#: how tight operators bind; a higher number binds tighter
_LEVELS = {
    "*": 13, "/": 13, "%": 13, "+": 12, "-": 12, "<<": 11, ">>": 11, "<": 10, "<=": 10, ">": 10, ">=": 10,
    "==": 9, "!=": 9, "&": 8, "^": 7, "|": 6, "&&": 5, "||": 4,
}  # fmt: skip
_PRIMARY, _UNARY, _AND, _OR, _CONDITIONAL, _ASSIGNMENT, _COMMA = 16, 14, 5, 4, 3, 2, 1


def _least_operands(level: int) -> tuple[int, int]:
    """Return how tight operands have to bind to go without parentheses.

    Comparisons of comparisons and mixed operators on bits get parentheses that compilers ask for.
    """
    if level <= _AND:
        return (6, 6)
    least = level if level >= 12 else 11 if level in (10, 9) else 13
    return least, least + 1


_LEAST_OPERANDS = {operator: _least_operands(level) for operator, level in _LEVELS.items()}

_MIN, _MAX, _FLOORDIV = own("SW_MIN"), own("SW_MAX"), own("SW_FLOORDIV")

#: text and how tight its operator binds
_Printed = tuple[str, int]


def c_text(expression: Expression) -> str:
    """Return ``expression`` as C, with parentheses only where they are needed."""
    return _printed(expression)[0]


def in_parentheses(expression: Expression) -> str:
    """Return ``expression`` as C, in parentheses unless it is a name or a number."""
    plain = isinstance(expression, Name) or (isinstance(expression, Constant) and expression.value >= 0)
    return c_text(expression) if plain else f"({c_text(expression)})"


def argument_text(expression: Expression) -> str:
    """Return ``expression`` as C where a comma would end it."""
    return _wrapped(expression, _ASSIGNMENT)


def _wrapped(expression: Expression, least: int) -> str:
    """Return ``expression`` as C, in parentheses if it binds less tight than ``least``."""
    text, precedence = _printed(expression)
    return text if precedence >= least else f"({text})"


@singledispatch
def _printed(expression: Expression) -> _Printed:
    raise TypeError(f"nothing is known of {type(expression).__name__}")


@_printed.register
def _constant(expression: Constant) -> _Printed:
    return str(expression.value), _PRIMARY if expression.value >= 0 else _UNARY


@_printed.register
def _name(expression: Name) -> _Printed:
    return expression.name, _PRIMARY


@_printed.register
def _negation(expression: Negation) -> _Printed:
    text = _wrapped(expression.operand, _UNARY)
    return f"-({text})" if text.startswith("-") else f"-{text}", _UNARY  # -- is another operator


@_printed.register
def _binary(expression: Binary) -> _Printed:
    operator = expression.operator
    precedence = _LEVELS[operator.value]
    if operator is BinaryOperator.OR:  # compilers ask for parentheses around && here
        least = (_LEVELS[BinaryOperator.EQ.value],) * 2
    else:
        least = (precedence, precedence + 1)
    left, right = _wrapped(expression.left, least[0]), _wrapped(expression.right, least[1])
    return f"{left} {operator.value} {right}", precedence


@_printed.register
def _parenthesised(expression: Parenthesised) -> _Printed:
    return f"({c_text(expression.operand)})", _PRIMARY


@_printed.register
def _floor_division(expression: FloorDivision) -> _Printed:
    return _call(_FLOORDIV, expression.children)


@_printed.register
def _min(expression: Min) -> _Printed:
    return _call(_MIN, expression.operands)


@_printed.register
def _max(expression: Max) -> _Printed:
    return _call(_MAX, expression.operands)


@_printed.register
def _select(expression: Select) -> _Printed:
    condition = _wrapped(expression.condition, _OR)
    return f"({condition} ? {c_text(expression.then)} : {c_text(expression.otherwise)})", _PRIMARY


def _call(macro: str, operands: tuple[Expression, ...]) -> _Printed:
    """Return calls of a macro of two arguments, one inside the other."""
    text = c_text(operands[-1])
    for operand in reversed(operands[:-1]):
        text = f"{macro}({c_text(operand)}, {text})"
    return text, _PRIMARY


# -- C's own nodes ------------------------------------------------------------------------------


@_printed.register
def _literal(expression: Literal) -> _Printed:
    return expression.text, _UNARY if expression.text.startswith("-") else _PRIMARY


@_printed.register(Variable)
@_printed.register(ParameterRef)
def _variable(expression: Variable | ParameterRef) -> _Printed:
    return expression.name, _PRIMARY


@_printed.register
def _access(expression: AccessRef) -> _Printed:
    return f"#{expression.ref}", _PRIMARY


@_printed.register
def _iterator(expression: IteratorRef) -> _Printed:
    return f"@{expression.index}", _PRIMARY


@_printed.register
def _element(expression: Element) -> _Printed:
    subscripts = "".join(f"[{c_text(subscript)}]" for subscript in expression.subscripts)
    return _wrapped(expression.array, _PRIMARY) + subscripts, _PRIMARY


@_printed.register
def _unary(expression: Unary) -> _Printed:
    text = _wrapped(expression.operand, _UNARY)
    if expression.operator != "!!" and text[:1] in "+-":
        text = f"({text})"
    return expression.operator + text, _UNARY


@_printed.register
def _step(expression: Step) -> _Printed:
    target = c_text(expression.operand)
    return target + expression.operator if expression.behind else expression.operator + target, _UNARY


@_printed.register
def _cast(expression: Cast) -> _Printed:
    return f"({expression.type.name}){_wrapped(expression.operand, _UNARY)}", _UNARY


@_printed.register
def _parentheses(expression: Parentheses) -> _Printed:
    return f"({c_text(expression.operand)})", _PRIMARY


@_printed.register
def _operation(expression: Operation) -> _Printed:
    if (whole := _multiply_add(expression)) is not None:
        return whole
    chain = [expression]  # of first operands: as deep as a sum has terms
    while isinstance(left := chain[-1].left, Operation) and not _takes_unrounded(left):
        chain.append(left)
    text, level, inner = *_printed(left), ""
    for node in reversed(chain):
        operator = node.operator
        least, after = _LEAST_OPERANDS[operator]
        if operator == inner and operator in ("&&", "||"):
            least = level
        text = text if level >= least else f"({text})"
        text, level, inner = f"{text} {operator} {_wrapped(node.right, after)}", _LEVELS[operator], operator
    return text, level


def _takes_unrounded(operation: Operation) -> bool:
    return isinstance(operation.left, Unrounded) or isinstance(operation.right, Unrounded)


def _multiply_add(expression: Operation | Assignment) -> _Printed | None:
    """Return a multiply-add as a call of the compiler's own function; None for all else."""
    found = multiply_add(expression)
    return None if found is None else _printed(called(found))


@_printed.register
def _assignment(expression: Assignment) -> _Printed:
    if (whole := _multiply_add(expression)) is not None:
        return f"{c_text(expression.target)} = {whole[0]}", _ASSIGNMENT
    value = _wrapped(expression.value, _ASSIGNMENT)
    return f"{c_text(expression.target)} {expression.operator} {value}", _ASSIGNMENT


@_printed.register
def _conditional(expression: Conditional) -> _Printed:
    condition = _wrapped(expression.condition, _CONDITIONAL + 1)
    then, otherwise = (_wrapped(e, _CONDITIONAL) for e in (expression.then, expression.otherwise))
    return f"{condition} ? {then} : {otherwise}", _CONDITIONAL


@_printed.register
def _function_call(expression: Call) -> _Printed:
    return f"{expression.function}({_listed(expression.arguments)})", _PRIMARY


@_printed.register
def _comma(expression: Comma) -> _Printed:
    return _listed(expression.items), _COMMA


@_printed.register
def _initial_list(expression: InitialList) -> _Printed:
    return f"{{{_listed(expression.items)}}}", _PRIMARY


def _listed(expressions: tuple[Expression, ...]) -> str:
    return ", ".join(map(argument_text, expressions))
