"""What the store of regions writes can be read back, and is nothing but data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swbuild.check.project import tasks_of
from swbuild.check.staged import GeneratedRegion, RegionTask, generate_region_unit
from swbuild.check.store import RegionStore
from swbuild.check.stored import from_text, to_text
from swbuild.manifest import load_manifest, resolve

EXAMPLES = Path(__file__).parents[2] / "examples"


def _tasks(manifest: Path) -> list[RegionTask]:
    tasks = tasks_of(resolve(load_manifest(manifest), manifest))
    return [
        RegionTask(
            task.path,
            request,
            task.options.get(request.name, task.default_options),
            task.checks.get(request.name, task.default_check),
            task.cpp,
        )
        for task in tasks
        for request in task.requests or ()
    ]


@pytest.mark.parametrize("name", ["polybench/sunway.yaml", "loops/sunway.yaml"])
def test_regions_survive(name: str) -> None:
    for task in _tasks(EXAMPLES / name)[:8]:
        before = generate_region_unit(task)
        after = from_text(to_text(before), GeneratedRegion)
        assert after.unit.host == before.unit.host and after.task == before.task
        assert after.slots == before.slots
        for left, right in zip(before.region.scop.statements, after.region.scop.statements, strict=True):
            assert left.domain.is_equal(right.domain) and left.body == right.body
            relations = [[access.relation for access in each.accesses] for each in (left, right)]
            assert all(one.is_equal(other) for one, other in zip(*relations, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        '{"subprocess.Popen": ["touch owned", 0]}',
        '{"os.system": "touch owned"}',
        '{"swbuild.toolchain.launch.Job": []}',
        '{"islpy._isl.Set": "{ [i"}',
        '{"islpy._isl.Set": "{ [i] }"}',
        '{"swbuild.options.Preset": "DEFAULT"}',
        '{"swbuild.check.staged.GeneratedRegion": []}',
        '{"tuple": 3}',
        '{"a": 1, "b": 2}',
        "{}",
        "[1, 2]",
        "not even JSON",
        "[" * 100_000,
    ],
)
def test_anything_else_is_refused(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"."):
        from_text(text, GeneratedRegion)
    assert not (tmp_path / "owned").exists()


def test_what_is_no_data_is_not_written() -> None:
    with pytest.raises(TypeError, match="is not data"):
        to_text({"a": print})


def test_a_file_of_the_store_that_is_not_ours_is_made_again(tmp_path: Path) -> None:
    (task, *_) = _tasks(EXAMPLES / "polybench/sunway.yaml")
    store = RegionStore(tmp_path)
    first = store.generated(task)
    file = store.directory(task) / "region.json"
    assert json.loads(file.read_text())
    file.write_text('{"os.system": "true"}')
    assert store.generated(task).unit.host == first.unit.host
    assert "os.system" not in file.read_text()
    assert list(tmp_path.rglob("*.pickle")) == []
