"""Which values vectors compute lane by lane, and the functions of a machine that do so.

Beside ``+ - * /`` these are square roots and absolute values, the larger or the smaller one of two numbers,
and choices by comparisons of numbers of the vectors' type.  Both values of a choice are computed: neither may
divide or take a root, which the choice may be there to prevent.
"""

from __future__ import annotations

from dataclasses import replace
from struct import pack, unpack

from swbuild.classes import dataclass
from swbuild.expressions.c import (
    Assignment,
    Call,
    Cast,
    Conditional,
    Literal,
    Operation,
    Parentheses,
    Typed,
    Unary,
    Unrounded,
    Variable,
)
from swbuild.expressions.nodes import Expression
from swbuild.expressions.statements import Block, Evaluation, If, Nothing
from swbuild.expressions.trees import transformed, walk
from swbuild.expressions.types import DOUBLE, FLOAT, ElementType, TypeKind, is_integer
from swbuild.kernelir.nodes import Compute, Node, Register
from swbuild.kernelir.passes import transform
from swbuild.machine import IntegerFunctions, VectorFunctions, Vectors

__all__ = [
    "ABSOLUTE",
    "GREATER",
    "LANE",
    "LESSER",
    "LOGICAL",
    "ROOT",
    "as_assignment",
    "bare",
    "has_lanes",
    "is_lanewise",
    "with_functions",
]

#: Functions of C's library, without the letter for ``float``.
ROOT, ABSOLUTE, GREATER, LESSER = "sqrt", "fabs", "fmax", "fmin"
#: With the number of a lane behind it: what that of a vector holds.
LANE = "lane "
LOGICAL = frozenset(("&&", "||"))
_FUNCTIONS = {f"{name}{end}" for name in (ROOT, ABSOLUTE, GREATER, LESSER) for end in ("", "f")}
_OPERATORS = frozenset("+-*/")
#: Of integers; their division is a function of a library.
_WHOLE = frozenset("+-*&|^")
#: Those that vectors of integers have functions for.
_ADDED = frozenset("+-")
#: Above it, numbers may be no ``float``.
_LARGEST = 3e38
_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))


def bare(value: Expression) -> Expression:
    """Return ``value`` without the parentheses around it."""
    while isinstance(value, Parentheses):
        value = value.operand
    return value


def as_assignment(body: Expression) -> Assignment | None:
    """Return ``body`` as an assignment: a choice between a new value and the old one where it is an ``if``.

    None where it is more than one assignment, or something else.
    """
    if isinstance(body, Evaluation):
        return body.expression if isinstance(body.expression, Assignment) else None
    if not isinstance(body, If) or body.otherwise != Nothing():
        return None
    found = as_assignment(_only(body.then))
    if found is None or not isinstance(found.target, Call):
        return None
    kind, target = found.target.type, found.target
    value = found.value
    if found.operator != "=":
        if found.computed != kind:
            return None
        value = value if isinstance(value, Parentheses) else Parentheses(kind, value)
        value = Operation(kind, found.operator.rstrip("="), kind, target, value)
    return Assignment(kind, "=", kind, target, Conditional(kind, body.condition, value, target))


def _only(body: Expression) -> Expression:
    """Return the only statement of a block, else ``body``."""
    while isinstance(body, Block) and len(body.items) == 1:
        (body,) = body.items
    return body


def is_lanewise(value: Expression, element: ElementType, buffers: frozenset[str]) -> bool:
    """Return whether vectors compute ``value``, converted to the type ``element``, from their elements.

    ``buffers`` are the macros for elements of LDM buffers.
    """
    return _Values(element, buffers).has(value)


def has_lanes(value: Expression, buffers: frozenset[str]) -> bool:
    """Return whether vectors have a function for the operation ``value`` itself, if that reads elements."""
    if not (isinstance(value, Operation) and is_integer(value.computed)):
        return True
    reads = any(isinstance(node, Call) and node.function in buffers for node in walk(value))
    lanes = value.operator in _ADDED or value.operator in _COMPARISONS or value.operator in LOGICAL
    return lanes if reads else True


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of type ``element`` that vectors compute from elements of ``buffers``."""

    element: ElementType
    buffers: frozenset[str]

    def has(self, value: Expression) -> bool:
        """Return whether ``value`` is one of them, or becomes one by a conversion of what has no elements."""
        if self._is_element(value):
            return True
        if not isinstance(value, Unrounded) and not self._reads(value):
            return all(map(_is_simple, walk(value)))
        if isinstance(value, Conditional):
            return self._is_condition(value.condition) and all(map(self._is_choice, value.children[1:]))
        if isinstance(value, Parentheses):
            return self.has(value.operand)
        return self._is_own(value) and all(map(self.has, value.children))

    def _is_own(self, value: Expression) -> bool:
        """Return whether ``value`` is an operation on numbers of the type that vectors have, too."""
        if isinstance(value, Operation):
            return _is_operator(value) and value.computed == self.element
        if isinstance(value, Unary):
            return value.operator == "-" and value.type == self.element
        return isinstance(value, Call) and value.function in _FUNCTIONS and value.type == self.element

    def _is_element(self, value: Expression) -> bool:
        if not (isinstance(value, Call) and value.function in self.buffers):
            return False
        return value.type == self.element and not any(map(self._reads, value.arguments))

    def _reads(self, value: Expression) -> bool:
        return any(isinstance(node, Call) and node.function in self.buffers for node in walk(value))

    def _is_choice(self, value: Expression) -> bool:
        """Return whether ``value`` may be computed though it is not chosen."""
        fails = any(
            (isinstance(node, Operation) and node.operator == "/" and node.computed == self.element)
            or (isinstance(node, Call) and node.function.rstrip("f") == ROOT)
            for node in walk(value)
        )
        return not fails and self.has(value)

    def _is_condition(self, value: Expression) -> bool:
        value = bare(value)
        if isinstance(value, Unary):
            return value.operator == "!" and self._is_condition(value.operand)
        if not isinstance(value, Operation):
            return False
        if value.operator in LOGICAL:
            return all(map(self._is_condition, value.children))
        if value.operator not in _COMPARISONS or not self._reads(value):
            return False
        if value.computed == self.element:
            return all(map(self._is_choice, value.children))
        exact = value.computed == DOUBLE and self.element == FLOAT
        return exact and all(map(self._is_exact, value.children))

    def _is_exact(self, value: Expression) -> bool:
        """Return whether ``value`` is the same as a ``float`` and as a ``double``."""
        inner = bare(value)
        if isinstance(inner, Literal):
            return _is_single(inner.text)
        return isinstance(inner, Typed) and inner.type == FLOAT and self._is_choice(inner)


def _is_single(text: str) -> bool:
    """Return whether the constant ``text`` is a ``float``, as far as is known."""
    try:
        number = float(text)
    except ValueError:
        return False  # a hexadecimal one, or one with a suffix
    return unpack("f", pack("f", number))[0] == number if abs(number) < _LARGEST else False


def _is_operator(value: Operation) -> bool:
    """Return whether ``value`` is an operation that takes few instructions and cannot fail."""
    return value.operator in (_OPERATORS if value.computed.kind is TypeKind.FLOAT else _WHOLE)


def _is_simple(node: Expression) -> bool:
    """Return whether ``node`` computes the same wherever it stands, and cannot fail."""
    if isinstance(node, Operation):
        return _is_operator(node)
    if isinstance(node, Unary):
        return node.operator in ("+", "-")
    return isinstance(node, (Literal, Variable, Parentheses, Cast)) or not isinstance(node, Typed)


def with_functions(node: Node, vectors: Vectors) -> Node:
    """Return the tree with what operators do not say of vectors as calls of the machine's functions."""
    named = {vectors.double_type: vectors.double_functions, vectors.float_type: vectors.float_functions}

    def spell(value: Expression) -> Expression:
        if not isinstance(value, Typed):
            return value
        if isinstance(value, Call) and value.function.startswith(LANE):
            return replace(value, function=vectors.lane.format(lane=value.function.removeprefix(LANE)))
        if vectors.int_type and value.type.name == vectors.int_type:
            return _added(_compared(value, vectors.int_functions), vectors.int_functions)
        functions = named.get(value.type.name)
        return value if functions is None else _called(_compared(value, functions), functions)

    def change(node: Node) -> Node:
        if isinstance(node, Compute):
            return replace(node, body=transformed(node.body, spell))
        if isinstance(node, Register):
            return replace(node, value=transformed(node.value, spell))
        return node

    return transform(node, change)


def _compared(value: Expression, functions: VectorFunctions | IntegerFunctions) -> Expression:
    """Return ``value``, a vector, as the call of a function where it compares or chooses."""
    if isinstance(value, Conditional):
        return Call(value.type, functions.where_zero, (value.condition, value.otherwise, value.then))
    if isinstance(value, Operation) and value.operator in _COMPARISONS:
        names = {"<": functions.less, "<=": functions.less_or_equal, "==": functions.equal}
        return Call(value.type, names[value.operator], value.children)
    return value


def _called(value: Expression, functions: VectorFunctions) -> Expression:
    """Return ``value``, a vector, as the call of the machine's function where it is that of a library's."""
    if isinstance(value, Call):
        names = {ROOT: functions.square_root, ABSOLUTE: functions.absolute}
        return replace(value, function=names.get(value.function, value.function))
    return value


def _added(value: Expression, functions: IntegerFunctions) -> Expression:
    """Return ``value``, a vector of integers, as the call of a function where it is a sum or a difference."""
    names = {"+": functions.add, "-": functions.subtract}
    if isinstance(value, Operation) and value.operator in names:
        return Call(value.type, names[value.operator], value.children)
    if isinstance(value, Assignment) and value.operator != "=":
        call = Call(value.type, names[value.operator.rstrip("=")], (value.target, value.value))
        return replace(value, operator="=", value=call)
    return value
