"""How structures lie in memory: sizes, alignments and the places of members, as on all 64-bit targets."""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast

from swbuild.expressions.types import ElementType
from swbuild.frontend.ctype import ArrayType, CType, Pointer, Scalar, StructType

__all__ = ["Extent", "element_types", "offset_of", "size_of"]

#: Returns the value of a constant extent, None where it has none.
Extent = Callable[[c_ast.Node], "int | None"]


def size_of(kind: CType, extent: Extent) -> int | None:
    """Return the size of a complete type in bytes, None where its layout is not known."""
    found = _layout(kind, extent)
    return None if found is None else found[0]


def offset_of(struct: StructType, member: str, extent: Extent) -> int | None:
    """Return where a member of a structure begins."""
    found = _members(struct, extent)
    return None if found is None else found[0].get(member)


def element_types(kind: CType) -> frozenset[ElementType | None]:
    """Return the types of the numbers in a type; None stands for whatever else is there."""
    if isinstance(kind, Scalar):
        return frozenset({kind.element})
    if isinstance(kind, ArrayType):
        return element_types(kind.target)
    if isinstance(kind, StructType) and kind.regular:
        return frozenset().union(*(element_types(inner) for inner in kind.fields.values()))
    return frozenset({None})


def _layout(kind: CType, extent: Extent) -> tuple[int, int] | None:
    """Return size and alignment."""
    if isinstance(kind, Scalar):
        return kind.element.size, kind.element.size
    if isinstance(kind, Pointer):
        return 8, 8
    if isinstance(kind, ArrayType):
        inner = _layout(kind.target, extent)
        count = extent(kind.extent) if kind.extent is not None else None
        return None if inner is None or count is None else (inner[0] * count, inner[1])
    if isinstance(kind, StructType) and kind.keyword == "struct":
        found = _members(kind, extent)
        return None if found is None else found[1:]
    return None


def _members(struct: StructType, extent: Extent) -> tuple[dict[str, int], int, int] | None:
    """Return the members' offsets, and the structure's size and alignment."""
    if not struct.fields or struct.bitfields or not struct.regular:
        return None
    offsets: dict[str, int] = {}
    end, widest = 0, 1
    for name, kind in struct.fields.items():
        inner = _layout(kind, extent)
        if inner is None:
            return None
        offsets[name] = _aligned(end, inner[1])
        end, widest = offsets[name] + inner[0], max(widest, inner[1])
    return offsets, _aligned(end, widest), widest


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment
