"""Boxes are got one iteration ahead where nobody writes them and the LDM has room; results stay the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from generation import generated, unit_of
from objects import shared_objects
from turns import MACHINES, in_turn

from swbuild.attempt import RegionResult
from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.compilation import compile_regions
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Name
from swbuild.expressions.trees import names_in
from swbuild.frontend import CppOptions, read_source
from swbuild.kernelir.nodes import (
    Begin,
    Block,
    Compute,
    Direction,
    Group,
    Guard,
    Loop,
    Node,
    Place,
    Rotate,
    Transfer,
    Wait,
    Whole,
)
from swbuild.kernelir.origin import Origin, Role
from swbuild.kernelir.passes import transform, walk
from swbuild.kernelir.prefetching import prefetched
from swbuild.kernelir.scope import Held, Scope
from swbuild.kernelir.transfers import Limits, allot_replies
from swbuild.kernelir.verify import faults
from swbuild.options import Distribution, KernelOptions, Prefetch, Preset
from swbuild.planning.slots import Room

N, T = Name("n"), Name("t")
GETS, PUTS = Group(0, Direction.GET), Group(0, Direction.PUT)
EARLY = replace(GETS, ahead=True)
BUFFER = Held((32,), 8, 256, 1, 64, frozenset({"S0"}), loaded=True)
TWICE = replace(BUFFER, slots=2)
SCOPE = Scope(frozenset({"n"}), {"A": TWICE, "B": BUFFER}, {}, 1024, Limits(4096, 4096, 4))


def get(buffer: str) -> tuple[Node, Node]:
    return Place(buffer, (T,), (Constant(32),)), Transfer(buffer, 0, Whole(), GETS)


STORE = (Begin(PUTS, dynamic=False), Transfer("B", 0, Whole(), PUTS), Wait(PUTS, count=1))
COMPUTE = Compute("S0", Name("n"), (T,))


def tiles(*nodes: Node) -> Loop:
    condition = Binary(BinaryOperator.LT, T, N)
    return Loop("t", Constant(0), condition, 32, Block(nodes), Origin(Role.ROUND))


BOTH = tiles(Begin(GETS, dynamic=False), *get("A"), *get("B"), Wait(GETS, count=2), COMPUTE, *STORE)


def anything(_: str, __: frozenset[str]) -> bool:
    return True


def made(node: Node = BOTH) -> Node:
    found = prefetched(node, lambda name: name == "A", anything)
    assert found.buffers == {"A"}
    return found.tree


def test_the_first_box_comes_before_the_loop_and_each_next_one_during_an_iteration() -> None:
    first, loop = made().children  # type: ignore[union-attr]
    assert isinstance(first, Guard) and first.condition == Binary(BinaryOperator.LT, Constant(0), N)
    wait, rotate, ahead, *rest = loop.body.children
    assert (wait, rotate) == (Wait(EARLY, count=1), Rotate(("A",)))
    following = Binary(BinaryOperator.ADD, T, Constant(32))
    assert ahead.condition == Binary(BinaryOperator.LT, following, N)
    assert Place("A", (following,), (Constant(32),)) in walk(ahead)
    assert [n for n in walk(ahead) if isinstance(n, Transfer)] == [Transfer("A", 1, Whole(), EARLY)]
    assert rest[0] == Begin(GETS, dynamic=False) and Wait(GETS, count=1) in rest
    assert get("A")[0] in rest and get("A")[1] not in rest


def test_what_is_made_is_sound_and_uses_reply_words_of_its_own() -> None:
    tree = allot_replies(made())
    assert faults(tree, SCOPE) == ()
    words = {n.group.ahead: n.group.reply for n in walk(tree) if isinstance(n, Wait) and n.group.level == 0}
    assert words[True] != words[False]


def without(kind: type) -> Node:
    """Return the tree without the first of its nodes of ``kind``."""
    gone = next(node for node in walk(made()) if isinstance(node, kind))
    return transform(made(), lambda node: Block(()) if node == gone else node)


def unguarded(*, first: bool) -> Node:
    """Return the tree in which the first, or every next, box is got without asking for its iteration."""

    def change(node: Node) -> Node:
        if not isinstance(node, Guard) or ("t" not in names_in(node.condition)) != first:
            return node
        return node.then

    return transform(made(), change)


BROKEN = {
    "never turned to the slot": (without(Rotate), "in a slot that was never filled"),
    "no first box": (without(Guard), "without being open"),
    "no wait": (without(Wait), "begun again before they are waited for"),
    "next box without a next iteration": (unguarded(first=False), "are never waited for"),
    "first box without a first iteration": (unguarded(first=True), "are never waited for"),
    "turned while a box comes": (
        transform(made(), lambda n: Block((n, Rotate(("A",)))) if isinstance(n, Guard) else n),
        "while early gets of level 0 are in flight",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_faults_are_found(name: str) -> None:
    tree, what = BROKEN[name]
    assert any(what in fault for fault in faults(tree, SCOPE)), faults(tree, SCOPE)


def test_a_buffer_without_another_slot_is_not_turned() -> None:
    scope = replace(SCOPE, buffers={"A": BUFFER, "B": BUFFER})
    assert any("has none" in fault for fault in faults(made(), scope))


def test_gets_that_are_not_at_the_beginning_stay_where_they_are() -> None:
    late = tiles(COMPUTE, Begin(GETS, dynamic=False), *get("A"), Wait(GETS, count=1))
    once = replace(BOTH, condition=None)
    for tree in (late, once):
        assert prefetched(tree, lambda _: True, anything).tree == tree


def test_what_is_stored_meanwhile_is_asked_for() -> None:
    asked: list[tuple[str, frozenset[str]]] = []

    def beside(name: str, stored: frozenset[str]) -> bool:
        asked.append((name, stored))
        return False

    assert prefetched(BOTH, lambda _: True, beside).tree == BOTH
    assert asked == [("A", frozenset({"B"})), ("B", frozenset({"B"}))]


def test_a_box_does_not_come_early_where_the_iteration_gets_others_of_its_buffer() -> None:
    inner = replace(tiles(Begin(GETS, dynamic=False), *get("A"), Wait(GETS, count=1), COMPUTE), iterator="k")
    outer = tiles(Begin(GETS, dynamic=False), *get("A"), Wait(GETS, count=1), COMPUTE, inner)
    found = prefetched(outer, lambda _: True, anything).tree
    assert isinstance(found, Loop) and isinstance(found.body, Block) and isinstance(outer.body, Block)
    assert found.body.children[:5] == outer.body.children[:5] and found.body.children[5] != inner


HEAD = """void f(int n, int m, double *restrict a, double *restrict b, double c[n][m]) {
#pragma scop
"""
LINE = "for (int i = 0; i < n; i++) b[i] = 2 * a[i];"
ITSELF = "for (int i = 0; i < n; i++) a[i] = 2 * a[i];"
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[i] += c[i][j] * a[j];"
STEPS = """for (int t = 0; t < m; t++) {
  for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1] + t;
  for (int i = 1; i < n - 1; i++) a[i] = b[i] * 0.5 + b[i - 1];
}"""
BELOW = """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)
  for (int k = i + 1; k < n; k++) c[i][j] += a[k] * c[k][j];"""
AGAIN = """for (int t = 0; t < m; t++) for (int i = 0; i < n; i++)
  for (int k = 0; k < n; k++) if (k != 2) b[i] += a[k];"""
BODIES = {
    "again": AGAIN,
    "line": LINE,
    "itself": ITSELF,
    "rows": ROWS,
    "steps": STEPS,
    "below": BELOW,
}


def slave(directory: Path, body: str, options: KernelOptions | None = None) -> str:
    found = generated(directory, f"{HEAD}{body}\n#pragma endscop\n}}\n", options)
    assert found.slave is not None
    return found.slave.text


def test_arrays_that_are_only_read_have_two_slots(tmp_path: Path) -> None:
    text = slave(tmp_path, LINE)
    assert "*a_ldm = sw_ldm_f.f_k0.a, *a_next = sw_ldm_f.f_k0.a + " in text
    assert "2 x " in text and "get one iteration ahead" in text
    assert "a_next" in slave(tmp_path, ITSELF)  # no tile needs what another one stores


def test_prefetching_may_be_switched_off_and_is_no_part_of_the_classic_preset(tmp_path: Path) -> None:
    assert "_next" not in slave(tmp_path, LINE, KernelOptions(prefetch=Prefetch.NEVER))
    assert "_next" not in slave(tmp_path, LINE, KernelOptions(preset=Preset.CLASSIC))


def test_second_slots_stay_within_the_budget(tmp_path: Path) -> None:
    small = KernelOptions(tile=(64,), ldm_budget=64 * 8 * 2 + 8)
    assert "_next" not in slave(tmp_path, LINE, small)
    assert "a_next" in slave(tmp_path, LINE, replace(small, ldm_budget=64 * 8 * 3))


def test_a_counter_is_declared_for_groups_that_turn_out_to_be_empty(tmp_path: Path) -> None:
    """Elements are stored one by one, so that the group of a tile of odd length issues nothing."""
    odd = "for (int i = 1; i < m; i += 2) { a[i + 3] = 17; a[i + 8] = 19; }"
    text = slave(tmp_path, odd, KernelOptions(tile=(7,), distribution=Distribution.BLOCK))
    assert "sw_issued = 0;" in text.replace("int sw_issued = 0;", "") and "int sw_issued = 0;" in text


def test_boxes_come_early_from_an_array_that_is_stored_outside_the_loop(tmp_path: Path) -> None:
    text = slave(tmp_path, BELOW, KernelOptions(machine="sw26010-pro"))
    assert "c_2_next" in text and "c_next" not in text


def test_boxes_do_not_come_early_where_the_loop_stores_their_array(tmp_path: Path) -> None:
    path = tmp_path / "below.c"
    path.write_text(f"{HEAD}{BELOW}\n#pragma endscop\n}}\n")
    (found,) = (item.result for item in compile_regions(read_source(path, CppOptions(), None), {}))
    assert isinstance(found, RegionResult)
    room = Room(found.placed[0])
    assert room.may_come_beside("c_2", frozenset()) and room.may_come_beside("a", frozenset({"c"}))
    assert not room.may_come_beside("c_2", frozenset({"a", "c"}))


def test_gemm_gets_what_it_multiplies_ahead() -> None:
    found = unit_of("gemm", KernelOptions())
    assert found.slave is not None
    assert "A_next" in found.slave.text and "B_next" in found.slave.text and "C_next" not in found.slave.text


PROGRAM = "\n".join(
    HEAD.replace("void f", f"void {name}") + body + "\n#pragma endscop\n}" for name, body in BODIES.items()
)


@pytest.mark.parametrize(("threads", "machine"), in_turn([(0, 0), (1, 3)], MACHINES))
def test_results_are_those_of_the_serial_loops(
    tmp_path: Path, machine: str, threads: tuple[int, int]
) -> None:
    path = tmp_path / "ahead.c"
    path.write_text(PROGRAM)
    sizes = ({"n": 1, "m": 3}, {"n": 67, "m": 5}, {"n": 331, "m": 4}, {"n": 40, "m": 0}, {"n": 0, "m": 1})
    options = KernelOptions(machine=machine, threads=threads, tile=(7,))
    task = SourceTask(
        path,
        options=dict.fromkeys(BODIES, options),
        checks={name: RegionCheck(sizes=sizes) for name in BODIES},
    )
    results = check_source(task, CheckSettings(), tmp_path, shared_objects())
    assert {result.region for result in results} == set(BODIES)
    assert [explain(r) for r in results if r.outcome is not Outcome.PASS] == []
