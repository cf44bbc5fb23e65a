"""Which accesses to one array meet in a launch of a kernel: others may have buffers of their own.

So may those that meet where neither reads what the other has written (:mod:`swbuild.memory.apart`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import reduce

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Access, AccessKind, Scop
from swbuild.memory.apart import Timing, timing_of
from swbuild.memory.levels import Level, Reference
from swbuild.polyhedral.islutil import union_maps

__all__ = ["Buffers", "buffers_of"]

#: Of an access, by its statement and number: the name of what it has as a buffer, together with others.
Buffers = Mapping[tuple[str, int], str]


@dataclass(frozen=True, slots=True)
class _Touched:
    """References to one array and the elements that they touch."""

    refs: tuple[Reference, ...]
    elements: isl.Set

    @property
    def writes(self) -> bool:
        return any(ref.writes for ref in self.refs)

    def joined(self, other: _Touched) -> _Touched:
        return _Touched((*self.refs, *other.refs), self.elements.union(other.elements))


@dataclass(frozen=True, slots=True)
class _Launch:
    """A launch as a single visit of ``level``, and when what of it runs."""

    level: Level
    timing: Timing

    def meet(self, one: _Touched, other: _Touched) -> bool:
        """Return whether one of them reads or writes what the other has written."""
        if not (one.writes or other.writes) or one.elements.is_disjoint(other.elements):
            return False
        return not self.timing.may_part(self.level, one.refs, other.refs)


def buffers_of(scop: Scop, domains: Mapping[str, isl.Set], private: Collection[str]) -> Buffers:
    """Return the buffers of all accesses in one launch, in which statements have the instances ``domains``.

    Accesses to an array share one if one of them reads what another has written, or both write, and so do
    those that only read; scalars and ``private`` arrays have none.
    """
    launch = _launch(scop, domains)
    found: dict[tuple[str, int], str] = {}
    for array in (a.name for a in scop.arrays if not a.is_scalar and a.name not in private):
        for number, part in enumerate(_parts(launch, _touched(scop, array, domains))):
            name = f"{array} {number}" if number else array
            found |= {(ref.statement, ref.ref): name for ref in part.refs}
    return found


def _launch(scop: Scop, domains: Mapping[str, isl.Set]) -> _Launch:
    """Return the launch with the instances ``domains``, in the order of the source."""
    whole = isl.Set("{ [] }")
    prefix = union_maps(isl.Map.from_domain_and_range(domain, whole) for domain in domains.values())
    return _Launch(Level(0, 0, prefix, frozenset(domains), ()), timing_of(scop, scop.schedule))


def _touched(scop: Scop, array: str, domains: Mapping[str, isl.Set]) -> Iterable[_Touched]:
    """Yield what each access to ``array`` touches."""
    for name, domain in domains.items():
        by_ref: dict[int, Reference] = {}
        for access in scop.statement(name).accesses:
            if access.array == array:
                here = replace(access, relation=access.relation.intersect_domain(domain))
                by_ref[access.ref] = _reference(name, here, by_ref.get(access.ref))
        yield from (_Touched((ref,), ref.relation.range()) for ref in by_ref.values())


def _reference(statement: str, access: Access, before: Reference | None) -> Reference:
    """Return the reference of ``access``, together with the one ``before`` it in the same place."""
    writes, may = access.kind is not AccessKind.READ, access.kind is AccessKind.MAY_WRITE
    found = Reference(
        statement, access.ref, access.array, not writes, writes, may, access.affine, access.relation
    )
    if before is None:
        return found
    return replace(
        found,
        reads=found.reads or before.reads,
        writes=writes or before.writes,
        may_write=may or before.may_write,
    )


def _parts(launch: _Launch, touched: Iterable[_Touched]) -> list[_Touched]:
    """Return ``touched`` in parts that do not meet; what is only read is one of them."""
    parts: list[_Touched] = []
    for each in touched:
        apart = []
        for part in parts:
            if launch.meet(part, each):
                each = part.joined(each)
            else:
                apart.append(part)
        parts = [*apart, each]
    read = [part for part in parts if not part.writes]
    return [part for part in parts if part.writes] + ([reduce(_Touched.joined, read)] if read else [])
