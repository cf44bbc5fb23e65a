"""Profiles, the four reports and the time line, over small runs written by hand."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from swbuild.diagnostics import SwbuildError
from swbuild.emulator.model.profile import read_profile
from swbuild.emulator.model.replay import modelled
from swbuild.emulator.model.report import REPORTS, Analysis, Table, analyse, as_json, tables
from swbuild.emulator.model.timeline import write_timeline
from swbuild.emulator.model.trace import HOST, Kind, Process, Record, read_trace, write_trace
from swbuild.machine import load

NAMES = """\
named kernel triad
named site get slave.c:7
named site wait slave.c:9
named site put slave.c:11
named site wait ??:0
"""


def records(compute: int) -> list[Record]:
    everyone = 0b11
    found = [Record(Kind.SPAWN, HOST, address=everyone, ldm=0), Record(Kind.JOIN, HOST)]
    for cpe in (0, 1):
        found += [
            Record(Kind.KERNEL_BEGIN, cpe),
            Record(Kind.DMA_GET, cpe, site=1, address=64, length=4096, reply=0),
            Record(Kind.WAIT, cpe, site=2, reply=0, value=1),
            Record(Kind.MARK, cpe, site=1),
            Record(Kind.DMA_PUT, cpe, site=3, compute=compute * (cpe + 1), length=4096, reply=4),
            Record(Kind.WAIT, cpe, site=4, reply=4, value=1),
            Record(Kind.KERNEL_END, cpe),
        ]
    return found


def write(path: Path, compute: int = 1000, counted: bool = True, **more: object) -> Path:
    counters = {"machine": "sw26010", "spawns": 1, "kernels": []} | more
    path.write_text(json.dumps(counters), encoding="utf-8")
    trace = path.with_name(f"{path.name}.trace")
    write_trace(trace, records(compute), counted)
    outcome = modelled(Process(0, read_trace(trace)), load("sw26010"))
    model = [f"model 1 {counted:d} 1", "numbers ", *outcome, NAMES]
    path.with_name(f"{path.name}.model").write_text("\n".join(model), encoding="utf-8")
    return path


def report(analysis: Analysis, name: str) -> Table:
    (table,) = tables(analysis, (name,))
    assert all(len(row) == len(table.heads) for row in table.rows)
    return table


def test_a_profile_ties_counters_events_kernels_and_sites_together(tmp_path: Path) -> None:
    profile = read_profile(write(tmp_path / "p.json"))
    (process,) = profile.processes
    assert profile.machine == "sw26010" and profile.counters["spawns"] == 1
    assert process.kernel(0) == "triad" and process.kernel(3) == "kernel 3"
    assert (str(process.site(1)), process.site(1).call) == ("slave.c:7", "get")
    assert process.site(0).line == process.site(9).line == 0


def test_the_files_of_further_processes_are_found_in_order(tmp_path: Path) -> None:
    for name in ("p.json", "p.json.10", "p.json.2"):
        write(tmp_path / name)
    (tmp_path / "p.json.part").write_text("{}", encoding="utf-8")
    found = read_profile(tmp_path / "p.json")
    assert [process.rank for process in found.processes] == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[1]", "it is not a profile"),
        ("{", "it is not JSON"),
        ("{}", "machine"),
        ('{"machine": "cray"}', "cray"),
        ('{"machine": "sw26010", "lines": [{}]}', "file"),
        ('{"machine": "sw26010"}', "'p.json.model' is not beside it"),
    ],
)
def test_what_is_no_profile_is_told(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(text, encoding="utf-8")
    with pytest.raises(SwbuildError) as caught:
        read_profile(tmp_path / "p.json")
    assert "p.json: error[SW691]" in str(caught.value) and why in str(caught.value)


def test_a_missing_profile_is_told(tmp_path: Path) -> None:
    with pytest.raises(SwbuildError, match="No such file"):
        read_profile(tmp_path / "none.json")


def test_summary_has_a_row_per_kernel_whose_shares_add_up(tmp_path: Path) -> None:
    analysis = analyse(write(tmp_path / "p.json"))
    table = report(analysis, "summary")
    (row,) = table.rows
    span = analysis.replays[0].kernels[0].span
    assert row[0] == "triad" and row[1] == "1" and row[2] == f"{span:.0f}"
    shares = [float(cell) for head, cell in zip(table.heads, row, strict=True) if head.endswith("%")]
    assert sum(shares) == pytest.approx(100, abs=0.5)
    assert "compute %" in table.heads and "idle %" in table.heads and "rma wait %" not in table.heads


def test_summary_says_when_compute_time_is_missing(tmp_path: Path) -> None:
    with_it = report(analyse(write(tmp_path / "p.json")), "summary")
    without = report(analyse(write(tmp_path / "q.json", compute=0, counted=False)), "summary")
    assert not any("compute time is not in it" in note for note in with_it.notes)
    assert any("compute time is not in it" in note for note in without.notes)


def test_compute_goes_by_the_lines_of_the_profile_or_else_by_the_calls(tmp_path: Path) -> None:
    lines = [
        {"file": "slave.c", "line": 10, "passes": 4, "cycles": 30.0},
        {"file": "slave.c", "line": 10, "passes": 400, "cycles": 60.0},
        {"file": "slave.c", "line": 12, "passes": 1, "cycles": 10.0},
    ]
    by_line = report(analyse(write(tmp_path / "p.json", lines=lines)), "compute")
    assert by_line.rows == (("slave.c:10", "400", "90", "90.0"), ("slave.c:12", "1", "10", "10.0"))
    by_call = report(analyse(write(tmp_path / "q.json")), "compute")
    assert by_call.rows == (("slave.c:11", "2", "3000", "100.0"),)


def test_transfers_show_use_of_requests_and_who_is_awaited(tmp_path: Path) -> None:
    table = report(analyse(write(tmp_path / "p.json")), "transfers")
    by_place = {row[0]: row for row in table.rows}
    assert set(by_place) == {"slave.c:7", "slave.c:11"}
    get = by_place["slave.c:7"]
    assert get[1:8] == ("get", "2", "8192", "4096", "66", "4", "97")
    runtime = {row[0]: row[2] for row in report(analyse(tmp_path / "p.json"), "runtime").rows}
    assert get[8] == runtime["waiting at slave.c:9"] and float(get[8]) > 0


def test_runtime_shows_spawn_idle_and_every_wait(tmp_path: Path) -> None:
    analysis = analyse(write(tmp_path / "p.json"))
    table = report(analysis, "runtime")
    cells = {(row[0], row[1]): float(row[2]) for row in table.rows}
    control = load("sw26010").control
    expected = analysis.microseconds(control.spawn_cycles + control.join_cycles)
    assert cells["spawn and join", "triad"] == pytest.approx(expected, abs=0.01)
    idle = analysis.microseconds(500)  # the mean of two CPEs, one of which computes 1000 cycles less
    assert cells["idle until the last CPE's end", "triad"] == pytest.approx(idle, rel=0.3)
    assert ("waiting at slave.c:9", "wait") in cells


def test_averages_go_over_the_cpes_of_all_processes(tmp_path: Path) -> None:
    for name in ("p.json", "q.json", "q.json.1"):
        write(tmp_path / name)
    one, two = (report(analyse(tmp_path / name), "runtime") for name in ("p.json", "q.json"))
    waiting = [{row[0]: row[2] for row in table.rows if row[0].startswith("waiting")} for table in (one, two)]
    assert waiting[0] == waiting[1]
    assert {row[1] for row in two.rows if row[0] == "spawn and join"} == {"0: triad", "1: triad"}


def test_overrides_reach_the_replay(tmp_path: Path) -> None:
    path = write(tmp_path / "p.json")
    slow = analyse(path, {"memory.get_exposed": 10**6})
    assert slow.replays[0].cycles > analyse(path).replays[0].cycles + 10**5
    with pytest.raises(SwbuildError, match="SW690"):
        analyse(path, {"memory.speed": 1})


def test_an_unknown_report_is_told(tmp_path: Path) -> None:
    with pytest.raises(SwbuildError, match="no report 'sumary'"):
        tables(analyse(write(tmp_path / "p.json")), ("sumary",))


def test_all_reports_are_the_same_from_run_to_run(tmp_path: Path) -> None:
    path = write(tmp_path / "p.json")
    assert tables(analyse(path), tuple(REPORTS)) == tables(analyse(path), tuple(REPORTS))


def test_json_has_kernels_sites_and_lines(tmp_path: Path) -> None:
    found = json.loads(json.dumps(as_json(analyse(write(tmp_path / "p.json")))))
    assert found["machine"] == "sw26010" and found["compute_counted"]
    (process,) = found["processes"]
    assert process["kernels"][0]["spent"]["compute"] == 1500
    places = {(site["file"], site["line"]) for site in found["sites"]}
    assert {("slave.c", 7), ("slave.c", 9), ("slave.c", 11)} <= places


def timeline(tmp_path: Path) -> list[dict[str, Any]]:
    analysis = analyse(write(tmp_path / "p.json"), timeline=True)
    write_timeline(analysis, tmp_path / "t.json")
    document = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = document["traceEvents"]
    return found


def test_the_time_line_names_its_threads_and_places(tmp_path: Path) -> None:
    found = timeline(tmp_path)
    names = {(event["tid"], event["args"]["name"]) for event in found if event["name"] == "thread_name"}
    assert names == {(0, "CPE  0 (0,0)"), (1, "CPE  1 (0,1)"), (1000, "kernels")}
    waits = [event for event in found if event["name"] == "dma wait" and event["tid"] == 0]
    assert waits[0]["args"]["place"] == "slave.c:9"
    assert [event["ph"] for event in found if event["ph"] == "i"] == ["i", "i"]


def test_slices_of_a_thread_do_not_overlap_and_lie_within_the_kernel(tmp_path: Path) -> None:
    found = [event for event in timeline(tmp_path) if event["ph"] == "X"]
    (kernel,) = (event for event in found if event["tid"] == 1000)
    for cpe in (0, 1):
        mine = sorted((event["ts"], event["ts"] + event["dur"]) for event in found if event["tid"] == cpe)
        assert all(end <= begin + 1e-3 for (_, end), (begin, _) in pairwise(mine))
        assert kernel["ts"] < mine[0][0] and mine[-1][1] < kernel["ts"] + kernel["dur"]


def test_a_time_line_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    analysis = analyse(write(tmp_path / "p.json"), timeline=True)
    (tmp_path / "dir").mkdir()
    with pytest.raises(SwbuildError, match="SW694"):
        write_timeline(analysis, tmp_path / "dir")
    assert not (tmp_path / "dir.part").exists()
