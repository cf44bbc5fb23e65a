"""The kernel IR's expressions and passes."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from swbuild.expressions.c import Call, Variable
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Min, Name
from swbuild.expressions.printing import c_text
from swbuild.expressions.statement_printing import statement_text
from swbuild.expressions.statements import Evaluation
from swbuild.expressions.types import INT
from swbuild.kernelir.expressions import to_tree, value_in
from swbuild.kernelir.nodes import (
    Begin,
    Block,
    Compute,
    Direction,
    Fence,
    Group,
    Guard,
    Loop,
    Node,
    Piece,
    Place,
    Row,
    Transfer,
    Wait,
    Whole,
)
from swbuild.kernelir.origin import Origin, Role
from swbuild.kernelir.passes import name_loops, walk, with_values
from swbuild.kernelir.transfers import Limits, Shape, allot_replies, at_once, count_waits, split_transfers
from swbuild.kernelir.unrolling import unrolled
from swbuild.names import Names, own, plain_name


def spelled(*texts: str, taken: tuple[str, ...] = ()) -> list[str]:
    return Names(taken, lambda _: False).lines(texts)


def isl_text(value: str) -> str:
    build = isl.AstBuild.from_context(isl.Set("[n, m] -> { : }"))
    return c_text(value_in(build, isl.PwAff(f"[n, m] -> {{ [({value})] }}")))


@pytest.mark.parametrize(
    ("value", "n", "m"),
    [
        ("n + 2 * m - 1", 3, 4),
        ("floor(n / 4)", -5, 0),
        ("floor((n + m) / 3)", 7, -20),
        ("n - 3 * (n - m)", 2, 9),
    ],
)
def test_expressions_compute_what_isl_computes(value: str, n: int, m: int) -> None:
    names = {"n": n, "m": m, "SW_FLOORDIV": lambda a, b: a // b}
    expected = isl.PwAff(f"[n, m] -> {{ [({value})] : n = {n} and m = {m} }}").max_val().to_python()
    (text,) = spelled(isl_text(value))
    assert eval(text, {"__builtins__": {}}, names) == expected


def test_or_of_ands_is_parenthesised() -> None:
    build = isl.AstBuild.from_context(isl.Set("[n, m] -> { : }"))
    either = isl.Set("[n, m] -> { : (n > 3 and m > 2) or (n < 0 and m < 0) }")
    text = c_text(to_tree(build.expr_from_set(either)))
    assert text.count("(") == 2
    assert " || " in text


GETS = Group(0, Direction.GET)


def group(*transfers: Node) -> Block:
    return Block((Begin(GETS), *transfers, Wait(GETS)))


PLACE = Place("A", (Constant(0),), (Name("n"),))
GET = Transfer("A", 0, Piece((Constant(0),), Name("n")), GETS)
SOMETIMES = Guard(Binary(BinaryOperator.GT, Name("n"), Constant(3)), GET)


def test_unconditional_transfers_are_counted() -> None:
    counted = count_waits(group(PLACE, GET, PLACE, GET))
    assert isinstance(counted, Block)
    assert counted.children[0] == Begin(GETS, dynamic=False)
    assert counted.children[2] == GET
    assert counted.children[-1] == Wait(GETS, count=2)


def test_transfers_under_conditions_and_in_loops_are_counted_at_run_time() -> None:
    for moving in (SOMETIMES, loop("i", Constant(0), Constant(4), 1, GET)):
        counted = count_waits(Block((group(moving), group(GET))))
        (first, second) = (node for node in walk(counted) if isinstance(node, Begin))
        assert (first.dynamic, second.dynamic) == (True, False)
        transfers = [node for node in walk(counted) if isinstance(node, Transfer)]
        assert len(transfers) == 2 and all(node.counted for node in transfers)


def test_a_group_inside_another_is_counted_by_itself() -> None:
    other = Group(1, Direction.GET)
    inner = (Begin(other), replace(GET, group=other), Wait(other))
    counted = count_waits(Block((Begin(GETS), GET, *inner, GET, Wait(GETS))))
    waits = {node.group: node.count for node in walk(counted) if isinstance(node, Wait)}
    assert waits == {GETS: 2, other: 1}


def test_groups_that_are_open_together_have_reply_words_of_their_own() -> None:
    one, two, three = (Group(level, Direction.GET) for level in range(3))
    apart = allot_replies(Block((Begin(one), Wait(one), Begin(two), Wait(two))))
    assert replies(apart) == {0: 0, 1: 0}
    nested = allot_replies(Block((Begin(one), Begin(two), Wait(two), Begin(three), Wait(three), Wait(one))))
    assert replies(nested) == {0: 0, 1: 1, 2: 1}
    crossed = Block((Begin(one), Wait(one), Begin(two), Begin(one), Wait(two), Wait(one)))
    assert replies(allot_replies(crossed)) == {0: 0, 1: 1}


def replies(node: Node) -> dict[int, int | None]:
    return {found.group.level: found.group.reply for found in walk(node) if isinstance(found, Begin)}


WIDE = Limits(1 << 20, 1 << 20, 4)


@pytest.mark.parametrize(
    ("bound", "limits", "apart", "expected"),
    [
        ((32,), WIDE, False, "A_n0"),
        ((32,), WIDE, True, "A_n0"),
        ((32, 32), WIDE, False, "A_n0 x A_n1"),
        ((32, 32), WIDE, True, "d0 < A_n0 by 1: A_n1"),
        ((4, 32, 32), WIDE, False, "d0 < A_n0 by 1: A_n1 x A_n2"),
        ((32,), Limits(100, 100, 4), False, "d0 < A_n0 by 12: MIN(12, A_n0 - d0)"),
        ((32,), Limits(100, 100, 32), False, "d0 < A_n0 by 12: MIN(12, A_n0 - d0)"),
        ((32,), Limits(120, 100, 32), False, "d0 < A_n0 by 12: MIN(12, A_n0 - d0)"),
        ((32, 12), Limits(300, 100, 4), False, "d0 < A_n0 by 3: MIN(3, A_n0 - d0) x A_n1"),
        ((3, 12), Limits(300, 100, 4), False, "A_n0 x A_n1"),
        ((32, 13), Limits(300, 100, 4), False, "d0 < A_n0 by 1: A_n1"),
        ((32, 13), Limits(100, 100, 4), False, "d0 < A_n0 by 1: d1 < A_n1 by 12: MIN(12, A_n1 - d1)"),
    ],
)
def test_transfers_are_split_into_operations(
    bound: tuple[int, ...], limits: Limits, apart: bool, expected: str
) -> None:
    place = Place("A", (Constant(0),) * len(bound), (Name("n"),) * len(bound))
    whole = Block((place, Transfer("A", 0, Whole(), GETS)))
    split = split_transfers(whole, {"A": Shape(bound, 8)}, limits, apart=apart)
    assert isinstance(split, Block)
    assert operations(split.children[-1]) == expected


def operations(node: Node) -> str:
    """Return the loops of a split transfer and what it moves, in short."""
    if isinstance(node, Loop):
        assert node.origin.role is Role.SPLIT and node.condition is not None
        return f"{short(node.condition)} by {node.step}: {operations(node.body)}"
    assert isinstance(node, Transfer) and isinstance(node.part, Piece)
    rows = "" if node.part.rows is None else f"{short(node.part.rows)} x "
    return rows + short(node.part.length)


def short(expression: Expression) -> str:
    return plain_name(c_text(expression)).replace("sw_", "").replace("SW_", "")


def test_a_long_row_is_put_in_parts() -> None:
    row = Transfer("A", 0, Row((Name("i"),), Name("j"), Name("m")), Group(0, Direction.PUT))
    same = split_transfers(row, {"A": Shape((4, 32), 8)}, Limits(256, 256, 4))
    assert same == row
    split = split_transfers(row, {"A": Shape((4, 32), 8)}, Limits(128, 128, 4))
    assert isinstance(split, Loop) and isinstance(split.body, Transfer) and split.step == 16
    assert isinstance(split.body.part, Row)
    assert [short(e) for e in (split.body.part.low, split.body.part.size)] == ["j + d0", "MIN(16, m - d0)"]


def test_rows_go_apart_only_where_the_size_of_the_box_varies() -> None:
    fixed = Place("A", (Name("i"), Name("j")), (Constant(4), Constant(32)))
    tree = Block((fixed, Transfer("A", 0, Whole(), GETS)))
    split = split_transfers(tree, {"A": Shape((4, 32), 8)}, WIDE, apart=True)
    assert isinstance(split, Block) and operations(split.children[-1]) == "A_n0 x A_n1"


def test_every_transfer_is_waited_for_at_once() -> None:
    puts = Group(0, Direction.PUT)
    tree = Block((*group(PLACE, GET, SOMETIMES).children, Begin(puts), Wait(puts, fence=True)))
    waited = count_waits(at_once(tree))
    wait = Wait(GETS, count=1)
    alone = (Begin(GETS, dynamic=False), GET, wait)
    assert waited == Block((PLACE, *alone, replace(SOMETIMES, then=Block(alone)), Fence()))


POINT = Origin(Role.POINT)


def loop(iterator: str, first: Expression, end: Expression, step: int, body: Node) -> Loop:
    return Loop(iterator, first, Binary(BinaryOperator.LT, Name(iterator), end), step, body, POINT)


def compute(*iterators: str) -> Compute:
    names = tuple(map(Name, iterators))
    return Compute("S0", Evaluation(Call(INT, "x", names)), names)


def test_loops_take_the_names_of_the_source() -> None:
    end = Binary(BinaryOperator.ADD, Name("sw_c0"), Constant(32))
    inner = loop("sw_c1", Name("sw_c0"), end, 1, compute("sw_c1"))
    named = name_loops(loop("sw_c0", Constant(0), Name("n"), 32, inner), {"S0": ("i",)}, frozenset())
    loops = [node for node in walk(named) if isinstance(node, Loop)]
    iterators = [node.iterator for node in loops]
    assert iterators == [own("i0", "loop"), "i"], "the loop over tiles is not one of the source's"
    assert spelled(*iterators) == ["i0", "i"]
    assert loops[1].condition == Binary(
        BinaryOperator.LT, Name("i"), Binary(end.operator, Name(iterators[0]), end.right)
    )
    (found,) = (node for node in walk(named) if isinstance(node, Compute))
    assert statement_text(found.body) == "x(i);"


def test_names_already_taken_are_avoided() -> None:
    named = name_loops(
        loop("sw_c0", Constant(0), Name("i"), 1, compute("sw_c0", "i")), {"S0": ("i", "j")}, frozenset({"i"})
    )
    assert isinstance(named, Loop) and isinstance(named.body, Compute) and named.condition is not None
    texts = (named.iterator, c_text(named.condition), statement_text(named.body.body))
    assert spelled(*texts, taken=("i",)) == ["i_2", "i_2 < i", "x(i_2, i);"]


def test_two_loops_of_one_name_in_each_other_are_told_apart() -> None:
    inner = loop("sw_c1", Constant(0), Name("i"), 1, compute("sw_c0", "sw_c1"))
    nest = loop("sw_c0", Constant(0), Name("i"), 1, inner)
    named = name_loops(nest, {"S0": ("i", "i")}, frozenset({"i"}))
    (found,) = (node for node in walk(named) if isinstance(node, Compute))
    assert spelled(statement_text(found.body), taken=("i",)) == ["x(i_2, i_);"]


def test_values_stand_for_whole_names_in_expressions_alone() -> None:
    user, other = Variable(INT, "n"), Name("n1")
    before = Compute("S0", Evaluation(Call(INT, "x", (user, Name("n"), other))), (Name("n"),))
    after = Compute("S0", Evaluation(Call(INT, "x", (user, Name("m"), other))), (Name("m"),))
    assert with_values(before, {"n": Name("m")}) == after


def test_what_is_moved_is_renamed_with_the_loops_around_it() -> None:
    row, piece = Row((Name("n"),), Name("n"), Name("n")), Piece((Name("n"),), Name("n"), Name("n"))
    for part in (row, piece):
        changed = with_values(Transfer("A", 0, part, GETS), {"n": Name("m")})
        assert "'n'" not in repr(changed) and repr(changed).count("'m'") == 3


@pytest.mark.parametrize(
    ("first", "end", "step", "count"),
    [
        (Constant(0), Constant(32), 1, 32),
        (Constant(3), Constant(32), 5, 6),
        (Constant(9), Constant(3), 1, 0),
        (Name("i0"), Binary(BinaryOperator.ADD, Constant(4), Name("i0")), 3, 2),
        (Name("i0"), Min((Name("n"), Binary(BinaryOperator.ADD, Constant(4), Name("i0")))), 1, None),
        (Constant(0), Name("n"), 1, None),
    ],
)
def test_trip_counts_are_known_where_they_are_constant(
    first: Expression, end: Expression, step: int, count: int | None
) -> None:
    assert loop("i", first, end, step, Block(())).trip_count == count


def test_unrolled_loops_know_what_they_are() -> None:
    (counter, count) = unrolled(loop("i", Constant(0), Name("n"), 1, compute("i")), "i", frozenset({"S0"}), 4)
    main, rest = (node for node in walk(counter) if isinstance(node, Loop))
    assert count == 1 and (main.step, rest.step) == (4, 1)
    assert (main.origin.role, rest.origin.role) == (Role.UNROLLED, Role.REMAINDER)
    assert main.condition is not None and c_text(main.condition) == "(i + 3) < n"
    copies = [statement_text(node.body) for node in walk(main) if isinstance(node, Compute)]
    assert copies == ["x(i);", "x((i + 1));", "x((i + 2));", "x((i + 3));"]
