"""bsub, swrun and the counters file."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
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


FAILING = """
#ifdef SLAVE
#include <slave.h>
#include <string.h>
__thread_local volatile int reply;
static int deep(int n)
{
    volatile double big[512];
    big[n % 512] = n;
    ldm_free(ldm_malloc(8), 8);
    return n ? deep(n - 1) + (int)big[n % 512] : 0;
}
void work(int *how)
{
    if (*how == 1 && _MYID != 9)
        athread_syn(ARRAY_SCOPE, 0xffff); /* HANG */
    if (*how == 2)
        *how = deep(40); /* DEEP */
    if (*how == 3 && _MYID == 5)
        *(volatile double *)8 = 1; /* SEGFAULT */
}
#else
#include <athread.h>
#include <stdio.h>
#include <stdlib.h>
#include MPI
extern void SLAVE_FUN(work)(int *);
int main(int argc, char **argv)
{
    int how = atoi(argv[1]), rank = 0;
    START;
    how = rank == 0 ? how : 0;
    athread_init();
    athread_spawn(work, &how);
    athread_join();
    END;
    return how == 4 ? 7 : 0;
}
#endif
"""
LAUNCHERS = {
    "bsub": ["bsub", "-I", "-b", "-q", "q", "-n", "1", "-cgsp", "64"],
    "swrun": ["swrun", "-b", "-n", "1"],
    "run": [sys.executable, "-m", "swbuild", "run"],
}
#: What goes wrong: the status, and what stands in the report.
FAILURES = {
    1: (87, "p.c:16: error[SW640]: hang"),
    2: (86, "error[SW621]: LDM overflow"),
    3: (139, "p.c:20: error[SW641]: CPE 5 (row 0, column 5) got signal 11"),
    4: (7, ""),
}


def left_running(folder: Path) -> list[str]:
    """Return the processes whose working directory is the folder."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if link.resolve() == folder.resolve():
                found.append((link.parent / "cmdline").read_text())
    return found


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("failing")
    text = FAILING.replace("#include MPI\n", "").replace("START;", "").replace("END;", "")
    (made / "p.c").write_text(text)
    assert build("sw26010", made / "p.c", made).status == 0
    return made


@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.parametrize("how", FAILURES)
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_failures_have_a_report_and_a_status(failing: Path, launcher: str, how: int, checked: bool) -> None:
    status, report = FAILURES[how]
    extra = {"SWBUILD_EMU_CHECKED": "1"} if checked else {}
    environment = environment_for("sw26010", SWBUILD_EMU_HANG_SECONDS="1", **extra)
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    done = call([*LAUNCHERS[launcher], "./app", str(how)], failing, environment)
    if checked and how == 3:
        status, report = 86, "p.c:20: error[SW610]: a store to 0x8"
    assert report in done.err
    seen = 128 - done.status if done.status < 0 else done.status  # as a shell says it
    assert seen == status, done
    assert left_running(failing) == []


@pytest.mark.skipif(not shutil.which("mpirun"), reason="needs an MPI")
@pytest.mark.parametrize("how", FAILURES)
def test_one_rank_that_fails_ends_all(how: int, tmp_path: Path) -> None:
    text = FAILING.replace("MPI", "<mpi.h>", 1).replace(
        "START;", "MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);"
    )
    (tmp_path / "p.c").write_text(text.replace("END;", "if (how != 4) MPI_Finalize();"))
    environment = environment_for("sw26010", SWBUILD_EMU_HANG_SECONDS="1")
    words = ["-O1", "-std=gnu99", "-c", "p.c"]
    assert call(["mpicc", "-host", *words, "-o", "host.o"], tmp_path, environment).status == 0
    assert call(["sw5cc", "-slave", "-DSLAVE", *words, "-o", "slave.o"], tmp_path, environment).status == 0
    assert call(["mpicc", "host.o", "slave.o", "-o", "app"], tmp_path, environment).status == 0
    words = ["bsub", "-I", "-b", "-q", "q", "-n", "3", "-cgsp", "64", "./app", str(how)]
    done = call(words, tmp_path, environment)
    assert FAILURES[how][1] in done.err
    assert done.status == FAILURES[how][0]
    assert left_running(tmp_path) == []
