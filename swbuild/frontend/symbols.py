"""Names: which declaration every identifier of a function refers to."""

from __future__ import annotations

import copy
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.expressions.types import INT, ElementType
from swbuild.frontend.attributes import Attributes
from swbuild.frontend.constants import Constant, Evaluator, enumeration
from swbuild.frontend.ctype import (
    UNKNOWN_ENUMERATION,
    CType,
    FunctionType,
    OtherType,
    Pointer,
    Scalar,
    TypeNames,
)
from swbuild.frontend.scop import Storage

__all__ = ["Bindings", "FileScope", "Symbol", "bind_function", "enum_symbols", "identifiers", "walk"]


@dataclass(eq=False, slots=True)
class Symbol:
    """One declared object; compared by identity, since names can be shadowed."""

    name: str
    type: CType
    storage: Storage
    node: c_ast.Node | None
    value: int | None = None  # of an enum constant
    element: ElementType = INT  # of an enum constant
    is_static: bool = False
    #: Whether it is of the model alone: the rows that the table of pointers ``name`` leads to.
    is_made: bool = False
    #: How many pointers that table has, where its declaration says it.
    count: c_ast.Node | None = None

    @property
    def constant(self) -> Constant | None:
        """What the name of an enum constant stands for, None for all other names."""
        return None if self.value is None else Constant(self.value, self.element)


@dataclass(slots=True)
class FileScope:
    """Everything declared at file scope that survived pruning."""

    types: TypeNames = field(default_factory=TypeNames)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    functions: dict[str, c_ast.FuncDef] = field(default_factory=dict)
    prototypes: dict[str, c_ast.Decl] = field(default_factory=dict)
    #: The typedefs that stand before each function.
    typedefs_before: dict[str, frozenset[str]] = field(default_factory=dict)
    #: Every name in the file and in the headers that are not the system's.
    words: frozenset[str] = frozenset()
    #: The file as the preprocessor gives it.
    text: str = ""
    #: Tells the file from any other.
    tag: str = ""
    #: Whether a function is declared with __attribute__((const)), which the parser does not see.
    is_const_function: Callable[[str], bool] = bool
    #: Whether the file, or a header that is not the system's, may have the body of a function.
    is_defined: Callable[[str], bool] = bool

    @classmethod
    def of(
        cls,
        tree: c_ast.FileAST,
        is_const_function: Callable[[str], bool],
        attributes: Attributes,
    ) -> FileScope:
        """Collect the declarations of a parsed file."""
        scope = cls(TypeNames(attributes), is_const_function=is_const_function)
        for item in tree.ext:
            scope._add(item)
        return scope

    def _add(self, item: c_ast.Node) -> None:
        if isinstance(item, (c_ast.Typedef, c_ast.Decl, c_ast.FuncDef)):
            self._enum_constants(item.decl if isinstance(item, c_ast.FuncDef) else item.type)
        if isinstance(item, c_ast.Typedef):
            self.types.define(item)
        elif isinstance(item, c_ast.FuncDef):
            self.functions[item.decl.name] = item
            self.typedefs_before[item.decl.name] = frozenset(self.types.typedefs)
        elif isinstance(item, c_ast.Decl):
            kind = self.types.resolve(item.type)
            if isinstance(kind, FunctionType):
                self.prototypes[item.name] = item
            elif item.name is not None:
                self.symbols[item.name] = Symbol(item.name, kind, Storage.GLOBAL, item)

    def inner(self) -> FileScope:
        """Return a scope of its own for one region, whose function may define types."""
        return replace(self, types=self.types.inner(), symbols=dict(self.symbols))

    def hide(self, function: c_ast.FuncDef) -> None:
        """Forget the constants whose names mean something else in ``function``: they go by their names."""
        for node in walk(function):
            if isinstance(node, (c_ast.Decl, c_ast.Enumerator)) and self.is_constant(node.name):
                del self.symbols[node.name]

    def is_constant(self, name: str | None) -> bool:
        """Whether ``name`` is that of an enum constant of the file."""
        return name in self.symbols and self.symbols[name].value is not None

    def constant(self, node: c_ast.Node) -> Constant | None:
        """Return the value of an integer constant expression, None for any other."""
        return Evaluator(_named(self.symbols), self.types.resolve).value(node)

    def integer(self, node: c_ast.Node) -> int | None:
        """Return the plain value of an integer constant expression, None for any other."""
        known = self.constant(node)
        return None if known is None else known.value

    def _enum_constants(self, node: c_ast.Node) -> None:
        for enum in walk(node):
            if isinstance(enum, c_ast.Enum) and enum.values is not None:
                self.symbols.update(enum_symbols(enum, self.symbols, self.types))


def enum_symbols(enum: c_ast.Enum, known: Mapping[str, Symbol], types: TypeNames) -> dict[str, Symbol]:
    """Return the constants that ``enum`` defines where ``known`` names are visible; tell ``types`` of it."""
    found: dict[str, Symbol] = {}
    evaluator = Evaluator(_named(ChainMap(found, dict(known))), types.resolve)
    following: int | None = 0
    for item in enum.values.enumerators:
        if item.value is not None:
            value = evaluator.value(item.value)
            following = None if value is None else value.value
        found[item.name] = _enum_constant(item, following, INT)
        following = None if following is None else following + 1
    whole, types_of = enumeration([symbol.value for symbol in found.values()])
    for (name, symbol), element in zip(list(found.items()), types_of, strict=True):
        found[name] = _enum_constant(symbol.node, symbol.value, element)
    types.define_enum(enum, whole)
    return found


def _enum_constant(node: c_ast.Node | None, value: int | None, element: ElementType | None) -> Symbol:
    assert isinstance(node, c_ast.Enumerator)
    if value is None or element is None:
        return Symbol(node.name, OtherType(UNKNOWN_ENUMERATION), Storage.GLOBAL, node)
    return Symbol(node.name, OtherType("enum constant"), Storage.GLOBAL, node, value, element)


def _named(symbols: Mapping[str, Symbol]) -> Callable[[c_ast.ID], Constant | None]:
    def find(node: c_ast.ID) -> Constant | None:
        symbol = symbols.get(node.name)
        return symbol.constant if symbol is not None else None

    return find


def walk(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield ``node`` and all below it, in textual order."""
    pending = [node]
    while pending:
        item = pending.pop()
        yield item
        pending += reversed(list(item))


def identifiers(node: c_ast.Node) -> Iterator[c_ast.ID]:
    """Yield the identifiers below ``node`` that name objects or functions (no struct members)."""
    pending = [node]
    while pending:
        item = pending.pop()
        if isinstance(item, c_ast.ID):
            yield item
        elif isinstance(item, c_ast.StructRef):
            pending.append(item.name)
        else:
            pending += reversed(list(item))


@dataclass(slots=True)
class Bindings:
    """What each identifier node means, and the symbol that each declaration makes."""

    uses: dict[int, Symbol] = field(default_factory=dict)
    declared: dict[int, Symbol] = field(default_factory=dict)
    visible: dict[int, dict[str, Symbol]] = field(default_factory=dict)
    #: Nodes made later on; kept alive, since uses and declarations are known by identity.
    kept: list[c_ast.Node] = field(default_factory=list)

    def symbol(self, node: c_ast.ID) -> Symbol | None:
        """Return the object that an identifier names, None for functions and the undeclared."""
        return self.uses.get(id(node))

    def copied(self, node: c_ast.Node) -> c_ast.Node:
        """Return a copy of ``node`` whose names mean the same."""
        twin = copy.deepcopy(node)
        for old, new in zip(walk(node), walk(twin), strict=True):
            if id(old) in self.uses:
                self.uses[id(new)] = self.uses[id(old)]
        self.kept.append(twin)
        return twin

    def named(self, symbol: Symbol, at: c_ast.Node) -> c_ast.ID:
        """Return a new node that names ``symbol``, at the place of the node ``at``."""
        node = c_ast.ID(symbol.name, at.coord)
        self.uses[id(node)] = symbol
        self.kept.append(node)
        return node

    def variable(self, name: str, kind: Scalar, value: c_ast.Node) -> tuple[Symbol, c_ast.Decl]:
        """Return a new local variable, and its declaration with an initial value."""
        names = c_ast.IdentifierType(kind.element.name.split())
        inner = c_ast.TypeDecl(name, [], None, names, value.coord)
        declaration = c_ast.Decl(name, [], [], [], [], inner, value, None, value.coord)
        symbol = Symbol(name, kind, Storage.LOCAL, declaration)
        self.declared[id(declaration)] = symbol
        self.kept.append(declaration)
        return symbol, declaration


def bind_function(function: c_ast.FuncDef, scope: FileScope) -> Bindings:
    """Resolve every identifier of ``function``.

    Calls of variables are spelled ``(*f)(x)`` from then on, so that calls by name are those of functions.
    """
    binder = _Binder(scope)
    params = function.decl.type.args
    for parameter in params.params if params is not None else ():
        binder.visit(parameter)
    binder.storage = Storage.LOCAL
    binder.visit(function.body)
    return binder.bindings


class _Binder:
    def __init__(self, scope: FileScope) -> None:
        self.scope = scope
        self.stack: list[dict[str, Symbol]] = [dict(scope.symbols)]
        self.bindings = Bindings()
        self.storage = Storage.PARAMETER

    def visit(self, node: c_ast.Node) -> None:
        method = getattr(self, f"_visit_{type(node).__name__.lower()}", None)
        if method is not None:
            method(node)
        else:
            for child in node:
                self.visit(child)

    def _visit_id(self, node: c_ast.ID) -> None:
        for names in reversed(self.stack):
            if node.name in names:
                self.bindings.uses[id(node)] = names[node.name]
                return

    def _visit_funccall(self, node: c_ast.FuncCall) -> None:
        for child in node:
            self.visit(child)
        if isinstance(node.name, c_ast.ID) and self.bindings.symbol(node.name) is not None:
            node.name = c_ast.UnaryOp("*", node.name, node.name.coord)

    def _visit_structref(self, node: c_ast.StructRef) -> None:
        self.visit(node.name)

    def _visit_enum(self, node: c_ast.Enum) -> None:
        if node.values is not None:
            known = {name: symbol for names in self.stack for name, symbol in names.items()}
            self.stack[-1].update(enum_symbols(node, known, self.scope.types))

    def _visit_typedef(self, node: c_ast.Typedef) -> None:
        self.visit(node.type)
        self.scope.types.define(node)

    def _visit_decl(self, node: c_ast.Decl) -> None:
        if not isinstance(node.type, c_ast.FuncDecl):
            self.visit(node.type)
        kind = self.scope.types.resolve(node.type)
        if isinstance(kind, FunctionType) and self.storage is Storage.PARAMETER:
            kind = Pointer(kind)
        if node.name is not None:
            static = "static" in node.storage or "extern" in node.storage
            symbol = Symbol(
                node.name, kind, Storage.GLOBAL if static else self.storage, node, is_static=static
            )
            if not isinstance(kind, FunctionType):
                self.stack[-1][node.name] = symbol
                self.bindings.declared[id(node)] = symbol
        if node.init is not None:
            self.visit(node.init)

    def _visit_struct(self, node: c_ast.Struct) -> None:
        """Members are no objects of their own; only their extents name any."""
        for member in node.decls or ():
            if isinstance(member, c_ast.Decl):
                self.visit(member.type)

    def _visit_union(self, node: c_ast.Union) -> None:
        self._visit_struct(node)

    def _visit_compound(self, node: c_ast.Compound) -> None:
        self.stack.append({})
        for item in node.block_items or ():
            self.visit(item)
        self.stack.pop()

    def _visit_pragma(self, node: c_ast.Pragma) -> None:
        self.bindings.visible[id(node)] = {k: v for names in self.stack for k, v in names.items()}

    def _visit_for(self, node: c_ast.For) -> None:
        self.stack.append({})
        for child in node:
            self.visit(child)
        self.stack.pop()
