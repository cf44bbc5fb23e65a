"""The replay while a program runs: records in portions, CPEs far ahead of others, memory, broken programs."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import swbuild.emulator
from swbuild.diagnostics import SwbuildError
from swbuild.emulator import environment
from swbuild.emulator.model.analysis import analyse
from swbuild.emulator.model.numbers import numbers_text
from swbuild.emulator.model.profile import read_profile
from swbuild.emulator.model.replay import modelled
from swbuild.emulator.model.trace import HOST, Kind, Process, Record, RmaMode, Trace, read_trace, write_trace
from swbuild.machine import load

MODEL = Path(swbuild.emulator.__file__).parent / "model"
SOURCES = Path(swbuild.emulator.__file__).parent / "replay"
MIX = "7,3,2,0,0;exp;1,1,0,0,0,0"

#: Replays a trace file as in a run: each CPE's records in portions, at random; argv: numbers, trace, seed.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include "swb_replay.h"
static struct swb_trace_record all[256][20000];
static size_t count[256], fed[256];
static void put(void *to, const char *text, size_t size) { fwrite(text, 1, size, to); }
static void read_all(const char *path)
{
    struct swb_trace_header head;
    struct swb_trace_record record;
    FILE *in = fopen(path, "rb");
    if (fread(&head, sizeof head, 1, in) == 1)
        while (fread(&record, sizeof record, 1, in) == 1)
            all[record.cpe][count[record.cpe]++] = record;
    fclose(in);
}
static void feed(struct swb_replay *replay, int cpe)
{
    size_t left = count[cpe] - fed[cpe], some = 1 + (size_t)rand() % (left < 9 ? left : 9);
    swb_replay_feed(replay, all[cpe] + fed[cpe], some, true);
    fed[cpe] += some;
}
int main(int words, char **word)
{
    static char numbers[65536];
    FILE *in = fopen(word[1], "rb");
    fread(numbers, 1, sizeof numbers - 1, in);
    fclose(in);
    read_all(word[2]);
    srand((unsigned)atoi(word[3]));
    struct swb_replay *replay = swb_replay_open(numbers, false, put, stdout);
    swb_replay_block(replay, word[4]);
    while (fed[SWB_TRACE_HOST] < 3) /* up to the first spawn */
        feed(replay, SWB_TRACE_HOST);
    for (;;) {
        int lacking = swb_replay_advance(replay);
        int cpe = rand() % 3 || words < 5 ? lacking : rand() % 64;
        if (lacking < 0 || fed[lacking] == count[lacking])
            break;
        if (fed[cpe] < count[cpe])
            feed(replay, cpe);
    }
    for (int cpe = 0; cpe < 256; cpe++)
        while (fed[cpe] < count[cpe])
            feed(replay, cpe);
    swb_replay_finish(replay);
    return 0;
}
"""


@pytest.fixture(scope="module")
def portions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("portions")
    (folder / "portions.c").write_text(PROGRAM, encoding="utf-8")
    checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    flags = ["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-result", *checks]
    sources = [folder / "portions.c", *SOURCES.glob("swb_*.c")]
    command = ["gcc", *flags, "-ffp-contract=off", f"-I{SOURCES}", f"-I{MODEL}", *sources, "-lm"]
    subprocess.run([*command, "-o", folder / "portions"], check=True)
    return folder / "portions"


def spawn_of_all(chooser: random.Random, ordinal: int) -> tuple[list[Record], dict[int, list[Record]]]:
    """Return the host's and the CPEs' records of a spawn with all that CPEs can do, in which none hangs."""
    cpes = sorted(chooser.sample(range(64), chooser.choice((2, 7, 64))))
    mask = sum(1 << cpe for cpe in cpes)
    bodies = {cpe: [Record(Kind.KERNEL_BEGIN, cpe, value=ordinal)] for cpe in cpes}
    issued, arrived = dict.fromkeys(cpes, 0), dict.fromkeys(cpes, 0)
    for _ in range(60):
        one, other = chooser.sample(cpes, 2)
        step = chooser.choice((_transfer, _transfer, _rma, _message, _barrier))
        step(chooser, bodies, one, other, issued, arrived)
    for cpe in cpes:
        bodies[cpe].append(Record(Kind.KERNEL_END, cpe, value=ordinal, compute=chooser.choice((0, 8, 3000))))
    work = [Record(Kind.HOST, HOST, ldm=0, address=chooser.randrange(1, 50), length=k) for k in range(2)]
    spawn = Record(Kind.SPAWN, HOST, address=mask, ldm=0, value=ordinal)
    return [*work, spawn, *work[:1], Record(Kind.JOIN, HOST, value=ordinal)], bodies


Bodies = dict[int, list[Record]]
Step = Callable[[random.Random, Bodies, int, int, dict[int, int], dict[int, int]], None]


def _transfer(
    chooser: random.Random, bodies: Bodies, one: int, other: int, issued: dict[int, int], _: dict[int, int]
) -> None:
    for cpe in (one, other):
        kind = chooser.choice((Kind.DMA_GET, Kind.DMA_PUT))
        shape = {"length": chooser.choice((128, 132, 3000)), "block": chooser.choice((0, 36)), "gap": 92}
        where = {"address": chooser.choice((0, 4)), "site": chooser.randrange(4)}
        work = chooser.choice((0, 0, 8))
        bodies[cpe].append(Record(kind, cpe, reply=0, compute=work, **shape, **where))
        issued[cpe] += 1
        if chooser.random() < 0.6:
            bodies[cpe].append(Record(Kind.WAIT, cpe, reply=0, value=issued[cpe], site=1))


def _rma(
    chooser: random.Random, bodies: Bodies, one: int, other: int, _: dict[int, int], arrived: dict[int, int]
) -> None:
    length = chooser.choice((4, 512))
    to = {"address": 1 << other, "length": length, "reply": 8, "gap": 12}
    bodies[one].append(Record(Kind.RMA, one, RmaMode.PUT, site=2, compute=chooser.choice((0, 8)), **to))
    arrived[other] += 1
    bodies[other].append(Record(Kind.WAIT, other, 1, reply=12, value=arrived[other], site=3))


def _message(
    chooser: random.Random, bodies: Bodies, one: int, other: int, _: dict[int, int], __: dict[int, int]
) -> None:
    for _ in range(chooser.randrange(1, 7)):
        bodies[one].append(Record(Kind.REG_PUT, one, 0, address=1 << other, length=32))
        bodies[other].append(Record(Kind.REG_GET, other, 0, compute=chooser.choice((0, 8))))


def _barrier(
    chooser: random.Random, bodies: Bodies, one: int, other: int, _: dict[int, int], __: dict[int, int]
) -> None:
    mask = sum(1 << cpe for cpe in bodies)
    for cpe, body in bodies.items():
        body.append(Record(Kind.SYNC, cpe, 2, address=mask, compute=chooser.choice((0, 8)), site=2))


@pytest.mark.parametrize("name", ["sw26010", "sw26010-pro"])
def test_records_may_come_in_any_portions(portions: Path, name: str, tmp_path: Path) -> None:
    """Each of some programs, fed at random: the very lines of the replay that has all records at once."""
    machine = load(name)
    (tmp_path / "numbers").write_text(numbers_text(machine), encoding="utf-8")
    for seed in range(8):
        chooser = random.Random(seed)
        records: list[Record] = []
        for ordinal in range(4):
            host, bodies = spawn_of_all(chooser, ordinal)
            records += host + [record for body in bodies.values() for record in body]
        write_trace(tmp_path / "t", records)
        (tmp_path / "blocks").write_text(MIX, encoding="utf-8")
        tool = _whole(tmp_path)
        assert any(line.startswith("kernel 3") for line in tool)
        assert not any(line.startswith("stuck") for line in tool)
        command = [portions, tmp_path / "numbers", tmp_path / "t", str(seed), MIX]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert sorted(done.stdout.splitlines()) == sorted(tool)


def _whole(folder: Path) -> list[str]:
    from swbuild.emulator.install import replay_tool

    command = [replay_tool(), folder / "numbers", folder / "blocks", folder / "t"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


# --- programs -------------------------------------------------------------------------------------

HOST_CODE = """\
#include <stdlib.h>
#include <athread.h>
extern void SLAVE_FUN(work)(void *);
static char data[64 * 4096] __attribute__((aligned(4096)));
struct task { char *data; long rounds, way; } t = {data};
int main(int count, char **words)
{
    t.way = atol(words[1]);
    t.rounds = atol(words[2]);
    athread_init();
    for (int k = 0; k < 2; k++) {
        athread_spawn(work, &t);
        athread_join();
    }
    return 0;
}
"""

SLAVE_CODE = """\
#include <slave.h>
struct task { char *data; long rounds, way; };
__thread_local volatile int reply;
__thread_local char buffer[128] __attribute__((aligned(128)));
void work(struct task *t)
{
    /* The last CPEs have most to do; or a few have nearly all; or all meet now and then. */
    long rounds = t->way == 0 ? t->rounds * _MYID / 63 : t->way == 1 && _MYID % 20 ? 3 : t->rounds;
    for (long k = 0; k < rounds; k++) {
        reply = 0;
        athread_get(PE_MODE, t->data + 4096 * _MYID, buffer, 128, (void *)&reply, 0, 0, 0);
        while (reply != 1);
        if (t->way == 2 && k % 4000 == 3999)
            athread_syn(ARRAY_SCOPE, 0xffff);
    }
    if (t->way == 3 && _MYID == 63)
        athread_get(PE_MODE, t->data, buffer, -1, (void *)&reply, 0, 0, 0);
    if (t->way == 4 && _MYID == 63)
        *(volatile int *)8 = 1;
}
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("app")
    (folder / "host.c").write_text(HOST_CODE, encoding="utf-8")
    (folder / "slave.c").write_text(SLAVE_CODE, encoding="utf-8")
    variables = environment("sw26010") | {"SWBUILD_EMU_COUNTED_CODE": "1"}
    for command in (
        "sw5cc -host -O1 -std=gnu99 -c host.c",
        "sw5cc -slave -O2 -std=gnu99 -c slave.c",
        "sw5cc -hybrid host.o slave.o -o app",
    ):
        subprocess.run(command.split(), cwd=folder, env=variables, check=True)
    return folder / "app"


def run(app: Path, *words: object, **more: str) -> tuple[int, int]:
    """Run it for model time; return its status and the KiB of memory that it took."""
    variables = {**os.environ, "SWBUILD_EMU_COUNTERS": "p.json", "SWBUILD_EMU_MODEL": "p.json.model", **more}
    program = subprocess.Popen([app, *map(str, words)], cwd=app.parent, env=variables)
    _, status, usage = os.wait4(program.pid, 0)
    program.returncode = os.waitstatus_to_exitcode(status)
    return program.returncode, usage.ru_maxrss


def outcome(app: Path) -> tuple[Process, list[str]]:
    (process,) = read_profile(app.parent / "p.json").processes
    return process, sorted(line for line in process.outcome if not line.startswith("named "))


@pytest.mark.parametrize("way", [0, 1, 2])
def test_a_run_says_what_its_events_say(app: Path, way: int) -> None:
    """Though CPEs get far more than the records ahead that they may, and whether or not events are kept."""
    assert run(app, way, 9000, SWBUILD_EMU_TRACE="p.json.trace")[0] == 0
    process, found = outcome(app)
    trace = read_trace(app.parent / "p.json.trace")
    assert found == sorted(modelled(replace(process, trace=trace), load("sw26010")))
    assert run(app, way, 9000)[0] == 0
    assert outcome(app)[1] == found


def test_memory_does_not_grow_with_the_run(app: Path) -> None:
    """Four million events would be 200 MB."""
    small, large = (run(app, 0, rounds)[1] for rounds in (3000, 20000))
    assert large < small + 20000


def test_a_program_that_breaks_off_leaves_what_it_has_come_to(app: Path) -> None:
    assert run(app, 3, 10)[0]
    process, found = outcome(app)
    assert process.trace == Trace((), True, False, True)
    assert any(line.startswith("site 1 640 ") for line in found)
    assert "stuck 255 0 join 0" in found
    with pytest.raises(SwbuildError, match=r"SW692.*wait \(join 0\)"):
        analyse(app.parent / "p.json")


def test_a_program_that_crashes_leaves_no_model_time_of_the_run_before(app: Path) -> None:
    assert run(app, 0, 10)[0] == 0
    assert run(app, 4, 10)[0] < 0
    assert not (app.parent / "p.json.model").exists()
