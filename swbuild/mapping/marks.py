"""The marks that the generator leaves in schedule trees, as values: here alone they become isl's names."""

from __future__ import annotations

import islpy as isl

from swbuild.classes import dataclass

__all__ = ["FrontMark", "LevelMark", "Mark", "inserted", "mark_of"]


@dataclass(frozen=True, slots=True)
class LevelMark:
    """A place where data may be moved: all loops above it are fixed; ``number`` counts from the top."""

    number: int


@dataclass(frozen=True, slots=True)
class FrontMark:
    """Stands above a band that counts the tiles of a wavefront.

    ``pieces``: so many bands below count pieces of a tile, and nothing below those is tiled; None where all
    that is below may be.
    """

    pieces: int | None = None


Mark = LevelMark | FrontMark

_LEVEL, _FRONT = "level", "front"


def inserted(mark: Mark, node: isl.ScheduleNode) -> isl.ScheduleNode:
    """Return ``mark`` as a node above ``node``."""
    return node.insert_mark(isl.Id(_text(mark)))


def _text(mark: Mark) -> str:
    if isinstance(mark, FrontMark):
        return _FRONT if mark.pieces is None else f"{_FRONT}:{mark.pieces}"
    return f"{_LEVEL}:{mark.number}"


def mark_of(node: isl.ScheduleNode) -> Mark | None:
    """Return the mark that ``node`` is, None where it is anything else."""
    if node.get_type() != isl.schedule_node_type.mark:
        return None
    kind, _, number = str(node.mark_get_id().name).partition(":")
    if kind == _FRONT:
        return FrontMark(int(number) if number else None)
    return LevelMark(int(number)) if kind == _LEVEL else None
