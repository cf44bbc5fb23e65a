"""Boxes that CPEs of a row, a column or all read alike are got by one of them; results stay the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import islpy as isl
import pytest

from swbuild.expressions.conditions import parts_of
from swbuild.expressions.nodes import (
    Binary,
    BinaryOperator,
    Constant,
    Expression,
    Min,
    Name,
    Negation,
    Parenthesised,
)
from swbuild.expressions.printing import c_text
from swbuild.expressions.trees import substituted
from swbuild.kernelir.handing import handed_ahead
from swbuild.kernelir.nodes import (
    AT_HAND,
    EARLY,
    NEXT,
    SPARE,
    Along,
    Arrived,
    Begin,
    Block,
    Compute,
    Direction,
    Group,
    Guard,
    Loop,
    Meet,
    Node,
    Place,
    Rotate,
    Share,
    Transfer,
    Wait,
    Whole,
)
from swbuild.kernelir.origin import Origin, Role
from swbuild.kernelir.passes import transform, walk
from swbuild.kernelir.prefetching import prefetched
from swbuild.kernelir.scope import Held, Scope
from swbuild.kernelir.sharing import Grid, InMessages, shared
from swbuild.kernelir.transfers import Limits, allot_replies
from swbuild.kernelir.verify import faults
from swbuild.names import own

N, M, I0, J0, RID, CID = map(Name, ("n", "m", "i", "j", "rid", "cid"))
GETS = Group(0, Direction.GET)
GRID = Grid({"rid": 8, "cid": 8}, 8, straight=True)
TWICE = Held((32,), 8, 256, 2, 64, frozenset({"S0"}), loaded=True)
SCOPE = Scope(
    frozenset({"n", "m", "rid", "cid"}),
    {"A": TWICE, "B": TWICE},
    {},
    1024,
    Limits(4096, 4096, 4),
    threads={"rid": 8, "cid": 8},
    whole=True,
)


def beside(_: str, __: frozenset[str]) -> bool:
    return True


def less(left: Expression, right: Expression) -> Expression:
    return Binary(BinaryOperator.LT, left, right)


def times(factor: int, name: Expression) -> Expression:
    return Binary(BinaryOperator.MUL, Constant(factor), name)


def rounds(iterator: str, thread: Expression, condition: Expression, body: Node) -> Loop:
    return Loop(iterator, times(32, thread), condition, 256, body, Origin(Role.ROUND))


def gets(*boxes: tuple[str, Expression]) -> Block:
    """Return gets of 32 elements from somewhere on, and what is computed of them."""
    found = [node for box in boxes for node in (Place(box[0], (box[1],), (Constant(32),)), got(box[0]))]
    wait = Wait(GETS, count=len(boxes))
    return Block((Begin(GETS, dynamic=False), *found, wait, Compute("S0", N, (I0,))))


def got(buffer: str) -> Transfer:
    return Transfer(buffer, 0, Whole(), GETS)


def tree(inner: Expression | None = None) -> Loop:
    """Return the rounds of a grid in which A is for a row and B for a column."""
    inside = rounds("j", CID, inner or less(J0, M), gets(("A", I0), ("B", J0)))
    return rounds("i", RID, less(I0, N), inside)


def made(node: Node | None = None) -> Node:
    return shared(node or tree(), GRID, frozenset({"A", "B"})).tree


def only(node: Node, kind: type) -> list[Node]:
    return [found for found in walk(node) if isinstance(found, kind)]


def test_who_has_the_box_hands_it_to_those_who_need_the_same() -> None:
    shares = {node.buffer: node for node in only(made(), Share) if isinstance(node, Share)}
    assert {name: share.along for name, share in shares.items()} == {"A": Along.ROW, "B": Along.COLUMN}
    assert shares["A"].under == (less(I0, N),) and shares["B"].under == (less(J0, M),)


def test_rounds_are_equal_for_all_and_work_is_for_those_with_a_tile() -> None:
    outer = made()
    assert isinstance(outer, Loop) and outer.first == Constant(0) and outer.step == 256
    computing = next(n for n in only(outer, Guard) if isinstance(n, Guard) and only(n, Compute))
    assert computing.condition == Binary(BinaryOperator.AND, less(I0, N), less(J0, M))
    assert not only(computing, Meet)


def test_boxes_that_depend_on_no_thread_are_for_all() -> None:
    found = made(rounds("i", RID, less(I0, N), gets(("A", N), ("B", I0))))
    shares = {node.buffer: node for node in only(found, Share) if isinstance(node, Share)}
    assert shares["A"].along is Along.ALL and shares["A"].under == ()
    assert shares["B"].along is Along.ROW


@pytest.mark.parametrize(
    "inner",
    [
        Binary(BinaryOperator.GT, J0, M),
        less(J0, Binary(BinaryOperator.SUB, M, J0)),
    ],
)
def test_nothing_is_shared_where_rounds_cannot_be_made_equal(inner: Expression) -> None:
    found = shared(tree(inner), GRID, frozenset({"A", "B"}))
    assert found.buffers == frozenset() and found.tree == tree(inner)
    assert found.refused == dict.fromkeys("AB", "CPEs do not run the loops around it equally often")


def test_a_box_is_private_where_rows_that_may_need_it_need_not_be_there() -> None:
    """Of the rows of a column, the last has the most tiles, if there is one."""
    found = shared(tree(less(J0, I0)), GRID, frozenset({"A", "B"}))
    assert found.buffers == {"A"}
    assert found.refused == {"B": "no CPE has a tile whenever another has that needs the same"}


def up_to_the_diagonal(*others: Expression) -> Expression:
    """Return the condition that j is in a tile that has a part on the diagonal or below it."""
    last = Binary(BinaryOperator.SUB, N, Constant(1))
    return Binary(BinaryOperator.LE, J0, Min((last, Binary(BinaryOperator.ADD, I0, Constant(31)), *others)))


@pytest.mark.parametrize("inner", [up_to_the_diagonal(), up_to_the_diagonal(M)])
def test_rows_of_tiles_of_different_lengths_become_rounds_of_the_longest(inner: Expression) -> None:
    """Every CPE computes what it did, and a box is handed out if and only if somebody along its way does."""
    before = tree(inner)
    outer = made(before)
    assert isinstance(outer, Loop)
    shares = {node.buffer: node for node in only(outer, Share) if isinstance(node, Share)}
    assert (shares["A"].along, shares["B"].along) == (Along.ROW, Along.COLUMN)
    for n, m in ((1, 1), (33, 5), (256, 300), (300, 256), (600, 600)):
        due = {k: set(_tiles(before, {"n": n, "m": m, "rid": k // 8, "cid": k % 8})) for k in range(64)}
        for number, tiles in due.items():
            names = {"n": n, "m": m, "rid": number // 8, "cid": number % 8}
            handed = {name: set[tuple[int, int]]() for name in shares}
            assert set(_tiles(outer, names, shares, handed)) == tiles
            row, column = range(number - number % 8, number - number % 8 + 8), range(number % 8, 64, 8)
            for name, way in (("A", row), ("B", column)):
                anybody = {(i // 256, j // 256) for other in way for i, j in due[other]}
                assert handed[name] == anybody, (name, names)


def _tiles(
    node: Node,
    names: dict[str, int],
    shares: dict[str, Share] | None = None,
    handed: dict[str, set[tuple[int, int]]] | None = None,
) -> Iterator[tuple[int, int]]:
    """Yield the tiles that a CPE computes, and note the rounds in which boxes are ``handed`` out."""
    if isinstance(node, Block):
        for child in node.children:
            yield from _tiles(child, names, shares, handed)
    elif isinstance(node, Compute):
        yield names["i"], names["j"]
    elif isinstance(node, Guard):
        if all(number_of(part, names) for part in parts_of(node.condition)):
            yield from _tiles(node.then, names, shares, handed)
    elif isinstance(node, Share):
        assert handed is not None
        if all(number_of(part, names) for part in node.under):
            handed[node.buffer].add((names["i"] // 256, names["j"] // 256))
    elif isinstance(node, Loop):
        assert node.first is not None
        value = number_of(node.first, names)
        while node.condition is None or number_of(node.condition, {**names, node.iterator: value}):
            yield from _tiles(node.body, {**names, node.iterator: value}, shares, handed)
            if node.condition is None:
                break
            value += node.step


def late_start(name: Expression = RID) -> Expression:
    """Return the first of a CPE's tiles of 32, dealt out in rounds of 256, that has an end after N."""
    rest = Binary(BinaryOperator.ADD, Binary(BinaryOperator.SUB, N, times(32, name)), Constant(225))
    turned = Negation(Parenthesised(Binary(BinaryOperator.MOD, rest, Constant(256))))
    return Binary(BinaryOperator.ADD, Binary(BinaryOperator.ADD, turned, N), Constant(225))


def test_rounds_begin_with_the_first_tile_of_anybody() -> None:
    loop = replace(rounds("i", RID, less(I0, M), gets(("A", N), ("B", I0))), first=late_start())
    outer = made(loop)
    assert isinstance(outer, Loop) and isinstance(outer.body, Loop) and outer.first is not None
    value = outer.body.first
    assert value is not None
    for start in range(600):
        firsts = {}
        for rid in range(8):
            names = {"n": start, "rid": rid}
            (first,) = (k for k in range(start - 30, start + 226) if k % 256 == 32 * rid)
            assert number_of(late_start(), names) == first
            begin = number_of(outer.first, names)
            at = (number_of(value, {**names, outer.iterator: begin + 256 * k}) for k in range(3))
            firsts[rid] = begin, next(k for k in at if k > start - 31)
            assert firsts[rid][1] == first
        assert len({begin for begin, _ in firsts.values()}) == 1
        assert any(first - begin < 256 for begin, first in firsts.values())
    shares = {node.buffer: node for node in only(outer, Share) if isinstance(node, Share)}
    assert shares["A"].along is Along.ALL and shares["A"].under == ()
    guards = [n for n in only(outer, Guard) if isinstance(n, Guard) and only(n, Compute)]
    assert [*parts_of(guards[0].condition)][1] == less(I0, M)


def test_boxes_that_would_come_ahead_of_a_first_tile_are_not_shared() -> None:
    early = prefetched(rounds("i", RID, less(I0, M), gets(("A", N))), lambda _: True, beside).tree
    assert shared(early, GRID, frozenset({"A"})).buffers == {"A"}
    later = replace(rounds("i", RID, less(I0, M), gets(("A", N))), first=late_start())
    late = prefetched(later, lambda _: True, beside).tree
    assert shared(late, GRID, frozenset({"A"})).buffers == frozenset()


def number_of(value: Expression, names: dict[str, int]) -> int:
    """Return ``value`` as C computes it."""
    numbers = {name: Constant(number) for name, number in names.items()}
    text = c_text(substituted(value, numbers))  # of no negative number is there a remainder
    return int(eval(text, {own("SW_MIN"): min, own("SW_MAX"): max}))


def test_a_condition_that_nobody_knows_of_others_keeps_a_box_private() -> None:
    """The first of a row need not have the box: nobody knows that it is there."""
    late = Guard(Binary(BinaryOperator.EQ, CID, N), gets(("A", I0)))
    refused = shared(rounds("i", RID, less(I0, N), late), GRID, frozenset({"A"}))
    assert refused.buffers == frozenset()
    assert refused.refused == {"A": "no CPE has a tile whenever another has that needs the same"}
    early = Guard(Binary(BinaryOperator.LE, CID, N), gets(("A", I0)))
    found = shared(rounds("i", RID, less(I0, N), early), GRID, frozenset({"A"}))
    (share,) = only(found.tree, Share)
    assert isinstance(share, Share)
    assert share.under == (less(I0, N), Binary(BinaryOperator.LE, Constant(0), N))
    later = Guard(Binary(BinaryOperator.GE, CID, N), gets(("A", I0)))
    found = shared(rounds("i", RID, less(I0, N), later), GRID, frozenset({"A"}))
    (share,) = only(found.tree, Share)
    assert isinstance(share, Share)
    assert share.under == (less(I0, N), Binary(BinaryOperator.LE, N, Constant(7)))


def test_what_is_known_of_launches_tells_that_a_cpe_has_a_tile() -> None:
    """A single round: its tiles begin at k, and there are fewer than threads of 16 columns each."""
    first, last = times(16, RID), Binary(BinaryOperator.ADD, times(16, RID), Constant(14))
    tiles = Binary(
        BinaryOperator.AND,
        Binary(BinaryOperator.LE, Name("k"), last),
        less(first, N),
    )
    node = Guard(tiles, gets(("A", Name("k"))))
    assert shared(node, GRID, frozenset({"A"})).buffers == frozenset()
    launches = isl.Set("[k, n] -> { : 0 <= k <= n - 2 and n <= 128 }")
    found = shared(node, GRID, frozenset({"A"}), launches)
    (share,) = only(found.tree, Share)
    assert isinstance(share, Share) and share.along is Along.ALL
    assert share.under == ()
    longer = isl.Set("[k, n] -> { : 0 <= k <= n - 2 and n <= 200 }")
    assert shared(node, GRID, frozenset({"A"}), longer).buffers == {"A"}
    beyond = isl.Set("[k, n] -> { : 0 <= k <= n }")
    assert shared(node, GRID, frozenset({"A"}), beyond).buffers == frozenset()


def test_along_other_grids_only_what_all_need_is_shared() -> None:
    grid = replace(GRID, straight=False)
    found = shared(tree(), grid, frozenset({"A", "B"}))
    assert found.buffers == frozenset()
    assert found.refused == dict.fromkeys("AB", "its boxes differ from CPE to CPE")
    assert shared(gets(("A", N)), grid, frozenset({"A"})).buffers == {"A"}


def test_what_is_made_is_sound() -> None:
    assert faults(allot_replies(made()), SCOPE) == ()


#: The same where boxes are passed on in messages.
NUMBER = Binary(BinaryOperator.ADD, times(8, RID), CID)
SENDING = replace(GRID, messages=InMessages(NUMBER, 8))


def sent(node: Node | None = None) -> Node:
    return shared(node or tree(), SENDING, frozenset({"A", "B"})).tree


def test_in_messages_nobody_meets_or_waits() -> None:
    shares = [node for node in only(sent(), Share) if isinstance(node, Share)]
    assert [share.along for share in shares] == [Along.ROW, Along.COLUMN]
    assert all(share.in_messages and share.slot == AT_HAND for share in shares)
    assert not only(sent(), Meet) and not only(sent(), Arrived)
    assert faults(allot_replies(sent()), SCOPE) == ()


def test_in_messages_the_first_row_passes_on_what_is_for_all() -> None:
    """Whoever passes on a box along a column passes on all that go there: messages name no sender."""
    found = sent(rounds("i", RID, less(I0, N), gets(("A", N), ("B", I0))))
    shares = {node.buffer: node for node in only(found, Share) if isinstance(node, Share)}
    assert shares["A"].along is Along.ALL and shares["B"].along is Along.ROW
    assert shares["A"].owner == Binary(BinaryOperator.EQ, NUMBER, Constant(0))
    assert shares["A"].passes == less(NUMBER, Constant(8)) and shares["B"].passes is None
    columns = [node.owner for node in only(sent(), Share) if isinstance(node, Share)][1]
    assert columns == Binary(BinaryOperator.EQ, RID, Constant(0))


MISSENT: dict[str, tuple[Callable[[Node], Node], str]] = {
    "some do not take part": (
        lambda n: Guard(less(RID, Constant(3)), n) if isinstance(n, Share) else n,
        "not all CPEs come to where they meet: a condition differs",
    ),
    "who takes part disagrees": (
        lambda n: disagreed(n) if isinstance(n, Share) else n,
        "disagree about A",
    ),
    "it is sent while it comes": (
        lambda n: Block(()) if isinstance(n, Wait) else n,
        "is handed out while the gets of level 0 are in flight",
    ),
    "it is sent before it has been got": (
        lambda n: Block((n, n)) if isinstance(n, Share) else n,
        "from a slot that was never filled",
    ),
    "it is not sent": (
        lambda n: Block(()) if isinstance(n, Share) else n,
        "uses A in a slot that was never filled",
    ),
}


@pytest.mark.parametrize("name", MISSENT)
def test_faults_of_what_is_passed_on_in_messages_are_found(name: str) -> None:
    change, what = MISSENT[name]
    found = faults(allot_replies(transform(sent(), change)), SCOPE)
    assert any(what in fault for fault in found), found


def without(kind: type) -> Node:
    return transform(made(), lambda node: Block(()) if isinstance(node, kind) else node)


def changed(kind: type, change: Callable[[Node], Node]) -> Node:
    return transform(made(), lambda node: change(node) if isinstance(node, kind) else node)


def unequal(node: Node) -> Node:
    assert isinstance(node, Loop)
    return replace(node, first=times(32, RID)) if node.step > 1 else node


def disagreed(node: Node) -> Node:
    assert isinstance(node, Share)
    return replace(node, under=(less(CID, RID),))


BROKEN = {
    "nobody meets": (without(Meet), "before all CPEs have met"),
    "nobody waits": (without(Arrived), "before A and B has arrived"),
    "one is not handed out": (
        changed(Share, lambda n: Block(()) if getattr(n, "buffer", "") == "B" else n),
        "2 boxes are waited for, 1 are handed out",
    ),
    "some do not come": (
        changed(Meet, lambda n: Guard(less(RID, Constant(3)), n)),
        "not all CPEs come to where they meet: a condition differs",
    ),
    "some come more often": (changed(Loop, unequal), "as often: the loop over"),
    "who is handed a box disagrees": (changed(Share, disagreed), "disagree about A"),
    "others get it, too": (
        changed(Guard, lambda n: n.then if isinstance(n, Guard) and isinstance(n.then, Transfer) else n),
        "is got by others as well",
    ),
    "handed out while it comes": (
        changed(Wait, lambda n: Block(())),
        "is handed out while the gets of level 0 are in flight",
    ),
    "got again before it is handed out": (
        changed(Share, lambda n: Block((n, got("A"))) if getattr(n, "buffer", "") == "A" else n),
        "is issued before A has arrived",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_faults_are_found(name: str) -> None:
    node, what = BROKEN[name]
    assert any(what in fault for fault in faults(node, SCOPE)), faults(node, SCOPE)


def test_all_cpes_have_to_run_what_all_come_to() -> None:
    found = faults(made(), replace(SCOPE, whole=False))
    assert "all CPEs are to meet where not all run the kernel" in found


def in_turn() -> Node:
    """Return the same with boxes that come ahead, and are handed on ahead, in a loop over k."""
    k = Name("k")
    boxes = [(name, Binary(BinaryOperator.ADD, low, k)) for name, low in (("A", I0), ("B", J0))]
    loop = Loop("k", Constant(0), less(k, N), 32, gets(*boxes), Origin(Role.TILE))
    inside = rounds("i", RID, less(I0, N), rounds("j", CID, less(J0, M), loop))
    return handed_ahead(made(prefetched(inside, lambda _: True, beside).tree), lambda _: True)


FOUR = replace(SCOPE, buffers=dict.fromkeys("AB", replace(TWICE, slots=4)), budget=2048)


def test_boxes_are_handed_on_ahead() -> None:
    tree = in_turn()
    assert faults(allot_replies(tree), FOUR) == ()
    assert [share.slot for share in only(tree, Share) if isinstance(share, Share)] == [SPARE] * 4
    assert any("slot 2 of 2" in fault for fault in faults(allot_replies(tree), SCOPE))


def early(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return ``node`` with those of its gets changed that are for the iteration after the next."""
    return change(node) if isinstance(node, Transfer) and node.slot == EARLY else node


LATE: dict[str, tuple[Callable[[Node], Node], str]] = {
    "nobody waits for the boxes": (
        lambda n: Block(()) if isinstance(n, Arrived) else n,
        "all CPEs meet again before what was handed out has arrived",
    ),
    "one box is not waited for": (
        lambda n: replace(n, under=n.under[:1]) if isinstance(n, Arrived) else n,
        "1 boxes are waited for, 2 are handed out",
    ),
    "it is not turned to": (
        lambda n: Block(()) if isinstance(n, Rotate) and n.source == SPARE else n,
        "in a slot that was never filled",
    ),
    "it comes into the slot that is handed on": (
        lambda n: early(n, lambda n: replace(n, slot=NEXT)),
        "is issued while slot 1 is moved for",
    ),
    "it comes into the slot of the boxes that come": (
        lambda n: early(n, lambda n: replace(n, slot=SPARE)),
        "is issued while slot 2 is moved for",
    ),
    "it is handed out to where CPEs compute": (
        lambda n: replace(n, slot=AT_HAND) if isinstance(n, Share) else n,
        "before A and B has arrived",
    ),
    "gets are not waited for": (lambda n: Block(()) if isinstance(n, Wait) else n, "are begun again"),
}


@pytest.mark.parametrize("name", LATE)
def test_faults_of_what_is_handed_on_ahead_are_found(name: str) -> None:
    change, what = LATE[name]
    found = faults(allot_replies(transform(in_turn(), change)), FOUR)
    assert any(what in fault for fault in found), found
