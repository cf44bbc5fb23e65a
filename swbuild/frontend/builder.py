"""The walk over a region: from C statements to loops, domains, accesses and bodies."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl
from pycparser import c_ast

from swbuild.frontend.calls import Calls
from swbuild.frontend.ctype import INT, ArrayType, OtherType, Pointer, Scalar, is_integer
from swbuild.frontend.drafts import Block, Draft, Loop, Object
from swbuild.frontend.emit import Emitter, Names, Where
from swbuild.frontend.facts import RegionFacts
from swbuild.frontend.formulas import formula
from swbuild.frontend.inline import Inliner
from swbuild.frontend.integers import Integers, Value, constant, parameter, universe
from swbuild.frontend.loops import Iterations, LoopHead, LoopReader, iterations, without, wraps
from swbuild.frontend.places import Place, PlaceFinder
from swbuild.frontend.problems import NotModelled, Problems
from swbuild.frontend.scop import AccessKind, AccessRef, BodyPart, ElementType, Storage
from swbuild.frontend.symbols import FileScope, Symbol, integer_constant

__all__ = ["Assumption", "RegionBuilder"]

Key = tuple[Symbol, tuple[str, ...]]

_CONTROL = {
    "Goto": "goto", "Break": "break", "Continue": "continue", "Return": "return", "While": "a while loop",
    "DoWhile": "a do-while loop", "Switch": "switch", "Label": "a label", "Case": "case",
}  # fmt: skip
_ASSUME = frozenset({"__builtin_assume", "__pencil_assume", "__builtin_unreachable"})


@dataclass(frozen=True, slots=True)
class Assumption:
    """``bad``: the parameter values at which the model would be wrong, for the reason ``why``."""

    bad: isl.Set
    node: c_ast.Node
    why: str


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where the walk is: the block that takes statements, the loops around, what holds, unseen conditions."""

    block: Block
    loops: tuple[Loop, ...]
    domain: isl.Set
    guards: tuple[tuple[Object, c_ast.Node, bool], ...] = ()


class RegionBuilder:
    """Builds the drafts of one region; afterwards its public attributes hold what was found."""

    def __init__(self, facts: RegionFacts, scope: FileScope, problems: Problems, calls: Calls,
                 context: isl.Set) -> None:
        self.facts, self.problems, self.calls = facts, problems, calls
        self.finder = PlaceFinder(facts.bindings, problems)
        self.integers = Integers(problems, scope.types, self._lookup, self.require, self._inlined)
        self.context = context
        self.root = Block(None)
        self.objects: dict[Key, Object] = {}
        self.parameters: dict[Key, tuple[str, Place, c_ast.Node]] = {}
        self.assumptions: list[Assumption] = []
        self.stale: dict[Symbol, c_ast.Node] = {}
        self._types = scope.types
        self._loops = LoopReader(facts.bindings, self.integers, problems)
        self._inliner = Inliner(scope, problems)
        self._values: dict[Symbol, Value | None] = {}
        #: What must hold for a tracked value to be right; asked for only once the value is used.
        self._needs: dict[Symbol, list[Assumption]] = {}
        self._active: dict[Symbol, tuple[Loop, int]] = {}
        self._depths: dict[Symbol, int] = {}
        self._locals: set[Symbol] = set()
        self._given_names: dict[Key, str] = {}
        self._names = Names(self.object, self._level, self._after_loop, self.is_symbolic, self._locals.__contains__)
        self._counters = 0

    # -- names ----------------------------------------------------------------------------------

    def _name(self, key: Key) -> str:
        """Return the name of an object or parameter: its own, varied where another one has it."""
        if key not in self._given_names:
            wanted = name = "_".join((key[0].name, *key[1]))
            number = 1
            while name in self._given_names.values():
                name, number = f"{wanted}_{number}", number + 1
            self._given_names[key] = name
        return self._given_names[key]

    def object(self, place: Place, node: c_ast.Node) -> Object:
        """Return the object that ``place`` belongs to."""
        key = (place.symbol, place.fields)
        found = self.objects.get(key)
        if found is None:
            depth = self._depths.get(place.symbol, 0)
            storage = Storage.REGION if place.symbol in self._depths else place.symbol.storage
            name = self._name(key)
            found = self.objects[key] = Object(name, key, place, storage, depth)
        if found.rank != len(place.subscripts):
            raise self.problems.refuse("SW216", f"'{place.path}' is used with different numbers of subscripts", node)
        return found

    def is_symbolic(self, pa: isl.PwAff) -> bool:
        """Whether a function depends on symbolic sizes only, not on counters."""
        inner = {loop.variable for loop, _ in self._active.values()}
        return not any(
            pa.get_dim_name(isl.dim_type.param, i) in inner and pa.involves_dims(isl.dim_type.param, i, 1)
            for i in range(pa.dim(isl.dim_type.param)))

    def _level(self, symbol: Symbol) -> int | None:
        return self._active[symbol][1] if symbol in self._active else None

    def _after_loop(self, symbol: Symbol, node: c_ast.Node) -> list[BodyPart] | None:
        """Return the formula of a counter's value behind its loop, None if memory holds the value."""
        if symbol not in self.stale:
            return None
        value = self._values.get(symbol)
        if value is None:
            raise self.problems.refuse(
                "SW220", f"the value of '{symbol.name}' behind its loop is needed here and has no formula", node,
                "set the variable before using it")
        return formula(value.pa, self.context, self._variables(), value.type)

    def _variables(self) -> dict[str, BodyPart]:
        from swbuild.frontend.scop import IteratorRef, ParameterRef

        names: dict[str, BodyPart] = {name: ParameterRef(name) for name, _, _ in self.parameters.values()}
        names.update({loop.variable: IteratorRef(level) for loop, level in self._active.values()})
        return names

    def _lookup(self, node: c_ast.Node) -> Value:
        """Return the value of a variable: of a counter, a tracked local, a constant or a parameter."""
        root = self.finder.root(node)
        if root is not None and isinstance(root.type, OtherType) and root.value is not None:
            return Value(constant(root.value), INT)
        place = self.finder.find(node)
        symbol = place.symbol
        element = place.element.element
        if place.subscripts or not is_integer(element):
            what = f"'{place.path}', which is no integer variable,"
            raise self.problems.refuse("SW211", f"{what} is not affine in the loop counters and sizes", node)
        if not place.fields:
            if symbol in self._active:
                return Value(parameter(self._active[symbol][0].variable), element)
            value = self._values.get(symbol)
            if value is not None:
                self.assumptions += [a for a in self._needs.get(symbol, ()) if a not in self.assumptions]
                return value
            known = self.facts.constant(symbol)
            if known is not None:
                return Value(constant(known), element)
        if self.facts.is_written(symbol, place.fields):
            raise self.problems.refuse(
                "SW211", f"'{place.path}' changes inside the region, so it is not affine in counters and sizes", node,
                "compute it before the region")
        return self.parameter(place, node)

    def parameter(self, place: Place, node: c_ast.Node) -> Value:
        """Return the value of an integer variable that the region does not write."""
        key = (place.symbol, place.fields)
        if key not in self.parameters:
            name = self._name(key)
            self.parameters[key] = (name, place, node)
            self.context = self.context.intersect(_type_range(name, place.element.element))
        return Value(parameter(self.parameters[key][0]), place.element.element)

    def _inlined(self, call: c_ast.FuncCall, domain: isl.Set) -> Value:
        return self._inliner.value(call, domain, self.integers)

    # -- assumptions ----------------------------------------------------------------------------

    def require(self, domain: isl.Set, holds: isl.Set, node: c_ast.Node, why: str) -> None:
        """Note that the model is right only where ``holds`` is true for all points of ``domain``."""
        if domain.is_subset(holds):
            return
        bad = domain.intersect(self.context).subtract(holds)
        if bad.is_empty():
            return
        bad = _sizes_only(bad).remove_divs()
        # Where the domain is empty nothing is needed: a simpler condition may fail there, too.
        bad = bad.gist(_sizes_only(domain.intersect(self.context)).remove_divs()).coalesce()
        self.assumptions.append(Assumption(bad, node, why))

    # -- statements -----------------------------------------------------------------------------

    def build(self, items: list[c_ast.Node]) -> None:
        """Walk the statements of the region; every problem goes to the collector."""
        self._sequence(items, _Scope(self.root, (), universe()))

    def _sequence(self, items: list[c_ast.Node], where: _Scope) -> None:
        for item in items:
            self._statement(item, where)

    def _statement(self, node: c_ast.Node, where: _Scope) -> None:
        try:
            self._dispatch(node, where)
        except NotModelled as problem:
            self.problems.add(problem.diagnostic)

    def _dispatch(self, node: c_ast.Node, where: _Scope) -> None:
        name = type(node).__name__
        if name in _CONTROL:
            self._refuse_control(node, name, where)
        elif isinstance(node, c_ast.Compound):
            self._sequence(node.block_items or [], where)
        elif isinstance(node, c_ast.For):
            self._for(node, where)
        elif isinstance(node, c_ast.If):
            self._if(node, where)
        elif isinstance(node, c_ast.Decl):
            self._declaration(node, where)
        elif isinstance(node, c_ast.DeclList):
            self._sequence(node.decls, where)
        elif isinstance(node, (c_ast.EmptyStatement, c_ast.Pragma, c_ast.Typedef)):
            return
        elif isinstance(node, c_ast.FuncCall) and getattr(node.name, "name", "") in _ASSUME:
            self._assume(node, where)
        elif not self._is_idle(node):
            self._expression(node, where)

    def _is_idle(self, node: c_ast.Node) -> bool:
        """Whether a statement is a value thrown away, ``(void)x`` or ``0``."""
        if isinstance(node, c_ast.Cast):
            kind = self._types.resolve(node.to_type)
            return isinstance(kind, OtherType) and kind.name == "void" and self._is_idle(node.expr)
        return isinstance(node, (c_ast.Constant, c_ast.ID))

    def _refuse_control(self, node: c_ast.Node, name: str, where: _Scope) -> None:
        self.problems.add(self.problems.make(
            "SW213", f"{_CONTROL[name]} inside a region: which statements run is not known from the loops' bounds",
            node, "use for loops with affine bounds, and if"))
        body = getattr(node, "stmt", None)
        if isinstance(body, c_ast.Node):
            self._forget(body)
            self._statement(body, where)

    def _assume(self, node: c_ast.FuncCall, where: _Scope) -> None:
        if node.args is None:
            return
        holds = self.integers.condition(node.args.exprs[0], where.domain)
        bad = _sizes_only(where.domain.subtract(holds))
        if not where.guards:
            self.context = self.context.subtract(bad)

    def _expression(self, node: c_ast.Node, where: _Scope) -> None:
        draft = Draft(where.domain, where.loops, node)
        emitter = self._emitter(draft)
        prefix = self._guard_text(emitter, where)
        piece = emitter.expression(node, Where(where.domain, bool(where.guards)))
        draft.body = [*prefix, *piece.parts, ";"]
        if draft.accesses:
            where.block.items.append(draft)
        self._track(node, where)

    def _emitter(self, draft: Draft) -> Emitter:
        return Emitter(draft, self.finder, self.integers, self._names, self.calls, self._types, self.problems)

    def _guard_text(self, emitter: Emitter, where: _Scope) -> list[BodyPart]:
        """Return ``if (flag) `` for the conditions that were evaluated into flags, reading those."""
        parts: list[BodyPart] = []
        for index, (flag, node, holds) in enumerate(where.guards):
            ref = emitter.flag(flag, AccessKind.READ, node, where.domain)
            parts += ["if (" if not index else " && ", "" if holds else "!", AccessRef(ref.ref)]
        return [p for p in [*parts, ") "] if p != ""] if parts else []

    def _track(self, node: c_ast.Node, where: _Scope) -> None:
        """Follow the values of integer scalars that are assigned."""
        for target, op, value in self.facts.scalar_writes(node):
            known = None
            if op == "=" and value is not None and not where.guards and node is not None:
                known = self._try_value(target, value, where.domain)
            self._set(target, known, where)

    def _set(self, symbol: Symbol, value: Value | None, where: _Scope) -> None:
        if symbol in self.stale and where.guards:
            raise NotModelled(self.problems.make(
                "SW220", f"the counter '{symbol.name}' is set behind its loop under a data-dependent condition",
                self.stale[symbol], "use a variable of its own"))
        self.stale.pop(symbol, None)
        self._values[symbol] = value

    def _try_value(self, symbol: Symbol, node: c_ast.Node, domain: isl.Set) -> Value | None:
        if not isinstance(symbol.type, Scalar) or not is_integer(symbol.type.element):
            return None
        before = len(self.assumptions)
        try:
            value = self.integers.convert(self.integers.value(node, domain), symbol.type.element, domain, node)
        except NotModelled:
            del self.assumptions[before:]
            return None
        self._needs[symbol] = self.assumptions[before:]
        del self.assumptions[before:]
        return value

    def _forget(self, node: c_ast.Node) -> None:
        """Drop what is known of the variables that ``node`` may change."""
        for symbol in self.facts.scalars_written_in(node):
            self._values[symbol] = None
            if symbol in self.facts.outer_counters(node):
                self.stale[symbol] = node

    # -- declarations ---------------------------------------------------------------------------

    def _declaration(self, node: c_ast.Decl, where: _Scope) -> None:
        symbol = self.facts.bindings.declared.get(id(node))
        if symbol is None:
            return
        if symbol.is_static:
            raise self.problems.refuse("SW216", f"'{symbol.name}' is static or extern inside a region", node,
                                       "declare it before the region")
        self._depths[symbol] = len(where.loops)
        self._values.pop(symbol, None)
        if isinstance(symbol.type, (Pointer, OtherType)):
            raise self.problems.refuse("SW223", f"'{symbol.name}' is a pointer or an unsupported type", node,
                                       "declare numbers and arrays of numbers inside a region")
        if node.init is None:
            return
        if isinstance(symbol.type, ArrayType):
            self._array_initialiser(node, symbol, where)
            return
        target = c_ast.ID(symbol.name, node.coord)
        self.facts.bindings.uses[id(target)] = symbol
        value = node.init.exprs[0] if isinstance(node.init, c_ast.InitList) and len(node.init.exprs) == 1 else node.init
        self._initialise(target, symbol, value, where)

    def _initialise(self, target: c_ast.Node, symbol: Symbol, value: c_ast.Node, where: _Scope) -> None:
        assignment = c_ast.Assignment("=", target, value, target.coord)
        draft = Draft(where.domain, where.loops, assignment)
        emitter = self._emitter(draft)
        emitter.initialising = True
        prefix = self._guard_text(emitter, where)
        piece = emitter.expression(assignment, Where(where.domain, bool(where.guards)))
        draft.body = [*prefix, *piece.parts, ";"]
        where.block.items.append(draft)
        self.facts.keep(assignment)
        if isinstance(target, c_ast.ID):
            self._track(assignment, where)

    def _array_initialiser(self, node: c_ast.Decl, symbol: Symbol, where: _Scope) -> None:
        extents = self._constant_extents(symbol.type, where.domain)
        if extents is None or not isinstance(node.init, c_ast.InitList) or _product(extents) > 256:
            raise self.problems.refuse("SW216", f"the initialiser of the array '{symbol.name}' is too big or not a list",
                                       node, "set the elements with loops")
        base = c_ast.ID(symbol.name, node.coord)
        self.facts.bindings.uses[id(base)] = symbol
        for index, value in _flatten(node.init, extents, self.problems):
            target: c_ast.Node = base
            for position in index:
                target = c_ast.ArrayRef(target, c_ast.Constant("int", str(position), node.coord), node.coord)
            self._initialise(target, symbol, value or c_ast.Constant("int", "0", node.coord), where)

    def _constant_extents(self, kind: object, domain: isl.Set) -> list[int] | None:
        extents = []
        while isinstance(kind, ArrayType):
            if kind.extent is None:
                return None
            pa = self.integers.value(kind.extent, domain).pa
            if not pa.is_cst():
                return None
            extents.append(int(pa.get_pieces()[0][1].get_constant_val().to_python()))
            kind = kind.target
        return extents

    def write_back(self, symbol: Symbol) -> bool:
        """Add the statement that leaves in memory what a counter is behind the region; False if that is unknown."""
        value = self._values.get(symbol)
        if value is None or not isinstance(symbol.type, Scalar):
            return False
        node = self.stale.pop(symbol)
        target = c_ast.ID(symbol.name, node.coord)
        self.facts.bindings.uses[id(target)] = symbol
        self.facts.keep(target)
        draft = Draft(universe(), (), target)
        ref = self._emitter(draft).flag(self.object(self.finder.find(target), target), AccessKind.MUST_WRITE, target,
                                        universe())
        draft.body = [ref, " = ", *formula(value.pa, self.context, self._variables(), value.type), ";"]
        self.root.items.append(draft)
        return True

    # -- conditions -----------------------------------------------------------------------------

    def _if(self, node: c_ast.If, where: _Scope) -> None:
        try:
            before = len(self.assumptions)
            holds = self.integers.condition(node.cond, where.domain)
        except NotModelled as reason:
            del self.assumptions[before:]
            self._data_dependent(node, where, reason)
            return
        entry, entry_stale = dict(self._values), dict(self.stale)
        self._branch(node.iftrue, where, holds)
        taken, taken_stale = self._values, self.stale
        self._values, self.stale = entry, entry_stale
        self._branch(node.iffalse, where, holds.complement())
        self._merge(taken, taken_stale, holds)

    def _branch(self, node: c_ast.Node | None, where: _Scope, holds: isl.Set) -> None:
        if node is not None:
            inside = _Scope(where.block, where.loops, where.domain.intersect(holds).coalesce(), where.guards)
            self._statement(node, inside)

    def _merge(self, taken: dict[Symbol, Value | None], stale: dict[Symbol, c_ast.Node], holds: isl.Set) -> None:
        """Join the values known behind the two branches of an affine ``if``."""
        for symbol in taken.keys() | self._values.keys():
            first, second = taken.get(symbol), self._values.get(symbol)
            if first is second or symbol in self._depths and (symbol not in taken or symbol not in self._values):
                continue
            if first is None or second is None:
                self._values[symbol] = None
            else:
                joined = first.pa.intersect_domain(holds).union_add(second.pa.intersect_domain(holds.complement()))
                self._values[symbol] = Value(joined.coalesce(), first.type)
        for symbol in stale.keys() ^ self.stale.keys():
            self._values[symbol] = None
        self.stale.update(stale)

    def _data_dependent(self, node: c_ast.If, where: _Scope, reason: NotModelled) -> None:
        """An ``if`` whose condition is data: one statement if nothing in it repeats, else a flag for each part."""
        if _is_flat(node):
            self._macro(node, where)
            return
        flag = self._flag(node, where)
        for branch, holds in ((node.iftrue, True), (node.iffalse, False)):
            if branch is not None:
                self._statement(branch, _Scope(where.block, where.loops, where.domain,
                                               (*where.guards, (flag, node.cond, holds))))
        self._forget(node)

    def _flag(self, node: c_ast.If, where: _Scope) -> Object:
        """Add the statement that evaluates the condition into a variable of its own; return that."""
        self._counters += 1
        symbol = Symbol(f"sw_if{self._counters}", Scalar(INT), Storage.REGION, None)
        self._depths[symbol] = len(where.loops)
        place = Place(symbol, symbol.name, (), symbol.type, (), Scalar(INT), False)
        flag = self.object(place, node)
        draft = Draft(where.domain, where.loops, node.cond)
        emitter = self._emitter(draft)
        prefix = self._guard_text(emitter, where)
        piece = emitter.expression(node.cond, Where(where.domain, bool(where.guards)))
        kind = AccessKind.MAY_WRITE if where.guards else AccessKind.MUST_WRITE
        ref = emitter.flag(flag, kind, node.cond, where.domain)
        draft.body = [*prefix, ref, " = ", *piece.at(4), " ? 1 : 0;"]
        where.block.items.append(draft)
        self._track(node.cond, where)
        return flag

    def _macro(self, node: c_ast.If, where: _Scope) -> None:
        draft = Draft(where.domain, where.loops, node)
        emitter = self._emitter(draft)
        prefix = self._guard_text(emitter, where)
        body = self._macro_text(node, emitter, Where(where.domain, bool(where.guards)), "")
        draft.body = [*prefix, *body]
        if draft.accesses:
            where.block.items.append(draft)
        for symbol in self.facts.scalars_written_in(node):
            self._set(symbol, None, _Scope(where.block, where.loops, where.domain, ((None, node, True),))  # type: ignore[arg-type]
                      if symbol in self.stale else where)

    def _macro_text(self, node: c_ast.Node, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        """Return the text of a statement inside a data-dependent ``if``."""
        if isinstance(node, c_ast.If):
            return self._macro_if(node, emitter, where, indent)
        if isinstance(node, c_ast.Compound):
            inner = indent + "  "
            parts: list[BodyPart] = ["{"]
            for item in node.block_items or ():
                if not isinstance(item, (c_ast.EmptyStatement, c_ast.Pragma)):
                    parts += [f"\n{inner}", *self._macro_text(item, emitter, where, inner)]
            return [*parts, f"\n{indent}}}"]
        if isinstance(node, c_ast.Decl):
            return self._macro_declaration(node, emitter, where)
        if isinstance(node, c_ast.EmptyStatement):
            return [";"]
        piece = emitter.expression(node, where)
        if isinstance(node, c_ast.Assignment) and node.op == "=" and not emitter.is_local(node.lvalue):
            emitter.written(node.lvalue, piece.parts[0])
        return [*piece.parts, ";"]

    def _macro_if(self, node: c_ast.If, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        cond = emitter.expression(node.cond, where)
        parts: list[BodyPart] = ["if (", *cond.parts, ") "]
        owned = emitter.owned()
        parts += self._braced(node.iftrue, emitter, emitter.under(node.cond, where, True), indent)
        emitter.restore(owned)
        if node.iffalse is not None:
            other = emitter.under(node.cond, where, False)
            chained = isinstance(node.iffalse, c_ast.If)
            parts += [" else "]
            parts += (self._macro_text(node.iffalse, emitter, other, indent) if chained
                      else self._braced(node.iffalse, emitter, other, indent))
            emitter.restore(owned)
        return parts

    def _braced(self, node: c_ast.Node | None, emitter: Emitter, where: Where, indent: str) -> list[BodyPart]:
        block = node if isinstance(node, c_ast.Compound) else c_ast.Compound([node] if node is not None else [])
        return self._macro_text(block, emitter, where, indent)

    def _macro_declaration(self, node: c_ast.Decl, emitter: Emitter, where: Where) -> list[BodyPart]:
        """A scalar declared inside a data-dependent ``if`` is a variable of the statement's own text."""
        symbol = self.facts.bindings.declared[id(node)]
        if not isinstance(symbol.type, Scalar) or symbol.is_static:
            raise self.problems.refuse("SW216", f"'{symbol.name}' is declared under a data-dependent condition", node,
                                       "declare it before the if")
        text = f"{symbol.type.element.name} {symbol.name}"
        if node.init is None:
            self._locals.add(symbol)
            return [f"{text};"]
        value = emitter.expression(node.init, where)
        self._locals.add(symbol)
        return [f"{text} = ", *value.at(2), ";"]

    # -- loops ----------------------------------------------------------------------------------

    def _for(self, node: c_ast.For, where: _Scope) -> None:
        head = self._loop_head(node, where)
        start = self._start_value(node, head, where)
        body_writes = self.facts.symbols_written_in(node.stmt)
        if head.symbol in body_writes:
            self.problems.add(self.problems.make(
                "SW212", f"the loop counter '{head.symbol.name}' is modified in the loop",
                body_writes[head.symbol], "count with another variable"))
        kind = start.type
        self._counters += 1
        loop = Loop(f"{head.symbol.name}'{self._counters}", head.symbol.name, kind, head.step > 0, node, head.symbol)
        self._forget(node.stmt)
        self._active[head.symbol] = (loop, len(where.loops))
        self._depths.setdefault(head.symbol, len(where.loops)) if isinstance(node.init, c_ast.DeclList) else None
        try:
            self._body(node, head, start, loop, where)
        finally:
            del self._active[head.symbol]

    def _loop_head(self, node: c_ast.For, where: _Scope) -> LoopHead:
        try:
            return self._loops.head(node, where.domain)
        except NotModelled:
            self._forget(node)
            for symbol in self.facts.symbols_written_in(node):
                self._values[symbol] = None
            raise

    def _start_value(self, node: c_ast.For, head: LoopHead, where: _Scope) -> Value:
        assert isinstance(head.symbol.type, Scalar)
        element = head.symbol.type.element
        if head.start is not None:
            value = self._bound(head.start, where.domain)
            return self.integers.convert(value, element, where.domain, head.start)
        value_now = self._values.get(head.symbol)
        if value_now is None:
            raise self.problems.refuse("SW210", f"where the loop's counter '{head.symbol.name}' starts is not known",
                                       node, "set it in the loop's head")
        return value_now

    def _bound(self, node: c_ast.Node, domain: isl.Set) -> Value:
        try:
            return self.integers.value(node, domain)
        except NotModelled as reason:
            raise self._bound_problem(reason, node) from None

    def _bound_problem(self, reason: NotModelled, node: c_ast.Node) -> NotModelled:
        from dataclasses import replace

        found = reason.diagnostic
        if found.code != "SW211":
            return reason
        return NotModelled(replace(found, message=f"the loop's bound has no model: {found.message}"))

    def _body(self, node: c_ast.For, head: LoopHead, start: Value, loop: Loop, where: _Scope) -> None:
        counter = Value(parameter(loop.variable), start.type)
        ahead = counter.pa.ge_set(start.pa) if head.step > 0 else counter.pa.le_set(start.pa)
        reached = where.domain.intersect(ahead)
        try:
            holds = self.integers.condition(head.condition, reached)
        except NotModelled as reason:
            raise self._bound_problem(reason, head.condition) from None
        holds = self._ordered(node, head, holds, start, counter, where)
        simple = self._is_simple(head, loop)
        points = iterations(loop.variable, start, head.step, holds, simple, where.domain)
        self._check_counter(node, head, points, counter, where)
        inner = _Scope(Block(loop), (*where.loops, loop), points.visited.coalesce(), where.guards)
        self._statement(node.stmt, inner)
        if inner.block.items:
            where.block.items.append(inner.block)
        self._leave(node, head, start, loop, points, where)

    def _ordered(self, node: c_ast.For, head: LoopHead, holds: isl.Set, start: Value, counter: Value,
                 where: _Scope) -> isl.Set:
        """Read ``i != end`` as ``i < end`` (or ``>``): the loop must start on the right side and meet its end."""
        cond = head.condition
        if not isinstance(cond, c_ast.BinaryOp) or cond.op != "!=":
            return holds
        mine = [self.facts.bindings.symbol(s) is head.symbol if isinstance(s, c_ast.ID) else False
                for s in (cond.left, cond.right)]
        if sum(mine) != 1:
            return holds
        end = self.integers.value(cond.right if mine[0] else cond.left, where.domain).pa
        distance = end.sub(start.pa) if head.step > 0 else start.pa.sub(end)
        meets = distance.nonneg_set()
        if abs(head.step) > 1:
            meets = meets.intersect(distance.mod_val(isl.Val(abs(head.step))).eq_set(constant(0)))
        self.require(where.domain, meets, cond, "the loop must end by meeting its bound")
        return counter.pa.lt_set(end) if head.step > 0 else counter.pa.gt_set(end)

    def _is_simple(self, head: LoopHead, loop: Loop) -> bool:
        """Whether the condition is an order between the counter alone and something without it."""
        cond = head.condition
        if not isinstance(cond, c_ast.BinaryOp):
            return False
        if cond.op == "!=":
            return True
        ops = {"<": 1, "<=": 1, ">": -1, ">=": -1}
        if cond.op not in ops:
            return False
        sides = [self.facts.mentions(side, head.symbol) for side in (cond.left, cond.right)]
        direction = 1 if head.step > 0 else -1
        if isinstance(cond.left, c_ast.ID) and sides == [True, False]:
            return ops[cond.op] == direction
        if isinstance(cond.right, c_ast.ID) and sides == [False, True]:
            return ops[cond.op] == -direction
        return False

    def _check_counter(self, node: c_ast.For, head: LoopHead, points: Iterations, counter: Value,
                       where: _Scope) -> None:
        outer = without(points.visited, [])
        position = outer.find_dim_by_name(isl.dim_type.param, str(_variable_of(counter)))
        if position >= 0:
            moved = isl.Set.from_params(outer).move_dims(isl.dim_type.set, 0, isl.dim_type.param, position, 1)
            if not moved.is_bounded():
                raise self.problems.refuse("SW226", "the loop has no end: its condition does not stop the counter",
                                           node, "compare the counter with the last value")
        if wraps(counter):
            self.integers.require_range(counter.pa, None, counter.type, points.stepped, head.condition)

    def _leave(self, node: c_ast.For, head: LoopHead, start: Value, loop: Loop, points: Iterations,
               where: _Scope) -> None:
        """Note the counter's value behind the loop (if the counter outlives it)."""
        if isinstance(node.init, c_ast.DeclList):
            return
        self.stale[head.symbol] = node
        self._values[head.symbol] = self._exit_value(head, start, loop, points, where)

    def _exit_value(self, head: LoopHead, start: Value, loop: Loop, points: Iterations, where: _Scope) -> Value | None:
        """Return the counter's value when the loop is left: behind its last step, or its start."""
        stepped = points.stepped
        position = stepped.find_dim_by_name(isl.dim_type.param, loop.variable)
        if position < 0:
            return None
        moved = isl.Set.from_params(stepped).move_dims(isl.dim_type.set, 0, isl.dim_type.param, position, 1)
        try:
            last = moved.dim_max(0) if head.step > 0 else moved.dim_min(0)
        except isl.Error:
            return None
        ran = without(points.visited, [loop.variable])
        pa = last.intersect_domain(ran).union_add(start.pa.intersect_domain(ran.complement()))
        return Value(pa.coalesce(), start.type)


def _variable_of(counter: Value) -> str:
    names = [counter.pa.get_dim_name(isl.dim_type.param, i) for i in range(counter.pa.dim(isl.dim_type.param))]
    return str(names[0])


def _parameter_names(points: isl.Set) -> list[str]:
    return [str(points.get_dim_name(isl.dim_type.param, i)) for i in range(points.dim(isl.dim_type.param))]


def _sizes_only(points: isl.Set) -> isl.Set:
    """Return the sizes for which there is a point, counters projected out."""
    return without(points, [name for name in _parameter_names(points) if "'" in name])


def _type_range(name: str, element: ElementType) -> isl.Set:
    """Return the values that a parameter of this type can have, as far as 32 bits show it."""
    if element.name == "_Bool":
        return parameter(name).nonneg_set().intersect(parameter(name).le_set(constant(1)))
    bits = 8 * element.size
    unsigned = element.kind.value == "unsigned"
    if bits > 32:
        return parameter(name).nonneg_set() if unsigned else universe()
    low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return parameter(name).ge_set(constant(low)).intersect(parameter(name).le_set(constant(high)))


def _is_flat(node: c_ast.Node | None) -> bool:
    """Whether a statement holds no loop and no array declaration (nothing that needs domains of its own)."""
    if node is None:
        return True
    if isinstance(node, c_ast.If):
        return _is_flat(node.iftrue) and _is_flat(node.iffalse)
    if isinstance(node, c_ast.Compound):
        return all(_is_flat(item) for item in node.block_items or ())
    if isinstance(node, c_ast.Decl):
        return not isinstance(node.type, c_ast.ArrayDecl)
    return not isinstance(node, (c_ast.For, c_ast.DeclList)) and type(node).__name__ not in _CONTROL


def _product(values: list[int]) -> int:
    result = 1
    for value in values:
        result *= value
    return result


def _flatten(init: c_ast.InitList, extents: list[int],
             problems: Problems) -> list[tuple[tuple[int, ...], c_ast.Node | None]]:
    """Return (index, value) for every element of an initialised array; None means zero."""
    found: list[tuple[tuple[int, ...], c_ast.Node | None]] = []
    items = list(init.exprs)
    if len(items) > extents[0] or any(isinstance(item, c_ast.NamedInitializer) for item in items):
        raise problems.refuse("SW216", "this initialiser has no model", init, "set the elements one by one")
    for position in range(extents[0]):
        item = items[position] if position < len(items) else None
        if len(extents) == 1:
            found.append(((position,), item))
            continue
        if item is not None and not isinstance(item, c_ast.InitList):
            if integer_constant(item) == 0 if isinstance(item, c_ast.Constant) else False:
                item = None
            else:
                raise problems.refuse("SW216", "this initialiser leaves out braces", init, "write all braces")
        inner = item if item is not None else c_ast.InitList([], init.coord)
        found += [((position, *index), value) for index, value in _flatten(inner, extents[1:], problems)]
    return found

