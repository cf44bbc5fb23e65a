"""bsub, swrun and the counters file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from emulator_programs import build, call, environment_for, launch

PROGRAM = """
#ifdef SLAVE
#include <slave.h>
__thread_local double a[33];
__thread_local volatile int reply;
void work(double *memory)
{
    reply = 0;
    athread_get(PE_MODE, memory + 33 * _MYID, a, sizeof a, (void *)&reply, 0, 0, 0);
    while (reply != 1)
        ;
    athread_syn(ARRAY_SCOPE, 0xffff);
}
#else
#include <athread.h>
#include <stdio.h>
#include <stdlib.h>
extern void SLAVE_FUN(work)(double *);
double memory[64 * 33] __attribute__((aligned(128)));
int main(int argc, char **argv)
{
    athread_init();
    athread_spawn(work, memory);
    athread_join();
    if (argc > 1 && atoi(argv[1]) < 0)
        abort();
    printf("here\\n");
    return argc > 1 ? atoi(argv[1]) : 0;
}
#endif
"""
BSUB = (
    "bsub",
    "-I",
    "-b",
    "-q",
    "q_test",
    "-n",
    "1",
    "-cgsp",
    "64",
    "-share_size",
    "4096",
    "-host_stack",
    "1024",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("launch")
    (made / "p.c").write_text(PROGRAM)
    assert build("sw26010", made / "p.c", made).status == 0
    return made


@pytest.mark.parametrize("status", [0, 3])
def test_bsub_frames_the_output_and_returns_the_status(folder: Path, status: int) -> None:
    done = call([*BSUB, "./app", str(status)], folder, environment_for("sw26010"))
    lines = done.out.splitlines()
    assert lines[0].startswith("Job <") and lines[0].endswith("has been submitted to queue <q_test>")
    assert lines[1:4] == ["waiting for dispatch ...", "dispatching ...", "here"]
    assert lines[-1].endswith("has been finished.")
    assert done.status == status


def test_a_crash_is_told_and_has_the_shells_status(folder: Path) -> None:
    done = call([*BSUB, "./app", "-1"], folder, environment_for("sw26010"))
    assert done.status == 134
    assert "terminated by sig 6" in done.out
    assert call(["swrun", "-E", "64", "-i", "./app", "-1"], folder, environment_for("sw26010")).status == 134


def test_unknown_options_of_bsub_are_errors(folder: Path) -> None:
    done = call(["bsub", "-I", "-frob", "./app"], folder, environment_for("sw26010"))
    assert done.status == 2
    assert "unknown option '-frob'" in done.err


def test_without_b_the_stack_is_no_ldm(folder: Path, tmp_path: Path) -> None:
    text = PROGRAM.replace("__thread_local double a[33];", "").replace(
        "reply = 0;", "double a[33]; reply = 0;"
    )
    (tmp_path / "p.c").write_text(text)
    assert build("sw26010", tmp_path / "p.c", tmp_path).status == 0
    environment = environment_for("sw26010")
    assert call([*BSUB, "./app"], tmp_path, environment).status == 0
    done = call([word for word in [*BSUB, "./app"] if word != "-b"], tmp_path, environment)
    assert done.status == 86
    assert "[SW616]" in done.err


def test_counters_are_exact(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "counts.json"
    assert launch("sw26010", folder, "eager", SWBUILD_EMU_COUNTERS=str(path)).status == 0
    found = json.loads(path.read_text())
    kernel = found["kernels"][0]
    # 264 bytes at multiples of 264: every CPE touches three requests, but the 15 whose run of
    # 264 bytes ends in the third one's first bytes or starts late in the first touch more or fewer.
    touched = sum((264 * k + 263) // 128 - 264 * k // 128 + 1 for k in range(64))
    whole = sum((264 * k + 264) // 128 - (264 * k + 127) // 128 for k in range(64))
    assert (found["spawns"], kernel["kernel"], kernel["jobs"]) == (1, "work", 64)
    assert kernel["get"] == {"calls": 64, "bytes": 64 * 264, "requests": touched, "partial": touched - whole}
    assert kernel["barrier"]["calls"] == 64
    assert kernel["sites"][0]["place"].startswith("p.c:") or "/p.c:" in kernel["sites"][0]["place"]
    assert found["ldm"]["size"] == 65536
    assert 264 <= found["ldm"]["static"] <= found["ldm"]["peak"] < 4096


@pytest.mark.parametrize("mode", ["late", "random:3"])
def test_counts_do_not_depend_on_the_mode(folder: Path, tmp_path: Path, mode: str) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    launch("sw26010", folder, "eager", SWBUILD_EMU_COUNTERS=str(first))
    launch("sw26010", folder, mode, SWBUILD_EMU_COUNTERS=str(second))
    assert json.loads(first.read_text())["kernels"] == json.loads(second.read_text())["kernels"]


def test_traces_repeat(folder: Path, tmp_path: Path) -> None:
    texts = []
    for _ in range(2):
        path = tmp_path / "events"
        assert launch("sw26010", folder, "eager", SWBUILD_EMU_TRACE=str(path)).status == 0
        texts.append(path.read_bytes())
    assert texts[0] == texts[1]
    assert len(texts[0]) > 64 * 4 * 48
