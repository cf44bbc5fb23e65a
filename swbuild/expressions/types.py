"""The arithmetic types of C and the conversions between them."""

from __future__ import annotations

from enum import Enum

from swbuild.classes import dataclass

__all__ = [
    "BOOL",
    "DOUBLE",
    "FLOAT",
    "INT",
    "LLONG",
    "LONG",
    "ULLONG",
    "ULONG",
    "UNSIGNED",
    "ElementType",
    "TypeKind",
    "common_type",
    "element_range",
    "is_integer",
    "operation_type",
    "promoted",
    "result_type",
]


class TypeKind(Enum):
    """The arithmetic family of an element type."""

    FLOAT = "float"
    SIGNED = "signed"
    UNSIGNED = "unsigned"


@dataclass(frozen=True, slots=True)
class ElementType:
    """A scalar C type with typedefs resolved: its spelling (``double``,
    ``unsigned long``) and size in bytes.
    """

    name: str
    size: int
    kind: TypeKind


INT = ElementType("int", 4, TypeKind.SIGNED)
UNSIGNED = ElementType("unsigned int", 4, TypeKind.UNSIGNED)
LONG = ElementType("long", 8, TypeKind.SIGNED)
ULONG = ElementType("unsigned long", 8, TypeKind.UNSIGNED)
LLONG = ElementType("long long", 8, TypeKind.SIGNED)
ULLONG = ElementType("unsigned long long", 8, TypeKind.UNSIGNED)
FLOAT = ElementType("float", 4, TypeKind.FLOAT)
DOUBLE = ElementType("double", 8, TypeKind.FLOAT)
BOOL = ElementType("_Bool", 1, TypeKind.UNSIGNED)


def is_integer(element: ElementType) -> bool:
    """Whether the type is an integer type."""
    return element.kind is not TypeKind.FLOAT


def element_range(element: ElementType) -> tuple[int, int]:
    """Return the smallest and largest value of an integer type."""
    if element.name == "_Bool":
        return 0, 1
    bits = 8 * element.size
    return (
        (0, 2**bits - 1) if element.kind is TypeKind.UNSIGNED else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )


def common_type(left: ElementType, right: ElementType) -> ElementType:
    """Return the type of a binary arithmetic operation (C's usual arithmetic conversions)."""
    if TypeKind.FLOAT in (left.kind, right.kind):
        floats = [t for t in (left, right) if t.kind is TypeKind.FLOAT]
        return max(floats, key=lambda t: t.size)
    low, high = sorted((promoted(left), promoted(right)), key=_rank)
    if low.kind is high.kind or high.kind is TypeKind.UNSIGNED:
        return high
    if _rank(low) == _rank(high):
        return low
    return high if high.size > low.size else _UNSIGNED[high]


_UNSIGNED = {INT: UNSIGNED, LONG: ULONG, LLONG: ULLONG}


def _rank(element: ElementType) -> int:
    """Return the place of a promoted integer type in C's order: types of one size differ in it."""
    return element.size + ("long long" in element.name)


def promoted(element: ElementType) -> ElementType:
    """Return the type of an integer behind the integer promotions."""
    return INT if element.size < INT.size else element


#: Operators whose result is 0 or 1.
_RELATIONS = frozenset(("<", "<=", ">", ">=", "==", "!=", "&&", "||"))


def operation_type(operator: str, left: ElementType, right: ElementType) -> ElementType:
    """Return the type in which ``left operator right`` is computed: the left operand's in a shift."""
    if operator in ("&&", "||"):
        return INT
    return promoted(left) if operator in ("<<", ">>") else common_type(left, right)


def result_type(operator: str, computed: ElementType) -> ElementType:
    """Return the type of what an operation that is done in the type ``computed`` yields."""
    return INT if operator in _RELATIONS else computed
