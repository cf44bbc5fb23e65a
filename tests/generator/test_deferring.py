"""Puts are waited for one iteration later where the LDM has room for another slot; results stay the same."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from generation import EXAMPLES, generated, unit_of
from objects import shared_objects
from turns import MACHINES, in_turn

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Name
from swbuild.kernelir.deferring import deferred
from swbuild.kernelir.nodes import (
    NEXT,
    SPARE,
    Begin,
    Block,
    Compute,
    Deal,
    Direction,
    Group,
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

N, T = Name("n"), Name("t")
GETS, PUTS = Group(0, Direction.GET), Group(0, Direction.PUT)
LATE = replace(PUTS, ahead=True)
READ = Held((32,), 8, 256, 1, 64, frozenset({"S0"}), loaded=True)
WRITTEN = replace(READ, slots=2, loaded=False)
SCOPE = Scope(frozenset({"n"}), {"A": READ, "B": WRITTEN}, {}, 1024, Limits(4096, 4096, 4))


def tile(buffer: str, group: Group) -> tuple[Node, Node]:
    return Place(buffer, (T,), (Constant(32),)), Transfer(buffer, 0, Whole(), group)


LOAD = (Begin(GETS, dynamic=False), *tile("A", GETS), Wait(GETS, count=1))
BOX, STORE = tile("B", PUTS)
COMPUTE = Compute("S0", N, (T,))


def tiles(*nodes: Node) -> Loop:
    condition = Binary(BinaryOperator.LT, T, N)
    return Loop("t", Constant(0), condition, 32, Block(nodes), Origin(Role.ROUND))


BOTH = tiles(*LOAD, BOX, COMPUTE, Begin(PUTS, dynamic=False), STORE, Wait(PUTS, count=1))


def made(node: Node = BOTH) -> Node:
    found = deferred(node, lambda name: name == "B")
    assert found.buffers == {"B"}
    return found.tree


def test_a_put_is_waited_for_before_the_next_one_and_the_last_after_the_loop() -> None:
    begin, loop, last = made().children  # type: ignore[union-attr]
    assert (begin, last) == (Begin(LATE, dynamic=False, complete=1), Wait(LATE, count=1))
    put = replace(STORE, group=LATE)  # type: ignore[type-var]
    ending = (COMPUTE, Wait(LATE, count=1), Begin(LATE, dynamic=False), put, Rotate(("B",)))
    assert loop.body.children[-5:] == ending


def test_what_is_made_is_sound_and_uses_reply_words_of_its_own() -> None:
    tree = allot_replies(made())
    assert faults(tree, SCOPE) == ()
    words = {n.group.direction: n.group.reply for n in walk(tree) if isinstance(n, Wait)}
    assert words[Direction.PUT] != words[Direction.GET]


def without(gone: Node) -> Node:
    return transform(made(), lambda node: Block(()) if node == gone else node)


def no_wait_after_the_loop() -> Node:
    begin, loop, _ = made().children  # type: ignore[union-attr]
    return Block((begin, loop))


def turned_first() -> Node:
    """Return the tree that turns to the next slot before it has computed."""
    moved = without(Rotate(("B",)))
    return transform(moved, lambda node: Block((Rotate(("B",)), node)) if node == STORE_LATE else node)


STORE_LATE = replace(STORE, group=LATE)  # type: ignore[type-var]
BROKEN = {
    "never turned to the other slot": (without(Rotate(("B",))), "before the late puts of level 0 are waited"),
    "turned before it is stored": (turned_first(), "stores what was never computed"),
    "not waited for in the loop": (without(Wait(LATE, count=1)), "begun again before they are waited for"),
    "not waited for after the loop": (no_wait_after_the_loop(), "are never waited for"),
    "nothing to wait for at first": (without(Begin(LATE, dynamic=False, complete=1)), "without being open"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_faults_are_found(name: str) -> None:
    tree, what = BROKEN[name]
    assert any(what in fault for fault in faults(tree, SCOPE)), faults(tree, SCOPE)


def test_loops_around_such_a_loop_wait_as_late() -> None:
    """As long as nothing else is in them."""
    condition = Binary(BinaryOperator.LT, Name("s"), N)
    around = Loop("s", Constant(0), condition, 1, BOTH, Origin(Role.ROUND))
    begin, outer, last = made(around).children  # type: ignore[union-attr]
    assert (begin, last) == (Begin(LATE, dynamic=False, complete=1), Wait(LATE, count=1))
    assert outer.body == made().children[1]  # type: ignore[union-attr]
    assert faults(allot_replies(made(around)), SCOPE) == ()
    more = replace(around, body=Block((BOTH, *LOAD)))
    assert isinstance(made(more), Loop)


def in_place() -> Node:
    """Return the tree of a buffer that is got, computed on and stored, all of it at the same time."""
    box, got = tile("B", GETS)
    nodes = (Begin(GETS, dynamic=False), box, got, Wait(GETS, count=1), COMPUTE)
    stored = tiles(*nodes, Begin(PUTS, dynamic=False), STORE, Wait(PUTS, count=1))
    early = prefetched(stored, lambda _: True, lambda *_: True)
    return made(early.tree)


THREE = replace(SCOPE, buffers={"B": replace(WRITTEN, slots=3, loaded=True)})


def test_a_box_comes_and_another_is_stored_beside_the_one_at_hand() -> None:
    tree = in_place()
    assert faults(allot_replies(tree), THREE) == ()
    turns = [node.source for node in walk(tree) if isinstance(node, Rotate)]
    assert turns == [NEXT, SPARE]


def test_a_box_that_comes_may_not_take_the_slot_that_is_stored() -> None:
    found = transform(in_place(), lambda n: replace(n, source=NEXT) if isinstance(n, Rotate) else n)
    assert any("while early gets of level 0 are in flight" in fault for fault in faults(found, THREE))


def test_puts_stay_where_something_waits_for_them_in_the_iteration() -> None:
    inside = tiles(*BOTH.body.children, COMPUTE)  # type: ignore[union-attr]
    once = replace(BOTH, condition=None)
    for tree in (inside, once):
        assert deferred(tree, lambda _: True).tree == tree
    assert deferred(BOTH, lambda _: False).tree == BOTH


def test_tiles_that_are_dealt_out_are_stored_late_too() -> None:
    dealt = Deal("t", "turn", Constant(0), N, N, 32, BOTH.body, Origin(Role.ROUND))
    assert any(isinstance(node, Rotate) for node in walk(made(dealt)))


FENCED = tiles(*LOAD, BOX, COMPUTE, Begin(PUTS, dynamic=False), STORE, Wait(PUTS, count=1, fence=True))


def test_what_is_put_is_visible_after_the_loop_alone() -> None:
    begin, loop, last = made(FENCED).children  # type: ignore[union-attr]
    assert begin.group == LATE and last == Wait(LATE, count=1, fence=True)
    assert not any(node.fence for node in walk(loop) if isinstance(node, Wait))


def test_loops_around_such_a_loop_do_not_wait_later_where_others_get_what_it_puts() -> None:
    around = Loop("s", Constant(0), Binary(BinaryOperator.LT, Name("s"), N), 1, FENCED, Origin(Role.ROUND))
    assert made(around) == replace(around, body=made(FENCED))


HEAD = """void f(int n, int m, double *restrict a, double *restrict b, double c[n][m], double d[n][m]) {
#pragma scop
"""
LINE = "for (int i = 0; i < n; i++) b[i] = 2 * a[i];"
ITSELF = "for (int i = 0; i < n; i++) a[i] = 2 * a[i];"
ODD = "for (int i = 0; 2 * i < n; i++) b[2 * i] = a[i] + m;"
GRID = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) d[i][j] = c[i][j] * a[j];"
TRIANGLE = "for (int i = 0; i < n; i++) for (int j = 0; j < i && j < m; j++) d[i][j] = c[i][j] + 1;"
TWICE = "for (int i = 0; i < n - 1; i++) { b[i] = a[i]; b[i + 1] = a[i] * 2; }"
STEPS = """for (int t = 0; t < m; t++) {
  for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1] + t;
  for (int i = 1; i < n - 1; i++) a[i] = b[i] * 0.5 + b[i - 1];
}"""
BODIES = {
    "line": LINE,
    "itself": ITSELF,
    "odd": ODD,
    "grid": GRID,
    "triangle": TRIANGLE,
    "twice": TWICE,
    "steps": STEPS,
}


def slave(directory: Path, body: str, options: KernelOptions | None = None) -> str:
    found = generated(directory, f"{HEAD}{body}\n#pragma endscop\n}}\n", options)
    assert found.slave is not None
    return found.slave.text


def test_arrays_that_are_only_written_have_two_slots(tmp_path: Path) -> None:
    text = slave(tmp_path, LINE)
    assert "*b_ldm = sw_ldm_f.f_k0.b, *b_next = sw_ldm_f.f_k0.b + " in text
    assert "put (box), waited for one iteration later" in text


def test_arrays_that_are_changed_in_place_have_three_slots(tmp_path: Path) -> None:
    """One comes, one is computed on, one is stored; but not where that takes most of the LDM."""
    options = KernelOptions(tile=(64,))
    assert "a_spare" not in slave(tmp_path, ITSELF, replace(options, ldm_budget=64 * 8 * 5))
    text = slave(tmp_path, ITSELF, options)
    assert "*a_next = " in text and "*a_spare = " in text and "a_early" not in text
    assert "get and put (box), get one iteration ahead, put waited for one iteration later" in text


def test_what_a_visit_stores_is_not_got_before_by_the_next(tmp_path: Path) -> None:
    """Tiles of a row read what the ones before them have stored."""
    text = slave(tmp_path, "for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) d[i][j] += d[i][j - 1];")
    assert "get and put" in text and "_next" not in text and "_spare" not in text


def test_deferring_may_be_switched_off_and_is_no_part_of_the_classic_preset(tmp_path: Path) -> None:
    assert "_next" not in slave(tmp_path, LINE, KernelOptions(prefetch=Prefetch.NEVER))
    assert "_next" not in slave(tmp_path, LINE, KernelOptions(preset=Preset.CLASSIC))


def test_gets_come_first_where_the_budget_is_short(tmp_path: Path) -> None:
    small = KernelOptions(tile=(64,), ldm_budget=64 * 8 * 3)
    text = slave(tmp_path, LINE, small)
    assert "a_next" in text and "b_next" not in text
    assert "b_next" in slave(tmp_path, LINE, replace(small, ldm_budget=64 * 8 * 4))


def test_an_array_may_be_got_early_in_one_loop_and_stored_late_in_the_next(tmp_path: Path) -> None:
    """Each loop is alone with it: only what follows the second may get what that has put."""
    found = unit_of("doitgen", KernelOptions())
    assert found.slave is not None
    text = found.slave.text
    assert re.search(r"  A  +double .*, get one iteration ahead\n", text)
    assert re.search(r"  A_2  +double .*, put \(box\), waited for one iteration later\n", text)
    last = text.rindex("A_2_done")
    waits = re.search(r"while \(\w+ != \w+\)\n +;\n +athread_dma_barrier\(\);", text[last:])
    assert waits is not None, "the last put is not visible to what comes next"


@pytest.mark.parametrize("machine", MACHINES)
def test_results_are_those_of_the_serial_loops_where_loops_beside_each_other_get_and_put(
    tmp_path: Path, machine: str
) -> None:
    sizes = tuple({"nr": 3, "nq": q, "np": p} for q, p in ((1, 1), (5, 13), (2, 33), (67, 6), (0, 2)))
    tile = (1, 2, 5, 4, 3, 6)
    options = KernelOptions(machine=machine, tile=tile, threads=(8, 8), ldm_budget=12 * 1024)
    task = SourceTask(
        EXAMPLES / "doitgen.c",
        options={"doitgen": options},
        checks={"doitgen": RegionCheck(sizes=sizes)},
    )
    results = check_source(task, CheckSettings(), tmp_path, shared_objects())
    assert [explain(r) for r in results if r.outcome is not Outcome.PASS] == []
    assert "A_2_next" in "".join(path.read_text() for path in tmp_path.rglob("*.slave.c"))


PROGRAM = "\n".join(
    HEAD.replace("void f", f"void {name}") + body + "\n#pragma endscop\n}" for name, body in BODIES.items()
)
WAYS = {
    "cyclic": KernelOptions(tile=(7,)),
    "block": KernelOptions(tile=(7,), distribution=Distribution.BLOCK, threads=(1, 3)),
    "joint": KernelOptions(tile=(5, 3), distribution=Distribution.JOINT),
}


@pytest.mark.parametrize(("way", "machine"), in_turn([*WAYS], MACHINES))
def test_results_are_those_of_the_serial_loops(tmp_path: Path, machine: str, way: str) -> None:
    path = tmp_path / "late.c"
    path.write_text(PROGRAM)
    sizes = ({"n": 1, "m": 3}, {"n": 67, "m": 5}, {"n": 331, "m": 4}, {"n": 40, "m": 0}, {"n": 0, "m": 1})
    options = replace(WAYS[way], machine=machine)
    task = SourceTask(
        path,
        options=dict.fromkeys(BODIES, options),
        checks={name: RegionCheck(sizes=sizes) for name in BODIES},
    )
    results = check_source(task, CheckSettings(), tmp_path, shared_objects())
    assert {result.region for result in results} == set(BODIES)
    assert [explain(r) for r in results if r.outcome is not Outcome.PASS] == []
