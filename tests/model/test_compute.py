"""Charging compute time: operations of an instruction, cycles of a block, and code that counts itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from swbuild.emulator.model.instructions import Operation, Unit, operations
from swbuild.emulator.model.instrument import FLAGS, blocks, instrument, main
from swbuild.emulator.model.schedule import block_cycles, fuse
from swbuild.emulator.model.stack import loaded_slots, without_detours
from swbuild.emulator.model.trace import header_path
from swbuild.machine import load
from swbuild.options import Machine

OLD, NEW = load(Machine.SW26010), load(Machine.SW26010_PRO)
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


def units(line: str) -> list[str]:
    return [operation.unit.value for operation in operations(line, OLD)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("\taddsd\t%xmm1, %xmm0", ["float"]),
        ("\taddsd\t8(%rdx), %xmm0", ["memory", "float"]),
        ("\taddsd\t8(%rdx,%rax,8), %xmm0", ["integer", "memory", "float"]),
        ("\tmovsd\t(%rsi), %xmm1", ["memory"]),
        ("\tmovsd\t%xmm1, (%rsi)", ["memory"]),
        ("\tmovsd\t%xmm1, buffer@tpoff+8(%rax)", ["memory"]),
        ("\tmovq\t%fs:0, %rax", ["memory"]),
        ("\tmovapd\t%xmm1, %xmm0", ["none"]),
        ("\tmovl\t$7, %eax", ["integer"]),
        ("\txorl\t%eax, %eax", ["none"]),
        ("\taddl\t$1, 4(%rsp)", ["memory", "integer", "memory"]),
        ("\tincl\t4(%rsp)", ["memory", "integer", "memory"]),
        ("\tcmpq\t%rax, 8(%rcx)", ["memory", "integer"]),
        ("\tleaq\t(%rax,%rbx,4), %rcx", ["integer"]),
        ("\tpushq\t%rbx", ["memory"]),
        ("\tjne\t.L3", ["control"]),
        ("\tcall\tf@PLT", ["control"]),
        ("\t.loc 1 2 3", []),
        (".L3:", []),
        ("\tnop", []),
        ("\trep stosq", ["integer"]),
    ],
)
def test_classes_of_instructions(line: str, expected: list[str]) -> None:
    assert units(line) == expected


def test_a_comparison_with_memory_stores_nothing() -> None:
    assert sum(operation.unit is Unit.MEMORY for operation in operations("\tcmpl\t$3, (%rax)", OLD)) == 1


def test_a_division_occupies_its_pipe() -> None:
    (division,) = operations("\tdivsd\t%xmm1, %xmm0", OLD)
    assert division.slots == OLD.compute.divide_cycles


def test_half_a_vector_register_is_half_an_operation() -> None:
    (old,) = operations("\taddpd\t%xmm1, %xmm0", OLD)
    (new,) = operations("\taddpd\t%xmm1, %xmm0", NEW)
    assert (old.slots, new.slots) == (0.5, 0.25)


def parse(*lines: str) -> list[Operation]:
    return [operation for line in lines for operation in operations("\t" + line, OLD)]


def test_a_product_and_its_sum_are_one_operation() -> None:
    fused = fuse(parse("mulsd %xmm1, %xmm0", "addsd %xmm0, %xmm2"))
    assert [operation.unit for operation in fused] == [Unit.NONE, Unit.FLOAT]
    assert {"v0", "v1", "v2"} <= fused[1].reads


def test_a_product_that_something_else_reads_stays() -> None:
    fused = fuse(parse("mulsd %xmm1, %xmm0", "movsd %xmm0, (%rax)", "addsd %xmm0, %xmm2"))
    assert fused[0].unit is Unit.FLOAT and fused[0].slots == 1.0


def test_independent_operations_share_the_two_pipes() -> None:
    adds = parse("addsd %xmm0, %xmm1", "addsd %xmm0, %xmm2", "addsd %xmm0, %xmm3")
    loads = parse("movsd (%rax), %xmm4", "movsd (%rbx), %xmm5", "movsd (%rcx), %xmm6")
    assert block_cycles(adds, OLD) == 3.0
    assert block_cycles(adds + loads, OLD) == 3.0


def test_a_chain_takes_its_latencies() -> None:
    chain = parse("addsd %xmm0, %xmm1", "addsd %xmm1, %xmm2", "addsd %xmm2, %xmm3")
    assert block_cycles(chain, OLD) == 2 * OLD.compute.float_latency + 1.0


def test_a_loop_costs_at_least_its_recurrence() -> None:
    loop = parse("addsd (%rax), %xmm1", "addq $8, %rax", "cmpq %rax, %rcx", "jne .L3")
    assert block_cycles(loop, OLD, loops=True) >= OLD.compute.float_latency
    assert block_cycles(loop, NEW, loops=True) >= NEW.compute.float_latency


def test_unrolling_hides_latency() -> None:
    loop = parse(
        "movsd (%rax), %xmm1", "addsd %xmm0, %xmm1", "movsd %xmm1, (%rax)", "addq $8, %rax", "jne .L3"
    )
    assert block_cycles(loop, OLD, loops=True) < block_cycles(loop, NEW, loops=True)


def stack_units(*lines: str) -> list[str]:
    block = parse(*lines)
    return [operation.unit.value for operation in without_detours(block, loaded_slots([block]))]


def test_a_value_that_passes_through_the_stack_stays_in_its_register() -> None:
    assert stack_units("movapd %xmm1, -24(%rsp)", "movapd -24(%rsp), %xmm2") == ["none", "none"]


def test_a_stack_place_that_is_loaded_elsewhere_is_really_stored() -> None:
    block, other = parse("movapd %xmm1, -24(%rsp)"), parse("movapd -24(%rsp), %xmm2")
    assert [op.unit for op in without_detours(block, loaded_slots([block, other]))] == [Unit.MEMORY]
    assert [op.unit for op in without_detours(other, loaded_slots([block, other]))] == [Unit.MEMORY]


def test_data_elsewhere_is_no_detour() -> None:
    assert stack_units("movapd %xmm1, (%rax)", "movapd (%rax), %xmm2") == ["memory", "memory"]


def test_a_function_that_gives_away_an_address_of_its_stack_keeps_its_stores() -> None:
    plain = "f:\n\tmovsd\t%xmm0, -8(%rsp)\n\tret\n"
    taken = "f:\n\tmovsd\t%xmm0, -8(%rsp)\n\tleaq\t-8(%rsp), %rdi\n\tcall\tg\n\tret\n"
    count = [
        sum(op.unit is Unit.MEMORY for block in blocks(text, OLD) for op in block.operations)
        for text in ("\t.text\n" + plain, "\t.text\n" + taken)
    ]
    assert count == [0, 1]


def test_unrolled_passes_repeat_neither_counters_nor_addresses_nor_jumps() -> None:
    loop = parse("movsd (%rax,%rcx), %xmm1", "addq $8, %rcx", "cmpq %rcx, %rdx", "jne .L3")
    eight = load(Machine.SW26010, overrides={"compute.unroll": 8})
    loads = parse("movsd (%rax), %xmm1") * 8
    assert block_cycles(loop, eight, loops=True) * 8 < block_cycles(loads, OLD) + 8


def test_a_loop_that_is_entered_at_its_test_costs_what_the_same_loop_costs_in_one_block() -> None:
    body = "\tmovsd\t(%rax), %xmm1\n\taddsd\t%xmm0, %xmm1\n\tmovsd\t%xmm1, (%rax)\n"
    test = "\taddq\t$8, %rax\n\tcmpq\t%rax, %rdx\n\tjne\t.L3\n"
    (one,) = blocks(f"\t.text\n.L3:\n{body}{test}", OLD)
    first, second = blocks(f"\t.text\n.L3:\n{body}.L4:\n{test}", OLD)
    assert first.cycles(OLD) + second.cycles(OLD) == one.cycles(OLD)
    apart = block_cycles(first.operations, OLD) + block_cycles(second.operations, OLD)
    assert one.cycles(OLD) < apart / 2


def test_the_mathematical_library_is_charged_and_the_machines_interface_is_not() -> None:
    assert block_cycles(parse("call exp@PLT"), OLD) > OLD.compute.library_cycles
    assert block_cycles(parse("call athread_get@PLT"), OLD) < 10


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
    subprocess.run(["gcc", level, *FLAGS, *options, "-S", "-o", "k.s", "k.c"], cwd=tmp_path, check=True)
    if counting:
        text = (tmp_path / "k.s").read_text(encoding="utf-8")
        (tmp_path / "k.s").write_text(instrument(text, OLD), encoding="utf-8")
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
    subprocess.run(["gcc", level, *FLAGS, "-S", "-o", "c.s", "c.c"], cwd=tmp_path, check=True)
    text = (tmp_path / "c.s").read_text(encoding="utf-8")
    assert "memset" not in text and "memcpy" not in text and "rep " not in text
    assert sum(block.jumps_to(block.label) for block in blocks(text, OLD)) >= 2


@needs_gcc
def test_blocks_know_their_place_and_end_behind_calls(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text("void g(void);\nvoid f(void) {\n g();\n g();\n}\n", encoding="utf-8")
    subprocess.run(["gcc", "-O1", *FLAGS, "-S", "-o", "c.s", "c.c"], cwd=tmp_path, check=True)
    found = blocks((tmp_path / "c.s").read_text(encoding="utf-8"), OLD)
    assert [block.line for block in found] == [2, 4, 5]
    assert [block.label for block in found] == ["f", "", ""]


def test_the_command_form_does_the_same(tmp_path: Path) -> None:
    text = "\t.text\nf:\n\taddsd\t%xmm1, %xmm0\n\tret\n"
    (tmp_path / "in.s").write_text(text, encoding="latin-1")
    assert main(["sw26010-pro", str(tmp_path / "in.s"), str(tmp_path / "out.s")]) == 0
    assert (tmp_path / "out.s").read_text(encoding="latin-1") == instrument(text, NEW)
    assert main(["cray", "a", "b"]) == 2


def test_a_file_without_code_is_left_alone() -> None:
    assert instrument("\t.data\nx:\t.long 3\n", OLD) == "\t.data\nx:\t.long 3\n"
