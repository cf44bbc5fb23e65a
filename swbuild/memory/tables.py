"""Tables: small arrays of constant size that a kernel reads where data say, and that it does not write."""

from __future__ import annotations

from collections.abc import Collection
from math import prod

from swbuild.frontend.scop import Scop
from swbuild.polyhedral.islutil import constant_of

__all__ = ["table_extents"]

#: Bytes of a table at most: more of it than a kernel reads would be moved, and its LDM is scarce.
_LARGEST = 8192


def table_extents(scop: Scop, name: str, statements: Collection[str]) -> tuple[int, ...] | None:
    """Return the extents of the array ``name`` if all of it may be in the LDM while ``statements`` run.

    None where its size is not constant or too large, or where one of them writes it; nor of parameters
    whose callers may pass more than is declared, unless the user states what they have.
    """
    array = scop.array(name)
    extents = [None if extent is None else constant_of(extent) for extent in array.extents]
    known = tuple(extent for extent in extents if extent is not None)
    if not array.is_closed or not known or len(known) < len(extents) or name in scop.written_by(statements):
        return None
    return known if array.element.size * prod(known) <= _LARGEST else None
