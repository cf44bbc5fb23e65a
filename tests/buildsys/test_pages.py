"""What the pages on building show is what the examples hold, and what they run works."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from buildkit import ROOT, Installation, call
from pages import Block, blocks

from swbuild.buildsys.mesonfiles import machine_file
from swbuild.toolchain import Target


@pytest.mark.parametrize("block", [*blocks("file"), *blocks("part")], ids=str)
def test_files_are_shown_as_they_are(block: Block) -> None:
    text = (ROOT / block.what).read_text(encoding="utf-8")
    assert block.text == text if block.kind == "file" else block.text in text


@pytest.mark.parametrize("block", list(blocks("machine file")), ids=str)
def test_machine_files_are_shown_as_they_are(block: Block) -> None:
    assert block.text == machine_file(Target.NODE, block.what)


@pytest.mark.parametrize("block", list(blocks("run")), ids=str)
def test_commands_work(block: Block, installation: Installation, tmp_path: Path) -> None:
    tools = Path(sys.executable).parent
    if "meson" in block.text and not (tools / "meson").exists() and shutil.which("meson") is None:
        pytest.skip("meson is not installed")
    project = tmp_path / "project"
    shutil.copytree(ROOT / block.what, project, ignore=shutil.ignore_patterns("build"))
    environment = installation.environment()
    environment["PATH"] += f"{os.pathsep}{tools}"
    call(["bash", "-euxc", block.text], environment, project)


@pytest.mark.parametrize("example", ["meson", "pep517_meson"])
def test_the_examples_rules_are_fresh(example: str, installation: Installation, tmp_path: Path) -> None:
    folder = ROOT / "examples" / example
    project = tmp_path / "project"
    shutil.copytree(folder, project, ignore=shutil.ignore_patterns("build"))
    call([installation.program, "init", "meson", "sunway.yaml"], installation.environment(), project)
    for path in ("sunway/meson.build", "subprojects/swbuild/meson.build", "subprojects/swbuild/VERSION"):
        assert (project / path).read_text() == (folder / path).read_text(), f"{path}: run swbuild init meson"


def test_one_version(installation: Installation) -> None:
    """The wheel, the CMake package and the Meson subproject say what ``swbuild --version`` says."""
    said = call([installation.program, "--version"]).stdout.split()[-1]
    wheel = next(installation.prefix.parent.glob("wheels/swbuild-*.whl")).name.split("-")[1]
    package = (installation.prefix / "share/cmake/swbuild/swbuildVersion.cmake").read_text()
    subproject = (ROOT / "examples/meson/subprojects/swbuild/VERSION").read_text().strip()
    assert said == wheel == subproject
    assert f'"{said}"' in package
