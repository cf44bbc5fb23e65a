"""The example packages: libraries that Python loads, and wheels built in isolation from sdists."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from buildkit import ROOT, Installation, call
from cmakekit import Configure
from pages import blocks


def test_a_library_of_kernels_is_loaded(configured: Configure, tmp_path: Path) -> None:
    """What the packages rest on, without the tools for packages."""
    source = tmp_path / "source"
    shutil.copytree(ROOT / "examples" / "pep517_cmake", source, ignore=shutil.ignore_patterns("build"))
    build = configured(source, source=source, SKBUILD_PROJECT_NAME="heat")
    build.build()
    shutil.copytree(source / "src" / "heat", tmp_path / "installed" / "heat")
    call([build.cmake, "--install", build.directory, "--prefix", tmp_path / "installed"], build.environment)
    environment = {**build.environment, "PYTHONPATH": str(tmp_path / "installed")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", source / "tests"]
    assert "10 passed" in call(command, environment, tmp_path).stdout


@pytest.mark.matrix
@pytest.mark.parametrize("example", ["pep517_cmake", "pep517_meson"])
def test_from_sdist_to_tests(example: str, installation: Installation, tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT / "examples" / example, source, ignore=shutil.ignore_patterns("build", ".mesonpy*"))
    environment = installation.environment()
    # meson-python takes the files that version control knows.
    call(["git", "init", "-q"], directory=source)
    call(["git", "add", "-A"], directory=source)
    author = ["-c", "user.name=tester", "-c", "user.email=tester@example.org"]
    call(["git", *author, "commit", "-qm", "example"], directory=source)
    (shown,) = blocks("isolated")
    assert f"examples/{example}" in shown.what.split(", ")
    (wheels,) = blocks("wheels")
    script = wheels.text.replace("/path/to/swbuild", str(ROOT)) + shown.text
    printed = call(["bash", "-exc", script], environment, source).stdout
    assert "Creating isolated environment" in printed and "10 passed" in printed
