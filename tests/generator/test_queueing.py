"""What an iteration waits for is got before the boxes of the next one, which the same engine serves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from generation import unit_of

from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Name
from swbuild.kernelir.nodes import (
    NEXT,
    Along,
    Begin,
    Block,
    Compute,
    Direction,
    Group,
    Guard,
    Loop,
    Node,
    Place,
    Share,
    Transfer,
    Wait,
    Whole,
)
from swbuild.kernelir.origin import Origin, Role
from swbuild.kernelir.passes import walk
from swbuild.kernelir.prefetching import prefetched
from swbuild.kernelir.queueing import urgent_first
from swbuild.kernelir.scope import Held, Scope
from swbuild.kernelir.transfers import Limits, allot_replies
from swbuild.kernelir.verify import faults
from swbuild.options import KernelOptions
from swbuild.options import Share as Handing

N, T = Name("n"), Name("t")
GETS = Group(0, Direction.GET)
COMPUTE = Compute("S0", N, (T,))
OTHER = Binary(BinaryOperator.LT, Name("sw_rid"), Constant(8))
SHARE = Share("A", Along.ALL, OTHER, (Constant(32),), ())
HELD = Held((32,), 8, 256, 2, 64, frozenset({"S0"}), loaded=True)
SCOPE = Scope(
    frozenset({"n", "sw_rid"}), {"A": HELD, "B": replace(HELD, slots=1)}, {}, 1024, Limits(4096, 4096, 4)
)


def place(buffer: str) -> Place:
    return Place(buffer, (T,), (Constant(32),))


def get(buffer: str) -> Transfer:
    return Transfer(buffer, 0, Whole(), GETS)


def iteration(*gets: Node, count: int = 2) -> tuple[Node, ...]:
    """Return an iteration in which boxes of A come ahead, if ``gets`` are what it begins with."""
    body = Block((Begin(GETS, dynamic=False), *gets, Wait(GETS, count=count), COMPUTE))
    loop = Loop("t", Constant(0), Binary(BinaryOperator.LT, T, N), 32, body, Origin(Role.ROUND))
    tree = prefetched(loop, lambda name: name == "A", lambda _, __: True).tree
    assert isinstance(tree, Block) and isinstance(tree.children[1], Loop)
    found = tree.children[1].body
    assert isinstance(found, Block)
    return found.children


BOTH = iteration(place("A"), get("A"), place("B"), get("B"))


def test_what_is_waited_for_is_got_first_and_boxes_at_hand_are_set_last() -> None:
    found = urgent_first(Block(BOTH))
    assert isinstance(found, Block)
    begun, box, got, wait, turn, ahead, at_hand, waited, compute = found.children
    assert (begun, box, got) == (Begin(GETS, dynamic=False), place("B"), get("B"))
    assert (wait, turn) == BOTH[:2]
    assert isinstance(ahead, Guard) and get("A") not in walk(ahead)
    assert (at_hand, waited, compute) == (place("A"), Wait(GETS, count=1), COMPUTE)


def test_it_comes_while_boxes_are_handed_on() -> None:
    wait, turn, *rest = BOTH
    found = urgent_first(Block((wait, turn, SHARE, *rest)))
    assert isinstance(found, Block)
    assert found.children[:6] == (Begin(GETS, dynamic=False), place("B"), get("B"), wait, turn, SHARE)


def test_what_is_handed_on_itself_is_got_when_others_are_done_with_its_slot() -> None:
    wait, turn, *rest = BOTH
    other = [replace(node, slot=NEXT) if node == get("B") else node for node in rest]
    found = urgent_first(Block((wait, turn, SHARE, *other)))
    assert isinstance(found, Block)
    assert found.children[:3] == (wait, turn, SHARE)
    assert found.children[3:6] == (Begin(GETS, dynamic=False), place("B"), replace(get("B"), slot=NEXT))


def test_that_is_done_under_the_condition_that_there_is_a_tile_too() -> None:
    wait, turn, soon = BOTH[:3]
    found = urgent_first(Block((wait, turn, soon, Guard(OTHER, Block(BOTH[3:])))))
    assert isinstance(found, Block)
    first, *ahead, rest = found.children
    assert first == Guard(OTHER, Block((Begin(GETS, dynamic=False), place("B"), get("B"))))
    assert ahead == [wait, turn, soon]
    assert rest == Guard(OTHER, Block((place("A"), Wait(GETS, count=1), COMPUTE)))


@pytest.mark.parametrize(
    "gets",
    [
        (place("A"), get("A")),
        (place("A"), get("A"), get("B")),
        (place("A"), get("A"), replace(place("B"), number=Constant(0)), get("B")),
    ],
    ids=["all come ahead", "the box was set elsewhere", "the box stays"],
)
def test_others_stay_where_they_are(gets: tuple[Node, ...]) -> None:
    nodes = iteration(*gets)
    if len(gets) == 4:  # whether it is got is known once its box is set
        box = next(k for k, node in enumerate(nodes) if isinstance(node, Place) and node.buffer == "B")
        begin = next(k for k, node in enumerate(nodes) if isinstance(node, Begin))
        nodes = (*nodes[:begin], nodes[box], *nodes[begin:box], *nodes[box + 1 :])
    assert urgent_first(Block(nodes)) == Block(nodes)


def test_what_is_made_is_sound() -> None:
    body = Block(
        (Begin(GETS, dynamic=False), place("A"), get("A"), place("B"), get("B"), Wait(GETS, count=2), COMPUTE)
    )
    loop = Loop("t", Constant(0), Binary(BinaryOperator.LT, T, N), 32, body, Origin(Role.ROUND))
    tree = prefetched(loop, lambda name: name == "A", lambda _, __: True).tree
    assert urgent_first(tree) != tree
    assert faults(allot_replies(urgent_first(tree)), SCOPE) == ()


def test_generated_code_gets_what_it_needs_at_once_ahead_of_the_next_tiles() -> None:
    options = KernelOptions(
        machine="sw26010",
        threads=(64, 1),
        tile=(32, 100, 16),
        share=Handing.NEVER,
        params={"m": 1000, "n": 1200},
    )
    slave = unit_of("trmm", options).slave
    assert slave is not None
    loop = slave.text[slave.text.index("for (long k0 =") :]
    places = [loop.index(what) for what in ("B_2_ldm, B_2_n0", "A_next, A_n0", "sw_reply_trmm_1 != 1")]
    assert places == sorted(places)
