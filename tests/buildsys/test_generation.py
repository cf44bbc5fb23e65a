"""Several sources at a time: the same files, notes and mistakes as one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

import swbuild.workers
from swbuild.buildsys.cache import Entry
from swbuild.buildsys.generation import generate_entries
from swbuild.diagnostics import SwbuildError
from swbuild.manifest import load_text, resolve
from swbuild.pipeline import Timings

_SOURCE = """\
void {name}(int n, double x[restrict n])
{{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] = {value};
#pragma endscop
}}
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWBUILD_CACHE_DIR", str(tmp_path / "cache"))


def _entries(
    folder: Path, values: Sequence[str], jobs: int, told: list[str] | None = None
) -> tuple[Entry, ...]:
    """Return what becomes of sources that set elements to ``values``."""
    for number, value in enumerate(values):
        (folder / f"s{number}.c").write_text(_SOURCE.format(name=f"f{number}", value=value))
    manifest = "version: 1\nsources:\n" + "".join(f"  - file: s{n}.c\n" for n in range(len(values)))
    project = resolve(load_text(manifest, str(folder / "sunway.yaml")), folder / "sunway.yaml")
    tell = (lambda name: None) if told is None else told.append
    return generate_entries(project, Timings(), jobs=jobs, tell=tell)


def test_files_are_the_same_and_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    together = _entries(tmp_path, ["1.0", "2.0", "3.0"], 3, told)
    assert sorted(told) == ["s0.c", "s1.c", "s2.c"]
    monkeypatch.setenv("SWBUILD_CACHE", "off")
    alone = _entries(tmp_path, ["1.0", "2.0", "3.0"], 1)
    assert [(each.outputs, each.notes) for each in together] == [(each.outputs, each.notes) for each in alone]
    for each in together:  # a test's own process has loaded more modules
        assert any(name.endswith("swbuild/generate.py") for name in each.dependencies)


def test_mistakes_of_all_are_in_the_order_of_the_sources(tmp_path: Path) -> None:
    def mistakes(jobs: int) -> list[str]:
        with pytest.raises(SwbuildError) as caught:
            _entries(tmp_path, ["g()", "1.0", "h()", "+"], jobs)
        return [str(diagnostic) for diagnostic in caught.value.diagnostics]

    together = mistakes(4)
    assert sorted(set(_names(together))) == ["s0.c", "s2.c", "s3.c"]
    assert together == mistakes(1)


def _names(mistakes: Sequence[str]) -> Iterator[str]:
    for mistake in mistakes:
        yield from (name for name in ("s0.c", "s1.c", "s2.c", "s3.c") if name in mistake)


class _Calls:
    """Stands in for calls in processes: notes them, and has those at ``dying`` die."""

    def __init__(self, *dying: int) -> None:
        self.dying = dying
        self.made: list[int] = []

    def __call__(
        self, function: Any, calls: Sequence[Sequence[Any]], jobs: int
    ) -> Iterator[tuple[int, Future[Any]]]:
        self.made.append(len(calls))
        for number, call in enumerate(calls):
            future: Future[Any] = Future()
            if number in self.dying:
                future.set_exception(BrokenProcessPool())
            else:
                future.set_result(function(*call))
            yield number, future


def test_what_the_cache_has_needs_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swbuild.workers, "in_processes", calls := _Calls())
    first = _entries(tmp_path, ["1.0", "2.0", "3.0"], 2)
    assert _entries(tmp_path, ["1.0", "2.0", "3.0"], 2) == first
    assert calls.made == [3]
    _entries(tmp_path, ["1.0", "4.0", "5.0"], 2)
    assert calls.made == [3, 2]
    _entries(tmp_path, ["1.0", "6.0", "5.0"], 2)  # one alone is worked on here
    assert calls.made == [3, 2]


def test_sources_whose_process_dies_are_worked_on_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swbuild.workers, "in_processes", _Calls(1, 2))
    found = _entries(tmp_path, ["1.0", "2.0", "3.0"], 3)
    assert [entry.outputs[0].name for entry in found] == ["s0.host.c", "s1.host.c", "s2.host.c"]
