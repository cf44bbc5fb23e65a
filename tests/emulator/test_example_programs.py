"""The hand-written programs of examples/athread are right whatever order transfers complete in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from emulator_programs import Outcome, call, environment_for

EXAMPLES = Path(__file__).parents[2] / "examples" / "athread"
PROGRAMS = {
    "regcomm-gemm": ("sw26010", "gemm"),
    "rma-gemm": ("sw26010-pro", "gemm"),
    "histogram": ("sw26010", "histogram"),
    "halo-stencil": ("sw26010", "stencil"),
}
MODES = ("eager", "late", *(f"random:{seed}" for seed in range(1, 21)))


@pytest.fixture(scope="module", params=PROGRAMS)
def program(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str, str]:
    """Build one example with its own Makefile; return its folder, machine and executable."""
    name = str(request.param)
    machine, executable = PROGRAMS[name]
    if name == "halo-stencil" and not shutil.which("mpirun"):
        pytest.skip("no MPI here")
    folder = tmp_path_factory.mktemp(name)
    shutil.copytree(EXAMPLES / name, folder, dirs_exist_ok=True)
    done = call(["make"], folder, environment_for(machine))
    assert done.status == 0, done.err
    assert "warning" not in done.err
    return folder, machine, executable


def start(program: tuple[Path, str, str], **settings: str) -> Outcome:
    folder, machine, executable = program
    return call([f"./{executable}"], folder, environment_for(machine, **settings))


def test_right_in_every_mode(program: tuple[Path, str, str]) -> None:
    for mode in MODES:
        done = start(program, SWBUILD_EMU_DMA=mode)
        assert done.status == 0, (mode, done)
        assert " 0 wrong" in done.out


def test_nothing_to_say_in_checked_mode(program: tuple[Path, str, str]) -> None:
    for mode in ("late", "random:5"):
        done = start(program, SWBUILD_EMU_CHECKED="1", SWBUILD_EMU_DMA=mode)
        assert done.status == 0, done
        assert "SW6" not in done.err


@pytest.mark.skipif(not shutil.which("mpirun"), reason="no MPI here")
def test_ranks_have_a_core_group_each(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "halo-stencil", tmp_path, dirs_exist_ok=True)
    environment = environment_for("sw26010")
    assert call(["make"], tmp_path, environment).status == 0
    done = call(
        ["bsub", "-I", "-b", "-q", "any", "-n", "3", "-cgsp", "64", "./stencil"], tmp_path, environment
    )
    assert "stencil on 3 ranks: 0 wrong" in done.out, done
    assert done.status == 0
