"""Charging compute time: steps of an instruction, cycles of a block, and code that counts itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from swbuild.emulator.driver import counting
from swbuild.emulator.driver.counting import RUNNING, costed, running
from swbuild.emulator.model.blocks import Block
from swbuild.emulator.model.costs import block_costs, function_cycles
from swbuild.emulator.model.flow import read_blocks
from swbuild.emulator.model.instructions import steps
from swbuild.emulator.model.instrument import instrument, main
from swbuild.emulator.model.schedule import pass_cycles, turn_cycles
from swbuild.emulator.model.step import Role
from swbuild.emulator.model.trace import header_path
from swbuild.emulator.model.values import Node, graph
from swbuild.machine import load
from swbuild.sw64.instructions import Kind

OLD, NEW = load("sw26010"), load("sw26010-pro")
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("\tvaddsd\t%xmm1, %xmm0, %xmm0", [Kind.FLOAT]),
        ("\taddsd\t8(%rdx), %xmm0", [Kind.FLOAT_LOAD, Kind.FLOAT]),
        ("\tmovsd\t(%rsi), %xmm1", [Kind.FLOAT_LOAD]),
        ("\tvmovapd\t(%rsi), %ymm1", [Kind.FLOAT_LOAD]),
        ("\tvbroadcastsd\t(%rsi), %ymm1", [Kind.FLOAT_LOAD]),
        ("\tvbroadcastsd\t%xmm1, %ymm1", [Kind.SHUFFLE]),
        ("\tmovsd\t%xmm1, buffer@tpoff+8(%rax)", [Kind.STORE]),
        ("\tmovq\t%fs:0, %rax", [Kind.LOAD]),
        ("\tmovapd\t%xmm1, %xmm0", [Kind.NONE]),
        ("\tvmovsd\t%xmm1, %xmm1, %xmm0", [Kind.NONE]),
        ("\tmovslq\t%edi, %rdi", [Kind.NONE]),
        ("\tmovl\t$7, %eax", [Kind.INTEGER]),
        ("\txorl\t%eax, %eax", [Kind.NONE]),
        ("\taddl\t$1, 4(%rsp)", [Kind.LOAD, Kind.INTEGER, Kind.STORE]),
        ("\tcmpq\t%rax, 8(%rcx)", [Kind.LOAD, Kind.INTEGER]),
        ("\tcmpq\t$0, 8(%rcx)", [Kind.LOAD, Kind.NONE]),
        ("\tvcomisd\t(%rcx), %xmm0", [Kind.FLOAT_LOAD, Kind.COMPARE]),
        ("\tvcvtsi2sdl\t%eax, %xmm0, %xmm0", [Kind.TRANSFER, Kind.CONVERT]),
        ("\tvmaxsd\t%xmm0, %xmm1, %xmm1", [Kind.COMPARE, Kind.COMPARE]),
        ("\tvdivpd\t%ymm0, %ymm1, %ymm1", [Kind.DIVIDE]),
        ("\tvpaddd\t%ymm0, %ymm1, %ymm1", [Kind.VECTOR]),
        ("\tvmovapd\t%ymm0, %ymm1{%k1}", [Kind.COMPARE]),
        ("\tleaq\t(%rax,%rbx,4), %rcx", [Kind.INTEGER]),
        ("\timulq\t%rbx, %rcx", [Kind.MULTIPLY]),
        ("\tpushq\t%rbx", [Kind.STORE]),
        ("\tjne\t.L3", [Kind.BRANCH]),
        ("\tcall\tf@PLT", [Kind.CALL]),
        ("\t.loc 1 2 3", []),
        (".L3:", []),
        ("\tnop", []),
    ],
)
def test_classes_of_instructions(line: str, expected: list[Kind]) -> None:
    assert [step.kind for step in steps(line, 32)] == expected


def test_a_comparison_with_memory_stores_nothing() -> None:
    assert Role.STORE not in [step.role for step in steps("\tcmpl\t$3, (%rax)", 32)]


@pytest.mark.parametrize(
    ("line", "times"),
    [
        ("\tvaddpd\t%zmm1, %zmm0, %zmm0", 2),
        ("\tvaddpd\t%ymm1, %ymm0, %ymm0", 1),
        ("\tvmovupd\t(%rax), %ymm0", 2),
        ("\tvmovdqu\t(%rax), %xmm0", 2),
    ],
)
def test_a_wide_an_unaligned_or_a_copying_instruction_is_several_operations(line: str, times: int) -> None:
    assert [step.times for step in steps(line, 32)] == [times]


def block(*lines: str, live: str = "") -> Block:
    (found,) = read_blocks("\t.text\nf:\n" + "".join(f"\t{line}\n" for line in lines), 32)
    found.live = frozenset(live.split())
    return found


def nodes(*lines: str, live: str = "", turns: int = 0) -> list[Node]:
    return graph(block(*lines).steps, live.split(), turns)


def kinds(*lines: str, live: str = "", turns: int = 0) -> list[Kind]:
    return [node.kind for node in nodes(*lines, live=live, turns=turns)]


def test_a_product_and_its_sum_are_one_operation() -> None:
    (fused,) = nodes("vmulsd %xmm1, %xmm0, %xmm3", "vaddsd %xmm3, %xmm2, %xmm2", live="v2")
    assert fused.kind is Kind.FLOAT and set(fused.sources) == {"v0", "v1", "v2"}


def test_a_product_that_something_else_reads_stays() -> None:
    product = "vmulsd %xmm1, %xmm0, %xmm3"
    assert len(nodes(product, "vaddsd %xmm3, %xmm2, %xmm2", "movsd %xmm3, (%rax)", live="v2")) == 3


def test_what_nobody_reads_and_copies_and_folded_addresses_cost_nothing() -> None:
    assert kinds("vaddsd %xmm1, %xmm0, %xmm3") == []
    assert kinds("movq %rdi, %rax", "addq $8, %rax", "vmovsd %xmm0, 8(%rax)") == [Kind.STORE]


def test_a_spilled_integer_stays_in_its_register_and_a_spilled_vector_is_spilled() -> None:
    integers = nodes("movq %rax, 8(%rsp)\t# %sfp", "movq 8(%rsp), %rcx\t# %sfp", live="cx")
    assert integers == []
    vectors = kinds("vmovapd %ymm1, 8(%rsp)\t# %sfp", "vmovapd 8(%rsp), %ymm2\t# %sfp", live="v2")
    assert vectors == [Kind.STORE, Kind.FLOAT_LOAD]


def test_independent_operations_share_the_two_pipes() -> None:
    adds = [f"vaddsd %xmm0, %xmm{k}, %xmm{k}" for k in (1, 2, 3)]
    loads = [f"vmovsd (%r{k}), %xmm{k}" for k in (11, 12, 13)]
    live = "v1 v2 v3 v11 v12 v13"
    assert pass_cycles(block(*adds).steps, live.split(), OLD) == 3
    assert pass_cycles(block(*adds, *loads).steps, live.split(), OLD) <= 4


def test_a_chain_takes_its_latencies() -> None:
    chain = [f"vaddsd %xmm{k}, %xmm{k}, %xmm{k + 1}" for k in (0, 1, 2)]
    assert pass_cycles(block(*chain).steps, ["v3"], OLD) == 2 * OLD.pipes.float_latency + 1


LOOP = ("vmovsd (%rax,%rcx), %xmm1", "addq $8, %rcx", "vaddsd %xmm0, %xmm1, %xmm1")
LOOP_END = ("vmovsd %xmm1, (%rdx,%rcx)", "cmpq %rcx, %rsi", "jne .L3")


def test_unrolled_turns_repeat_neither_counters_nor_addresses_nor_jumps() -> None:
    one, four = (kinds(*LOOP, *LOOP_END, live="cx", turns=turns) for turns in (1, 4))
    work = {Kind.FLOAT_LOAD, Kind.FLOAT, Kind.STORE}
    assert [kind for kind in four if kind not in work] == [kind for kind in one if kind not in work]
    assert sum(kind in work for kind in four) == 4 * 3


def test_unrolling_hides_latency() -> None:
    body = block(*LOOP, *LOOP_END).steps
    assert turn_cycles(body, ["cx"], OLD) < turn_cycles(body, ["cx"], NEW) / 2


def test_a_loop_costs_at_least_its_recurrence() -> None:
    body = block("vaddsd (%rax), %xmm1, %xmm1", "addq $8, %rax", "cmpq %rax, %rcx", "jne .L3").steps
    for machine in (OLD, NEW):
        assert turn_cycles(body, ["v1", "ax"], machine) == machine.pipes.float_latency


def test_a_load_of_what_an_earlier_turn_stored_waits_for_it() -> None:
    step = ("vmovsd -8(%rax), %xmm1", "vaddsd %xmm0, %xmm1, %xmm1", "vmovsd %xmm1, (%rax)")
    body = block(*step, "addq $8, %rax", "cmpq %rax, %rcx", "jne .L3").steps
    chain = OLD.pipes.float_load_latency + OLD.pipes.float_to_store + 1
    assert chain <= turn_cycles(body, ["ax"], OLD) <= chain + 0.5


def test_a_loop_in_two_blocks_costs_what_the_same_loop_costs_in_one() -> None:
    body = "\tvmovsd\t(%rax), %xmm1\n\tvaddsd\t%xmm0, %xmm1, %xmm1\n\tvmovsd\t%xmm1, (%rax)\n"
    test = "\taddq\t$8, %rax\n\tcmpq\t%rax, %rdx\n\tjne\t.L3\n"
    one = function_cycles(read_blocks(f"\t.text\n.L3:\n{body}{test}", 32), OLD)
    two = function_cycles(read_blocks(f"\t.text\n\tjle .L4\n.L3:\n{body}.L4:\n{test}", 32), OLD)[1:]
    assert len(two) == 2 and sum(two) == sum(one)


def test_software_is_charged_and_the_machines_interface_is_not() -> None:
    for name, cycles in (("exp", OLD.library.exp), ("powf", OLD.library.pow), ("f", 0)):
        assert cycles < pass_cycles(block(f"call {name}@PLT").steps, [], OLD) <= cycles + 2
    assert pass_cycles(block("idivl %ecx").steps, ["ax"], OLD) > OLD.compute.integer_divide_cycles
    assert pass_cycles(block("call athread_get@PLT").steps, [], OLD) < 10


VECTOR = "typedef double v __attribute__((vector_size(32)));\n"


def assembly(folder: Path, source: str, *options: str) -> str:
    (folder / "v.c").write_text(source, encoding="utf-8")
    subprocess.run(["gcc", "-O2", *options, "-o", "v.s", "v.c"], cwd=folder, check=True)
    return (folder / "v.s").read_text(encoding="utf-8")


@needs_gcc
def test_vectors_cost_what_they_are_and_not_what_the_box_has(tmp_path: Path) -> None:
    source = VECTOR + "void f(v *x, v *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i] * y[i] + x[i]; }\n"
    running, model = (assembly(tmp_path, source, *flags) for flags in (RUNNING, costed("gcc")))
    assert "xmm" in running and "ymm" in model
    blocks = read_blocks(running, 32)
    costs = block_costs(blocks, read_blocks(model, 32), OLD)
    (loop,) = [cost for block, cost in zip(blocks, costs, strict=True) if block.loops]
    assert not loop.own and loop.cycles == pytest.approx(4.5)


@needs_gcc
def test_a_function_without_a_match_is_costed_as_it_runs(tmp_path: Path) -> None:
    source = VECTOR + "void f(v *x, v *y, int n) { for (int i = 0; i < n; i++) y[i] = x[i] + y[i]; }\n"
    other = source.replace("y[i] = x[i] + y[i]", "if (i & 5) y[i] = x[i] + y[i]")
    running, model = assembly(tmp_path, source, *RUNNING), assembly(tmp_path, other, *costed("gcc"))
    blocks = read_blocks(running, 32)
    costs = block_costs(blocks, read_blocks(model, 32), OLD)
    assert any(cost.own for cost in costs)
    (loop,) = [cost.cycles for block, cost in zip(blocks, costs, strict=True) if block.loops]
    assert 4.5 <= loop <= 9  # what passes through the stack in halves is not seen through
    assert f".long\t{1 << 31 | 2}," in instrument(running, model, OLD)  # the mark of such a block


@needs_gcc
def test_loops_on_lines_of_their_own_match_where_their_function_does_not(tmp_path: Path) -> None:
    source = (
        f"{VECTOR}void f(v *x, v *y, int n)\n{{\nif (n & 7) y[0] = x[1];\n"
        "for (int i = 0; i < n; i++)\ny[i] = x[i] * y[i] + x[i];\n}\n"
    )
    other = source.replace("if (n & 7) ", "if (n & 7) if (x != y) ")
    running, model = assembly(tmp_path, source, "-g1", *RUNNING), assembly(tmp_path, other, *costed("gcc"))
    blocks = read_blocks(running, 32)
    costs = block_costs(blocks, read_blocks(model, 32), OLD)
    (loop,) = [cost for block, cost in zip(blocks, costs, strict=True) if block.loops]
    assert not loop.own and loop.cycles == pytest.approx(4.5)
    assert any(cost.own for cost in costs)


MOVED = """\
\t.text
\t.file 1 "f.c"
f:
\t.loc 1 10
\ttestq\t%rdx, %rdx
\tjle\t.L4
.L3:
\t.loc 1 12
\tvmovsd\t(%rsi), %xmm1
\t.loc 1 16
\tvaddsd\t%xmm0, %xmm1, %xmm1
\tvmovsd\t%xmm1, (%rsi)
\t.loc 1 11
\taddq\t$8, %rsi
\tcmpq\t%rsi, %rdx
\tjne\t.L3
.L4:
\tret
"""


def test_loops_match_by_their_jumps_whatever_is_first_in_them() -> None:
    """Where the rest of a function differs, and of two compilations one has moved what a loop begins with."""
    other = MOVED.replace("\t.loc 1 12\n", "\t.loc 1 16\n")
    other = (
        other.replace("\ttestq", "\tcmpq\t%rax, %rdx\n\tjl\t.L5\n\ttestq")
        + ".L5:\n\tmovq\t%rax, (%rdi)\n\tret\n"
    )
    running, model = read_blocks(MOVED, 32), read_blocks(other, 32)
    costs = block_costs(running, model, OLD)
    (loop,) = [cost for block, cost in zip(running, costs, strict=True) if block.loops]
    assert not loop.own


TESTED_ONCE = """\
\t.text
f:
\tmovq\t(%rdi), %rax
.L2:
\tcmpq\t%rax, %rdx
\tjle\t.L4
.L3:
\tvmovsd\t(%rsi,%rax), %xmm1
\tvaddsd\t%xmm0, %xmm1, %xmm1
\tvmovsd\t%xmm1, (%rsi,%rax)
\taddq\t$8, %rax
\tjmp\t.L2
.L4:
\tret
"""
TESTED_TWICE = TESTED_ONCE.replace("\tjmp\t.L2", "\tcmpq\t%rax, %rdx\n\tjg\t.L3").replace(".L2:\n", "")


def test_a_loop_that_one_code_tests_at_its_entry_too_matches() -> None:
    running, model = read_blocks(TESTED_ONCE, 32), read_blocks(TESTED_TWICE, 32)
    costs = block_costs(running, model, OLD)
    assert not any(cost.own for cost in costs)
    (loop,) = [k for k, block in enumerate(model) if block.loops]
    (body,) = [k for k, block in enumerate(running) if ".L3" in block.labels]
    assert costs[body].cycles == function_cycles(model, OLD)[loop]


def test_a_loop_that_goes_on_elsewhere_does_not_match() -> None:
    other = f"{TESTED_TWICE}.L5:\n\tvmovsd\t(%rsi), %xmm0\n\tret\n".replace("jle\t.L4", "jle\t.L5")
    assert any(cost.own for cost in block_costs(read_blocks(TESTED_ONCE, 32), read_blocks(other, 32), OLD))


ADDED = "\tvmovsd\t(%rsi), %xmm1\n\tvaddsd\t%xmm0, %xmm1, %xmm1\n\tvmovsd\t%xmm1, (%rsi)\n"
LOOPED = f".LOOP:\n{ADDED}\taddq\t$8, %rsi\n\tcmpq\t%rsi, %rcx\n\tjg\t.LOOP\n"


def two_ways(shared: str, copies: int) -> str:
    """Return code with ``shared`` behind either of two blocks, and without these; once for all, or twice."""
    compared, there = "\tcmpq\t%rax, %rdx\n", ".L5" if copies == 2 else ".L2"
    one = f".L5:\n{shared.replace('.LOOP', '.L6')}\tjmp\t.L3\n" if copies == 2 else ""
    return (
        f"\t.text\nf:\n{compared}\tje\t.L3\n{compared}\tjle\t.L2\n\tmovq\t%rax, (%rdi)\n{compared}"
        f"\tjg\t{there}\n\tmovq\t%rdx, (%rdi)\n{one}.L2:\n{shared.replace('.LOOP', '.L7')}.L3:\n\tret\n"
    )


def test_straight_code_that_two_ways_have_each_for_itself_matches() -> None:
    running, model = (read_blocks(two_ways(ADDED, copies), 32) for copies in (2, 1))
    costs = block_costs(running, model, OLD)
    assert not any(cost.own for cost in costs)
    cycles = {"".join(b.labels): c for b, c in zip(model, function_cycles(model, OLD), strict=True)}
    found = {"".join(block.labels): cost.cycles for block, cost in zip(running, costs, strict=True)}
    assert found[".L5"] == found[".L2"] == cycles[".L2"] > 0


def test_loops_that_two_ways_have_each_for_itself_do_not_match() -> None:
    running, model = (read_blocks(two_ways(LOOPED, copies), 32) for copies in (2, 1))
    assert any(cost.own for cost in block_costs(running, model, OLD))


def two_loops(lines: tuple[int, int], further: str) -> str:
    """Return code with two loops, and ``further`` on another way."""
    loops = [
        f"\t.loc 1 {line} 1\n{LOOPED.replace('.LOOP', f'.L{3 + k}')}{ADDED if k else ''}"
        for k, line in enumerate(lines)
    ]
    head = '\t.text\n\t.file 1 "a.c"\nf:\n\tcmpq\t%rax, %rdx\n\tje\t.L9\n'
    return f"{head}{''.join(loops)}\tret\n.L9:\n{further}\tret\n"


def test_loops_match_where_their_function_differs_elsewhere() -> None:
    branch = "\tcmpq\t%rsi, %rdi\n\tje\t.L8\n\tmovq\t%rax, (%rdi)\n.L8:\n"
    running = read_blocks(two_loops((5, 5), branch), 32)
    for lines, match in (((5, 7), True), ((5, 9), False)):
        model = read_blocks(two_loops(lines, ""), 32)
        costs = block_costs(running, model, OLD)
        own = [cost.own for block, cost in zip(running, costs, strict=True) if block.loops]
        assert own == [False, not match]


FURTHER = "\t.loc 1 3\n\tcmpq\t%rsi, %rdi\n\tje\t.L8\n\tmovq\t%rax, (%rdi)\n.L8:\n"
STEP = f"{ADDED}\taddq\t$8, %rsi\n"


def far_loop(further: str, loop: str) -> str:
    """Return code with ``further`` ahead of a call, and ``loop`` behind it."""
    head = '\t.text\n\t.file 1 "a.c"\nf:\n\t.loc 1 2\n\tcmpq\t%rax, %rdx\n\tje\t.L9\n'
    return f"{head}{further}\t.loc 1 5\n\tcall\twait\n{loop}.L9:\n\t.loc 1 40\n\tret\n"


@pytest.mark.parametrize(("line", "near"), [(9, True), (11, True), (29, False)])
def test_ways_begin_anew_at_a_call_that_a_line_has_once(line: int, near: bool) -> None:
    test = ".L6:\n\t.loc 1 9\n\tcmpq\t%rsi, %rcx\n\tjg\t.L7\n"
    running = read_blocks(far_loop(FURTHER, f"\tjmp\t.L6\n.L7:\n\t.loc 1 10\n{STEP}{test}"), 32)
    whole = f".L7:\n\t.loc 1 {line + 1}\n{STEP}\t.loc 1 {line}\n\tcmpq\t%rsi, %rcx\n\tjg\t.L7\n"
    model = read_blocks(far_loop("", whole), 32)
    costs = dict(zip(("".join(b.labels) for b in running), block_costs(running, model, OLD), strict=True))
    (cycles,) = [c for b, c in zip(model, function_cycles(model, OLD), strict=True) if b.loops]
    assert costs[".L7"].own == costs[".L6"].own == (not near)
    if near:  # the model's loop is one block
        assert (costs[".L7"].cycles, costs[".L6"].cycles) == (0, cycles)


SOURCE = """\
#include <stdint.h>
int wide(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    unsigned __int128 x = ((unsigned __int128)a << 64) | b, y = ((unsigned __int128)c << 64) | d;
    return x + y < x ? 1 : x < y ? 2 : x == y ? 3 : 4;
}
double sum(int n, const double *x) {
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i] > 3 ? x[i] * 2 : -x[i];
    return s;
}
int pick(int k) {
    switch (k) { case 0: return 5; case 1: return 7; case 2: return 11;
                 case 3: return 2; case 4: return 9; case 5: return 1; }
    return 0;
}
"""

DRIVER = """\
#include <pthread.h>
#include "swb_count.h"
int wide(uint64_t, uint64_t, uint64_t, uint64_t);
double sum(int, const double *);
int pick(int);
static double x[100];
static uint64_t cycles[4], again[4];
static double results[4];
static void *cpe(void *arg) {
    long me = (long)arg;
    swb_count_start();
    double r = sum(10 * (me + 1), x);
    cycles[me] = swb_count_take();
    again[me] = swb_count_take();
    for (int k = 0; k < 7; k++) r = 3 * r + pick(k) + wide(k, ~0ull, me, k) + wide(~0ull, k, me, k);
    results[me] = r;
    return 0;
}
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 100; i++) x[i] = i;
    for (long i = 0; i < 4; i++) pthread_create(t + i, 0, cpe, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    printf("{\\"any\\": %d, \\"sum\\": %.17g, \\"cycles\\": [", swb_count_any(), sum(3, x));
    for (int i = 0; i < 4; i++) printf("%s%llu", i ? ", " : "", (unsigned long long)cycles[i]);
    printf("], \\"again\\": %d, \\"results\\": [", (int)(again[0] + again[1] + again[2] + again[3]));
    for (int i = 0; i < 4; i++) printf("%s%.17g", i ? ", " : "", results[i]);
    printf("], \\"lines\\": ");
    swb_count_write(stdout);
    printf("}\\n");
    return 0;
}
"""


def build_and_run(tmp_path: Path, level: str, counting: bool, *options: str) -> dict[str, object]:
    (tmp_path / "k.c").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "main.c").write_text(DRIVER, encoding="utf-8")
    for name, flags in (("k.s", RUNNING), ("model.s", costed("gcc"))):
        subprocess.run(["gcc", level, *flags, *options, "-o", name, "k.c"], cwd=tmp_path, check=True)
    if counting:
        texts = [(tmp_path / name).read_text(encoding="utf-8") for name in ("k.s", "model.s")]
        (tmp_path / "k.s").write_text(instrument(*texts, OLD), encoding="utf-8")
    runtime = header_path() / "swb_count.c"
    command = ["gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-I", header_path(), "-o", "run"]
    subprocess.run([*command, "main.c", "k.s", runtime], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


@needs_gcc
@pytest.mark.parametrize("options", [("-O0",), ("-O2",), ("-O3", "-fPIC")])
def test_code_that_counts_gives_the_same_results(tmp_path: Path, options: tuple[str, ...]) -> None:
    plain = build_and_run(tmp_path, *options[:1], False, *options[1:])
    counting = build_and_run(tmp_path, *options[:1], True, *options[1:])
    assert counting["results"] == plain["results"]
    assert (plain["any"], counting["any"]) == (0, 1)


@needs_gcc
def test_cycles_grow_with_the_work_and_do_not_depend_on_the_box(tmp_path: Path) -> None:
    first = build_and_run(tmp_path, "-O2", True)
    cycles = first["cycles"]
    assert isinstance(cycles, list)
    growth = [later - earlier for earlier, later in pairwise(cycles)]
    assert min(growth) > 20
    assert first["again"] == 0
    for _ in range(3):
        done = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["cycles"] == cycles


@needs_gcc
def test_passes_are_counted_by_source_line(tmp_path: Path) -> None:
    lines = build_and_run(tmp_path, "-O2", True)["lines"]
    assert isinstance(lines, list)
    assert {Path(entry["file"]).name for entry in lines} == {"k.c"}
    loop = [entry for entry in lines if entry["line"] in (8, 9)]
    assert 10 + 20 + 30 + 40 in [entry["passes"] for entry in loop]
    assert all(entry["cycles"] > 0 for entry in loop)


@needs_gcc
@pytest.mark.parametrize("level", ["-O2", "-O3"])
def test_clearing_and_copying_stay_loops_that_are_counted(level: str, tmp_path: Path) -> None:
    source = "struct s { double x[64]; };\n"
    source += "void f(double *a, int n) { for (int i = 0; i < n; i++) a[i] = 0; }\n"
    source += "void g(struct s *a, struct s *b) { *a = *b; }\n"
    (tmp_path / "c.c").write_text(source, encoding="utf-8")
    for flags in (RUNNING, costed("gcc")):
        subprocess.run(["gcc", level, *flags, "-o", "c.s", "c.c"], cwd=tmp_path, check=True)
        text = (tmp_path / "c.s").read_text(encoding="utf-8")
        assert "memset" not in text and "memcpy" not in text and "rep " not in text
        assert sum(block.loops for block in read_blocks(text, 32)) >= 2


@needs_gcc
def test_blocks_know_their_place_and_end_behind_calls(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text("void g(void);\nvoid f(void) {\n g();\n g();\n}\n", encoding="utf-8")
    subprocess.run(["gcc", "-O1", *RUNNING, "-o", "c.s", "c.c"], cwd=tmp_path, check=True)
    found = read_blocks((tmp_path / "c.s").read_text(encoding="utf-8"), 32)
    assert [block.line for block in found] == [2, 4, 5]
    assert [block.labels for block in found] == [("f",), (), ()]


def test_the_command_form_does_the_same_and_takes_numbers(tmp_path: Path) -> None:
    text = "\t.text\nf:\n\taddsd\t%xmm1, %xmm0\n\taddsd\t%xmm0, %xmm0\n\tret\n"
    (tmp_path / "in.s").write_text(text, encoding="latin-1")
    files = [str(tmp_path / name) for name in ("in.s", "in.s", "out.s")]
    assert main(["sw26010-pro", *files]) == 0
    plain = (tmp_path / "out.s").read_text(encoding="latin-1")
    assert plain == instrument(text, text, NEW)
    assert main(["sw26010-pro", *files, "pipes.float_latency=9"]) == 0
    assert (tmp_path / "out.s").read_text(encoding="latin-1") != plain
    assert main(["cray", "a", "b", "c"]) == 2


def test_a_file_without_code_is_left_alone() -> None:
    assert instrument("\t.data\nx:\t.long 3\n", "", OLD) == "\t.data\nx:\t.long 3\n"


@needs_gcc
def test_multiply_adds_are_no_calls_in_code_that_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_fuses", lambda: True)
    source = "double f(double a, double b, double c) { return __builtin_fma(a, b, c); }\n"
    assert running(b"int f(void);") == RUNNING
    assert running(b"struct sw64_cpu { int r; }; " + source.encode()) == RUNNING  # made from assembly
    for more in (running(source.encode()), costed("gcc")):
        text = assembly(tmp_path, source, *more)
        assert "\tvfmadd" in text and "\tcall" not in text and "\tjmp" not in text
    monkeypatch.setattr(counting, "_fuses", lambda: False)
    assert running(source.encode()) == RUNNING
