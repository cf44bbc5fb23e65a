"""The replay: small traces whose model time can be worked out by hand, and properties that always hold."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest

from swbuild.diagnostics import SwbuildError
from swbuild.emulator.model import experiments
from swbuild.emulator.model.replay import replay
from swbuild.emulator.model.result import Category, Replay
from swbuild.emulator.model.trace import HOST, NONE, Kind, Process, Record, RmaMode, Site, Trace
from swbuild.machine import MachineModel, load

OLD, NEW = load("sw26010"), load("sw26010-pro")
#: A machine whose every cost is a round number.
PLAIN = load(
    "sw26010-pro",
    overrides={
        "memory.issue_cycles": 10,
        "memory.get_latency": 100,
        "memory.get_exposed": 0,
        "memory.get_open": 0,
        "memory.get_request": 10,
        "memory.get_stream": 0,
        "memory.get_ramp": 0,
        "memory.put_latency": 50,
        "memory.put_request": 10,
        "memory.put_interleave": 0,
        "memory.cluster_share": 1,
        "control.spawn_cycles": 1000,
        "control.join_cycles": 500,
        "control.sync_cycles": 7,
    },
)


def kernel(cpe: int, *body: Record, ordinal: int = 0) -> list[Record]:
    return [
        Record(Kind.KERNEL_BEGIN, cpe, value=ordinal),
        *body,
        Record(Kind.KERNEL_END, cpe, value=ordinal),
    ]


def run(*records: Record, machine: MachineModel = PLAIN, dropped: bool = False) -> Replay:
    sites = (Site("k.c", 10), Site("k.c", 20))
    return replay(Process(0, Trace(records, dropped=dropped), ("first", "second"), sites), machine, True)


def get(cpe: int, length: int, **more: int) -> Record:
    return Record(Kind.DMA_GET, cpe, length=length, **({"reply": 0} | more))


def wait(cpe: int, value: int, reply: int = 0, **more: int) -> Record:
    return Record(Kind.WAIT, cpe, reply=reply, value=value, **more)


def test_computing_alone() -> None:
    result = run(*kernel(0, Record(Kind.MARK, 0, compute=123)))
    assert result.kernels[0].span == 123
    assert result.kernels[0].cpes[0].spent == {Category.COMPUTE: 123}


def test_one_get_takes_its_latency_of_which_issuing_is_a_part() -> None:
    spent = run(*kernel(0, get(0, 128), wait(0, 1))).kernels[0].cpes[0].spent
    assert spent == {Category.ISSUE: 10, Category.DMA: 90}


def test_computing_between_issue_and_wait_is_hidden() -> None:
    body = (get(0, 128), Record(Kind.WAIT, 0, reply=0, value=1, compute=60))
    spent = run(*kernel(0, *body)).kernels[0].cpes[0].spent
    assert spent == {Category.ISSUE: 10, Category.COMPUTE: 60, Category.DMA: 30}


def test_the_controller_is_shared_and_its_throughput_kept() -> None:
    alone = run(*kernel(0, get(0, 12800), wait(0, 1))).kernels[0].span
    both = (
        run(*kernel(0, get(0, 12800), wait(0, 1)), *kernel(20, get(20, 12800), wait(20, 1))).kernels[0].span
    )
    assert (alone, both) == (1000, 2000)


def test_a_short_transfer_is_not_stuck_behind_a_long_one() -> None:
    result = run(*kernel(0, get(0, 128000), wait(0, 1)), *kernel(20, get(20, 1280), wait(20, 1)))
    short = next(cpe for cpe in result.kernels[0].cpes if cpe.cpe == 20)
    assert short.end == pytest.approx(200)


def test_transfers_of_one_cpe_go_one_after_the_other() -> None:
    body = (get(0, 12800), get(0, 12800, reply=4), wait(0, 1), wait(0, 1, reply=4))
    assert run(*kernel(0, *body)).kernels[0].span == pytest.approx(2000)


def test_waiting_for_one_of_two_on_a_word() -> None:
    first = run(*kernel(0, get(0, 12800), get(0, 12800), wait(0, 1))).kernels[0].span
    second = run(*kernel(0, get(0, 12800), get(0, 12800), wait(0, 2))).kernels[0].span
    assert (first, second) == (1000, 2000)


def test_a_dma_barrier_waits_for_everything() -> None:
    body = (get(0, 12800), get(0, 12800, reply=NONE), wait(0, 0, reply=NONE))
    assert run(*kernel(0, *body)).kernels[0].span == 2000


def test_a_broadcast_get_replies_to_all_cpes_of_the_rows() -> None:
    receivers = [kernel(cpe, wait(cpe, 1, mode=1)) for cpe in range(1, 16)]
    sender = kernel(0, get(0, 12800, mode=1, mask=3), wait(0, 1))
    result = run(*sender, *(record for body in receivers for record in body))
    assert {cpe.end for cpe in result.kernels[0].cpes} == {1000}


def test_what_others_complete_on_a_word_is_not_taken_for_one_s_own_transfer() -> None:
    broadcast = kernel(0, get(0, 128, mode=1, mask=1), wait(0, 1))
    receiver = kernel(1, get(1, 128000), wait(1, 1))
    result = run(*broadcast, *receiver)
    assert next(cpe.end for cpe in result.kernels[0].cpes if cpe.cpe == 1) > 9000


def test_a_barrier_opens_for_all_when_the_last_has_come() -> None:
    def body(cpe: int, work: int) -> list[Record]:
        return kernel(cpe, Record(Kind.SYNC, cpe, 2, address=0b111, compute=work))

    result = run(*body(0, 100), *body(1, 200), *body(2, 300))
    assert [cpe.end for cpe in result.kernels[0].cpes] == [307, 307, 307]
    assert [cpe.spent[Category.SYNC] for cpe in result.kernels[0].cpes] == [207, 107, 7]


def test_the_same_barrier_twice_is_two_barriers() -> None:
    def body(cpe: int, work: int) -> list[Record]:
        sync = Record(Kind.SYNC, cpe, 2, address=0b11, compute=work)
        return kernel(cpe, sync, sync)

    assert run(*body(0, 10), *body(1, 100)).kernels[0].span == 2 * 107


def test_spawn_kernel_join() -> None:
    host = [
        Record(Kind.SPAWN, HOST, address=0b11, ldm=0, value=0),
        Record(Kind.JOIN, HOST, value=0),
        Record(Kind.SPAWN, HOST, address=0b01, ldm=1, value=1),
        Record(Kind.JOIN, HOST, value=1),
    ]
    zero = kernel(0, Record(Kind.MARK, 0, compute=50)) + kernel(
        0, Record(Kind.MARK, 0, compute=20), ordinal=1
    )
    one = kernel(1, Record(Kind.MARK, 1, compute=80))
    result = run(*host, *zero, *one)
    first, second = result.kernels
    assert (first.name, second.name) == ("first", "second")
    assert (first.begin, first.end, first.span) == (0, 1000 + 80 + 500, 80)
    assert (second.begin, second.end, second.span) == (1580, 1580 + 1520, 20)
    assert result.cycles == 3100
    assert first.spent[Category.IDLE] == 15


def test_a_kernel_that_ends_before_the_join_is_called_costs_the_same() -> None:
    host = [Record(Kind.SPAWN, HOST, address=1), Record(Kind.JOIN, HOST, compute=10**6)]
    assert run(*host, *kernel(0)).cycles == 10**6 + 500


@pytest.mark.parametrize("mode", [0, 1])
def test_completions_of_one_kernel_do_not_count_for_the_next(mode: int) -> None:
    first = kernel(0, get(0, 128), wait(0, 1, mode=mode))
    second = kernel(0, get(0, 128000), wait(0, 1, mode=mode), ordinal=1)
    assert run(*first, *second).kernels[1].span == pytest.approx(10000)


def test_a_put_into_another_ldm_wakes_its_owner_and_distance_counts() -> None:
    def time(target: int) -> float:
        put = Record(Kind.RMA, 0, RmaMode.PUT, address=1 << target, length=8, reply=0, gap=4)
        result = run(*kernel(0, put), *kernel(target, wait(target, 1, reply=4, mode=1)), machine=NEW)
        return next(cpe.end for cpe in result.kernels[0].cpes if cpe.cpe == target)

    assert time(1) == pytest.approx(NEW.rma.remote_latency, abs=1)
    assert time(2) - time(1) == pytest.approx(NEW.rma.column_hop)
    assert time(16) - time(1) == pytest.approx(NEW.rma.row_hop)


def test_an_rma_broadcast_reaches_every_cpe_of_the_mask() -> None:
    send = Record(Kind.RMA, 0, RmaMode.BROADCAST, address=0xFF, length=1024, reply=0, gap=4)
    bodies = [kernel(cpe, wait(cpe, 1, reply=4, mode=1)) for cpe in range(1, 8)]
    result = run(*kernel(0, send, wait(0, 1)), *(r for body in bodies for r in body), machine=NEW)
    assert len(result.kernels[0].cpes) == 8


def test_register_messages_arrive_in_order_and_a_full_queue_holds_the_sender() -> None:
    depth = OLD.register.fifo_depth
    send = [Record(Kind.REG_PUT, 0, 0, address=0b10, length=32) for _ in range(depth + 3)]
    receive = [
        Record(Kind.REG_GET, 1, 0, compute=1000),
        *(Record(Kind.REG_GET, 1, 0) for _ in range(depth + 2)),
    ]
    result = run(*kernel(0, *send), *kernel(1, *receive), machine=OLD)
    sender, receiver = result.kernels[0].cpes
    assert sender.spent[Category.REGISTER] > 900
    assert receiver.spent[Category.COMPUTE] == 1000


def test_two_directions_have_queues_of_their_own() -> None:
    send = [Record(Kind.REG_PUT, 0, 0, address=0b10), Record(Kind.REG_PUT, 0, 1, address=0b10)]
    receive = [Record(Kind.REG_GET, 1, 1), Record(Kind.REG_GET, 1, 0)]
    assert run(*kernel(0, *send), *kernel(1, *receive), machine=OLD).kernels[0].span < 100


def test_direct_accesses_and_atomics_are_charged_one_by_one() -> None:
    body = (Record(Kind.DIRECT, 0, value=5, length=40), Record(Kind.ATOMIC, 0, value=2))
    expected = 5 * OLD.control.direct_cycles + 2 * OLD.control.atomic_cycles
    assert run(*kernel(0, *body), machine=OLD).kernels[0].span == expected


def test_sites_get_operations_bytes_requests_and_the_waiting_they_caused() -> None:
    result = run(*kernel(0, get(0, 256, address=64, site=1), wait(0, 1)))
    entry = result.sites[1]
    assert (entry.operations, entry.bytes, entry.requests, entry.partial) == (1, 256, 3, 2)
    assert entry.waited == 100


def test_waiting_is_charged_to_the_wait_where_its_place_is_known() -> None:
    result = run(*kernel(0, get(0, 128, site=1), wait(0, 1, site=2)))
    assert (result.sites[1].waited, result.sites[2].waited) == (10, 90)


def test_slices_cover_every_cpe_s_time_without_overlap() -> None:
    process = experiments.stream(0, 64, True, 3)
    result = replay(process, OLD, details=True)
    for cpe in result.kernels[0].cpes:
        mine = sorted((s.begin, s.end) for s in result.slices if s.cpe == cpe.cpe)
        assert mine[0][0] == cpe.begin and mine[-1][1] == cpe.end
        assert all(end == pytest.approx(begin) for (_, end), (begin, _) in pairwise(mine))
        assert sum(cpe.spent.values()) == pytest.approx(cpe.end - cpe.begin)


def shuffled(records: Sequence[Record], seed: int) -> tuple[Record, ...]:
    """Interleave the CPEs' records in another way, each CPE's own order kept."""
    chooser = random.Random(seed)
    streams: dict[int, list[Record]] = {}
    for record in records:
        streams.setdefault(record.cpe, []).append(record)
    result = []
    while streams:
        cpe = chooser.choice(sorted(streams))
        result.append(streams[cpe].pop(0))
        if not streams[cpe]:
            del streams[cpe]
    return tuple(result)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_in_which_the_box_wrote_the_trace_has_no_say(seed: int) -> None:
    process = experiments.stream(8, 64, False, 3)
    other = Process(0, Trace(shuffled(process.trace.records, seed)))
    one, two = replay(process, OLD, True), replay(other, OLD, True)
    assert [(c.cpe, c.end) for c in one.kernels[0].cpes] == sorted(
        (c.cpe, c.end) for c in two.kernels[0].cpes
    )


@pytest.mark.parametrize("dropped", [False, True])
def test_a_wait_for_what_never_comes_is_told_with_its_place(dropped: bool) -> None:
    with pytest.raises(SwbuildError) as caught:
        run(*kernel(0, wait(0, 1, site=2)), dropped=dropped)
    text = str(caught.value)
    assert text.startswith("k.c:20: error[SW692]")
    assert "CPE 0 wait (reply)" in text
    assert ("cut short" in text) is dropped


def test_a_barrier_that_some_do_not_reach_is_told() -> None:
    with pytest.raises(SwbuildError, match="CPE 0, CPE 1 wait \\(barrier\\)"):
        run(*kernel(0, Record(Kind.SYNC, 0, address=7)), *kernel(1, Record(Kind.SYNC, 1, address=7)))


def test_those_who_come_while_the_controller_is_shared_share_it_too() -> None:
    """Works of 1000, 2000 and 500 cycles, the last from 1000 on: by hand, processor sharing ends them so."""
    bodies = ((0, 12800, 0), (20, 25600, 0), (40, 6400, 1000))
    records = []
    for cpe, length, start in bodies:
        records += kernel(cpe, get(cpe, length, compute=start), wait(cpe, 1))
    ends = {cpe.cpe: cpe.end for cpe in run(*records).kernels[0].cpes}
    assert ends == {0: 2500, 40: 2500, 20: 3500}


def test_faster_machines_are_not_slower() -> None:
    process = experiments.stream(0, 128, True, 4)
    times = [
        replay(process, load("sw26010", overrides={"memory.get_request": cost})).cycles
        for cost in (5, 7, 9, 14)
    ]
    assert times == sorted(times)
