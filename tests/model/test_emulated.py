"""The whole way: a program compiled by the stand-ins, run on the emulator, replayed and reported."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from swbuild.emulator import environment
from swbuild.emulator.model import calibration
from swbuild.emulator.model.report import Analysis, analyse, tables
from swbuild.emulator.model.result import Category

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc"),
    pytest.mark.slow,
]

ROUNDS = 6

HOST = """\
#include <stdio.h>
#include <stdlib.h>
#include <athread.h>
#include "shape.h"
extern SLAVE_FUN(triad)();
static double memory[3][N * 64 * ROUNDS + 32] __attribute__((aligned(128)));
struct task task;
int main(void) {
    task.a = memory[0] + 10; task.b = memory[1] + 10; task.c = memory[2] + 10;
    for (long i = 0; i < N * 64 * ROUNDS; i++) { task.b[i] = i; task.c[i] = 2; }
    athread_init();
    athread_spawn(triad, &task);
    athread_join();
    athread_halt();
    for (long i = 0; i < N * 64 * ROUNDS; i++)
        if (task.a[i] != i + 6.0) { printf("wrong at %ld\\n", i); return 1; }
    return 0;
}
"""

SLAVE = """\
#include <slave.h>
#include "shape.h"
__thread_local double a[N], b[N], c[N];
__thread_local volatile int got, put;
__thread_local struct task t;
void triad(struct task *task) {
    got = 0;
    athread_get(PE_MODE, task, &t, sizeof t, (void *)&got, 0, 0, 0);
    while (got != 1);
    for (int k = 0; k < ROUNDS; k++) {
        long at = ((long)k * 64 + _MYID) * N;
        got = put = 0;
        athread_get(PE_MODE, t.b + at, b, sizeof b, (void *)&got, 0, 0, 0);
        athread_get(PE_MODE, t.c + at, c, sizeof c, (void *)&got, 0, 0, 0);
        while (got != 2);
        for (int i = 0; i < N; i++)
            a[i] = b[i] + 3.0 * c[i];
        athread_put(PE_MODE, a, t.a + at, sizeof a, (void *)&put, 0, 0);
        while (put != 1);
    }
}
"""


def build(folder: Path, doubles: int) -> dict[str, str]:
    variables = environment("sw26010", os.environ | {"SWBUILD_EMU_COUNTED_CODE": "1"})
    shape = f"#define N {doubles}L\n#define ROUNDS {ROUNDS}\nstruct task {{ double *a, *b, *c; }};\n"
    for name, text in (("shape.h", shape), ("host.c", HOST), ("slave.c", SLAVE)):
        (folder / name).write_text(text, encoding="utf-8")
    for command in (
        "sw5cc -host -O1 -std=gnu99 -c host.c",
        "sw5cc -slave -O2 -std=gnu99 -c slave.c",
        "sw5cc -hybrid host.o slave.o -o app",
    ):
        subprocess.run(command.split(), cwd=folder, env=variables, check=True)
    return variables


def profiled(folder: Path, variables: dict[str, str], name: str) -> Analysis:
    more = {"SWBUILD_EMU_COUNTERS": f"{name}.json", "SWBUILD_EMU_MODEL": f"{name}.json.model"}
    subprocess.run([folder / "app"], cwd=folder, env=variables | more, check=True)
    return analyse(folder / f"{name}.json")


def published(doubles: int) -> float:
    with (Path(calibration.__file__).parent / "measured" / "stream_sw26010.csv").open(
        encoding="utf-8"
    ) as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return next(float(row["triad"]) for row in rows if (row["step"], row["n"]) == ("0", str(doubles)))


@pytest.mark.parametrize("doubles", [64, 1024])
def test_triad_on_the_emulator_takes_the_published_time(doubles: int, tmp_path: Path) -> None:
    analysis = profiled(tmp_path, build(tmp_path, doubles), "p")
    (kernel,) = analysis.replays[0].kernels
    assert kernel.threads == 64 and analysis.counted
    rate = 3 * 8 * doubles * 64 * ROUNDS / analysis.microseconds(kernel.span)
    assert rate == pytest.approx(published(doubles), rel=0.20)
    shares = kernel.spent
    assert shares[Category.DMA] > shares[Category.COMPUTE] > 0


def test_model_time_is_the_same_in_every_run(tmp_path: Path) -> None:
    variables = build(tmp_path, 128)
    one, two = profiled(tmp_path, variables, "one"), profiled(tmp_path, variables, "two")
    assert one.replays[0].cycles == two.replays[0].cycles
    names = ("summary", "compute", "transfers", "runtime")
    assert tables(one, names) == tables(two, names)


def test_reports_point_at_the_source(tmp_path: Path) -> None:
    analysis = profiled(tmp_path, build(tmp_path, 128), "p")
    lines = SLAVE.splitlines()
    compute, transfers = tables(analysis, ("compute", "transfers"))
    place = compute.rows[0][0].rpartition(":")
    assert place[0].endswith("slave.c") and "a[i] = b[i]" in "".join(lines[int(place[2]) - 2 : int(place[2])])
    for row in transfers.rows:
        call = lines[int(row[0].rpartition(":")[2]) - 1]
        assert f"athread_{row[1]}(" in call


DIRECT_HOST = """
#include <athread.h>
#include "shape.h"
extern void SLAVE_FUN(sum)(struct task *);
int main(void)
{
    static double in[N], out[64];
    struct task t = {in, out, 0};
    for (int i = 0; i < N; i++)
        in[i] = i % 7;
    athread_init();
    athread_spawn(sum, &t);
    athread_join();
    for (int k = 0; k < 64; k++)
        if (out[k] != out[0] || out[k] < N)
            return 1;
    return 0;
}
"""
DIRECT = """
#include <slave.h>
#include "shape.h"
__thread_local double kept[N];
__thread_local volatile int got;
float scales[4] = {1, 1, 1, 1};
void sum(struct task *t)
{
    double own[8] = {0}, *block = ldm_malloc(64), total = 0;
    double *from = t->a; /* one load */
    long above = 0;
#ifdef BY_DMA
    got = 0;
    athread_get(PE_MODE, from, kept, sizeof kept, (void *)&got, 0, 0, 0);
    while (got != 1);
    from = kept;
#endif
    for (int i = 0; i < 8; i++)
        block[i] = 1;
    for (int i = 0; i < N; i++) {
        double x = from[i]; /* N loads */
        if (x > 3)
            above++;
        own[i % 8] += x * block[i % 8];
    }
    for (int i = 0; i < 8; i++)
        total += own[i] * scales[i % 4]; /* 8 loads of 4 bytes */
    t->b[_MYID] = total + above; /* a load and a store */
}
"""


def direct(folder: Path, *flags: str) -> tuple[dict[str, Any], Analysis, dict[str, Any]]:
    """Return the counts and the model time of the program, and its counts in checked mode."""
    variables = environment("sw26010", os.environ | {"SWBUILD_EMU_COUNTED_CODE": "1"})
    shape = "#define N 256\nstruct task { double *a, *b, *c; };\n"
    for name, text in (("shape.h", shape), ("host.c", DIRECT_HOST), ("slave.c", DIRECT)):
        (folder / name).write_text(text, encoding="utf-8")
    for command in (
        "sw5cc -host -O1 -std=gnu99 -c host.c",
        f"sw5cc -slave {' '.join(flags)} -std=gnu99 -c slave.c",
        "sw5cc -hybrid host.o slave.o -o app",
    ):
        subprocess.run(command.split(), cwd=folder, env=variables, check=True)
    analysis = profiled(folder, variables, "p")
    more = {"SWBUILD_EMU_COUNTERS": "checked.json", "SWBUILD_EMU_CHECKED": "1"}
    subprocess.run([folder / "app"], cwd=folder, env=variables | more, check=True)
    counted, checked = (json.loads((folder / name).read_text()) for name in ("p.json", "checked.json"))
    return counted, analysis, checked


def accesses(counts: dict[str, Any]) -> set[tuple[str, str, int, int]]:
    """Return (line, operation, calls, bytes) of the loads and stores of main memory, of one CPE."""
    lines = DIRECT.splitlines()
    sites: dict[tuple[str, str], list[int]] = {}
    for site in counts["kernels"][0]["sites"]:
        if site["operation"] in ("load", "store"):
            place = site["place"].rpartition(":")
            assert place[0].endswith("slave.c")
            entry = sites.setdefault((lines[int(place[2]) - 1].strip(), site["operation"]), [0, 0])
            entry[0] += site["calls"] // 64
            entry[1] += site["bytes"] // 64
    return {(line, operation, *figures) for (line, operation), figures in sites.items()}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_loads_and_stores_of_main_memory_are_counted_where_they_stand(level: str, tmp_path: Path) -> None:
    counted, analysis, checked = direct(tmp_path, level)
    expected = {
        ("double *from = t->a; /* one load */", "load", 1, 8),
        ("double x = from[i]; /* N loads */", "load", 256, 2048),
        ("total += own[i] * scales[i % 4]; /* 8 loads of 4 bytes */", "load", 8, 32),
        ("t->b[_MYID] = total + above; /* a load and a store */", "load", 1, 8),
        ("t->b[_MYID] = total + above; /* a load and a store */", "store", 1, 8),
    }
    assert counted["direct_counted"] and accesses(counted) == expected
    if level == "-O0":
        assert accesses(checked) == expected
    spent = analysis.replays[0].kernels[0].spent[Category.DIRECT]
    assert spent == analysis.machine.control.direct_cycles * (1 + 256 + 8 + 2)
    (row,) = [r for r in tables(analysis, ("transfers",))[0].rows if r[1:4] == ("load", "16384", "131072")]
    assert row[0].rpartition(":")[0].endswith("slave.c")


def test_element_by_element_is_slower_than_a_transfer(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("loads", "dma")]
    for folder in folders:
        folder.mkdir()
    loads, dma = (
        direct(folder, "-O2", *flags)[1].replays[0].kernels[0].span
        for folder, flags in zip(folders, ([], ["-DBY_DMA"]), strict=True)
    )
    assert loads > 4 * dma
