"""``swbuild bench`` on small regions: exact figures, the same in every run, and what has become slower."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from swbuild.bench.region import prepare_region
from swbuild.check.staged import RegionTask, generate_region_unit
from swbuild.check.tasks import RegionCheck
from swbuild.cli.app import run as swbuild
from swbuild.diagnostics import SwbuildError
from swbuild.frontend.request import RegionRequest

#: The first loop's result is read by the second one; the last one stays on the host.
SOURCE = """\
void copies(int n, double a[restrict n], double b[restrict n], double c[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        b[i] = 2.0 * a[i];
    for (int i = 0; i < n; i++)
        c[i] += b[i];
#pragma endscop
}
void serial(int n, double d[restrict n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        d[i] += 0.5 * d[i - 1];
#pragma endscop
}
"""

#: Bytes beside the arrays: what kernels are called with, and sizes in memory.
SMALL = 300


@pytest.fixture(autouse=True)
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(SOURCE)


def bench(*words: str) -> tuple[int, dict[str, Any]]:
    """Return the status of a run and the programs of its document by name."""
    status = swbuild(["bench", "f.c", "-p", "n=4000", "-q", "--json", "now.json", *words])
    return status, {item["name"]: item for item in json.loads(Path("now.json").read_text())["programs"]}


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_figures_are_exact_and_the_same_again(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    status, first = bench("--machine", machine)
    assert status == 0
    copies, serial = first["copies"], first["serial"]
    assert 0 <= copies["read"] - 2 * 32_000 < SMALL
    assert 0 <= copies["written"] - 2 * 32_000 < SMALL
    assert copies["moved"] >= 4 * 32_000
    assert copies["operations"] == 8000
    assert copies["spawns"] > 0 < copies["ldm"] <= copies["budget"]
    assert copies["computing"] + copies["waiting"] + copies["idle"] == pytest.approx(1, abs=0.001)
    assert copies["x_bound"] == pytest.approx(copies["cycles"] / copies["bound"], rel=0.001)
    assert (serial["spawns"], serial["host"], serial["moved"]) == (0, 1.0, 0)
    assert 0 <= serial["read"] - 32_000 < SMALL
    assert 0 <= serial["written"] - 32_000 < SMALL
    monkeypatch.setenv("SOME_VARIABLE", "that takes room on the stack" * 9)
    assert bench("--machine", machine, "--jobs", "1", "--keep", "a/longer/name")[1] == first


def test_what_has_become_slower(capsys: pytest.CaptureFixture[str]) -> None:
    bench("-k", "copies")
    before = json.loads(Path("now.json").read_text())
    cycles = before["programs"][0]["cycles"]
    for earlier, tolerance, status in ((0.97, "2", 1), (0.99, "2", 0), (0.97, "4", 0), (1.5, "0", 0)):
        before["programs"][0]["cycles"] = cycles * earlier
        Path("before.json").write_text(json.dumps(before))
        assert bench("-k", "copies", "--against", "before.json", "--tolerance", tolerance)[0] == status
        assert f"{100 / earlier - 100:+.1f} %" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["f.c"], "f.c:3:1: error[SW508]"),
        (["f.c", "-p", "m=3"], "f.c:3:1: error[SW504]"),
        (["f.c", "-p", "n=40", "-p", "nn=3"], "-p nn: error[SW504]"),
        (["f.c", "-p", "n=40", "--against", "f.c"], "f.c: error[SW509]"),
        (["f.c", "-p", "n=400000", "--timeout", "0.01"], "f.c:3:1: error[SW507]"),
        (["none.c", "-p", "n=4"], "none.c: error[SW108]"),
        (["f.c", "-p", "n=4", "--tolerance", "-1"], "error[SW100]"),
    ],
)
def test_mistakes(words: list[str], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert swbuild(["bench", *words]) == 2
    assert code in capsys.readouterr().err


#: A program that fills what its region reads, and prints what that leaves.
MAIN = """\
#include <stdio.h>
#ifndef N
#define N 100
#endif
static double a[N], b[N];
static void scaled(int n, double *to, double *from)
{
#pragma scop
    for (int i = 0; i < n; i++)
        to[i] = 2.0 * from[i];
#pragma endscop
}
int main(void)
{
    for (int i = 0; i < N; i++)
        a[i] = i;
    scaled(N, b, a);
    printf("%g\\n", b[N - 1]);
    return 0;
}
"""


def test_a_program_counts_from_its_first_spawn_to_its_last_join() -> None:
    Path("main.c").write_text(MAIN)
    command = ["bench", "--program", "main.c", "-D", "N=4000", "-q", "--json", "now.json"]
    found = []
    for words in (["-p", "n=4000"], []):
        assert swbuild([*command, *words]) == 0
        found += json.loads(Path("now.json").read_text())["programs"]
    known, unknown = found
    assert 0 <= known["read"] - 32_000 < SMALL  # although the host has written them
    assert 0 <= known["written"] - 32_000 < SMALL
    assert (known["name"], known["spawns"], known["host"]) == ("main", 1, 0.0)
    assert (known["operations"], unknown["operations"]) == (4000, None)
    assert (known["cycles"], unknown["x_bound"]) == (unknown["cycles"], None)
    assert known["cycles"] > known["bound"]


def test_a_program_that_does_not_end(capsys: pytest.CaptureFixture[str]) -> None:
    Path("main.c").write_text(MAIN.replace("    printf", "    for (;;) ;\n    printf"))
    assert swbuild(["bench", "--program", "main.c", "-q", "--timeout", "3"]) == 2
    assert "main.c: error[SW507]" in capsys.readouterr().err


def test_a_run_that_leaves_its_results_but_no_profile_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that is stopped between the two."""
    monkeypatch.setattr("swbuild.bench.region.profile_environment", lambda *_: {})
    task = RegionTask(Path("f.c"), RegionRequest("copies", "copies"), check=RegionCheck(({"n": 100},)))
    prepared = prepare_region(generate_region_unit(task), tmp_path / "made", 60.0, events=False)
    with pytest.raises(SwbuildError) as caught:
        prepared.run({})
    assert [each.code for each in caught.value.diagnostics] == ["SW507"]
