"""Names: which declaration every identifier of a function refers to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pycparser import c_ast

from swbuild.frontend.ctype import CType, FunctionType, OtherType, TypeNames
from swbuild.frontend.scop import Storage

__all__ = ["Bindings", "FileScope", "Symbol", "bind_function", "constant_value", "identifiers", "walk"]


@dataclass(eq=False, slots=True)
class Symbol:
    """One declared object; compared by identity, since names can be shadowed."""

    name: str
    type: CType
    storage: Storage
    node: c_ast.Node | None
    value: int | None = None  # of an enum constant
    is_static: bool = False


@dataclass(slots=True)
class FileScope:
    """Everything declared at file scope that survived pruning."""

    types: TypeNames = field(default_factory=TypeNames)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    functions: dict[str, c_ast.FuncDef] = field(default_factory=dict)
    prototypes: dict[str, c_ast.Decl] = field(default_factory=dict)
    #: Whether a function is declared with __attribute__((const)), which the parser does not see.
    is_const_function: Callable[[str], bool] = bool

    @classmethod
    def of(
        cls,
        tree: c_ast.FileAST,
        is_const_function: Callable[[str], bool],
        is_irregular: Callable[[c_ast.Node], bool],
    ) -> FileScope:
        """Collect the declarations of a parsed file."""
        scope = cls(is_const_function=is_const_function)
        scope.types.is_irregular = is_irregular
        for item in tree.ext:
            scope._add(item)
        return scope

    def _add(self, item: c_ast.Node) -> None:
        if isinstance(item, c_ast.Typedef):
            self._enum_constants(item.type)
            self.types.define(item.name, item.type)
        elif isinstance(item, c_ast.FuncDef):
            self.functions[item.decl.name] = item
        elif isinstance(item, c_ast.Decl):
            self._enum_constants(item.type)
            kind = self.types.resolve(item.type)
            if isinstance(kind, FunctionType):
                self.prototypes[item.name] = item
            elif item.name is not None:
                self.symbols[item.name] = Symbol(item.name, kind, Storage.GLOBAL, item)

    def _enum_constants(self, node: c_ast.Node) -> None:
        self.symbols.update(enum_symbols(node, self.symbols))


def enum_symbols(node: c_ast.Node, known: dict[str, Symbol]) -> dict[str, Symbol]:
    """Return the constants of the enums defined in a declarator."""
    found: dict[str, Symbol] = {}
    for enum in walk(node):
        if not isinstance(enum, c_ast.Enum) or enum.values is None:
            continue
        following = 0
        for item in enum.values.enumerators:
            if item.value is not None:
                value = constant_value(item.value, {**known, **found})
                following = 0 if value is None else value
            symbol = Symbol(item.name, OtherType("enum constant"), Storage.GLOBAL, item, following)
            found[item.name] = symbol
            following += 1
    return found


def constant_value(node: c_ast.Node, symbols: dict[str, Symbol]) -> int | None:
    """Return the value of an integer constant expression without casts, or None."""
    if isinstance(node, c_ast.Constant):
        return integer_constant(node)
    if isinstance(node, c_ast.ID):
        return symbols[node.name].value if node.name in symbols else None
    if isinstance(node, c_ast.UnaryOp) and node.op in ("-", "+"):
        inner = constant_value(node.expr, symbols)
        return None if inner is None else -inner if node.op == "-" else inner
    if isinstance(node, c_ast.BinaryOp):
        left, right = constant_value(node.left, symbols), constant_value(node.right, symbols)
        if left is not None and right is not None:
            return _fold(node.op, left, right)
    return None


def _fold(op: str, left: int, right: int) -> int | None:
    if op in ("/", "%") and right:
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if op == "/" else left - quotient * right
    if op in ("<<", ">>"):
        return (left << right if op == "<<" else left >> right) if 0 <= right < 63 else None
    simple = {"+": left + right, "-": left - right, "*": left * right, "|": left | right, "&": left & right}
    return simple.get(op)


def integer_constant(node: c_ast.Constant) -> int | None:
    """Return the value of an integer or character constant, or None for any other."""
    text = node.value
    if node.type == "char":
        return _character(text)
    if "int" not in node.type:
        return None
    digits = text.rstrip("uUlL")
    if digits[:2].lower() == "0b":
        return int(digits, 2)
    if len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX":
        return int(digits, 8)
    return int(digits, 0)


_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "\\": 92, "'": 39, '"': 34, "a": 7, "b": 8, "f": 12, "v": 11}


def _character(text: str) -> int | None:
    inner = text[1:-1]
    if len(inner) == 1:
        return ord(inner)
    return _ESCAPES.get(inner[1:]) if inner.startswith("\\") else None


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


def bind_function(function: c_ast.FuncDef, scope: FileScope) -> Bindings:
    """Resolve every identifier of ``function``."""
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

    def _visit_structref(self, node: c_ast.StructRef) -> None:
        self.visit(node.name)

    def _visit_typedef(self, node: c_ast.Typedef) -> None:
        self.scope.types.define(node.name, node.type)

    def _visit_decl(self, node: c_ast.Decl) -> None:
        self.stack[-1].update(enum_symbols(node.type, self.stack[-1]))
        if not isinstance(node.type, c_ast.FuncDecl):
            self.visit(node.type)
        if node.name is not None:
            static = "static" in node.storage or "extern" in node.storage
            kind = self.scope.types.resolve(node.type)
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
            if isinstance(item, c_ast.Pragma):
                self.bindings.visible[id(item)] = {k: v for names in self.stack for k, v in names.items()}
            self.visit(item)
        self.stack.pop()

    def _visit_for(self, node: c_ast.For) -> None:
        self.stack.append({})
        for child in node:
            self.visit(child)
        self.stack.pop()
