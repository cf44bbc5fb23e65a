"""The wheel: everything is in it, it installs, and it works away from the checkout."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from swbuild import __version__

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow

SOURCE = """\
void twice(int n, double x[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] = 2 * x[i];
#pragma endscop
}
"""


def _clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, built once for all processes of a parallel run."""
    base = tmp_path_factory.getbasetemp()
    directory = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "wheel"
    directory.mkdir(exist_ok=True)
    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return next(directory.glob("*.whl"), None) or _build(directory)


def _build(directory: Path) -> Path:
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(directory),
        str(ROOT),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=directory)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = directory.glob("*.whl")
    return path


def test_name_says_pure_python(wheel: Path) -> None:
    assert wheel.name == f"swbuild-{__version__}-py3-none-any.whl"


def test_every_file_of_the_packages_is_in_it(wheel: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "swbuild", "pytest_sw"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}
    assert wanted <= names, sorted(wanted - names)
    for part in (
        "swbuild/emulator/runtime/",
        "swbuild/emulator/include/",
        "swbuild/machine/chips/sw26010.yaml",
    ):
        assert any(name.startswith(part) for name in names)


def test_nothing_else_is_in_it(wheel: Path) -> None:
    for name in zipfile.ZipFile(wheel).namelist():
        assert "__pycache__" not in name
        top = name.split("/")[0]
        assert top in {"swbuild", "pytest_sw"} or top.startswith("swbuild-"), name


def test_metadata(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    information = f"swbuild-{__version__}.dist-info"
    metadata = archive.read(f"{information}/METADATA").decode()
    assert "Requires-Python: >=3.10" in metadata
    assert "License-Expression: MIT" in metadata
    assert "swbuild = swbuild.cli:main" in archive.read(f"{information}/entry_points.txt").decode()


def test_it_works_where_it_is_installed(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "venv"
    venv.create(place, with_pip=True, symlinks=True)
    environment = _clean_environment()
    subprocess.run(
        [place / "bin/python", "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheel],
        check=True,
        env=environment,
    )
    (site,) = place.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [place / "bin" / arguments[0], *arguments[1:]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert str(place) in run("python", "-c", "import swbuild; print(swbuild.__file__)")
    assert run("swbuild", "--version") == f"swbuild {__version__}\n"
    (tmp_path / "twice.c").write_text(SOURCE)
    assert "pass" in run("swbuild", "check", "twice.c", "-p", "n=100")
