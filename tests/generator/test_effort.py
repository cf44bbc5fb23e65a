"""Regions that would take for ever, do not fit the LDM, or that isl gets wrong: they stay on the host."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import islpy as isl
import pytest
from generation import EXAMPLES, generated, unit_of

from swbuild.diagnostics import SwbuildError
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Name
from swbuild.islnumbers import int_of, val_of
from swbuild.kernelir import astwalk, uneven
from swbuild.kernelir.astwalk import Due, Inexact, build_ir
from swbuild.kernelir.nodes import Block
from swbuild.memory import plan
from swbuild.memory.apart import Timing
from swbuild.options import Distribution, KernelOptions
from swbuild.polyhedral.islutil import bounded_effort, ran_out, unbounded_effort

#: Strides and remainders in five loops: the cases multiply.
MANY_CASES = """void f(int n, double A[n + 2][1][n], double B[n + 3][2 * n + 3])
{
#pragma scop
  for (int t = 0; t < 3; t++)
    for (int i = 2; i < n; i++)
      for (int j = 0; j <= (n < i + 4 ? n : i + 4) - 1; j++)
        for (int k = 0; k <= (n < i + 4 ? n : i + 4) - 1; k += 3)
          for (int l = 0; n > l; ++l) {
            B[(-i + n) % 3][j] *= 0.75;
            if (i % 4 != 1 && (i + 1) % 3 == 0)
              A[i % 3][0][-l + n - 1] += 2.0;
            if (j >= l)
              B[i][j] += B[i - 2][j] - B[-j + n - 1][k];
          }
#pragma endscop
}
"""

#: Fused, one iteration may write M[i] and then M[129 * i]: the box around both outgrows the LDM.
WIDE = """void f(int n, int M[restrict 20000])
{
#pragma scop
  for (int i = 0; i < 129; i++)
    if (n > 3)
      M[i] = i;
  for (int i = 0; i < 129; i++)
    if (M[129 * i] > 3)
      M[129 * i] = -i;
#pragma endscop
}
"""


def test_many_cases_take_seconds_and_end_in_a_note_where_isl_may_take_few_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = time.process_time()
    generated(tmp_path, MANY_CASES, KernelOptions())  # close to the limit: there may be a kernel or a note
    monkeypatch.setattr("swbuild.attempt.MAX_OPERATIONS", 30_000)
    (region,) = generated(tmp_path, MANY_CASES, KernelOptions()).regions
    assert region.kernels == ()
    assert "too many cases" in region.report["note"]
    assert time.process_time() - before < 60


def test_an_array_too_large_for_every_tile_stays_in_main_memory(tmp_path: Path) -> None:
    (region,) = generated(tmp_path, WIDE, KernelOptions()).regions
    reasons = {row["reason"] for kernel in region.report["kernels"] for row in kernel["main_memory"]}
    assert len(region.kernels) >= 1
    assert reasons == {"its part in the smallest tile is larger than the LDM budget"}


def test_how_the_boxes_of_diamonds_are_stored_is_found_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    work, found = plan._store, []

    def soon(task: Any, level: Any, group: Any, box: isl.Map, written: isl.Map) -> plan.Store:
        if len(box.get_basic_maps()) > 20:
            with bounded_effort(200_000):  # to take what is written from the box first took over 1,000,000
                found.append(work(task, level, group, box, written))
            raise SwbuildError([])  # enough was seen
        return work(task, level, group, box, written)

    monkeypatch.setattr(plan, "_store", soon)
    with pytest.raises(SwbuildError):
        unit_of("jacobi-2d", KernelOptions())
    assert found == [plan.Store.BOX]


def test_the_end_of_a_limit_is_told_from_a_mistake() -> None:
    many = isl.Set("[n] -> { [i, j, k] : 0 <= i < n and j > i and k > 2j and (i + j) mod 3 = 0 }")
    with pytest.raises(isl.Error) as caught, bounded_effort(3):
        many.lexmin()
    assert ran_out(caught.value)
    with pytest.raises(isl.Error) as other:
        many.intersect(isl.Set("{ [i] }"))
    assert not ran_out(other.value)


def test_numbers_are_read_or_the_limit_is_at_its_end() -> None:
    numbers = (0, -7, 2**31, -(2**31), 2**32, 2**63 - 1, -(2**63), 2**64, 10**30)
    assert [int_of(isl.Val(str(number))) for number in numbers] == list(numbers)
    assert [int_of(val_of(number)) for number in numbers] == list(numbers)
    many, large = isl.Set("{ [i, j] : 0 <= i < 99 and j > i and i + j < 300 }"), isl.Val(str(2**70))
    with bounded_effort(1):
        with pytest.raises(isl.Error):
            many.intersect(many).lexmin()
        with pytest.raises(isl.Error) as caught:
            int_of(large)  # isl has no text for it any more
        assert ran_out(caught.value)


def test_a_limit_inside_another_leaves_it_in_force() -> None:
    with bounded_effort(1000):
        with bounded_effort(5):
            pass
        assert isl.DEFAULT_CONTEXT.get_max_operations() == 1000
    assert isl.DEFAULT_CONTEXT.get_max_operations() == 0


@pytest.mark.parametrize(
    ("wanted", "times", "right"),
    [
        ("{ S[i] : 0 <= i < n }", "{ S[i] -> [i] }", True),
        ("{ S[i] : 0 <= i <= n }", "{ S[i] -> [i] }", False),
        ("{ S[i] : 0 < i < n }", "{ S[i] -> [i] }", False),
        ("{ S[i] : 0 <= i < n }", "{ S[i] -> [i + 1] }", False),
    ],
)
def test_loops_that_run_other_instances_or_at_other_times_are_refused(
    wanted: str, times: str, right: bool
) -> None:
    domain = isl.UnionSet("[n] -> { S[i] : 0 <= i < n }")
    schedule = isl.Schedule.from_domain(domain).insert_partial_schedule(
        isl.MultiUnionPwAff("[{ S[i] -> [(i)] }]")
    )

    def build() -> None:
        build_ir(
            schedule, isl.Set("[n] -> { : n >= 3 }"), {"S": lambda *_: Block(())}, {},
            Due(isl.UnionSet(f"[n] -> {wanted}"), isl.UnionMap(f"[n] -> {times}")),
        )  # fmt: skip

    if right:
        build()
    else:
        with pytest.raises(Inexact):
            build()


def test_loops_of_a_factorisation_of_constant_size_are_compared_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the divisions of their iterators: asked whether there are any, isl takes half a minute."""

    def apart(*_: Any) -> bool:
        pytest.fail("the comparison takes long")

    monkeypatch.setattr(astwalk, "_compared_apart", apart)
    text = (
        (EXAMPLES / "lu.c")
        .read_text()
        .replace("int n, ", "")
        .replace("void lu", "enum { n = 1000 };\nvoid lu")
    )
    (region,) = generated(tmp_path, text).regions
    assert len(region.kernels) > 1


@pytest.mark.parametrize(("effort", "found"), [(1, None), (20_000, Constant(10))])
def test_the_first_round_is_looked_for_in_few_steps(
    effort: int, found: Constant | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uneven, "_EFFORT", effort)
    crowd = uneven.Crowd({"c": 8})
    first = Binary(BinaryOperator.ADD, Binary(BinaryOperator.MUL, Constant(5), Name("c")), Constant(7))
    here = crowd.where([Binary(BinaryOperator.GE, Name("k"), first)])
    assert crowd.first_round("k", here, 0, 5) == found


#: Pairs of instances that run in the order [t, 0, i] and [t, 1, j], and all of them in one turn.
PAIRS = [
    "{ S[t, i] -> T[t, j] }",
    "{ T[t, j] -> S[t, i] }",
    "{ T[t, j] -> S[t + 1, i] }",
    "{ S[t, i] -> S[t, i] }",
    "{ S[t, i] -> S[t, i - 1] }",
    "{ S[t, i] -> S[u, i - 1] : u <= t }",
    "{ S[t, i] -> S[u, i - 1] : 2u >= t and t > 0 }",
    "{ S[t, i] -> S[t - 1, k]; T[t, j] -> T[t, j + 2] : j > 3 }",
    "{ S[t, i] -> S[t - 1, k]; T[t, j] -> T[t, j - 2] : j > 3 }",
    "{ S[t, i] -> S[t, i] : t > 0 and t < 0 }",
]


@pytest.mark.parametrize("strictly", [True, False])
@pytest.mark.parametrize("pairs", PAIRS)
def test_times_compared_by_number_are_in_the_order_of_isl(pairs: str, strictly: bool) -> None:
    order = isl.UnionMap("{ S[t, i] -> [t, 0, i]; T[t, j] -> [t, 1, j] }")
    later = order.lex_lt_union_map(order) if strictly else order.lex_le_union_map(order)
    found = isl.UnionMap(pairs)
    expected = not found.intersect(later).is_empty()
    assert Timing(order, frozenset())._is_ordered(found, strictly=strictly) == expected


#: Strided, reversed, cut to a band and split over cases: isl's loops over its tiles take half a minute.
BAND = """void f(int n, int m, double A[n][n], double D[m])
{
#pragma scop
  for (int t = 0; t < 2; t++)
    for (int i = 1; i < n; i = i + 1)
      for (int j = (n < i + 4 ? n : i + 4) - 1; j > 1 - 1; j -= 3)
        for (int k = 0; k <= n - 2 - 1; ++k) {
          if (i + j < k - 1)
            A[i][j] = A[i][j - 1] + (A[i][j] * A[j][k]);
          else if (!(i == n - 1))
            if (k <= n)
              if (k > m - 1)
                A[i][j] *= 0.75;
        }
#pragma endscop
}
"""


def test_the_loops_of_a_kernel_have_a_limit_in_steps(tmp_path: Path) -> None:
    options = KernelOptions(threads=(1, 64), distribution=Distribution.BLOCK)
    (region,) = generated(tmp_path, BAND, options).regions
    assert region.kernels == ()
    assert "too many cases" in region.report["note"]


def test_a_limit_leaves_out_what_isl_calls_back() -> None:
    with bounded_effort(5):
        with unbounded_effort():
            isl.Set("{ [i, j] : 0 <= i < 9 and j > i and 2j < 99 and (i + j) mod 3 = 0 }").lexmin()
        assert isl.DEFAULT_CONTEXT.get_max_operations() == 5
