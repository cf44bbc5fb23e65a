"""The places of a tiled tree where data may be moved, and what is accessed below each."""

from __future__ import annotations

from functools import lru_cache

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Access, AccessKind, Scop
from swbuild.mapping.marks import LevelMark, mark_of
from swbuild.mapping.tiling import TiledKernel
from swbuild.memory.words import Words, is_small, words_of
from swbuild.polyhedral.dataflow import access_relation
from swbuild.polyhedral.islutil import coalesced, maps_of, sets_of, union_maps
from swbuild.polyhedral.privatise import Private

__all__ = ["Level", "Reference", "find_levels", "footprint", "references"]


@dataclass(frozen=True, slots=True)
class Level:
    """A marked place of the tree.

    ``prefix`` maps the instances below to the values of all loops above (an unnamed space of
    ``depth`` dimensions, the mapped loops first); ``children`` are the next places below.
    """

    number: int
    depth: int
    prefix: isl.UnionMap
    statements: frozenset[str]
    children: tuple[Level, ...]

    def walk(self) -> list[Level]:
        """Return this level and all below it, outermost first."""
        return [self, *(inner for child in self.children for inner in child.walk())]


@dataclass(frozen=True, slots=True)
class Reference:
    """One place in a statement's text that accesses an array, with all its accesses merged."""

    statement: str
    ref: int
    array: str
    reads: bool
    writes: bool
    may_write: bool
    affine: bool
    #: instance -> element, in the kernel's domain
    relation: isl.Map
    #: how small elements lie in the words that are moved for them
    words: Words | None = None

    @property
    def happens(self) -> bool:
        """Whether the access is made at all; the one in ``0 ? A[i] : x`` is not."""
        return not self.relation.is_empty()


@lru_cache(maxsize=100)
def find_levels(tiled: TiledKernel) -> Level:
    """Return the level below the mapped loops, with the levels below it."""
    (top,) = _levels_below(tiled.schedule.get_root())
    return top


def _levels_below(node: isl.ScheduleNode) -> tuple[Level, ...]:
    mark = mark_of(node)
    if isinstance(mark, LevelMark):
        return (_level(node, mark.number),)
    return tuple(level for k in range(node.n_children()) for level in _levels_below(node.child(k)))


def _level(node: isl.ScheduleNode, number: int) -> Level:
    # instance -> [loops above]; the node's domain leaves out what filters above it have sorted out
    prefix = node.get_prefix_schedule_union_map().intersect_domain(node.get_domain())
    names = frozenset(str(piece.get_tuple_name()) for piece in sets_of(node.get_domain()))
    return Level(number, node.get_schedule_depth(), prefix, names, _levels_below(node.child(0)))


def references(
    scop: Scop, tiled: TiledKernel, private: Private, expanded: frozenset[str] = frozenset()
) -> list[Reference]:
    """Return the references of the kernel to arrays.

    Scalars and private variables are left out, but for the ``expanded`` ones, whose relation is
    the expanded one: an element per iteration of the loops that they are private to.
    """
    domains = {str(piece.get_tuple_name()): piece for piece in sets_of(tiled.kernel.domain)}
    found = []
    for statement in scop.statements:
        if statement.name not in domains:
            continue
        by_ref: dict[int, list[Access]] = {}
        for access in statement.accesses:
            if access.array in expanded or _is_in_memory(scop, access, private):
                by_ref.setdefault(access.ref, []).append(access)
        for ref, accesses in sorted(by_ref.items()):
            relations = [access_relation(scop, statement, a, private.expansions) for a in accesses]
            array = accesses[0].array
            small = array not in expanded and is_small(scop.array(array))
            words = words_of(scop, scop.array(array)) if small else None
            found.append(_reference(statement.name, ref, accesses, relations, domains[statement.name], words))
    return found


def _is_in_memory(scop: Scop, access: Access, private: Private) -> bool:
    return access.array not in private.names and not scop.array(access.array).is_scalar


def _reference(
    statement: str,
    ref: int,
    accesses: list[Access],
    relations: list[isl.Map],
    domain: isl.Set,
    words: Words | None,
) -> Reference:
    relation = relations[0]
    for other in relations[1:]:
        relation = relation.union(other)
    kinds = {access.kind for access in accesses}
    return Reference(
        statement,
        ref,
        accesses[0].array,
        AccessKind.READ in kinds,
        bool(kinds - {AccessKind.READ}),
        AccessKind.MAY_WRITE in kinds,
        all(access.affine for access in accesses),
        coalesced(relation.intersect_domain(domain)),
        words,
    )


def footprint(level: Level, refs: list[Reference]) -> isl.Map:
    """Return ``prefix -> element``: what ``refs`` (all of one array) touch per visit of ``level``.

    At least one of them happens.
    """
    # [loops above] -> instances of that visit -> what they access; one array, so one map
    accesses = union_maps(ref.relation for ref in refs)
    (result,) = maps_of(level.prefix.reverse().apply_range(accesses))
    return coalesced(result)
