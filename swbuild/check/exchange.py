"""The files between the checker and its harness: inputs written, outputs read back.

The layout is described in ``harness_runtime.c``.  An output file is believed only as far as it
is complete: a run that died in the middle leaves the records of the cases before.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from swbuild.check.compare import dtype_of
from swbuild.check.shapes import Shape
from swbuild.check.slots import Slot
from swbuild.classes import dataclass
from swbuild.files import write_pieces

__all__ = ["RunOutput", "RunRecord", "SlotRecord", "has_end", "read_output", "write_inputs"]

AnyArray = npt.NDArray[Any]

_MARK_CASE = int.from_bytes(b"SSWSCASE", "little")
_MARK_END = int.from_bytes(b"SSWSCEND", "little")
_HEADER = struct.Struct("<qqqd")
_UNTOUCHED = -(2**63)


@dataclass(frozen=True, slots=True)
class SlotRecord:
    """What a run left of one object; ``changed_outside`` as in :class:`ArrayReport.red_zone`."""

    values: AnyArray
    changed_outside: int | None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a run left of one case; ``status`` is what the entry returned, ``spawns`` -1 if unknown."""

    status: int
    spawns: int
    seconds: float
    slots: Mapping[str, SlotRecord]


@dataclass(frozen=True, slots=True)
class RunOutput:
    """All complete cases of a run; ``complete`` when the end record of this very run is there."""

    records: tuple[RunRecord, ...]
    complete: bool


def write_inputs(path: Path, slots: Sequence[Slot], cases: Iterable[Mapping[str, AnyArray]]) -> None:
    """Write the input file for these cases; runs that have begun with an older one keep that."""
    write_pieces(path, (piece for case in cases for piece in _packed(slots, case)))


def _packed(slots: Sequence[Slot], case: Mapping[str, AnyArray]) -> Iterator[bytes]:
    yield struct.pack("<q", len(slots))
    for slot in slots:
        data = np.ascontiguousarray(case[slot.name]).tobytes()
        yield struct.pack("<q", len(data))
        yield data + bytes(-len(data) % 8)


def read_output(
    path: Path, slots: Sequence[Slot], shapes: Sequence[Mapping[str, Shape]], nonce: str
) -> RunOutput:
    """Return what the run with this ``nonce`` wrote to ``path`` (nothing, if there is no file)."""
    data = path.read_bytes() if path.exists() else b""
    records: list[RunRecord] = []
    offset = 0
    for case in shapes:
        parsed = _read_record(data, offset, slots, case)
        if parsed is None:
            return RunOutput(tuple(records), False)
        record, offset = parsed
        records.append(record)
    return RunOutput(tuple(records), data[offset:] == _end(nonce))


def _end(nonce: str) -> bytes:
    """Return the end record of the run with this nonce."""
    return struct.pack("<q", _MARK_END) + nonce.encode()


def has_end(path: Path, nonce: str) -> bool:
    """Return whether the file ends as that of the run with this nonce does; the rest is not looked at."""
    end = _end(nonce)
    try:
        with path.open("rb") as file:
            file.seek(-len(end), os.SEEK_END)
            return file.read() == end
    except OSError:
        return False


def _read_record(
    data: bytes, offset: int, slots: Sequence[Slot], shapes: Mapping[str, Shape]
) -> tuple[RunRecord, int] | None:
    """Return the record at ``offset`` and the offset behind it, ``None`` if it is not all there."""
    if offset + _HEADER.size > len(data):
        return None
    mark, status, spawns, seconds = _HEADER.unpack_from(data, offset)
    if mark != _MARK_CASE:
        return None
    offset += _HEADER.size
    found: dict[str, SlotRecord] = {}
    for slot in slots:
        dtype, shape = dtype_of(slot.element), shapes[slot.name]
        count = int(np.prod(shape, dtype=np.int64))
        size = count * dtype.itemsize
        end = offset + 8 + size + -size % 8
        if end > len(data):
            return None
        (changed,) = struct.unpack_from("<q", data, offset)
        values = np.frombuffer(data, dtype, count, offset + 8).reshape(shape)
        found[slot.name] = SlotRecord(values, None if changed == _UNTOUCHED else changed)
        offset = end
    return RunRecord(status, spawns, seconds, found), offset
