"""C types as the front end needs them, resolved from pycparser declarations (typedefs and tags looked
through).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pycparser import c_ast

from swbuild.frontend.scop import ElementType, TypeKind

__all__ = [
    "ArrayType",
    "BOOL",
    "CType",
    "DOUBLE",
    "FLOAT",
    "FunctionType",
    "INT",
    "LONG",
    "OtherType",
    "Pointer",
    "Scalar",
    "StructType",
    "TypeNames",
    "ULONG",
    "UNSIGNED",
    "common_type",
    "element_range",
    "is_integer",
]


@dataclass(frozen=True, slots=True)
class Scalar:
    """An arithmetic type."""

    element: ElementType
    const: bool = False
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer; ``restrict`` as declared."""

    target: CType
    restrict: bool = False


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array; ``extent`` is the size expression, ``None`` where the source gives none."""

    target: CType
    extent: c_ast.Node | None
    restrict: bool = False


@dataclass(slots=True)
class StructType:
    """A struct or union; ``fields`` is empty while incomplete,
    ``bitfields`` names those that have a width.

    ``regular``: its members lie where their types alone put them (all of them named, nothing packed).
    """

    keyword: str
    name: str | None
    fields: dict[str, CType] = field(default_factory=dict)
    bitfields: frozenset[str] = frozenset()
    alias: str | None = None  # the first typedef that names it
    node: c_ast.Node | None = None
    regular: bool = True


@dataclass(frozen=True, slots=True)
class FunctionType:
    """A function returning ``result``."""

    result: CType


@dataclass(frozen=True, slots=True)
class OtherType:
    """Void, complex, ``long double`` and whatever else kernels cannot hold."""

    name: str


CType = Scalar | Pointer | ArrayType | StructType | FunctionType | OtherType

INT = ElementType("int", 4, TypeKind.SIGNED)
UNSIGNED = ElementType("unsigned int", 4, TypeKind.UNSIGNED)
LONG = ElementType("long", 8, TypeKind.SIGNED)
ULONG = ElementType("unsigned long", 8, TypeKind.UNSIGNED)
FLOAT = ElementType("float", 4, TypeKind.FLOAT)
DOUBLE = ElementType("double", 8, TypeKind.FLOAT)
BOOL = ElementType("_Bool", 1, TypeKind.UNSIGNED)

_BASE = {
    "char": ElementType("char", 1, TypeKind.SIGNED),
    "signed char": ElementType("signed char", 1, TypeKind.SIGNED),
    "unsigned char": ElementType("unsigned char", 1, TypeKind.UNSIGNED),
    "short": ElementType("short", 2, TypeKind.SIGNED),
    "unsigned short": ElementType("unsigned short", 2, TypeKind.UNSIGNED),
    "int": INT,
    "unsigned int": UNSIGNED,
    "long": LONG,
    "unsigned long": ULONG,
    "long long": ElementType("long long", 8, TypeKind.SIGNED),
    "unsigned long long": ElementType("unsigned long long", 8, TypeKind.UNSIGNED),
    "float": FLOAT,
    "double": DOUBLE,
    "_Bool": BOOL,
}


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
    left, right = _promoted(left), _promoted(right)
    if left.size != right.size:
        return max(left, right, key=lambda t: t.size)
    return left if left.kind is TypeKind.UNSIGNED else right


def _promoted(element: ElementType) -> ElementType:
    return INT if element.size < INT.size else element


class TypeNames:
    """The typedefs, tags and enum constants of a file; turns declarators into :data:`CType` values."""

    def __init__(self) -> None:
        self.typedefs: dict[str, CType] = {}
        self.tags: dict[str, StructType] = {}
        #: Whether the structure that a node defines is packed or aligned, which the parser does not see.
        self.is_irregular: Callable[[c_ast.Node], bool] = _never

    def define(self, name: str, node: c_ast.Node) -> None:
        """Enter a typedef."""
        kind = self.typedefs[name] = self.resolve(node)
        if isinstance(kind, StructType) and kind.alias is None:
            kind.alias = name

    def resolve(self, node: c_ast.Node) -> CType:
        """Return the type that a declarator or type-name node denotes."""
        if isinstance(node, (c_ast.Decl, c_ast.Typename, c_ast.Typedef)):
            return self.resolve(node.type)
        if isinstance(node, c_ast.PtrDecl):
            return Pointer(self.resolve(node.type), "restrict" in node.quals)
        if isinstance(node, c_ast.ArrayDecl):
            return ArrayType(self.resolve(node.type), node.dim, "restrict" in (node.dim_quals or ()))
        if isinstance(node, c_ast.FuncDecl):
            return FunctionType(self.resolve(node.type))
        if isinstance(node, c_ast.TypeDecl):
            return self._qualified(node)
        if isinstance(node, (c_ast.Struct, c_ast.Union)):
            return self._struct(node)
        if isinstance(node, c_ast.Enum):
            return Scalar(INT)
        return OtherType(type(node).__name__)

    def _qualified(self, node: c_ast.TypeDecl) -> CType:
        inner = node.type
        base = self._named(inner.names) if isinstance(inner, c_ast.IdentifierType) else self.resolve(inner)
        if isinstance(base, Scalar):
            const = base.const or "const" in node.quals
            volatile = base.volatile or "volatile" in node.quals or "_Atomic" in node.quals
            return Scalar(base.element, const, volatile)
        return base

    def _named(self, names: list[str]) -> CType:
        if len(names) == 1 and names[0] in self.typedefs:
            return self.typedefs[names[0]]
        key = _canonical(names)
        if key in _BASE:
            return Scalar(_BASE[key])
        return OtherType(key)

    def _struct(self, node: c_ast.Struct | c_ast.Union) -> StructType:
        keyword = "struct" if isinstance(node, c_ast.Struct) else "union"
        if node.name is not None and node.name in self.tags:
            found = self.tags[node.name]
        else:
            found = StructType(keyword, node.name)
            if node.name is not None:
                self.tags[node.name] = found
        if node.decls and not found.fields:
            found.node = node
            found.regular = not self.is_irregular(node)
            for member in node.decls:
                if not isinstance(member, c_ast.Decl) or member.name is None:
                    found.regular = False
                    inner = self.resolve(member.type) if isinstance(member, c_ast.Decl) else None
                    if isinstance(inner, StructType) and inner.keyword == "struct" and inner.name is None:
                        found.fields.update(inner.fields)  # the members of an unnamed one are its own
                else:
                    found.fields[member.name] = self.resolve(member.type)
                    if member.bitsize is not None:
                        found.bitfields |= {member.name}
        return found


def _never(node: c_ast.Node) -> bool:
    return False


def _canonical(names: list[str]) -> str:
    words = list(names)
    if "_Complex" in words:
        return "complex"
    unsigned = "unsigned" in words
    signed = "signed" in words
    longs = words.count("long")
    rest = [w for w in words if w not in ("unsigned", "signed", "long", "int", "short")]
    if rest == ["char"]:
        return ("unsigned " if unsigned else "signed " if signed else "") + "char"
    if rest:
        return " ".join(["long"] * longs + rest)
    size = "short" if "short" in words else " ".join(["long"] * longs) if longs else "int"
    return ("unsigned " if unsigned else "") + size
