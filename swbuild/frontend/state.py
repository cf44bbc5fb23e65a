"""What is known while a region is walked: names, values of integer variables, assumptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import islpy as isl
from pycparser import c_ast

from swbuild.expressions.types import ElementType, is_integer
from swbuild.frontend.calls import Calls
from swbuild.frontend.constants import integer_constant
from swbuild.frontend.ctype import Scalar
from swbuild.frontend.definitions import Definitions
from swbuild.frontend.drafts import Block, Draft, Loop, Object
from swbuild.frontend.emit import Emitter, Names
from swbuild.frontend.facts import RegionFacts, writes
from swbuild.frontend.formulas import formula
from swbuild.frontend.inline import Inliner
from swbuild.frontend.integers import Integers, Knowledge, Value, constant, parameter, universe
from swbuild.frontend.loops import LoopReader, without
from swbuild.frontend.macros import Macros
from swbuild.frontend.naming import OwnNames
from swbuild.frontend.places import Place, PlaceFinder
from swbuild.frontend.polynomials import Polynomial, Products
from swbuild.frontend.problems import NotModelledError, Problems
from swbuild.frontend.scop import BodyPart, IteratorRef, ParameterRef, Storage
from swbuild.frontend.symbols import FileScope, Symbol
from swbuild.machine.reserved import is_reserved
from swbuild.names import distinct, plain

__all__ = ["Assumption", "Known", "Position", "RegionState", "sizes_only"]

_LARGEST_UNION = 6

Key = tuple[Symbol, tuple[str, ...]]

#: What a variable holds: an affine function, or one with products of sizes, good for subscripts only.
Known = Value | Polynomial


@dataclass(frozen=True, slots=True)
class Assumption:
    """``bad``: the parameter values at which the model would be wrong, for the reason ``why``.

    ``sizes`` are all the values for which the place is reached at all.
    """

    bad: isl.Set
    sizes: isl.Set
    node: c_ast.Node
    why: str


@dataclass(frozen=True, slots=True)
class Position:
    """Where the walk is: the block that takes statements, the loops around, what holds, unseen conditions."""

    block: Block
    loops: tuple[Loop, ...]
    domain: isl.Set
    guards: tuple[tuple[Object, c_ast.Node, bool], ...] = ()


class RegionState:
    """The knowledge that the parts of the walk share."""

    def __init__(
        self,
        facts: RegionFacts,
        scope: FileScope,
        problems: Problems,
        calls: Calls,
        visible: Mapping[str, Symbol],
    ) -> None:
        self.facts, self.problems, self.calls = facts, problems, calls
        self.finder = PlaceFinder(facts.bindings, problems, scope.integer)
        knowledge = Knowledge(
            self._lookup,
            self._inlined,
            self.finder.type_of,
            scope.constant,
            self._fixed_element,
            self.require,
        )
        self.integers = Integers(problems, scope.types, knowledge)
        self.definitions = Definitions(facts, visible)
        self.context = universe()
        #: 64-bit sizes stay far from the ends of their range, so that sums of them do not overflow.
        self.moderate = universe()
        self.root = Block(None)
        self.objects: dict[Key, Object] = {}
        self.parameters: dict[Key, tuple[str, Place, c_ast.Node]] = {}
        self.assumptions: list[Assumption] = []
        self.stale: dict[Symbol, c_ast.Node] = {}
        self.scope = scope
        self._types = scope.types
        self._loops = LoopReader(facts.bindings, self.integers, problems)
        self._inliner = Inliner(scope, problems)
        self._values: dict[Symbol, Known | None] = {}
        #: What must hold for a tracked value to be right; asked for only once the value is used.
        self._needs: dict[Symbol, list[Assumption]] = {}
        self._active: dict[Symbol, tuple[Loop, int]] = {}
        self._depths: dict[Symbol, int] = {}
        #: Extents of the arrays that the region declares, as they are where it does so.
        self.local_extents: dict[Symbol, tuple[isl.PwAff, ...]] = {}
        #: Variables of statements' own texts, with names that clash with no others.
        self._own = OwnNames(scope)
        self._macros = Macros(facts, scope, problems, self._own)
        self._given_names: dict[Key, str] = {}
        self._products = Products(
            self.integers, scope.types, self.is_symbolic, self._variable, self._inliner.opened
        )
        self._names = Names(
            self.object,
            self._level,
            self._after_loop,
            self.definitions.formula,
            self.place,
            self.possible,
            self._own.get,
            facts.constant,
        )
        self._counters = 0
        self._writes_integers: bool | None = None
        self.counters: dict[Symbol, c_ast.Node] = {}

    def _name(self, key: Key) -> str:
        """Return the name of an object or parameter: its own, varied where it can mean something else."""
        if key not in self._given_names:
            wish = plain("_".join((key[0].name, *key[1])))
            self._given_names[key] = distinct(wish, lambda n: self._is_taken(n, n == key[0].name))
        return self._given_names[key]

    def _is_taken(self, name: str, is_own: bool) -> bool:
        """Whether ``name`` is another object's, C's or a header's; ``is_own``: the source's for this one."""
        scope = self.scope
        functions = name in scope.functions or name in scope.prototypes
        foreign = functions or (name in scope.words and not is_own)
        return name in self._given_names.values() or foreign or is_reserved(name)

    def object(self, place: Place, node: c_ast.Node) -> Object:
        """Return the object that ``place`` belongs to."""
        key = (place.symbol, place.fields)
        found = self.objects.get(key)
        if found is None:
            depth = self._depths.get(place.symbol, 0)
            storage = Storage.REGION if place.symbol in self._depths else place.symbol.storage
            name = self._name(key)
            found = self.objects[key] = Object(name, key, place, storage, depth)
            self._refuse_mixtures(place, node)
        if place.record is not None and found.place.element.element != place.element.element:
            raise self.problems.refuse(
                "SW218",
                f"members of several types of the array of structures '{place.path}' are used here",
                node,
                "keep the members of one type in an array of their own",
            )
        if found.rank != len(place.subscripts):
            raise self.problems.refuse(
                "SW216",
                f"'{place.path}' is used with different numbers of subscripts",
                node,
                "give it the same number everywhere",
            )
        return found

    def _refuse_mixtures(self, place: Place, node: c_ast.Node) -> None:
        """Refuse ``s[i].x`` beside ``s->x``: two names for what may be one place."""
        known = [thing.place for thing in self.objects.values()]
        known += [other for _, other, _ in self.parameters.values()]
        for other in known:
            if other.symbol is not place.symbol or (other.record is None) == (place.record is None):
                continue
            shared = min(len(other.fields), len(place.fields))
            if other.fields[:shared] == place.fields[:shared]:
                raise self.problems.refuse(
                    "SW218",
                    f"'{place.symbol.name}' is used as one structure and as an array of structures",
                    node,
                    "copy what is needed of the one structure to variables before the region",
                )

    def is_symbolic(self, pa: isl.PwAff) -> bool:
        """Whether a function depends on symbolic sizes only, not on counters."""
        return not any(
            "'" in str(pa.get_dim_name(isl.dim_type.param, i)) and pa.involves_dims(isl.dim_type.param, i, 1)
            for i in range(pa.dim(isl.dim_type.param))
        )

    def possible(self, node: c_ast.Node, domain: isl.Set, holds: bool) -> tuple[isl.Set, bool]:
        """Return where a condition inside an expression may be ``holds``, and whether that is exact.

        A flag that is only tested (``mode ? x : y``) is data: it is not made a parameter for that.
        """
        parameters, context, before = dict(self.parameters), self.context, len(self.assumptions)
        found, exact = self.integers.possible(node, domain, holds)
        fresh = len(self.parameters) > len(parameters)
        if fresh and domain.intersect(sizes_only(found)).is_equal(found):
            self.parameters, self.context = parameters, context
            del self.assumptions[before:]
            return domain, False
        return found, exact

    def _level(self, symbol: Symbol) -> int | None:
        return self._active[symbol][1] if symbol in self._active else None

    def _after_loop(self, symbol: Symbol, node: c_ast.Node) -> list[BodyPart] | None:
        """Return the formula of a counter's value behind its loop, None if memory holds the value."""
        if symbol not in self.stale:
            return None
        value = self._value_of(symbol)
        if value is None:
            raise self.problems.refuse(
                "SW220",
                f"the value of '{symbol.name}' behind its loop is needed here and has no formula",
                node,
                "set the variable before using it",
            )
        return formula(value.pa, self.context, self._variables(), value.type)

    def _variables(self) -> dict[str, BodyPart]:
        names: dict[str, BodyPart] = {name: ParameterRef(name) for name, _, _ in self.parameters.values()}
        names.update({loop.variable: IteratorRef(level) for loop, level in self._active.values()})
        return names

    def _lookup(self, node: c_ast.Node) -> Value:
        """Return the value of a variable: of a counter, a tracked local, a constant or a parameter."""
        root = self.finder.root(node)
        if root is not None and root.value is not None:
            return Value(constant(root.value), root.element)
        place = self.finder.find(node)
        symbol = place.symbol
        element = place.element.element
        if place.subscripts or not is_integer(element):
            what = f"'{place.path}', which is no integer variable,"
            raise self.problems.refuse(
                "SW211",
                f"{what} is not affine in the loop counters and sizes",
                node,
                "use integer variables that the region does not change",
            )
        if not place.fields:
            if symbol in self._active:
                return Value(parameter(self._active[symbol][0].variable), element)
            value = self._value_of(symbol)
            if value is not None:
                self._rely_on(symbol)
                return value
            formula = self.definitions.formula(symbol)
            if formula is not None:
                return self.integers.convert(
                    self.integers.value(formula, universe()), element, universe(), formula
                )
            known = self.facts.constant(symbol)
            if known is not None:
                return Value(constant(known), element)
        if self.facts.is_written(symbol, place.fields):
            raise self.problems.refuse(
                "SW211",
                f"'{place.path}' changes inside the region, so it is not affine in counters and sizes",
                node,
                "compute it before the region",
            )
        return self.parameter(place, node)

    def _value_of(self, symbol: Symbol) -> Value | None:
        """Return the value of a variable if it is known to be an affine function."""
        known = self._values.get(symbol)
        return known if isinstance(known, Value) else None

    def _variable(self, node: c_ast.ID) -> Polynomial | None:
        """Return the value of a variable that is known to hold a polynomial."""
        symbol = self.facts.bindings.symbol(node)
        if symbol is None:
            return None
        known = self._values.get(symbol)
        if isinstance(known, Polynomial):
            self._rely_on(symbol)
            return known
        formula = self.definitions.formula(symbol)
        if formula is None or not isinstance(symbol.type, Scalar):
            return None
        return self._products.polynomial(formula, universe()).converted(symbol.type.element)

    def place(self, node: c_ast.Node, domain: isl.Set) -> isl.PwAff | Polynomial:
        """Return a first subscript: an affine function, or a polynomial where there are products of sizes.

        Raise NotModelledError where it is neither.
        """
        try:
            return self.integers.value(node, domain).pa
        except NotModelledError:
            return self._products.polynomial(node, domain)

    def _rely_on(self, symbol: Symbol) -> None:
        """Note what the known value of a variable needs to be right."""
        self.assumptions += [a for a in self._needs.get(symbol, ()) if a not in self.assumptions]

    def _fixed_element(self, node: c_ast.Node) -> Value | None:
        """Return the value of an integer at fixed subscripts, ``size[0]``, that the region never changes."""
        if self._integers_may_change() or not self._has_fixed_subscripts(node):
            return None
        place = self.finder.find(node)
        if place.record is not None or not is_integer(place.element.element):
            return None
        inside = place.symbol in self.facts.inside or self.facts.writes_into(place.symbol)
        return None if inside else self.parameter(_as_variable(place), node)

    def _has_fixed_subscripts(self, node: c_ast.Node) -> bool:
        while isinstance(node, c_ast.ArrayRef):
            index = node.subscript
            if not isinstance(index, c_ast.Constant) or integer_constant(index) is None:
                return False
            node = node.name
        return isinstance(node, (c_ast.ID, c_ast.StructRef))

    def _integers_may_change(self) -> bool:
        """Whether the region writes an integer anywhere but in variables: through pointers it may be any."""
        if self._writes_integers is None:
            targets = [target for item in self.facts.items for target, _, _ in writes(item)]
            kinds = [self.finder.type_of(t) for t in targets if not isinstance(t, c_ast.ID)]
            self._writes_integers = any(not isinstance(k, Scalar) or is_integer(k.element) for k in kinds)
        return self._writes_integers

    def parameter(self, place: Place, node: c_ast.Node) -> Value:
        """Return the value of an integer variable that the region does not write."""
        key = (place.symbol, place.fields)
        if key not in self.parameters:
            self._refuse_mixtures(place, node)
            name = self._name(key)
            self.parameters[key] = (name, place, node)
            self.context = self.context.intersect(_type_range(name, place.element.element))
            if place.element.element.size > 4:
                size = parameter(name)
                self.moderate = self.moderate.intersect(size.le_set(constant(2**40)))
                self.moderate = self.moderate.intersect(size.ge_set(constant(-(2**40))))
        return Value(parameter(self.parameters[key][0]), place.element.element)

    def _inlined(self, call: c_ast.FuncCall, domain: isl.Set) -> Value:
        return self._inliner.value(call, domain, self.integers)

    def require(self, domain: isl.Set, holds: isl.Set, node: c_ast.Node, why: str) -> None:
        """Note that the model is right only where ``holds`` is true for all points of ``domain``."""
        if domain.is_subset(holds):
            return
        bad = domain.intersect(self.context).subtract(holds)
        if bad.is_empty():
            return
        sizes = _plain(sizes_only(domain.intersect(self.context)))
        self.assumptions.append(Assumption(_plain(sizes_only(bad)), sizes, node, why))

    def _emitter(self, draft: Draft) -> Emitter:
        return Emitter(draft, self.finder, self.integers, self._names, self.calls, self._types, self.problems)

    def _side_effects(self, node: c_ast.Node, conditional: bool) -> None:
        """Forget the variables that an expression or ``if`` writes anywhere but as a whole statement does.

        To be called before its text is made: which of its parts see the new value is not followed.
        """
        for symbol, target in self.facts.symbols_written_in(node).items():
            if not isinstance(symbol.type, Scalar):
                continue
            value = self.facts.new_value(node, symbol)
            if value is not None and (value is getattr(node, "rvalue", None) or symbol not in self.stale):
                continue
            if symbol in self.stale:
                raise self.problems.refuse(
                    "SW220",
                    f"'{symbol.name}' is updated behind a loop that counts with it",
                    target,
                    "set it with a statement of its own, or use another variable for the loop",
                )
            self._set(symbol, None, conditional)

    def _track(self, node: c_ast.Node, where: Position) -> None:
        """Follow the value of the integer scalar that ``node`` as a whole assigns."""
        target = node.lvalue if isinstance(node, c_ast.Assignment) else getattr(node, "expr", None)
        symbol = self.facts.bindings.symbol(target) if isinstance(target, c_ast.ID) else None
        if symbol is None or symbol not in self.facts.symbols_written_in(node):
            return
        if not isinstance(symbol.type, Scalar):
            return
        value = None if where.guards else self.facts.new_value(node, symbol)
        known = None if value is None else self._try_value(symbol, value, where.domain)
        self._set(symbol, known, bool(where.guards))

    def _set(self, symbol: Symbol, value: Known | None, conditional: bool) -> None:
        if symbol in self.stale and conditional:
            raise NotModelledError(
                self.problems.make(
                    "SW220",
                    f"the counter '{symbol.name}' is set behind its loop under a data-dependent condition",
                    self.stale[symbol],
                    "use a variable of its own",
                )
            )
        self.stale.pop(symbol, None)
        self._values[symbol] = value

    def _try_value(self, symbol: Symbol, node: c_ast.Node, domain: isl.Set) -> Known | None:
        if not isinstance(symbol.type, Scalar) or not is_integer(symbol.type.element):
            return None
        before = len(self.assumptions)
        try:
            value = self._converted(node, symbol.type.element, domain)
            self._needs[symbol] = self.assumptions[before:]
            return value
        except NotModelledError:
            return None
        finally:
            del self.assumptions[before:]

    def _converted(self, node: c_ast.Node, target: ElementType, domain: isl.Set) -> Known | None:
        """Return the value of ``node`` as one of type ``target``, None where that may change it."""
        before = len(self.assumptions)
        try:
            return self.integers.convert(self.integers.value(node, domain), target, domain, node)
        except NotModelledError:
            del self.assumptions[before:]
            return self._products.polynomial(node, domain).converted(target)

    def _forget(self, node: c_ast.Node) -> None:
        """Drop what is known of the variables that ``node`` may change."""
        for symbol in self.facts.scalars_written_in(node):
            self._values[symbol] = None
            if symbol in self.facts.outer_counters(node):
                self.stale[symbol] = node


def _as_variable(place: Place) -> Place:
    """Return a fixed element of an array as a variable: its subscripts are part of its name."""
    indices = [str(s.value) for s in place.subscripts if isinstance(s, c_ast.Constant)]
    path = place.path + "".join(f"[{index}]" for index in indices)
    return replace(place, path=path, fields=(*place.fields, *indices), kind=place.element, subscripts=())


def _parameter_names(points: isl.Set) -> list[str]:
    return [str(points.get_dim_name(isl.dim_type.param, i)) for i in range(points.dim(isl.dim_type.param))]


def sizes_only(points: isl.Set) -> isl.Set:
    """Return the sizes for which there is a point, counters projected out."""
    return without(points, [name for name in _parameter_names(points) if "'" in name])


def _plain(sizes: isl.Set) -> isl.Set:
    """Return ``sizes``, or something larger where they are complicated (their complement is to be tested)."""
    exact = sizes.compute_divs().coalesce()
    return exact if exact.n_basic_set() <= _LARGEST_UNION else exact.remove_divs().coalesce()


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
