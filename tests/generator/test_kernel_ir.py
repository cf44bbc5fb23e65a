"""The kernel IR's expressions and passes."""

from __future__ import annotations

import islpy as isl
import pytest

from swbuild.kernelir.expressions import to_c
from swbuild.kernelir.nodes import Begin, Block, Compute, Guard, Loop, Place, Put, Wait
from swbuild.kernelir.passes import count_waits, name_loops, rename, walk
from swbuild.names import Names, own


def spelled(*texts: str, taken: tuple[str, ...] = ()) -> list[str]:
    return Names(taken, lambda _: False).lines(texts)


def c_text(value: str) -> str:
    build = isl.AstBuild.from_context(isl.Set("[n, m] -> { : }"))
    return to_c(build.expr_from_pw_aff(isl.PwAff(f"[n, m] -> {{ [({value})] }}")))


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
    (text,) = spelled(c_text(value))
    assert eval(text, {"__builtins__": {}}, names) == expected


def test_or_of_ands_is_parenthesised() -> None:
    build = isl.AstBuild.from_context(isl.Set("[n, m] -> { : }"))
    text = to_c(build.expr_from_set(isl.Set("[n, m] -> { : (n > 3 and m > 2) or (n < 0 and m < 0) }")))
    assert text.count("(") == 2
    assert " || " in text


def group(*transfers: object) -> Block:
    return Block((Begin(0, False), *transfers, Wait(0, False)))  # type: ignore[arg-type]


def place(get: bool = True) -> Place:
    return Place("A", ("0",), ("n",), get)


def test_unconditional_transfers_are_counted() -> None:
    counted = count_waits(group(place(), place(get=False), place()), lambda _: 1)
    assert isinstance(counted, Block)
    assert counted.children[0] == Begin(0, False, dynamic=False)
    assert counted.children[-1] == Wait(0, False, count=2)


def test_guarded_or_split_transfers_are_counted_at_run_time() -> None:
    guarded = group(Guard("n > 3", Put("A")))
    assert count_waits(guarded, lambda _: 1) == guarded
    assert count_waits(group(place()), lambda _: None) == group(place())


def test_loops_take_the_names_of_the_source() -> None:
    inner = Loop("sw_c1", "sw_c0", "sw_c1 < sw_c0 + 32", "1", Compute("S0", "x(sw_c1);", ("sw_c1",)))
    named = name_loops(Loop("sw_c0", "0", "sw_c0 < n", "32", inner), {"S0": ("i",)}, frozenset())
    iterators = [node.iterator for node in walk(named) if isinstance(node, Loop)]
    assert iterators == [own("i0", "loop"), "i"], "the loop over tiles is not one of the source's"
    assert spelled(*iterators) == ["i0", "i"]
    (compute,) = (node for node in walk(named) if isinstance(node, Compute))
    assert compute.text == "x(i);"


def test_names_already_taken_are_avoided() -> None:
    loop = Loop("sw_c0", "0", "sw_c0 < i", "1", Compute("S0", "x(sw_c0, i);", ("sw_c0",)))
    named = name_loops(loop, {"S0": ("i",)}, frozenset({"i"}))
    assert isinstance(named, Loop) and isinstance(named.body, Compute)
    texts = (named.iterator, named.condition, named.body.text)
    assert spelled(*texts, taken=("i",)) == ["i_2", "i_2 < i", "x(i_2, i);"]


def test_two_loops_of_one_name_in_each_other_are_told_apart() -> None:
    inner = Loop("sw_c1", "0", "sw_c1 < i", "1", Compute("S0", "x(sw_c0, sw_c1);", ("sw_c0", "sw_c1")))
    named = name_loops(Loop("sw_c0", "0", "sw_c0 < i", "1", inner), {"S0": ("i", "i")}, frozenset({"i"}))
    (compute,) = (node for node in walk(named) if isinstance(node, Compute))
    assert spelled(compute.text, taken=("i",)) == ["x(i_2, i_);"]


def test_renaming_touches_whole_words_only() -> None:
    renamed = rename(Compute("S0", "ni + n + n1", ("n",)), "n", "m")
    assert renamed == Compute("S0", "ni + m + n1", ("m",))
