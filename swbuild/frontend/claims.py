"""What the model of a region relies on of C types, as conditions that the compiler can decide.

A claim is a constant expression over the user's own names.  It is true where the compiler gives an
expression the type that the model gives it, or puts a member where the model puts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.diagnostics import Span
from swbuild.expressions.types import ElementType, TypeKind
from swbuild.frontend.ctype import ArrayType, CType, Pointer, Scalar
from swbuild.frontend.layout import Extent
from swbuild.frontend.places import Place
from swbuild.frontend.problems import Locator
from swbuild.frontend.scop import Storage
from swbuild.frontend.symbols import Bindings

__all__ = ["Claim", "claims_inside", "claims_of_places", "claims_of_typedefs"]


@dataclass(frozen=True, slots=True)
class Claim:
    """``condition`` is what the model takes for true of ``what``, which is declared at ``span``.

    ``inner``: it is about the declarator of this number in the region; else about what is in sight there.
    """

    condition: str
    what: str
    read_as: str
    span: Span
    inner: int | None = None


def claims_of_places(places: Iterable[Place], extent: Extent, locator: Locator) -> Iterator[Claim]:
    """Yield what is taken for true of places that are in sight at the region."""
    for place in places:
        if place.symbol.storage is Storage.REGION or place.symbol.node is None:
            continue
        span = locator.span(place.symbol.node)
        record = place.kind if place.record is None else place.record
        rank = len(place.subscripts) - (place.record is not None)
        base = place.path + "[0]" * rank
        whole = base if place.record is None else f"{base}.{place.layout[0][0]}"
        yield from _typed(whole, place.element.element, place.path, span)
        yield from _extents(place, record, extent, span)
        for member, offset in place.layout:
            condition = f"__builtin_offsetof(__typeof__({base}), {member}) == {offset}"
            yield Claim(condition, place.path, f"a structure with '{member}' at byte {offset}", span)
        if place.record is not None:
            size = _row(place.kind) * place.element.element.size
            read_as = f"an array of structures of {size} bytes"
            yield Claim(f"sizeof({base}) == {size}", place.path, read_as, span)


def claims_inside(declared: Sequence[c_ast.Node], bindings: Bindings, locator: Locator) -> Iterator[Claim]:
    """Yield what is taken for true of all that the region declares, given in textual order."""
    for number, node in enumerate(declared):
        symbol = bindings.declared[id(node)]
        text, kind = symbol.name, symbol.type
        while isinstance(kind, (ArrayType, Pointer)):
            text, kind = f"{text}[0]", kind.target
        if isinstance(kind, Scalar):
            for claim in _typed(text, kind.element, symbol.name, locator.span(node)):
                yield replace(claim, inner=number)


def claims_of_typedefs(names: Iterable[tuple[str, CType]], span: Span) -> Iterator[Claim]:
    """Yield what is taken for true of types that the source names."""
    for name, kind in names:
        if isinstance(kind, Scalar):
            yield from _typed(f"*({name} *)0", kind.element, name, span)


def _typed(expression: str, element: ElementType, what: str, span: Span) -> Iterator[Claim]:
    """Yield that an expression has the type of this name, and that the type is what it is taken for."""
    name = element.name
    yield Claim(f"_Generic(({expression}), {name}: 1, default: 0)", what, f"'{name}'", span)
    negative = int(element.kind is not TypeKind.UNSIGNED)
    real = int(element.kind is TypeKind.FLOAT)
    values = f"(({name})-1 < 0) == {negative} && (({name})1.5 == 1.5) == {real}"
    kind = element.kind.value if real else f"{element.kind.value} integer"
    read_as = f"'{name}' ({kind}, {element.size} bytes)"
    yield Claim(f"sizeof({name}) == {element.size} && {values}", what, read_as, span)


def _extents(place: Place, kind: CType, value: Extent, span: Span) -> Iterator[Claim]:
    """Yield the constant extents of an array (the outermost one of a parameter is none)."""
    text, symbol = place.path, place.symbol
    while isinstance(kind, (ArrayType, Pointer)):
        adjusted = symbol.storage is Storage.PARAMETER and text == symbol.name
        extent = kind.extent if isinstance(kind, ArrayType) and not adjusted else None
        count = None if extent is None else value(extent)
        if count is not None and isinstance(kind, ArrayType) and _is_sized(kind.target, value):
            condition = f"sizeof({text}) / sizeof(({text})[0]) == {count}"
            yield Claim(condition, place.path, f"an array of {count}", span)
        text, kind = f"{text}[0]", kind.target


def _is_sized(kind: CType, value: Extent) -> bool:
    """Whether the size of a type is a constant: it is none for rows whose length is a variable."""
    if not isinstance(kind, ArrayType):
        return True
    return kind.extent is not None and value(kind.extent) is not None and _is_sized(kind.target, value)


def _row(kind: CType) -> int:
    """Return the innermost extent of an array of structures seen as rows of numbers."""
    while isinstance(kind, (ArrayType, Pointer)) and isinstance(kind.target, (ArrayType, Pointer)):
        kind = kind.target
    assert isinstance(kind, ArrayType) and isinstance(kind.extent, c_ast.Constant)
    return int(kind.extent.value)
