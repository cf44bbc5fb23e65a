"""Replay of an event trace against a machine: a discrete-event simulation of one core group.

Deterministic by construction: events are taken in order of model time, ties in the order in which they
were created, and neither the box nor the host's scheduling has a say.  What is simulated: each CPE
executes its records one after the other; its transfers queue in its own DMA engine (one at a time,
in order) and share the core group's memory controller with the other CPEs' (see ``controller``);
RMA shares one network; a barrier opens when its last participant has come; a register put needs
room in the receivers' queues; a spawn and a join cost the host's time; what the host computes between
them takes its time too, where its code was counted (see ``host_clock``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from math import inf

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.emulator.model.controller import Controller, Transfer
from swbuild.emulator.model.host_clock import HostClock
from swbuild.emulator.model.result import Category, CpeTime, KernelTime, Replay, Slice
from swbuild.emulator.model.sharing import SharedServer
from swbuild.emulator.model.trace import HOST, NONE, Kind, Process, Record, RmaMode
from swbuild.machine import MachineModel
from swbuild.machine.cost.requests import requests_of
from swbuild.machine.cost.transfers import earliest_finish, exposed

__all__ = ["replay"]


def replay(process: Process, machine: MachineModel, timeline: bool = False) -> Replay:
    """Return the model time of ``process`` on ``machine``; ``timeline``: with every CPE's slices.

    Raise :class:`SwbuildError` if some CPE waits for what never comes (a trace cut short).
    """
    return _Simulation(process, machine, timeline).run()


class _Actor:
    """A CPE (or the host) on its way through its records."""

    __slots__ = (
        *("begin_wait", "blocked_on", "completions", "engine", "id", "next", "outstanding"),
        *("own_completions", "queue", "record", "records", "total"),
    )

    def __init__(self, identity: int, records: Sequence[Record]) -> None:
        self.id = identity
        self.records = records
        self.next = 0
        self.record: Record | None = None
        self.total: CpeTime | None = None
        self.begin_wait = 0.0
        self.blocked_on = ""
        self.completions: dict[int, int] = {}
        self.own_completions: dict[int, int] = {}
        self.outstanding = 0
        self.engine: deque[Transfer] = deque()
        self.queue: tuple[deque[float], deque[float]] = (deque(), deque())


class _Simulation:
    def __init__(self, process: Process, machine: MachineModel, timeline: bool) -> None:
        self.process = process
        self.machine = machine
        self.timeline = timeline
        self.result = Replay()
        self.now = 0.0
        self.order = count()
        self.events: list[tuple[float, int, Callable[..., None], tuple[object, ...]]] = []
        self.controller = Controller(machine.memory)
        self.network: SharedServer[tuple[_Actor, Record, float]] = SharedServer()
        self.barriers: dict[tuple[int, int], list[_Actor]] = {}
        self.kernels: dict[int, KernelTime] = {}
        self.opened: set[int] = set()
        self.gates: dict[int, list[_Actor]] = {}
        self.running: dict[int, int] = {}
        self.senders: dict[tuple[int, int], list[_Actor]] = {}
        self.actors = {cpe: _Actor(cpe, records) for cpe, records in process.trace.by_cpe().items()}
        self.spawned = any(record.kind == Kind.SPAWN for record in self._host_records())
        self.host = HostClock(process.blocks, self._host_records(), machine, self.result.host)

    def run(self) -> Replay:
        for actor in self.actors.values():
            self._schedule_next(actor, 0.0)
        while self._step():
            pass
        self._check_finished()
        self.result.cycles = max([self.now, self.host.end, *(kernel.end for kernel in self.kernels.values())])
        self.result.controller_busy = self.controller.busy
        self.result.kernels = [self.kernels[ordinal] for ordinal in sorted(self.kernels)]
        return self.result

    def _step(self) -> bool:
        """Take the next event: a departure from the controller or the network, or one of the heap's."""
        first = self.events[0][0] if self.events else inf
        served, sent = self.controller.next_departure(), self.network.next_departure()
        if served is not None and served <= first and (sent is None or served <= sent):
            self.now = max(self.now, served)
            self._departed(self.controller.depart(self.now))
        elif sent is not None and sent <= first:
            self.now = max(self.now, sent)
            self._sent(*self.network.depart(self.now))
        elif self.events:
            self.now, _, action, arguments = heappop(self.events)
            action(*arguments)
        else:
            return False
        return True

    def _at(self, time: float, action: Callable[..., None], *arguments: object) -> None:
        heappush(self.events, (time, next(self.order), action, arguments))

    # --- the CPEs -------------------------------------------------------------------------------

    def _schedule_next(self, actor: _Actor, time: float) -> None:
        """Let ``actor``, free at ``time``, compute up to its next record and execute that."""
        if actor.next >= len(actor.records):
            return
        record = actor.records[actor.next]
        actor.next += 1
        actor.record = record
        if record.compute:
            self._spend(actor, Category.COMPUTE, time, time + record.compute, record.site)
        self._at(time + record.compute, self._execute, actor)

    def _execute(self, actor: _Actor) -> None:
        assert actor.record is not None
        _ACTIONS[actor.record.kind](self, actor, actor.record)

    def _go_on(self, actor: _Actor, category: Category, cycles: float) -> None:
        """Let ``actor`` spend ``cycles`` from now and go on with its next record."""
        if cycles:
            assert actor.record is not None
            self._spend(actor, category, self.now, self.now + cycles, actor.record.site)
        self._schedule_next(actor, self.now + cycles)

    def _block(self, actor: _Actor, what: str) -> None:
        actor.begin_wait = self.now
        actor.blocked_on = what

    def _wake(self, actor: _Actor, category: Category, after: float = 0.0, site: int = 0) -> None:
        assert actor.record is not None
        actor.blocked_on = ""
        end = self.now + after
        self._spend(actor, category, actor.begin_wait, end, actor.record.site or site)
        if site and actor.total is not None:
            self.result.site(site).awaited += end - actor.begin_wait
        self._schedule_next(actor, end)

    def _spend(self, actor: _Actor, category: Category, begin: float, end: float, site: int) -> None:
        if actor.total is None or end <= begin:
            return
        actor.total.add(category, end - begin)
        entry = self.result.site(site)
        if category is Category.COMPUTE:
            entry.computed += end - begin
        else:
            entry.waited += end - begin
        if self.timeline:
            self.result.slices.append(Slice(actor.id, category, begin, end, site))

    # --- spawn and join -------------------------------------------------------------------------

    def _host_records(self) -> Sequence[Record]:
        host = self.actors.get(HOST)
        return host.records if host else ()

    def _spawn(self, actor: _Actor, record: Record) -> None:
        name = self.process.kernel(record.ldm)
        self.kernels[record.value] = KernelTime(record.value, name, self.now)
        self.running[record.value] = record.address.bit_count() or 1
        self._at(self.now + self.machine.control.spawn_cycles, self._open_gate, record.value)
        self._schedule_next(actor, self.now)

    def _open_gate(self, ordinal: int) -> None:
        self.opened.add(ordinal)
        for actor in self.gates.pop(ordinal, []):
            self._begin(actor, ordinal)

    def _kernel_begin(self, actor: _Actor, record: Record) -> None:
        ordinal = record.value
        if self.spawned and ordinal not in self.opened:
            self._block(actor, "spawn")
            self.gates.setdefault(ordinal, []).append(actor)
        else:
            self._begin(actor, ordinal)

    def _begin(self, actor: _Actor, ordinal: int) -> None:
        kernel = self.kernels.setdefault(ordinal, KernelTime(ordinal, f"kernel {ordinal}", self.now))
        actor.blocked_on = ""
        actor.total = CpeTime(actor.id, self.now)
        actor.completions = {}
        actor.own_completions = {}
        kernel.cpes.append(actor.total)
        self._schedule_next(actor, self.now)

    def _kernel_end(self, actor: _Actor, record: Record) -> None:
        kernel = self.kernels[record.value]
        if actor.total is not None:
            actor.total.end = kernel.end = self.now
        actor.total = None
        self.running[record.value] = self.running.get(record.value, 1) - 1
        host = self.actors.get(HOST)
        if host and host.blocked_on == f"join {record.value}" and self.running[record.value] <= 0:
            self._joined(host, record.value)
        self._schedule_next(actor, self.now)

    def _join(self, actor: _Actor, record: Record) -> None:
        if self.running.get(record.value, 0) > 0:
            self._block(actor, f"join {record.value}")
        else:
            self._joined(actor, record.value)

    def _joined(self, actor: _Actor, ordinal: int) -> None:
        actor.blocked_on = ""
        end = self.now + self.machine.control.join_cycles
        if ordinal in self.kernels:
            self.kernels[ordinal].end = end
        self._schedule_next(actor, end)

    def _host_blocks(self, actor: _Actor, record: Record) -> None:
        """Let the host compute all that stands between two other records of its."""
        begin, end = self.now, self.now + self.host.take(actor.next - 1)
        while actor.next < len(actor.records) and actor.records[actor.next].kind == Kind.HOST:
            end += self.host.take(actor.next)
            actor.next += 1
        self.host.end = end
        if self.timeline:
            self.result.slices.append(Slice(HOST, Category.HOST, begin, end, 0))
        self._schedule_next(actor, end)

    # --- DMA ------------------------------------------------------------------------------------

    def _dma(self, actor: _Actor, record: Record) -> None:
        machine = self.machine
        counts = requests_of(
            record.address, record.length, record.block, record.gap, machine.dma.request_bytes
        )
        is_put = record.kind == Kind.DMA_PUT
        receivers = (actor.id,) if is_put else self._receivers(actor.id, record)
        transfer = Transfer(
            next(self.order), actor.id, receivers, record.reply, record.site, is_put, counts, record.length,
            self.now, self._cluster(actor.id),
        )  # fmt: skip
        entry = self.result.site(record.site)
        entry.operations += 1
        entry.bytes += record.length
        entry.requests += counts.touched
        entry.partial += counts.partial
        actor.outstanding += 1
        actor.engine.append(transfer)
        if len(actor.engine) == 1:
            self.controller.accept(self.now, transfer)
        self._go_on(actor, Category.ISSUE, machine.memory.issue_cycles)

    def _receivers(self, cpe: int, record: Record) -> tuple[int, ...]:
        """Return the CPEs whose reply words a get increments, by its mode."""
        columns, row = self.machine.mesh_columns, cpe // self.machine.mesh_columns
        if record.mode in (1, 3):  # broadcast to the rows of the mask
            rows = [r for r in range(self.machine.mesh_rows) if record.mask >> r & 1] or [row]
        elif record.mode in (2, 4):  # spread over the row of the CPE
            rows = [row]
        else:
            return (cpe,)
        return tuple(r * columns + c for r in rows for c in range(columns))

    def _cluster(self, cpe: int) -> int:
        columns = self.machine.mesh_columns
        return cpe // columns // 2 * columns + cpe % columns // 2

    def _departed(self, transfer: Transfer) -> None:
        """The controller is done with ``transfer``: the engine goes on, the reply comes when it may."""
        memory = self.machine.memory
        engine = self.actors[transfer.cpe].engine
        engine.popleft()
        if engine:
            self.controller.accept(self.now, engine[0])
        earliest = transfer.issued + earliest_finish(memory, transfer.is_put, transfer.requests)
        reply = max(self.now + exposed(memory, transfer.is_put, transfer.requests), earliest)
        self._at(reply, self._replied, transfer)

    def _replied(self, transfer: Transfer) -> None:
        self._settle(transfer.cpe)
        for cpe in transfer.receivers:
            self._completed(cpe, transfer.reply, Category.DMA, transfer.site, cpe == transfer.cpe)
        if transfer.cpe not in transfer.receivers or transfer.reply == NONE:
            self._check_wait(transfer.cpe, Category.DMA, transfer.site)

    def _settle(self, cpe: int) -> None:
        self.actors[cpe].outstanding -= 1

    # --- replies --------------------------------------------------------------------------------

    def _completed(self, cpe: int, reply: int, category: Category, site: int, own: bool) -> None:
        actor = self.actors.get(cpe)
        if actor is None:
            return
        if reply != NONE:
            actor.completions[reply] = actor.completions.get(reply, 0) + 1
        if reply != NONE and own:
            actor.own_completions[reply] = actor.own_completions.get(reply, 0) + 1
        self._check_wait(cpe, category, site)

    def _check_wait(self, cpe: int, category: Category, site: int) -> None:
        actor = self.actors[cpe]
        if actor.blocked_on == "reply" and actor.record is not None and self._satisfied(actor, actor.record):
            self._wake(actor, category, 0.0, site)

    def _satisfied(self, actor: _Actor, record: Record) -> bool:
        if record.reply == NONE:
            return actor.outstanding == 0
        found = actor.completions if record.mode else actor.own_completions
        return found.get(record.reply, 0) >= record.value

    def _wait(self, actor: _Actor, record: Record) -> None:
        if self._satisfied(actor, record):
            self._schedule_next(actor, self.now)
        else:
            self._block(actor, "reply")

    # --- RMA ------------------------------------------------------------------------------------

    def _rma(self, actor: _Actor, record: Record) -> None:
        entry = self.result.site(record.site)
        entry.operations += 1
        entry.bytes += record.length
        actor.outstanding += 1
        self._at(self.now + self.machine.rma.issue_cycles, self._rma_enter, actor, record)
        self._go_on(actor, Category.ISSUE, self.machine.rma.issue_cycles)

    def _wire(self, record: Record) -> float:
        return record.length / (self.machine.rma.bytes_per_cycle or 1.0)

    def _rma_enter(self, actor: _Actor, record: Record) -> None:
        held = max(self.machine.rma.minimum_cycles, self._wire(record))
        self.network.add(self.now, held, (actor, record, self.now))

    def _sent(self, actor: _Actor, record: Record, start: float) -> None:
        """The network has carried an RMA: the replies come when they may, but not before the wire's time."""
        rma = self.machine.rma
        carried = max(self.now - rma.minimum_cycles, start + self._wire(record))
        there = carried + rma.remote_latency - rma.issue_cycles
        back = carried + rma.local_latency
        others = _bits(record.address)
        if record.mode == RmaMode.GET:  # the request travels first, the data come back
            back = there + max((self._distance(actor.id, other) for other in others), default=0.0)
        self._at(back, self._rma_local, actor.id, record)
        for other in others:
            arrival = there + self._distance(actor.id, other)
            self._at(arrival, self._completed, other, record.gap, Category.RMA, record.site, False)

    def _rma_local(self, cpe: int, record: Record) -> None:
        self._settle(cpe)
        self._completed(cpe, record.reply, Category.RMA, record.site, True)

    def _distance(self, one: int, other: int) -> float:
        """Return the cycles that the way between the routers of two CPEs adds."""
        columns = self.machine.mesh_columns
        across = abs(one % columns // 2 - other % columns // 2)
        down = abs(one // columns // 2 - other // columns // 2)
        return across * self.machine.rma.column_hop + down * self.machine.rma.row_hop

    # --- barriers, registers, single accesses ---------------------------------------------------

    def _sync(self, actor: _Actor, record: Record) -> None:
        key = (record.address, record.mode)
        present = self.barriers.setdefault(key, [])
        present.append(actor)
        self._block(actor, "barrier")
        if len(present) >= max(1, record.address.bit_count()):
            del self.barriers[key]
            for member in present:
                self._wake(member, Category.SYNC, self.machine.control.sync_cycles)

    def _reg_put(self, actor: _Actor, record: Record) -> None:
        register = self.machine.register
        if any(len(self.actors[other].queue[record.mode & 1]) >= max(1, register.fifo_depth)
               for other in _bits(record.address) if other in self.actors):  # fmt: skip
            self._block(actor, "full queue")
            for other in _bits(record.address):
                self.senders.setdefault((other, record.mode & 1), []).append(actor)
            return
        self._send(actor, record)
        self._go_on(actor, Category.REGISTER, register.send_cycles * max(1, record.value))

    def _send(self, actor: _Actor, record: Record) -> None:
        arrival = (
            self.now
            + self.machine.register.latency
            + self.machine.register.send_cycles * max(0, record.value - 1)
        )
        for other in _bits(record.address):
            if other in self.actors:
                self.actors[other].queue[record.mode & 1].append(arrival)
                self._at(arrival, self._arrived, other)
        entry = self.result.site(record.site)
        entry.operations += max(1, record.value)
        entry.bytes += record.length * max(1, record.value)

    def _arrived(self, cpe: int) -> None:
        actor = self.actors[cpe]
        if actor.blocked_on == "empty queue" and actor.record is not None:
            self._receive(actor, actor.record)

    def _reg_get(self, actor: _Actor, record: Record) -> None:
        self._block(actor, "empty queue")
        self._receive(actor, record)

    def _receive(self, actor: _Actor, record: Record) -> None:
        queue = actor.queue[record.mode & 1]
        if not queue or queue[0] > self.now:
            return
        queue.popleft()
        self._wake(actor, Category.REGISTER, self.machine.register.receive_cycles * max(1, record.value))
        for sender in self.senders.pop((actor.id, record.mode & 1), []):
            if sender.blocked_on == "full queue" and sender.record is not None:
                self._retry(sender)

    def _retry(self, sender: _Actor) -> None:
        record = sender.record
        assert record is not None
        begin = sender.begin_wait
        sender.blocked_on = ""
        self._spend(sender, Category.REGISTER, begin, self.now, record.site)
        self._reg_put(sender, record)

    def _atomic(self, actor: _Actor, record: Record) -> None:
        entry = self.result.site(record.site)
        entry.operations += max(1, record.value)
        self._go_on(actor, Category.DIRECT, self.machine.control.atomic_cycles * max(1, record.value))

    def _direct(self, actor: _Actor, record: Record) -> None:
        entry = self.result.site(record.site)
        entry.operations += max(1, record.value)
        entry.bytes += record.length
        self._go_on(actor, Category.DIRECT, self.machine.control.direct_cycles * max(1, record.value))

    def _mark(self, actor: _Actor, record: Record) -> None:
        self.result.marks.append((actor.id, self.now, record.site))
        self._schedule_next(actor, self.now)

    # --- the end --------------------------------------------------------------------------------

    def _check_finished(self) -> None:
        stuck = [actor for actor in self.actors.values() if actor.blocked_on]
        if not stuck:
            return
        cut = self.process.trace.dropped
        why = "the trace was cut short" if cut else "the program ended while they waited"
        first = stuck[0]
        place = self.process.site(first.record.site) if first.record else None
        span = Span(place.file, place.line) if place and place.line else Span("<trace>")
        names = ", ".join("the host" if actor.id == HOST else f"CPE {actor.id}" for actor in stuck[:8])
        more = f" and {len(stuck) - 8} more" if len(stuck) > 8 else ""
        message = (
            f"the replay cannot go on: {names}{more} wait ({first.blocked_on}) for what never comes; {why}"
        )
        raise SwbuildError(Diagnostic("SW692", message, span))


def _bits(mask: int) -> tuple[int, ...]:
    return tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


_ACTIONS: dict[int, Callable[[_Simulation, _Actor, Record], None]] = {
    Kind.SPAWN: _Simulation._spawn,
    Kind.JOIN: _Simulation._join,
    Kind.KERNEL_BEGIN: _Simulation._kernel_begin,
    Kind.KERNEL_END: _Simulation._kernel_end,
    Kind.DMA_GET: _Simulation._dma,
    Kind.DMA_PUT: _Simulation._dma,
    Kind.WAIT: _Simulation._wait,
    Kind.RMA: _Simulation._rma,
    Kind.SYNC: _Simulation._sync,
    Kind.REG_PUT: _Simulation._reg_put,
    Kind.REG_GET: _Simulation._reg_get,
    Kind.ATOMIC: _Simulation._atomic,
    Kind.DIRECT: _Simulation._direct,
    Kind.MARK: _Simulation._mark,
    Kind.HOST: _Simulation._host_blocks,
}
