"""The C text of functions that statements call, such that it stands on its own in another file."""

from __future__ import annotations

import copy

from pycparser import c_ast, c_generator

from swbuild.frontend.constants import literal
from swbuild.frontend.ctype import Scalar
from swbuild.frontend.symbols import FileScope, walk

__all__ = ["expression_text", "standalone"]


def standalone(node: c_ast.FuncDef | c_ast.Decl, scope: FileScope) -> str:
    """Return the text of a function or prototype with its typedefs and enum constants resolved."""
    node = copy.deepcopy(node)
    declaration = node.decl if isinstance(node, c_ast.FuncDef) else node
    declaration.storage = [s for s in declaration.storage if s not in ("extern", "static")]
    _resolve_types(node, scope)
    _resolve_constants(node, scope)
    text = str(c_generator.CGenerator().visit(node)).strip()
    return f"static {text}" if isinstance(node, c_ast.FuncDef) else f"{text};"


def expression_text(node: c_ast.Node, scope: FileScope) -> str:
    """Return the text of an expression with enum constants resolved."""
    holder = c_ast.ExprList([copy.deepcopy(node)])
    _resolve_constants(holder, scope)
    return str(c_generator.CGenerator().visit(holder.exprs[0]))


def _resolve_types(node: c_ast.Node, scope: FileScope) -> None:
    for item in walk(node):
        if isinstance(item, c_ast.IdentifierType) and len(item.names) == 1:
            kind = scope.types.typedefs.get(item.names[0])
            if isinstance(kind, Scalar):
                item.names = kind.element.name.split()
        elif isinstance(item, c_ast.TypeDecl) and isinstance(item.type, c_ast.Enum):
            kind = scope.types.resolve(item.type)
            if isinstance(kind, Scalar):
                item.type = c_ast.IdentifierType(kind.element.name.split())


def _resolve_constants(node: c_ast.Node, scope: FileScope) -> None:
    for parent in walk(node):
        for name in parent.__slots__:
            child = getattr(parent, name, None)
            if isinstance(child, c_ast.ID) and not (isinstance(parent, c_ast.FuncCall) and name == "name"):
                setattr(parent, name, _constant(child, scope))
            elif isinstance(child, list):
                child[:] = [_constant(c, scope) if isinstance(c, c_ast.ID) else c for c in child]


def _constant(node: c_ast.ID, scope: FileScope) -> c_ast.Node:
    symbol = scope.symbols.get(node.name)
    if symbol is None or symbol.constant is None:
        return node
    text = literal(symbol.constant)
    return c_ast.Constant("int", f"({text})" if text.startswith("-") else text, node.coord)
