"""``swbuild explain --pipeline``: loops of assembly on the two pipes, cycle by cycle."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run

KERNEL = """\
\t.globl sum
sum:
\tldi\t$4,0($31)
.L1:\tldw\t$1,0($2)
\taddl\t$3,$1,$3
\tsubw\t$sp,1,$sp
\tbgt\t$sp,.L1
\tret\t$31,($26),1
\t.end sum
\t.globl other
other:
.L2:\tfdivd $1,$2,$3
\tfdivd $1,$4,$5
\tbne $6,.L2
"""

TABLE = """\
k.s:4: loop .L1: 5 cycles a turn, 4 instructions
  P0 1 (20%), P1 3 (60%); 2 cycles stalled; its pipes alone need 2
  cycle  P0                   P1                  waits
      0                       4: ldw $1, 0($2)
    1-2                                           nothing issues
      3  5: addl $3, $1, $3   6: subw $sp, 1, $sp 3 cycles for $1 of line 4
      4                       7: bgt $sp, .L1
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    (tmp_path / "k.s").write_text(KERNEL, encoding="utf-8")
    return tmp_path


def test_loops_are_shown_cycle_by_cycle(swbuild: Run, kernel: Path) -> None:
    done = swbuild("explain", "--pipeline", "k.s", "--function", "sum")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split() for line in done.stdout.splitlines()] == [
        line.split() for line in TABLE.splitlines()
    ]


def test_all_blocks_units_and_the_turn_before(swbuild: Run, kernel: Path) -> None:
    done = swbuild("explain", "--pipeline", "k.s", "-v").stdout
    assert [line for line in done.splitlines() if line.startswith("k.s:")] == [
        "k.s:3: block sum: 1 cycle, 1 instruction",
        "k.s:4: loop .L1: 5 cycles a turn, 4 instructions",
        "k.s:8: block: 1 cycle, 1 instruction",
        "k.s:12: loop .L2: 68 cycles a turn, 3 instructions",
    ]
    assert "33 cycles for the division of line 12\n" in done
    assert "for the division of line 13 of the turn before\n" in done


def test_machine_and_numbers_may_be_chosen(swbuild: Run, kernel: Path) -> None:
    arguments = (
        "explain",
        "--pipeline",
        "k.s",
        "--json",
        "--machine",
        "sw26010-pro",
        "--set",
        "pipes.divide_cycles=10",
    )
    loop, divisions = json.loads(swbuild(*arguments).stdout)
    assert (loop["cycles"], loop["stalls"], loop["used"], loop["least"], loop["labels"]) == (
        5,
        2,
        [1, 3],
        2,
        [".L1"],
    )
    assert loop["turns"][0][1] == {
        "cycle": 3,
        "pipe": 0,
        "line": 5,
        "text": "addl $3, $1, $3",
        "wait": {"cycles": 3, "cause": "register", "line": 4, "register": 1},
    }
    assert divisions["cycles"] == 20


def test_unknown_instructions_are_all_named_and_the_rest_is_shown(swbuild: Run, kernel: Path) -> None:
    (kernel / "k.s").write_text(
        KERNEL + ".L3:\tfrob $1\n\taddw $1,$2\n\tbne $1,.L3\n\tblob $1\n", encoding="utf-8"
    )
    done = swbuild("explain", "--pipeline", "k.s")
    assert done.returncode == 2
    assert done.stdout.count("cycles a turn") == 2
    assert "k.s:15:6: error[SW116]: 'frob' is no instruction that is known here" in done.stderr
    assert "k.s:16:2: error[SW116]: 'addw' takes 3 operands, not 2" in done.stderr
    assert "blob" not in done.stderr
    assert "blob" in swbuild("explain", "--pipeline", "k.s", "-v").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--pipeline", "none.s"), "none.s: error[SW108]: the file cannot be read: No such file"),
        (("--pipeline", "k.s", "--function", "f"), "k.s: error[SW117]: the file has no function 'f'"),
        (("--pipeline", "k.c"), "k.c: error[SW100]: "),
        (("--pipeline", "k.s", "--machine", "vax"), "vax"),
        (("--pipeline", "k.s", "--set", "pipes.float_latncy=3"), "did you mean 'pipes.float_latency'?"),
        (("k.c", "--set", "pipes.float_latency=3"), "--set goes with --pipeline"),
        (("k.c", "--function", "f"), "--function goes with --pipeline"),
    ],
)
def test_mistakes_are_located(swbuild: Run, kernel: Path, arguments: tuple[str, ...], message: str) -> None:
    (kernel / "k.c").write_text("int x;\n", encoding="utf-8")
    done = swbuild("explain", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_file_without_loops_says_so(swbuild: Run, tmp_path: Path) -> None:
    (tmp_path / "k.s").write_text("f:\tnop\n", encoding="utf-8")
    assert "-v shows all" in swbuild("explain", "--pipeline", "k.s").stdout
    (tmp_path / "k.s").write_text("", encoding="utf-8")
    assert swbuild("explain", "--pipeline", "k.s", "-v").stdout == "no instructions\n"


def test_the_page_shows_what_the_command_prints(swbuild: Run, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "model.md").read_text(encoding="utf-8")
    match = re.search(r"```asm\n(.*?)```\n\n```text\n(dot\.s:.*?)```", page, re.DOTALL)
    assert match
    (tmp_path / "dot.s").write_text(match[1], encoding="utf-8")
    assert swbuild("explain", "--pipeline", "dot.s").stdout == match[2]
