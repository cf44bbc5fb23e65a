"""Mutations of generated code, each of which `swbuild check` must catch; the unmutated code passes."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from cases import EXAMPLES
from objects import shared_objects
from turns import in_turn

from swbuild.check import CheckSettings, Outcome, RegionCheck, RegionResult, explain
from swbuild.check.kernel import UnitCheck, check_region
from swbuild.codegen.unit import GeneratedFile
from swbuild.frontend import read_source
from swbuild.frontend.request import CppOptions
from swbuild.generate import generate_unit
from swbuild.machine import machine_names
from swbuild.options import KernelOptions

#: Not square: swapping rows and columns of threads must lose tiles.
THREADS = (2, 8)
#: Small: with larger tiles, one per thread would do, whoever it is.
TILE = (8, 8)
SIZES = {
    "gemm": {"ni": 71, "nj": 67, "nk": 37},
    "syrk": {"n": 71, "m": 37},
    "jacobi-2d": {"steps": 2, "n": 98},
}
REGIONS = {"jacobi-2d": "jacobi_2d"}


def check_mutated(
    example: str, machine: str, mutation: tuple[str, str] | None, directory: Path
) -> tuple[RegionResult, int]:
    """Check an example after a replacement in its slave file; return how often that was made, too."""
    name = REGIONS.get(example, example)
    options = KernelOptions(machine=machine, threads=THREADS, tile=TILE)
    model = read_source(EXAMPLES / f"{example}.c", CppOptions(), None)
    unit = generate_unit(model, {name: options})
    assert unit.slave is not None
    text, count = re.subn(*mutation, unit.slave.text) if mutation else (unit.slave.text, 0)
    unit = dataclasses.replace(unit, slave=GeneratedFile(unit.slave.name, text))
    context = UnitCheck(model, unit, CppOptions(), CheckSettings(timeout=60.0), directory, shared_objects())
    return check_region(context, unit.regions[0], options, RegionCheck((SIZES[example],))), count


#: What comes before a wait: the last transfer, or, for tiles that are got ahead, the head of their loop.
_BEFORE = r"(?s)({call}\([^;]*&sw_reply_\w+[^;]*\);\s*|\{{\s*(?={wait}\s*\{{ double \*const))"
_WAIT = _BEFORE.replace("{wait}", r"while[^;]*;") + r"while \(sw_reply_\w+ != \d+\)\s*;"
_WAIT_PRO = _BEFORE.replace("{wait}", r"athread_dma_wait[^;]*;") + r"athread_dma_wait_value\([^;]*\);"
MUTATIONS = {
    "drop the waits for gets": {
        "sw26010": (_WAIT.format(call="athread_get") + r"(?!\s*const struct)", r"\1"),
        "sw26010-pro": (_WAIT_PRO.format(call=r"athread_dma_iget\w*") + r"(?!\s*const struct)", r"\1"),
    },
    "shift gets by 4 bytes": {
        "sw26010": (r"athread_get\(PE_MODE, ([AB]) \+", r"athread_get(PE_MODE, (char *)\1 + 4 +"),
        "sw26010-pro": (
            r"(athread_dma_iget\w*\(\w+_(?:ldm|next), )([AB]) \+ ([^,]+),",
            r"\1(char *)(\2 + \3) + 4,",
        ),
    },
    "swap the thread ids": dict.fromkeys(
        machine_names(),
        (r"sw_rid = sw_thread / 8, sw_cid = sw_thread % 8", "sw_cid = sw_thread / 8, sw_rid = sw_thread % 8"),
    ),
    "lose the last tile": dict.fromkeys(
        machine_names(),
        (r"for \(long (i0\w*) = ([^;]+); \1 < (n|ni|n - 1); ", r"for (long \1 = \2; \1 < \3 - 31; "),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("example", "mutation", "machine"), in_turn([*SIZES], [*MUTATIONS], machine_names()))
def test_mutation_is_caught(example: str, mutation: str, machine: str, tmp_path: Path) -> None:
    result, count = check_mutated(example, machine, MUTATIONS[mutation][machine], tmp_path)
    assert count, "the mutation no longer fits the generated code"
    assert result.outcome in (Outcome.MISMATCH, Outcome.CRASH, Outcome.TIMEOUT), explain(result)


@pytest.mark.slow
@pytest.mark.parametrize(("example", "machine"), in_turn([*SIZES], machine_names()))
def test_without_mutation_it_passes(example: str, machine: str, tmp_path: Path) -> None:
    result, _ = check_mutated(example, machine, None, tmp_path)
    assert result.outcome is Outcome.PASS, explain(result)
