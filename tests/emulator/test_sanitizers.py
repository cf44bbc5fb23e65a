"""The runtime under the sanitizers, on the example programs, in every completion mode."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from emulator_programs import call, environment_for
from turns import in_turn

from swbuild.emulator.install import build_runtime

EXAMPLES = Path(__file__).parents[2] / "examples" / "athread"
ROOT = Path(__file__).parents[2]
PROGRAMS = {
    "regcomm-gemm": ("sw26010", "gemm"),
    "rma-gemm": ("sw26010-pro", "gemm"),
    "histogram": ("sw26010", "histogram"),
}
SANITIZERS = ("address,undefined", "thread")
FLAGS = ("-DSWEMU_SANITIZED", "-Wno-unused-function", "-g")
#: A gcc that links with a sanitizer; what it only compiles is not instrumented.
LINKER = """\
#!/bin/sh
for word in "$@"; do case "$word" in -c|-S|-E) exec {compiler} "$@" ;; esac; done
exec {compiler} -fsanitize={sanitizer} "$@"
"""


def runtime(machine: str, sanitizer: str, folder: Path) -> Path:
    """Build the runtime with a sanitizer."""
    library = folder / f"{machine}-{sanitizer.partition(',')[0]}.a"
    build_runtime(library, machine, "fast", [f"-fsanitize={sanitizer}", *FLAGS])
    return library


@pytest.mark.slow
@pytest.mark.parametrize(("name", "sanitizer"), in_turn([*PROGRAMS], [*SANITIZERS]))
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


def linkers(sanitizer: str, folder: Path) -> dict[str, str]:
    """Return settings that make every link of the stand-ins one with a sanitizer."""
    found = {}
    for variable, compiler in (("SWBUILD_EMU_CC", "gcc"), ("SWBUILD_EMU_CXX", "g++")):
        path = folder / f"sanitizing-{compiler}"
        path.write_text(LINKER.format(compiler=compiler, sanitizer=sanitizer))
        path.chmod(0o755)
        found[variable] = str(path)
    return found


@pytest.mark.matrix
@pytest.mark.parametrize("sanitizer", SANITIZERS)
@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_nothing_to_report_of_generated_kernels(machine: str, sanitizer: str, tmp_path: Path) -> None:
    settings = {
        "SWBUILD_EMU_RUNTIME": str(runtime(machine, sanitizer, tmp_path)),
        "SWBUILD_EMU_CHECKED_CODE": "0",
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONPATH": str(ROOT),
        **linkers(sanitizer, tmp_path),
    }
    words = [sys.executable, "-m", "swbuild", "check", "examples/polybench/sunway.yaml", "--machine", machine]
    words += ["--dma", "eager", "--dma", "late", "--dma", "random:1", "-q", "--timeout", "300"]
    done = call(words, ROOT, environment_for(machine, **settings), limit=3000)
    assert done.status == 0, (done.out, done.err)
    assert "Sanitizer" not in done.out + done.err
    assert "runtime error" not in done.out + done.err


@pytest.mark.matrix
@pytest.mark.skipif(not shutil.which("mpirun"), reason="needs an MPI")
@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_nothing_to_report_of_ranks(sanitizer: str, tmp_path: Path) -> None:
    machine = "sw26010"
    shutil.copytree(EXAMPLES / "halo-stencil", tmp_path, dirs_exist_ok=True)
    settings = {
        "SWBUILD_EMU_RUNTIME": str(runtime(machine, sanitizer, tmp_path)),
        "SWBUILD_EMU_CHECKED_CODE": "0",
        "ASAN_OPTIONS": "detect_leaks=0",
        "TSAN_OPTIONS": "ignore_noninstrumented_modules=1",
        **linkers(sanitizer, tmp_path),
    }
    environment = environment_for(machine, **settings)
    assert call(["make"], tmp_path, environment).status == 0
    for mode in ("eager", "late", "random:1"):
        words = ["bsub", "-I", "-b", "-q", "q", "-n", "2", "-cgsp", "64", "./stencil"]
        done = call(words, tmp_path, {**environment, "SWBUILD_EMU_DMA": mode}, limit=300)
        assert done.status == 0, (mode, done.out, done.err)
        assert "Sanitizer" not in done.err
        assert " 0 wrong" in done.out
