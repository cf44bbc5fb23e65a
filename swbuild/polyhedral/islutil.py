"""Small helpers over islpy that several stages share."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import islpy as isl

from swbuild.islnumbers import RAN_OUT, int_of
from swbuild.timings import count

__all__ = [
    "apart",
    "bounded_effort",
    "coalesced",
    "constant_of",
    "counts_by_one",
    "has_unit_steps",
    "index_range",
    "is_constant",
    "is_plain",
    "loop_values",
    "maps_of",
    "over_parameters",
    "ran_out",
    "repeated",
    "sets_of",
    "unbounded_effort",
    "union_maps",
    "union_sets",
    "varies",
]

_Coalesced = TypeVar("_Coalesced", isl.Map, isl.UnionSet)


def maps_of(union: isl.UnionMap) -> list[isl.Map]:
    """Return the maps of ``union``, sorted by the names of their tuples (a stable order)."""
    found = union.get_map_list()
    maps = [found.get_at(i) for i in range(found.n_map())]
    return sorted(maps, key=lambda m: (_name(m, isl.dim_type.in_), _name(m, isl.dim_type.out)))


def _name(piece: isl.Map, side: isl.dim_type) -> str:
    return str(piece.get_tuple_name(side)) if piece.has_tuple_id(side) else ""


def sets_of(union: isl.UnionSet) -> list[isl.Set]:
    """Return the sets of ``union``, sorted by their tuple's name (a stable order)."""
    found = union.get_set_list()
    sets = [found.get_at(i) for i in range(found.n_set())]
    return sorted(sets, key=lambda s: str(s.get_tuple_name()) if s.has_tuple_id() else "")


def over_parameters(text: str, names: Sequence[str]) -> isl.Set:
    """Return the set that isl reads in ``text``, where ``names`` stand as ``p0``, ``p1``, ….

    A parameter may have any name, but isl does not read all of them.
    """
    places = [f"p{k}" for k in range(len(names))]
    found = isl.Set(f"[{', '.join(places)}] -> {text}")
    for position, name in enumerate(names):
        found = found.set_dim_name(isl.dim_type.param, position, name)
    return found


def union_sets(sets: Iterable[isl.Set]) -> isl.UnionSet:
    """Return the union of ``sets``."""
    result = isl.UnionSet("{ }")
    for piece in sets:
        result = result.union(piece.to_union_set())
    return result


def union_maps(maps: Iterable[isl.Map]) -> isl.UnionMap:
    """Return the union of ``maps``."""
    result = isl.UnionMap("{ }")
    for piece in maps:
        result = result.union(piece.to_union_map())
    return result


def index_range(elements: isl.Set, position: int) -> isl.Set:
    """Return the values of one index of ``elements``, as an unnamed set."""
    plain = elements.reset_tuple_id()
    others = plain.project_out(isl.dim_type.set, position + 1, plain.dim(isl.dim_type.set) - position - 1)
    return others.project_out(isl.dim_type.set, 0, position)


def loop_values(schedule: isl.Schedule) -> isl.UnionMap:
    """Return, for every instance of ``schedule``, the values of the loops around it, outermost first."""
    return _values_below(schedule.get_root())


def is_plain(schedule: isl.Schedule) -> bool:
    """Return whether ``schedule`` counts convex sets of instances one by one (besides tiles).

    Then isl has no strides to detect and no offsets to choose.
    """
    parts = [piece.get_basic_sets() for piece in sets_of(schedule.get_domain())]
    convex = all(len(part) == 1 and not part[0].dim(isl.dim_type.div) for part in parts)
    return convex and has_unit_steps(schedule)


def has_unit_steps(schedule: isl.Schedule) -> bool:
    """Return whether all loops of ``schedule`` count instances one by one (besides tiles)."""
    return _has_unit_steps(schedule.get_root())


def _has_unit_steps(node: isl.ScheduleNode) -> bool:
    """Return whether the bands at and below ``node`` count tiles, or instances one by one."""
    if node.get_type() == isl.schedule_node_type.band:
        partial = node.band_get_partial_schedule()
        for member in range(node.band_n_member()):
            pieces = partial.get_at(member).get_pw_aff_list()
            affs = [aff for k in range(pieces.n_pw_aff()) for _, aff in pieces.get_at(k).get_pieces()]
            if not all(aff.dim(isl.dim_type.div) or counts_by_one(aff) for aff in affs):
                return False
    return all(_has_unit_steps(node.child(k)) for k in range(node.n_children()))


def counts_by_one(aff: isl.Aff) -> bool:
    """Return whether ``aff`` goes up or down by 1, if at all, from one value of a counter to the next."""
    factors = [aff.get_coefficient_val(isl.dim_type.in_, k) for k in range(aff.dim(isl.dim_type.in_))]
    return all(factor.abs().le(isl.Val(1)) for factor in factors)


def _values_below(node: isl.ScheduleNode) -> isl.UnionMap:
    if node.get_type() == isl.schedule_node_type.leaf:
        return node.get_prefix_schedule_union_map().intersect_domain(node.get_domain())
    return union_maps(m for k in range(node.n_children()) for m in maps_of(_values_below(node.child(k))))


@contextmanager
def bounded_effort(operations: int) -> Iterator[None]:
    """Let isl do at most ``operations`` steps inside (0: any number); then it raises ``isl.Error``.

    Steps count towards the innermost limit only; an outer one starts again after it.
    """
    context = isl.DEFAULT_CONTEXT
    before = context.get_max_operations()
    context.set_max_operations(operations)
    context.reset_operations()
    try:
        yield
    finally:
        context.set_max_operations(before)
        context.reset_operations()


@contextmanager
def unbounded_effort() -> Iterator[None]:
    """Let isl do any number of steps inside, which no limit around it counts (for what isl calls back)."""
    context = isl.DEFAULT_CONTEXT
    before = context.get_max_operations()
    context.set_max_operations(0)
    try:
        yield
    finally:
        context.set_max_operations(before)


def ran_out(error: isl.Error) -> bool:
    """Return whether ``error`` is the end of a :func:`bounded_effort`, not a mistake in a call."""
    return RAN_OUT in str(error)


def repeated(schedule: isl.Schedule) -> frozenset[str]:
    """Return the names of the statements that ``schedule`` has at more than one place."""
    found: set[str] = set()
    waiting = [schedule.get_root()]
    while waiting:
        node = waiting.pop()
        children = [node.child(k) for k in range(node.n_children())]
        if len(children) > 1:
            parts = (piece for child in children for piece in sets_of(child.filter_get_filter()))
            names = [str(piece.get_tuple_name()) for piece in parts]
            found |= {name for name in names if names.count(name) > 1}
        waiting += children
    return frozenset(found)


def coalesced(relation: _Coalesced) -> _Coalesced:
    """Return ``relation`` in fewer pieces; as it is where isl finds a fault of its own on the way."""
    try:
        return relation.coalesce()
    except isl.Error as error:
        if ran_out(error):
            raise
        return relation


def constant_of(value: isl.PwAff) -> int | None:
    """Return the integer that ``value`` is everywhere on its domain, or None (also for no domain at all)."""
    if not value.is_cst():  # one constant per piece, perhaps not the same
        return None
    found = value.max_val()
    return int_of(found) if found.is_int() and value.min_val() == found else None


def varies(value: isl.UnionPwAff) -> bool:
    """Return whether ``value`` takes more than one value on one of its spaces: for some statement, say."""
    return None in _constants(value)


def is_constant(value: isl.UnionPwAff) -> bool:
    """Return whether ``value`` is the same everywhere: constants that differ put statements in an order."""
    found = _constants(value)
    return None not in found and len(found) < 2


def _constants(value: isl.UnionPwAff) -> set[int | None]:
    pieces = value.get_pw_aff_list()
    return {constant_of(pieces.get_at(k)) for k in range(pieces.n_pw_aff())}


def apart(work: Callable[[], str], seconds: int) -> str | None:
    """Return what ``work`` returns, or None if it fails, crashes, or takes ``seconds`` of processor time.

    It runs in a process of its own: isl does not count the steps of its arithmetic on long numbers, so
    :func:`bounded_effort` alone does not end everything that would take for ever.
    """
    count("processes apart")
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the child touches none of theirs
        child = os.fork()
    if child == 0:
        _answer(work, seconds, write)
    os.close(write)
    try:
        with os.fdopen(read, "rb") as pipe:
            text = pipe.read().decode()
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(child, 0)
    return text if status == 0 else None


def _answer(work: Callable[[], str], seconds: int, pipe: int) -> None:
    """Do the work in the child process, and end it."""
    status = 1
    faulthandler.disable()  # the parent is told of a crash by the status
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        with os.fdopen(pipe, "wb") as answer:
            answer.write(work().encode())
        status = 0
    finally:
        os._exit(status)
