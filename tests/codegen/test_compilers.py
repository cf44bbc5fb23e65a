"""What is generated compiles without a warning, also for the chip's closest relative."""

from __future__ import annotations

import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest
from generation import EXAMPLES, unit_of

from swbuild.frontend import CppOptions, read_source
from swbuild.generate import generate_unit
from swbuild.machine import load
from swbuild.options import Distribution, KernelOptions, Preset

ROOT = Path(__file__).parents[2]
INCLUDE = ROOT / "swbuild" / "emulator" / "include"
#: clang does not look into asm: it knows no instruction of the chip
OF_COMPILER = {"clang": ["-no-integrated-as"]}
FLAGS = ["-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", "-S", "-o", "/dev/null"]
COMPILERS = ["gcc", "clang", "alpha-linux-gnu-gcc"]
OPTIONS = [
    KernelOptions(machine="sw26010"),
    KernelOptions(machine="sw26010-pro", threads=(1, 16), distribution=Distribution.BLOCK),
    KernelOptions(machine="sw26010-pro", preset=Preset.CLASSIC, threads=(2, 8)),
]


ALL = sorted(path.stem for path in EXAMPLES.glob("*.c"))


def _in_turn() -> list[object]:
    """Return all examples with all options and compilers: of those of each example, one is in every run."""
    found: list[object] = []
    for number, (example, o, c) in enumerate(product(ALL, range(len(OPTIONS)), range(len(COMPILERS)))):
        often = number % 9 == number // 9 % 9
        marks = () if often else pytest.mark.matrix
        name = f"{example}-{o}-{COMPILERS[c]}"
        found.append(pytest.param(example, OPTIONS[o], COMPILERS[c], marks=marks, id=name))
    return found


@pytest.mark.parametrize(("example", "options", "compiler"), _in_turn())
def test_compiles_clean(tmp_path: Path, example: str, options: KernelOptions, compiler: str) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    unit = unit_of(example, options)
    if unit.slave is None:
        assert (example, options.preset) == ("seidel-2d", Preset.CLASSIC)  # there are no wavefronts in it
        return
    for file in (unit.host, unit.slave, unit.header):
        (tmp_path / file.name).write_text(file.text, encoding="utf-8")
    for file, role in ((unit.host, "host"), (unit.slave, "slave")):
        command = [compiler, *OF_COMPILER.get(compiler, ()), *FLAGS, *_role(options.machine, role), file.name]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


SHARED = """\
void f(int n, int m, double A[restrict n][m], double *restrict B)
{
  int i, j, place, unset = 3;
  const int row = m;
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++) {
      place = i * row + j;
      unset = place;
      B[place] = A[i][j];
    }
#pragma endscop
#pragma scop
  for (i = 0; i < n; i++)
    A[i][0] = 2.0;
#pragma endscop
}
"""


def test_variables_that_only_regions_name_are_no_unused_ones(tmp_path: Path) -> None:
    source = tmp_path / "shared.c"
    source.write_text(SHARED)
    model = read_source(source, CppOptions(), None)
    unit = generate_unit(model, {})
    assert len(unit.regions) == 2 and all(region.kernels for region in unit.regions)
    for file in (unit.host, unit.header):
        (tmp_path / file.name).write_text(file.text, encoding="utf-8")
    command = ["gcc", *FLAGS, *_role("sw26010", "host"), unit.host.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _role(machine: str, role: str) -> list[str]:
    return [
        f"-D__swemu_vector_bytes={load(machine).simd.register_bytes}",
        *(["-D__swemu_crts__"] if "crts" in load(machine).features else []),
        f"-D__swemu_{role}__",
        f"-D_SIMD_{role.upper()}",
        "-include",
        str(INCLUDE / "swemu_prelude.h"),
        "-isystem",
        str(INCLUDE),
    ]
