"""The runtime under the sanitizers, on the example programs, in every completion mode."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from emulator_programs import call, environment_for

from swbuild.emulator.install import build_runtime

EXAMPLES = Path(__file__).parents[2] / "examples" / "athread"
PROGRAMS = {
    "regcomm-gemm": ("sw26010", "gemm"),
    "rma-gemm": ("sw26010-pro", "gemm"),
    "histogram": ("sw26010", "histogram"),
}
SANITIZERS = ("address,undefined", "thread")
FLAGS = ("-DSWEMU_SANITIZED", "-Wno-unused-function", "-g")


def runtime(machine: str, sanitizer: str, folder: Path) -> Path:
    """Build the runtime with a sanitizer."""
    library = folder / f"{machine}-{sanitizer.partition(',')[0]}.a"
    build_runtime(library, machine, "fast", [f"-fsanitize={sanitizer}", *FLAGS])
    return library


@pytest.mark.slow
@pytest.mark.parametrize("sanitizer", SANITIZERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_to_report(name: str, sanitizer: str, tmp_path: Path) -> None:
    machine, program = PROGRAMS[name]
    shutil.copytree(EXAMPLES / name, tmp_path, dirs_exist_ok=True)
    library = runtime(machine, sanitizer, tmp_path)
    settings = {"SWBUILD_EMU_RUNTIME": str(library), "ASAN_OPTIONS": "detect_leaks=0"}
    environment = environment_for(machine, **settings)
    assert call(["make", "host.o", "slave.o"], tmp_path, environment).status == 0
    words = ["swcc" if machine == "sw26010" else "swgcc", "-hybrid", f"-fsanitize={sanitizer}"]
    done = call([*words, "host.o", "slave.o", "-o", program], tmp_path, environment)
    assert done.status == 0, done.err
    for mode in ("eager", "late", "random:1"):
        counters = os.fspath(tmp_path / "counts.json")
        done = call(
            [f"./{program}"],
            tmp_path,
            {**environment, "SWBUILD_EMU_DMA": mode, "SWBUILD_EMU_COUNTERS": counters},
        )
        assert (done.status, done.err) == (0, ""), (mode, done.err)
        assert " 0 wrong" in done.out
