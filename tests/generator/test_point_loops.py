"""Nests of point loops: what their subscripts and ends tell of them, and the orders they may run in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from swbuild.expressions.c import Assignment, Call, Operation
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Max, Min, Name
from swbuild.expressions.statements import Evaluation
from swbuild.expressions.types import DOUBLE
from swbuild.kernelir.nests import Nest, lie_together, most_trips, shifted, stride
from swbuild.kernelir.nodes import Block, Compute, Loop
from swbuild.kernelir.orders import Order, facts_of, nonempty, orders_of
from swbuild.kernelir.origin import Origin, Role
from swbuild.kernelir.rectangles import rectangle_of, slope_of, with_ends


def plus(name: str, number: int) -> Binary:
    return Binary(BinaryOperator.ADD, Name(name), Constant(number))


def point(first: Max | Name, last: Min) -> Loop:
    condition = Binary(BinaryOperator.LE, Name("i"), last)
    return Loop("i", first, condition, 1, Block(()), Origin(Role.POINT))


def value(node: Expression, names: dict[str, int]) -> int:
    if isinstance(node, Constant):
        return node.value
    if isinstance(node, Name):
        return names[node.name]
    if isinstance(node, (Max, Min)):
        return (max if isinstance(node, Max) else min)(value(o, names) for o in node.operands)
    assert isinstance(node, Binary)
    left, right = value(node.left, names), value(node.right, names)
    return left + right if node.operator is BinaryOperator.ADD else left - right


def iterations(loop: Loop, i: int, j: int | None = None) -> range:
    """Return the iterations of ``loop``, from ``j`` on where it goes on from there."""
    assert isinstance(loop.condition, Binary)
    last = value(loop.condition.right, {"i": i}) + (loop.condition.operator is BinaryOperator.LE)
    if j is None:
        assert loop.first is not None
        j = value(loop.first, {"i": i})
    return range(j, max(j, last))


@pytest.mark.parametrize("copies", [1, 2, 4])
@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("operator", [BinaryOperator.LE, BinaryOperator.LT])
@pytest.mark.parametrize(
    "end", [Name("i"), plus("i", 2), Binary(BinaryOperator.SUB, Constant(9), Name("i"))], ids=str
)
def test_what_is_common_and_what_is_left_are_all_iterations_once(
    end: Expression, operator: BinaryOperator, upper: bool, alone: bool, copies: int
) -> None:
    sloping = end if alone else Min((Constant(7), end)) if upper else Max((Constant(2), end))
    first, last = (Constant(2), sloping) if upper else (sloping, Constant(7))
    rows = Loop("j", first, Binary(operator, Name("j"), last), 1, Block(()), Origin(Role.POINT))
    around = Binary(BinaryOperator.LE, Name("i"), Constant(20))
    outer = Loop("i", Constant(-8), around, 1, rows, Origin(Role.POINT))
    slope = slope_of(Nest((outer, rows), (), frozenset()), "j", "i")
    assert slope is not None
    columns = list(slope.columns(copies))
    turns = [(slope.common(copies), range(copies))]
    turns = [*turns, *columns] if upper else [*columns, *turns]
    for i in range(-8, 20):
        done = []
        j = iterations(turns[0][0] if upper else slope.all(copies), i).start
        for loop, whose in turns:
            found = iterations(loop, i, j)
            done += [(k, j) for j in found for k in whose]
            j = found.stop
        assert sorted(done) == [(k, j) for k in range(copies) for j in iterations(rows, i + k)]


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("end", [Name("i"), Binary(BinaryOperator.SUB, Constant(9), Name("i"))], ids=str)
def test_an_end_at_an_outer_loop_gets_another_beside_it_that_leaves_all_iterations(
    end: Expression, upper: bool
) -> None:
    first, last = (Constant(-20), end) if upper else (end, Constant(20))
    rows = Loop("j", first, Binary(BinaryOperator.LE, Name("j"), last), 1, Block(()), Origin(Role.POINT))
    around = Binary(BinaryOperator.LT, Name("i"), Constant(8))
    outer = Loop("i", Constant(2), around, 1, rows, Origin(Role.POINT))
    nest = Nest((outer, rows), (), frozenset())
    assert rectangle_of(nest) is None
    ended = with_ends(nest)
    assert [iterations(ended.loops[1], i) for i in range(2, 8)] == [iterations(rows, i) for i in range(2, 8)]
    rectangle = rectangle_of(ended)
    assert rectangle is not None and with_ends(rectangle.nest) == rectangle.nest
    (longest,) = {iterations(rectangle.nest.loops[1], i) for i in range(2, 8)}
    assert longest == max((iterations(rows, i) for i in range(2, 8)), key=len)


HALF = Binary(BinaryOperator.DIV, Name("i"), Constant(2))


def test_subscripts_are_moved_and_their_numbers_taken_together() -> None:
    before = Binary(BinaryOperator.SUB, Name("i"), Constant(1))
    twice = Binary(BinaryOperator.MUL, Constant(2), Name("i"))
    assert (shifted(before, "i", 1), shifted(before, "i", 4)) == (Name("i"), plus("i", 3))
    assert shifted(twice, "i", 3) == Binary(BinaryOperator.ADD, twice, Constant(6))
    assert (stride(before, "i"), stride(twice, "i"), stride(before, "j")) == (1, 2, 0)
    assert stride(Binary(BinaryOperator.MUL, Name("i"), Name("i")), "i") is None


@pytest.mark.parametrize(
    ("subscripts", "together"),
    [
        ((Name("j"), Name("i")), True),
        ((Name("j"), Name("k")), True),
        ((Name("i"), Name("j")), False),
        ((HALF, Name("i")), False),
        ((HALF,), False),
        ((), True),
    ],
)
def test_neighbours_whose_distance_varies_do_not_lie_together(
    subscripts: tuple[Expression, ...], together: bool
) -> None:
    assert lie_together(Call(DOUBLE, "LDM_A", subscripts), "i") is together


def test_trips_and_what_is_known_of_them() -> None:
    loop = point(Max((Constant(1), Name("i0"))), Min((Name("n"), plus("i0", 7))))
    assert most_trips(loop) == 8
    tile = Loop(
        "i0", Constant(1), Binary(BinaryOperator.LE, Name("i0"), Name("n")), 8, loop, Origin(Role.TILE)
    )
    facts = facts_of(tile)
    assert nonempty([point(Name("i0"), Min((Name("n"), plus("i0", 7))))], facts) == []
    assert len(nonempty([loop], facts)) == 1  # that n is at least 1 is not known
    assert len(nonempty([loop], [])) == 1


@pytest.mark.parametrize(
    ("row", "column", "slanted"),
    [
        (1, 1, True),  # one row on, and half an iteration
        (1, -4, True),  # one iteration on by rows, two by columns
        (1, -2, False),  # the next iteration reads what this one writes
        (-2, 4, False),  # it is written two iterations before
        (0, 1, True),  # by rows in the same iteration, by columns in another one
    ],
)
def test_a_loop_along_a_diagonal_is_one_whose_iterations_meet_nowhere(
    row: int, column: int, slanted: bool
) -> None:
    i, w = Name("i"), Name("w")
    place = (i, Binary(BinaryOperator.SUB, w, Binary(BinaryOperator.MUL, Constant(2), i)))
    moved = (Binary(BinaryOperator.ADD, p, Constant(by)) for p, by in zip(place, (row, column), strict=True))
    there = Call(DOUBLE, "LDM_u", tuple(moved))
    here = Call(DOUBLE, "LDM_u", place)
    compute = Compute("S", Evaluation(Assignment(DOUBLE, "=", DOUBLE, here, there)), (i,))
    condition = Binary(BinaryOperator.LE, i, Name("n"))
    loop = Loop("i", Constant(0), condition, 1, compute, Origin(Role.POINT))
    assert Nest((loop,), (compute,), frozenset({"LDM_u"})).is_slanted is slanted


@pytest.mark.parametrize(
    ("first", "last", "read", "free"),
    [
        (plus("k", 1), Name("m"), Name("k"), True),
        (Name("k"), Name("m"), Name("k"), False),
        (Name("k"), Name("m"), plus("k", -1), True),
        (Max((Name("n"), plus("k", 1))), Name("m"), Name("k"), True),
        (Max((Name("n"), Name("k"))), Name("m"), Name("k"), False),
        (Constant(0), Name("k"), Name("k"), True),
        (Constant(0), plus("k", 1), Name("k"), False),
        (Constant(0), Min((Name("m"), Name("k"))), Name("k"), True),
        (plus("k", 1), Name("m"), Name("j"), True),
        (plus("k", 1), Name("m"), Name("n"), False),
    ],
)
@pytest.mark.parametrize("falls", [False, True])
def test_a_loop_is_free_where_what_it_reads_lies_beyond_what_it_writes(
    first: Expression, last: Expression, read: Expression, free: bool, falls: bool
) -> None:
    """Such are rows of updates ``a[i][j] -= a[i][k] * …``, ``j`` being from ``first`` to before ``last``."""
    place: Expression = Name("j")
    if falls:  # 100 - j and 100 - k lie apart where j and k do
        place, read = (Binary(BinaryOperator.SUB, Constant(100), value) for value in (place, read))
    here, there = (Call(DOUBLE, "LDM_a", (Name("i"), column)) for column in (place, read))
    compute = Compute("S", Evaluation(Assignment(DOUBLE, "-=", DOUBLE, here, there)), (Name("i"),))
    condition = Binary(BinaryOperator.LT, Name("j"), last)
    loop = Loop("j", first, condition, 1, compute, Origin(Role.POINT))
    assert Nest((loop,), (compute,), frozenset({"LDM_a"})).is_free("j") is free


def _sum(*reads: Call, loops: tuple[Loop, ...] | None = None) -> Nest:
    """Return a nest over k, from 0 to before j, that adds products to element (i, j)."""
    here = Call(DOUBLE, "LDM_a", (Name("i"), Name("j")))
    value = Operation(DOUBLE, "*", DOUBLE, *reads)
    compute = Compute("S", Evaluation(Assignment(DOUBLE, "-=", DOUBLE, here, value)), (Name("i"), Name("k")))
    condition = Binary(BinaryOperator.LT, Name("k"), Name("j"))
    loop = Loop("k", Constant(0), condition, 1, compute, Origin(Role.POINT))
    return Nest(loops or (loop,), (compute,), frozenset({"LDM_a"}))


@pytest.mark.parametrize(
    ("row", "column", "stays"),
    [
        (Name("i"), Name("k"), True),  # before column j in the same row
        (Name("j"), Name("k"), True),
        (Name("k"), Name("j"), False),  # row k may be row i
        (Name("i"), plus("k", 1), False),  # the last one is column j
    ],
)
def test_a_sum_in_its_order_stays_in_a_register_if_nothing_else_meets_it(
    row: Expression, column: Expression, stays: bool
) -> None:
    nest = _sum(Call(DOUBLE, "LDM_a", (row, column)), Call(DOUBLE, "LDM_a", (Name("j"), Name("k"))))
    alone = Order((), (), None, nest.loops)
    assert (alone in orders_of(nest, vectors=False)) is stays


def test_a_sum_over_loops_that_depend_on_each_other_stays_in_a_register_for_the_inner_one() -> None:
    """Whether there is anything to add up is asked ahead of all loops, where no iterator is known."""
    inner = _sum(*(Call(DOUBLE, "LDM_b", (Name("k"), Name("t"))),) * 2)
    condition = Binary(BinaryOperator.LT, Name("t"), Name("n"))
    outer = Loop("t", Constant(0), condition, 1, inner.loops[0], Origin(Role.POINT))
    short = replace(inner.loops[0], condition=Binary(BinaryOperator.LT, Name("k"), Name("t")))
    for second, stays in ((inner.loops[0], True), (short, False)):
        nest = replace(inner, loops=(outer, second))
        assert (Order((), (), None, nest.loops) in orders_of(nest, vectors=False)) is stays
