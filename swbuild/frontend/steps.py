"""Loops whose steps come back to where they began after a while, as loops of so many steps at a time.

What is left of the steps, and all that comes after the loop, is under a condition on their number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.expressions.types import (
    INT,
    LLONG,
    LONG,
    ULLONG,
    ULONG,
    UNSIGNED,
    element_range,
    is_integer,
    promoted,
)
from swbuild.frontend.constants import Constant, literal
from swbuild.frontend.copies import copied_apart, with_values
from swbuild.frontend.ctype import Scalar
from swbuild.frontend.integers import QUOTIENT
from swbuild.frontend.source_text import expression_text
from swbuild.frontend.symbols import Bindings, FileScope, Symbol, identifiers, walk

__all__ = ["Counted", "Places", "Steps", "constant_at", "counted", "names"]

#: What a pointer holds after a step: what that one held before it.
Places = Mapping[Symbol, Symbol]

#: The types of which there are constants.
_SPELLED = (INT, UNSIGNED, LONG, ULONG, LLONG, ULLONG)

#: What stands for a node in the step of a number.
Settle = Callable[[c_ast.Node, int], c_ast.Node]


@dataclass(frozen=True, slots=True)
class Counted:
    """A ``loop`` by ones: its ``counter`` goes from ``first`` to below ``end``."""

    loop: c_ast.For
    counter: Symbol
    first: c_ast.Node
    end: c_ast.Node


def counted(loop: c_ast.For, bindings: Bindings, scope: FileScope) -> Counted | None:
    """Return how ``loop`` counts, None where it does not by ones, from and to formulas of integers."""
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
    formulas = (each for each in (start, test.right) if scope.integer(each) is None)
    simple = all(_is_whole(n, bindings) for each in formulas for n in walk(each))
    if bindings.symbol(test.left) is not counter or not simple or names(counter, test.right, bindings):
        return None
    first = _first(counter, start, bindings, scope)
    if first is None:
        return None
    return Counted(loop, counter, first, test.right if test.op == "<" else _sum(test.right, 1))


def _first(counter: Symbol, start: c_ast.Node, bindings: Bindings, scope: FileScope) -> c_ast.Node | None:
    """Return ``start`` in the type of ``counter``, None where it may be of another one."""
    if not isinstance(counter.type, Scalar) or promoted(counter.type.element) not in _SPELLED:
        return None
    kind, known = counter.type.element, scope.integer(start)
    if known is not None:
        least, most = element_range(kind)
        return constant_at(Constant(known, promoted(kind)), start) if least <= known <= most else None
    types = [symbol.type for name in identifiers(start) if (symbol := bindings.symbol(name)) is not None]
    alike = all(isinstance(each, Scalar) and each.element == kind for each in types)
    numbers = (scope.constant(n) for n in walk(start) if isinstance(n, c_ast.Constant))
    small = all(each is not None and each.type in (INT, kind) for each in numbers)
    return start if alike and small and kind in (INT, LONG) else None


def constant_at(value: Constant, like: c_ast.Node) -> c_ast.Node:
    """Return ``value`` as a constant where ``like`` stands, in its type."""
    size = c_ast.Constant("int", literal(replace(value, value=abs(value.value))), like.coord)
    return size if value.value >= 0 else c_ast.UnaryOp("-", size, like.coord)


def _is_whole(node: c_ast.Node, bindings: Bindings) -> bool:
    """Return whether ``node`` is a variable, a number or an operation as in formulas of integers."""
    if isinstance(node, c_ast.Constant):
        return "int" in node.type
    if isinstance(node, c_ast.BinaryOp):
        return node.op in ("+", "-", "*", "/", "%")
    symbol = bindings.symbol(node) if isinstance(node, c_ast.ID) else None
    kind = None if symbol is None else symbol.type
    return isinstance(kind, Scalar) and is_integer(kind.element)


def names(symbol: Symbol, node: c_ast.Node, bindings: Bindings) -> bool:
    """Return whether ``symbol`` is named in ``node``."""
    return any(bindings.symbol(name) is symbol for name in identifiers(node))


def _sum(node: c_ast.Node, number: int) -> c_ast.Node:
    sign = "+" if number > 0 else "-"
    return c_ast.BinaryOp(sign, node, c_ast.Constant("int", str(abs(number)), node.coord), node.coord)


def _times(node: c_ast.Node, number: int) -> c_ast.Node:
    return c_ast.BinaryOp("*", node, c_ast.Constant("int", str(number), node.coord), node.coord)


class Steps:
    """The steps of a loop: after ``period`` of them, pointers and numbers are in their ``places`` again.

    ``body`` is what each does but for changing places, and for making each number that is ``turned`` 1 less
    what it is; ``settle`` gives what stands for a node of it in the step of a number, a copy of which it may
    change.
    """

    def __init__(
        self,
        counted: Counted,
        body: list[c_ast.Node],
        places: Places,
        period: int,
        bindings: Bindings,
        scope: FileScope,
        settle: Settle = lambda node, _: node,
        turned: frozenset[Symbol] = frozenset(),
    ) -> None:
        self._counted, self._body, self._places, self._period = counted, body, places, period
        self._bindings, self._scope, self._settle, self._turned = bindings, scope, settle, turned

    def statements(self, rest: list[c_ast.Node]) -> list[c_ast.Node]:
        """Return the loop with several steps at a time, then those left over and ``rest``, as it is then.

        The loop is changed in place.
        """
        loop = self._counted.loop
        whole = c_ast.Compound(rest, loop.coord)
        depends = bool(rest) and bool(self._places or self._turned)  # on how many steps are left
        tail: c_ast.Node | None = whole if depends else None
        for left in reversed(range(1, self._period)):
            end = self._counted.end
            then = [self._step(n, _sum(self._bindings.copied(end), n - left)) for n in range(left)]
            if depends:
                then.append(
                    self._with(copied_apart(whole, self._bindings, self._after(left)), self._turns(left))
                )
            done = _times(self._rounds(), self._period)
            some = c_ast.BinaryOp("==", self._steps(), _sum(done, left), loop.coord)
            tail = c_ast.If(some, c_ast.Compound(then, loop.coord), tail, loop.coord)
        self._take_several(loop)
        return [loop, *([] if tail is None else [tail]), *([] if depends else rest)]

    def _take_several(self, loop: c_ast.For) -> None:
        """Have ``loop`` do all steps of a period in an iteration."""
        counter = self._bindings.named(self._counted.counter, loop)
        rounds, before = self._rounds(), _times(counter, self._period)
        if self._scope.integer(self._counted.first) != 0:
            before = c_ast.BinaryOp("+", self._bindings.copied(self._counted.first), before, loop.coord)
        others = [self._step(number, _sum(before, number)) for number in range(1, self._period)]
        first = self._settle(c_ast.Compound([*self._body], loop.coord), 0)  # in place: others are copies
        zero = c_ast.Constant("int", "0", loop.coord)
        if isinstance(loop.init, c_ast.DeclList):
            loop.init.decls[0].init = zero
        else:
            loop.init.rvalue = zero
        loop.cond = c_ast.BinaryOp("<", self._bindings.named(self._counted.counter, loop), rounds, loop.coord)
        loop.stmt = c_ast.Compound([self._with(first, {self._counted.counter: before}), *others], loop.coord)

    def _steps(self) -> c_ast.Node:
        """Return how many steps the loop does."""
        steps = self._distance()
        return c_ast.TernaryOp(self._begins(), steps, c_ast.Constant("int", "0", steps.coord), steps.coord)

    def _distance(self) -> c_ast.Node:
        """Return how far it is to the end of the loop, if it does any steps."""
        first, end = (self._bindings.copied(node) for node in (self._counted.first, self._counted.end))
        return end if self._scope.integer(first) == 0 else c_ast.BinaryOp("-", end, first, end.coord)

    def _rounds(self) -> c_ast.Node:
        """Return how often the loop does as many steps as bring all pointers back to their places."""
        at = self._counted.end.coord
        of = c_ast.ExprList([self._steps(), c_ast.Constant("int", str(self._period), at)], at)
        return c_ast.FuncCall(c_ast.ID(QUOTIENT, at), of, at)

    def _begins(self) -> c_ast.Node:
        """Return the condition that the loop does any steps."""
        first, end = (self._bindings.copied(node) for node in (self._counted.first, self._counted.end))
        return c_ast.BinaryOp("<", first, end, end.coord)

    def after(self, is_read_later: Callable[[Symbol], bool]) -> str:
        """Return what puts all in its place after the region, as C; "" where none of it is read."""
        places = self._places if any(map(is_read_later, self._places)) else {}
        turned = sorted(symbol.name for symbol in self._turned if is_read_later(symbol))
        kept = {symbol: f"sw_was_{symbol.name}" for symbol in places}
        cases = []
        for left in range(1, self._period) if places or turned else ():
            now = self._after(left)
            done = [f"{_holder(symbol)}{name} = {symbol.name};" for symbol, name in kept.items()]
            done += [f"{symbol.name} = {kept[now[symbol]]};" for symbol in places]
            done += [f"{name} = 1 - {name};" for name in turned if left % 2]
            cases.append(f"if ({expression_text(self._leaves(left), self._scope)}) {{ {' '.join(done)} }}")
        return " else ".join(cases)

    def _leaves(self, left: int) -> c_ast.Node:
        """Return the condition that so many steps are left after all that are done several at a time."""
        steps = self._distance()
        at = steps.coord
        period, number = (c_ast.Constant("int", str(n), at) for n in (self._period, left))
        some = c_ast.BinaryOp("==", c_ast.BinaryOp("%", steps, period, at), number, at)
        return c_ast.BinaryOp("&&", self._begins(), some, at)

    def _after(self, steps: int) -> Places:
        """Return what each pointer holds after so many steps."""
        now: Places = {symbol: symbol for symbol in self._places}
        for _ in range(steps):
            now = {symbol: now[value] for symbol, value in self._places.items()}
        return now

    def _step(self, number: int, counter: c_ast.Node) -> c_ast.Node:
        """Return the step of this ``number`` since all pointers were in their places."""
        body = c_ast.Compound([*self._body], self._counted.loop.coord)
        twin = self._settle(copied_apart(body, self._bindings, self._after(number)), number)
        return self._with(twin, {self._counted.counter: counter, **self._turns(number)})

    def _with(self, node: c_ast.Node, values: Mapping[Symbol, c_ast.Node]) -> c_ast.Node:
        return with_values(node, values, self._bindings)

    def _turns(self, steps: int) -> Mapping[Symbol, c_ast.Node]:
        """Return what numbers are after so many steps, where that is not what they were."""
        one, at = c_ast.Constant("int", "1"), self._counted.loop
        now = {symbol: c_ast.BinaryOp("-", one, self._bindings.named(symbol, at)) for symbol in self._turned}
        return now if steps % 2 else {}


def _holder(symbol: Symbol) -> str:
    """Return how a variable for what ``symbol`` holds is declared, without its name."""
    kind = symbol.type
    return f"{kind.element.name} " if isinstance(kind, Scalar) else "void *"
