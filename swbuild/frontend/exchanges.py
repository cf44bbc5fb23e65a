"""Pointers that change places after each step of a loop: ``b[i] = f(a[i]); … tmp = a; a = b; b = tmp;``.

After some steps, the period, all are where they were.  So a loop of as many steps at a time has no exchange
in it, and what is left of the steps, and all that comes after the loop, is under a condition on their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.frontend.changes import writes
from swbuild.frontend.ctype import ArrayType, CType, Pointer, Scalar
from swbuild.frontend.scop import Storage
from swbuild.frontend.source_text import expression_text
from swbuild.frontend.symbols import Bindings, FileScope, Symbol, identifiers, walk
from swbuild.frontend.syntax import change_children

__all__ = ["without_exchanges"]

#: Steps that are written out at most: of waves, three planes change places.
_LONGEST = 4

#: By these, a step may end before it comes to the exchange, or come to it twice.
_JUMPS = (c_ast.Break, c_ast.Continue, c_ast.Goto, c_ast.Return, c_ast.Label)

_SIMPLE = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp)

#: What a pointer holds after an exchange: what that one held before it.
_Places = Mapping[Symbol, Symbol]


@dataclass(frozen=True, slots=True)
class _Steps:
    """A loop with an exchange after its ``body``: the ``counter`` goes from ``first`` to below ``end``."""

    loop: c_ast.For
    counter: Symbol
    first: c_ast.Node
    end: c_ast.Node
    body: tuple[c_ast.Node, ...]
    places: _Places
    period: int


def without_exchanges(
    items: Sequence[c_ast.Node],
    bindings: Bindings,
    scope: FileScope,
    is_read_later: Callable[[Symbol], bool],
) -> tuple[list[c_ast.Node], str]:
    """Return the statements of a region without the exchange of the first loop that has one.

    And what is to be done after them, as text of C: pointers that ``is_read_later`` are to be where they are
    in the source.  Loops are changed in place.  Pointers that anything else sets, and loops inside others,
    stay as they are.
    """
    for position, item in enumerate(items):
        found = _steps(item, items, bindings, scope, is_read_later) if isinstance(item, c_ast.For) else None
        if found is not None:
            rest = list(items[position + 1 :])
            if any(_names(found.counter, each, bindings) for each in rest):
                return list(items), ""
            rewriting = _Rewriting(found, bindings, scope)
            after = rewriting.after(is_read_later)
            return [*items[:position], *rewriting.statements(rest)], after
    return list(items), ""


def _steps(
    loop: c_ast.For,
    items: Sequence[c_ast.Node],
    bindings: Bindings,
    scope: FileScope,
    is_read_later: Callable[[Symbol], bool],
) -> _Steps | None:
    """Return ``loop``, one of ``items``, as one with an exchange, None where it has none that can go."""
    if not isinstance(loop.stmt, c_ast.Compound):
        return None
    body = list(loop.stmt.block_items or [])
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
    spare = held.keys() - places.keys()
    period = _period(places)
    first, *others = places
    alike = all(_are_alike(first.type, other.type, scope) for other in others)
    head = _head(loop, bindings)
    if not alike or period > _LONGEST or head is None or any(map(is_read_later, spare)):
        return None
    counter, start, end = head
    around = [each for each in items if each is not loop]
    moved = {id(n) for item in loop.stmt.block_items[len(body) :] for n in walk(item)}
    if any(_names(s, each, bindings) for s in spare for each in (*around, *body)):
        return None
    changed = set(_changed((*around, *body), bindings))
    fixed = {symbol for each in (start, end) for n in identifiers(each) if (symbol := bindings.symbol(n))}
    if changed & (places.keys() | fixed | {counter}) or moved & {id(start), id(end)}:
        return None
    if any(isinstance(n, _JUMPS) for item in body for n in walk(item)):
        return None
    declared = isinstance(loop.init, c_ast.DeclList)
    if not declared and (is_read_later(counter) or any(_names(counter, each, bindings) for each in around)):
        return None
    return _Steps(loop, counter, start, end, tuple(body), places, period)


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


def _period(places: _Places) -> int:
    """Return after how many exchanges all pointers are where they were."""
    now, count = dict(places), 1
    while any(symbol is not value for symbol, value in now.items()):
        now, count = {symbol: now[value] for symbol, value in places.items()}, count + 1
    return count


def _head(loop: c_ast.For, bindings: Bindings) -> tuple[Symbol, c_ast.Node, c_ast.Node] | None:
    """Return the counter of ``loop``, which goes by ones, where it begins, and what it stays below."""
    init = loop.init.decls[0] if isinstance(loop.init, c_ast.DeclList) else loop.init
    if isinstance(init, c_ast.Decl) and len(loop.init.decls) == 1:
        counter, start = bindings.declared.get(id(init)), init.init
    elif isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID):
        counter, start = bindings.symbol(init.lvalue), init.rvalue
    else:
        return None
    test, step = loop.cond, loop.next
    by_one = isinstance(step, c_ast.UnaryOp) and step.op in ("p++", "++") and isinstance(step.expr, c_ast.ID)
    if counter is None or start is None or not by_one or bindings.symbol(step.expr) is not counter:
        return None
    if (
        not isinstance(test, c_ast.BinaryOp)
        or test.op not in ("<", "<=")
        or not isinstance(test.left, c_ast.ID)
    ):
        return None
    simple = all(isinstance(n, _SIMPLE) for each in (start, test.right) for n in walk(each))
    if bindings.symbol(test.left) is not counter or not simple or _names(counter, test.right, bindings):
        return None
    end = test.right
    return counter, start, end if test.op == "<" else _sum(end, 1)


def _names(symbol: Symbol, node: c_ast.Node, bindings: Bindings) -> bool:
    return any(bindings.symbol(name) is symbol for name in identifiers(node))


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


def _sum(node: c_ast.Node, number: int) -> c_ast.Node:
    sign = "+" if number > 0 else "-"
    return c_ast.BinaryOp(sign, node, c_ast.Constant("int", str(abs(number)), node.coord), node.coord)


class _Rewriting:
    """Writes the steps of one loop out."""

    def __init__(self, steps: _Steps, bindings: Bindings, scope: FileScope) -> None:
        self._steps, self._bindings, self._scope = steps, bindings, scope

    def statements(self, rest: list[c_ast.Node]) -> list[c_ast.Node]:
        """Return the loop with several steps at a time, then those left over and ``rest``, as it is then."""
        steps, loop = self._steps, self._steps.loop
        tail: c_ast.Node | None = c_ast.Compound(rest, loop.coord) if rest else None
        for left in reversed(range(1, steps.period)):
            some = [
                self._step(number, _sum(self._bindings.copied(steps.end), number - left))
                for number in range(left)
            ]
            others = [self._copy(c_ast.Compound(rest, loop.coord), self._after(left), None)] if rest else []
            then = c_ast.Compound([*some, *others], loop.coord)
            tail = c_ast.If(self._leaves(left), then, tail, loop.coord)
        counter = c_ast.ID(steps.counter.name, loop.coord)
        self._bindings.uses[id(counter)] = steps.counter
        self._bindings.kept.append(counter)
        several = [self._step(number, _sum(counter, number)) for number in range(1, steps.period)]
        test, number = loop.cond, c_ast.Constant("int", str(steps.period), loop.coord)
        last = _sum(self._bindings.copied(test.left), steps.period - 1)
        loop.cond = c_ast.BinaryOp(test.op, last, test.right, test.coord)
        loop.next = c_ast.Assignment("+=", counter, number, loop.coord)
        loop.stmt = c_ast.Compound([c_ast.Compound([*steps.body], loop.coord), *several], loop.coord)
        return [loop, *([] if tail is None else [tail])]

    def after(self, is_read_later: Callable[[Symbol], bool]) -> str:
        """Return what puts the pointers in their places after the region, as C; "" where none is read."""
        steps = self._steps
        if not any(map(is_read_later, steps.places)):
            return ""
        kept = {symbol: f"sw_was_{symbol.name}" for symbol in steps.places}
        cases = []
        for left in range(1, steps.period):
            now = self._after(left)
            saved = " ".join(f"void *{name} = {symbol.name};" for symbol, name in kept.items())
            moved = " ".join(f"{symbol.name} = {kept[now[symbol]]};" for symbol in steps.places)
            cases.append(f"if ({expression_text(self._leaves(left), self._scope)}) {{ {saved} {moved} }}")
        return " else ".join(cases)

    def _leaves(self, left: int) -> c_ast.Node:
        """Return the condition that so many steps are left after all that are done several at a time."""
        first, end = (self._bindings.copied(node) for node in (self._steps.first, self._steps.end))
        at = end.coord
        period, number = (c_ast.Constant("int", str(n), at) for n in (self._steps.period, left))
        steps = end
        if self._scope.integer(first) != 0:
            steps = c_ast.BinaryOp("-", end, first, at)
        some = c_ast.BinaryOp("==", c_ast.BinaryOp("%", steps, period, at), number, at)
        begins = c_ast.BinaryOp("<", self._bindings.copied(first), self._bindings.copied(end), at)
        return c_ast.BinaryOp("&&", begins, some, at)

    def _after(self, exchanges: int) -> _Places:
        """Return what each pointer holds after so many exchanges."""
        now: _Places = {symbol: symbol for symbol in self._steps.places}
        for _ in range(exchanges):
            now = {symbol: now[value] for symbol, value in self._steps.places.items()}
        return now

    def _step(self, number: int, counter: c_ast.Node) -> c_ast.Node:
        """Return the step of this ``number`` since all pointers were in their places."""
        body = c_ast.Compound([*self._steps.body], self._steps.loop.coord)
        return self._copy(body, self._after(number), counter)

    def _copy(self, node: c_ast.Node, now: _Places, counter: c_ast.Node | None) -> c_ast.Node:
        """Return a copy of ``node`` with pointers as they are ``now``, and with this value of the counter."""
        bindings = self._bindings
        twin = bindings.copied(node)
        fresh: dict[Symbol, Symbol] = dict(now)
        for old, new in zip(walk(node), walk(twin), strict=True):
            symbol = bindings.declared.get(id(old))
            if symbol is not None:
                bindings.declared[id(new)] = fresh[symbol] = replace(symbol, node=new)
        for name in list(identifiers(twin)):
            symbol = bindings.symbol(name)
            if symbol in fresh:
                bindings.uses[id(name)] = fresh[symbol]
                name.name = fresh[symbol].name
        return twin if counter is None else self._moved(twin, counter)

    def _moved(self, node: c_ast.Node, counter: c_ast.Node) -> c_ast.Node:
        if isinstance(node, c_ast.ID):
            same = self._bindings.symbol(node) is self._steps.counter
            return self._bindings.copied(counter) if same else node
        change_children(node, lambda child: self._moved(child, counter))
        return node
