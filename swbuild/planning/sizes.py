"""Sizes to plan for where none are known: what the arrays and what is known of the parameters allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod, sqrt

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Array, Scop
from swbuild.islnumbers import int_of, val_of
from swbuild.machine import MachineModel, load
from swbuild.options import KernelOptions
from swbuild.polyhedral.islutil import apart, bounded_effort, constant_of, ran_out
from swbuild.polyhedral.nearest import nearest

__all__ = ["Sizes", "assumed_sizes", "where_launched"]

#: The smallest of such sizes.
_LEAST = 16

#: The largest of them.
_MOST = 4_000_000

#: What part of the main memory large arrays take: one in so many.
_PART = 16

#: Calls without a size of so much only try the region out.
_TRIED = 256

#: A bound that is no more than the range of a type.
_UNLIMITED = 1 << 28

#: isl steps to find what the arrays allow.
_EFFORT = 200_000

#: Of more remainders than so many, isl may take seconds to find the largest size.
_REMAINDERS = 16

#: Seconds of processor time for that.
_SECONDS = 2

_PARAM = isl.dim_type.param


@dataclass(frozen=True, slots=True)
class Sizes:
    """A value for every parameter: ``known``, or, of ``limits``, the largest that the arrays allow.

    ``orders`` are those of several orders of magnitude, the smallest first, ``values`` being in the middle;
    they differ in what is neither known, nor typical, nor limited.
    """

    orders: tuple[dict[str, int], ...]
    known: frozenset[str]
    limits: frozenset[str]

    @property
    def values(self) -> dict[str, int]:
        """The sizes to assume where one value of each has to do."""
        return self.orders[len(self.orders) // 2]


def assumed_sizes(scop: Scop, options: KernelOptions) -> Sizes:
    """Return values for every parameter: the one that is known, else a typical one, else the largest allowed.

    What allows them are constant extents of arrays and what is known of the sizes.  A size that calls in the
    same file pass counts for a typical one, within what is allowed.  Parameters without limit have values of
    three orders of magnitude (:func:`_orders`).
    """
    allowed = scop.context
    try:
        with bounded_effort(_EFFORT):
            allowed = _inside_arrays(scop)
    except isl.Error as error:
        if not ran_out(error):
            raise
    found, limits = _found(scop, options, allowed, scop.usual)
    if scop.usual and max(found.values(), default=0) < _TRIED:
        found, limits = _found(scop, options, allowed, {})
    known = frozenset(each.name for each in scop.parameters if options.params.get(each.expression))
    names = [parameter.name for parameter in scop.parameters]
    others = _orders(scop, load(options.machine))
    orders = [scop.completed({name: found.get(name, other) for name in names}) for other in others]
    distinct = tuple(each for k, each in enumerate(orders) if each not in orders[:k])
    return Sizes(distinct, known, limits)


def where_launched(sizes: Sizes, launched: isl.Set) -> Sizes:
    """Return ``sizes``, or those nearest to them that are ``launched``, a parameter set, if none of them is.

    What a kernel costs tells nothing of it at sizes at which it does not run.
    """
    if any(_is_in(launched, order) for order in sizes.orders):
        return sizes
    near = tuple(found for order in sizes.orders if (found := nearest(launched, order)) is not None)
    return replace(sizes, orders=near) if near else sizes


def _is_in(allowed: isl.Set, order: Mapping[str, int]) -> bool:
    """Return whether ``allowed`` has a point with the values of ``order``."""
    for name, value in order.items():
        position = allowed.find_dim_by_name(_PARAM, name)
        if position >= 0:
            allowed = allowed.fix_val(_PARAM, position, val_of(value))
    return not allowed.is_empty()


def _found(
    scop: Scop, options: KernelOptions, allowed: isl.Set, usual: Mapping[str, int]
) -> tuple[dict[str, int], frozenset[str]]:
    """Return values of the parameters that have one within ``allowed``, and those that are the largest there.

    ``usual`` are likely values by the parameters' expressions.
    """
    found: dict[str, int] = {}
    limits: set[str] = set()
    for parameter in scop.parameters:
        name, position = parameter.name, allowed.find_dim_by_name(_PARAM, parameter.name)
        value = options.params.get(parameter.expression) or options.typical.get(parameter.expression)
        if not value:
            limit = _limit(allowed, position) if position >= 0 else None
            value = min((v for v in (usual.get(parameter.expression), limit) if v is not None), default=None)
            if value is None:
                continue
            if value == limit:
                limits.add(name)
        found[name] = value
        fixed = allowed.fix_val(_PARAM, position, val_of(value)) if position >= 0 else allowed
        allowed = allowed if fixed.is_empty() else fixed
    return found, frozenset(limits)


def _limit(allowed: isl.Set, position: int) -> int | None:
    """Return the largest value of the parameter at ``position``, None where nothing limits it.

    Of many remainders, isl does not find it soon, and counts no steps: it is taken for unlimited then.
    """
    if all(part.dim(isl.dim_type.div) <= _REMAINDERS for part in allowed.get_basic_sets()):
        value: int | None = _largest(allowed, position)
    else:
        found = apart(lambda: str(_largest(allowed, position)), _SECONDS)
        value = int(found) if found is not None else None
    return value if value is not None and value < _UNLIMITED else None


def _largest(allowed: isl.Set, position: int) -> int:
    """Return the largest value of the parameter at ``position``."""
    moved = allowed.params().insert_dims(isl.dim_type.set, 0, 0)
    values = moved.move_dims(isl.dim_type.set, 0, _PARAM, position, 1)
    largest = values.project_out(_PARAM, 0, values.dim(_PARAM)).dim_max_val(0)
    return int_of(largest) if largest.is_int() else _UNLIMITED


def _inside_arrays(scop: Scop) -> isl.Set:
    """Return the sizes for which all loops run and subscripts stay inside the constant extents of arrays.

    What several accesses ask of them is in there once: isl would count each remainder in it for another one.
    """
    allowed = scop.context
    asked: list[isl.Set] = []
    for access in (a for statement in scop.statements for a in statement.accesses if a.affine):
        for position, extent in enumerate(scop.array(access.array).extents):
            count = None if extent is None else constant_of(extent)
            if count is not None:
                last = access.relation.range().dim_max(position)
                inside = _at_most(last, count - 1)
                if any(inside.plain_is_equal(other) for other in asked):
                    continue
                asked.append(inside)
                within = allowed.intersect(inside)
                allowed = allowed if within.is_empty() else within
    return allowed


def _at_most(value: isl.PwAff, most: int) -> isl.Set:
    """Return where ``value`` is defined and not more than ``most``."""
    return value.le_set(isl.PwAff.val_on_domain(value.domain(), val_of(most)))


def _orders(scop: Scop, machine: MachineModel) -> tuple[int, ...]:
    """Return a small, a middle and a large size for ``scop``.

    Of small ones, the deepest nest takes no longer than a launch if the CPEs are through with an instance
    each cycle, and the arrays fit the LDMs; of large ones, it takes about a second, and the arrays a good
    part of the memory.  Where less is known to be done, or more, tiles matter less.
    """
    control = machine.control.spawn_cycles + machine.control.join_cycles
    small = _size(scop, machine.cpes * control, machine.cpes * machine.ldm_bytes)
    large = _size(scop, machine.clock_hz, machine.memory_bytes // _PART)
    return small, round(sqrt(small * large)), large


def _size(scop: Scop, instances: float, bytes_: float) -> int:
    """Return the size for which the deepest nest has no more ``instances``, and the arrays no more bytes."""
    nests = ([each for each in statement.iterators if not each.made] for statement in scop.statements)
    depth = max(map(len, nests), default=1)
    size: float = instances ** (1 / max(1, depth))
    for rank in range(1, 1 + max((len(array.extents) for array in scop.arrays), default=0)):
        taken = sum(_fixed_bytes(array) for array in scop.arrays if _rank(array) == rank)
        size = min(size, (bytes_ / taken) ** (1 / rank)) if taken else size
    return min(_MOST, max(_LEAST, round(size)))


def _rank(array: Array) -> int:
    """Return how many extents of ``array`` are of no certain length."""
    return sum(extent is None or constant_of(extent) is None for extent in array.extents)


def _fixed_bytes(array: Array) -> int:
    """Return the bytes of an element of ``array``, times its extents that are of a certain length."""
    return array.element.size * prod(constant_of(e) or 1 for e in array.extents if e is not None)
