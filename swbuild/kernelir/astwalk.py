"""From a schedule to the kernel IR: the walk over isl's AST that host and device share."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import islpy as isl

from swbuild.classes import dataclass
from swbuild.islnumbers import int_of
from swbuild.kernelir.expressions import to_tree
from swbuild.kernelir.nodes import Block, Guard, Loop, Node, in_turn
from swbuild.kernelir.origin import MOVES_DATA, Path, Paths
from swbuild.names import own
from swbuild.polyhedral.islutil import (
    apart,
    bounded_effort,
    maps_of,
    ran_out,
    sets_of,
    unbounded_effort,
)
from swbuild.timings import step

__all__ = [
    "TOO_MANY_CASES",
    "Due",
    "Inexact",
    "Leaf",
    "Leaves",
    "Repeated",
    "TooComplicated",
    "Undecided",
    "build_ir",
    "require_simple",
]

_NODE = isl.ast_node_type

#: isl steps for the AST of one kernel; that of lu takes 1,000,000.
MAX_OPERATIONS = 3_000_000

#: the same once its leaves are to be made, where nothing says beforehand that it takes long
MOST_OPERATIONS = 5_000_000

#: Processor time of work in a process of its own: five times what so many steps take.
SECONDS = 20

#: isl steps for the comparison of the AST of one kernel with what it has to run; PolyBench takes 100,000 at
#: most, and what takes more than ``AT_ONCE`` is begun again in a process of its own
CHECK_OPERATIONS = 1_500_000
AT_ONCE = 200_000

#: makes the IR of one leaf: called with the AST builder and the map ``time -> instance``
Leaf = Callable[[isl.AstBuild, isl.PwMultiAff], Node]
Leaves = dict[str, Leaf]


@dataclass(frozen=True, slots=True)
class Due:
    """What loops have to run: ``instances``.

    ``times`` gives the values of the loops around them, for all instances of a statement or for none.
    """

    instances: isl.UnionSet
    times: isl.UnionMap


class _Collector:
    """Makes the IR of the leaves while isl builds the AST, and keeps it by annotation."""

    def __init__(self, leaves: Leaves) -> None:
        self.leaves = leaves
        self.nodes: dict[str, Node] = {}
        #: the statement that each leaf is of
        self.statements: dict[str, str] = {}
        self.error: Exception | None = None
        #: what each leaf runs, and when: instance -> iterators of the loops around it
        self.runs: list[isl.Map] = []

    def at_domain(self, node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        with unbounded_effort():  # to stop in here would leave isl in an undefined state
            return self._annotated(node, build)

    def _annotated(self, node: isl.AstNode, build: isl.AstBuild) -> isl.AstNode:
        # isl swallows exceptions of callbacks and may crash afterwards: keep the first one for later
        key = f"leaf_{len(self.nodes)}"
        try:
            self.nodes[key] = self._leaf(key, build)
        except Exception as error:  # noqa: BLE001 - re-raised by build_ir
            self.error = self.error or error
            self.nodes[key] = Block(())
        return node.set_annotation(isl.Id(key))

    def _leaf(self, key: str, build: isl.AstBuild) -> Node:
        schedule = isl.Map.from_union_map(build.get_schedule())
        name = str(schedule.get_tuple_name(isl.dim_type.in_))
        self.statements[key] = name
        self.runs.append(schedule.flatten_range())
        return self.leaves[name](build, isl.PwMultiAff.from_map(schedule.reverse()))


#: Why isl finds no code where it takes too long.
TOO_MANY_CASES = "too many cases to tell apart"


class TooComplicated(Exception):
    """Loops for which isl does not find code in reasonable time, or no code that is right."""

    def __init__(self, reason: str = TOO_MANY_CASES) -> None:
        super().__init__(reason)
        self.reason = reason


class Inexact(TooComplicated):
    """Loops found by isl that leave out instances, run others, or run them at other times."""

    def __init__(self) -> None:
        super().__init__("the loops found for them do not run each iteration once")


class Undecided(TooComplicated):
    """Loops of which it takes long to tell whether they are exact."""


class Repeated(TooComplicated):
    """Loops that may run instances of the names ``repeated`` twice."""

    def __init__(self, repeated: frozenset[str]) -> None:
        super().__init__("the loops found for them run what they may run only once several times")
        self.repeated = repeated


def require_simple(schedule: isl.Schedule, context: isl.Set) -> None:
    """Raise :class:`TooComplicated` if isl would take long to build the AST of ``schedule``.

    The AST is built once more to find out, without its leaves: a limit in the middle of a callback
    would leave isl in an undefined state.
    """

    def build() -> str:
        with bounded_effort(MAX_OPERATIONS):
            isl.AstBuild.from_context(context).node_from_schedule(schedule)
        return "simple"

    if apart(build, SECONDS) is None:
        raise TooComplicated


@step("loops")
def build_ir(
    schedule: isl.Schedule,
    context: isl.Set,
    leaves: Leaves,
    paths: Paths,
    due: Due | None,
    once: frozenset[str] = frozenset(),
) -> Node:
    """Return the IR that runs ``schedule``; ``leaves`` gives a maker per name of instance tuple.

    ``paths`` says what the loops around the instances are, ``context`` what is known of the parameters.
    Raise :class:`Inexact` if anything but ``due`` is run
    (isl has been seen to drop and to shift instances where divisions by several numbers meet, and runs
    extensions wherever the loops around them go), :class:`Undecided` if that takes long to tell.
    Without ``due`` nothing is compared.  Where isl makes two loops over tiles of one, it may run what a tile
    begins or ends with in both: raise :class:`Repeated` unless none of the names ``once`` is run twice.
    """
    collector = _Collector(leaves)
    options = isl.DEFAULT_CONTEXT
    options.set_ast_build_atomic_upper_bound(1)
    options.set_ast_build_detect_min_max(1)
    options.set_ast_build_prefer_pdiv(1)
    build = isl.AstBuild.from_context(context).set_iterators(_iterator_names())
    build, _keep = build.set_at_each_domain(collector.at_domain)
    try:
        with bounded_effort(MOST_OPERATIONS):
            tree = build.node_from_schedule(schedule)
    except isl.Error as error:
        raise (collector.error or _failure(error)) from None
    if collector.error is not None:
        raise collector.error
    if due is not None:
        _check_runs(collector.runs, due, context)
    repeated = frozenset(name for name in once if _is_repeated(collector.runs, name, context))
    if repeated:
        raise Repeated(repeated)
    return _Converter(collector, paths).converted(tree)[0]


def _failure(error: isl.Error) -> TooComplicated:
    """Return ``error`` as a reason, without the place in isl's sources."""
    if ran_out(error):
        return TooComplicated()
    return TooComplicated(f"isl failed ({str(error).partition(' in /')[0]})")


@step("check")
def _check_runs(runs: list[isl.Map], due: Due, context: isl.Set) -> None:
    """Raise :class:`Inexact` unless ``runs`` are those ``due``, where ``context`` holds.

    Raise :class:`Undecided` if that takes long to tell.
    """

    try:
        with bounded_effort(AT_ONCE):
            exact: bool | None = _is_exact(runs, due, context)
    except isl.Error as error:
        exact = _compared_apart(runs, due, context) if ran_out(error) else None
    if exact is None:
        raise Undecided
    if not exact:
        raise Inexact


def _compared_apart(runs: list[isl.Map], due: Due, context: isl.Set) -> bool | None:
    """Return what :func:`_is_exact` does, or None where that takes long to tell."""

    def compare() -> str:
        with bounded_effort(CHECK_OPERATIONS):
            return "exact" if _is_exact(runs, due, context) else "inexact"

    found = apart(compare, SECONDS)
    return None if found is None else found == "exact"


def _is_exact(runs: list[isl.Map], due: Due, context: isl.Set) -> bool:
    """Return whether ``runs`` are those ``due``, where ``context`` holds."""
    times = {str(piece.get_tuple_name(isl.dim_type.in_)): piece for piece in maps_of(due.times)}
    covered: dict[str, isl.Set] = {}
    for run in runs:
        name = str(run.get_tuple_name(isl.dim_type.in_))
        timed = _in_time(run, times[name]) if name in times else run
        if timed is None:
            return False
        instances = timed.domain()
        covered[name] = instances.union(covered[name]) if name in covered else instances
    named = {str(piece.get_tuple_name()): piece for piece in sets_of(due.instances)}
    return all(_is_same(*pair, context) for pair in _distinct(named, covered))


@step("check")
def _is_repeated(runs: list[isl.Map], name: str, context: isl.Set) -> bool:
    """Return whether one instance of ``name`` may be in two of ``runs`` where ``context`` holds.

    It may where that takes long to tell.
    """
    places = [run.domain() for run in runs if run.get_tuple_name(isl.dim_type.in_) == name]
    try:
        with bounded_effort(AT_ONCE):
            pairs = combinations([place.intersect_params(context) for place in places], 2)
            return not all(a.is_disjoint(b) for a, b in pairs)
    except isl.Error:
        return True


def _in_time(run: isl.Map, time: isl.Map) -> isl.Map | None:
    """Return ``run`` (instance -> iterators) if its loops count what ``time`` says, in that order, or None.

    isl leaves out loops of a single iteration.  The iterators are said to be the values of ``time``: it would
    take isl long to find out for which instances there are any.
    """
    depth, position, left_out = run.dim(isl.dim_type.out), 0, []
    both = run.flat_range_product(time)
    for k in range(time.dim(isl.dim_type.out)):
        if position < depth and _are_equal(both, position, depth + k):
            position += 1
        else:
            left_out.append(k)
    if position < depth:
        return None
    values = time.reset_tuple_id(isl.dim_type.out)
    for k in reversed(left_out):
        values = values.project_out(isl.dim_type.out, k, 1)
    return run.intersect(values)


def _are_equal(values: isl.Map, one: int, other: int) -> bool:
    """Return whether two of the values in the range of ``values`` are always the same."""
    pair = (isl.dim_type.out, one, isl.dim_type.out, other)
    return bool(values.order_lt(*pair).is_empty() and values.order_gt(*pair).is_empty())


def _distinct(wanted: dict[str, isl.Set], covered: dict[str, isl.Set]) -> list[tuple[isl.Set, isl.Set]]:
    """Return the pairs to compare, each of them once: transfers and the waits for them are in one place."""
    pairs: list[tuple[isl.Set, isl.Set]] = []
    for name, piece in wanted.items():
        here = piece.reset_tuple_id()
        found = covered[name].reset_tuple_id() if name in covered else isl.Set.empty(here.get_space())
        if not any(here.plain_is_equal(a) and found.plain_is_equal(b) for a, b in pairs):
            pairs.append((here, found))
    return pairs


def _is_same(wanted: isl.Set, found: isl.Set, context: isl.Set) -> bool:
    here = wanted.intersect_params(context)
    return bool(here.is_subset(found)) and bool(found.intersect_params(context).is_subset(here))


#: Deeper nests than this get isl's own names.
_DEEPEST = 40


def _iterator_names() -> isl.IdList:
    """Return names for the loops that no name of a user's program equals."""
    names = isl.IdList.alloc(isl.DEFAULT_CONTEXT, _DEEPEST)
    for k in range(_DEEPEST):
        names = names.add(isl.Id(own(f"sw_c{k}")))
    return names


_DEPTHS = {own(f"sw_c{k}"): k for k in range(_DEEPEST)}


class _Converter:
    """Makes nodes of ours of isl's; loops get back what they come from, by their depth in the schedule."""

    def __init__(self, collector: _Collector, paths: Paths) -> None:
        self.collector = collector
        self.paths = paths

    def converted(self, node: isl.AstNode) -> tuple[Node, Path]:
        """Return the node, and the loops around the deepest statement in it."""
        kind = node.get_type()
        if kind == _NODE.for_:  # type: ignore[attr-defined]
            return self._loop(node)
        if kind == _NODE.if_:  # type: ignore[attr-defined]
            return self._guard(node)
        if kind == _NODE.block:
            return self._block(node)
        if kind == _NODE.mark:
            return self.converted(node.mark_get_node())
        key = str(node.get_annotation().name)
        return self.collector.nodes[key], self.paths.get(self.collector.statements[key], ())

    def _guard(self, node: isl.AstNode) -> tuple[Node, Path]:
        then, path = self.converted(node.if_get_then_node())
        condition = to_tree(node.if_get_cond())
        if not node.if_has_else_node():
            return Guard(condition, then), path
        otherwise, other = self.converted(node.if_get_else_node())
        return Guard(condition, then, otherwise), max(path, other, key=len)

    def _block(self, node: isl.AstNode) -> tuple[Node, Path]:
        children = node.block_get_children()
        parts = [self.converted(children.get_at(k)) for k in range(children.n_ast_node())]
        deepest = max((path for _, path in parts), key=len, default=())  # isl's blocks may be empty
        return Block(tuple(node for part, _ in parts for node in in_turn(part))), deepest

    def _loop(self, node: isl.AstNode) -> tuple[Node, Path]:
        body, path = self.converted(node.for_get_body())
        iterator = str(node.for_get_iterator().get_id().name)
        depth = _DEPTHS.get(iterator, _DEEPEST)
        origin = path[depth] if depth < len(path) else MOVES_DATA
        first = to_tree(node.for_get_init())
        if node.for_is_degenerate():
            return Loop(iterator, first, None, 0, body, origin), path
        step = int_of(node.for_get_inc().get_val())
        return Loop(iterator, first, to_tree(node.for_get_cond()), step, body, origin), path
