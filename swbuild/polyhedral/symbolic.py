"""Large constants as parameters: isl's scheduler finds in milliseconds what takes it minutes with numbers.

Its search works with exact integers, which grow with the constants of a problem: loops up to 1000 take far
longer than loops up to ``n``.  What holds for all values of a parameter holds for the one it stands for, so a
schedule found for parameters is right for the constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import pairwise
from typing import TypeVar

import islpy as isl

from swbuild.classes import dataclass
from swbuild.islnumbers import int_of, val_of
from swbuild.names import distinct
from swbuild.polyhedral.islutil import maps_of, sets_of, union_maps, union_sets

__all__ = ["Symbols", "symbols_for", "with_numbers"]

#: Constants from this one on become parameters; distances between neighbours are less.
_LARGE = 32

#: Constants no further apart than this are one parameter, and what is missing to it.
_NEAR = 8

_NODE, _PARAM = isl.schedule_node_type, isl.dim_type.param

_Part = TypeVar("_Part", isl.BasicSet, isl.BasicMap)


@dataclass(frozen=True, slots=True)
class Symbols:
    """Parameters for large constants: their ``names``, and the ``values`` that they stand for, ascending."""

    values: tuple[int, ...]
    names: tuple[str, ...]

    def in_map(self, relation: isl.UnionMap) -> isl.UnionMap:
        """Return a relation that is ``relation`` where the parameters have their values."""
        if not self.values:
            return relation
        parts = (part for piece in maps_of(relation) for part in piece.compute_divs().get_basic_maps())
        return union_maps(isl.Map.from_basic_map(self._replaced(part)) for part in parts).coalesce()

    def in_set(self, domain: isl.UnionSet) -> isl.UnionSet:
        """Return a set that is ``domain`` where the parameters have their values."""
        if not self.values:
            return domain
        parts = (part for piece in sets_of(domain) for part in piece.compute_divs().get_basic_sets())
        return union_sets(isl.Set.from_basic_set(self._replaced(part)) for part in parts).coalesce()

    def in_context(self, context: isl.Set) -> isl.Set:
        """Return what is known of the parameters of ``context``, and of the new ones."""
        if not self.values or context.is_empty():
            return context
        parts = context.compute_divs().get_basic_sets()
        found = reduce(isl.Set.union, (isl.Set.from_basic_set(self._replaced(part)) for part in parts))
        return found.intersect(self._known(found.get_space()))

    def _known(self, space: isl.Space) -> isl.Set:
        """Return, in a ``space`` with the parameters, that these are in ascending order, and large."""
        found = isl.BasicSet.universe(space)
        positions = [space.find_dim_by_name(_PARAM, name) for name in self.names]
        for first in positions[:1]:
            found = found.add_constraint(_at_least(space, {first: 1}, _LARGE))
        for position, following in pairwise(positions):
            found = found.add_constraint(_at_least(space, {following: 1, position: -1}, _NEAR))
        return isl.Set.from_basic_set(found)

    def _extended(self, part: _Part) -> _Part:
        count = part.dim(_PARAM)
        part = part.add_dims(_PARAM, len(self.values))
        for k, name in enumerate(self.names):
            part = part.set_dim_name(_PARAM, count + k, name)
        return part

    def _replaced(self, part: _Part) -> _Part:
        """Return ``part``, of explicit divisions, with its large constants in terms of the parameters."""
        count = part.dim(_PARAM)
        part = self._extended(part)
        found = type(part).universe(part.get_space())
        for constraint in part.get_constraints():
            number = int_of(constraint.get_constant_val())
            if abs(number) >= _LARGE:
                sign = 1 if number > 0 else -1
                k = next(k for k, value in enumerate(self.values) if value >= abs(number))
                constraint = constraint.set_coefficient_val(_PARAM, count + k, val_of(sign))
                constraint = constraint.set_constant_val(val_of(number - sign * self.values[k]))
            found = found.add_constraint(constraint)
        return found


def _at_least(space: isl.Space, factors: dict[int, int], least: int) -> isl.Constraint:
    found = isl.Constraint.alloc_inequality(isl.LocalSpace.from_space(space))
    for position, factor in factors.items():
        found = found.set_coefficient_val(_PARAM, position, val_of(factor))
    return found.set_constant_val(val_of(-least))


def symbols_for(relations: Iterable[isl.UnionMap], domain: isl.UnionSet, context: isl.Set) -> Symbols:
    """Return parameters for the large constants in all of these."""
    parts: list[isl.BasicMap | isl.BasicSet] = list(context.compute_divs().get_basic_sets())
    maps = (m.compute_divs() for relation in relations for m in maps_of(relation))
    parts += [part for m in maps for part in m.get_basic_maps()]
    parts += [part for s in sets_of(domain) for part in s.compute_divs().get_basic_sets()]
    numbers = {abs(int_of(c.get_constant_val())) for p in parts for c in p.get_constraints()}
    values = tuple(_greatest(sorted(number for number in numbers if number >= _LARGE)))
    taken = {str(part.get_dim_name(_PARAM, k)) for part in parts for k in range(part.dim(_PARAM))}
    return Symbols(values, tuple(distinct(f"large{k}", taken.__contains__) for k in range(len(values))))


def _greatest(numbers: list[int]) -> Iterator[int]:
    """Yield the last of each run of ``numbers``, ascending, that are near to the next."""
    for number, following in pairwise([*numbers, None]):
        if number is not None and (following is None or following - number > _NEAR):
            yield number


def with_numbers(schedule: isl.Schedule, domain: isl.UnionSet, symbols: Symbols) -> isl.Schedule | None:
    """Return the ``schedule`` of instances ``domain`` with the values of ``symbols`` in it.

    None where a parameter is in a fraction.
    """
    if not symbols.values:
        return schedule
    numbers = dict(zip(symbols.names, symbols.values, strict=True))
    root = isl.Schedule.from_domain(domain).get_root()
    found = _copied(schedule.get_root().child(0), root.child(0), numbers)
    return None if found is None else found.get_schedule()


def _copied(old: isl.ScheduleNode, new: isl.ScheduleNode, numbers: dict[str, int]) -> isl.ScheduleNode | None:
    """Return ``new``, a leaf, with what is at and below ``old`` in its place."""
    if old.get_type() == _NODE.leaf:
        return new
    if old.get_type() == _NODE.band:
        partial = _numbered(old.band_get_partial_schedule(), new.get_domain(), numbers)
        if partial is None:
            return None
        new = new.insert_partial_schedule(partial).band_set_permutable(int(old.band_get_permutable()))
        for k in range(old.band_n_member()):
            new = new.band_member_set_coincident(k, int(old.band_member_get_coincident(k)))
        inside = _copied(old.child(0), new.child(0), numbers)
        return None if inside is None else inside.parent()
    parts = [old.child(k).filter_get_filter() for k in range(old.n_children())]
    filters = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, len(parts))
    for part in parts:  # of whole statements: the scheduler divides none
        spaces = (piece.get_space() for piece in sets_of(_named_as(part, new.get_domain())))
        filters = filters.add(union_sets(isl.Set.universe(space) for space in spaces))
    in_turn = old.get_type() == _NODE.sequence
    new = new.insert_sequence(filters) if in_turn else new.insert_set(filters)
    for k in range(len(parts)):
        below = _copied(old.child(k).child(0), new.child(k).child(0), numbers)
        if below is None:
            return None
        new = below.parent().parent()
    return new


def _named_as(chosen: isl.UnionSet, domain: isl.UnionSet) -> isl.UnionSet:
    """Return the instances in ``domain`` of the statements in ``chosen``."""
    names = {str(piece.get_tuple_name()) for piece in sets_of(chosen)}
    return union_sets(piece for piece in sets_of(domain) if str(piece.get_tuple_name()) in names)


def _numbered(
    partial: isl.MultiUnionPwAff, domain: isl.UnionSet, numbers: dict[str, int]
) -> isl.MultiUnionPwAff | None:
    """Return ``partial``, on ``domain``, with ``numbers`` for parameters; None where one is in a fraction."""
    found: isl.MultiUnionPwAff | None = None
    for k in range(partial.dim(isl.dim_type.set)):
        loop = isl.UnionPwAff.empty(domain.get_space())
        pieces = partial.get_at(k).get_pw_aff_list()
        for value in (pieces.get_at(n) for n in range(pieces.n_pw_aff())):
            ((part, formula),) = value.get_pieces()
            changed = _with_values(formula, numbers)
            if changed is None:
                return None
            (instances,) = sets_of(_named_as(part.to_union_set(), domain))
            loop = loop.union_add(isl.PwAff.from_aff(changed).intersect_domain(instances).to_union_pw_aff())
        one = isl.MultiUnionPwAff.from_union_pw_aff(loop)
        found = one if found is None else found.flat_range_product(one)
    return found


def _with_values(formula: isl.Aff, numbers: dict[str, int]) -> isl.Aff | None:
    """Return ``formula`` with ``numbers`` for parameters, None where one is in a fraction."""
    for name, number in numbers.items():
        position = formula.find_dim_by_name(_PARAM, name)
        if position < 0:
            continue
        factor = formula.get_coefficient_val(_PARAM, position)
        formula = formula.set_coefficient_val(_PARAM, position, isl.Val(0))
        formula = formula.add_constant_val(factor.mul(val_of(number)))
        if formula.involves_dims(_PARAM, position, 1):
            return None
        formula = formula.drop_dims(_PARAM, position, 1)
    return formula
