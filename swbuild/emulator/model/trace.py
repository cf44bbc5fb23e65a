"""The event trace: what the emulated core group writes down and the timing model replays.

A *trace* is binary: a 16-byte header, then 48-byte records, all little-endian, as ``swb_trace.h``
declares them; beside it stands the list of the kernels and call sites that records refer to by number
(``profile``).  The records of one CPE are in the order in which it executed the events; records of
different CPEs may be interleaved in any way.  **Nothing in a record depends on the time of the
box**, so a replay gives the same model time on every run.

Fields of every record: ``kind``; ``cpe`` (0..63, 255 = host); ``site`` (1-based index into
``sites``, 0 = unknown); ``compute`` = model cycles that this CPE computed since its previous record
(0 where the program was not built for counting).  The other fields by kind:

================  ==================================================================================
``KERNEL_BEGIN``  a CPE enters a kernel: ``value`` = ordinal of the spawn (from 0) in this process.
``KERNEL_END``    it leaves.  Everything between the two belongs to that spawn.
``SPAWN``         host: ``value`` = ordinal of the spawn, ``ldm`` = index into ``kernels``,
                  ``address`` = 64-bit mask of the CPEs that start.
``JOIN``          host: ``value`` = ordinal of the spawn that was joined.
``DMA_GET``       issue of a transfer memory -> LDM.  ``mode`` as in ``dma_mode`` (0 PE, 1 BCAST, 2 ROW,
``DMA_PUT``       3 BROW, 4 RANK), ``mask`` = rows of a broadcast, ``address`` = main memory, ``ldm``,
                  ``length``, ``block`` (0 = contiguous), ``gap``, ``reply``.  A blocking call is an issue
                  followed by a ``WAIT``.
``RMA``           issue of a transfer between CPEs.  ``mode`` 0 put, 1 get, 2 broadcast; ``address`` = mask
                  of the CPEs at the other end (the sender itself included where it receives),
                  ``ldm`` = offset on the initiator, ``length``, ``reply`` = the initiator's
                  reply word, ``gap`` = the reply word on the other CPEs, ``block`` = data offset there.
``WAIT``          the CPE goes on only when enough completions have come on its reply word ``reply``,
                  counted over this kernel (resets of the word do not reset the count).  ``mode`` 0: the
                  ``value``-th of the transfers that it has issued itself on that word; ``mode`` 1: the
                  ``value``-th of anyone's (a word that other CPEs' RMA or broadcasts increment).
                  ``reply`` = 0xffffffff: everything that it has issued itself (``dma_barrier``).
``SYNC``          barrier: ``address`` = mask of all participants, itself included; ``mode`` 0 row,
                  1 column, 2 array, 3 other.  Waits until every CPE of the mask has a SYNC with that mask.
``REG_PUT``       register communication: ``mode`` 0 row, 1 column; ``address`` = mask of the receivers,
                  ``length`` bytes; ``value`` = how many such puts in a run (0 and 1 both mean one).
``REG_GET``       receives one message of that direction (``mode``); ``value`` as above.
``ATOMIC``        one read-modify-write of main memory at ``address``; ``value`` = how many in a run.
``DIRECT``        loads and stores of main memory without DMA: ``value`` accesses, ``length`` bytes.
``HOST``          host: what one block of its code has done since the record before the last ``HOST``
                  records: ``ldm`` = index into ``blocks``, ``address`` passes; ``length`` lines from the
                  second level of its caches, ``block`` from main memory, ``gap`` changed ones back.
``MARK``          a named point in time for the timeline; no cost.
================  ==================================================================================

An LDM offset of 0xffffffff means "none".
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.emulator.model.host_block import HostBlock

__all__ = [
    "COUNTED",
    "HOST",
    "HOST_COUNTED",
    "NONE",
    "Kind",
    "Process",
    "Record",
    "RmaMode",
    "Site",
    "Trace",
    "header_path",
    "read_trace",
    "write_trace",
]

HOST = 255
NONE = 0xFFFFFFFF

_MAGIC = 0x31525453
_VERSION = 1
_HEADER = struct.Struct("<4I")
_RECORD = struct.Struct("<4BI2Q6I")
#: Bits of the flags: what computes is counted, and the trace is cut short.
COUNTED, HOST_COUNTED = 1, 4
_DROPPED = 2


class Kind(IntEnum):
    """What happened; the values are those of ``swb_trace.h``."""

    KERNEL_BEGIN = 1
    KERNEL_END = 2
    SPAWN = 3
    JOIN = 4
    DMA_GET = 5
    DMA_PUT = 6
    RMA = 7
    WAIT = 8
    SYNC = 9
    REG_PUT = 10
    REG_GET = 11
    ATOMIC = 12
    DIRECT = 13
    MARK = 14
    HOST = 15


class RmaMode(IntEnum):
    """Which way an ``RMA`` record moves data."""

    PUT = 0
    GET = 1
    BROADCAST = 2


class Record(NamedTuple):
    """One event; the fields are those of ``struct swb_trace_record``."""

    kind: int
    cpe: int
    mode: int = 0
    mask: int = 0
    site: int = 0
    compute: int = 0
    address: int = 0
    ldm: int = 0
    length: int = 0
    block: int = 0
    gap: int = 0
    reply: int = NONE
    value: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """The events of one process: those of the file at ``path``, or else ``records``.

    ``counted`` and ``host_counted``: what CPEs and host compute is in it; ``dropped``: it is cut short.
    """

    records: Sequence[Record] = ()
    counted: bool = True
    dropped: bool = False
    host_counted: bool = False
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """The place of a call in the user's source."""

    file: str
    line: int
    call: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Process:
    """One process of the program, which is one core group.

    ``outcome``: what its run has said of its model time, in the lines of ``outcome``.
    """

    rank: int
    trace: Trace
    kernels: tuple[str, ...] = ()
    sites: tuple[Site, ...] = ()
    blocks: tuple[HostBlock, ...] = ()
    outcome: tuple[str, ...] = ()

    def site(self, index: int) -> Site:
        """Return the call site of a record's ``site`` field."""
        return self.sites[index - 1] if 0 < index <= len(self.sites) else Site("<unknown>", 0)

    def kernel(self, index: int) -> str:
        """Return the name of the kernel of a SPAWN record's ``ldm`` field."""
        return self.kernels[index] if index < len(self.kernels) else f"kernel {index}"


def header_path() -> Path:
    """Return the directory that holds ``swb_trace.h``, for the C runtime's include path."""
    return Path(__file__).parent


def write_trace(
    path: Path, records: Iterable[Record], counted: bool = True, host_counted: bool = False
) -> None:
    """Write ``records`` as a trace file (the C runtime does the same in C)."""
    flags = COUNTED * counted | HOST_COUNTED * host_counted
    with path.open("wb") as out:
        out.write(_HEADER.pack(_MAGIC, _VERSION, _RECORD.size, flags))
        for record in records:
            out.write(_RECORD.pack(*record))


def read_trace(path: Path) -> Trace:
    """Return the trace in a file, whose records stay there; raise :class:`SwbuildError` if it is none."""
    head, size = _head(path)
    if len(head) < _HEADER.size:
        raise _error(path, "it is too short to be a trace")
    magic, version, record, flags = _HEADER.unpack(head)
    if magic != _MAGIC:
        raise _error(path, "it does not start like a trace")
    if (version, record) != (_VERSION, _RECORD.size):
        expected = f"{_VERSION} with {_RECORD.size}-byte records"
        raise _error(path, f"it has version {version} with {record}-byte records, not {expected}")
    dropped = bool(flags & _DROPPED) or (size - _HEADER.size) % _RECORD.size != 0
    return Trace((), bool(flags & COUNTED), dropped, bool(flags & HOST_COUNTED), path)


def _head(path: Path) -> tuple[bytes, int]:
    """Return a file's first bytes, and how many it has in all."""
    try:
        with path.open("rb") as file:
            return file.read(_HEADER.size), os.fstat(file.fileno()).st_size
    except OSError as problem:
        raise _error(path, problem.strerror or str(problem)) from None


def _error(path: Path, why: str) -> SwbuildError:
    hint = "write it with 'swbuild run --profile prof.json PROGRAM'"
    return SwbuildError(Diagnostic("SW691", f"cannot read the trace: {why}", Span(str(path)), hint))
