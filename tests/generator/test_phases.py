"""Kernels share a spawn where nothing of the host's comes between them; results stay the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from generation import generated
from objects import shared_objects
from turns import MACHINES, in_turn

from swbuild.attempt import RegionResult
from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.codegen.unit import GeneratedUnit
from swbuild.compilation import compile_regions
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Name
from swbuild.frontend import CppOptions, read_source
from swbuild.kernelir.nodes import Barrier, Block, Compute, Fence, Guard, Launch, Loop, Node, Phase
from swbuild.kernelir.origin import Origin, Role
from swbuild.kernelir.passes import transform, walk
from swbuild.kernelir.phases import share_spawns
from swbuild.kernelir.scope import Between, Scope
from swbuild.kernelir.verify import faults
from swbuild.options import Distribution, Fusion, KernelOptions, Preset, Spawn, Where

ON_HOST = Compute("S0", Name("x"), ())
FIRST, SECOND = Launch("k0", ()), Launch("k1", ())
A, B = Phase("k0", ()), Phase("k1", ())
POSITIVE = Binary(BinaryOperator.GT, Name("n"), Constant(0))


def steps(*nodes: Node, end: str = "m", iterator: str = "t") -> Loop:
    condition = Binary(BinaryOperator.LT, Name(iterator), Name(end))
    return Loop(iterator, Constant(0), condition, 1, Block(nodes), Origin(Role.HOST))


def apart(*_: str) -> Between:
    return Between.BARRIER


TREES = {
    "alone": (FIRST, FIRST, ()),
    "in a row": (Block((FIRST, SECOND)), Block((Launch("s0", ()),)), (Block((A, Barrier(), B)),)),
    "in a loop": (steps(FIRST), Launch("s0", ()), (steps(A, Barrier()),)),
    "by its guard": (
        Guard(POSITIVE, Block((FIRST, SECOND))),
        Guard(POSITIVE, Block((Launch("s0", ()),))),
        (Block((A, Barrier(), B)),),
    ),
    "between statements": (
        Block((Launch("k2", ()), ON_HOST, FIRST, SECOND, ON_HOST)),
        Block((Launch("k2", ()), ON_HOST, Launch("s0", ()), ON_HOST)),
        (Block((A, Barrier(), B)),),
    ),
    "elsewhere alone": (
        Block((steps(FIRST), ON_HOST, FIRST)),
        Block((Launch("s0", ()), ON_HOST, Launch("s1", ()))),
        (steps(A, Barrier()), A),
    ),
    "inside a loop of the host": (
        steps(ON_HOST, steps(Launch("k0", (Name("t"),)), end="t", iterator="u")),
        steps(ON_HOST, Launch("s0", (Name("t"),))),
        (steps(Phase("k0", (Name("t"),)), Barrier(), end="t", iterator="u"),),
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_the_largest_parts_without_the_host_share_a_spawn(name: str) -> None:
    host, left, bodies = TREES[name]
    tree, found = share_spawns(host, lambda _: True, "s", frozenset({"n", "m", "x"}), apart)
    assert tree == left
    assert tuple(shared.body for shared in found) == bodies


def test_what_may_not_share_has_spawns_of_its_own() -> None:
    tree, found = share_spawns(
        Block((FIRST, SECOND, FIRST)), lambda names: "k1" not in names, "s", frozenset(), apart
    )
    assert tree == Block((FIRST, SECOND, FIRST)) and not found


def between(one: str, other: str) -> Between:
    """A single CPE runs k0 and k1; k2 shares data with k1, and k3 with nobody."""
    pair = {one, other}
    if pair <= {"k0", "k1"}:
        return Between.FENCE
    return Between.BARRIER if pair <= {"k1", "k2"} else Between.NOTHING


K0, K1, K2, K3 = (Launch(f"k{number}", ()) for number in range(4))
P0, P1, P2, P3 = (Phase(f"k{number}", ()) for number in range(4))
NEEDED = {
    "nothing shared": (Block((K2, K3, K0)), Block((P2, P3, P0))),
    "one CPE": (Block((K0, K3, K1)), Block((P0, Fence(), P3, P1))),
    "past a third": (Block((K1, K3, K2)), Block((P1, Barrier(), P3, P2))),
    "from one iteration to the next": (
        steps(K2, K0, K3, K1),
        steps(P2, Barrier(), P0, Fence(), P3, P1, Barrier()),
    ),
    "only to the next iteration": (steps(K3, K1, K0), steps(P3, P1, Fence(), P0, Fence())),
    "into a loop and out of it": (
        Block((K2, steps(K3, K3), K1)),
        Block((P2, Barrier(), steps(P3, P3), P1)),
    ),
    "over a condition": (
        Block((K1, Guard(POSITIVE, K2, K3), K2)),
        Block((P1, Barrier(), Guard(POSITIVE, Block((P2, Barrier())), P3), P2)),
    ),
}


@pytest.mark.parametrize("name", NEEDED)
def test_barriers_come_where_data_are_shared_alone(name: str) -> None:
    host, body = NEEDED[name]
    _, (shared,) = share_spawns(host, lambda _: True, "s", frozenset({"n", "m"}), between)
    assert shared.body == body
    scope = Scope(frozenset({"n", "m"}), phases={f"k{k}": 0 for k in range(4)}, between=between)
    assert faults(shared.body, scope) == ()
    ways = [node for node in walk(shared.body) if isinstance(node, (Barrier, Fence))]
    bare = transform(shared.body, lambda node: Block(()) if isinstance(node, (Barrier, Fence)) else node)
    assert bool(faults(bare, scope)) == bool(ways)


UNMET = {
    "two phases": Block((A, B)),
    "a loop": steps(A),
    "a barrier under a condition": Block((A, Guard(POSITIVE, Barrier()), B)),
    "a phase under a condition": Block((Guard(POSITIVE, A), B)),
    "the end of a loop and what follows": Block((steps(Barrier(), A), B)),
}


@pytest.mark.parametrize("name", UNMET)
def test_a_missing_barrier_is_found(name: str) -> None:
    scope = Scope(frozenset({"n", "m"}), phases={"k0": 0, "k1": 0})
    assert any("no barrier comes between" in fault for fault in faults(UNMET[name], scope))


def test_phases_that_meet_are_sound() -> None:
    scope = Scope(frozenset({"n", "m"}), phases={"k0": 0, "k1": 0})
    body = Block((A, Barrier(), Guard(POSITIVE, Block((B, Barrier()))), steps(A, Barrier(), B, Barrier()), A))
    assert faults(body, scope) == ()
    assert faults(Phase("k2", ()), scope) == ("k2 is a phase and is no kernel of the region",)
    assert faults(Phase("k1", (Constant(1),)), scope) == ("k1 is a phase with 1 values for 0 loops",)


LEVEL = "double level = 0.5;\n"
HEAD = "void f(int n, int m, double *restrict a, double *restrict b, double *restrict s) {\n#pragma scop\n"
STEPS = """for (int t = 0; t < m; t++) {
  for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1] + t;
  for (int i = 1; i < n - 1; i++) a[i] = b[i] * 0.5 + b[i - 1];
}"""
SCALAR = """for (int t = 0; t < m; t++) {
  for (int i = 0; i < n; i++) b[i] = a[n - 1 - i] + level;
  for (int i = 0; i < n; i++) { a[i] = b[i]; if (i == 5) level = a[i]; }
}"""
UNRELATED = """for (int t = 0; t < m; t++) {
  for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1] + t;
  for (int i = 1; i < n - 1; i++) s[i] = s[i] * 0.5 + a[n - 1 - i];
  for (int i = 1; i < n - 1; i++) a[i] = b[n - 1 - i] * 0.5 + 1.0;
}"""
SUM = """for (int t = 0; t < m; t++) {
  for (int i = 0; i < n; i++) *s = *s + a[i];
  for (int i = 0; i < n; i++) a[i] = a[i] * 0.5 + *s;
}"""
MIXED = """for (int t = 0; t < m; t++) {
  for (int i = 1; i < n; i++) s[i] = s[i - 1] + a[i];
  for (int i = 1; i < n; i++) b[i] = s[i] * 2.0 + a[i];
  for (int i = 0; i < n; i++) a[i] = b[n - 1 - i] + t;
}"""


def unit(directory: Path, body: str, options: KernelOptions | None = None) -> GeneratedUnit:
    return generated(directory, f"{LEVEL}{HEAD}{body}\n#pragma endscop\n}}\n", options)


def spawns(found: GeneratedUnit) -> list[str]:
    return re.findall(r"athread_spawn\((\w+),", found.host.text)


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_one_spawn_has_the_loop_and_a_barrier_after_each_kernel(tmp_path: Path, machine: str) -> None:
    found = unit(tmp_path, STEPS, KernelOptions(machine=machine, distribution=Distribution.BLOCK))
    assert spawns(found) == ["f_s0"] and found.slave is not None
    barrier = {"sw26010": "athread_syn(ARRAY_SCOPE, 0xffff);", "sw26010-pro": "athread_ssync_array();"}[
        machine
    ]
    body = found.slave.text.partition("void f_s0(")[2]
    assert body.index("for (long t = 0; t < m; t++)") < body.index("f_k0(sw_args, t);")
    assert body.count(barrier) == 2


def test_kernels_that_share_nothing_have_no_barrier_in_between(tmp_path: Path) -> None:
    found = unit(tmp_path, UNRELATED, KernelOptions(fusion=Fusion.MIN))
    assert spawns(found) == ["f_s0"] and found.slave is not None
    body = found.slave.text.partition("void f_s0(")[2]
    calls = re.findall(r"f_k\d|athread_syn", body)
    assert len([call for call in calls if call.startswith("f_k")]) == 3 and calls.count("athread_syn") == 2
    (spawn,) = found.regions[0].report["spawns"]
    assert spawn["barriers"] == 2 and {"a", "b"} <= {item["array"] for item in spawn["because"]}


def test_the_user_may_have_a_spawn_for_each_kernel(tmp_path: Path) -> None:
    assert spawns(unit(tmp_path, STEPS, KernelOptions(spawn=Spawn.KERNEL))) == ["f_k0", "f_k1"]
    assert spawns(unit(tmp_path, STEPS, KernelOptions(preset=Preset.CLASSIC))) == ["f_k0", "f_k1"]


def test_what_the_host_does_in_between_separates_spawns(tmp_path: Path) -> None:
    parts = unit(tmp_path, SUM, KernelOptions(reassociate=True))
    assert spawns(parts) == ["f_k0", "f_k1"]  # the host combines the parts of the sum
    assert spawns(unit(tmp_path, MIXED)) == ["f_s0"]


def test_a_scalar_that_a_phase_changes_is_read_by_the_next(tmp_path: Path) -> None:
    found = unit(tmp_path, SCALAR)
    assert spawns(found) == ["f_s0"] and found.slave is not None
    assert "const double level = *sw_args->level;" in found.slave.text


PROGRAM = LEVEL + "\n".join(
    HEAD.replace("void f", f"void {name}") + body + "\n#pragma endscop\n}"
    for name, body in {"steps": STEPS, "scalar": SCALAR, "mixed": MIXED, "unrelated": UNRELATED}.items()
)


@pytest.mark.parametrize(("threads", "machine"), in_turn([(0, 0), (8, 8), (1, 7), (3, 5)], MACHINES))
def test_results_are_those_of_the_serial_loops(
    tmp_path: Path, machine: str, threads: tuple[int, int]
) -> None:
    path = tmp_path / "phases.c"
    path.write_text(PROGRAM)
    names = ("steps", "scalar", "mixed", "unrelated")
    sizes = ({"n": 1, "m": 3}, {"n": 67, "m": 1}, {"n": 331, "m": 4}, {"n": 40, "m": 0})
    options = KernelOptions(machine=machine, threads=threads, tile=(7,))
    task = SourceTask(
        path,
        options=dict.fromkeys(names, options),
        checks={name: RegionCheck(sizes=sizes) for name in names},
    )
    results = check_source(task, CheckSettings(), tmp_path, shared_objects())
    assert {result.region for result in results} == set(names)
    assert [explain(r) for r in results if r.outcome is not Outcome.PASS] == []


def test_spawns_that_run_one_kernel_have_one_struct(tmp_path: Path) -> None:
    """The host takes part in one of the places to which isl distributes the kernel."""
    path = Path(__file__).parents[1] / "fuzz" / "regressions" / "launched_in_three_places.c"
    found = generated(tmp_path, path.read_text(), KernelOptions(threads=(2, 32)))
    assert len(spawns(found)) > 1
    assert len(set(re.findall(r"struct (\w+) sw_args;", found.host.text))) == 1
    assert found.header.text.count("_args {") == 1


def test_boxes_that_are_put_twice_are_loaded(tmp_path: Path) -> None:
    """isl makes two loops over tiles of one, and puts in both what only one of them computes."""
    path = Path(__file__).parents[1] / "fuzz" / "regressions" / "puts_in_two_loops.c"
    options = KernelOptions(machine="sw26010-pro", threads=(51, 1), tile=(4, 2), where=Where.CPES)
    source = tmp_path / path.name
    source.write_text(path.read_text())
    (item,) = compile_regions(read_source(source, CppOptions(), None), {"f": options})
    assert isinstance(item.result, RegionResult)
    plans = [kernel.plan for kernel in item.result.assembled.code.kernels]
    assert [b.load and b.reloaded for plan in plans for b in plan.buffers] == [True]
