"""Coverage end to end: computed figures are those of the emulator, and rare faults are found."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from swbuild.check import CheckSettings, Outcome, RegionCheck, RegionResult, explain, remarks
from swbuild.check.evidence import case_arguments, plan_case, prepare_case
from swbuild.check.kernel import UnitCheck, check_region
from swbuild.check.ownership import NOBODY, read_addresses, read_owners, trace_environment
from swbuild.check.staged import RegionTask, build_offloaded, generate_region_unit
from swbuild.check.work import Work
from swbuild.frontend import CppOptions, RegionRequest, read_source
from swbuild.generate import generate_unit
from swbuild.options import Distribution, KernelOptions
from swbuild.toolchain import Job, Target, launcher_for, toolchain_for

#: The tiles that the faults are made for.
OPTIONS = KernelOptions(tile=(32,))

SOURCE = """\
void f(int n, int m, int p, double *restrict a, double *restrict b)
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = b[i] + 1.0;
    if (p == 12)
        for (int i = 0; i < m; i++)
            b[i] = 3.0;
#pragma endscop
}
"""
NEST = """\
void f(int n, int m, double *restrict a, double *restrict b)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = i; j < m; j++)
            a[i * m + j] = b[i * m + j] + 1.0;
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("text", "options", "sizes"),
    [
        (SOURCE, KernelOptions(tile=(8,)), {"n": 100, "m": 1, "p": 1}),
        (SOURCE, KernelOptions(tile=(8,), distribution=Distribution.BLOCK), {"n": 1000, "m": 1, "p": 1}),
        (NEST, KernelOptions(tile=(4, 4)), {"n": 13, "m": 21}),
    ],
    ids=["cyclic", "block", "triangle"],
)
def test_cpes_with_work_are_those_that_put(
    tmp_path: Path, text: str, options: KernelOptions, sizes: dict[str, int]
) -> None:
    path = tmp_path / "f.c"
    path.write_text(text)
    made = generate_region_unit(RegionTask(path, RegionRequest("f"), options))
    toolchain = toolchain_for(Target.EMULATOR, options.machine)
    program = build_offloaded(made, toolchain, tmp_path)
    plan = plan_case(made, sizes)
    arguments = case_arguments(prepare_case(plan, tmp_path), tmp_path / "out", "0")
    watched = trace_environment(tmp_path / "trace", tmp_path / "addresses")
    job = Job(program, arguments, {}, {"SWBUILD_EMU_DMA": "eager", **watched}, tmp_path, 60)
    assert launcher_for("local", options.machine).start(toolchain, job).status == 0
    slot = next(i for i, slot in enumerate(plan.slots) if slot.name == "a")
    place = read_addresses(tmp_path / "addresses", 0)[slot]
    owners = read_owners(tmp_path / "trace", *place, 8, (8, 8))
    assert owners is not None
    active = set(np.unique(owners.cpes).tolist()) - {NOBODY}
    assert Work(made.region).busy(sizes)["f_k0"].cpes == len(active) > 1


def checked(directory: Path, old: str, new: str, check: RegionCheck) -> RegionResult:
    """Check ``SOURCE`` with a fault planted in its slave file."""
    path = directory / "f.c"
    path.write_text(SOURCE)
    model = read_source(path, CppOptions(), None)
    unit = generate_unit(model, {model.scops[0].name: OPTIONS})
    assert unit.slave is not None
    text = unit.slave.text.replace(old, new)
    assert not old or text != unit.slave.text
    unit = dataclasses.replace(unit, slave=dataclasses.replace(unit.slave, text=text))
    (directory / "work").mkdir()
    context = UnitCheck(
        model, unit, CppOptions(), CheckSettings(modes=("eager",)), directory / "work", directory / "work"
    )
    return check_region(context, unit.regions[0], OPTIONS, check)


OLD = RegionCheck(({"n": 7, "m": 7, "p": 7}, {"n": 64, "m": 64, "p": 64}, {"n": 65, "m": 65, "p": 65}))
FAULTS = {"second round": ("i0 += 2048", "i0 += 4096"), "one branch": ("= 3.0;", "= 3.5;")}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_that_few_sizes_show_are_found_by_chosen_ones(tmp_path: Path, fault: str) -> None:
    result = checked(tmp_path, *FAULTS[fault], RegionCheck())
    assert result.outcome is Outcome.MISMATCH, explain(result)


def test_sizes_that_do_not_show_them_are_said_to(tmp_path: Path) -> None:
    result = checked(tmp_path, *FAULTS["one branch"], OLD)
    assert result.outcome is Outcome.PASS
    notes = list(map(str, remarks(result)))
    assert any("f.c:8: note[SW505]: f: not reached: the statement in line 8" in note for note in notes)
    assert any("a second round (more tiles than the 64 threads)" in note for note in notes)


def test_right_code_reaches_everything(tmp_path: Path) -> None:
    result = checked(tmp_path, "", "", RegionCheck())
    assert result.outcome is Outcome.PASS
    assert result.coverage is not None
    reached, goals = result.coverage.total
    assert reached == goals > 10
    assert not any(note.code == "SW505" for note in remarks(result))
    assert result.coverage.instances == sum(dict(c.sizes)["n"] + _branch(dict(c.sizes)) for c in result.cases)


def _branch(sizes: dict[str, int]) -> int:
    return max(sizes["m"], 0) if sizes["p"] == 12 else 0
