"""Who put an element: the compute core and the transfer that last wrote it, from the emulator's event trace.

This is evidence, not deduction from the mapping: an element that no transfer wrote has no owner,
which is often the whole explanation.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from swbuild.classes import dataclass

__all__ = ["NOBODY", "Owners", "read_addresses", "read_owners", "trace_environment"]

#: The number of no core.
NOBODY = 255
_PUT = 6
_LARGEST = 1 << 26

_RECORD = np.dtype(
    [
        *((name, "u1") for name in ("kind", "cpe", "mode", "mask")),
        ("site", "<u4"),
        *((name, "<u8") for name in ("compute", "address")),
        *((name, "<u4") for name in ("ldm", "length", "block")),
        ("gap", "<i4"),
        *((name, "<u4") for name in ("reply", "value")),
    ]
)
_HEADER_BYTES = 16


@dataclass(frozen=True, slots=True)
class Owners:
    """For each element of an array, flat: the core that last put it, and the number of the call site."""

    cpes: npt.NDArray[np.uint8]
    sites: npt.NDArray[np.uint32]
    places: Mapping[int, str]
    shape: tuple[int, int]

    def phrase(self, element: int) -> str:
        """Return who put the element, as a phrase."""
        cpe = int(self.cpes[element])
        if cpe == NOBODY:
            return "nobody: no transfer put it to main memory"
        place = self.places.get(int(self.sites[element]), "")
        where = f", by the transfer at {place}" if place else ""
        return f"CPE {cpe} (row {cpe // self.shape[1]}, column {cpe % self.shape[1]}){where}"

    def mesh(self, bad: npt.NDArray[np.bool_]) -> list[list[int]]:
        """Return how many bad elements each core put, by the rows of the mesh."""
        counts = np.bincount(self.cpes[bad.ravel()], minlength=256)
        rows, columns = self.shape
        return [[int(n) for n in counts[row * columns : (row + 1) * columns]] for row in range(rows)]

    def orphans(self, bad: npt.NDArray[np.bool_]) -> int:
        """Return how many bad elements no core put."""
        return int(np.count_nonzero(bad.ravel() & (self.cpes == NOBODY)))


def trace_environment(trace: Path, addresses: Path) -> dict[str, str]:
    """Return what makes a run of the harness leave its trace and the addresses of its objects."""
    return {"SWBUILD_EMU_TRACE": str(trace), "SWCHK_ADDRESSES": str(addresses), "SWBUILD_EMU_CHECKED": "0"}


def read_addresses(path: Path, case: int) -> dict[int, tuple[int, int]]:
    """Return address and bytes of each object of a case, by the number of its slot."""
    found: dict[int, tuple[int, int]] = {}
    if not path.exists():
        return found
    for line in path.read_text(encoding="ascii").splitlines():
        number, slot, address, size = map(int, line.split())
        if number == case:
            found[slot] = (address, size)
    return found


def read_owners(trace: Path, address: int, size: int, item: int, mesh: tuple[int, int]) -> Owners | None:
    """Return the owners of the object of ``size`` bytes at ``address``, whose elements have ``item`` bytes.

    ``mesh`` are the rows and columns of the CPEs.  ``None`` when there is no trace, or one that is
    too long to be worth it.
    """
    if not trace.exists() or trace.stat().st_size > _LARGEST or not size:
        return None
    records = np.fromfile(trace, _RECORD, offset=_HEADER_BYTES)
    puts = records[(records["kind"] == _PUT)]
    reach = puts["address"].astype(np.int64) - address
    puts = puts[(reach < size) & (reach > -_LARGEST)]
    count = size // item
    cpes = np.full(count, NOBODY, np.uint8)
    sites = np.zeros(count, np.uint32)
    for put in puts:
        for first, last in _spans(put, address, item, count):
            cpes[first:last] = put["cpe"]
            sites[first:last] = put["site"]
    return Owners(cpes, sites, _places(trace), mesh)


def _spans(put: Any, address: int, item: int, count: int) -> list[tuple[int, int]]:
    """Return the ranges of elements that a transfer writes, block by block."""
    length, block, gap = int(put["length"]), int(put["block"]), int(put["gap"])
    start = int(put["address"]) - address
    block = block or length
    spans = []
    for number in range(-(-length // block)):
        low = start + number * (block + gap)
        first, last = max(low // item, 0), min(-(-(low + block) // item), count)
        if first < last:
            spans.append((first, last))
    return spans


def _places(trace: Path) -> dict[int, str]:
    """Return the source places of call sites, by the numbers that records give them."""
    names = trace.with_name(trace.name + ".names")
    if not names.exists():
        return {}
    lines = names.read_text(encoding="utf-8", errors="replace").splitlines()
    sites = [line.split(maxsplit=2)[-1] for line in lines if line.startswith("site ")]
    return {number: os.path.basename(place) for number, place in enumerate(sites, 1)}
