"""Run-time tests that what might overlap does not."""

from __future__ import annotations

import math
from collections.abc import Iterator

import islpy as isl

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, SwbuildError
from swbuild.expressions.nodes import Expression
from swbuild.expressions.printing import c_text
from swbuild.expressions.trees import constant_value
from swbuild.frontend.scop import Array, Held, Scop
from swbuild.kernelir.expressions import value_in
from swbuild.lowering.code import RegionCode
from swbuild.names import own

__all__ = ["Address", "addresses", "overlap_conditions"]


@dataclass(frozen=True, slots=True)
class Address:
    """An argument of an entry for its tests alone: the place of ``expression``, valid at the region."""

    name: str
    expression: str


def addresses(region: RegionCode) -> tuple[Address, ...]:
    """Return the addresses that the tests of ``region`` need besides those of its arguments."""
    tested = {thing.name: thing for pair in _pairs(region) for thing in pair}
    passed = _by_pointer(region)
    return tuple(
        Address(
            _start(region, thing), thing.address.text if isinstance(thing, Array) else f"&{thing.expression}"
        )
        for name, thing in tested.items()
        if isinstance(thing, Held) or name not in passed
    )


def overlap_conditions(region: RegionCode) -> list[tuple[str, str]]:
    """Return C conditions, one per pair that the source does not keep apart, true on overlap, and in words.

    Raise :class:`SwbuildError` when the size of an array in a pair is not known: then nothing can be tested.
    """
    return [
        (_overlap(region, first, second), f"{_words(first)} and {_words(second)} overlap")
        for first, second in _pairs(region)
    ]


def _words(thing: Array | Held) -> str:
    return f"'{thing.name if isinstance(thing, Array) else thing.expression}'"


def _by_pointer(region: RegionCode) -> frozenset[str]:
    """Return the names of what the entry is passed the address of."""
    return frozenset(a.name for a, _, written in region.arguments if written or not a.is_scalar)


def _pairs(region: RegionCode) -> Iterator[tuple[Array | Held, Array]]:
    """Yield what is to be tested, of the things that the region still uses."""
    scop = region.scop
    for first, second in scop.overlaps:
        if scop.users(first) and scop.users(second):
            yield scop.array(first), scop.array(second)
    for held in scop.held:
        for name in held.apart_from:
            if scop.users(name):
                yield held, scop.array(name)


def _overlap(region: RegionCode, first: Array | Held, second: Array | Held) -> str:
    one, two = (f"(const char *){_start(region, thing)}" for thing in (first, second))
    low, high = _reach(region.scop, first, second)
    low_two, high_two = _reach(region.scop, second, first)
    return f"{one}{low} < {two} + {high_two} && {two}{low_two} < {one} + {high}"


def _start(region: RegionCode, thing: Array | Held) -> str:
    """Return the entry's argument that holds the address of ``thing``."""
    passed = isinstance(thing, Array) and thing.name in _by_pointer(region)
    return thing.name if passed else own(f"sw_at_{thing.name}")


def _reach(scop: Scop, thing: Array | Held, other: Array | Held) -> tuple[str, str]:
    """Return where the bytes that the region can touch begin (``" + …"``, if not at the start) and end."""
    build = isl.AstBuild.from_context(scop.context.intersect(scop.assumptions))
    if isinstance(thing, Held):
        if thing.rows is None or thing.rows.is_empty():
            return "", str(thing.size)
        first, last = value_in(build, thing.rows.dim_min(0)), value_in(build, thing.rows.dim_max(0))
        behind = f"{_product(thing.size, [last])} + {thing.size}"
        return f" + {_product(thing.size, [first])}", behind
    inner = [value_in(build, extent) for extent in thing.extents[1:] if extent is not None]
    if not thing.extents or thing.extents[0] is not None:
        outer = [value_in(build, extent) for extent in thing.extents[:1] if extent is not None]
        return "", _product(thing.element.size, [*outer, *inner])
    low, high = _rows(scop, thing, other)
    end = _product(thing.element.size, [value_in(build, high), *inner])
    if low is None:
        return "", end
    return f" + {_product(thing.element.size, [value_in(build, low), *inner])}", end


def _product(size: int, factors: list[Expression]) -> str:
    """Return ``size`` times ``factors`` as C text, with one number for all constants."""
    numbers = [constant_value(factor) for factor in factors]
    whole = math.prod(number for number in numbers if number is not None)
    others = (f for f, number in zip(factors, numbers, strict=True) if number is None)
    return " * ".join([str(size * whole), *(f"({c_text(factor)})" for factor in others)])


def _rows(scop: Scop, array: Array, other: Array | Held) -> tuple[isl.PwAff | None, isl.PwAff]:
    """Return the least outermost index, None if it is not below zero, and one more than the greatest."""
    inside = _touched(scop, array)
    if not inside.is_empty() and not inside.dim_is_bounded(isl.dim_type.set, 0):
        what = other.name if isinstance(other, Array) else other.expression
        raise SwbuildError(
            Diagnostic(
                "SW301",
                f"'{array.name}' and '{what}' may overlap: the size of '{array.name}' is not known, "
                "so the generated code cannot test it",
                array.span,
                f"declare the pointers 'restrict', or give 'arrays: {{{array.name}: [size]}}'",
            )
        )
    allowed = inside.intersect_params(scop.assumptions)
    begins = allowed.is_subset(allowed.lower_bound_val(isl.dim_type.set, 0, isl.Val(0)))
    end = inside.dim_max(0).add_constant_val(isl.Val(1))
    return None if begins else inside.dim_min(0), _or_nothing(scop, end)


def _or_nothing(scop: Scop, end: isl.PwAff) -> isl.PwAff:
    """Return ``end``, and zero for sizes at which the region computes something, but not with the array."""
    computing = scop.statements[0].domain.params()
    for statement in scop.statements[1:]:
        computing = computing.union(statement.domain.params())
    idle = computing.intersect(scop.context).intersect(scop.assumptions).subtract(end.domain())
    if idle.is_empty():
        return end
    zero = isl.PwAff.from_aff(isl.Aff.zero_on_domain(isl.LocalSpace.from_space(idle.get_space())))
    return end.union_max(zero.intersect_domain(idle.coalesce()))


def _touched(scop: Scop, array: Array) -> isl.Set:
    """Return the outermost indices accessed."""
    touched: isl.Set | None = None
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array == array.name:
                part = access.relation.intersect_domain(statement.domain).range()
                touched = part if touched is None else touched.union(part)
    assert touched is not None
    inside = touched.intersect_params(scop.context)
    for k in range(inside.dim(isl.dim_type.set) - 1, 0, -1):
        inside = inside.project_out(isl.dim_type.set, k, 1)
    return inside.reset_tuple_id()
