"""The same project by every way in which CMake can find the package."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from buildkit import ROOT, Installation, call
from cmakekit import ROUTES, Configure, copy_project
from pages import blocks


@pytest.mark.parametrize("route", ROUTES)
def test_a_project_builds_and_runs(configured: Configure, route: str) -> None:
    build = configured("c_host", route=route)
    build.build()
    assert build.run("app") == "sum correct\n"
    assert "no work to do" in build.build()


def test_a_vendored_copy_uses_the_program_on_path(installation: Installation, tmp_path: Path) -> None:
    """Whatever is called ``swbuild`` around the copy is somebody else's."""
    source = copy_project("c_host", tmp_path / "up" / "project")
    call([installation.program, "vendor", "cmake", source / "cmake"])
    for folder in (tmp_path, tmp_path / "up", source):
        (folder / "bin").mkdir()
        program = folder / "bin" / "swbuild"
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
    build = tmp_path / "build"
    command = ["cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={source}/cmake"]
    call(command, installation.environment())
    cache = (build / "CMakeCache.txt").read_text()
    assert f"\nSWBUILD_EXECUTABLE:FILEPATH={installation.program}\n" in cache


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_fetch_content(configured: Configure, installation: Installation, tmp_path: Path) -> None:
    """A project that has CMake fetch swbuild's sources from a repository."""
    repository = _repository(tmp_path / "swbuild-sources")
    source = copy_project("c_host", tmp_path / "source")
    (shown,) = blocks("fetch")
    assert "GIT_TAG v0.1.0" in shown.text
    lists = source / "CMakeLists.txt"
    given = shown.text.replace("https://example.org/swbuild.git", f'"file://{repository}"')
    lists.write_text(lists.read_text().replace("find_package(swbuild CONFIG REQUIRED)\n", given))
    # Without a toolchain file: one of an installed swbuild would bring its own program.
    build = configured(
        source, source=source, route="fetched", toolchain=None, SWBUILD_PYTHON=str(installation.python)
    )
    fetched = build.directory / "_deps" / "swbuild-src"
    assert (fetched / ".git").is_dir() and build.package == fetched / "cmake"
    build.build()
    assert build.run("app") == "sum correct\n"
    assert str(fetched) in Path(build.cached("SWBUILD_EXECUTABLE")).read_text(), "the fetched program ran"


def _repository(folder: Path) -> Path:
    """Make a repository of what CMake needs of swbuild's sources, with the tag ``v0.1.0``."""
    ignored = shutil.ignore_patterns("__pycache__")
    for part in ("cmake", "swbuild", "meson"):
        shutil.copytree(ROOT / part, folder / part, ignore=ignored)
    shutil.copy(ROOT / "CMakeLists.txt", folder)
    author = ("-c", "user.name=tester", "-c", "user.email=tester@example.org")
    call(["git", "init", "-q", folder])
    call(["git", "-C", folder, "add", "-A"])
    call(["git", "-C", folder, *author, "commit", "-q", "-m", "sources"])
    call(["git", "-C", folder, "tag", "v0.1.0"])
    return folder


def test_a_machine_that_the_user_adds(configured: Configure, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package's CMake files know nothing of it: swbuild tells them."""
    monkeypatch.setenv("SWBUILD_MACHINES", str(ROOT / "tests" / "machine" / "chips"))
    build = configured("c_host", SWBUILD_MACHINE="tern")
    build.build()
    assert build.run("app") == "sum correct\n"
    slave = next(build.directory.rglob("scale.slave.c"))
    assert "mesh_core.h" in slave.read_text()
