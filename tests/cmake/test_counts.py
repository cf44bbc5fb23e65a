"""How often the generator and the compilers run, counted, after every kind of change."""

from __future__ import annotations

from pathlib import Path

import pytest
from buildkit import Installation
from changes import SCENARIOS, CountedProject
from cmakekit import Configure
from fakenode import FakeNode


@pytest.mark.parametrize(
    "generator",
    [
        "Ninja",
        "Unix Makefiles",
        pytest.param("Ninja Multi-Config", marks=pytest.mark.matrix),
    ],
)
def test_counts(configured: Configure, installation: Installation, tmp_path: Path, generator: str) -> None:
    project = CountedProject(tmp_path / "source", installation, tmp_path / "package")
    node = FakeNode(tmp_path / "node", project.program)
    build = configured(
        project.folder,
        source=project.folder,
        generator=generator,
        toolchain="sw26010-pro",
        path=(node.bin,),
        SWBUILD_EXECUTABLE=str(node.swbuild),
    )
    node.clear()
    for name, change, expected in SCENARIOS:
        change(project)
        build.build(jobs=8)
        tally = node.tally()
        assert tally.numbers() == expected, f"{name}: {tally}"
        build.build(jobs=8)
        assert node.tally().numbers() == (0, 0, 0), f"built again after {name}"
