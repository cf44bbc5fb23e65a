"""Who computed an element: the kernel, the compute core and the tile that the mapping gives it to."""

from __future__ import annotations

from collections.abc import Mapping

from swbuild.codegen.unit import RegionUnit

__all__ = ["owner_of"]


def owner_of(unit: RegionUnit, array: str, index: tuple[int, ...], sizes: Mapping[str, int]) -> str:
    """Return a phrase for the core and tile that last write the element, empty if that is not known."""
    return ""
