"""The checker catches what breaks generated code: each mutation of right code fails in some mode."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulated import HOST, SLAVE, make_emulated
from objects import shared_objects

from swbuild.check import CheckSettings, Outcome, RegionCheck, RegionResult, explain
from swbuild.check.kernel import UnitCheck, check_region
from swbuild.frontend.request import CppOptions
from swbuild.options import KernelOptions

SIZES = RegionCheck(({"n": 5, "m": 7}, {"n": 19, "m": 141}))


def check(directory: Path, slave: str = SLAVE, host: str = HOST, modes: tuple[str, ...] = ()) -> RegionResult:
    model, unit = make_emulated(directory, slave, host)
    settings = CheckSettings(modes=modes, timeout=30.0) if modes else CheckSettings(timeout=30.0)
    (directory / "work").mkdir()
    context = UnitCheck(model, unit, CppOptions(), settings, directory / "work", shared_objects())
    return check_region(context, unit.regions[0], KernelOptions(), SIZES)


def mutated(old: str, new: str) -> str:
    assert SLAVE.count(old) == 1
    return SLAVE.replace(old, new)


def test_right_code_passes_in_every_mode_and_is_counted(tmp_path: Path) -> None:
    result = check(tmp_path, modes=("late", "eager", "random:7", "checked"))
    assert result.outcome is Outcome.PASS, explain(result)
    assert result.counts.spawns == 2
    # 5 rows of 1 chunk, 19 rows of 18 chunks: two gets and a put each.
    assert result.counts.dma_operations == 3 * (5 + 19 * 18)
    assert result.counts.dma_bytes == 8 * (5 * (7 + 6 + 6) + 19 * (18 + 3 * 140))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("while (reply != 2);", "", id="drop the wait for a get"),
        pytest.param("while (reply != 2);", "while (reply < 1);", id="wait for one of two gets"),
        pytest.param("g->w + j, w", "(char *)(g->w + j) + 4, w", id="shift a get by 4 bytes"),
        pytest.param(
            "b, g->B + i * g->m + j", "b, (char *)(g->B + i * g->m + j) - 4", id="shift a put by 4 bytes"
        ),
        pytest.param(
            "rid = _MYID / 8, cid = _MYID % 8", "cid = _MYID / 8, rid = _MYID % 7", id="lose a thread row"
        ),
        pytest.param("cid = _MYID % 8", "cid = _MYID / 8", id="swap two thread ids"),
        pytest.param("1 + c * CHUNK < g->m", "1 + (c + 1) * CHUNK <= g->m", id="lose the last tile"),
        pytest.param("count = g->m - j < CHUNK ? g->m - j : CHUNK", "count = CHUNK", id="no ragged tile"),
        pytest.param("(count + 1) * 8", "count * 8", id="halo too small"),
        pytest.param("i < g->n", "i < g->n - 1", id="lose the last row"),
        pytest.param("while (reply != 2);", "while (reply != 3);", id="wait for too many"),
    ],
)
def test_mutation_is_caught(tmp_path: Path, old: str, new: str) -> None:
    result = check(tmp_path, mutated(old, new))
    assert result.outcome in (Outcome.MISMATCH, Outcome.CRASH, Outcome.TIMEOUT), explain(result)
    assert result.bad_cases


def test_mismatch_names_the_core_and_the_transfer(tmp_path: Path) -> None:
    result = check(tmp_path, mutated("+ w[k];", "+ w[k] + (i == 3 && cid == 2);"), modes=("late",))
    (case,) = result.bad_cases
    (report,) = [report for report in case.arrays if report.array == "B"]
    # Row 3 belongs to mesh row 3, columns 17 to 24 to mesh column 2.
    assert report.box == ((3, 3), (17, 88))
    assert report.owner == "CPE 26 (row 3, column 2), by the transfer at smooth.slave.c:22"


def test_element_that_nobody_writes_is_said_to_have_no_owner(tmp_path: Path) -> None:
    result = check(tmp_path, mutated("i < g->n", "i < g->n - 1"), modes=("late",))
    assert "belongs to nobody" in explain(result)


def test_lost_wait_for_a_put_is_caught_when_the_buffer_is_reused(tmp_path: Path) -> None:
    result = check(tmp_path, mutated("while (reply != 1);", ""))
    assert result.outcome is not Outcome.PASS


def test_computing_on_the_host_does_not_pass(tmp_path: Path) -> None:
    host = HOST.replace(
        "    athread_spawn(smooth_k0, &a);\n    athread_join();\n",
        "    for (i = 0; i < n; i++)\n        for (j = 1; j < m; j++)\n"
        "            B[i * m + j] = FACTOR * (A[i * m + j - 1] + A[i * m + j]) + w[j];\n    (void)a;\n",
    )
    assert "athread_spawn" not in host
    result = check(tmp_path, host=host)
    assert result.outcome is Outcome.NOT_OFFLOADED
    assert "kernel" in result.message
