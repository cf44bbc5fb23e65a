"""Loops whose steps change roles in turn: pointers that change places, or what is done in every other step.

``for (t …) { b[i] = f(a[i]); … tmp = a; a = b; b = tmp; }`` has its pointers where they were after two steps,
and ``for (t …) { double *from = t % 2 ? b : a; … }`` does the same in every other one.  Both become loops of
several steps at a time (:mod:`swbuild.frontend.steps`), in which nothing changes roles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.frontend.changes import writes
from swbuild.frontend.ctype import ArrayType, CType, Pointer, Scalar
from swbuild.frontend.scop import Storage
from swbuild.frontend.source_text import expression_text
from swbuild.frontend.steps import Counted, Places, Steps, counted, names
from swbuild.frontend.symbols import Bindings, FileScope, Symbol, identifiers, walk
from swbuild.frontend.syntax import change_children

__all__ = ["without_exchanges"]

#: Steps that are written out at most: of waves, three planes change places.
_LONGEST = 4

#: By these, a step may end before it comes to the exchange, or come to it twice.
_JUMPS = (c_ast.Break, c_ast.Continue, c_ast.Goto, c_ast.Return, c_ast.Label)

#: Operators by which a number is told to be even or odd, with what stands on their right.
_PARITY = {"%": 2, "&": 1}


@dataclass(frozen=True, slots=True)
class _Exchange:
    """What a step does, and then the places that pointers take, by way of those that are ``spare``."""

    body: tuple[c_ast.Node, ...]
    places: Places
    spare: frozenset[Symbol]


def without_exchanges(
    items: Sequence[c_ast.Node],
    bindings: Bindings,
    scope: FileScope,
    is_read_later: Callable[[Symbol], bool],
) -> tuple[list[c_ast.Node], str]:
    """Return the statements of a region: the first loop whose steps change roles does several at a time.

    And what is to be done after them, as text of C: pointers that ``is_read_later`` are to be where they are
    in the source.  Loops are changed in place.  Pointers that anything else sets, and loops inside others,
    stay as they are.
    """
    for position, item in enumerate(items):
        others = [*items[:position], *items[position + 1 :]]
        found = None
        if isinstance(item, c_ast.For) and isinstance(item.stmt, c_ast.Compound):
            found = _steps(item, others, bindings, scope, is_read_later)
        if found is not None:
            after = found.after(is_read_later)
            return [*items[:position], *found.statements(list(items[position + 1 :]))], after
    return list(items), ""


def _steps(
    loop: c_ast.For,
    others: Sequence[c_ast.Node],
    bindings: Bindings,
    scope: FileScope,
    is_read_later: Callable[[Symbol], bool],
) -> Steps | None:
    """Return the steps of ``loop``, beside ``others``, None where they change no roles, or have to stay."""
    head = counted(loop, bindings)
    if head is None or not _counts_alone(head, others, bindings, is_read_later):
        return None
    items = loop.stmt.block_items or []
    found = _exchange(items, bindings, scope)
    if found is not None:
        named = any(names(s, each, bindings) for s in found.spare for each in (*others, *found.body))
        if named or any(map(is_read_later, found.spare)) or not _stays(head, found, others, bindings):
            return None
        period = _period(found.places)
        return (
            Steps(head, [*found.body], found.places, period, bindings, scope) if period <= _LONGEST else None
        )
    whole = _Exchange(tuple(items), {}, frozenset())
    start = scope.integer(head.first)
    turns = _Turns(head.counter, 0 if start is None else start, bindings, scope)
    if start is None or start < 0 or not turns.are_all_of(items) or not _stays(head, whole, others, bindings):
        return None
    return Steps(head, [*items], {}, 2, bindings, scope, turns.settled)


def _counts_alone(
    head: Counted,
    others: Sequence[c_ast.Node],
    bindings: Bindings,
    is_read_later: Callable[[Symbol], bool],
) -> bool:
    """Return whether nobody sees where the counter of a loop ends; ``others`` come before and after it."""
    if isinstance(head.loop.init, c_ast.DeclList):
        return True
    return not (is_read_later(head.counter) or any(names(head.counter, each, bindings) for each in others))


def _stays(head: Counted, found: _Exchange, others: Sequence[c_ast.Node], bindings: Bindings) -> bool:
    """Return whether all steps are done whole, and only the exchange sets its pointers."""
    ends = (name for each in (head.first, head.end) for name in identifiers(each))
    fixed = {symbol for name in ends if (symbol := bindings.symbol(name)) is not None}
    if {*_changed((*others, *found.body), bindings)} & {*found.places, *fixed, head.counter}:
        return False
    return not any(isinstance(n, _JUMPS) for item in found.body for n in walk(item))


def _exchange(items: Sequence[c_ast.Node], bindings: Bindings, scope: FileScope) -> _Exchange | None:
    """Return the step ``items`` with the exchange of pointers at its end, None where there is none."""
    body = list(items)
    moves: list[tuple[Symbol, Symbol]] = []
    while body and (last := _moves(body[-1], bindings)) is not None:
        moves[:0] = last
        body.pop()
    held: dict[Symbol, Symbol] = {}
    for target, source in moves:
        held[target] = held.get(source, source)
    places = {symbol: value for symbol, value in held.items() if symbol in held.values()}
    if not places or set(places) != set(places.values()) or any(s is v for s, v in places.items()):
        return None
    first, *others = places
    if not all(_are_alike(first.type, other.type, scope) for other in others):
        return None
    return _Exchange(tuple(body), places, frozenset(held.keys() - places.keys()))


def _moves(node: c_ast.Node, bindings: Bindings) -> list[tuple[Symbol, Symbol]] | None:
    """Return the pointers that ``node`` sets to others, in their order, None where it does anything else."""
    if isinstance(node, (c_ast.Compound, c_ast.ExprList)):
        parts = node.exprs if isinstance(node, c_ast.ExprList) else node.block_items or []
        found = [_moves(part, bindings) for part in parts]
        return None if None in found else [move for part in found if part is not None for move in part]
    if isinstance(node, c_ast.Decl):
        target, value = bindings.declared.get(id(node)), node.init
    elif isinstance(node, c_ast.Assignment) and node.op == "=" and isinstance(node.lvalue, c_ast.ID):
        target, value = bindings.symbol(node.lvalue), node.rvalue
    else:
        return None
    source = bindings.symbol(value) if isinstance(value, c_ast.ID) else None
    if target is None or source is None or target.is_static:
        return None
    return [(target, source)] if _is_pointer(target) and _is_pointer(source) else None


def _is_pointer(symbol: Symbol) -> bool:
    """Return whether ``symbol`` is a pointer, as parameters are that are declared as arrays."""
    declared = isinstance(symbol.type, ArrayType) and symbol.storage is Storage.PARAMETER
    return declared or isinstance(symbol.type, Pointer)


def _period(places: Places) -> int:
    """Return after how many exchanges all pointers are where they were."""
    now, count = dict(places), 1
    while any(symbol is not value for symbol, value in now.items()):
        now, count = {symbol: now[value] for symbol, value in places.items()}, count + 1
    return count


def _changed(items: Sequence[c_ast.Node], bindings: Bindings) -> Iterator[Symbol]:
    """Yield the variables that ``items`` set, or take the addresses of."""
    for item in items:
        targets = [target for target, _, _ in writes(item)]
        targets += [n.expr for n in walk(item) if isinstance(n, c_ast.UnaryOp) and n.op == "&"]
        for target in targets:
            symbol = bindings.symbol(target) if isinstance(target, c_ast.ID) else None
            if symbol is not None:
                yield symbol


def _are_alike(one: CType, other: CType, scope: FileScope) -> bool:
    """Return whether two pointers, or what they lead to, are of one type that may be set."""
    if isinstance(one, Scalar) and isinstance(other, Scalar):
        return one == other and not one.const
    if isinstance(one, ArrayType) and isinstance(other, ArrayType):
        extents = [None if k.extent is None else expression_text(k.extent, scope) for k in (one, other)]
        return extents[0] == extents[1] and _are_alike(one.target, other.target, scope)
    if isinstance(one, Pointer) and isinstance(other, Pointer):
        return _are_alike(one.target, other.target, scope)
    return one is other


class _Turns:
    """What is done in every other step of a loop, whose ``counter`` begins at ``first``."""

    def __init__(self, counter: Symbol, first: int, bindings: Bindings, scope: FileScope) -> None:
        self._counter, self._first, self._bindings, self._scope = counter, first, bindings, scope

    def are_all_of(self, items: Sequence[c_ast.Node]) -> bool:
        """Return whether a step, ``items``, takes turns in a pointer that it declares, or in all it does."""
        for item in items:
            symbol = self._bindings.declared.get(id(item))
            if (
                symbol is not None
                and isinstance(symbol.type, Pointer)
                and isinstance(item.init, c_ast.TernaryOp)
            ):
                return self._tells(item.init.cond)
        done = [item for item in items if not isinstance(item, c_ast.Decl)]
        return bool(done) and all(isinstance(item, c_ast.If) and self._tells(item.cond) for item in done)

    def settled(self, node: c_ast.Node, number: int) -> c_ast.Node:
        """Return ``node`` as it is in the step of this ``number``, changed in place below."""
        change_children(node, lambda child: self.settled(child, number))
        if not isinstance(node, (c_ast.TernaryOp, c_ast.If)) or not self._tells(node.cond):
            return node
        value = self._scope.integer(self._at(self._bindings.copied(node.cond), self._first + number))
        if value is None:
            return node
        return (node.iftrue if value else node.iffalse) or c_ast.Compound([], node.coord)

    def _tells(self, test: c_ast.Node) -> bool:
        """Return whether ``test`` asks for nothing but whether the counter is even."""
        asked = {
            id(n.left)
            for n in walk(test)
            if isinstance(n, c_ast.BinaryOp) and self._scope.integer(n.right) == _PARITY.get(n.op, -1)
        }
        named = list(identifiers(test))
        calls = any(isinstance(n, (c_ast.FuncCall, c_ast.ArrayRef)) for n in walk(test))
        mine = all(id(name) in asked and self._bindings.symbol(name) is self._counter for name in named)
        return bool(named) and mine and not calls

    def _at(self, node: c_ast.Node, value: int) -> c_ast.Node:
        """Return ``node`` with a ``value`` that is as even as the counter."""
        if isinstance(node, c_ast.ID):
            return c_ast.Constant("int", str(value % 2), node.coord)
        change_children(node, lambda child: self._at(child, value))
        return node
