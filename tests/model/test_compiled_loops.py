"""The model of compiled C: loops with listings, a register tile, and no dependence on the emulating box."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from swbuild.emulator import environment
from swbuild.emulator.driver.counting import RUNNING, costed
from swbuild.emulator.model import calibration, compiled_loops
from swbuild.emulator.model.costs import block_costs
from swbuild.emulator.model.flow import read_blocks
from swbuild.emulator.model.profile import read_profile
from swbuild.machine import load

OLD = load("sw26010")
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


def test_streams_vector_loops_take_the_measured_cycles() -> None:
    rows = calibration.compute_rows(OLD)
    assert len(rows) == 3 and all(abs(row.error) <= 0.10 for row in rows)


def test_loops_of_c_take_what_the_vendors_compiler_says_of_them() -> None:
    rows = calibration.compiled_rows(OLD)
    assert len(rows) == 15 and median(abs(row.error) for row in rows) <= 0.25


@needs_gcc
def test_the_stored_code_of_the_loops_is_what_the_compiler_makes(tmp_path: Path) -> None:
    """Another version of gcc may order it otherwise; the cycles stay near."""
    source = Path(compiled_loops.__file__).parent / "measured" / "loops.c"
    flags = ["-O2", "-ffp-contract=off", "-Wno-psabi"]
    texts = []
    for more in (RUNNING, costed("gcc")):
        subprocess.run(["gcc", *flags, *more, "-o", "l.s", source], cwd=tmp_path, check=True)
        texts.append((tmp_path / "l.s").read_text(encoding="latin-1"))
    running, model = (read_blocks(text, 32) for text in texts)
    costs = block_costs(running, model, OLD)
    found = {name: cost.cycles for name, cost in loops(running, costs)}
    assert not any(cost.own for cost in costs)
    for loop in compiled_loops.loops():
        assert found[loop.name] == pytest.approx(compiled_loops.turn(loop.name, OLD), rel=0.15), loop.name


def loops(running: list, costs: list) -> Iterator[tuple[str, object]]:  # type: ignore[type-arg]
    name = ""
    for block, cost in zip(running, costs, strict=True):
        name = next((label for label in block.labels if not label.startswith(".L")), name)
        if block.loops:
            yield name, cost


TILE = """\
#include <slave.h>
#include <simd.h>
__thread_local double a[LANES * 64] __attribute__((aligned(64))), b[64];
__thread_local double c[LANES * 16] __attribute__((aligned(64)));
#define ROW(i) simd_load(a##i, a + LANES * (4 * k + i)); simd_loade(b##i, b + 4 * k + i);
#define SUM(i, j) c##i##j = simd_vmad(a##i, b##j, c##i##j);
#define SUMS(i) SUM(i, 0) SUM(i, 1) SUM(i, 2) SUM(i, 3)
#define PUT(i, j) simd_store(c##i##j, c + LANES * (4 * i + j));
#define PUTS(i) PUT(i, 0) PUT(i, 1) PUT(i, 2) PUT(i, 3)
void tile(int *turns)
{
    VECTOR z = {0}, a0, a1, a2, a3, b0, b1, b2, b3, c00 = z, c01 = z, c02 = z, c03 = z;
    VECTOR c10 = z, c11 = z, c12 = z, c13 = z, c20 = z, c21 = z, c22 = z, c23 = z;
    VECTOR c30 = z, c31 = z, c32 = z, c33 = z;
    int n = *turns;
    for (int k = 0; k < n; k++) {
        ROW(0) ROW(1) ROW(2) ROW(3) SUMS(0) SUMS(1) SUMS(2) SUMS(3)
    }
    PUTS(0) PUTS(1) PUTS(2) PUTS(3)
}
double scalar(const double *x, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i] > 1 ? sqrt(x[i]) : floor(x[i]) + exp(x[i]);
    return s;
}
"""
HOST = """\
#include <athread.h>
extern void SLAVE_FUN(tile)(int *);
int turns = 16;
int main(void) { athread_init(); athread_spawn(tile, &turns); athread_join(); athread_halt(); return 0; }
"""


def built(folder: Path, machine: str, compiler: str = "gcc") -> dict[str, str]:
    """Compile the tile; return the environment in which its program can be linked and run."""
    wide = machine == "sw26010-pro"
    settings = {"SWBUILD_EMU_COUNTED_CODE": "1", "SWBUILD_EMU_CHECKED_CODE": "0", "SWBUILD_EMU_CC": compiler}
    variables = environment(machine, os.environ | settings)
    (folder / "slave.c").write_text(TILE, encoding="utf-8")
    (folder / "host.c").write_text(HOST, encoding="utf-8")
    shape = f"-DLANES={8 if wide else 4} -DVECTOR=doublev{8 if wide else 4}"
    command = f"{'swgcc -mslave' if wide else 'sw5cc -slave'} -msimd -O2 {shape} -c slave.c"
    subprocess.run(command.split(), cwd=folder, env=variables, check=True)
    return variables


@needs_gcc
@pytest.mark.slow
@pytest.mark.parametrize(("machine", "least", "most"), [("sw26010", 16, 20), ("sw26010-pro", 16, 24)])
def test_a_register_tile_in_c_takes_nearly_what_its_multiply_adds_take(
    machine: str, least: float, most: float, tmp_path: Path
) -> None:
    variables = built(tmp_path, machine)
    compiler, role = ("swgcc", "-m") if machine == "sw26010-pro" else ("sw5cc", "-")
    for words in (f"{compiler} {role}host -c host.c", f"{compiler} {role}hybrid host.o slave.o -o app"):
        subprocess.run(words.split(), cwd=tmp_path, env=variables, check=True)
    more = {"SWBUILD_EMU_COUNTERS": "p.json", "SWBUILD_EMU_MODEL": "p.json.model"}
    subprocess.run([tmp_path / "app"], cwd=tmp_path, env=variables | more, check=True)
    lines = [line for line in read_profile(tmp_path / "p.json").lines if line.file.endswith("slave.c")]
    turns = [line for line in lines if line.passes == 64 * 16]
    assert least <= sum(line.cycles for line in turns) / (64 * 16) <= most
    assert not any(line.own for line in lines)


def table(folder: Path) -> bytes:
    """Return the lines and costs of all blocks in the counted version of ``slave.o``."""
    for section, source, target in (
        (".swbuild.counted", "slave.o", "counted.o"),
        (".data.rel.ro.local", "counted.o", "table"),
    ):
        words = ["objcopy", "--dump-section", f"{section}={target}", source]
        subprocess.run(words, cwd=folder, check=True)
    return (folder / "table").read_bytes()


def blocks(table: bytes) -> range:
    return range(0, len(table), 16)


@needs_gcc
@pytest.mark.slow
def test_costs_do_not_depend_on_the_vector_unit_of_the_box(tmp_path: Path) -> None:
    found = {}
    for machine in ("sw26010", "sw26010-pro"):
        for option in (
            "",
            "-mavx2",
            "-mno-avx",
            "-march=x86-64-v3",
            "-mavx512f -mavx512vl -mfma",
            "-mtune=znver3",
        ):
            folder = tmp_path / f"{machine}{option}".replace(" ", "")
            folder.mkdir()
            wrapper = folder / "gcc"
            wrapper.write_text(f'#!/bin/sh\nexec gcc {option} "$@"\n', encoding="utf-8")
            wrapper.chmod(0o755)
            built(folder, machine, str(wrapper))
            found[machine, option] = table(folder)
        assert len(found[machine, ""]) > 16 * 10
        lines = [
            int.from_bytes(found[machine, ""][at + 8 : at + 12], "little")
            for at in blocks(found[machine, ""])
        ]
        assert max(lines) < 1 << 31  # no function goes other ways in the two
        assert len({costs for (of, _), costs in found.items() if of == machine}) == 1
    assert found["sw26010", ""] != found["sw26010-pro", ""]
