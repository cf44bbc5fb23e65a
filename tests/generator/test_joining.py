"""Statements of one text become one statement where only the instances say which of them it is."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest
from generation import EXAMPLES, generated, model_of, unit_of

from swbuild.frontend import CppOptions, read_source
from swbuild.frontend.scop import Scop
from swbuild.options import KernelOptions, Preset, Where
from swbuild.planning.apart import buffers_of
from swbuild.polyhedral.accumulators import in_elements
from swbuild.polyhedral.islutil import maps_of, repeated
from swbuild.polyhedral.joining import joined

#: the elements of the instances themselves
SAME = "[n] -> { S0[i, j, k] -> a[i, j] }"

HEAD = """\
void f(int n, int t, double a[restrict n][n], double b[restrict n], double c[restrict n])
{
#pragma scop
"""

#: What a column of a factorisation takes off a matrix, above and below its diagonal.
HALVES = """\
for (int i = 0; i < n; i++) {
  for (int j = 0; j < i; j++)
    a[i][j] -= c[i] * b[j];
  c[i] = 1;
  for (int k = i; k < n; k++)
    a[i][k] -= c[i] * b[k];
}
"""


def _model(directory: Path, body: str) -> Scop:
    (scop,) = model_of(directory, f"{HEAD}{body}\n#pragma endscop\n}}\n").scops
    return scop


def _example(name: str) -> Scop:
    (scop,) = read_source(EXAMPLES / f"{name}.c", CppOptions(), None).scops
    return scop


def _run(scop: Scop, size: int) -> list[tuple[int, tuple[int, ...]]]:
    """Return the lines that ``scop`` runs, with their iterators, in its order when parameters are ``size``.

    The lines of one text count as the first of them.
    """
    found: list[tuple[tuple[int, ...], int, tuple[int, ...]]] = []
    for piece in maps_of(scop.schedule.get_map().intersect_domain(scop.schedule.get_domain())):
        statement = scop.statement(str(piece.get_tuple_name(isl.dim_type.in_)))
        for k in range(piece.dim(isl.dim_type.param)):
            piece = piece.fix_val(isl.dim_type.param, k, isl.Val(size))
        pairs = piece.wrap().flatten().project_out(isl.dim_type.param, 0, piece.dim(isl.dim_type.param))
        points: list[isl.Point] = []
        pairs.foreach_point(points.append)
        for point in points:
            places = range(pairs.dim(isl.dim_type.set))
            numbers = tuple(int(point.get_coordinate_val(isl.dim_type.set, k).to_python()) for k in places)
            count = len(statement.iterators)
            found.append((numbers[count:], statement.span.line, numbers[:count]))
    return [(line, iterators) for _, line, iterators in sorted(found)]


@pytest.mark.parametrize("size", [1, 2, 5, 6])
@pytest.mark.parametrize("name", ["lu", "ludcmp"])
def test_the_same_runs_in_the_same_order(name: str, size: int) -> None:
    scop = _example(name)
    scop = in_elements(scop) or scop
    whole = joined(scop)
    first = {again.line: s.span.line for s in whole.statements for again in s.also}
    assert first
    assert len(whole.statements) == len(scop.statements) - len(first)
    runs = [(first.get(line, line), iterators) for line, iterators in _run(scop, size)]
    assert _run(whole, size) == runs
    assert len(runs) >= size * (size - 1)


def test_accesses_are_those_of_all(tmp_path: Path) -> None:
    scop = _model(tmp_path, HALVES)
    whole = joined(scop)
    assert [s.name for s in whole.statements] == ["S0", "S1"]
    for mine, first, last in zip(
        whole.statement("S0").accesses,
        scop.statement("S0").accesses,
        scop.statement("S2").accesses,
        strict=True,
    ):
        together = first.relation.union(last.relation.set_tuple_name(isl.dim_type.in_, "S0"))
        assert mine.relation.is_equal(together)
        assert (mine.array, mine.kind) == (first.array, first.kind)


@pytest.mark.parametrize(
    "body",
    [
        # another text
        HALVES.replace("a[i][k] -=", "a[i][k] +="),
        HALVES.replace("b[k];", "b[k - 1];").replace("k = i", "k = i + 1"),
        # an instance of both, and one of none between them
        HALVES.replace("j < i", "j <= i").replace("c[i] = 1", "a[i][i] = 1"),
        HALVES.replace("k = i", "k = i + 1"),
        # one after the other, not inside a loop
        "for (int i = 0; i < t; i++) b[i] = 2 * b[i];\nfor (int i = t; i < n; i++) b[i] = 2 * b[i];",
        # the second half reads what the first one has written: red-black order
        """for (int s = 0; s < t; s++) {
             for (int i = 1; i < n - 1; i += 2) b[i] = b[i - 1] + b[i + 1];
             for (int i = 2; i < n - 1; i += 2) b[i] = b[i - 1] + b[i + 1]; }""",
        # the first half reads what the second one writes
        """for (int s = 0; s < n; s++) {
             for (int i = 0; i < s; i++) b[i] = 2 * b[n - 1 - i];
             for (int i = s; i < n; i++) b[i] = 2 * b[n - 1 - i]; }""",
        # subscripts that are data
        HALVES.replace("b[j]", "b[(int)b[j]]").replace("b[k]", "b[(int)b[k]]"),
    ],
)
def test_all_else_stays_apart(body: str, tmp_path: Path) -> None:
    scop = _model(tmp_path, body)
    assert joined(scop) is scop


#: All rows but that of the step: the front end takes them in two parts.
OTHERS = """\
for (int k = 0; k < n; k++)
  for (int i = 0; i < n; i++)
    if (i != k) {
      double f = a[i][k];
      for (int j = k; j < n; j++)
        a[i][j] -= f * a[k][j];
    }
"""


def test_parts_of_a_statement_with_a_gap_are_joined_on_request(tmp_path: Path) -> None:
    scop = _model(tmp_path, OTHERS)
    assert joined(scop) is scop
    whole = joined(scop, convex=False)
    assert len(whole.statements) == len(scop.statements) - 1
    line = scop.statements[-1].span.line
    assert _run(whole, 5) == [(line if at == line else at, iterators) for at, iterators in _run(scop, 5)]


def test_parts_between_which_another_one_runs_stay_apart(tmp_path: Path) -> None:
    """The row of the step is written between those before and behind it."""
    update = "a[i][j] = a[i][j] < a[i][k] + a[k][j] ? a[i][j] : a[i][k] + a[k][j];"
    loops = "".join(f"for (int {name} = 0; {name} < n; {name}++) " for name in "kij")
    scop = _model(tmp_path, loops + update)
    assert len({s.span for s in scop.statements}) == 1 < len(scop.statements)
    assert all(len(joined(scop, convex=c).statements) == len(joined(scop).statements) for c in (True, False))


def test_the_better_of_parts_and_whole_statements_is_taken(tmp_path: Path) -> None:
    text = f"{HEAD}{OTHERS}#pragma endscop\n}}\n"
    (region,) = generated(tmp_path, text, KernelOptions(machine="sw26010-pro", where=Where.CPES)).regions
    kernels = [set(kernel["statements"]) for kernel in region.report["kernels"]]
    assert len(set().union(*kernels)) == 2, "the scalar, and the rows before and behind that of the step"


#: An update of a triangle, and of the element on the diagonal by a loop of its own.
DIAGONAL = """\
for (int i = 0; i < n; i++) {
  for (int j = 0; j < i; j++) {
    for (int k = 0; k < j; k++)
      a[i][j] -= a[i][k] * a[j][k];
    a[i][j] /= a[j][j];
  }
  for (int l = 0; l < i; l++)
    a[i][i] -= a[i][l] * a[i][l];
  c[i] = a[i][i];
}
"""


@pytest.mark.parametrize("size", [1, 2, 5, 6])
def test_a_loop_less_stands_for_equal_iterators(size: int, tmp_path: Path) -> None:
    scop = _model(tmp_path, DIAGONAL)
    whole = joined(scop)
    assert [s.name for s in whole.statements] == ["S0", "S1", "S3"]
    update, alone = (scop.statement(name).span.line for name in ("S0", "S2"))
    expected = [
        (update, (at[0], at[0], at[1])) if line == alone else (line, at) for line, at in _run(scop, size)
    ]
    assert _run(whole, size) == expected
    together = isl.Set("[n] -> { S0[i, j, k] : 0 <= k < j <= i < n }")
    assert whole.statement("S0").domain.is_equal(together)
    for access, subscripts in zip(whole.statement("S0").accesses, ("ij", "ij", "ik", "jk"), strict=True):
        element = ", ".join(subscripts)
        assert access.relation.is_equal(
            isl.Map(f"[n] -> {{ S0[i, j, k] -> a[{element}] }}").intersect_domain(together)
        )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a[i][l] * a[i][l]", "a[i][l] * a[l][i]"),  # no iteration of the other accesses these
        ("a[i][l] * a[i][l]", "a[i][l] * b[l]"),  # another array
        ("l < i", "l < i - 2"),  # not one convex set
        ("a[i][i] -=", "a[i][i] +="),
        (
            "for (int l = 0; l < i; l++)\n    a[i][i] -= a[i][l]",
            "for (int l = 0; l < i; l++)\n    a[i][i] -= l * a[i][l]",
        ),
    ],
)
def test_a_loop_less_is_left_alone_where_it_is_no_part_of_the_other(
    old: str, new: str, tmp_path: Path
) -> None:
    assert old in DIAGONAL
    scop = _model(tmp_path, DIAGONAL.replace(old, new))
    assert joined(scop) is scop


def test_halves_are_joined_beside_a_deeper_statement_that_they_are_no_part_of(tmp_path: Path) -> None:
    body = """for (int i = 0; i < n; i++) {
  for (int j = 0; j < i; j++) a[i][j] -= c[0] * b[j];
  for (int k = i; k < n; k++) a[i][k] -= c[0] * b[k];
  for (int p = 0; p < n; p++) for (int q = 3; q < n; q++) a[i][p] -= c[q] * b[p];
}"""
    assert [s.name for s in joined(_model(tmp_path, body)).statements] == ["S0", "S2"]


def test_an_update_in_two_triangles_has_whole_tiles() -> None:
    (region,) = unit_of("lu", KernelOptions(where=Where.CPES)).regions
    update = max(region.report["kernels"], key=lambda kernel: kernel["mapped_loops"])
    (tile,) = update["register_tiles"]
    assert tile["held_over"] == ["k"] and tile["jammed"]
    text = (EXAMPLES / "lu.c").read_text(encoding="utf-8").splitlines()
    ((found,),) = (region.report["one_text"],)
    lines = [k for k, line in enumerate(text, 1) if "-= A[i][k] * A[k][j]" in line]
    assert found == {"statement": "S0", "lines": lines}


#: Halves whose order isl's scheduler does not find: the loops stay as they are written.
KEPT = """\
for (int i = 3; i < n - 2; i += 2) {
  for (int j = 0; j < (n < i - 1 ? n : i - 1); j++) {
    a[i][j / 4] = a[i][0];
    if ((i + 1) % 3 != 0)
      a[i][j] += b[i - 1] + a[i][j];
  }
  for (int j = (i > 1 ? i - 1 : 0); j < n; j++)
    if ((i + 1) % 3 != 0)
      a[i][j] += b[i - 1] + a[i][j];
}
"""


def test_statements_are_joined_only_where_they_get_one_place(tmp_path: Path) -> None:
    assert joined(_model(tmp_path, KEPT)).statements[-1].also
    text = f"{HEAD}{KEPT}\n#pragma endscop\n}}\n"
    (region,) = generated(tmp_path, text, KernelOptions(where=Where.CPES)).regions
    assert region.report["one_text"] == []
    assert region.report["kernels"]


def test_statements_in_several_places_of_a_schedule_are_found(tmp_path: Path) -> None:
    scop = _model(tmp_path, HALVES)
    assert repeated(scop.schedule) == frozenset()
    assert repeated(joined(scop).schedule) == {"S0"}


def test_the_published_algorithm_and_the_users_steps_go_by_the_source(tmp_path: Path) -> None:
    text = f"{HEAD}{HALVES}\n#pragma endscop\n}}\n"
    (region,) = generated(tmp_path, text, KernelOptions(preset=Preset.CLASSIC, where=Where.CPES)).regions
    assert region.report["one_text"] == []


def test_accesses_that_never_meet_in_a_launch_have_buffers_of_their_own(tmp_path: Path) -> None:
    body = """for (int k = 0; k < n; k++) for (int i = k + 1; i < n; i++) for (int j = k + 1; j < n; j++)
                a[i][j] -= a[i][k] * a[k][j];"""
    scop = _model(tmp_path, body)
    (statement,) = scop.statements
    launch = isl.Set("{ S0[5, i, j] : 5 < i, j < 30 }")
    found = buffers_of(scop, {"S0": launch}, ())
    names = {
        str(a.relation.range().get_tuple_name()) + str(a.kind.value): found["S0", a.ref]
        for a in statement.accesses
    }
    assert set(found.values()) == {"a", "a 1"}, names
    assert names["aread"] != names["amust-write"]
    every = isl.Set("{ S0[k, i, j] : 0 <= k < i, j and i, j < 30 }")
    assert set(buffers_of(scop, {"S0": every}, ()).values()) == {"a"}
    assert buffers_of(scop, {"S0": every}, ("a",)) == {}


def test_what_is_read_before_it_is_overwritten_has_a_buffer_of_its_own(tmp_path: Path) -> None:
    body = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = i + 1; k < n; k++)
                a[i][j] += b[k] * a[k][j];"""
    (statement,) = (scop := _model(tmp_path, body)).statements
    launch = isl.Set("{ S0[i, j, k] : 0 <= i, j < 30 and i < k < 30 }")
    found = buffers_of(scop, {"S0": launch}, ())
    written = {a.ref for a in statement.accesses if a.array == "a" and a.kind.value != "read"}
    names = {ref: found["S0", ref] for ref in {a.ref for a in statement.accesses if a.array == "a"}}
    assert len(names) == 2 and len(set(names.values())) == 2 and len(written) == 1


def test_what_is_read_in_two_places_of_which_one_is_written_has_buffers_of_its_own(tmp_path: Path) -> None:
    # the element is compared and assigned: both reads of other elements stay out of its buffer
    body = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
                a[i][j] = a[i][j] >= a[i][k] + a[k][j] ? a[i][j] : a[i][k] + a[k][j];"""
    (statement,) = (scop := _model(tmp_path, body)).statements
    launch = isl.Set("{ S0[i, j, k] : 0 <= i < 8 and 8 <= j < 16 and 16 <= k < 30 }")
    found = buffers_of(scop, {"S0": launch}, ())
    own = {found["S0", a.ref] for a in statement.accesses if a.relation.is_subset(isl.Map(SAME))}
    others = {found["S0", a.ref] for a in statement.accesses if a.array == "a"} - own
    assert len(own) == 1 and len(others) == 1
