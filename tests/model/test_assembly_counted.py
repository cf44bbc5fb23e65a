"""Assembly that is translated costs what its own instructions take on the pipes, line by line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from swbuild.emulator import environment
from swbuild.emulator.model.marked import marked_costs
from swbuild.emulator.model.report import analyse, tables
from swbuild.machine import load

SUM = """\
\t.text
\t.align 4
\t.globl sum
\t.ent sum
sum:
\tldi\t$4,100($31)
\tldi\t$0,0($31)
.L1:
\tldw\t$1,0($16)
\taddl\t$0,$1,$0
\tldi\t$16,4($16)
\tsubw\t$4,1,$4
\tbgt\t$4,.L1
\tret\t$31,($26),1
\t.end sum
"""

HOST = """\
#include <athread.h>
extern SLAVE_FUN(work)();
int main(void) { athread_init(); athread_spawn(work, 0); athread_join(); return athread_halt() != 0; }
"""

SLAVE = """\
#include <slave.h>
extern long sum(const int *numbers);
__thread_local int numbers[100];
__thread_local volatile long total;
void work(void *nothing) {
    for (int i = 0; i < 100; i++)
        numbers[i] = i;
    total = sum(numbers);
    if (total != 4950)
        __builtin_trap();
}
"""


def compute_rows(path: Path) -> Sequence[Sequence[str]]:
    return tables(analyse(path), ("compute",))[0].rows


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_lines_of_assembly_have_their_cycles_in_the_profile(tmp_path: Path) -> None:
    """A turn: load @0, sum @3 and the pointer's step, counter @4, branch @5; the constants share a cycle."""
    for name, text in (("host.c", HOST), ("slave.c", SLAVE), ("sum.s", SUM)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    variables = environment("sw26010", os.environ | {"SWBUILD_EMU_COUNTED_CODE": "1"})
    commands = (
        "sw5cc -host -c host.c; sw5cc -slave -O2 -c slave.c; sw5cc -slave -c sum.s; "
        "sw5cc -hybrid host.o slave.o sum.o -o app"
    )
    subprocess.run(["sh", "-ec", commands], cwd=tmp_path, env=variables, check=True)
    profile = {**variables, "SWBUILD_EMU_COUNTERS": "prof.json", "SWBUILD_EMU_MODEL": "prof.json.model"}
    subprocess.run(["./app"], cwd=tmp_path, env=profile, check=True)
    lines = json.loads((tmp_path / "prof.json").read_text(encoding="utf-8"))["lines"]
    found = {item["line"]: item["cycles"] / 64 for item in lines if item["file"].endswith("sum.s")}
    assert {line: cycles for line, cycles in found.items() if cycles} == {
        6: 1,
        9: 100,
        10: 300,
        12: 100,
        13: 100,
        14: 1,
    }
    assert {item["line"]: (item["stalls"] / 64, item["waits"]) for item in lines if "stalls" in item} == {
        10: (200, "$1 of line 9")
    }
    report = compute_rows(tmp_path / "prof.json")
    assert [(row[0].split(":")[1], row[4], row[5]) for row in report if row[4]] == [
        ("10", f"{64 * 200}", "$1 of line 9")
    ]


def test_marks_may_be_doubled_and_moved() -> None:
    text = "\n".join(
        [
            "\t.text",
            "\t# swbuild-sw64 9 3 bgt $1,.L",
            "\tnop",
            "\t# swbuild-sw64 7 1 .L:",
            "\t# swbuild-sw64 8 2 subw $1, 1, $1",
            "\tnop",
            "\t# swbuild-sw64 8 2 subw $1, 1, $1",
            "\tnop",
        ]
    )
    blocks, costs = marked_costs(text, load("sw26010"))
    assert [(block.start, cost.cycles) for block, cost in zip(blocks, costs, strict=True)] == [
        (1, 1),
        (4, 1),
        (6, 1),
    ]


def test_text_without_marks_has_no_such_costs() -> None:
    assert marked_costs("\t.text\n\taddl $1, %eax\n", load("sw26010")) == ([], [])
