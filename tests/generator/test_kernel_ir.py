"""The kernel IR's expressions and passes."""

from __future__ import annotations

import islpy as isl
import pytest

from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Min, Name
from swbuild.expressions.printing import c_text
from swbuild.kernelir.expressions import to_tree, value_in
from swbuild.kernelir.nodes import Begin, Block, Body, Compute, Guard, Loop, Node, Place, Put, Wait
from swbuild.kernelir.origin import Origin, Role
from swbuild.kernelir.passes import count_waits, name_loops, walk, with_values
from swbuild.kernelir.unrolling import unrolled
from swbuild.names import Names, own


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


def group(*transfers: object) -> Block:
    return Block((Begin(0, False), *transfers, Wait(0, False)))  # type: ignore[arg-type]


def place(get: bool = True) -> Place:
    return Place("A", (Constant(0),), (Name("n"),), get)


def test_unconditional_transfers_are_counted() -> None:
    counted = count_waits(group(place(), place(get=False), place()), lambda _: 1)
    assert isinstance(counted, Block)
    assert counted.children[0] == Begin(0, False, dynamic=False)
    assert counted.children[-1] == Wait(0, False, count=2)


def test_guarded_or_split_transfers_are_counted_at_run_time() -> None:
    guarded = group(Guard(Binary(BinaryOperator.GT, Name("n"), Constant(3)), Put("A")))
    assert count_waits(guarded, lambda _: 1) == guarded
    assert count_waits(group(place()), lambda _: None) == group(place())


POINT = Origin(Role.POINT)


def loop(iterator: str, first: Expression, end: Expression, step: int, body: Node) -> Loop:
    return Loop(iterator, first, Binary(BinaryOperator.LT, Name(iterator), end), step, body, POINT)


def compute(*iterators: str) -> Compute:
    names = tuple(map(Name, iterators))
    return Compute("S0", ("x(", *(part for name in names for part in (name, ";"))), names)


def sentence(body: Body) -> str:
    return "".join(part if isinstance(part, str) else c_text(part) for part in body)


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
    assert sentence(found.body) == "x(i;"


def test_names_already_taken_are_avoided() -> None:
    named = name_loops(
        loop("sw_c0", Constant(0), Name("i"), 1, compute("sw_c0", "i")), {"S0": ("i", "j")}, frozenset({"i"})
    )
    assert isinstance(named, Loop) and isinstance(named.body, Compute) and named.condition is not None
    texts = (named.iterator, c_text(named.condition), sentence(named.body.body))
    assert spelled(*texts, taken=("i",)) == ["i_2", "i_2 < i", "x(i_2;i;"]


def test_two_loops_of_one_name_in_each_other_are_told_apart() -> None:
    inner = loop("sw_c1", Constant(0), Name("i"), 1, compute("sw_c0", "sw_c1"))
    nest = loop("sw_c0", Constant(0), Name("i"), 1, inner)
    named = name_loops(nest, {"S0": ("i", "i")}, frozenset({"i"}))
    (found,) = (node for node in walk(named) if isinstance(node, Compute))
    assert spelled(sentence(found.body), taken=("i",)) == ["x(i_2;i_;"]


def test_values_stand_for_whole_names_in_expressions_alone() -> None:
    changed = with_values(Compute("S0", ("ni + n + ", Name("n"), Name("n1")), (Name("n"),)), {"n": Name("m")})
    assert changed == Compute("S0", ("ni + n + ", Name("m"), Name("n1")), (Name("m"),))


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
    copies = [sentence(node.body) for node in walk(main) if isinstance(node, Compute)]
    assert copies == ["x(i;", "x((i + 1);", "x((i + 2);", "x((i + 3);"]
