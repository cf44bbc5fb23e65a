"""Loops whose steps change roles in turn: pointers that change places, or what is done in every other step.

``for (t …) { b[i] = f(a[i]); … tmp = a; a = b; b = tmp; }`` has its pointers where they were after two steps,
and ``for (t …) { double *from = t % 2 ? b : a; … }`` does the same in every other one.  Both become loops of
several steps at a time (:mod:`swbuild.frontend.steps`), in which nothing changes roles.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from math import lcm

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.expressions.types import INT, TypeKind, is_integer, promoted
from swbuild.frontend.changes import writes
from swbuild.frontend.constants import Constant
from swbuild.frontend.ctype import ArrayType, CType, Pointer, Scalar
from swbuild.frontend.scop import Storage
from swbuild.frontend.source_text import expression_text
from swbuild.frontend.steps import Counted, Places, Steps, constant_at, counted, names
from swbuild.frontend.symbols import Bindings, FileScope, Symbol, identifiers, walk
from swbuild.frontend.syntax import change_children

__all__ = ["without_exchanges"]

#: Steps that are written out at most: of waves, three planes change places.
_LONGEST = 4

#: By these, a step may end before it comes to the exchange, or come to it twice.
_JUMPS = (c_ast.Break, c_ast.Continue, c_ast.Goto, c_ast.Return, c_ast.Label)

#: How many steps it takes a remainder to come back, by the operator and what stands on its right.
_PERIODS = {("%", 2): 2, ("%", 3): 3, ("%", 4): 4, ("&", 1): 2, ("&", 3): 4}


@dataclass(frozen=True, slots=True)
class _Exchange:
    """What a step does, and then the places that pointers take, by way of those that are ``spare``.

    Numbers take places as pointers do, and those that are ``turned`` become 1 less what they are.
    """

    body: tuple[c_ast.Node, ...]
    places: Places
    spare: frozenset[Symbol]
    turned: frozenset[Symbol] = frozenset()


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
    head = counted(loop, bindings, scope)
    if head is None or not _counts_alone(head, others, bindings, is_read_later):
        return None
    items = loop.stmt.block_items or []
    exchanges = [_exchange(items, bindings, scope, alone) for alone in (False, True)]
    for found in (each for each in exchanges if each is not None):
        named = any(names(s, each, bindings) for s in found.spare for each in (*others, *found.body))
        period = lcm(_period(found.places), 2 if found.turned else 1)
        seen = named or any(map(is_read_later, found.spare))
        if not seen and period <= _LONGEST and _stays(head, found, others, bindings):
            return Steps(head, [*found.body], found.places, period, bindings, scope, turned=found.turned)
    if any(exchanges):
        return None
    whole = _Exchange(tuple(items), {}, frozenset())
    start = scope.integer(head.first)
    turns = _Turns(head.counter, 0 if start is None else start, bindings, scope)
    turn = turns.period(items) if start is not None and start >= 0 else None
    if turn is None or not _stays(head, whole, others, bindings):
        return None
    return Steps(head, [*items], {}, turn, bindings, scope, turns.settled)


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
    fixed = {head.counter, *(symbol for name in ends if (symbol := bindings.symbol(name)) is not None)}
    moved = {*found.places, *found.turned}
    if fixed & {*moved, *found.spare} or {*_changed((*others, *found.body), bindings)} & {*moved, *fixed}:
        return False
    return not any(isinstance(n, _JUMPS) for item in found.body for n in walk(item))


def _exchange(
    items: Sequence[c_ast.Node], bindings: Bindings, scope: FileScope, pointers: bool
) -> _Exchange | None:
    """Return the step ``items`` with the exchange at its end, None where there is none.

    It is one of ``pointers`` alone, or of all that may change places.
    """
    body = list(items)
    moves: list[tuple[Symbol, Symbol]] = []
    turned = set[Symbol]()
    while body:
        other, last = _turned(body[-1], bindings), _moves(body[-1], bindings)
        numbers = last is not None and any(isinstance(target.type, Scalar) for target, _ in last)
        if other is not None and other not in turned and not pointers:
            turned.add(other)
        elif last is not None and not (pointers and numbers):
            moves[:0] = last
        else:
            break
        body.pop()
    held: dict[Symbol, Symbol] = {}
    for target, source in moves:
        held[target] = held.get(source, source)
    places = {symbol: value for symbol, value in held.items() if symbol in held.values()}
    if set(places) != set(places.values()) or any(s is v for s, v in places.items()):
        return None
    if not (places or turned) or turned & (held.keys() | set(held.values())):
        return None
    if not all(_are_alike(one.type, other.type, scope) for one, other in pairwise(places)):
        return None
    return _Exchange(tuple(body), places, frozenset(held.keys() - places.keys()), frozenset(turned))


def _turned(node: c_ast.Node, bindings: Bindings) -> Symbol | None:
    """Return the number that ``node`` makes 1 less what it is, None where it does anything else."""
    if not (isinstance(node, c_ast.Assignment) and node.op == "=" and isinstance(node.lvalue, c_ast.ID)):
        return None
    symbol, value = bindings.symbol(node.lvalue), node.rvalue
    if not (isinstance(value, c_ast.BinaryOp) and value.op == "-" and isinstance(value.right, c_ast.ID)):
        return None
    one = isinstance(value.left, c_ast.Constant) and value.left.value == "1"
    if not one or symbol is None or symbol.is_static or bindings.symbol(value.right) is not symbol:
        return None
    return (
        symbol
        if _may_move(symbol) and isinstance(symbol.type, Scalar) and symbol.type.element == INT
        else None
    )


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
    return [(target, source)] if _may_move(target) and _may_move(source) else None


def _may_move(symbol: Symbol) -> bool:
    """Return whether ``symbol`` is a pointer, as parameters are that are declared as arrays, or an integer.

    Functions that are called may read those integers that are not the function's own.
    """
    if isinstance(symbol.type, Scalar):
        own = symbol.storage is not Storage.GLOBAL and not symbol.type.volatile
        return own and is_integer(symbol.type.element)
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
    """What is done in every other step of a loop, or in every third; its ``counter`` begins at ``first``."""

    def __init__(self, counter: Symbol, first: int, bindings: Bindings, scope: FileScope) -> None:
        self._counter, self._first, self._bindings, self._scope = counter, first, bindings, scope

    def period(self, items: Sequence[c_ast.Node]) -> int | None:
        """Return after how many steps, ``items``, the same is done again; None where no turns are taken.

        They are in pointers, in the planes of arrays, and in branches that are all of a step.  Steps have
        loops in them: an iteration of an innermost loop does too little to be one.
        """
        nodes = [n for item in items for n in walk(item)]
        if not any(isinstance(n, c_ast.For) for n in nodes):
            return None
        chosen = {name.name for n in nodes for name in _in_planes(n)}
        targets = [n.lvalue for n in nodes if isinstance(n, c_ast.Assignment)]
        written = [plane for n in targets if isinstance(n, c_ast.ArrayRef) for plane in _planes(n)]
        held = {item.name for item in items if isinstance(item, c_ast.Decl)}
        # of planes that are only read, the same are in all steps
        planes = any(self._turn(n) or any(name.name in held for name in identifiers(n)) for n in written)
        choices = [test for n in nodes for test in self._choices(n, chosen if planes else None)]
        turns = [turn for test in choices if (turn := self._turn(test)) is not None]
        done = [item for item in items if not isinstance(item, c_ast.Decl)]
        branches = [self._turn(item.cond) if isinstance(item, c_ast.If) else None for item in done]
        if None not in branches:
            turns += [turn for turn in branches if turn is not None]
        period = lcm(*turns)
        return period if 1 < period <= _LONGEST else None

    def _choices(self, node: c_ast.Node, chosen: Collection[str] | None) -> list[c_ast.Node]:
        """Return what tells of ``node`` which pointer, or which plane of an array, is meant.

        A plane may be by way of a variable, one of those ``chosen``; planes do not matter without these.
        """
        if isinstance(node, c_ast.ArrayRef) and chosen is not None:
            return _planes(node)
        symbol = self._bindings.declared.get(id(node))
        if symbol is None or node.init is None:
            return []
        if isinstance(symbol.type, Pointer) and isinstance(node.init, c_ast.TernaryOp):
            return [node.init.cond]
        return [node.init] if chosen is not None and symbol.name in chosen else []

    def settled(self, node: c_ast.Node, number: int) -> c_ast.Node:
        """Return ``node`` as it is in the step of this ``number``, changed in place below."""
        if isinstance(node, (c_ast.BinaryOp, c_ast.UnaryOp)) and (known := self._value(node, number)):
            return constant_at(known, node)
        if isinstance(node, (c_ast.TernaryOp, c_ast.If)) and (known := self._value(node.cond, number)):
            taken = node.iftrue if known.value else node.iffalse
            return self.settled(taken or c_ast.Compound([], node.coord), number)
        change_children(node, lambda child: self.settled(child, number))
        return node

    def _value(self, node: c_ast.Node, number: int) -> Constant | None:
        """Return what ``node`` is in the step of this ``number``, None where it is no matter of turns."""
        if self._turn(node) is None:
            return None
        assert isinstance(self._counter.type, Scalar)
        counter = Constant(self._first + number, promoted(self._counter.type.element))
        return self._scope.constant(self._at(self._bindings.copied(node), counter))

    def _turn(self, test: c_ast.Node) -> int | None:
        """Return after how many steps ``test`` is the same again, None where it asks for anything else."""
        asked: dict[int, int] = {}
        for n in walk(test):
            right = self._scope.integer(n.right) if isinstance(n, c_ast.BinaryOp) else None
            period = _PERIODS.get((n.op, right)) if right is not None else None
            if period is not None and self._is_later(n.left, period):
                asked.update((id(name), period) for name in identifiers(n.left))
        named = list(identifiers(test))
        calls = any(isinstance(n, (c_ast.FuncCall, c_ast.ArrayRef)) for n in walk(test))
        mine = all(id(name) in asked and self._bindings.symbol(name) is self._counter for name in named)
        return lcm(*(asked[id(name)] for name in named)) if named and mine and not calls else None

    def _is_later(self, node: c_ast.Node, period: int) -> bool:
        """Return whether ``node`` is the counter, or so much more, without end where remainders come back.

        They do not where it wraps around, other than those of powers of two.
        """
        if isinstance(node, c_ast.BinaryOp) and node.op == "+" and (period != 3 or not self._wraps):
            one, other = self._scope.integer(node.left), self._scope.integer(node.right)
            if one is not None and other is None:
                return one >= 0 and self._is_later(node.right, period)
            return other is not None and other >= 0 and self._is_later(node.left, period)
        return isinstance(node, c_ast.ID)

    @property
    def _wraps(self) -> bool:
        """Whether sums of the counter may wrap around."""
        kind = self._counter.type
        return not isinstance(kind, Scalar) or promoted(kind.element).kind is TypeKind.UNSIGNED

    def _at(self, node: c_ast.Node, value: Constant) -> c_ast.Node:
        """Return ``node`` where the counter has this ``value``."""
        if isinstance(node, c_ast.ID):
            return constant_at(value, node)
        change_children(node, lambda child: self._at(child, value))
        return node


def _planes(node: c_ast.ArrayRef) -> list[c_ast.Node]:
    """Return the subscripts of ``node`` but the last, which is that of elements of a row."""
    inner, found = node.name, []
    while isinstance(inner, c_ast.ArrayRef):
        found.append(inner.subscript)
        inner = inner.name
    return found


def _in_planes(node: c_ast.Node) -> list[c_ast.ID]:
    """Return the names in the subscripts of ``node``, where it is an element of an array, but in the last."""
    planes = _planes(node) if isinstance(node, c_ast.ArrayRef) else []
    return [name for plane in planes for name in identifiers(plane)]
