"""Integer constant expressions, evaluated in the types and with the conversions that C gives them."""

from __future__ import annotations

import re  # reads characters as C spells them
from collections.abc import Callable, Mapping, Sequence
from math import isfinite

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.expressions.types import (
    INT,
    LLONG,
    LONG,
    ULLONG,
    ULONG,
    UNSIGNED,
    ElementType,
    TypeKind,
    common_type,
    element_range,
    is_integer,
    promoted,
)
from swbuild.frontend.ctype import CType, Scalar

__all__ = [
    "EXACT",
    "Constant",
    "Evaluator",
    "converted",
    "cut",
    "enumeration",
    "floating",
    "integer_constant",
    "literal",
]


@dataclass(frozen=True, slots=True)
class Constant:
    """The value and the type of an integer constant expression."""

    value: int
    type: ElementType


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluates constant expressions: ``named`` knows the constants that have names,
    ``resolve`` the types that casts name.
    """

    named: Callable[[c_ast.ID], Constant | None]
    resolve: Callable[[c_ast.Node], CType] | None = None

    def value(self, node: c_ast.Node) -> Constant | None:
        """Return what ``node`` is, None where it is no integer constant expression or is undefined."""
        if isinstance(node, c_ast.Constant):
            return integer_constant(node)
        if isinstance(node, c_ast.ID):
            return self.named(node)
        if isinstance(node, c_ast.UnaryOp):
            return self._unary(node)
        if isinstance(node, c_ast.BinaryOp):
            return self._binary(node)
        if isinstance(node, c_ast.TernaryOp):
            return self._choice(node)
        return self._cast(node) if isinstance(node, c_ast.Cast) else None

    def _unary(self, node: c_ast.UnaryOp) -> Constant | None:
        if node.op == "sizeof":
            return self._size(node.expr)
        inner = self.value(node.expr)
        if inner is None:
            return None
        if node.op == "!":
            return Constant(int(not inner.value), INT)
        change = {"+": inner.value, "-": -inner.value, "~": ~inner.value}.get(node.op)
        return None if change is None else _computed(change, promoted(inner.type))

    def _size(self, node: c_ast.Node) -> Constant | None:
        if isinstance(node, c_ast.Typename):
            kind = self.resolve(node) if self.resolve is not None else None
            return Constant(kind.element.size, ULONG) if isinstance(kind, Scalar) else None
        inner = self.value(node)
        return None if inner is None else Constant(inner.type.size, ULONG)

    def _binary(self, node: c_ast.BinaryOp) -> Constant | None:
        left, right = self.value(node.left), self.value(node.right)
        if left is None or right is None:
            return None
        if node.op in ("<<", ">>"):
            return _shifted(node.op, left, right.value)
        if node.op in ("&&", "||"):
            both = (bool(left.value), bool(right.value))
            return Constant(int(all(both) if node.op == "&&" else any(both)), INT)
        kind = common_type(left.type, right.type)
        a, b = converted(left.value, kind), converted(right.value, kind)
        if node.op in _COMPARED:
            return Constant(int(_COMPARED[node.op](a, b)), INT)
        result = _ARITHMETIC[node.op](a, b) if node.op in _ARITHMETIC else _quotient(node.op, a, b)
        return None if result is None else _computed(result, kind)

    def _choice(self, node: c_ast.TernaryOp) -> Constant | None:
        chosen, first, second = self.value(node.cond), self.value(node.iftrue), self.value(node.iffalse)
        if chosen is None or first is None or second is None:
            return None
        kind = common_type(first.type, second.type)
        return Constant(converted((first if chosen.value else second).value, kind), kind)

    def _cast(self, node: c_ast.Cast) -> Constant | None:
        kind, inner = self.resolve(node.to_type) if self.resolve is not None else None, self.value(node.expr)
        if not isinstance(kind, Scalar) or not is_integer(kind.element):
            return None
        if inner is None:
            return cut(node.expr, kind.element)
        return Constant(converted(inner.value, kind.element), kind.element)


_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
}  # fmt: skip


def _quotient(op: str, left: int, right: int) -> int | None:
    if op not in ("/", "%") or not right:
        return None
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if op == "/" else left - quotient * right


def _shifted(op: str, left: Constant, count: int) -> Constant | None:
    kind = promoted(left.type)
    if not 0 <= count < 8 * kind.size or (op == "<<" and left.value < 0):
        return None
    return _computed(left.value << count if op == "<<" else left.value >> count, kind)


def _computed(value: int, kind: ElementType) -> Constant | None:
    """Return a result in its type; signed overflow has none."""
    wrapped = converted(value, kind)
    return None if wrapped != value and kind.kind is TypeKind.SIGNED else Constant(wrapped, kind)


def converted(value: int, kind: ElementType) -> int:
    """Return ``value`` converted to an integer type."""
    if kind.name == "_Bool":
        return int(value != 0)
    low, high = element_range(kind)
    return (value - low) % (high - low + 1) + low


# -- single constants ---------------------------------------------------------------------------


#: No constant of 64 bits needs more letters, in any base and with some zeros in front.
_LONGEST = 100


def integer_constant(node: c_ast.Constant) -> Constant | None:
    """Return the value of an integer or plain character constant, or None for any other."""
    text = node.value
    if text.endswith("'"):
        value = _character(text)
        return None if value is None else Constant(value, INT)
    if "int" not in node.type:
        return None
    digits = text.rstrip("uUlL")
    if len(digits) > _LONGEST:
        return None
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xXbB"
    value = int(digits, 8) if octal else int(digits, 0)
    kind = _constant_type(value, text[len(digits) :].lower(), len(digits) > 1 and digits[0] == "0")
    return None if kind is None else Constant(value, kind)


def _constant_type(value: int, suffix: str, not_decimal: bool) -> ElementType | None:
    """Return the first type of C's list that holds a constant with this suffix."""
    longs = suffix.count("l")
    signed = (INT, LONG, LLONG)[longs:]
    unsigned = (UNSIGNED, ULONG, ULLONG)[longs:]
    if "u" in suffix:
        candidates = unsigned
    elif not_decimal:
        candidates = tuple(kind for pair in zip(signed, unsigned, strict=True) for kind in pair)
    else:
        candidates = signed
    return next((kind for kind in candidates if value <= element_range(kind)[1]), None)


_SIMPLE = {"n": 10, "t": 9, "r": 13, "\\": 92, "'": 39, '"': 34, "?": 63, "a": 7, "b": 8, "f": 12, "v": 11,
           "e": 27}  # fmt: skip
_NUMBER = re.compile(r"\\(?:x([0-9a-fA-F]+)|([0-7]{1,3}))")


def _character(text: str) -> int | None:
    """Return the value of a character of the basic set; what depends on the sign of char has none."""
    if not text.startswith("'"):
        return None  # a wide one
    inner = text[1:-1]
    if len(inner) == 1:
        return ord(inner) if ord(inner) < 128 else None
    number = _NUMBER.fullmatch(inner)
    value = (int(number[1], 16) if number[1] else int(number[2], 8)) if number else _SIMPLE.get(inner[1:])
    return value if inner[:1] == "\\" and value is not None and value < 128 else None


_SUFFIXES = {INT: "", UNSIGNED: "u", LONG: "L", ULONG: "UL", LLONG: "LL", ULLONG: "ULL"}


def literal(constant: Constant) -> str:
    """Return the text of a constant that has its value and its (promoted) type in any expression."""
    kind = promoted(constant.type)
    low, suffix = element_range(kind)[0], _SUFFIXES[kind]
    if constant.value == low < 0:
        return f"({constant.value + 1}{suffix} - 1)"
    return f"{constant.value}{suffix}"


# -- enumerations -------------------------------------------------------------------------------


def enumeration(values: Sequence[int | None]) -> tuple[ElementType | None, list[ElementType | None]]:
    """Return the type of an enumeration and those of its constants with these values.

    None stands for what is not known, or where compilers do not agree: the type of constants that fit an
    int in an enumeration that does not.
    """
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None, [None] * len(values)
    whole = _enum_type(min(known), max(known))
    if _holds(INT, min(known)) and _holds(INT, max(known)):
        return whole, [INT] * len(known)
    return whole, [None if _holds(INT, value) else whole for value in known]


def _enum_type(low: int, high: int) -> ElementType | None:
    candidates = (UNSIGNED, ULONG) if low >= 0 else (INT, LONG)
    return next((kind for kind in candidates if _holds(kind, low) and _holds(kind, high)), None)


def _holds(kind: ElementType, value: int) -> bool:
    low, high = element_range(kind)
    return low <= value <= high


# -- constants of type double --------------------------------------------------------------------


#: The integers up to here are numbers of type double, each its own.
EXACT = 1 << 53

_FLOATING: Mapping[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


def floating(node: c_ast.Node) -> float | None:
    """Return the value of a constant expression of type double, None where ``node`` is none.

    Such an expression has constants of that type and of integers, with ``+``, ``-``, ``*`` and ``/`` between.
    """
    if isinstance(node, c_ast.Constant) and node.type == "double":
        return _finite(_number(node.value))
    if isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-"):
        inner = floating(node.expr)
        return None if inner is None else inner if node.op == "+" else -inner
    if not isinstance(node, c_ast.BinaryOp) or node.op not in _FLOATING:
        return None
    sides = floating(node.left), floating(node.right)
    if sides == (None, None):
        return None  # of integers alone, or of more than constants
    left, right = (
        side if side is not None else _integer(operand)
        for side, operand in zip(sides, (node.left, node.right), strict=True)
    )
    if left is None or right is None or (node.op == "/" and not right):
        return None
    return _finite(_FLOATING[node.op](left, right))


def cut(node: c_ast.Node, kind: ElementType) -> Constant | None:
    """Return a constant expression of type double as an integer of type ``kind``, None if it does not fit."""
    number = floating(node)
    low, high = element_range(kind)
    if number is None or kind.name == "_Bool" or not low <= int(number) <= high:
        return None
    return Constant(int(number), kind)


def _number(text: str) -> float | None:
    """Return what a constant without a suffix stands for."""
    try:
        return float.fromhex(text) if text[:2].lower() == "0x" else float(text)
    except (ValueError, OverflowError):
        return None


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def _integer(node: c_ast.Node) -> float | None:
    """Return an integer constant as a number, None where it is none or not exactly one of type double."""
    found: Constant | None = integer_constant(node) if isinstance(node, c_ast.Constant) else None
    return float(found.value) if found is not None and abs(found.value) <= EXACT else None
