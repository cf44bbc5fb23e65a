"""Extents of arrays, and subscripts in terms of them (linearised first ones taken apart again).

Extents are functions of sizes, subscripts functions of counters and sizes, all over one parameter space.  A
linearised subscript is read as several only where that names the same elements: the strides times the parts
add up to it (``strides``), and either the inner parts are shown to stay inside their extents, or that becomes
an assumption that the host tests (``finish``).  Where an access fits no shape, the array keeps one dimension.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import field

import islpy as isl
from pycparser import c_ast
from pycparser.c_generator import CGenerator

from swbuild.classes import dataclass
from swbuild.frontend.builder import RegionBuilder
from swbuild.frontend.counters import is_symbolic
from swbuild.frontend.ctype import ArrayType, CType, Pointer
from swbuild.frontend.drafts import Object, RawAccess, Subscript
from swbuild.frontend.integers import constant, single_value, universe
from swbuild.frontend.polynomials import Polynomial, chain, common_factor
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.scop import Storage
from swbuild.frontend.sizes import sizes_only
from swbuild.frontend.strides import (
    Stride,
    counter_steps,
    in_strides_of_counters,
    is_zero,
    quotient,
    rows_in,
    strides_of,
    take,
    terms_of,
)
from swbuild.frontend.symbols import identifiers
from swbuild.islnumbers import val_of

__all__ = ["Shape", "Shapes"]

#: Elements of a row that a transfer must not take without need.
_FEW = 8


@dataclass(slots=True)
class Shape:
    """The extents of one object; ``split`` gives the subscripts of linearised accesses.

    ``real``: it is an array of that size in C; ``stated``: the user says that it is.  ``count``: how many
    pointers lead to rows of it.
    """

    extents: tuple[isl.PwAff | None, ...]
    real: bool
    through_pointer: bool
    stated: bool = False
    count: isl.PwAff | None = None
    split: dict[RawAccess, tuple[isl.PwAff, ...]] = field(default_factory=dict)

    def subscripts(self, access: RawAccess) -> tuple[isl.PwAff | None, ...]:
        """Return one affine subscript per dimension, None where there is none."""
        found: tuple[Subscript, ...] = self.split.get(access, access.subscripts)
        return tuple(s if isinstance(s, isl.PwAff) else None for s in found)

    def trusted(self, position: int) -> bool:
        """Whether leaving the extent at ``position`` is undefined in C (and so never happens)."""
        return self.real and self.extents[position] is not None

    def has_start(self, position: int) -> bool:
        """Whether subscripts below zero leave the array (not so for the first one of a bare pointer)."""
        return position > 0 or self.extents[0] is not None


class Shapes:
    """Finds shapes for the objects of one region; ``given`` are shapes that the user states."""

    def __init__(self, builder: RegionBuilder, given: Mapping[str, tuple[c_ast.Node, ...]]) -> None:
        self._builder, self._given = builder, given
        self.settled: dict[Object, Shape] = {}

    def of(self, thing: Object) -> Shape:
        """Return the settled shape of ``thing``."""
        return self.settled[thing]

    def settle(self, thing: Object, accesses: Sequence[RawAccess]) -> None:
        """Find the shape of ``thing``; raise NotModelledError where an inner extent is unknown."""
        extents = self._declared(thing, accesses[0].node)
        declared = not isinstance(thing.place.kind, Pointer) and thing.storage is not Storage.PARAMETER
        shape = Shape(extents, declared, thing.place.through_pointer)
        if thing.symbol.count is not None:
            shape.count = self._extent(thing, thing.symbol.count)
        given = self._given.get(thing.name)
        if given is not None:
            self._apply_given(thing, shape, given, accesses)
        elif thing.rank and all(isinstance(s, isl.PwAff) for a in accesses for s in a.subscripts[1:]):
            if any(isinstance(a.subscripts[0], Polynomial) for a in accesses):
                self._delinearise(shape, accesses)
            elif thing.rank == 1 + _inner(thing):
                self._delinearise_constant(shape, accesses)
        self.settled[thing] = shape

    def _declared(self, thing: Object, node: c_ast.Node) -> tuple[isl.PwAff | None, ...]:
        if thing.storage is Storage.REGION and isinstance(thing.symbol.type, Pointer):
            return (None,) * thing.rank  # refused at its declaration
        if thing.storage is Storage.REGION and thing.place.through_pointer:
            raise self._builder.around.problems.refuse(
                "SW223",
                f"'{thing.place.path}' is a pointer in a structure or an array that the region declares",
                node,
                "use arrays that exist before the region",
            )
        local = self._builder.state.extents.get(thing.symbol)
        if local is not None:
            return local if thing.place.record is None else (*local, _row_length(thing.place.kind))
        kind, extents = thing.place.kind, []
        for position in range(thing.rank):
            extent, asked = None, None
            if isinstance(kind, ArrayType):
                asked = kind.extent
                extent = self._extent(thing, asked) if asked is not None else None
                kind = kind.target
            elif isinstance(kind, Pointer):
                kind = kind.target
            if extent is None and position:
                raise self._builder.around.problems.refuse(
                    "SW219",
                    f"the extent of dimension {position + 1} of '{thing.place.path}' is not known as a "
                    "constant or an affine function of unchanged variables",
                    node,
                    _in_factors(asked) or "declare the array with its shape",
                )
            extents.append(extent)
        moved = thing.storage is Storage.PARAMETER and not self._builder.around.facts.is_unchanged(
            thing.symbol
        )
        return (None, *extents[1:]) if moved and extents else tuple(extents)

    def _extent(self, thing: Object, node: c_ast.Node) -> isl.PwAff | None:
        builder = self._builder
        known = builder.around.scope.integer(node)
        if known is not None:
            return constant(known)
        bindings = builder.around.facts.bindings
        for name in identifiers(node):
            symbol = bindings.symbol(name)
            if symbol is None or symbol.value is not None:
                continue
            if not builder.around.facts.unchanged_since_declared(symbol, thing.symbol, node):
                return None
        try:
            pa = builder.reader.integers.value(node, universe()).pa
        except NotModelledError:
            return None
        return pa if is_symbolic(pa) else None

    # -- linearised subscripts ------------------------------------------------------------------

    def _apply_given(
        self, thing: Object, shape: Shape, given: Sequence[c_ast.Node], accesses: Sequence[RawAccess]
    ) -> None:
        values = [self._builder.reader.integers.value(node, universe()).pa for node in given]
        inner = _inner(thing)
        if thing.rank == len(values) + inner:
            pairs = zip(shape.extents, values, strict=False)
            shape.stated = all(known is None or known.plain_is_equal(value) for known, value in pairs)
            shape.extents = tuple(
                known if known is not None else value
                for known, value in zip(shape.extents, [*values, None], strict=False)
            )
            return
        if thing.rank != inner + 1:
            rank = thing.rank - inner
            raise self._builder.around.problems.refuse(
                "SW225",
                f"'{thing.place.path}' has {rank} dimensions, but a shape with {len(values)} is given",
                accesses[0].node,
                "give one extent for each dimension",
            )
        strides = strides_of(values)
        split = {access: self._split_given(access, strides, values) for access in accesses}
        self._adopt(shape, values, split)

    def _split_given(
        self, access: RawAccess, strides: Sequence[Stride], extents: Sequence[isl.PwAff | None]
    ) -> tuple[isl.PwAff, ...] | None:
        subscript = access.subscripts[0]
        if subscript is None:
            return None
        terms = terms_of(subscript)
        found = tuple(take(terms, stride) for stride in strides)
        if any(not is_zero(rest) for rest in terms.values()):
            return None
        return self._normalised(access, found, extents)

    def _adopt(
        self,
        shape: Shape,
        extents: Sequence[isl.PwAff | None],
        split: dict[RawAccess, tuple[isl.PwAff, ...] | None],
    ) -> None:
        """Give the object these dimensions in place of its first, unless an access does not fit them."""
        fitting: dict[RawAccess, tuple[isl.PwAff, ...]] = {}
        for access, subscripts in split.items():
            if subscripts is None or self._never_fits(access, subscripts, extents):
                return
            inner = (s for s in access.subscripts[1:] if isinstance(s, isl.PwAff))
            fitting[access] = (*subscripts, *inner)
        shape.extents = (*extents, *shape.extents[1:])
        shape.split, shape.real = fitting, False

    def _never_fits(
        self, access: RawAccess, subscripts: Sequence[isl.PwAff], extents: Sequence[isl.PwAff | None]
    ) -> bool:
        """Whether inner subscripts leave their extents for all sizes for which the access happens."""
        inside = _inner_inside(subscripts, extents)
        points = access.domain.intersect(self._builder.state.context)
        if points.is_subset(inside):
            return False
        return bool(sizes_only(points).is_subset(sizes_only(points.subtract(inside))))

    def _delinearise_constant(self, shape: Shape, accesses: Sequence[RawAccess]) -> None:
        """Take ``i*100 + j`` apart if all inner subscripts are known to stay inside their rows."""
        functions = [a.subscripts[0] for a in accesses if isinstance(a.subscripts[0], isl.PwAff)]
        steps = counter_steps(functions) if len(functions) == len(accesses) else None
        if not steps:
            return
        inner = [constant(big // small) for big, small in itertools.pairwise([*steps, 1])]
        strides = [*(Stride((), step) for step in steps), Stride((), 1)]
        outer = _rows(shape.extents[0], steps[0])
        if outer is None and (shape.extents[0] is not None or self._ends_early(accesses, steps)):
            return
        extents = (outer, *inner)
        split = {access: self._split_given(access, strides, extents) for access in accesses}
        if all(parts is not None and self._is_inside(a, parts, extents) for a, parts in split.items()):
            self._adopt(shape, extents, split)

    def _ends_early(self, accesses: Sequence[RawAccess], steps: Sequence[int]) -> bool:
        """Whether rows of a few elements end with one in which the last element may never be touched.

        Of an array whose length nobody knows, that element may not be there: rows of pixels, complex numbers
        or lattice directions are touched as a whole, while ``A[2*i + 2] = A[2*i + 1]`` are places two apart.
        """
        if steps[0] > _FEW:
            return False
        touched = isl.Set("{ [x] : false }")
        for access in accesses:
            place = access.subscripts[0]
            assert isinstance(place, isl.PwAff)
            points = isl.Set.from_pw_aff(place).intersect_params(access.domain)
            touched = touched.union(sizes_only(points.intersect_params(self._builder.state.context)))
        return not touched.lexmax().is_subset(isl.Set(f"{{ [x] : (x + 1) mod {steps[0]} = 0 }}"))

    def _is_inside(
        self, access: RawAccess, subscripts: Sequence[isl.PwAff], extents: Sequence[isl.PwAff | None]
    ) -> bool:
        """Whether all inner subscripts are known to stay inside their extents."""
        points = access.domain.intersect(self._builder.state.context)
        return bool(points.is_subset(_inner_inside(subscripts, extents)))

    def _delinearise(self, shape: Shape, accesses: Sequence[RawAccess]) -> None:
        """Find the strides of polynomial subscripts; where they are no chain,
        the accesses stay not affine.
        """
        polynomials = [s for a in accesses if isinstance(s := a.subscripts[0], Polynomial)]
        if any(a.subscripts[0] is None for a in accesses):
            return
        atoms = {name: atom for p in polynomials for name, atom in p.atoms.items()}
        terms = {access: terms_of(s) for access in accesses if (s := access.subscripts[0]) is not None}
        terms = dict(zip(terms, in_strides_of_counters(list(terms.values()), atoms), strict=True))
        order = chain({m for found in terms.values() for m, factor in found.items() if not is_zero(factor)})
        if order is None:
            return
        rows = [atoms[quotient(big, small)] for big, small in itertools.pairwise(order)]
        factors = [common_factor([t[m] for t in terms.values() if m in t]) for m in order[:-1]]
        for scales in dict.fromkeys(((1,) * len(order), (*factors, 1))):
            if shape.split or any(big % small for big, small in itertools.pairwise(scales)):
                continue
            steps = [big // small for big, small in itertools.pairwise(scales)]
            extents = (None, *(row.mul(constant(step)) for row, step in zip(rows, steps, strict=True)))
            split: dict[RawAccess, tuple[isl.PwAff, ...] | None] = {}
            for access, found in terms.items():
                parts = (
                    found.get(m, constant(0)).scale_down_val(val_of(s))
                    for m, s in zip(order, scales, strict=True)
                )
                split[access] = self._normalised(access, tuple(parts), extents)
            self._adopt(shape, extents, split)

    def _normalised(
        self, access: RawAccess, parts: tuple[isl.PwAff, ...], extents: Sequence[isl.PwAff | None]
    ) -> tuple[isl.PwAff, ...]:
        """Carry whole rows over where an inner subscript lies outside on all points."""
        result = list(parts)
        for position in range(len(result) - 1, 0, -1):
            extent = extents[position]
            if extent is None:
                continue
            for carry in dict.fromkeys((0, -rows_in(result[position], extent), 1, -1)):
                moved = result[position].add(extent.mul(constant(carry)))
                inside = moved.nonneg_set().intersect(moved.lt_set(extent))
                if access.domain.intersect(self._builder.state.context).is_subset(inside):
                    result[position] = moved
                    result[position - 1] = result[position - 1].sub(constant(carry))
                    break
        return tuple(result)


def _inner_inside(subscripts: Sequence[isl.PwAff], extents: Sequence[isl.PwAff | None]) -> isl.Set:
    """Return where all subscripts but the first are inside their extents."""
    inside = universe()
    for subscript, extent in zip(subscripts[1:], extents[1:], strict=True):
        if extent is not None:
            inside = inside.intersect(subscript.nonneg_set()).intersect(subscript.lt_set(extent))
    return inside


def _inner(thing: Object) -> int:
    """Return how many of the dimensions of ``thing`` lie inside its elements: one if they are structures."""
    return 0 if thing.place.record is None else 1


def _row_length(kind: CType) -> isl.PwAff:
    """Return the innermost extent of an array of structures seen as rows of numbers."""
    while isinstance(kind, (ArrayType, Pointer)) and isinstance(kind.target, (ArrayType, Pointer)):
        kind = kind.target
    assert isinstance(kind, ArrayType) and isinstance(kind.extent, c_ast.Constant)
    return constant(int(kind.extent.value))


def _rows(extent: isl.PwAff | None, step: int) -> isl.PwAff | None:
    """Return the number of rows of ``step`` elements in ``extent``, None unless it is whole."""
    count = None if extent is None else single_value(extent)
    return None if count is None or count % step else constant(count // step)


def _in_factors(extent: c_ast.Node | None) -> str:
    """Return how to declare what has an ``extent`` that is a product, nothing for another one."""
    if not isinstance(extent, c_ast.BinaryOp) or extent.op != "*":
        return ""
    left, right, whole = (CGenerator().visit(each) for each in (extent.left, extent.right, extent))
    return f"declare a dimension for each factor of the product: '[{left}][{right}]' for '[{whole}]'"
