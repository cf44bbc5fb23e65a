"""The published measurements as traces: what each benchmark program does, event by event.

Every function returns the process that a benchmark's CPEs would have written, so that the very replay
that serves users is what is compared with the measurements.
"""

from __future__ import annotations

from collections.abc import Sequence

from swbuild.emulator.model.trace import Kind, Process, Record, RmaMode, Trace

__all__ = [
    "FLOWS",
    "broadcast",
    "convolution_reads",
    "dma_loop",
    "get_blocks",
    "ping_pong",
    "rma_flows",
    "spawn_only",
    "stream",
]

_BASE = 0x500001406000
_SLOT = 131200

#: The flows (sender, receiver) of the RMA study's contention cases, in one cluster or in two.
FLOWS: tuple[tuple[tuple[int, int], ...], ...] = (
    ((0, 1), (8, 9)),
    ((0, 1), (54, 55)),
    ((1, 0), (8, 0), (9, 0)),
    ((0, 1), (1, 9), (9, 8), (8, 0)),
    tuple((a, b) for a in (0, 1, 8, 9) for b in (0, 1, 8, 9) if a != b),
)


def _process(bodies: dict[int, list[Record]]) -> Process:
    records = []
    for cpe, body in bodies.items():
        records += [Record(Kind.KERNEL_BEGIN, cpe), *body, Record(Kind.KERNEL_END, cpe)]
    return Process(0, Trace(tuple(records)))


def dma_loop(op: str, offset: int, cpes: int, length: int, repetitions: int) -> Process:
    """DMA study: each of ``cpes`` issues one transfer, waits for it, and does so again."""
    kind = Kind.DMA_GET if op == "get" else Kind.DMA_PUT
    bodies = {}
    for cpe in range(cpes):
        address = _BASE + cpe * _SLOT + offset
        issue = Record(kind, cpe, address=address, length=length, reply=0)
        waits = (Record(Kind.WAIT, cpe, reply=0, value=k + 1) for k in range(repetitions))
        bodies[cpe] = [record for wait in waits for record in (issue, wait)]
    return _process(bodies)


def stream(step: int, doubles: int, triad: bool, repetitions: int) -> Process:
    """swCandle STREAM on 64 CPEs: get one array or two, compute, put; every transfer is waited for.

    ``step`` 0: one block of ``doubles`` per transfer, the CPEs' blocks one after the other; else 3072
    doubles in blocks of ``doubles`` with ``step`` doubles between.  The arrays start 80 bytes past
    a request's boundary, as the contiguous program does by its source; for the strided one this
    is our assumption.  Computing is charged with one cycle per double.
    """
    length, block = (8 * doubles, 0) if step == 0 else (8 * 3072, 8 * doubles)
    bodies = {}
    for cpe in range(64):
        body: list[Record] = []
        for k in range(repetitions):
            place = (
                (k * 64 + cpe) * length
                if step == 0
                else (cpe * 10**6 + k * 3072 // doubles * (doubles + step)) * 8
            )
            body += _stream_round(cpe, _BASE + 80 + place, length, block, 8 * step, triad, k)
        bodies[cpe] = body
    return _process(bodies)


def _stream_round(
    cpe: int, address: int, length: int, block: int, gap: int, triad: bool, turn: int
) -> list[Record]:
    arrays = 2 if triad else 1
    shape = {"length": length, "block": block, "gap": gap}
    gets = [Record(Kind.DMA_GET, cpe, address=address + (k << 28), reply=0, **shape) for k in range(arrays)]
    put = Record(Kind.DMA_PUT, cpe, address=address + (2 << 28), reply=4, compute=length // 8, **shape)
    got = Record(Kind.WAIT, cpe, reply=0, value=arrays * (turn + 1))
    return [*gets, got, put, Record(Kind.WAIT, cpe, reply=4, value=turn + 1)]


def broadcast(doubles: int, repetitions: int) -> Process:
    """swCandle's broadcast STREAM, copy: CPE 0 gets for all, in blocks of 128 B 4 B apart, and waits."""
    body: list[Record] = []
    for k in range(repetitions):
        shape = {"length": 8 * doubles, "block": 128, "gap": 4}
        body.append(Record(Kind.DMA_GET, 0, 1, 0xFF, address=_BASE + k * 8 * doubles, reply=0, **shape))
        body.append(Record(Kind.WAIT, 0, reply=0, value=k + 1))
    records = [Record(Kind.SPAWN, 255, address=2**64 - 1), Record(Kind.JOIN, 255)]
    for cpe in range(64):
        records += [Record(Kind.KERNEL_BEGIN, cpe), *(body if cpe == 0 else ()), Record(Kind.KERNEL_END, cpe)]
    return Process(0, Trace(tuple(records)))


def convolution_reads(block: int, blocks: int, repetitions: int) -> Process:
    """swDNN's DMA test: 64 CPEs get the same blocks, 7 blocks apart, wait, and do so again."""
    records = [Record(Kind.SPAWN, 255, address=2**64 - 1), Record(Kind.JOIN, 255)]
    shape = {"length": block * blocks, "block": block, "gap": 7 * block}
    for cpe in range(64):
        records.append(Record(Kind.KERNEL_BEGIN, cpe))
        for k in range(repetitions):
            records.append(Record(Kind.DMA_GET, cpe, address=_BASE, reply=0, **shape))
            records.append(Record(Kind.WAIT, cpe, reply=0, value=k + 1))
        records.append(Record(Kind.KERNEL_END, cpe))
    return Process(0, Trace(tuple(records)))


def get_blocks(block: int, repetitions: int) -> Process:
    """swGEMM's map: 64 CPEs get 24 KiB in blocks with wide gaps, 48 bytes past a request's boundary.

    The offset is not published: it is what makes the saw-tooth of the map fall on the requests.
    """
    count = max(1, 24576 // block)
    bodies = {}
    for cpe in range(64):
        body: list[Record] = []
        for k in range(repetitions):
            address = _BASE + 48 + cpe * 2**22
            body.append(
                Record(
                    Kind.DMA_GET,
                    cpe,
                    address=address,
                    length=count * block,
                    block=block,
                    gap=8192 - block,
                    reply=0,
                )
            )
            body.append(Record(Kind.WAIT, cpe, reply=0, value=k + 1))
        bodies[cpe] = body
    return _process(bodies)


def ping_pong(one: int, other: int, length: int, repetitions: int) -> Process:
    """RMA study: two CPEs put to each other in turn; a round trip is two puts."""

    def put(cpe: int, peer: int) -> Record:
        return Record(Kind.RMA, cpe, RmaMode.PUT, address=1 << peer, length=length, reply=0, gap=4)

    first: list[Record] = []
    second: list[Record] = []
    for k in range(repetitions):
        first += [put(one, other), Record(Kind.WAIT, one, 1, reply=4, value=k + 1)]
        second += [Record(Kind.WAIT, other, 1, reply=4, value=k + 1), put(other, one)]
    return _process({one: first, other: second})


def rma_flows(flows: Sequence[tuple[int, int]], length: int, window: int, repetitions: int) -> Process:
    """RMA study: a sender puts ``window`` times on each of its flows, then waits for its local replies."""
    bodies: dict[int, list[Record]] = {cpe: [] for flow in flows for cpe in flow}
    for sender in sorted({sender for sender, _ in flows}):
        peers = [receiver for origin, receiver in flows if origin == sender]
        for turn in range(repetitions):
            for _ in range(window):
                for peer in peers:
                    bodies[sender].append(
                        Record(
                            Kind.RMA, sender, RmaMode.PUT, address=1 << peer, length=length, reply=0, gap=4
                        )
                    )
            done = (turn + 1) * window * len(peers)
            bodies[sender].append(Record(Kind.WAIT, sender, 1, reply=0, value=done))
    return _process(bodies)


def spawn_only() -> Process:
    """An empty kernel: what a spawn and its join cost."""
    everyone = 2**64 - 1
    records = [Record(Kind.SPAWN, 255, address=everyone), Record(Kind.JOIN, 255)]
    for cpe in range(64):
        records += [Record(Kind.KERNEL_BEGIN, cpe), Record(Kind.KERNEL_END, cpe)]
    return Process(0, Trace(tuple(records)))
