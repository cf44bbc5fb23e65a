"""The page shows the ledger, and nothing of a short part of it takes more model time than it did."""

from __future__ import annotations

from dataclasses import replace

import pytest
from choices import read_choices
from performance import LEDGER, PAGE, PARTS, SHORT, SHORT_LEDGER, Part, page
from turns import in_turn

from swbuild.bench import BenchSettings, measure_tasks
from swbuild.bench.document import changes, read_document
from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_sources, explain
from swbuild.check.project import tasks_of
from swbuild.machine import own_machines
from swbuild.manifest.loader import load_manifest
from swbuild.manifest.resolve import resolve

#: Percent: less is no loss.
_TOLERANCE = 2


def test_the_page_shows_the_ledger() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(read_document(LEDGER), read_choices()), (
        "python tests/examples/performance.py --page"
    )


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_manifests_measure_every_example_at_one_size(part: Part) -> None:
    project = resolve(load_manifest(part.manifest), part.manifest)
    files = [source.path.name for source in project.sources]
    assert sorted(files) == sorted(path.name for path in part.manifest.parent.glob("*.c"))
    assert all(len(kernel.check.sizes) <= 1 for source in project.sources for kernel in source.kernels or ())


#: Small sizes of what has parameters, and of what has a macro.
_SIZES = {
    "contraction": {"n": 5},
    "convolution": {"images": 2, "out": 3, "in": 5, "rows": 9, "columns": 7},
    "line": {"n": 3000},
}
_MACRO = "N=20"


@pytest.mark.slow
@pytest.mark.parametrize(("part", "machine"), in_turn(PARTS[1:], own_machines()))
def test_nests_and_stencils_are_right(part: Part, machine: str) -> None:
    manifest = replace(load_manifest(part.manifest), machine=machine)
    tasks = [_small(task) for task in tasks_of(resolve(manifest, part.manifest))]
    results = check_sources(tasks, CheckSettings(modes=("late",), jobs=1))
    assert len(results) == len(tasks)
    for result in results:
        assert result.outcome is Outcome.PASS, explain(result)


def _small(task: SourceTask) -> SourceTask:
    sizes = _SIZES.get(task.path.stem.partition("-")[0])
    check = RegionCheck((sizes,) if sizes else ())
    cpp = replace(task.cpp, defines=(*task.cpp.defines, _MACRO))
    return replace(task, cpp=cpp, checks=dict.fromkeys(task.checks, check))


@pytest.mark.slow
@pytest.mark.parametrize("machine", own_machines())
def test_nothing_has_become_slower(machine: str) -> None:
    manifest = replace(load_manifest(SHORT), machine=machine)
    found = measure_tasks(tasks_of(resolve(manifest, SHORT)), BenchSettings(jobs=1))
    assert not [str(problem) for item in found for problem in item.diagnostics]
    compared = changes(read_document(SHORT_LEDGER), found)
    assert len(compared) == len(found)
    slower = {
        change.name: f"{100 * change.ratio - 100:+.1f} %"
        for change in compared
        if change.ratio > 1 + _TOLERANCE / 100
    }
    assert not slower, "what is slower on purpose is kept by: python tests/examples/performance.py --short"
