"""Every transformation where it is legal, where a dependence is in its way, and where it does not fit."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from generation import generated

from swbuild.codegen.unit import GeneratedUnit
from swbuild.diagnostics import Span, SwbuildError
from swbuild.options import KernelOptions, Step, StepKind, Vectorize

K = StepKind

SIGNATURE = (
    "int n, double A[restrict n][n], double B[restrict n][n], double a[restrict n], double b[restrict n]"
)
PLACE = Span("sunway.yaml", 9, 7)

COPY = "for (int i = 1; i < n; i++)\n  for (int j = 0; j < n; j++)\n    A[i][j] = 2 * B[i][j];"
ALONG = "for (int i = 1; i < n; i++)\n  for (int j = 0; j < n - 1; j++)\n    A[i][j] = A[i - 1][j + 1] + 1;"
SUM = "for (int i = 0; i < n; i++)\n  for (int j = 0; j < n; j++)\n    a[i] += B[i][j] * b[j];"
CHAIN = "for (int i = 1; i < n; i++)\n  a[i] = a[i - 1] + 1;"
PAIR = "for (int i = 0; i < n; i++) {\n  a[i] = 2 * b[i];\n  B[i][0] = a[i];\n}"
BACK = "for (int i = 1; i < n; i++) {\n  a[i] = b[i - 1];\n  b[i] = a[i];\n}"
TWO = "for (int i = 0; i < n; i++)\n  a[i] = 2 * b[i];\nfor (int i = 0; i < n; i++)\n  B[i][0] = a[i];"
#: on one line, as the copies of a step are
THREE = " ".join(f"for (int i = 0; i < n; i++) B[i][{k}] = b[i];" for k in range(3))
AHEAD = (
    "for (int i = 0; i < n; i++)\n  a[i] = 2 * b[i];\nfor (int i = 0; i < n - 1; i++)\n  B[i][0] = a[i + 1];"
)


def unit_of(
    tmp_path: Path, loops: str, *steps: Step, vectorize: Vectorize = Vectorize.NEVER
) -> GeneratedUnit:
    text = f"void f({SIGNATURE})\n{{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n"
    placed = tuple(replace(step, span=PLACE) for step in steps)
    options = KernelOptions(threads=(8, 8), vectorize=vectorize, transform=placed)
    return generated(tmp_path, text, options)


LEGAL = [
    (COPY, Step(K.INTERCHANGE, ("i", "j"))),
    (COPY, Step(K.REVERSE, ("j",))),
    (ALONG, Step(K.SKEW, ("j", "i"), (1,))),
    (COPY, Step(K.SCALE, ("i",), (3,))),
    (PAIR, Step(K.SHIFT, ("i",), (2,), ("S1",))),
    (TWO, Step(K.FUSE, ("i#1", "i#2"))),
    (PAIR, Step(K.DISTRIBUTE, ("i",))),
    (PAIR, Step(K.DISTRIBUTE, ("i",), (), ("S1",))),
    (COPY, Step(K.TILE, ("i", "j"), (8, 4))),
    (CHAIN, Step(K.STRIP_MINE, ("i",), (8,))),
    (COPY, Step(K.UNROLL, ("j",), (4,))),
]


@pytest.mark.parametrize(("loops", "step"), LEGAL, ids=lambda value: getattr(value, "kind", value))
def test_legal_steps_are_taken(loops: str, step: Step, tmp_path: Path) -> None:
    assert unit_of(tmp_path, loops, step).regions


ILLEGAL = [
    (
        ALONG,
        Step(K.INTERCHANGE, ("i", "j")),
        "writes A, which line 6 reads; distance (1, -1) in the loops i, j",
    ),
    (CHAIN, Step(K.REVERSE, ("i",)), "writes a, which line 5 reads; distance (1) in the loops i"),
    (ALONG, Step(K.TILE, ("i", "j"), (4, 4)), "distance (1, -1) in the loops i, j"),
    (PAIR, Step(K.SHIFT, ("i",), (1,), ("S0",)), "line 5 writes a, which line 6 reads; distance (0)"),
    (AHEAD, Step(K.FUSE, ("i#1", "i#2")), "line 5 writes a, which line 7 reads; no loop around both"),
    (BACK, Step(K.DISTRIBUTE, ("i",)), "line 6 writes b, which line 5 reads; distance (1) in the loops i"),
]


@pytest.mark.parametrize(("loops", "step", "why"), ILLEGAL, ids=lambda value: getattr(value, "kind", ""))
def test_steps_that_break_a_dependence_are_refused(loops: str, step: Step, why: str, tmp_path: Path) -> None:
    with pytest.raises(SwbuildError) as caught:
        unit_of(tmp_path, loops, step)
    (problem,) = caught.value.diagnostics
    assert problem.code == "SW311"
    assert problem.span == PLACE
    assert why in problem.message
    named = [int(number) for number in re.findall(r"line (\d+)", problem.message)]
    assert [note.span.line for note in problem.notes] == named


def test_skewing_that_turns_a_dependence_round_is_refused_where_it_matters(tmp_path: Path) -> None:
    """A skewing alone reorders nothing; with an interchange it can."""
    turned = Step(K.SKEW, ("j", "i"), (-2,))
    assert unit_of(tmp_path, ALONG, turned)
    with pytest.raises(SwbuildError, match=r"SW311.*`interchange`"):
        unit_of(tmp_path, ALONG, turned, Step(K.INTERCHANGE, ("i", "j")))
    helped = Step(K.SKEW, ("j", "i"), (1,))
    assert unit_of(tmp_path, ALONG, helped, Step(K.INTERCHANGE, ("i", "j")))


MISFITS = [
    (COPY, Step(K.REVERSE, ("k",)), "there is no loop `k` here"),
    (TWO, Step(K.REVERSE, ("i",)), "`i` names 2 loops"),
    (TWO, Step(K.REVERSE, ("i#3",)), "there is no loop `i#3` here"),
    (TWO, Step(K.INTERCHANGE, ("i#1", "i#2")), "no perfect nest: one is not in the other"),
    (COPY, Step(K.INTERCHANGE, ("i", "i")), "both names are of the same loop"),
    (COPY, Step(K.SKEW, ("i", "j"), (1,)), "`i` is not inside `j`"),
    (PAIR, Step(K.SHIFT, ("i",), (1,), ("S7",)), "the loop `i` holds no statement `S7`"),
    (COPY, Step(K.FUSE, ("i", "j")), "`j` does not follow right after `i`"),
    (THREE, Step(K.FUSE, ("i#1", "i#3")), "`i#3` does not follow right after `i#1`"),
    (COPY, Step(K.DISTRIBUTE, ("i",)), "nothing to cut in the loop `i`"),
    (COPY, Step(K.TILE, ("j", "i"), (4, 4)), "no perfect nest"),
]


@pytest.mark.parametrize(("loops", "step", "why"), MISFITS, ids=lambda value: getattr(value, "kind", ""))
def test_steps_that_do_not_fit_are_refused(loops: str, step: Step, why: str, tmp_path: Path) -> None:
    with pytest.raises(SwbuildError) as caught:
        unit_of(tmp_path, loops, step)
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.span) == ("SW310", PLACE)
    assert why in problem.message
    assert problem.hint


def test_a_loop_that_cannot_be_unrolled_where_it_ends_up_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SwbuildError, match="SW312"):
        unit_of(tmp_path, COPY, Step(K.SKEW, ("j", "i"), (1,)), Step(K.UNROLL, ("j",), (2,)))


def test_a_loop_is_unrolled_once(tmp_path: Path) -> None:
    with pytest.raises(SwbuildError, match=r"SW310.*unrolled already"):
        unit_of(tmp_path, COPY, Step(K.UNROLL, ("j",), (2,)), Step(K.UNROLL, ("j",), (3,)))


def test_unrolling_repeats_the_body_and_keeps_a_loop_for_the_rest(tmp_path: Path) -> None:
    unit = unit_of(tmp_path, COPY, Step(K.UNROLL, ("j",), (4,)))
    assert unit.slave is not None
    copies = [f"LDM_A(i, {j}) =" for j in ("j", "(j + 1)", "(j + 2)", "(j + 3)")]
    assert [unit.slave.text.count(copy) for copy in copies] == [2, 1, 1, 1]


def test_sums_in_copies_of_a_body_have_variables_of_their_own(tmp_path: Path) -> None:
    unit = unit_of(tmp_path, SUM, Step(K.UNROLL, ("i",), (2,)), vectorize=Vectorize.AUTO)
    assert unit.slave is not None
    lines = [line.strip() for line in unit.slave.text.splitlines()]
    held = [k for k, line in enumerate(lines) if line.startswith("double a0 =")]
    assert [lines[k] for k in held[:2]] == ["double a0 = LDM_a(i);", "double a0 = LDM_a((i + 1));"]
    assert [lines[k - 1] for k in held[:2]] == ["{", "{"]


def test_the_order_asked_for_is_kept_inside_the_tile(tmp_path: Path) -> None:
    unit = unit_of(tmp_path, COPY, Step(K.INTERCHANGE, ("i", "j")))
    assert unit.slave is not None
    loops = re.findall(r"for \(long (\w+) =", unit.slave.text)
    assert loops == ["j0", "i0", "j", "i"]
    assert re.findall(r"for \(long (\w+) =", _slave(tmp_path, COPY)) == ["i0", "j0", "i", "j"]


def _slave(tmp_path: Path, loops: str) -> str:
    unit = unit_of(tmp_path, loops)
    assert unit.slave is not None
    return unit.slave.text


def test_every_tile_of_the_users_can_go_to_a_thread_of_its_own(tmp_path: Path) -> None:
    unit = unit_of(tmp_path, COPY, Step(K.TILE, ("i", "j"), (8, 4)))
    (kernel,) = unit.regions[0].report["kernels"]
    assert kernel["tile"] == [1, 1, 32, 32]


def test_parallel_loops_are_found_in_the_order_asked_for(tmp_path: Path) -> None:
    """The wavefront: skewed and interchanged, the inner loop is parallel."""
    wave = (
        "for (int i = 1; i < n; i++)\n  for (int j = 1; j < n; j++)\n    A[i][j] = A[i - 1][j] + A[i][j - 1];"
    )
    unit = unit_of(tmp_path, wave, Step(K.SKEW, ("j", "i"), (1,)), Step(K.INTERCHANGE, ("i", "j")))
    (kernel,) = unit.regions[0].report["kernels"]
    assert (kernel["host_loops"], kernel["mapped_loops"]) == (1, 1)
