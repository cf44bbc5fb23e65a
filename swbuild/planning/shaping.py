"""The numbers of a kernel (:class:`~swbuild.planning.shape.KernelShape`), taken from one tiling of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Access, AccessKind, Scop, Statement
from swbuild.islnumbers import int_of, val_of
from swbuild.machine import MachineModel, load
from swbuild.machine.cost.blocks import turn_cycles
from swbuild.mapping.regiontree import Kernel
from swbuild.mapping.tiling import TiledKernel, values_of_loops
from swbuild.memory.hazards import are_apart
from swbuild.memory.levels import Level, find_levels
from swbuild.memory.tables import table_extents
from swbuild.memory.words import is_small, words_of
from swbuild.options import KernelOptions
from swbuild.planning.apart import buffers_of
from swbuild.planning.computing import body_of
from swbuild.planning.counting import Bounds, bounds_of
from swbuild.planning.loops import Inner, Vector, factors_of, innermost, row_of
from swbuild.planning.pointnests import Copied
from swbuild.planning.rounds import is_triangle
from swbuild.planning.shape import Copies, Family, KernelShape, Loop, Place, Subscript, Work
from swbuild.planning.tilecosts import Tileable, tile_costs
from swbuild.polyhedral.islutil import constant_of, maps_of, sets_of, union_maps
from swbuild.polyhedral.privatise import Private, private_bytes

__all__ = ["copies_of", "domains_of", "shape_of"]

#: Averages of as many iterations as there are may be off by this part of them.
_ROUNDING = 1e-9

_IN, _OUT, _SET, _PARAM = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.param

#: A limit that is no more than the range of a type.
_TYPE = 1 << 28

#: What references span beside tiled loops, at most, to have a buffer in the estimate.
_FREE = 100

#: In how many places it is looked at how many instances a value of a loop has.
_WEIGHTS = 16


@dataclass(frozen=True, slots=True)
class _Nest:
    """One statement in its kernel: ``rows`` are its loops as functions of its iterators, by position.

    ``domain`` are its instances in one launch, or in all of them, at the assumed sizes.  ``fixed`` are
    functions with one value in all of them; iterators ``free`` depend on neither.  ``bounds`` are those of
    all iterators, ``ordered`` of those that loops count, in the order of the loops.
    """

    statement: Statement
    rows: dict[int, Vector]
    fixed: dict[Vector, int]
    free: tuple[int, ...]
    domain: isl.Set
    bounds: Bounds
    ordered: Bounds
    instances: float


def shape_of(
    scop: Scop,
    tiled: TiledKernel,
    private: frozenset[str],
    sizes: Mapping[str, int],
    options: KernelOptions,
    copies: Copied,
    turned: frozenset[tuple[str, int]] = frozenset(),
) -> KernelShape:
    """Return the numbers of ``tiled`` at ``sizes``; ``private`` variables (with ``copies``) cost nothing.

    Boxes of the references ``turned`` have turned copies.
    """
    times = bounds_of(_at_sizes(tiled.kernel.launches, sizes)).count(())
    nests = [_nest(scop, tiled, piece, sizes) for piece in sets_of(tiled.kernel.domain)]
    top = find_levels(tiled)
    mapped = frozenset(range(len(tiled.mapping.threads)))
    places = tuple(_places(top, mapped, len(tiled.loops), nests))
    free = _unlimited(scop)
    loops = tuple(_loop(tiled, nests, k, free, sizes) for k in range(len(tiled.loops)))
    order = _orders(tiled, nests)
    buffers = buffers_of(scop, {nest.statement.name: nest.domain for nest in nests}, private)
    tiles = tile_costs(scop, tiled.schedule, copies, buffers, options)
    machine = load(options.machine)
    families, direct = _families(scop, tiled, nests, places, private, sizes, machine)
    families = tuple(replace(each, turned=not turned.isdisjoint(each.refs)) for each in families)
    works = tuple(
        _work(scop, nest, private, machine, *order[nest.statement.name], tiles.get(nest.statement.name))
        for nest in nests
    )
    return KernelShape(
        len(tiled.mapping.threads),
        loops,
        places,
        families,
        works,
        max(1.0, times),
        direct,
        ahead=options.gets_ahead,
        triangle=not tiled.kernel.host_loops and is_triangle(tiled),
    )


def domains_of(kernel: Kernel, sizes: Mapping[str, int]) -> dict[str, isl.Set]:
    """Return the instances of each statement of ``kernel`` in the launch in the middle, at ``sizes``."""
    return {
        str(piece.get_tuple_name()): _at_middle(piece, kernel.launches, kernel.host_loops, sizes)
        for piece in sets_of(kernel.domain)
    }


def copies_of(scop: Scop, tiled: TiledKernel, private: Private, names: Iterable[str]) -> tuple[Copies, ...]:
    """Return what the LDM holds of the private variables ``names``, of constant size, for a tile."""
    return tuple(_copies(scop, tiled, private, name) for name in sorted(names))


def _copies(scop: Scop, tiled: TiledKernel, private: Private, name: str) -> Copies:
    user = min(scop.users(name) & set(tiled.kernel.statements))
    depth, count = private.expansions[(user, name)].depth, len(scop.statement(user).iterators)
    rows = [row_of(loop, user, count) for loop in tiled.loops]
    loops = tuple(k for k, row in enumerate(rows) if row is not None and any(row) and not any(row[depth:]))
    return Copies(private_bytes(scop.array(name)) or 0, loops)


def _places(level: Level, above: frozenset[int], loops: int, nests: Sequence[_Nest]) -> Iterable[Place]:
    """Yield the places at ``level`` and below; there are ``loops``, of the last levels none is above."""
    yield Place(level.number, above, _fixed_at(level, nests), level.statements)
    for child in level.children:
        tiled = frozenset({child.number - 1} if child.number <= loops else ())
        yield from _places(child, above | tiled, loops, nests)


def _fixed_at(level: Level, nests: Sequence[_Nest]) -> frozenset[int]:
    """Return the loops whose iterations are counted one by one above ``level``."""
    prefixes = {str(piece.get_tuple_name(_IN)): piece for piece in maps_of(level.prefix)}
    found = set()
    for nest in nests:
        if nest.statement.name in prefixes:
            values = isl.PwMultiAff.from_map(prefixes[nest.statement.name])
            count = len(nest.statement.iterators)
            rows = [factors_of(values.get_pw_aff(k), count) for k in range(values.dim(_OUT))]
            found |= {k for k, row in nest.rows.items() if row in rows}
    return frozenset(found)


def _nest(scop: Scop, tiled: TiledKernel, piece: isl.Set, sizes: Mapping[str, int]) -> _Nest:
    name = str(piece.get_tuple_name())
    statement = scop.statement(name)
    rows = {}
    for k, loop in enumerate(tiled.loops):
        row = row_of(loop, name, len(statement.iterators))
        if row is not None and any(row):
            rows[k] = row
    fixed = _at_middle(piece, tiled.kernel.launches, tiled.kernel.host_loops, sizes)
    bounds = bounds_of(fixed.reset_tuple_id())
    basis: list[Vector] = []
    for row in rows.values():
        basis = basis if _coordinates(basis, row) is not None else [*basis, row]
    equal = {row: value for row, value in _fixed_values(fixed) if _coordinates(basis, row) is None}
    basis += equal
    free = []
    for k in range(len(statement.iterators)):
        unit = _unit(k, len(statement.iterators))
        if _coordinates(basis, unit) is None:
            basis.append(unit)
            free.append(k)
    iterators = _iterators(rows)
    known = iterators == list(range(len(iterators)))
    ordered = bounds if known else bounds_of(_in_order(fixed.reset_tuple_id(), iterators))
    return _Nest(statement, rows, equal, tuple(free), fixed, bounds, ordered, bounds.count(()))


def _fixed_values(domain: isl.Set) -> Iterable[tuple[Vector, int]]:
    """Yield functions that have one value all over ``domain``, with this value."""
    hull = domain.affine_hull()
    for constraint in hull.get_constraints() if not hull.is_empty() else ():
        row = tuple(_int(constraint.get_coefficient_val(_SET, k)) for k in range(hull.dim(_SET)))
        if any(row) and not hull.dim(isl.dim_type.div):
            yield row, -_int(constraint.get_constant_val())


def _unit(position: int, count: int) -> Vector:
    return tuple(int(k == position) for k in range(count))


def _at_middle(
    piece: isl.Set, launches: isl.Set, host_loops: Sequence[str], sizes: Mapping[str, int]
) -> isl.Set:
    """Return ``piece`` at ``sizes``, for the launch in the middle of all."""
    fixed = dict(sizes)
    bounds = bounds_of(_at_sizes(launches, sizes))
    point: tuple[int, ...] = ()
    for name in host_loops:
        first, values = bounds.span(point)
        point = (*point, first + values // 2 * bounds.steps[len(point)])
        fixed[name] = point[-1]
    return _at_sizes(piece, fixed)


def _at_sizes(found: isl.Set, sizes: Mapping[str, int]) -> isl.Set:
    """Return ``found`` without parameters: at ``sizes``, and anywhere for others."""
    for name, value in sizes.items():
        position = found.find_dim_by_name(_PARAM, name)
        if position >= 0:
            found = found.fix_val(_PARAM, position, val_of(value))
    return found.project_out(_PARAM, 0, found.dim(_PARAM))


def _coordinates(basis: Sequence[Vector], wanted: Vector) -> tuple[Fraction, ...] | None:
    """Return ``wanted`` as a sum of multiples of ``basis``, None where it is none."""
    columns = [[Fraction(row[k]) for row in basis] + [Fraction(wanted[k])] for k in range(len(wanted))]
    pivots: list[int] = []
    for column in range(len(basis)):
        below = [r for r in range(len(pivots), len(columns)) if columns[r][column]]
        if not below:
            continue
        here = len(pivots)
        columns[here], columns[below[0]] = columns[below[0]], columns[here]
        lead = columns[here]
        columns[here] = lead = [value / lead[column] for value in lead]
        for r in range(len(columns)):
            if r != here and columns[r][column]:
                factor = columns[r][column]
                columns[r] = [a - factor * b for a, b in zip(columns[r], lead, strict=True)]
        pivots.append(column)
    if any(row[-1] for row in columns[len(pivots) :]):
        return None
    found = [Fraction(0)] * len(basis)
    for r, column in enumerate(pivots):
        found[column] = columns[r][-1]
    return tuple(found)


def _loop(
    tiled: TiledKernel, nests: Sequence[_Nest], position: int, free: frozenset[str], sizes: Mapping[str, int]
) -> Loop:
    """Return the numbers of the loop at ``position``; nothing limits the parameters ``free``."""
    here = [nest for nest in nests if position in nest.rows and nest.instances]
    spans = [_values(nest, nest.rows[position]) for nest in here]
    low, high = min((s[0] for s in spans), default=0), max((s[1] for s in spans), default=0)
    extent = max(1, high - low + 1)
    main = max(here, key=lambda nest: nest.instances, default=None)
    taken = tiled.loops[position].intersect_domain(tiled.kernel.domain)
    values = sets_of(isl.UnionMap.from_union_pw_aff(taken).range())
    constant = all(map(_is_bounded, values))
    certain = constant or not any(_involves(piece, free) for piece in values)
    begins = position < len(tiled.begins) and tiled.begins[position] is not None
    first = 0 if begins else min((_first(tiled, piece, sizes) for piece in values), default=0)
    if main is None:
        return Loop(extent, float(extent), constant, certain, first=first)
    trips = _trips(main, position)
    if trips > extent * (1 - _ROUNDING):
        trips = float(extent)
    weights = _weights(here, position, low, extent)
    return Loop(extent, trips, constant, certain, weights, first)


def _first(tiled: TiledKernel, values: isl.Set, sizes: Mapping[str, int]) -> int:
    """Return the first of the ``values`` of a loop in the launch in the middle, 0 where they have none."""
    least = _at_middle(values, tiled.kernel.launches, tiled.kernel.host_loops, sizes).dim_min_val(0)
    return _int(least) if least.is_int() else 0


def _values(nest: _Nest, row: Vector) -> tuple[int, int]:
    space = isl.LocalSpace.from_space(nest.domain.get_space())
    value = isl.Aff.zero_on_domain(space)
    for k, factor in enumerate(row):
        value = value.add_coefficient_val(_IN, k, val_of(factor))
    low, high = nest.domain.min_val(value), nest.domain.max_val(value)
    return (_int(low), _int(high)) if low.is_int() and high.is_int() else (0, 0)


def _int(value: isl.Val) -> int:
    return int_of(value)


def _is_bounded(values: isl.Set) -> bool:
    """Return whether the span of ``values`` has a bound at all sizes."""
    pairs = values.reset_tuple_id().flat_product(values.reset_tuple_id())
    space = isl.LocalSpace.from_space(pairs.get_space())
    first, last = (isl.Aff.var_on_domain(space, _SET, k) for k in range(2))
    return bool(pairs.is_empty() or pairs.max_val(last.sub(first)).is_int())


def _involves(values: isl.Set, names: frozenset[str]) -> bool:
    """Return whether ``values`` depend on one of the parameters ``names``."""
    places = [values.find_dim_by_name(_PARAM, name) for name in names]
    return any(place >= 0 and values.involves_dims(_PARAM, place, 1) for place in places)


def _unlimited(scop: Scop) -> frozenset[str]:
    """Return the parameters of ``scop`` to which neither arrays nor what is known set a limit."""
    allowed = scop.context.intersect(scop.assumptions)
    found = set()
    for name in scop.numbers:
        place = allowed.find_dim_by_name(_PARAM, name)
        moved = allowed.params().insert_dims(_SET, 0, 1)
        if place >= 0:
            moved = allowed.params().insert_dims(_SET, 0, 0).move_dims(_SET, 0, _PARAM, place, 1)
        largest = moved.project_out(_PARAM, 0, moved.dim(_PARAM)).dim_max_val(0)
        if not largest.is_int() or _int(largest) >= _TYPE:
            found.add(name)
    return frozenset(found)


def _trips(nest: _Nest, position: int) -> float:
    """Return how many values the loop takes on average in one run, the loops before it being fixed.

    Without end where none of the runs that are looked at take any: then there is no telling.
    """
    iterators = _iterators(nest.rows)
    iterator = _iterator(nest.rows[position])
    if iterator is None:
        return float("inf")
    depth = iterators.index(iterator)
    outer, inner = (sum(w.weight for w in nest.ordered.sample(n, ())) for n in (depth, depth + 1))
    return inner / outer if inner else float("inf")


def _iterators(rows: Mapping[int, Vector]) -> list[int]:
    """Return the iterators that loops count, in their order."""
    found = [_iterator(rows[k]) for k in sorted(rows)]
    return list(dict.fromkeys(k for k in found if k is not None))


def _iterator(row: Vector) -> int | None:
    """Return the only iterator that a loop depends on, if there is only one."""
    used = [k for k, factor in enumerate(row) if factor]
    return used[0] if len(used) == 1 else None


def _in_order(domain: isl.Set, iterators: Sequence[int]) -> isl.Set:
    """Return the values that ``iterators`` take in ``domain``, in this order."""
    count, domain = len(iterators), domain.insert_dims(_SET, 0, len(iterators))
    for k, iterator in enumerate(iterators):
        domain = domain.equate(_SET, k, _SET, count + iterator)
    return domain.project_out(_SET, count, domain.dim(_SET) - count)


def _weights(nests: Sequence[_Nest], position: int, low: int, extent: int) -> tuple[float, ...]:
    """Return how many instances some values of the loop have, evenly spread; () where all have as many."""
    found = [0.0] * _WEIGHTS
    for nest in nests:
        row = nest.rows[position]
        only = [k for k in range(len(row)) if row[k]]
        if len(only) != 1:
            return ()
        if not _uneven(nest.bounds, only[0]):
            continue
        step = max(1, extent // _WEIGHTS)
        for cell in range(_WEIGHTS):
            value = (low + min(extent - 1, cell * step + step // 2)) * row[only[0]]
            found[cell] += _fixed(nest, only[0], value)
    return tuple(found) if any(found) else ()


def _uneven(bounds: Bounds, dimension: int) -> bool:
    """Return whether values of ``dimension`` have different numbers of points."""
    rows = (row for part in bounds.parts for row in part[dimension])
    return bounds.matters[dimension] or any(row.factor and row.terms for row in rows)


def _fixed(nest: _Nest, dimension: int, value: int) -> float:
    fixed = nest.domain.fix_val(_SET, dimension, val_of(value))
    return bounds_of(fixed.reset_tuple_id()).count(())


def _orders(tiled: TiledKernel, nests: Sequence[_Nest]) -> dict[str, tuple[tuple[int, ...], Inner | None]]:
    """Return, per statement, its loops in the order in which they run inside a tile.

    And the innermost of them.
    """
    found = {}
    values = {str(m.get_tuple_name(_IN)): m for m in maps_of(values_of_loops(tiled))}
    for nest in nests:
        count = len(nest.statement.iterators)
        order: list[int] = []
        whole = isl.PwMultiAff.from_map(values[nest.statement.name])
        for k in range(whole.dim(_OUT)):
            row = factors_of(whole.get_pw_aff(k), count)
            order += [p for p, known in nest.rows.items() if row == known and p not in order]
        found[nest.statement.name] = tuple(order), innermost(values[nest.statement.name])
    return found


def _work(
    scop: Scop,
    nest: _Nest,
    private: frozenset[str],
    machine: MachineModel,
    order: tuple[int, ...],
    inner: Inner | None,
    tiles: Tileable | None,
) -> Work:
    name = nest.statement.name
    cycles = turn_cycles(body_of(scop, nest.statement, machine, inner, private, ()).block, machine)
    if tiles is None:
        return Work(name, nest.instances, cycles, order)
    rows = [row_of(loop, name, len(nest.statement.iterators)) for loop in tiles.counted]
    loops = tuple(next((k for k, row in nest.rows.items() if row == each), None) for each in rows)
    return Work(name, nest.instances, cycles, order, tiles.costs, loops)


def _families(
    scop: Scop,
    tiled: TiledKernel,
    nests: Sequence[_Nest],
    places: tuple[Place, ...],
    private: frozenset[str],
    sizes: Mapping[str, int],
    machine: MachineModel,
) -> tuple[tuple[Family, ...], float]:
    """Return the families of all accesses to arrays, and how many accesses can have no buffers."""
    groups: dict[tuple[object, ...], list[tuple[_Nest, Access, list[tuple[int, int, int | None]]]]] = {}
    direct = 0.0
    for nest in nests:
        for access in nest.statement.accesses:
            array = scop.array(access.array)
            if array.is_scalar or access.array in private:
                continue
            moved = not (is_small(array) and words_of(scop, array) is None)
            table = (
                None
                if access.affine
                else table_extents(scop, access.array, {n.statement.name for n in nests})
            )
            read = _subscripts(nest, access) if moved and access.affine else None
            if moved and table is not None:
                read = [((), 0, extent - 1) for extent in table]
            if read is None:
                direct += nest.instances
                continue
            factors = tuple(factor for factor, _, _ in read)
            groups.setdefault((access.array, factors), []).append(
                (nest, access, [(0, c, f) for _, c, f in read])
            )
    families = [_family(scop, key, members, places, sizes, machine) for key, members in groups.items()]
    written = {family.array for family in families if family.writes}
    return tuple(
        replace(f, steady=not f.writes and (f.array not in written or _is_steady(scop, tiled, f)))
        for f in families
    ), direct


def _is_steady(scop: Scop, tiled: TiledKernel, family: Family) -> bool:
    """Return whether a launch of the kernel writes nothing that ``family`` accesses."""
    domains = {str(piece.get_tuple_name()): piece for piece in sets_of(tiled.kernel.domain)}
    read, written = list[isl.Map](), list[isl.Map]()
    for name, domain in domains.items():
        for access in scop.statement(name).accesses:
            relation = access.relation.intersect_domain(domain) if access.array == family.array else None
            if relation is not None and access.kind is not AccessKind.READ:
                written.append(relation)
            elif relation is not None and (name, access.ref) in family.refs:
                read.append(relation)
    return are_apart(lambda: union_maps(read).range(), written)


def _subscripts(
    nest: _Nest, access: Access
) -> list[tuple[tuple[tuple[int, int], ...], int, int | None]] | None:
    """Return, per subscript, its factors per loop, its constant, and what it spans besides the loops."""
    if not access.relation.is_single_valued():
        return None
    whole = isl.PwMultiAff.from_map(access.relation)
    fixed = isl.PwMultiAff.from_map(access.relation.intersect_domain(_fixed_set(nest)))
    positions = list(nest.rows)
    count = len(nest.statement.iterators)
    basis = [*nest.rows.values(), *nest.fixed, *(_unit(k, count) for k in nest.free)]
    after = len(positions) + len(nest.fixed)
    found = []
    for k in range(whole.dim(_OUT)):
        pieces = whole.get_pw_aff(k)
        row = factors_of(pieces, count)
        if row is None:  # quotients, but perhaps of what is fixed alone: ``t % 2``
            pieces = fixed.get_pw_aff(k)
            row = factors_of(pieces, count)
        made = _coordinates(basis, row) if row is not None else None
        if made is None or any(value.denominator != 1 for value in made):
            return None
        constant = _int(pieces.gist(pieces.domain()).get_pieces()[0][1].get_constant_val().floor())
        known = zip(made[len(positions) : after], nest.fixed.values(), strict=True)
        constant += sum(int(factor) * value for factor, value in known)
        factors = [(p, int(v)) for p, v in zip(positions, made, strict=False) if v]
        rest = [(k, abs(int(v))) for k, v in zip(nest.free, made[after:], strict=True) if v]
        free = sum(factor * (_spread(nest, k)) for k, factor in rest)
        found.append((tuple(factors), constant, None if rest and free > _FREE else free))
    return found


def _fixed_set(nest: _Nest) -> isl.Set:
    """Return the instances, within the domain of ``nest`` or not, that take its fixed values."""
    found = isl.Set.universe(nest.domain.get_space())
    space = isl.LocalSpace.from_space(found.get_space())
    for row, value in nest.fixed.items():
        equal = isl.Constraint.equality_alloc(space).set_constant_val(val_of(-value))
        for k, factor in enumerate(row):
            equal = equal.set_coefficient_val(_SET, k, val_of(factor))
        found = found.add_constraint(equal)
    return found


def _spread(nest: _Nest, iterator: int) -> int:
    low, high = _values(nest, _unit(iterator, len(nest.statement.iterators)))
    return high - low


def _family(
    scop: Scop,
    key: tuple[object, ...],
    members: Sequence[tuple[_Nest, Access, list[tuple[int, int, int | None]]]],
    places: tuple[Place, ...],
    sizes: Mapping[str, int],
    machine: MachineModel,
) -> Family:
    name, factors = str(key[0]), key[1]
    assert isinstance(factors, tuple)
    array = scop.array(name)
    constants = list(zip(*([c for _, c, _ in read] for _, _, read in members), strict=True))
    frees = list(zip(*([f for _, _, f in read] for _, _, read in members), strict=True))
    subscripts = tuple(
        Subscript(f, min(c), max(c) - min(c), None if None in free else max(x for x in free if x is not None))
        for f, c, free in zip(factors, constants, frees, strict=True)
    )
    statements = frozenset(nest.statement.name for nest, _, _ in members)
    reads = any(access.kind is AccessKind.READ for _, access, _ in members)
    writes = any(access.kind is not AccessKind.READ for _, access, _ in members)
    within = tuple(k for k, place in enumerate(places) if statements <= place.statements)
    extents = tuple(_extent(extent, sizes) for extent in array.extents)
    constant = frozenset(
        k for k, e in enumerate(array.extents) if e is not None and constant_of(e) is not None
    )
    count = sum(nest.instances for nest, _, _ in members)
    refs = frozenset((nest.statement.name, access.ref) for nest, access, _ in members)
    passed = machine.hands_on(array.element.name, array.element.size)
    size = array.element.size
    words = words_of(scop, array) if is_small(array) else None
    places_of = [(access.kind, tuple(c for _, c, _ in read)) for _, access, read in members]
    return Family(
        name,
        size,
        extents,
        subscripts,
        reads,
        writes,
        within,
        count,
        refs,
        passed,
        constant,
        words,
        recurs=_recurs(places_of) if words is None else None,
    )


def _recurs(accesses: Sequence[tuple[AccessKind, tuple[int, ...]]]) -> tuple[int, int] | None:
    """Return the dimension and the distance in which ``accesses`` read what they write, None for others.

    They are given by the constants of their subscripts, which differ by no more than these.
    """
    written = {place for kind, place in accesses if kind is AccessKind.MUST_WRITE}
    if len(written) != 1 or any(kind is AccessKind.MAY_WRITE for kind, _ in accesses):
        return None
    (target,) = written
    read = [place for kind, place in accesses if kind is AccessKind.READ]
    apart = [tuple(r - w for r, w in zip(place, target, strict=True)) for place in read]
    used = {k for each in apart for k, distance in enumerate(each) if distance}
    if not apart or len(used) != 1:
        return None
    (dimension,) = used
    distances = [each[dimension] for each in apart]
    if min(distances) * max(distances) <= 0:
        return None
    return dimension, max(map(abs, distances))


def _extent(extent: isl.PwAff | None, sizes: Mapping[str, int]) -> int:
    if extent is None:
        return 0
    value = _at_sizes(isl.Set.from_pw_aff(extent), sizes).dim_max_val(0)
    return _int(value) if value.is_int() else 0
