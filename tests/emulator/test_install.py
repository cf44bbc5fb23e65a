"""The emulator's place in the user's cache: one runtime for all environments, scripts for each."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from swbuild.emulator import install

BUILT: list[str] = []


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build_runtime(library: Path, machine: str, kind: str) -> None:
        BUILT.append(f"{machine} {kind}")
        library.touch()

    BUILT.clear()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(install, "build_runtime", build_runtime)


def _script(folder: Path) -> list[str]:
    return (folder / "sw5cc").read_text().splitlines()[1].split()


def _home(folder: Path) -> Path:
    words = _script(folder)
    return Path(words[words.index("--home") + 1])


def test_environments_share_the_runtime_and_have_their_own_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    first = install.toolchain_dir("sw26010")
    monkeypatch.setattr(sys, "executable", "/other/bin/python")
    second = install.toolchain_dir("sw26010")
    assert first != second
    assert len(BUILT) == 6, "each of three kinds for two machines, once"
    assert _script(second)[1] == "/other/bin/python" != _script(first)[1]
    assert _home(first) == _home(second)
    assert (_home(first) / "lib" / "libswemu-sw26010-checked.a").is_file()
    assert all(Path(word).exists() for word in _script(first) if word.startswith("/"))


def test_another_copy_of_the_same_sources_shares_the_runtime(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = install.toolchain_dir("sw26010")
    _elsewhere(monkeypatch, tmp_path)
    second = install.toolchain_dir("sw26010")
    assert first != second and _home(first) == _home(second) and len(BUILT) == 6


@pytest.mark.parametrize("changed", ["runtime/dma.c", "model/swb_count.c", "../machine/chips/sw26010.yaml"])
def test_changed_sources_make_another_runtime(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changed: str
) -> None:
    first = install.toolchain_dir("sw26010")
    here = _elsewhere(monkeypatch, tmp_path)
    with (here / changed).open("a") as stream:
        stream.write("\n")
    assert _home(install.toolchain_dir("sw26010")) != _home(first)
    assert len(BUILT) == (9 if "chips" in changed else 12), "a machine's file concerns that machine"


def test_a_changed_driver_makes_other_scripts_for_the_same_runtime(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = _elsewhere(monkeypatch, tmp_path)
    first = install.toolchain_dir("sw26010")
    with (here / "driver" / "link.py").open("a") as stream:
        stream.write("\n")
    second = install.toolchain_dir("sw26010")
    assert first != second and len(BUILT) == 6
    assert Path(second.parents[1], "driver", "link.py").read_text().endswith("\n\n")


def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let swbuild lie in another place, with the same content."""
    here = tmp_path / "elsewhere" / "emulator"
    shutil.copytree(install._HERE, here)
    shutil.copytree(install._HERE.parent / "machine", here.parent / "machine")
    monkeypatch.setattr(install, "_HERE", here)
    chips = here.parent / "machine" / "chips"
    monkeypatch.setattr(install, "machine_file", lambda machine: chips / f"{machine}.yaml")
    return here
