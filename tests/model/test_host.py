"""Model time of the host: mixes of operations, caches, and profiles of whole programs by the stand-ins."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from swbuild.diagnostics import SwbuildError
from swbuild.emulator import environment
from swbuild.emulator.driver.counting import HOST
from swbuild.emulator.model import calibration
from swbuild.emulator.model.blocks import Reader
from swbuild.emulator.model.flow import connected
from swbuild.emulator.model.host_block import CACHE_SHAPE
from swbuild.emulator.model.host_mix import mixes
from swbuild.emulator.model.host_report import host_lines, host_table, program_table, speedup_table
from swbuild.emulator.model.report import Analysis, analyse, as_json, tables
from swbuild.machine import Library, facts, load
from swbuild.machine.cost.host import Chain, Mix

pytestmark = [pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc"), pytest.mark.slow]

MACHINE = load("sw26010")

# A serial program: what it does for how many doubles, how often, is told on the command line.
SERIAL = """\
#include <math.h>
#include <stdlib.h>
static double a[400000], b[400000];
static long k[4096];
int main(int count, char **words)
{
    long n = atol(words[1]), times = atol(words[2]);
    for (long t = 0; t < times; t++)
        for (long j = 0; j < n; j++) a[j] = b[j] + 1.5 * a[j];
    double sum = 0, product = 1;
    for (long j = 0; j < n; j++) sum += a[j];
    for (long j = 0; j < n; j++) product = 1.5 / (product + a[j]);
    for (long j = 0; j < 4096; j++) k[j] = k[j] * 7 / (n + j);
    for (long j = 0; j < 256; j++) b[j] = exp(a[j]);
    long chain = n;
    for (long j = 0; j < 4096; j++) chain = chain * n * chain;
    long sums = 0;
    for (const long *p = k; p < k + 4096; p++) sums += *p + 3 ^ sums - 5 & n;
    double c0 = n, c1 = n + 1, c2 = n + 2, c3 = n + 3, c4 = n + 4, c5 = n + 5;
    for (long j = 0; j < 4096; j++) { c0 *= 1.5; c1 *= 1.5; c2 *= 1.5; c3 *= 1.5; c4 *= 1.5; c5 *= 1.5; }
    long at = n % 4096;
    for (long j = 0; j < 4096; j++) at = k[at] & 4095;
    return at + sum + product + k[n % 4096] + chain + sums + c0 + c1 + c2 + c3 + c4 + c5 == 42.5;
}
"""
AXPY, SUM, QUOTIENT = 9, 11, 12  # lines

PROGRAM = """\
#include <stdlib.h>
#include <athread.h>
extern SLAVE_FUN(twice)();
static double x[64 * 32];
static int less(const void *a, const void *b) { return *(double *)a < *(double *)b ? -1 : 1; }
int main(void)
{
    double stack[900], *heap = malloc(58000 * sizeof *heap); /* 464 KB */
    for (int j = 0; j < 900; j++) stack[j] = j * 37 % 1009;
    for (int j = 0; j < 3 * 58000; j += 5) heap[j % 58000] = stack[j % 900];
    qsort(stack, 900, sizeof *stack, less);
    for (int j = 0; j < 64 * 32; j++) x[j] = j;
    athread_init();
    for (int t = 0; t < 2; t++) {
        athread_spawn(twice, x);
        athread_join();
        for (int j = 0; j < 64 * 32; j++) x[j] *= 0.5;
    }
    double sum = 0;
    for (int j = 0; j < 64 * 32; j++) sum += x[j];
    return sum != 64 * 32 / 2 * (64 * 32 - 1) || stack[1] < stack[0] || heap[10] < 0;
}
"""
SLAVE = """\
#include <slave.h>
__thread_local double b[32];
__thread_local volatile int reply;
void twice(double *x)
{
    reply = 0;
    athread_get(PE_MODE, x + _MYID * 32, b, sizeof b, (void *)&reply, 0, 0, 0);
    while (reply != 1);
    for (int j = 0; j < 32; j++) b[j] *= 2.0;
    reply = 0;
    athread_put(PE_MODE, b, x + _MYID * 32, sizeof b, (void *)&reply, 0, 0);
    while (reply != 1);
}
"""


def variables(counted: str = "1") -> dict[str, str]:
    return environment("sw26010") | {"SWBUILD_EMU_COUNTED_CODE": counted}


def make(folder: Path, texts: Mapping[str, str], *commands: str, counted: str = "1") -> None:
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    for command in commands:
        subprocess.run(command.split(), cwd=folder, env=variables(counted), check=True)


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("serial")
    make(folder, {"s.c": SERIAL}, "sw5cc -host -O2 -std=gnu99 s.c -o s -lm")
    return folder


@pytest.fixture(scope="module")
def offloaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("offloaded")
    compile_host, compile_slave = "sw5cc -host -O2 -std=gnu99 -c h.c", "sw5cc -slave -O2 -std=gnu99 -c w.c"
    make(folder, {"h.c": PROGRAM, "w.c": SLAVE}, compile_host, compile_slave, "sw5cc -hybrid h.o w.o -o app")
    return folder


def profiled(
    program: Path, *words: str, overrides: dict[str, int | float] | None = None, **more: str
) -> Analysis:
    place = program.with_suffix(".json")
    wanted = {"SWBUILD_EMU_COUNTERS": str(place), "SWBUILD_EMU_MODEL": f"{place}.model"}
    wanted["SWBUILD_EMU_TRACE"] = f"{place}.trace"
    subprocess.run([program, *words], env=os.environ | wanted | more, check=True, cwd=program.parent)
    return analyse(place, overrides)


def cycles(analysis: Analysis, line: int) -> float:
    return next(entry.cycles for entry in host_lines(analysis) if entry.line == line)


# --- mixes ---------------------------------------------------------------------------------------


def mix(body: str) -> Mix:
    """Return the mix of the one loop in C code, compiled as the stand-ins compile it."""
    text = f"void f(double *a, double *b, long *k, long n) {{ {body} }}"
    command = ["gcc", "-O2", "-ffp-contract=off", *HOST, "-x", "c", "-", "-o", "-"]
    assembly = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    (function,) = connected(Reader(assembly, 32, roomy=True))
    (loop,) = (number for number, block in enumerate(function) if block.loops)
    return mixes(function, MACHINE.host)[loop]


@pytest.mark.parametrize(
    ("body", "memory", "arithmetic", "chain"),
    [
        ("for (long j = 0; j < n; j++) a[j] = 2.0 * a[j];", 2, 1, Chain(other=1)),
        ("for (long j = 0; j < n; j++) a[j] += b[j] * 1.5;", 3, 1, Chain(other=1)),
        ("double s = 0; for (long j = 0; j < n; j++) s += b[j]; *a = s;", 1, 1, Chain(arithmetic=1)),
        ("double s = 1; for (long j = 0; j < n; j++) s = b[j] / s; *a = s;", 1, 0, Chain(divide=1)),
        ("volatile long *v = k; for (long j = 0; j < n; j++) *v += j;", 2, 0, Chain(load=1, other=2)),
        ("long s = 1; for (long j = 0; j < n; j++) s *= 5 * s; *k = s;", 0, 0, Chain(multiply=1)),
    ],
)
def test_mixes_and_chains_of_loops(body: str, memory: int, arithmetic: int, chain: Chain) -> None:
    found = mix(body)
    assert (found.memory, found.arithmetic) == (memory, arithmetic)
    longest = max(found.chains, key=lambda each: each.cycles(MACHINE.host))
    assert longest.cycles(MACHINE.host) >= chain.cycles(MACHINE.host)
    for kind in ("arithmetic", "load", "divide", "multiply"):
        assert (getattr(longest, kind) > 0) == (getattr(chain, kind) > 0), longest


def test_mixes_travel_as_text() -> None:
    one = Mix(7, 2, 1.5, 1, 0, "exp", (Chain(arithmetic=2), Chain(load=1, other=3)))
    assert Mix.parse(str(one)) == one
    for wrong in ("", "1,2", "1,2,3,4,5", "1,2,3,4,x;", "1,2,3,4,5,6;", "1,2,3,4,5;exp;1"):
        with pytest.raises(ValueError, match=r"could not|is no|invalid"):
            Mix.parse(wrong)


# --- serial programs -----------------------------------------------------------------------------


def test_a_serial_program_has_a_profile(serial: Path) -> None:
    analysis = profiled(serial / "s", "1000", "10")
    assert analysis.host_counted and not analysis.replays[0].kernels
    assert analysis.replays[0].cycles == pytest.approx(sum(line.cycles for line in host_lines(analysis)))
    program, host = tables(analysis, ("program", "host"))
    assert program.rows[-1][0] == "whole program" and program.rows[0][1] == program.rows[-1][1]
    assert f"s.c:{AXPY}" in {row[0] for row in host.rows}
    assert as_json(analysis)["processes"][0]["host"]["before"] == analysis.replays[0].cycles


def test_time_is_proportional_to_work(serial: Path) -> None:
    one, two, five = (cycles(profiled(serial / "s", "1000", str(times)), AXPY) for times in (10, 20, 50))
    assert five - one == pytest.approx(4 * (two - one), rel=0.001)
    assert cycles(profiled(serial / "s", "1000", "1"), QUOTIENT) == pytest.approx(1000 * (34 + 6), rel=0.25)


def test_what_fits_the_caches_is_faster_than_what_streams(serial: Path) -> None:
    def turn(doubles: int, times: int) -> float:
        one, all_of_them = (cycles(profiled(serial / "s", str(doubles), str(k)), AXPY) for k in (1, times))
        return (all_of_them - one) / doubles / (times - 1)

    first, second, memory = turn(1500, 40), turn(12000, 20), turn(300000, 2)
    assert 2.5 < first < 3.5 < second < 6 < 3 * second < memory
    lines = 8 / 128  # per double: two arrays come, one goes back
    host = MACHINE.host
    assert memory == pytest.approx(3 + lines * (2 * host.fill_cycles + host.write_cycles), rel=0.1)


def test_two_runs_take_the_same_cycles_wherever_the_system_puts_them(offloaded: Path) -> None:
    app, moved = offloaded / "app", offloaded / "moved"
    one = as_json(profiled(app))
    assert as_json(profiled(app, PADDING="x" * 777)) == one
    subprocess.run(["objcopy", "--dump-section", f".swbuild.counted={moved}", app, "/dev/null"], check=True)
    moved.chmod(0o755)  # started directly, it lies at random addresses
    hosts = [as_json(profiled(moved, PADDING="x" * 100 * k))["host_lines"] for k in range(4)]
    assert hosts == [one["host_lines"]] * 4


def test_lines_of_one_set_drive_one_another_out(tmp_path: Path) -> None:
    """Of every other page the same line: four stay in the first level, the fifth is missed in every turn."""
    text = """\
#include <stdlib.h>
static double pages[16][512] __attribute__((aligned(4096)));
int main(int count, char **words)
{
    long lines = atol(words[1]);
    for (int p = 0; p < 16; p++) pages[p][0] = p;
    double sum = 0;
    for (int t = 0; t < 1000; t++)
        for (long p = 0; p < lines; p++) sum += pages[2 * p][8];
    for (int t = 0; t < 1000; t++)
        for (long p = 0; p < lines; p++) { sum += pages[2 * p][8]; sum += pages[2 * p][9]; }
    return sum == 1;
}
"""
    make(tmp_path, {"t.c": text}, "sw5cc -host -O2 -std=gnu99 t.c -o t")
    for lines, missed in ((3, 0), (4, 0), (5, 5000), (6, 6000)):
        blocks = profiled(tmp_path / "t", str(lines)).replays[0].host.blocks.values()
        stalled = sum(block.stalled for block in blocks if block.passes >= 1000 * lines)
        assert stalled / MACHINE.host.l2_cycles == pytest.approx(2 * missed, abs=2 * lines)


def test_other_threads_do_not_count(tmp_path: Path) -> None:
    text = """\
#include <pthread.h>
static double v[20000];
static double walk(double *at) { double s = 0; for (long j = 0; j < 20000; j++) s += at[j] += 1; return s; }
static void *other(void *at) { walk(at); return 0; }
int main(int count, char **words)
{
    pthread_t thread;
    if (count > 1) {
        pthread_create(&thread, 0, other, v);
        pthread_join(thread, 0);
    }
    return walk(v) == 1;
}
"""
    make(tmp_path, {"t.c": text}, "sw5cc -host -O2 -std=gnu99 -fno-inline t.c -o t -pthread")
    alone, both = (profiled(tmp_path / "t", *words).replays[0].cycles for words in ((), ("more",)))
    assert both == pytest.approx(alone, abs=100)


# --- programs with kernels -----------------------------------------------------------------------


def test_host_time_lies_around_the_spawns(offloaded: Path) -> None:
    analysis = profiled(offloaded / "app")
    host, result = analysis.replays[0].host, analysis.replays[0]
    assert host.before > 1000 and host.between > 1000 and host.after > 1000
    first, second = result.kernels
    assert first.begin == pytest.approx(host.before)
    assert second.begin - first.end == pytest.approx(host.between, rel=1e-3)
    assert result.cycles - second.end == pytest.approx(host.after)
    parts = [float(row[1]) for row in program_table(analysis).rows]
    assert sum(parts[:-1]) == pytest.approx(parts[-1], abs=3)
    assert host_table(analysis).rows[0][0].startswith("h.c:")


def test_the_speed_up_is_the_ratio_of_two_whole_programs(serial: Path, offloaded: Path) -> None:
    slow, fast = profiled(serial / "s", "2000", "50"), profiled(offloaded / "app")
    row = speedup_table(fast, slow, "s.json").rows[0]
    assert float(row[3]) == pytest.approx(slow.replays[0].cycles / fast.replays[0].cycles, abs=0.01)


def test_the_command_line_shows_host_and_speed_up(serial: Path, offloaded: Path) -> None:
    profiled(serial / "s", "2000", "50")
    fast = profiled(offloaded / "app")
    words = [sys.executable, "-m", "swbuild", "profile", "app.json"]
    usual, compared = (
        subprocess.run([*words, *more], cwd=offloaded, capture_output=True, text=True, check=True).stdout
        for more in ((), ("--against", str(serial / "s.json"), "--trace", "time.json"))
    )
    assert f"{fast.replays[0].host.before:.0f}" in usual and "spawns, LDM" in usual
    assert "speed-up" in compared and "LDM" not in compared
    events = json.loads((offloaded / "time.json").read_text())["traceEvents"]
    (host,) = (event["tid"] for event in events if event.get("args", {}).get("name") == "host")
    durations = [event["dur"] for event in events if event["tid"] == host and event["ph"] == "X"]
    assert len(durations) >= 3
    assert sum(durations) == pytest.approx(fast.microseconds(fast.replays[0].host.cycles), rel=1e-3)


def test_a_speed_up_over_a_program_that_was_not_counted_is_refused(offloaded: Path, tmp_path: Path) -> None:
    build = ["sw5cc -host -O2 -std=gnu99 -c h.c", "sw5cc -slave -O2 -c w.c", "sw5cc -hybrid h.o w.o -o app"]
    make(tmp_path, {"h.c": PROGRAM, "w.c": SLAVE}, *build, counted="0")
    uncounted, counted = profiled(tmp_path / "app"), profiled(offloaded / "app")
    assert not uncounted.host_counted and not uncounted.replays[0].host.cycles
    assert any("host's time is not in it" in note for note in program_table(uncounted).notes)
    for pair in ((uncounted, counted), (counted, uncounted)):
        with pytest.raises(SwbuildError) as caught:
            speedup_table(*pair, "other.json")
        assert caught.value.diagnostics[0].code == "SW695"


# --- parameters ----------------------------------------------------------------------------------

TIMES = [fact.name for fact in facts("sw26010") if fact.name.startswith("host.")]


@pytest.mark.parametrize("name", [name for name in TIMES if name not in CACHE_SHAPE])
def test_every_time_can_be_set(name: str, serial: Path) -> None:
    usual = profiled(serial / "s", "60000", "2")
    value = getattr(MACHINE.host, name.removeprefix("host."))
    other = analyse(serial / "s.json", {name: value / 4 if name.endswith("_slots") else value * 2})
    assert other.replays[0].cycles != usual.replays[0].cycles


def test_every_function_of_the_mathematical_library_costs_its_own_number(tmp_path: Path) -> None:
    """On the host and, in the same text, on a CPE."""
    names = [item.name for item in fields(Library)]
    two, three = ("atan2", "fmod", "hypot", "pow"), ("fma",)
    more = {name: ", x" * (1 if name in two else 2 if name in three else 0) for name in names}
    lines = "\n".join(f"sum += {name}(x{more[name]});" for name in names)
    body = f"double x = count, sum = 0;\n{lines}\nreturn sum == 1;"
    text = f"#include <math.h>\nint main(int count, char **words)\n{{\n{body}\n}}\n"
    make(tmp_path, {"t.c": text}, "sw5cc -host -O2 -std=gnu99 -fno-builtin t.c -o t -lm")
    usual = profiled(tmp_path / "t").replays[0].cycles
    for name in names:
        other = analyse(tmp_path / "t.json", {f"library.{name}": 5000.0})
        expected = 5000 - getattr(MACHINE.library, name)
        assert other.replays[0].cycles - usual == pytest.approx(expected, abs=1), name


@pytest.mark.parametrize("name", CACHE_SHAPE)
def test_the_shape_of_the_caches_can_be_set_for_a_run(name: str, serial: Path) -> None:
    numbers = {each: getattr(MACHINE.host, each.removeprefix("host.")) for each in CACHE_SHAPE}
    words = [
        sys.executable,
        "-m",
        "swbuild",
        "run",
        "--profile",
        "set.json",
        "--set",
        f"{name}={numbers[name] // 4}",
    ]
    subprocess.run([*words, "./s", "15000", "6"], cwd=serial, check=True)
    changed, usual = analyse(serial / "set.json"), profiled(serial / "s", "15000", "6")
    assert changed.replays[0].cycles != usual.replays[0].cycles
    with pytest.raises(SwbuildError) as caught:
        analyse(serial / "set.json", {name: 1})
    assert "too late" in caught.value.diagnostics[0].message


def test_numbers_that_count_at_compiling_are_refused_for_a_run(serial: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "swbuild",
        "run",
        "--profile",
        "no.json",
        "--set",
        "pipes.float_latency=1",
        "./s",
        "1",
        "1",
    ]
    done = subprocess.run(words, cwd=serial, capture_output=True, text=True, check=False)
    assert done.returncode and "SW690" in done.stderr and "SWBUILD_EMU_COUNTED_NUMBERS" in done.stderr


# --- the published loop --------------------------------------------------------------------------


@cache
def published() -> list[calibration.Row]:
    return calibration.host_rows()


def test_the_hosts_loop_of_stream_is_within_fifteen_percent() -> None:
    """But at one size: 480 KB in 512 KB, where it matters which pages of the second level share a place."""
    far = [row for row in published() if abs(row.error) > 0.15]
    assert [row.case for row in far] == ["a[j] = 2 a[j], 20480 doubles"] and abs(far[0].error) < 0.35
    assert sum(row.held_out for row in published()) >= 8


def test_the_hosts_loops_on_the_pro_are_within_ten_percent() -> None:
    rows = calibration.host_pro_rows()
    assert len(rows) == 18 and sum(row.held_out for row in rows) == 16
    assert all(abs(row.error) <= 0.10 for row in rows)


def test_counted_host_code_gives_the_same_results(tmp_path: Path) -> None:
    """Flags that are live between blocks, calls back from the library, and the vector registers survive."""
    text = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int less(const void *a, const void *b)
{
    double x = *(double *)a, y = *(double *)b;
    return (x > y) - (x < y);
}
int main(void)
{
    static double v[5000];
    unsigned state = 1;
    for (int j = 0; j < 5000; j++) { state = state * 1664525u + 1013904223u; v[j] = state >> 8; }
    qsort(v, 5000, sizeof *v, less);
    double s = 0, t = 1;
    for (int j = 0; j < 5000; j++) { s += v[j] * j; if (s > 1e12) s -= 1e12; else t *= 1.0001; }
    unsigned __int128 wide = 1;
    for (int j = 1; j < 5000; j++) wide = wide * 3 + (unsigned)v[j];
    char word[64] = "";
    for (int j = 0; j < 20; j++) strcat(word, j % 3 ? "a" : "bc");
    printf("%.17g %.17g %llu %s\\n", s, t, (unsigned long long)(wide >> 64), word);
    return 0;
}
"""
    (tmp_path / "t.c").write_text(text, encoding="utf-8")
    outputs = set()
    for level in ("-O0", "-O1", "-O2", "-O3"):
        subprocess.run(["sw5cc", "-host", level, "t.c", "-o", "t"], cwd=tmp_path, env=variables(), check=True)
        wanted = {"SWBUILD_EMU_COUNTERS": "t.json", "SWBUILD_EMU_MODEL": "t.json.model"}
        for more in ({}, wanted):
            done = subprocess.run(
                ["./t"], cwd=tmp_path, env=os.environ | more, capture_output=True, check=True
            )
            outputs.add(done.stdout)
        assert json.loads((tmp_path / "t.json").read_text())["spawns"] == 0
    assert len(outputs) == 1
