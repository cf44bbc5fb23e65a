"""C types as the front end needs them, resolved from pycparser declarations (typedefs and tags looked
through).
"""

from __future__ import annotations

from copy import copy
from dataclasses import field, replace

from pycparser import c_ast, c_generator

from swbuild.classes import dataclass
from swbuild.expressions.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    LLONG,
    LONG,
    ULLONG,
    ULONG,
    UNSIGNED,
    ElementType,
    TypeKind,
)
from swbuild.frontend.attributes import Attributes

__all__ = [
    "ArrayType",
    "CType",
    "FunctionType",
    "OtherType",
    "Pointer",
    "Scalar",
    "StructType",
    "TypeNames",
    "UNKNOWN_ENUMERATION",
    "UNMODELLED",
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
    unfit: str = ""  # the attribute that keeps its members from being used


@dataclass(frozen=True, slots=True)
class FunctionType:
    """A function returning ``result``."""

    result: CType


@dataclass(frozen=True, slots=True)
class OtherType:
    """Void, complex, ``long double`` and whatever else kernels cannot hold."""

    name: str


CType = Scalar | Pointer | ArrayType | StructType | FunctionType | OtherType

#: Types of the compiler's own that the parser takes for names.
UNMODELLED = frozenset(
    [
        *(f"_Float{bits}" for bits in ("16", "32", "64", "128", "32x", "64x", "128x")),
        *(f"_Decimal{bits}" for bits in (32, 64, 128)),
        *("__float128", "__float80", "__ibm128", "__fp16", "__bf16", "__int128_t", "__uint128_t"),
    ]
)

#: What the name of a type says that has no model.
UNKNOWN_ENUMERATION = "of an enumeration whose values are not known here, or whose type compilers choose"

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
    "long long": LLONG,
    "unsigned long long": ULLONG,
    "float": FLOAT,
    "double": DOUBLE,
    "_Bool": BOOL,
}


class TypeNames:
    """The typedefs, tags and enum constants of a file; turns declarators into :data:`CType` values."""

    def __init__(self, attributes: Attributes | None = None) -> None:
        self._attributes = attributes or Attributes()
        self.typedefs: dict[str, CType] = {}
        self.tags: dict[str, CType] = {}
        self._enums: dict[int, CType] = {}
        self._homes: dict[str, str] = {}

    def inner(self) -> TypeNames:
        """Return a copy that may learn more names."""
        copied = copy(self)
        copied.typedefs, copied.tags = dict(self.typedefs), dict(self.tags)
        copied._enums, copied._homes = dict(self._enums), dict(self._homes)
        return copied

    def define(self, node: c_ast.Typedef) -> None:
        """Enter a typedef; a name that means several types in several blocks stands for none of them."""
        name, kind = node.name, self.resolve(node)
        if self._attributes.of_alignment(node) and not _is_made_at(kind, node, self._attributes):
            kind = OtherType(f"{name}, whose alignment is not that of its kind")
        if self._hides(name, node) and not _same(kind, self.typedefs[name]):
            kind = _ambiguous(name)
        self.typedefs[name] = kind
        if isinstance(kind, StructType) and kind.alias is None:
            kind.alias = name

    def define_enum(self, node: c_ast.Enum, element: ElementType | None) -> None:
        """Enter the type of an enumeration where it is defined (None: not known)."""
        odd = self._attributes.of_type(node) or self._attributes.of_members(node)
        kind: CType = OtherType(UNKNOWN_ENUMERATION) if element is None else Scalar(element)
        kind = kind if odd is None else OtherType(f"of an enumeration with the attribute {odd}")
        self._enums[id(node)] = kind
        if node.name is not None:
            hides = self._hides(f"enum {node.name}", node) and not _same(kind, self.tags[node.name])
            self.tags[node.name] = _ambiguous(f"enum {node.name}") if hides else kind

    def _hides(self, name: str, node: c_ast.Node) -> bool:
        """Whether ``name`` is known from another place in the source."""
        home = str(node.coord)
        return self._homes.setdefault(name, home) != home

    def resolve(self, node: c_ast.Node) -> CType:
        """Return the type that a declarator or type-name node denotes."""
        if isinstance(node, (c_ast.Decl, c_ast.Typename, c_ast.Typedef)):
            return self.resolve(node.type)
        if isinstance(node, c_ast.PtrDecl):
            if _UNSTEADY & set(node.quals):
                return OtherType("volatile or atomic pointer")
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
            known = self._enums.get(id(node)) if node.values is not None else self.tags.get(node.name)
            return known or OtherType(f"enum {node.name}, which is not defined here")
        return OtherType(type(node).__name__)

    def _qualified(self, node: c_ast.TypeDecl) -> CType:
        inner = node.type
        odd = self._attributes.of_type(node if node.coord is not None else inner)
        if odd is not None:
            return OtherType(f"with the attribute {odd}")
        base = self._named(inner.names) if isinstance(inner, c_ast.IdentifierType) else self.resolve(inner)
        return _with_qualifiers(base, "const" in node.quals, bool(_UNSTEADY & set(node.quals)))

    def _named(self, names: list[str]) -> CType:
        if len(names) == 1 and names[0] in UNMODELLED:
            return OtherType(names[0])
        if len(names) == 1 and names[0] in self.typedefs:
            return self.typedefs[names[0]]
        key = _canonical(names)
        if key in _BASE:
            return Scalar(_BASE[key])
        return OtherType(key)

    def _struct(self, node: c_ast.Struct | c_ast.Union) -> CType:
        keyword = "struct" if isinstance(node, c_ast.Struct) else "union"
        found = self.tags.get(node.name) if node.name is not None else None
        if node.decls and self._is_other(found, f"{keyword} {node.name}", node):
            found = _ambiguous(f"{keyword} {node.name}")
        if found is None:
            found = StructType(keyword, node.name)
        if node.name is not None:
            self.tags[node.name] = found
        if isinstance(found, StructType) and node.decls and not found.fields:
            self._fill(found, node)
        return found

    def _is_other(self, found: CType | None, name: str, node: c_ast.Node) -> bool:
        """Whether ``node`` defines another type than the one known by its tag."""
        if found is None or (isinstance(found, StructType) and not found.fields):
            self._homes[name] = str(node.coord)
            return False
        return self._hides(name, node)

    def _fill(self, found: StructType, node: c_ast.Struct | c_ast.Union) -> None:
        found.node = node
        found.unfit = self._attributes.of_members(node) or ""
        found.regular = not found.unfit and self._attributes.of_alignment(node) is None
        for member in node.decls:
            found.unfit = found.unfit or self._attributes.of_members(member) or ""
            if found.unfit or self._attributes.of_alignment(member) is not None:
                found.regular = False
            if not isinstance(member, c_ast.Decl) or member.name is None:
                found.regular = False
                inner = self.resolve(member.type) if isinstance(member, c_ast.Decl) else None
                if isinstance(inner, StructType) and inner.keyword == "struct" and inner.name is None:
                    found.fields.update(inner.fields)  # the members of an unnamed one are its own
            else:
                found.fields[member.name] = self.resolve(member.type)
                if member.bitsize is not None:
                    found.bitfields |= {member.name}


_UNSTEADY = {"volatile", "_Atomic"}


def _with_qualifiers(kind: CType, const: bool, volatile: bool) -> CType:
    """Return ``kind`` qualified: the qualifiers of an array are those of its elements."""
    if isinstance(kind, Scalar):
        return Scalar(kind.element, kind.const or const, kind.volatile or volatile)
    if isinstance(kind, ArrayType) and (const or volatile):
        return replace(kind, target=_with_qualifiers(kind.target, const, volatile))
    if isinstance(kind, (StructType, Pointer)) and volatile:
        return OtherType("volatile structure or pointer")
    return kind


def _is_made_at(kind: CType, node: c_ast.Node, attributes: Attributes) -> bool:
    """Whether ``kind`` is a structure that the very declaration ``node`` defines (and that knows of it)."""
    return isinstance(kind, StructType) and kind.node is not None and bool(attributes.of_alignment(kind.node))


def _ambiguous(name: str) -> OtherType:
    return OtherType(f"{name}, which names different types in different blocks")


def _same(first: CType, second: CType) -> bool:
    """Whether two types are the same, sizes of arrays by their text."""
    if type(first) is not type(second):
        return False
    if isinstance(first, StructType):
        return first is second
    if isinstance(first, ArrayType) and isinstance(second, ArrayType):
        return _text(first.extent) == _text(second.extent) and _same(first.target, second.target)
    if isinstance(first, Pointer) and isinstance(second, Pointer):
        return first.restrict == second.restrict and _same(first.target, second.target)
    if isinstance(first, FunctionType) and isinstance(second, FunctionType):
        return _same(first.result, second.result)
    return first == second


def _text(node: c_ast.Node | None) -> str:
    return "" if node is None else str(c_generator.CGenerator().visit(node))


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
