"""Programs close to the pitfalls that are correct: they compute what they should, and no mode complains.

The first line of a program names its machines: ``// machine sw26010 sw26010-pro``.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from emulator_programs import build, launch

HERE = Path(__file__).parent
PROGRAMS = sorted((HERE / "correct").glob("*.c"))
MODES = ("eager", "late", *(f"random:{seed}" for seed in range(1, 6)), "checked")


def cases() -> list[tuple[str, str]]:
    found = []
    for path in PROGRAMS:
        first = path.read_text().splitlines()[0]
        assert first.startswith("// machine "), path
        found += [(path.name, machine) for machine in first.split()[2:]]
    return found


@pytest.mark.parametrize(("name", "machine"), cases())
def test_silent_in_every_mode(name: str, machine: str, tmp_path: Path) -> None:
    shutil.copy(HERE / "pitfalls" / "pitfall.h", tmp_path)
    shutil.copy(HERE / "correct" / name, tmp_path)
    done = build(machine, tmp_path / name, tmp_path)
    assert (done.status, done.err) == (0, "")
    for mode in MODES:
        done = launch(machine, tmp_path, mode)
        assert (done.status, done.out, done.err) == (0, "", ""), (mode, done)
    done = launch(machine, tmp_path, "random:9", SWBUILD_EMU_CHECKED="1")
    assert (done.status, done.out, done.err) == (0, "", "")
