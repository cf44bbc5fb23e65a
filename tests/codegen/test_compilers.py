"""What is generated compiles without a warning, also for the chip's closest relative."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from generation import EXAMPLES, unit_of

from swbuild.options import Distribution, KernelOptions, Machine, Preset

ROOT = Path(__file__).parents[2]
INCLUDE = ROOT / "swbuild" / "emulator" / "include"
FLAGS = ["-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", "-S", "-o", "/dev/null"]
COMPILERS = ["gcc", "clang", "alpha-linux-gnu-gcc"]
OPTIONS = [
    KernelOptions(machine=Machine.SW26010),
    KernelOptions(machine=Machine.SW26010_PRO, threads=(1, 16), distribution=Distribution.BLOCK),
    KernelOptions(machine=Machine.SW26010_PRO, preset=Preset.CLASSIC, threads=(2, 8)),
]
MACHINES = {Machine.SW26010: "26010", Machine.SW26010_PRO: "26011"}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_compiler_is_here(compiler: str) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed: nothing is compiled with it")


@pytest.mark.parametrize("example", sorted(path.stem for path in EXAMPLES.glob("*.c")))
def test_compiles_clean(tmp_path: Path, example: str) -> None:
    compilers = [compiler for compiler in COMPILERS if shutil.which(compiler)]
    for options in OPTIONS:
        unit = unit_of(example, options)
        assert unit.slave is not None
        for file in (unit.host, unit.slave, unit.header):
            (tmp_path / file.name).write_text(file.text, encoding="utf-8")
        for compiler in compilers:
            for file, role in ((unit.host, "host"), (unit.slave, "slave")):
                command = [compiler, *FLAGS, *_role(options.machine, role), file.name]
                done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
                assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


def _role(machine: Machine, role: str) -> list[str]:
    return [
        f"-D__swemu_machine={MACHINES[machine]}",
        f"-D__swemu_{role}__",
        f"-D_SIMD_{role.upper()}",
        "-include",
        str(INCLUDE / "swemu_prelude.h"),
        "-isystem",
        str(INCLUDE),
    ]
