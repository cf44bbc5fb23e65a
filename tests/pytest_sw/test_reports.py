"""Reports: JSON, page, annotations, baselines, and the summary on the terminal."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from kernels import broken_generator, prepare

from pytest_sw.baselines import FIGURES, Baselines, compare_figures
from pytest_sw.reports.annotations import github, gitlab
from pytest_sw.reports.document import document, document_text
from pytest_sw.reports.page import page

pytest_plugins = ("pytester",)

_SIZES = "{sizes: {n: [100]}}"
_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def record(**changes: Any) -> dict[str, Any]:
    found = {
        "test": "sunway.yaml::gemm[n=4-emulator]",
        "target": "emulator",
        "kernel": "gemm",
        "sizes": "n=4",
        "machine": "sw26010",
        "line": 5,
        "category": "pass",
        "outcome": "passed",
        "phase": "call",
        "message": "",
        "stages": {},
    }
    return {**found, **changes}


BAD = record(
    category="mismatch",
    outcome="failed",
    message="C differs: 100% wrong <b>here</b>\nmore",
    maps=[
        {
            "array": "C",
            "mode": "late",
            "shape": [2, 3],
            "cells": [[0.0, 1.0, 0.5], [0.0, 0.0, 0.0]],
            "mesh": [[3] + [0] * 15, *[[0] * 16] * 3],
            "nobody": 2,
        }
    ],
)
SETTINGS = {"target": ["emulator"]}


def test_a_wrong_kernel_is_shown_where_it_is_wrong(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=f"{_SIZES}\n        tile: [8]")
    pytester.makeconftest(
        broken_generator(scale=("slave", "sw_args->a;", "sw_args->a * (sw_thread == 1 ? 2.0 : 1.0);"))
    )
    result = pytester.runpytest_subprocess(
        "--sw-json=out/report.json", "--sw-html=out/report.html", "--sw-annotations=gitlab:out/quality.json"
    )
    result.stdout.fnmatch_lines(["*belongs to CPE 1 (row 0, column 1), by the transfer at scale.slave.c:*"])
    result.stdout.fnmatch_lines(
        ["1 kernel tests: 1 mismatch", "wrote out/report.json", "wrote out/report.html"]
    )
    found = json.loads((pytester.path / "out/report.json").read_text())
    (test,) = found["tests"]
    (first, *_) = test["maps"]
    assert first["shape"] == [100] and first["nobody"] == 0
    assert first["mesh"][0][1] > 0 and sum(map(sum, first["mesh"])) == first["mesh"][0][1]
    assert [len(row) for row in first["mesh"]] == [8] * 8
    assert sum(first["cells"][0]) > 0
    assert "<svg" in (pytester.path / "out/report.html").read_text()
    (issue,) = json.loads((pytester.path / "out/quality.json").read_text())
    assert issue["check_name"] == "sw.mismatch" and issue["location"]["path"] == "sunway.yaml"
    assert issue["location"]["lines"]["begin"] == 5


def test_more_data_than_the_baseline_is_a_failure(pytester: Any, monkeypatch: Any) -> None:
    prepare(pytester, monkeypatch, scale=_SIZES)
    arguments = ("--sw-dma=eager", "--sw-baseline=baseline.json")
    result = pytester.runpytest_subprocess(*arguments, "--sw-update-baseline")
    result.stdout.fnmatch_lines(["wrote baseline.json (1 tests)"])
    pytester.runpytest_subprocess(*arguments).assert_outcomes(passed=1)
    path = pytester.path / "baseline.json"
    figures = json.loads(path.read_text())["tests"]["sunway.yaml::scale[n=100]"]
    assert set(figures) == set(FIGURES)
    assert figures["dma_bytes"] > 0 and figures["spawns"] == 1
    # Reading 1600 bytes takes more than this many cycles whatever the compiler does.
    assert figures["model_cycles"] > 500
    stored = json.loads(path.read_text())
    for figure in ("dma_bytes", "model_cycles"):
        stored["tests"]["sunway.yaml::scale[n=100]"][figure] -= 8
    path.write_text(json.dumps(stored))
    result = pytester.runpytest_subprocess(*arguments)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*bytes by DMA: * -> * (+*)", "*cycles of model time: * -> * (+*)", "*--sw-update-baseline*"]
    )
    result.stdout.fnmatch_lines(["*1 performance*"])


def test_figures_of_another_compiler_are_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    figures = {"spawns": 1, "model_cycles": 5, "ldm_bytes": 80}
    Baselines(path, "gcc 12").update({"a": figures})
    assert Baselines(path, "gcc 12").tests == {"a": figures}
    other = Baselines(path, "gcc 13")
    assert other.tests == {"a": {"spawns": 1}}
    other.update({"b": {"model_cycles": 7}})
    assert Baselines(path, "gcc 13").tests == {"a": {"spawns": 1}, "b": {"model_cycles": 7}}
    assert Baselines(path, "gcc 12").tests == {"a": {"spawns": 1}, "b": {}}


def test_figures_are_compared_one_by_one() -> None:
    stored = {"dma_bytes": 1000, "dma_operations": 10, "spawns": 1}
    assert compare_figures(stored, dict(stored)) == []
    assert compare_figures(stored, {**stored, "dma_bytes": 900}) == []
    assert compare_figures({}, stored) == []
    lines = compare_figures(stored, {"dma_bytes": 1500, "dma_operations": 30, "spawns": 1})
    assert lines == [
        "bytes by DMA: 1,000 -> 1,500 (+50.0 %)",
        "DMA operations: 10 -> 30 (+200.0 %)",
        "a transfer carries 50 bytes on average, it was 100",
    ]


def test_a_file_that_is_no_baseline_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text('{"tests": {}}')
    with pytest.raises(ValueError, match="no baseline"):
        Baselines(path, "gcc")


def test_the_document_is_json_whatever_the_numbers() -> None:
    found = document([record(max_rel=float("inf"), seconds=float("nan"))], SETTINGS)
    read = json.loads(document_text(found))
    assert read["tests"][0]["max_rel"] == "inf" and read["categories"] == {"pass": 1}


def test_workflow_commands_are_escaped() -> None:
    (line,) = github([record(), BAD]).splitlines()
    assert line.startswith(
        "::error file=sunway.yaml,line=5,title=gemm on emulator%3A mismatch::C differs: 100%25"
    )
    assert line.endswith("%0Amore")
    assert json.loads(gitlab([record()])) == []


class _Checker(HTMLParser):
    """Sees that every tag is closed and that nothing comes from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag != "script" and not {"src", "href"} & {name for name, _ in attrs}
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_stands_alone() -> None:
    other = record(
        target="node", category="job-lost", outcome="error", log="/jobs/000", jobid="17", message="lost"
    )
    text = page(document([BAD, other], SETTINGS))
    checker = _Checker()
    checker.feed(text)
    assert not checker.open
    assert "&lt;b&gt;here" in text and "<b>here" not in text
    assert "Different on different targets" in text
    assert "2 put by nobody" in text and ">17<" in text
    drawing = re.search(r"<svg.*?</svg>", text)
    assert drawing is not None
    colours = [rect.get("fill") for rect in ET.fromstring(drawing[0])]
    assert colours[0] == "#fff" and colours[1] == "#c0341d" and colours[2] not in colours[:2]


def test_expected_failures_are_told_from_others() -> None:
    text = page(document([BAD, {**BAD, "outcome": "xfailed"}, record(outcome="xpassed")], SETTINGS))
    for verdict in ("mismatch", "mismatch, as expected", "pass, not expected"):
        assert f"<b>1</b>{verdict}</div>" in text


@pytest.mark.skipif(_CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_draws_the_page(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(page(document([{**BAD, "message": "wrong"}], SETTINGS)))
    command = [str(_CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--window-size=420,640"]
    command += [
        f"--user-data-dir={tmp_path}/user",
        f"--screenshot={tmp_path}/page.png",
        f"file://{tmp_path}/page.html",
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    picture = (tmp_path / "page.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert bytes((192, 52, 29)) in _pixels(picture, zlib.decompress)


def _pixels(picture: bytes, inflate: Callable[[bytes], bytes]) -> bytes:
    """Return the red, green and blue bytes of a PNG picture."""
    data, at = b"", 8
    while at < len(picture):
        size = int.from_bytes(picture[at : at + 4], "big")
        if picture[at + 4 : at + 8] == b"IDAT":
            data += picture[at + 8 : at + 8 + size]
        at += size + 12
    width, depth = int.from_bytes(picture[16:20], "big"), {2: 3, 6: 4}[picture[25]]
    raw, pitch = inflate(data), width * depth + 1
    above, rows = bytearray(pitch - 1), bytearray()
    for start in range(0, len(raw), pitch):
        above = _row(raw[start], bytearray(raw[start + 1 : start + pitch]), above, depth)
        rows += above
    return bytes(rows) if depth == 3 else bytes(byte for i, byte in enumerate(rows) if i % 4 != 3)


def _row(kind: int, row: bytearray, above: bytearray, depth: int) -> bytearray:
    """Return a row of pixels with PNG's filter undone."""
    for i in range(len(row)):
        left = row[i - depth] if i >= depth else 0
        corner = above[i - depth] if i >= depth else 0
        near = min((left, above[i], corner), key=lambda value: abs(left + above[i] - corner - value))
        row[i] = (row[i] + (0, left, above[i], (left + above[i]) // 2, near)[kind]) & 255
    return row
