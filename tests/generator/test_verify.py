"""Unsound trees of the kernel IR are found, each fault in words; sound ones are left alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from swbuild.attempt import RegionResult
from swbuild.compilation import compile_regions, require_sound
from swbuild.diagnostics import SwbuildError
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Name
from swbuild.expressions.types import DOUBLE
from swbuild.frontend import CppOptions, read_source
from swbuild.kernelir.nodes import (
    Begin,
    Block,
    Compute,
    Counter,
    Deal,
    Direction,
    Fence,
    Group,
    Guard,
    Launch,
    Loop,
    Node,
    Piece,
    Place,
    Register,
    Row,
    Transfer,
    Wait,
    Whole,
)
from swbuild.kernelir.origin import Origin, Role
from swbuild.kernelir.passes import transform
from swbuild.kernelir.scope import Held, Scope
from swbuild.kernelir.transfers import Limits, Shape, at_once, split_transfers
from swbuild.kernelir.verify import faults
from swbuild.lowering import region as lowering
from swbuild.lowering.verification import verify

N, T = Name("n"), Name("t")
GETS, PUTS = Group(0, Direction.GET, 0), Group(0, Direction.PUT, 0)
LIMITS = Limits(4096, 1024, 4)
A = Held((32, 16), 8, 4096, 1, 64, frozenset({"S0"}), loaded=True)
SCOPE = Scope(frozenset({"n"}), {"A": A, "B": replace(A, statements=frozenset({"S1"}))}, {}, 8192, LIMITS)
POINT = Origin(Role.POINT)

PLACE = Place("A", (T, Constant(0)), (Constant(32), N))
GET, PUT = Transfer("A", 0, Whole(), GETS), Transfer("A", 0, Whole(), PUTS)
COMPUTE = Compute("S0", ("x(", T, ");"), (T,))
OPEN, CLOSE = Begin(GETS, dynamic=False), Wait(GETS, count=1)
OPEN_PUTS, CLOSE_PUTS = Begin(PUTS, dynamic=False), Wait(PUTS, count=1)
LOAD, STORE = (OPEN, PLACE, GET, CLOSE), (OPEN_PUTS, PUT, CLOSE_PUTS)
POSITIVE = Binary(BinaryOperator.GT, N, Constant(0))
SMALL = Binary(BinaryOperator.LT, N, Constant(9))
BOTH = Binary(BinaryOperator.AND, SMALL, POSITIVE)


def tiles(*nodes: Node, end: Expression = N, step: int = 32, iterator: str = "t") -> Loop:
    condition = Binary(BinaryOperator.LT, Name(iterator), end)
    return Loop(iterator, Constant(0), condition, step, Block(nodes), Origin(Role.ROUND))


def dealt(*nodes: Node, step: int = 64, end: Expression = N) -> Deal:
    return Deal("t", "turn", Constant(0), N, end, step, Block(nodes), Origin(Role.DEALT))


def piece(rows: int | None, length: int) -> Transfer:
    some = None if rows is None else Constant(rows)
    return replace(GET, part=Piece((Constant(0), Constant(0)), Constant(length), some))


HELD = Register("a0", DOUBLE, Constant(0))

SOUND = {
    "a kernel": tiles(*LOAD, COMPUTE, *STORE),
    "guarded alike": tiles(
        Guard(POSITIVE, Begin(GETS)),
        Guard(POSITIVE, Block((PLACE, GET))),
        Guard(POSITIVE, Wait(GETS)),
        COMPUTE,
    ),
    "one of several transfers under a condition": tiles(Begin(GETS), PLACE, Guard(POSITIVE, GET), Wait(GETS)),
    "all but the begin under a condition": tiles(OPEN, Guard(POSITIVE, Block((PLACE, GET, CLOSE))), COMPUTE),
    "asked again": tiles(
        Guard(BOTH, Block((OPEN, PLACE, GET, Guard(POSITIVE, CLOSE)))), Guard(BOTH, Block((COMPUTE, *STORE)))
    ),
    "asked one by one": tiles(
        Guard(BOTH, Begin(GETS)),
        Guard(BOTH, Block((PLACE, GET))),
        Guard(POSITIVE, Guard(SMALL, Wait(GETS))),
        COMPUTE,
    ),
    "under a condition that always holds": tiles(
        OPEN, PLACE, GET, Guard(Binary(BinaryOperator.OR, POSITIVE, Constant(1)), CLOSE), COMPUTE
    ),
    "in both branches": tiles(Guard(POSITIVE, Block(LOAD), Block(LOAD)), COMPUTE),
    "with a fence": tiles(*LOAD, COMPUTE, OPEN_PUTS, PUT, replace(CLOSE_PUTS, fence=True), Fence()),
    "computed, not fetched": tiles(PLACE, COMPUTE, *STORE),
    "dealt out": Counter("turn", Constant(0), dealt(*LOAD, COMPUTE, *STORE)),
    "in rows": tiles(PLACE, COMPUTE, OPEN_PUTS, replace(PUT, part=Row((T,), T, N)), CLOSE_PUTS),
    "variables of blocks of their own": tiles(Block((HELD,)), Block((HELD,))),
}

FAULTS: dict[str, tuple[Node, str]] = {
    "a bound out of scope": (tiles(*LOAD, COMPUTE, end=Name("m")), "the loop over t uses 'm', which is not"),
    "a box out of scope": (
        Block((tiles(*LOAD), replace(PLACE, low=(T, N)))),
        "the box of A uses 't', which is not in scope",
    ),
    "a subscript out of scope": (Block((PLACE, COMPUTE)), "the computation of S0 uses 't'"),
    "a condition out of scope": (Guard(T, Block(())), "a guard uses 't', which is not in scope"),
    "a row out of scope": (
        tiles(PLACE, COMPUTE, OPEN_PUTS, replace(PUT, part=Row((Name("i"),), T, N)), CLOSE_PUTS),
        "the put of A uses 'i'",
    ),
    "a loop that hides another": (tiles(tiles(*LOAD)), "the loop over t hides another 't'"),
    "a variable declared twice": (tiles(HELD, HELD), "a block declares 'a0' twice"),
    "a loop without its counter": (
        Loop("i", None, POSITIVE, 1, Block(()), POINT),
        "the loop over i goes on from a counter that is not there",
    ),
    "a loop that stands still": (tiles(*LOAD, step=0), "the loop over t steps by 0"),
    "turns without their counter": (
        dealt(*LOAD),
        "the loop over t takes turns by a counter that is not there",
    ),
    "turns that stand still": (Counter("turn", N, dealt(*LOAD, step=0)), "the loop over t steps by 0"),
    "an end out of scope": (
        Counter("turn", N, dealt(*LOAD, end=T)),
        "the loop over t uses 't', which is not",
    ),
    "transfers left open in a turn": (
        Counter("turn", N, dealt(PLACE, Begin(GETS))),
        "an iteration over t leaves the gets of level 0 open",
    ),
    "a buffer that does not exist": (
        tiles(OPEN, replace(GET, buffer="C"), CLOSE),
        "speaks of the buffer C, which does not exist",
    ),
    "a slot that does not exist": (tiles(OPEN, PLACE, replace(GET, slot=1), CLOSE), "slot 1 of 1"),
    "a box of other dimensions": (
        tiles(replace(PLACE, low=(T,), size=(N,))),
        "the box of A has 1 dimensions, the buffer 2",
    ),
    "a box that is too large": (
        tiles(replace(PLACE, size=(Constant(33), N))),
        "the box of A has 33 indices where the buffer has room for 32",
    ),
    "a transfer before its box": (
        tiles(OPEN, GET, CLOSE, PLACE),
        "the get of A is issued before it has a box",
    ),
    "a use before the box": (tiles(COMPUTE, PLACE), "S0 uses A before it has a box"),
    "a transfer outside its group": (
        tiles(PLACE, GET, OPEN, CLOSE),
        "the get of A is issued before its group",
    ),
    "a transfer of another group": (
        tiles(OPEN, PLACE, PUT, CLOSE),
        "the put of A is issued before its group",
    ),
    "a wait before the transfers": (
        tiles(Wait(GETS, count=1), OPEN, PLACE, GET),
        "the gets of level 0 are waited for without being open",
    ),
    "a second wait": (tiles(*LOAD, CLOSE), "the gets of level 0 are waited for without being open"),
    "no wait": (Block((tiles(PLACE), Begin(GETS))), "the gets of level 0 are never waited for"),
    "no wait in an iteration": (
        tiles(OPEN, PLACE, GET, COMPUTE),
        "an iteration over t leaves the gets of level 0 open",
    ),
    "a wait in a loop": (
        tiles(OPEN, PLACE, GET, tiles(CLOSE, iterator="i")),
        "the gets of level 0 are waited for in every iteration over i",
    ),
    "a wait under another condition": (
        tiles(OPEN, PLACE, GET, Guard(POSITIVE, CLOSE)),
        "an iteration over t leaves the gets of level 0 open",
    ),
    "a wait under more conditions": (
        tiles(Guard(POSITIVE, Begin(GETS)), Guard(POSITIVE, Block((PLACE, GET))), Guard(BOTH, Wait(GETS))),
        "an iteration over t leaves the gets of level 0 open",
    ),
    "a group begun twice": (
        tiles(OPEN, OPEN, PLACE, GET, CLOSE),
        "are begun again before they are waited for",
    ),
    "a use in flight": (tiles(OPEN, PLACE, GET, COMPUTE, CLOSE), "S0 uses A before the gets of level 0"),
    "a use before all is put": (
        tiles(*LOAD, OPEN_PUTS, PUT, COMPUTE, CLOSE_PUTS),
        "S0 uses A before the puts of level 0 are waited for",
    ),
    "another box in flight": (tiles(OPEN, PLACE, GET, PLACE, CLOSE), "A gets another box before the gets of"),
    "a slot reused in flight": (
        tiles(
            OPEN,
            PLACE,
            GET,
            replace(OPEN_PUTS, group=replace(PUTS, reply=1)),
            replace(PUT, group=replace(PUTS, reply=1)),
            CLOSE,
            replace(CLOSE_PUTS, group=replace(PUTS, reply=1)),
        ),
        "the put of A is issued while slot 0 is moved for the gets of level 0",
    ),
    "a shared reply word": (
        tiles(OPEN, PLACE, GET, OPEN_PUTS, CLOSE, replace(CLOSE_PUTS, count=0)),
        "the puts of level 0 share a reply word with the gets of level 0",
    ),
    "too small a count": (
        tiles(OPEN, PLACE, GET, GET, CLOSE),
        "1 gets of level 0 are waited for, 2 are issued",
    ),
    "too large a count": (
        tiles(OPEN, PLACE, GET, replace(CLOSE, count=2)),
        "2 gets of level 0 are waited for, 1 are issued",
    ),
    "a constant count of what varies": (
        tiles(OPEN, PLACE, Guard(POSITIVE, GET), CLOSE),
        "1 gets of level 0 are waited for, a number that varies is issued",
    ),
    "a constant count of a loop": (
        tiles(OPEN, PLACE, tiles(GET, iterator="i"), CLOSE),
        "1 gets of level 0 are waited for, a number that varies is issued",
    ),
    "half a count": (
        tiles(Begin(GETS), PLACE, GET, CLOSE),
        "the gets of level 0 are counted at one of begin and wait alone",
    ),
    "an uncounted transfer": (
        tiles(Begin(GETS), PLACE, GET, replace(GET, counted=True), Wait(GETS)),
        "the get of A is not counted",
    ),
    "a put of nothing": (tiles(PLACE, *STORE), "the put of A stores what was never computed or fetched"),
    "a transfer that is too long": (
        tiles(OPEN, PLACE, piece(33, 16), CLOSE),
        "the get of A moves up to 4224 bytes, the machine at most 4096",
    ),
    "a block that is too long": (
        tiles(OPEN, PLACE, piece(2, 129), CLOSE),
        "the get of A moves blocks of up to 1032 bytes, the machine of at most 1024",
    ),
    "a row that is too long": (
        tiles(PLACE, COMPUTE, OPEN_PUTS, replace(PUT, part=Row((T,), T, Constant(513))), CLOSE_PUTS),
        "the put of A moves up to 4104 bytes",
    ),
    "a launch on a CPE": (Launch("k0", ()), "a CPE launches k0"),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_trees_pass(name: str) -> None:
    assert faults(SOUND[name], SCOPE) == ()


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str) -> None:
    tree, words = FAULTS[name]
    found = faults(tree, SCOPE)
    assert any(words in fault for fault in found), found


def test_all_slots_count_for_the_budget() -> None:
    tree = SOUND["a kernel"]
    assert faults(tree, replace(SCOPE, budget=8191)) == (
        "all slots of the buffers take 8192 bytes, more than the budget of 8191",
    )
    double = replace(SCOPE, buffers={"A": replace(A, slots=3)})
    assert any("12288 bytes" in fault for fault in faults(tree, double))


def test_bad_alignment_is_found() -> None:
    tree = tiles(OPEN, PLACE, piece(2, 2), CLOSE)
    assert faults(tree, SCOPE) == ()
    (found,) = faults(tree, replace(SCOPE, buffers={"A": replace(A, alignment=2)}))
    assert found == "the beginning of A: 2 bytes are no multiple of 4"
    small = replace(A, element=2)  # several fill words together
    assert faults(tree, replace(SCOPE, buffers={"A": small})) == ()
    odd = replace(small, bound=(*A.bound[:-1], 3))
    assert "rows of A: 6 bytes are no multiple of 4" in faults(tree, replace(SCOPE, buffers={"A": odd}))
    parts = Loop("i", Constant(0), POSITIVE, 3, Block((piece(None, 2),)), Origin(Role.SPLIT))
    (found,) = faults(
        tiles(Begin(GETS), PLACE, parts, Wait(GETS)),
        replace(SCOPE, limits=Limits(4096, 1024, 8), buffers={"A": replace(A, element=4, alignment=64)}),
    )[-1:]
    assert "parts of A" in found


def test_launches_name_kernels_with_their_loops() -> None:
    host = Scope(frozenset({"n"}), kernels={"k0": 1}, host=True)
    assert faults(Launch("k0", (N,)), host) == ()
    assert faults(Launch("k1", (N,)), host) == ("k1 is launched and is no kernel of the region",)
    assert faults(Launch("k0", ()), host) == ("k0 is launched with 0 values for 1 loops",)
    assert faults(Fence(), host) == ("the host is to fence, as only CPEs do",)


@pytest.mark.parametrize("most", [4096, 1000, 256, 64, 8])
def test_passes_keep_to_any_limit(most: int) -> None:
    tree = tiles(*(OPEN, PLACE, GET, CLOSE), COMPUTE, *STORE)
    tight = replace(SCOPE, limits=Limits(most, most, 4))
    shapes = {"A": Shape(A.bound, A.element)}
    dynamic = at_once(split_transfers(tree, shapes, tight.limits))
    assert faults(dynamic, tight) == ()


SOURCE = """void f(int n, double a[restrict n], double b[restrict n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 2 * b[i];
#pragma endscop
}
"""


def test_an_unsound_pass_is_named_with_the_region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SWBUILD_VERIFY")
    (tmp_path / "f.c").write_text(SOURCE)
    model = read_source(tmp_path / "f.c", CppOptions(), None)
    require_sound(compile_regions(model, {}))
    count = lowering.count_waits
    monkeypatch.setattr(lowering, "count_waits", lambda tree: _without_waits(count(tree)))
    compiled = compile_regions(model, {})
    with pytest.raises(SwbuildError) as caught:
        require_sound(compiled)
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.line) == ("SW491", 2)
    assert (
        found.message.startswith("region 'f': kernel f_k0 after 'count waits': ") and "open" in found.message
    )
    (result,) = (item.result for item in compiled)
    assert isinstance(result, RegionResult) and len(verify(result.assembled)) == 1
    monkeypatch.setenv("SWBUILD_VERIFY", "1")
    (refused,) = (item.result for item in compile_regions(model, {}))
    assert not isinstance(refused, RegionResult) and refused.diagnostics[0].code == "SW491"


def _without_waits(node: Node) -> Node:
    return transform(node, lambda found: Block(()) if isinstance(found, Wait) else found)
