"""Copies of statements for several places, with other variables or values in the place of some."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pycparser import c_ast

from swbuild.frontend.symbols import Bindings, Symbol, identifiers, walk
from swbuild.frontend.syntax import change_children

__all__ = ["copied_apart", "with_values"]


def copied_apart(
    node: c_ast.Node, bindings: Bindings, now: Mapping[Symbol, Symbol] | None = None
) -> c_ast.Node:
    """Return a copy of ``node`` with variables of its own for those that it declares.

    Others are what they are ``now``.
    """
    twin = bindings.copied(node)
    fresh: dict[Symbol, Symbol] = dict(now or {})
    for old, new in zip(walk(node), walk(twin), strict=True):
        symbol = bindings.declared.get(id(old))
        if symbol is not None:
            bindings.declared[id(new)] = fresh[symbol] = replace(symbol, node=new)
    for name in list(identifiers(twin)):
        symbol = bindings.symbol(name)
        if symbol in fresh:
            bindings.uses[id(name)] = fresh[symbol]
            name.name = fresh[symbol].name
    return twin


def with_values(node: c_ast.Node, values: Mapping[Symbol, c_ast.Node], bindings: Bindings) -> c_ast.Node:
    """Return ``node`` with ``values`` in the place of variables, in place below."""
    if isinstance(node, c_ast.ID):
        symbol = bindings.symbol(node)
        value = None if symbol is None else values.get(symbol)
        return node if value is None else bindings.copied(value)
    change_children(node, lambda child: with_values(child, values, bindings))
    return node
