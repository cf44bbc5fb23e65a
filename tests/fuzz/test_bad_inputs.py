"""Damaged C files and manifests: only located diagnostics, no traceback, no hang, nothing left behind."""

from __future__ import annotations

import faulthandler
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from swfuzz.badinput import complaint_about_c, complaint_about_manifest, damaged
from swfuzz.grammar import random_program
from swfuzz.program import program_text

ROOT = Path(__file__).parents[2]
POLYBENCH = ROOT / "examples" / "polybench"

MANIFEST = """\
machine: sw26010
sources:
  - gemm.c
  - path: stencil.c
    include: [include]
    define: [N=3]
defaults:
  threads: [8, 8]
  tile: [32, 32, 32]
regions:
  gemm:
    function: gemm
    source: gemm.c
    threads: [4, 8]
    params: {n: 64}
    assume: ["m >= 1", "n > m"]
    arrays: {A: ["n", "m"]}
    check:
      sizes: [{n: 3, m: 4}, {n: 33}]
      seed: 3
      tolerance: {rtol: 1.0e-9}
"""


def _c_file(seed: int) -> str:
    random = Random(seed)
    if random.random() < 0.7:
        text = "#include <math.h>\n" + program_text(random_program(random), "f")
    else:
        text = random.choice(sorted(POLYBENCH.glob("*.c"))).read_text()
    return damaged(text, random, "c")


def _manifest(seed: int) -> str:
    random = Random(seed)
    text = random.choice((MANIFEST, (POLYBENCH / "sunway.yaml").read_text()))
    return damaged(text, random, "yaml")


def _complaints(
    seeds: range, make: Callable[[int], str], judge: Callable[[str, Path], str], path: Path
) -> dict[int, str]:
    """Return what is wrong, by seed; a hang ends the process with the place where it hangs."""
    found = {}
    for seed in seeds:
        faulthandler.dump_traceback_later(300, exit=True)
        found[seed] = judge(make(seed), path)
    faulthandler.cancel_dump_traceback_later()
    return {seed: text for seed, text in found.items() if text}


@pytest.mark.slow
def test_damaged_manifests(tmp_path: Path) -> None:
    assert _complaints(range(500), _manifest, complaint_about_manifest, tmp_path / "sunway.yaml") == {}


@pytest.mark.slow
@pytest.mark.parametrize("first", [0])
def test_damaged_c_files(first: int, tmp_path: Path) -> None:
    assert _complaints(range(first, first + 50), _c_file, complaint_about_c, tmp_path / "damaged.c") == {}


@pytest.mark.matrix
@pytest.mark.parametrize("first", range(0, 2000, 100))
def test_many_damaged_c_files(first: int, tmp_path: Path) -> None:
    assert _complaints(range(first, first + 100), _c_file, complaint_about_c, tmp_path / "damaged.c") == {}
