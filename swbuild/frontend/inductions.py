"""Variables that loops step by a constant, as the formulas of the loops' counters that they are.

``k = 0; for (i …) for (j …) to[k++] = a[i][j];`` becomes ``to[k + i * m + j]``, and a row that a pointer
walks along, ``*p++``, becomes ``p[j]``.  The variable keeps the value that it has before the loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.expressions.types import TypeKind
from swbuild.frontend.changes import writes
from swbuild.frontend.constants import integer_constant
from swbuild.frontend.ctype import Pointer, Scalar
from swbuild.frontend.scop import Storage
from swbuild.frontend.symbols import Bindings, Symbol, identifiers, walk
from swbuild.frontend.syntax import change_children

__all__ = ["evaluated", "without_inductions"]

_STEPS = {"p++": 1, "++": 1, "p--": -1, "--": -1}

#: By these, an iteration may end before it comes to the step, or come to it twice.
_JUMPS = (c_ast.Break, c_ast.Continue, c_ast.Goto, c_ast.Return, c_ast.Label)

#: What is inside of these may be evaluated or not.
_MAYBE = (c_ast.TernaryOp, c_ast.FuncCall, c_ast.Compound)

#: What is below a cast, besides what it converts.
_TYPE_NAMES = (c_ast.Typename, c_ast.TypeDecl, c_ast.IdentifierType)

#: Narrower integers wrap around where they are stepped.
_LEAST_SIZE, _WIDEST = 4, 8


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop whose counter, called ``name``, goes by ones from ``start`` to ``end``, with it if ``whole``."""

    node: c_ast.For
    counter: Symbol
    name: c_ast.ID
    start: c_ast.Node
    end: c_ast.Node
    whole: bool


#: A statement before another one, or a loop around it, None for one that counts otherwise.
_OnWay: TypeAlias = "c_ast.Node | _Loop | None"


@dataclass(frozen=True, slots=True)
class _Step:
    """Where a variable is stepped ``by`` a number: ``node``, in a ``statement`` of the last of ``loops``.

    The first of ``loops`` runs right after what sets the variable, ``start``, or nothing does.
    """

    by: int
    node: c_ast.Node
    statement: c_ast.Node
    loops: tuple[_Loop, ...]
    start: c_ast.Node | None


def without_inductions(
    items: Sequence[c_ast.Node], bindings: Bindings, is_read_later: Callable[[Symbol], bool]
) -> None:
    """Rewrite, in place, the bodies of loops in ``items`` that step variables.

    A variable is rewritten where nothing names it but what sets it and the bodies of innermost loops, which
    step it in one place that all iterations come to.  From what sets it to that there are only loops whose
    numbers of iterations do not vary.  ``is_read_later`` tells whether anything after ``items`` reads it.
    """
    for symbol in _stepped(items, bindings):
        rewriting = _Induction(symbol, items, bindings)
        if not is_read_later(symbol) and rewriting.is_possible():
            rewriting.apply()


def _stepped(items: Iterable[c_ast.Node], bindings: Bindings) -> list[Symbol]:
    """Return the integers and pointers that something in ``items`` steps."""
    found: dict[Symbol, None] = {}
    for node in (node for item in items for node in walk(item)):
        target = _target(node)
        symbol = None if target is None else bindings.symbol(target)
        if symbol is not None and _may_walk(symbol):
            found[symbol] = None
    return list(found)


def _may_walk(symbol: Symbol) -> bool:
    kind = symbol.type
    if isinstance(kind, Scalar):
        signed = kind.element.kind is TypeKind.SIGNED
        return signed and kind.element.size >= _LEAST_SIZE and not kind.volatile
    return isinstance(kind, Pointer)


def _counts_alike(symbol: Symbol | None, by: int) -> bool:
    """Whether a formula with ``symbol`` has the values of a signed variable that is stepped ``by`` a number.

    Unsigned numbers would have to be as wide as any, and nothing to be taken away.
    """
    if symbol is None or not isinstance(symbol.type, Scalar):
        return symbol is not None and symbol.value is not None
    element = symbol.type.element
    wide = element.kind is TypeKind.UNSIGNED and element.size == _WIDEST and by > 0
    return element.kind is TypeKind.SIGNED or wide


def _target(node: c_ast.Node) -> c_ast.ID | None:
    """Return the variable that ``node`` steps by a constant, if it does."""
    if isinstance(node, c_ast.UnaryOp) and node.op in _STEPS and isinstance(node.expr, c_ast.ID):
        return node.expr
    if isinstance(node, c_ast.Assignment) and _value(node.rvalue) is not None and node.op in ("+=", "-="):
        return node.lvalue if isinstance(node.lvalue, c_ast.ID) else None
    return None


def _by(node: c_ast.Node) -> int:
    """Return by how much a step steps."""
    if isinstance(node, c_ast.UnaryOp):
        return _STEPS[node.op]
    value = _value(node.rvalue)
    assert value is not None
    return value if node.op == "+=" else -value


def _value(node: c_ast.Node) -> int | None:
    """Return the value of a plain number."""
    known = integer_constant(node) if isinstance(node, c_ast.Constant) else None
    return None if known is None else known.value


class _Induction:
    """One variable, ``symbol``, that loops in ``items`` step."""

    def __init__(self, symbol: Symbol, items: Sequence[c_ast.Node], bindings: Bindings) -> None:
        self._symbol, self._items, self._bindings = symbol, items, bindings
        self._is_pointer = isinstance(symbol.type, Pointer)
        self._found = list(self._steps(items, ()))

    # -- what there is ----------------------------------------------------------------------------

    def _steps(self, items: Iterable[c_ast.Node], way: tuple[_OnWay, ...]) -> Iterator[_Step]:
        """Yield the steps that are statements of loops, or in such; ``way`` comes before ``items``."""
        for item in _flat(items):
            if isinstance(item, c_ast.For):
                yield from self._steps([item.stmt], (*way, self._loop(item)))
            else:
                node = self._step_in(item)
                if node is not None:
                    step = self._step(item, node, way)
                    if step is not None:
                        yield step
            way = (*way, item)

    def _step(self, item: c_ast.Node, node: c_ast.Node, way: Sequence[_OnWay]) -> _Step | None:
        """Return the step ``node`` with the loops since the variable was set; None for unfit ones."""
        loops: list[_Loop] = []
        start: c_ast.Node | None = None
        for each in reversed(way):
            if each is None:
                return None
            if isinstance(each, _Loop):
                loops.insert(0, each)
            elif self._sets(each):
                start = each
                break
            elif loops and self._names(each):
                return None
        return _Step(_by(node), node, item, tuple(loops), start) if loops else None

    def _step_in(self, statement: c_ast.Node) -> c_ast.Node | None:
        """Return the step in a statement that is evaluated once whenever that runs, if it is the only one."""
        if isinstance(statement, (c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.Switch, c_ast.Label)):
            return None
        found = [node for node in evaluated(statement) if self._is_step(node)]
        alone = len(found) == 1 and len(self._names(statement)) == 1
        return found[0] if alone else None

    def _is_step(self, node: c_ast.Node) -> bool:
        target = _target(node)
        return target is not None and self._bindings.symbol(target) is self._symbol

    def _sets(self, statement: c_ast.Node) -> bool:
        """Whether ``statement`` sets the variable, and by what has no effects and does not name it."""
        value: c_ast.Node | None = None
        if isinstance(statement, c_ast.Decl):
            if self._bindings.declared.get(id(statement)) is self._symbol:
                value = statement.init
        elif isinstance(statement, c_ast.Assignment) and isinstance(statement.lvalue, c_ast.ID):
            value = statement.rvalue if statement.op == "=" and self._is_named(statement.lvalue) else None
        return value is not None and not self._names(value) and not any(True for _ in writes(value))

    def _is_named(self, node: c_ast.ID) -> bool:
        return self._bindings.symbol(node) is self._symbol

    def _names(self, node: c_ast.Node) -> list[c_ast.ID]:
        return [name for name in identifiers(node) if self._is_named(name)]

    def _loop(self, node: c_ast.For) -> _Loop | None:
        """Return a loop that counts by ones between plain expressions; None for any other."""
        test, step = node.cond, node.next
        if not isinstance(test, c_ast.BinaryOp) or test.op not in ("<", "<=") or step is None:
            return None
        start = _start(node)
        if (
            start is None
            or not isinstance(test.left, c_ast.ID)
            or not (_is_plain(start) and _is_plain(test.right, c_ast.Cast, *_TYPE_NAMES))
        ):
            return None
        counter, target = self._bindings.symbol(test.left), _target(step)
        declared = self._declared(node)
        same = target is not None and self._bindings.symbol(target) is counter is declared
        if counter is None or not same or _by(step) != 1 or not isinstance(counter.type, Scalar):
            return None
        return _Loop(node, counter, test.left, start, test.right, test.op == "<=")

    def _declared(self, node: c_ast.For) -> Symbol | None:
        """Return the variable that the head of a loop sets."""
        if isinstance(node.init, c_ast.DeclList):
            return self._bindings.declared.get(id(node.init.decls[0]))
        return self._bindings.symbol(node.init.lvalue)

    # -- whether that is all ----------------------------------------------------------------------

    def is_possible(self) -> bool:
        """Whether the variable is a formula of counters wherever it is named."""
        named = {id(name) for item in self._items for name in self._names(item)}
        sets = [node for item in self._items for node in walk(item) if self._sets(node)]
        seen = {id(node.lvalue) for node in sets if isinstance(node, c_ast.Assignment)}
        for step in self._found:
            if not self._is_regular(step):
                return False
            seen |= {id(name) for name in self._names(step.loops[-1].node.stmt)}
        whole = len(self._found) == 1 if not sets else all(step.start is not None for step in self._found)
        return bool(self._found) and whole and named <= seen

    def _is_regular(self, step: _Step) -> bool:
        """Whether all loops count evenly, and step the variable in one place that each iteration comes to."""
        outer = step.loops[0].node
        nodes = list(walk(outer))
        if any(isinstance(node, _JUMPS) for node in nodes):
            return False
        changed = [target for target, _, _ in writes(outer)]
        symbols = [self._bindings.symbol(target) for target in changed if isinstance(target, c_ast.ID)]
        own = {self._bindings.declared.get(id(node)) for node in nodes}
        lent = {self._bindings.symbol(name) for node in nodes if _lends(node) for name in identifiers(node)}
        calls = any(isinstance(node, c_ast.FuncCall) for node in nodes)
        if symbols.count(self._symbol) != 1 or self._symbol in own:
            return False
        for loop in step.loops:
            used = {
                self._bindings.symbol(name) for part in (loop.start, loop.end) for name in identifiers(part)
            }
            set_twice = symbols.count(loop.counter) > (1 if loop.counter in own else 2)
            if set_twice or used & ({*symbols} | own | lent):
                return False
            counted = {self._bindings.symbol(name) for name in identifiers(loop.start)}
            if loop is not step.loops[0]:  # how often the outermost loop runs is in no formula
                counted |= used
            if not all(_counts_alike(symbol, step.by) for symbol in (loop.counter, *counted)):
                return False
            if calls and any(symbol is None or _is_shared(symbol) for symbol in used):
                return False
        return all(self._is_place(node) for node in nodes) if self._is_pointer else True

    def _is_place(self, node: c_ast.Node) -> bool:
        """Whether ``node`` does not use the pointer but to follow it, to some distance, or to step it."""
        children = [child for child in node if self._walks(child)]
        if not children or isinstance(node, c_ast.ID):
            return True
        if self._is_step(node):
            return True
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            return True
        if isinstance(node, (c_ast.ArrayRef, c_ast.StructRef)):
            return children == [node.name]
        return isinstance(node, c_ast.Compound)  # the step is a statement of its own

    def _walks(self, node: c_ast.Node) -> bool:
        return (isinstance(node, c_ast.ID) and self._is_named(node)) or self._is_step(node)

    # -- rewriting --------------------------------------------------------------------------------

    def apply(self) -> None:
        """Rewrite all loops that step the variable."""
        for step in self._found:
            after = False
            body = step.loops[-1].node

            def change(node: c_ast.Node, step: _Step = step) -> c_ast.Node:
                nonlocal after
                if isinstance(node, c_ast.Compound):
                    change_children(node, change)
                    return node
                found = self._changed(node, step, after)
                after = after or node is step.statement
                return found

            body.stmt = change(body.stmt)

    def _changed(self, node: c_ast.Node, step: _Step, after: bool) -> c_ast.Node:
        """Return ``node`` with the formula in the place of the variable, ``after`` its step or before it."""
        if node is step.statement and node is step.node:
            return c_ast.EmptyStatement(node.coord)
        if self._walks(node):
            late = after or (node is step.node and not getattr(node, "op", "").startswith("p"))
            return c_ast.BinaryOp("+", self._name(node), self._distance(step, late), node.coord)
        place = _followed(node)
        if self._is_pointer and place is not None and self._walks(place):
            sum_ = self._changed(place, step, after)
            return self._element(node, sum_.left, sum_.right, step, after)
        change_children(node, lambda child: self._changed(child, step, after))
        return node

    def _element(
        self, node: c_ast.Node, name: c_ast.Node, far: c_ast.Node, step: _Step, after: bool
    ) -> c_ast.Node:
        """Return the element at a distance that ``node`` gets by following the pointer."""
        if isinstance(node, c_ast.ArrayRef):
            further = self._changed(node.subscript, step, after)
            far = c_ast.BinaryOp("+", far, further, node.coord)
        element = c_ast.ArrayRef(name, far, node.coord)
        return (
            c_ast.StructRef(element, ".", node.field, node.coord)
            if isinstance(node, c_ast.StructRef)
            else element
        )

    def _name(self, node: c_ast.Node) -> c_ast.Node:
        return self._bindings.copied(node if isinstance(node, c_ast.ID) else _target(node))

    def _distance(self, step: _Step, after: bool) -> c_ast.Node:
        """Return how far the variable has come since it was set."""
        turns: c_ast.Node | None = None
        for loop in step.loops:
            own = _less(self._bindings.copied(loop.name), self._bindings.copied(loop.start))
            if turns is None:
                turns = own
                continue
            trips = _less(self._bindings.copied(loop.end), self._bindings.copied(loop.start))
            if loop.whole:
                trips = c_ast.BinaryOp("+", trips, _number(1), trips.coord)
            turns = c_ast.BinaryOp("+", c_ast.BinaryOp("*", turns, trips, own.coord), own, own.coord)
        assert turns is not None
        if after:
            turns = c_ast.BinaryOp("+", turns, _number(1), turns.coord)
        if step.by == 1:
            return turns
        by = _number(abs(step.by))
        return c_ast.BinaryOp("*", by if step.by > 0 else c_ast.UnaryOp("-", by), turns, turns.coord)


def _lends(node: c_ast.Node) -> bool:
    """Whether ``node`` takes an address, through which others may change what it is of."""
    return isinstance(node, c_ast.UnaryOp) and node.op == "&"


def _is_shared(symbol: Symbol) -> bool:
    """Whether functions may change a variable that nobody has lent them."""
    return symbol.value is None and (symbol.storage is Storage.GLOBAL or symbol.is_static)


def _flat(items: Iterable[c_ast.Node]) -> Iterator[c_ast.Node]:
    """Yield statements, those of blocks in the blocks' place."""
    for item in items:
        if isinstance(item, c_ast.Compound):
            yield from _flat(item.block_items or [])
        elif isinstance(item, c_ast.DeclList):
            yield from item.decls
        else:
            yield item


def evaluated(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield ``node`` and what is below it that is evaluated once whenever it is."""
    yield node
    shortcut = isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||")
    if not shortcut and not isinstance(node, _MAYBE) and getattr(node, "op", "") != "sizeof":
        for child in node:
            yield from evaluated(child)


def _start(node: c_ast.For) -> c_ast.Node | None:
    """Return what the only counter in the head of a loop is set to."""
    if isinstance(node.init, c_ast.DeclList):
        return node.init.decls[0].init if len(node.init.decls) == 1 else None
    plain = isinstance(node.init, c_ast.Assignment) and node.init.op == "="
    return node.init.rvalue if plain and isinstance(node.init.lvalue, c_ast.ID) else None


def _is_plain(node: c_ast.Node, *others: type[c_ast.Node]) -> bool:
    """Whether an expression has numbers, variables, sums and products only, or ``others``."""
    simple = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.UnaryOp, *others)
    return all(isinstance(n, simple) and getattr(n, "op", "+") in ("+", "-", "*") for n in walk(node))


def _followed(node: c_ast.Node) -> c_ast.Node | None:
    """Return the pointer that ``node`` follows, if it does."""
    if isinstance(node, c_ast.UnaryOp) and node.op == "*":
        return node.expr
    if isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.StructRef) and node.type == "->"):
        return node.name
    return None


def _less(left: c_ast.Node, right: c_ast.Node) -> c_ast.Node:
    return left if _value(right) == 0 else c_ast.BinaryOp("-", left, right, left.coord)


def _number(value: int) -> c_ast.Node:
    return c_ast.Constant("int", str(value))
