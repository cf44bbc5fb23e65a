"""What a loop of the IR is: its place in the schedule tree that it was made from."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import islpy as isl

from swbuild.classes import dataclass
from swbuild.mapping.marks import LevelMark, mark_of

__all__ = ["MOVES_DATA", "Origin", "Path", "Paths", "Role", "paths_of"]

_NODE = isl.schedule_node_type


class Role(Enum):
    """What a loop runs over."""

    HOST = "host"  # what the host runs around launches
    ROUND = "round"  # the tiles of a mapped loop that are this CPE's
    DEALT = "dealt"  # numbers of tiles of a mapped loop that is dealt out together with others
    TILE = "tile"  # the tiles of another loop, all by every CPE
    POINT = "point"  # the iterations inside a tile
    MOVED = "moved"  # rows or elements that are moved
    SPLIT = "split"  # the operations of one transfer
    UNROLLED = "unrolled"  # iterations, several at a time
    REMAINDER = "remainder"  # what these leave over
    TURNED = "turned"  # the indices of a box that is turned


@dataclass(frozen=True, slots=True)
class Origin:
    """The band that a loop comes from.

    Bands are numbered from the top of the tree, all members of one band alike; ``level`` is the level
    for data that is reached below it (loops over tiles) or that it is below of (all others).
    ``coincident``: its iterations depend on each other in nothing that the loops around it leave open.
    """

    role: Role
    band: int | None = None
    member: int = 0
    level: int | None = None
    coincident: bool = False


#: for loops that no band says
MOVES_DATA = Origin(Role.MOVED)

#: loops around a place, outermost first
Path = tuple[Origin, ...]
Paths = dict[str, Path]


def paths_of(schedule: isl.Schedule, *, host: bool) -> Paths:
    """Return what the members of the bands above each statement of ``schedule`` are, outermost first."""
    numbers = iter(range(10**6))
    found: Paths = {}
    for name, path in _below(schedule.get_root(), (), None, host, numbers):
        found[name] = max(found.get(name, ()), path, key=len)
    return found


def _below(
    node: isl.ScheduleNode, path: Path, level: int | None, host: bool, numbers: Iterator[int]
) -> Iterator[tuple[str, Path]]:
    """Yield the names of the statements at the leaves below ``node``, each with its path."""
    kind = node.get_type()
    if kind == _NODE.leaf:
        yield from ((str(piece.get_tuple_name()), path) for piece in _pieces(node.get_universe_domain()))
        return
    if kind == _NODE.band:
        path = (*path, *_members(node, next(numbers), level, host))
    elif kind == _NODE.mark:
        level = _level(node) if _level(node) is not None else level
    for k in range(node.n_children()):
        yield from _below(node.child(k), path, level, host, numbers)


def _pieces(domain: isl.UnionSet) -> list[isl.Set]:
    pieces = domain.get_set_list()
    return [pieces.get_at(k) for k in range(pieces.n_set())]


def _level(node: isl.ScheduleNode) -> int | None:
    """Return the level for data that the mark ``node`` stands for, None for all else."""
    mark = mark_of(node)
    return mark.number if isinstance(mark, LevelMark) else None


def _members(node: isl.ScheduleNode, number: int, level: int | None, host: bool) -> Path:
    reached = _level(node.child(0))
    if host:
        role = Role.HOST
    elif reached is None:
        role = Role.POINT
    else:
        role = Role.TILE if reached else Role.ROUND
    at = level if reached is None else reached
    return tuple(
        Origin(role, number, member, at, bool(node.band_member_get_coincident(member)))
        for member in range(node.band_n_member())
    )
