"""The example packages: an sdist, a wheel built from it in isolation, its tests in a clean environment."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from buildkit import ROOT, Installation, call

pytestmark = pytest.mark.matrix


@pytest.mark.parametrize("example", ["pep517_cmake", "pep517_meson"])
def test_from_sdist_to_tests(example: str, installation: Installation, tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT / "examples" / example, source, ignore=shutil.ignore_patterns("build", ".mesonpy*"))
    wheels = installation.prefix.parent / "wheels"
    environment = installation.environment(PIP_FIND_LINKS=str(wheels))
    # meson-python takes the files that version control knows.
    call(["git", "init", "-q"], directory=source)
    call(["git", "add", "-A"], directory=source)
    author = ["-c", "user.name=tester", "-c", "user.email=tester@example.org"]
    call(["git", *author, "commit", "-qm", "example"], directory=source)
    call([sys.executable, "-m", "build", "--outdir", tmp_path / "dist", source], environment)
    (built,) = (tmp_path / "dist").glob("*.whl")
    clean = tmp_path / "clean"
    call([sys.executable, "-m", "venv", clean])
    call([clean / "bin" / "pip", "install", "-q", "--disable-pip-version-check", built, "pytest"])
    tests = tmp_path / "tests"
    shutil.copytree(source / "tests", tests)
    printed = call([clean / "bin" / "python", "-m", "pytest", "-q", tests], directory=tmp_path).stdout
    assert "10 passed" in printed
