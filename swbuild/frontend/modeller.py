"""One region: from its statements to a Scop, or to the reasons why there is none."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

import islpy as isl
from pycparser import c_ast

from swbuild.frontend.arrays import ArrayMaker
from swbuild.frontend.builder import RegionBuilder
from swbuild.frontend.calls import Calls
from swbuild.frontend.claims import Claim, claims_inside, claims_of_places, claims_of_typedefs
from swbuild.frontend.contracting import contracted_text
from swbuild.frontend.ctype import UNMODELLED, ArrayType, Pointer, Scalar, StructType
from swbuild.frontend.exchanges import without_exchanges
from swbuild.frontend.facts import RegionFacts
from swbuild.frontend.finish import Finished, finish
from swbuild.frontend.liveness import Liveness
from swbuild.frontend.nested import NestedExpander
from swbuild.frontend.places import Place, PlaceFinder
from swbuild.frontend.plain_forms import in_plain_forms
from swbuild.frontend.pointer_rows import with_pointers_named
from swbuild.frontend.problems import Locator, NotModelledError, Problems
from swbuild.frontend.regions import Region, names_outside_regions
from swbuild.frontend.request import RefusedRegion, RegionRequest
from swbuild.frontend.row_tables import RowTables, held_tables, tables_of
from swbuild.frontend.scop import Array, RowTable, Scop, Storage, Variable, VariableKind
from swbuild.frontend.shapes import Shapes
from swbuild.frontend.stated import Stated
from swbuild.frontend.symbols import Bindings, FileScope, Symbol, bind_function, identifiers, walk

__all__ = ["model_region"]

#: isl's own measure; the largest ordinary kernels take a tenth of it.
_MOST_OPERATIONS = 3_000_000
_DEEPEST = 5000


def model_region(
    region: Region, request: RegionRequest, scope: FileScope, locator: Locator
) -> tuple[Scop, tuple[Claim, ...]] | RefusedRegion:
    """Return the model of ``region`` with what it claims of types, or the refusal with every reason found."""
    problems = Problems(locator)
    made = None
    try:
        with _bounded_work():
            work = _Modeller(region, request, scope, problems)
            scop = work.scop()
            made = None if scop is None else (scop, work.claims())
    except NotModelledError as problem:
        problems.add(problem.diagnostic)
    except (isl.Error, RecursionError):
        problems.add(
            problems.make(
                "SW229",
                "the loops and conditions of this region are too complicated to be analysed",
                region.begin,
                "split the region, simplify its conditions, or state sizes with 'params' and 'assume'",
            )
        )
    if made is None:
        return RefusedRegion(request.name, region.span, tuple(sorted(problems.found, key=lambda d: d.span)))
    return made


@contextmanager
def _bounded_work() -> Generator[None, None, None]:
    """Let isl give up (with an isl.Error) instead of working for minutes; allow for long expressions."""
    context, depth = isl.DEFAULT_CONTEXT, sys.getrecursionlimit()
    sys.setrecursionlimit(max(depth, _DEEPEST))
    before = context.get_max_operations()
    context.reset_operations()
    context.set_max_operations(_MOST_OPERATIONS)
    try:
        yield
    finally:
        context.set_max_operations(before)
        context.reset_operations()
        sys.setrecursionlimit(depth)


class _Modeller:
    def __init__(self, region: Region, request: RegionRequest, scope: FileScope, problems: Problems) -> None:
        self.region, self.request, self.problems = region, request, problems
        scope = scope.inner()
        self.bindings = bind_function(region.function, scope)
        scope.hide(region.function)
        self.calls = Calls(scope, problems)
        self.liveness = Liveness(region.function, self.bindings, region.end)
        self.named = _named_outside(region, self.bindings)
        self.declared = [n for item in region.items for n in walk(item) if id(n) in self.bindings.declared]
        self.finder = PlaceFinder(self.bindings, problems, scope.integer)
        self.contracted = contracted_text(region.items, scope, self.calls)
        later = self.liveness.live_after
        plain = in_plain_forms(region.items, region.function, self.bindings, scope, later)
        plain = with_pointers_named(plain, region.function, self.bindings, scope, self.finder.type_of)
        plain, self.after = without_exchanges(plain, self.bindings, scope, later)
        expander = NestedExpander(scope, self.bindings, self.calls, self.finder)
        self.visible = self.bindings.visible.get(id(region.begin), {})
        expanded = expander.items(plain, _named_elsewhere(region, self.bindings))
        self.tables = RowTables(self.bindings, scope, self.finder.type_of, self.visible)
        self.items = self.tables.items(expanded)
        facts = RegionFacts(self.items, self.bindings, region.function, scope)
        self.builder = RegionBuilder(facts, scope, problems, self.calls, self.visible)

    def scop(self) -> Scop | None:
        stated = Stated(self.region, self.request, self.builder, self.visible)
        given = stated.shapes()
        stated.apply_params()
        self.builder.build(self.items)
        stated.apply_assumed()
        self._check_afterwards()
        finished = finish(self.builder, Shapes(self.builder, given), self.liveness.live_after)
        if finished is None or self.problems.found:
            if not self.problems.found:
                self.problems.add(
                    self.problems.make(
                        "SW228",
                        "the region computes nothing",
                        self.region.begin,
                        "put the pragmas around the loops",
                    )
                )
            return None
        tables = tuple(tables_of(self.tables.found.values(), self.builder, finished))
        return None if self.problems.found else self._assemble(finished, tables)

    def claims(self) -> tuple[Claim, ...]:
        """Return what the model takes for true of the types of what is in sight or declared inside."""
        locator, around = self.problems.locator, self.builder.around
        rows = (rows.place for rows in self.tables.found.values())
        places = [*{**self.finder.found, **around.finder.found}.values(), *rows]
        seen = (place for place in places if self.visible.get(place.symbol.name) is place.symbol)
        outside = claims_of_places(seen, around.scope.integer, locator)
        in_sight = around.scope.typedefs_before[self.region.name] - UNMODELLED - self.visible.keys()
        types = ((n, kind) for n, kind in around.scope.types.typedefs.items() if n in in_sight)
        named = claims_of_typedefs(types, self.region.span)
        return tuple(dict.fromkeys([*outside, *named, *claims_inside(self.declared, self.bindings, locator)]))

    def _assemble(self, finished: Finished, tables: tuple[RowTable, ...]) -> Scop:
        space = finished.context.get_space().params()
        maker = ArrayMaker(self.builder, self.liveness, finished.shapes, finished.statements, space)
        locator, names = self.problems.locator, frozenset(symbol.name for symbol in self.named)
        arrays = maker.arrays()
        return Scop(
            name=self.request.name,
            function=self.region.name,
            label=self.region.label,
            source=locator.path,
            span=self.region.span,
            parameters=finished.parameters,
            quotients=self.builder.state.quotients,
            tables=tables,
            arrays=arrays,
            statements=finished.statements,
            schedule=finished.schedule,
            context=finished.context,
            assumptions=finished.assumptions,
            after=self.after,
            includes=tuple(sorted(self.calls.includes)),
            prelude=tuple(self.calls.prelude.values()),
            sets_errno=tuple(sorted(self.calls.sets_errno)),
            around=self._around(),
            given=self._given(),
            idle=self._idle(arrays),
            contracted=self.contracted,
            tag=_tag(self.region, self.builder.around.scope),
            only_here=names - names_outside_regions(self.region.function.body),
            overlaps=maker.aliasing.pairs(),
            held=(*maker.aliasing.held(), *held_tables(tables, arrays, finished)),
        )

    def _around(self) -> tuple[Variable, ...]:
        """Return the function's own variables that are in sight at the region."""
        own = (s for s in self.visible.values() if s.storage is not Storage.GLOBAL or s.is_static)
        return tuple(Variable(s.name, _variable_kind(s), self._keeps_value(s)) for s in own)

    def _keeps_value(self, symbol: Symbol) -> bool:
        """Whether the model takes a variable for what its initialiser says."""
        known = self.builder.around.facts.constant(symbol) is not None
        return known or self.builder.around.definitions.formula(symbol) is not None

    def _given(self) -> frozenset[str]:
        """Return the names of the objects whose values the source states for good."""
        places = [(thing.name, thing.place) for thing in self.builder.state.objects.values()]
        places += [(name, place) for name, place, _ in self.builder.state.parameters.values()]
        return frozenset(name for name, place in places if _is_given(place))

    def _idle(self, arrays: tuple[Array, ...]) -> tuple[str, ...]:
        """Return the expressions for the arrays that the region names and the model does without."""
        known = {array.name for array in arrays}
        things = [
            t for t in self.builder.state.objects.values() if t.rank and t.storage is not Storage.REGION
        ]
        return tuple(thing.place.path for thing in things if thing.name not in known)

    def _check_afterwards(self) -> None:
        """Refuse what cannot be had once the region is replaced: counters and declarations used behind it."""
        for symbol, node in list(self.builder.state.flow.stale.items()):
            live = symbol not in self.builder.around.facts.inside and self.liveness.live_after(symbol)
            if live and not self.builder.statements.write_back(symbol):
                self.problems.add(
                    self.problems.make(
                        "SW220",
                        f"the loop counter '{symbol.name}' may be used after the region",
                        node,
                        "declare it in the loop's head, or set it again before using it",
                    )
                )
        for symbol in sorted(self.builder.around.facts.inside, key=lambda s: s.name):
            if self.liveness.named_outside(symbol, self.region.items):
                self.problems.add(
                    self.problems.make(
                        "SW222",
                        f"'{symbol.name}' is declared inside the region but used after it",
                        symbol.node,
                        "move the declaration before '#pragma scop'",
                    )
                )


def _tag(region: Region, scope: FileScope) -> str:
    """Return the file's tag for a region in a function that other files may have a namesake of."""
    return scope.tag if "static" in region.function.decl.storage else ""


def _named_elsewhere(region: Region, bindings: Bindings) -> frozenset[Symbol]:
    """Return the variables that the function names before or after the region."""
    inside = {id(name) for item in region.items for name in identifiers(item)}
    names = (name for name in identifiers(region.function.body) if id(name) not in inside)
    return frozenset(symbol for name in names if (symbol := bindings.symbol(name)) is not None)


def _named_outside(region: Region, bindings: Bindings) -> list[Symbol]:
    """Return the function's variables that the region or their own extents name."""
    inside = {id(node) for item in region.items for node in walk(item)}
    found: dict[Symbol, None] = {}
    pending = [name for item in region.items for name in identifiers(item)]
    while pending:
        symbol = bindings.symbol(pending.pop())
        if symbol is None or symbol in found or symbol.storage not in (Storage.LOCAL, Storage.PARAMETER):
            continue
        if symbol.node is not None and id(symbol.node) not in inside and not symbol.is_static:
            found[symbol] = None
            pending += identifiers(symbol.node.type)
    return list(found)


def _variable_kind(symbol: Symbol) -> VariableKind:
    kind = symbol.type
    if isinstance(kind, Scalar):
        return VariableKind.NUMBER
    if isinstance(kind, Pointer) or (isinstance(kind, ArrayType) and symbol.storage is Storage.PARAMETER):
        record = isinstance(kind.target, StructType) and bool(kind.target.fields)
        return VariableKind.RECORD_POINTER if record else VariableKind.POINTER
    return VariableKind.OTHER


def _is_given(place: Place) -> bool:
    """Whether a place lies in a constant that the source initialises, and no other value can be had there."""
    node = place.symbol.node
    if place.through_pointer or not isinstance(node, c_ast.Decl) or node.init is None:
        return False
    variable = isinstance(place.symbol.type, Scalar) and place.symbol.storage is Storage.LOCAL
    return "const" in node.quals and not variable
