"""``emulator``, ``run`` and ``profile`` on a small hand-written program."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]

HOST = """\
#include <athread.h>
#include <stdio.h>
#include <stdlib.h>
extern void SLAVE_FUN(increment)(double *);
double a[64];
int main(int argc, char **argv)
{
    athread_init();
    athread_spawn(increment, a);
    athread_join();
    athread_halt();
    printf("%g %s\\n", a[63], argc > 1 ? argv[1] : "-");
    return argc > 1 ? atoi(argv[1]) : 0;
}
"""

SLAVE = """\
#include <slave.h>
void increment(double *a)
{
    volatile int reply = 0;
    int id = athread_get_id(-1);
    double x;
    athread_get(PE_MODE, a + id, &x, 8, (void *)&reply, 0, 0, 0);
    while (reply != 1) ;
    x += id;
    reply = 0;
    athread_put(PE_MODE, &x, a + id, 8, (void *)&reply, 0, 0);
    while (reply != 1) ;
}
"""

BUILD = """\
eval "$({swbuild} emulator env --machine sw26010)"
sw5cc -host -c host.c -o host.o && sw5cc -slave -c slave.c -o slave.o && sw5cc -hybrid host.o slave.o -o app
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    import sys

    (tmp_path / "host.c").write_text(HOST)
    (tmp_path / "slave.c").write_text(SLAVE)
    script = BUILD.format(swbuild=f"{sys.executable} -m swbuild")
    subprocess.run(["bash", "-ec", script], cwd=tmp_path, check=True)
    return tmp_path / "app"


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_the_machine_may_stand_on_either_side(swbuild: Run, machine: str) -> None:
    for words in (
        ["--machine", machine, "path"],
        ["path", "--machine", machine],
        ["path", f"--machine={machine}"],
    ):
        done = swbuild("emulator", *words)
        assert (done.returncode, Path(done.stdout.strip()).name) == (0, machine), done.stderr
    assert f"export SWBUILD_MACHINE={machine}\n" in swbuild("emulator", "env", "--machine", machine).stdout


def test_run_and_profile(swbuild: Run, app: Path) -> None:
    done = swbuild("run", "--checked", "--profile", "p.json", "./app")
    assert (done.returncode, done.stdout) == (0, "63 -\n"), done.stderr
    done = swbuild("profile", "p.json", "--report", "counts", "--report", "sites")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["increment", "1", "get", "64", "512", "64", "64"] in rows
    assert any(row[:4] == ["slave.c:11", "put", "64", "512"] for row in rows)


def test_model_time(swbuild: Run, app: Path, tmp_path: Path) -> None:
    assert swbuild("run", "--profile", "p.json", "--events", "./app").returncode == 0
    done = swbuild("profile", "p.json", "--trace", "line.json")
    assert done.returncode == 0, done.stderr
    assert "increment" in done.stdout
    assert "model time" in done.stdout
    assert json.loads((tmp_path / "line.json").read_text())["traceEvents"]
    slow = swbuild("profile", "p.json", "--json", "--set", "clock_hz=1e9")
    fast = swbuild("profile", "p.json", "--json", "--set", "clock_hz=2e9")
    assert json.loads(slow.stdout)["clock_hz"] == 1e9, slow.stderr
    assert json.loads(fast.stdout)["clock_hz"] == 2e9
    assert swbuild("profile", "p.json", "--json", "--set", "clock_hz=fast").returncode == 2
    assert swbuild("profile", "p.json", "--json", "--set", "clack=1").returncode == 2


def test_model_time_without_events(swbuild: Run, app: Path, tmp_path: Path) -> None:
    assert swbuild("run", "--profile", "p.json", "--events", "./app").returncode == 0
    usual = json.loads(swbuild("profile", "p.json", "--json").stdout)
    again = json.loads(swbuild("profile", "p.json", "--json", "--set", "control.spawn_cycles=1e6").stdout)
    assert swbuild("run", "--profile", "q.json", "./app").returncode == 0
    assert {path.name for path in tmp_path.glob("q.json*")} == {"q.json", "q.json.model"}
    assert json.loads(swbuild("profile", "q.json", "--json").stdout) == usual
    for more in (["--trace", "line.json"], ["--set", "clock_hz=1e9"]):
        done = swbuild("profile", "q.json", *more)
        assert (done.returncode, "--events" in done.stderr) == (2, True), more
    words = ["--set", "control.spawn_cycles=1000000"]
    assert swbuild("run", "--profile", "q.json", *words, "./app").returncode == 0
    assert json.loads(swbuild("profile", "q.json", "--json").stdout) == again != usual
    for name in ("pipes.float_latency", "ldm_bytes", "clack"):
        done = swbuild("run", "--profile", "q.json", "--set", f"{name}=1", "./app")
        assert (done.returncode, "SW690" in done.stderr) == (2, True), name


def test_counts_alone(swbuild: Run, app: Path, tmp_path: Path) -> None:
    assert swbuild("run", "--counts", "c.json", "./app").returncode == 0
    assert not list(tmp_path.glob("c.json.*"))
    assert "increment" in swbuild("profile", "c.json").stdout
    done = swbuild("profile", "c.json", "--report", "summary")
    assert (done.returncode, "SW691" in done.stderr) == (2, True)


def test_the_status_is_the_programs(swbuild: Run, app: Path) -> None:
    done = swbuild("run", "--dma", "random:3", "./app", "7")
    assert (done.returncode, done.stdout) == (7, "63 7\n")


def test_no_such_program(swbuild: Run) -> None:
    done = swbuild("run", "./nope")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        2,
        "./nope: error[SW114]: there is no such program",
    )


@pytest.mark.parametrize("content", [None, "{}", "[1", "[]"])
def test_no_profile(swbuild: Run, tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "p.json").write_text(content)
    done = swbuild("profile", "p.json")
    assert done.returncode == 2
    assert "p.json: error[SW115]: " in done.stderr
