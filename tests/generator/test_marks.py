"""Names in isl's sets that mean something to us: one place writes and reads each kind."""

from __future__ import annotations

import islpy as isl
import pytest

from swbuild.frontend.counters import counter_dimension, is_counter, previous_dimension
from swbuild.mapping.marks import FrontMark, LevelMark, Mark, inserted, mark_of
from swbuild.polyhedral.dataflow import Expansion


def band() -> isl.ScheduleNode:
    schedule = isl.Schedule.from_domain(isl.UnionSet("{ S[i] : 0 <= i < 9 }"))
    loop = isl.MultiUnionPwAff("[{ S[i] -> [(i)] }]")
    return schedule.insert_partial_schedule(loop).get_root().child(0)


@pytest.mark.parametrize("mark", [LevelMark(0), LevelMark(12), FrontMark()])
def test_marks_are_read_as_written(mark: Mark) -> None:
    node = inserted(mark, band())
    assert mark_of(node) == mark
    assert mark_of(isl.Schedule(str(node.get_schedule())).get_root().child(0)) == mark


@pytest.mark.parametrize("name", ["levels", "lev", "frontier", "kernel"])
def test_other_nodes_are_no_marks_of_ours(name: str) -> None:
    assert mark_of(band()) is None
    assert mark_of(band().child(0)) is None
    assert mark_of(band().insert_mark(isl.Id(name))) is None


def test_counters_are_told_from_sizes() -> None:
    counter, size = counter_dimension("i", 3), "i3"
    points = isl.Set("[a, b, c] -> { : }")
    for position, name in enumerate((counter, size, previous_dimension(counter))):
        points = points.set_dim_name(isl.dim_type.param, position, name)
    assert [is_counter(points.space, k) for k in range(3)] == [True, False, True]
    assert len({counter_dimension("i", 1), counter_dimension("i", 11), counter_dimension("i1", 1)}) == 3


def test_copies_of_variables_are_no_arrays() -> None:
    spaces = {Expansion(*key, 1).space for key in (("x", ""), ("x", "S0"), ("y", "S0"), ("x", "S1"))}
    assert len(spaces) == 4
    assert not any(space.isidentifier() for space in spaces)
