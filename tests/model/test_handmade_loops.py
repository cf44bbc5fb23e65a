"""Twenty-one loops of C whose cycles a turn on the SW26010 were derived by hand.

P0 takes floating work, P1 memory and branches, integers go to either.  Cycles to a use: integer 1, integer
load 3 (to a store 4), floating load 4 (to a store 5), arithmetic, comparison, conversion 7 (arithmetic to a
store 5), integer multiplication 7, division 34 and nothing else divides meanwhile.  Loops are unrolled 4
times, with one pointer's step each, one test and one branch.  The compiler takes two loads to issue in a
cycle and to be there 4 cycles later: 8 of them come ahead of the first operation that needs one.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from functools import cache

import pytest

from swbuild.emulator.driver.counting import costed
from swbuild.emulator.model.blocks import Block, functions
from swbuild.emulator.model.costs import function_cycles
from swbuild.emulator.model.flow import read_blocks
from swbuild.emulator.model.step import Role
from swbuild.machine import load

MACHINE = load("sw26010")

#: Each: what stands ahead of the loop, one turn, what stands behind, cycles a turn and why.
LOOPS = {
    # Chains from turn to turn.
    "sum": ("double s = 0;", "s += x[i];", "y[0] = s;", 7),
    "dot": ("double s = 0;", "s += x[i] * y[i];", "y[0] = s;", 7.25),  # at 7 (8 loads ahead), 14, 21, 28
    "product": ("double s = 1;", "s *= x[i];", "y[0] = s;", 7),
    "horner": ("double s = 0;", "s = s * u + x[i];", "y[0] = s;", 7),
    "two_steps": ("double s = 0;", "s = (s + x[i]) * u;", "y[0] = s;", 14),
    "four_sums": (
        "double s = 0, t = 0, p = 0, q = 0;",
        "s += x[4 * i]; t += x[4 * i + 1]; p += x[4 * i + 2]; q += x[4 * i + 3];",
        "y[0] = s; y[1] = t; y[2] = p; y[3] = q;",
        8,  # 8 loads ahead: four chains from 7, 14, 21 and 28 on, the last addition at 31
    ),
    "vectors": ("vector s = v[0];", "s += v[i];", "v[0] = s;", 7),
    "greatest": ("double s = 0;", "s = x[i] > s ? x[i] : s;", "y[0] = s;", 14),  # a comparison, a selection
    "widened": (
        "double s = 0;",
        "s += f[i];",
        "y[0] = s;",
        8.5,
    ),  # conversions at 4 and, behind the first sum at 11, 12
    "converted": (
        "double s = 0;",
        "s += m[i];",
        "y[0] = s;",
        9.5,
    ),  # moved to 7, converted at 8, summed at 15, 23, 30, 37
    "indices": ("int k = 0;", "k = m[k];", "m[0] = k;", 4),  # 1 for the address, 3 for the load
    "pointers": ("void **p = l;", "p = *p;", "l[0] = p;", 3),
    "hash": ("long h = 1;", "h = h * 1000003 + l[i];", "l[0] = h;", 8),  # 7 and 1
    # A load, an addition and a store, each waiting: 4 + 5 + 1, and a cycle for the branch every 4 turns.
    "through_memory": ("", "x[i + 1] = x[i] + u;", "", 10.25),
    # Divisions fill their unit: four from 7 on, the last store at 143, the branch.
    "quotients": ("", "y[i] = x[i] / y[i];", "", 36.25),
    "reciprocals": ("double s = 1;", "s = x[i] / s;", "y[0] = s;", 34),
    # Loads at 0 to 3, what needs the last load, then stores and the branch on P1.
    "integers": ("long s = 0;", "s += l[i];", "l[0] = s;", 2),  # the test on P0 at 3, additions at 4 to 7
    "copied": ("long *o = l + 4096;", "o[i] = l[i];", "", 2.25),  # stores at 4 to 7, branch at 8
    "scaled": ("", "y[i] = x[i] * u;", "", 3.5),  # products at 4 to 7, stores at 9 to 12, branch at 13
    # 8 loads at 0 to 7, shuffles at 7 to 10, stores at 10 to 13, the branch at 14.
    "unaligned": ("", "v[i] = *(loose *)(y + 4 * i);", "", 3.75),
    # 41 vectors in 32 registers: loads of v[i] and of 9 sums at 0 to 9, additions on P0 at 9 to 48.
    "pressed": (
        " ".join(f"vector s{k} = v[{k}];" for k in range(40)),
        "vector t = v[i]; " + " ".join(f"s{k} = t - s{k};" for k in range(40)),
        " ".join(f"v[{k}] = s{k};" for k in range(40)),
        49,
    ),
}


@cache
def cycles() -> dict[str, float]:
    """Return the model's cycles a turn of every loop."""
    text = "typedef double vector __attribute__((vector_size(32)));\n"
    text += "typedef double loose __attribute__((vector_size(32), aligned(8)));\n"
    for name, (ahead, turn, behind, _) in LOOPS.items():
        given = "double *x, double *y, vector *v, float *f, int *m, void *b, double u, int n"
        integers = "void **l = b;" if name == "pointers" else "long *l = b;"
        loop = f"for (int i = 0; i < n; i++) {{ {turn} }}"
        text += f"void {name}({given})\n{{ {integers} {ahead} {loop} {behind} }}\n"
    command = ["gcc", "-O2", "-ffp-contract=off", *costed("gcc"), "-x", "c", "-", "-o", "-"]
    made = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    found = {}
    for function in functions(read_blocks(made, 32)):
        name = next(label for label in function[0].labels if not label.startswith(".L"))
        found[name] = turn_of(function)
    return found


def turn_of(function: Sequence[Block]) -> float:
    """Return the cycles of one turn of a function's only loop."""
    places = {label: number for number, block in enumerate(function) for label in block.labels}
    branches = [block.end if block.end and block.end.role is Role.BRANCH else None for block in function]
    ends = [branch.where if branch else "" for branch in branches]
    (jump,) = [number for number, where in enumerate(ends) if places.get(where, number + 1) <= number]
    return sum(function_cycles(function, MACHINE)[places[ends[jump]] : jump + 1])


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_takes_the_cycles_derived_by_hand(name: str) -> None:
    assert cycles()[name] == pytest.approx(LOOPS[name][3], rel=0.10)
