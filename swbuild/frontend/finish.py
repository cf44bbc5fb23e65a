"""From drafts to the finished :class:`~swbuild.frontend.scop.Scop`: arrays, relations, domains, schedule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.c import AccessRef, ParameterRef
from swbuild.expressions.nodes import Expression
from swbuild.expressions.trees import transformed, walk
from swbuild.frontend.assumptions import refuse_impossible, where_right
from swbuild.frontend.builder import RegionBuilder
from swbuild.frontend.ctype import Scalar
from swbuild.frontend.drafts import Draft, Loop, Object, RawAccess, drafts_in
from swbuild.frontend.integers import universe
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.relations import aligned, instances, moved_in, where_equal, where_inside
from swbuild.frontend.scop import (
    Access,
    AccessKind,
    Iterator,
    Parameter,
    Statement,
    Storage,
)
from swbuild.frontend.shapes import Shape, Shapes
from swbuild.frontend.splitting import split_crossings, split_jumps
from swbuild.frontend.state import Size
from swbuild.frontend.symbols import Symbol
from swbuild.frontend.textual_order import textual_order

__all__ = ["Finished", "finish"]


@dataclass(frozen=True, slots=True)
class Finished:
    """The parts of a Scop that come from the walk."""

    parameters: tuple[Parameter, ...]
    statements: tuple[Statement, ...]
    shapes: dict[Object, Shape]
    schedule: isl.Schedule
    context: isl.Set
    assumptions: isl.Set


class _Finisher:
    def __init__(self, builder: RegionBuilder, shapes: Shapes) -> None:
        self.builder, self.shapes = builder, shapes
        self.names: dict[Draft, str] = {}
        self.domains: dict[Draft, isl.Set] = {}
        #: Loops that are alike in the source, by their nodes.
        self.loops: dict[Iterator, list[int]] = {}
        self.space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0)

    # -- spaces ---------------------------------------------------------------------------------

    def relation(self, access: RawAccess, draft: Draft) -> isl.Map:
        """Return the map from instances of the statement to elements."""
        shape = self.shapes.of(access.object)
        space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(shape.extents))
        space = space.set_tuple_name(isl.dim_type.set, access.object.name)
        image = isl.Set.universe(space)
        subscripts = shape.subscripts(access)
        # A free inner subscript may reach into other rows, so that no subscript tells which row it is.
        free = any(s is None for s in subscripts[1:])
        for position, subscript in enumerate(subscripts):
            if subscript is not None and not free:
                image = image.intersect(where_equal(space, position, subscript))
            else:
                image = image.intersect(where_inside(space, position, shape.extents[position]))
        image = image.intersect_params(access.domain)
        if access.conditional:
            inside = isl.Set.universe(space)
            for position, extent in enumerate(shape.extents):
                if shape.trusted(position):
                    inside = inside.intersect(where_inside(space, position, extent))
            # Where nothing is left the access never happens; an empty relation would leave it without a text.
            image = image if image.is_disjoint(inside) else image.intersect(inside)
        relation = aligned(moved_in(image, draft.loops, self.names[draft]), self.space)
        return relation.coalesce().remove_redundancies()

    # -- assumptions ----------------------------------------------------------------------------

    def check_subscripts(self, drafts: Sequence[Draft]) -> None:
        """Require that all affine subscripts stay inside the extents."""
        for access in (access for draft in drafts for access in _by_reference(draft)):
            self.builder.objects.require(
                access.domain,
                self._inside(access),
                access.node,
                f"the subscripts of '{access.object.place.path}' must stay inside its extents",
            )

    def _inside(self, access: RawAccess) -> isl.Set:
        """Return where the subscripts stay inside the extents, as far as C does not say so itself."""
        shape, inside = self.shapes.of(access.object), universe()
        for position, subscript in enumerate(shape.subscripts(access)):
            if subscript is None or (access.conditional and shape.trusted(position)):
                continue
            extent = shape.extents[position]
            inside = inside.intersect(subscript.nonneg_set()) if shape.has_start(position) else inside
            inside = inside.intersect(subscript.lt_set(extent)) if extent is not None else inside
            if shape.count is not None and position == 0:
                inside = inside.intersect(subscript.nonneg_set()).intersect(subscript.lt_set(shape.count))
        return inside

    # -- statements -----------------------------------------------------------------------------

    def statement(self, draft: Draft, parameters: dict[Object, str]) -> Statement:
        """Return the finished statement; scalars that became parameters lose their accesses."""
        gone = {a.ref: parameters[a.object] for a in draft.accesses if a.object in parameters}
        needed = self._needed(draft) - gone.keys()
        relations = {a.ref: self.relation(a, draft) for a in _by_reference(draft) if a.ref in needed}
        accesses = tuple(self._access(a, relations[a.ref], gone) for a in draft.accesses if a.ref in needed)
        span = self.builder.around.problems.locator.span
        iterators = tuple(self._iterator(loop) for loop in draft.loops)
        return Statement(
            self.names[draft],
            self.domains[draft],
            iterators,
            accesses,
            _resolved(draft.body, gone),
            span(draft.node),
        )

    def _iterator(self, loop: Loop) -> Iterator:
        found = Iterator(loop.name, loop.type, self.builder.around.problems.locator.span(loop.node))
        alike = self.loops.setdefault(found, [])
        if id(loop.node) not in alike:
            alike.append(id(loop.node))
        return replace(found, copy=alike.index(id(loop.node)))

    def _needed(self, draft: Draft) -> set[int]:
        """Return the references in the body and in the subscripts that are not affine."""
        needed = _refs(draft.body)
        # Subscripts precede the access that they belong to, so one pass from the end finds them all.
        for access in reversed(draft.accesses):
            if access.ref in needed and not self._is_affine(access):
                needed = needed.union(*map(_refs, access.trees))
        return needed

    def _is_affine(self, access: RawAccess) -> bool:
        return all(s is not None for s in self.shapes.of(access.object).subscripts(access))

    def without_idle(self, drafts: list[Draft], lasting: set[Object]) -> list[Draft]:
        """Leave out statements that only set scalars that nothing reads; ``lasting`` ones are read later."""
        while True:
            needed = {draft: self._needed(draft) for draft in drafts}
            read = {
                access.object
                for draft in drafts
                for access in draft.accesses
                if access.kind is AccessKind.READ and access.ref in needed[draft]
            }
            useful = [d for d in drafts if any(_matters(access, read | lasting) for access in d.accesses)]
            if len(useful) == len(drafts):
                return drafts
            drafts = useful

    def _access(self, access: RawAccess, relation: isl.Map, gone: dict[int, str]) -> Access:
        affine = self._is_affine(access)
        index = () if affine else tuple(_resolved(tree, gone) for tree in access.trees)
        kind = access.kind
        if not affine and kind is AccessKind.MUST_WRITE:
            kind = AccessKind.MAY_WRITE
        return Access(
            access.object.name,
            kind,
            relation,
            access.ref,
            affine,
            self.builder.around.problems.locator.span(access.node),
            index,
        )


def finish(builder: RegionBuilder, shapes: Shapes, live_after: Callable[[Symbol], bool]) -> Finished | None:
    """Return the finished parts, or None if the region computes nothing (or has problems, then collected).

    ``live_after``: whether the value that a variable has at the end may be read later.
    """
    work = _Finisher(builder, shapes)
    root = split_crossings(split_jumps(builder.root, builder.state.context), builder.state.context)
    drafts = list(drafts_in(root))
    for thing in dict.fromkeys(a.object for d in drafts for a in d.accesses):
        try:
            shapes.settle(thing, [a for d in drafts for a in d.accesses if a.object is thing])
        except NotModelledError as problem:
            builder.around.problems.add(problem.diagnostic)
    if builder.around.problems.found:
        return None
    parameters = _scalar_parameters(builder)
    work.check_subscripts(drafts)
    work.space = _parameter_space(builder)
    alive = [d for d in drafts if not d.domain.intersect(builder.state.context).is_empty()]
    outside = {t for t in builder.state.objects.values() if t.storage is not Storage.REGION}
    lasting = {t for t in outside if not isinstance(t.symbol.type, Scalar) or live_after(t.symbol)}
    alive = work.without_idle(alive, lasting) or work.without_idle(alive, outside)
    for number, draft in enumerate(alive):
        work.names[draft] = f"S{number}"
        domain = aligned(instances(draft.domain, draft.loops, f"S{number}"), work.space)
        work.domains[draft] = domain.coalesce().remove_redundancies()
    schedule = textual_order(root, work.domains)
    if schedule is None:
        return None
    statements = tuple(work.statement(draft, parameters) for draft in alive)
    context = aligned(builder.state.context, work.space)
    assumptions = aligned(where_right(builder.state, alive), work.space).gist(context)
    refuse_impossible(builder.state, builder.around.problems, alive, assumptions)
    return Finished(_parameters(builder), statements, shapes.settled, schedule, context, assumptions)


def _scalar_parameters(builder: RegionBuilder) -> dict[Object, str]:
    """Return the scalars that are parameters, with their names."""
    return {
        thing: builder.state.parameters[key].name
        for key, thing in builder.state.objects.items()
        if key in builder.state.parameters
    }


def _parameter_space(builder: RegionBuilder) -> isl.Space:
    names = [p.name for p in _parameters(builder)] + [q.name for q in builder.state.quotients]
    space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, len(names))
    for position, name in enumerate(names):
        space = space.set_dim_name(isl.dim_type.param, position, name)
    return space


def _parameters(builder: RegionBuilder) -> tuple[Parameter, ...]:
    """Return the parameters in the order of their declarations."""

    def order(size: Size) -> tuple[int, int, str]:
        coord = getattr(size.place.symbol.node, "coord", None)
        if coord is None:
            return 0, 0, size.name
        return int(coord.line or 0), int(coord.column or 0), size.name

    span = builder.around.problems.locator.span
    return tuple(
        Parameter(name, place.path, place.element.element, span(node))
        for name, place, node in sorted(builder.state.parameters.values(), key=order)
    )


def _by_reference(draft: Draft) -> Collection[RawAccess]:
    """Return one access for each reference: what reads and writes one element does so with one subscript."""
    found: dict[int, RawAccess] = {}
    for access in draft.accesses:
        found.setdefault(access.ref, access)
    return found.values()


def _matters(access: RawAccess, read: set[Object]) -> bool:
    """Whether an access writes an array, or a scalar in ``read``."""
    return access.kind is not AccessKind.READ and (access.object.rank > 0 or access.object in read)


def _refs(tree: Expression) -> set[int]:
    return {node.ref for node in walk(tree) if isinstance(node, AccessRef)}


def _resolved(tree: Expression, gone: dict[int, str]) -> Expression:
    """Return the tree with references to what became parameters in their place."""

    def change(node: Expression) -> Expression:
        if isinstance(node, AccessRef) and node.ref in gone:
            return ParameterRef(node.type, gone[node.ref])
        return node

    return transformed(tree, change) if gone else tree
