"""Which accesses to one array meet in a launch of a kernel: others may have buffers of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import AccessKind, Scop

__all__ = ["Buffers", "buffers_of"]

#: Of an access, by its statement and number: the name of what it has as a buffer, together with others.
Buffers = Mapping[tuple[str, int], str]


@dataclass(frozen=True, slots=True)
class _Touched:
    """References to one array and the elements that they touch."""

    refs: tuple[tuple[str, int], ...]
    elements: isl.Set
    written: bool

    def meets(self, other: _Touched) -> bool:
        """Return whether both only read, or one of them writes what the other may access."""
        if self.written or other.written:
            return not self.elements.is_disjoint(other.elements)
        return True

    def joined(self, other: _Touched) -> _Touched:
        elements = self.elements.union(other.elements)
        return _Touched((*self.refs, *other.refs), elements, self.written or other.written)


def buffers_of(scop: Scop, domains: Mapping[str, isl.Set], private: Collection[str]) -> Buffers:
    """Return the buffers of all accesses in one launch, in which statements have the instances ``domains``.

    Accesses to an array share one if they meet in an element that one of them writes, and so do those that
    only read; scalars and ``private`` arrays have none.
    """
    found: dict[tuple[str, int], str] = {}
    for array in (a.name for a in scop.arrays if not a.is_scalar and a.name not in private):
        for number, part in enumerate(_parts(_touched(scop, array, domains))):
            found |= dict.fromkeys(part.refs, f"{array} {number}" if number else array)
    return found


def _touched(scop: Scop, array: str, domains: Mapping[str, isl.Set]) -> Iterable[_Touched]:
    """Yield what each access to ``array`` touches."""
    for name, domain in domains.items():
        by_ref: dict[int, _Touched] = {}
        for access in scop.statement(name).accesses:
            if access.array == array:
                elements = access.relation.intersect_domain(domain).range()
                written = access.kind is not AccessKind.READ
                before = by_ref.get(access.ref)
                by_ref[access.ref] = _Touched(
                    ((name, access.ref),), elements, written or (before is not None and before.written)
                )
        yield from by_ref.values()


def _parts(touched: Iterable[_Touched]) -> list[_Touched]:
    """Return ``touched`` in parts that do not meet."""
    parts: list[_Touched] = []
    for each in touched:
        apart = []
        for part in parts:
            if part.meets(each):
                each = part.joined(each)
            else:
                apart.append(part)
        parts = [*apart, each]
    return parts
