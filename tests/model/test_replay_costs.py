"""The formulas that the native replay holds in C (``swb_cost.c``) against those of ``machine/cost``."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import swbuild.emulator
from swbuild.emulator.model.numbers import numbers_text
from swbuild.machine import LIBRARY, MachineModel, load
from swbuild.machine.cost.host import Chain, HostRun, Mix
from swbuild.machine.cost.requests import requests_of
from swbuild.machine.cost.transfers import earliest_finish, exposed, work

SOURCES = Path(swbuild.emulator.__file__).parent / "replay"

PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include "swb_cost.h"
static struct swb_numbers numbers;
static void transfer(const char *words)
{
    unsigned long a, l, b, g;
    int put;
    sscanf(words, "%lu %lu %lu %lu %d", &a, &l, &b, &g, &put);
    struct swb_requests r = swb_requests_of(a, l, b, g, (uint64_t)numbers.dma.request_bytes);
    printf("%lu %lu %lu %lu %lu %.17g %.17g %.17g\n", r.blocks, r.touched, r.full, r.merges, r.doubled,
           swb_work(&numbers, put, &r), swb_earliest_finish(&numbers, put, &r),
           swb_exposed(&numbers, put, &r));
}
int main(void)
{
    static char line[65536];
    while (fgets(line, sizeof line, stdin)) {
        unsigned a, b, c;
        line[strcspn(line, "\n")] = 0;
        if (line[0] == 'n')
            swb_numbers_read(&numbers, line + 1);
        else if (line[0] == 't')
            transfer(line + 1);
        else if (line[0] == 'm')
            printf("%.17g\n", swb_mix_cycles(&numbers, line + 1));
        else if (sscanf(line + 1, "%u %u %u", &a, &b, &c))
            printf("%.17g\n", swb_stalled(&numbers, a, b, c));
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that answers questions for costs; compiled so that undefined behaviour ends it."""
    folder = tmp_path_factory.mktemp("costs")
    (folder / "costs.c").write_text(PROGRAM, encoding="utf-8")
    sources = [folder / "costs.c", *(SOURCES / name for name in ("swb_cost.c", "swb_numbers.c"))]
    checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", *checks, f"-I{SOURCES}"]
    subprocess.run(["gcc", *flags, *sources, "-lm", "-o", folder / "costs"], check=True)
    return folder / "costs"


def answers(program: Path, machine: MachineModel, questions: Sequence[str]) -> list[str]:
    text = "\n".join([f"n{numbers_text(machine)}", *questions, ""])
    done = subprocess.run([program], input=text, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def shapes() -> Iterator[tuple[int, int, int, int]]:
    """Addresses, lengths, blocks and gaps about the borders of requests, halves and words."""
    edges = (0, 4, 8, 60, 64, 68, 124, 128, 132, 200)
    for address, length in itertools.product(edges, (0, *edges, 1000, 4096, 16777212)):
        yield 0x500001406000 + address, length, 0, 0
        for block, gap in itertools.product(
            (4, 12, 64, 128, 132, 320), (0, 4, 60, 64, 128, 4000, 2**32 - 64)
        ):
            yield address, length, block, gap


@pytest.mark.parametrize("name", ["sw26010", "sw26010-pro"])
def test_transfers_cost_the_same_in_c(program: Path, name: str) -> None:
    machine = load(name)
    asked = [(*shape, put) for shape in shapes() for put in (0, 1)]
    found = answers(program, machine, ["t" + " ".join(map(str, words)) for words in asked])
    for (address, length, block, gap, put), line in zip(asked, found, strict=True):
        counts = requests_of(address, length, block, gap, machine.dma.request_bytes)
        costs = (formula(machine.memory, bool(put), counts) for formula in (work, earliest_finish, exposed))
        assert [float(word) for word in line.split()] == [*counts, *map(float, costs)]


@pytest.mark.parametrize("name", ["sw26010", "sw26010-pro"])
def test_the_host_costs_the_same_in_c(program: Path, name: str) -> None:
    machine = load(name)
    chains = (Chain(), Chain(1, 2, 3, 4, 5, 6), Chain(load=9), Chain(divide=2, other=40))
    mixes = [
        Mix(operations, memory, arithmetic, divide, divide // 2, call, chosen)
        for operations, memory, arithmetic, divide in itertools.product((0, 7, 2.5), (0, 3), (1, 9), (0, 2))
        for call in ("", "nothing", *LIBRARY)
        for chosen in ((), chains[:1], chains)
    ]
    runs = [HostRun(0, *counts) for counts in itertools.product((0, 1, 2**32 - 1), repeat=3)]
    stalls = [f"s{run.second} {run.filled} {run.written}" for run in runs]
    found = answers(program, machine, [*(f"m{mix}" for mix in mixes), *stalls])
    expected = [*(mix.cycles(machine) for mix in mixes), *(run.stalled(machine.host) for run in runs)]
    assert [float(word) for word in found] == expected


@pytest.mark.parametrize(
    "text", ["", "1,2,3,4", "1,2,3,4,5", "1,2,3,4,5;exp;1,2", "1,2,3,4,5;;1,2,3,4,5,6!", "a"]
)
def test_what_is_no_mix_is_told(program: Path, text: str) -> None:
    assert answers(program, load("sw26010"), [f"m{text}"]) == ["-1"]
    with pytest.raises(ValueError, match=r"mix|chain|convert|literal"):
        Mix.parse(text)
