"""From a schedule to kernels: the outermost parallel bands leave for the core group.

The scheduled tree is split in two: a *host tree*, in which every kernel is one launch statement
``K0[h0, …]`` under the sequential loops around it, and a *device tree* per kernel, in which those
loops are parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from itertools import groupby

import islpy as isl

from swbuild.classes import dataclass
from swbuild.mapping.marks import FrontMark, mark_of
from swbuild.names import own
from swbuild.polyhedral.islutil import over_parameters, sets_of, varies

__all__ = [
    "HostTree",
    "Kernel",
    "flagged",
    "is_loop",
    "multi_union",
    "parallel_first",
    "split_region",
    "subtree",
    "with_fixed_loops",
]

_NODE = isl.schedule_node_type


@dataclass(frozen=True, slots=True)
class Kernel:
    """One parallel band and what is below it.

    ``launches`` is the set ``K0[h0, …]`` of its launches over the parameters of the scop;
    ``schedule`` its device tree, whose top node is the band, the parallel members first;
    ``host_loops`` names the parameters of ``schedule`` that stand for the host's loops;
    ``parallel`` counts the leading parallel members; ``in_front`` says that the band counts the tiles
    of a wavefront, of which ``pieces`` are as :class:`FrontMark` says.  A ``single`` one is not parallel: one
    CPE runs all of it.  One ``for_owners`` has loops of one iteration, by which few CPEs run a launch.
    One that ``keeps_order`` is tiled with its loops around one another as they are.
    """

    name: str
    launches: isl.Set
    host_loops: tuple[str, ...]
    schedule: isl.Schedule
    parallel: int
    in_front: bool
    single: bool = False
    pieces: int | None = None
    for_owners: bool = False
    keeps_order: bool = False

    @property
    def domain(self) -> isl.UnionSet:
        return self.schedule.get_domain()

    @property
    def launched(self) -> isl.Set:
        """The parameters, the host's loops among them, for which there is a launch."""
        point = _point(self.host_loops).set_tuple_name(self.launches.get_tuple_name())
        return self.launches.intersect(point).params()

    @property
    def statements(self) -> tuple[str, ...]:
        return tuple(str(piece.get_tuple_name()) for piece in sets_of(self.domain))


@dataclass(frozen=True, slots=True)
class HostTree:
    """What the host does: ``schedule`` holds launches and the statements that stay (``statements``)."""

    schedule: isl.Schedule
    kernels: tuple[Kernel, ...]
    statements: tuple[str, ...]

    @property
    def parallel(self) -> tuple[Kernel, ...]:
        """The kernels that all CPEs share."""
        return tuple(kernel for kernel in self.kernels if not kernel.single)

    @property
    def in_order(self) -> frozenset[str]:
        """The statements that one processor runs one after the other: the host, or one CPE."""
        alone = (kernel.statements for kernel in self.kernels if kernel.single)
        return frozenset(self.statements).union(*alone)


@dataclass(slots=True)
class _Split:
    """The walk's state: a list of kernels found so far; ``alone`` says what may be one of a single CPE."""

    accept: Callable[[isl.UnionSet], bool]
    alone: Callable[[isl.UnionSet], bool]
    prefix: str
    kernels: list[Kernel]
    host: set[str]

    def name(self, kind: str) -> str:
        """Return a name for the next kernel that is single, or for the next that is not."""
        count = sum(kernel.single == (kind == "single") for kernel in self.kernels)
        return f"{self.prefix}_{kind}{count}"


def split_region(
    schedule: isl.Schedule,
    prefix: str,
    accept: Callable[[isl.UnionSet], bool],
    alone: Callable[[isl.UnionSet], bool] = lambda _: False,
) -> HostTree:
    """Return the host tree and the kernels of ``schedule``.

    They are named ``<prefix>_k0``, …, single ones ``<prefix>_single0``, ….  ``accept(domain)`` says whether
    a parallel band over ``domain`` may become a kernel; ``alone(domain)`` whether what stands in a sequential
    loop beside kernels may become one that a single CPE runs.
    """
    split = _Split(accept, alone, prefix, [], set())
    tree = _host(split, schedule.get_root().child(0), schedule.get_domain())
    return HostTree(tree, tuple(split.kernels), tuple(sorted(split.host)))


def _host(split: _Split, node: isl.ScheduleNode, domain: isl.UnionSet) -> isl.Schedule:
    """Return the host tree of the subtree at ``node``, whose instances are ``domain``."""
    kind = node.get_type()
    if kind in (_NODE.sequence, _NODE.set):
        return _host_sequence(split, node, domain)
    if kind == _NODE.band:
        order = parallel_first(node)
        if order and split.accept(domain):
            return _launch(split, node, domain, order)
        return _host_band(split, node, domain)
    if kind == _NODE.leaf:
        split.host.update(str(piece.get_tuple_name()) for piece in sets_of(domain))
        return isl.Schedule.from_domain(domain)
    return _host(split, node.child(0), domain)


def _host_sequence(split: _Split, node: isl.ScheduleNode, domain: isl.UnionSet) -> isl.Schedule:
    around, before = split.host, len(split.kernels)
    children: list[tuple[isl.ScheduleNode, isl.UnionSet, isl.Schedule, set[str]]] = []
    for position in range(node.n_children()):
        filtered = node.child(position)
        inside = domain.intersect(filtered.filter_get_filter())
        if not inside.is_empty():
            split.host = set()
            part = _host(split, filtered.child(0), inside)
            children.append((filtered.child(0), inside, part, split.host))
    split.host = around
    beside = len(split.kernels) > before and node.get_schedule_depth() > 0
    parts: list[isl.Schedule] = []
    for stays, run in groupby(children, lambda child: beside and child[3] == _names(child[1])):
        if stays:  # nothing of it has left the host
            together = [(below, inside) for below, inside, _, _ in run]
            parts += _alone_together(split, node, together)
        else:
            for _, _, part, kept in run:
                split.host |= kept
                parts.append(part)
    return reduce(isl.Schedule.sequence, parts) if parts else isl.Schedule.from_domain(domain)


def _alone_together(
    split: _Split, node: isl.ScheduleNode, children: list[tuple[isl.ScheduleNode, isl.UnionSet]]
) -> list[isl.Schedule]:
    """Return the host trees of neighbours below the sequence ``node``: one single kernel, if it may be."""
    domain = reduce(isl.UnionSet.union, (inside for _, inside in children))
    if len(children) > 1 and split.alone(domain):
        return [_launch(split, node, domain, [])]
    return [_alone(split, below, inside) for below, inside in children]


def _alone(split: _Split, node: isl.ScheduleNode, domain: isl.UnionSet) -> isl.Schedule:
    """Return the host tree of the subtree at ``node``, beside which there are kernels, with single ones."""
    kind = node.get_type()
    if kind in (_NODE.sequence, _NODE.set):
        result: isl.Schedule | None = None
        for position in range(node.n_children()):
            inside = domain.intersect(node.child(position).filter_get_filter())
            if not inside.is_empty():
                part = _alone(split, node.child(position).child(0), inside)
                result = part if result is None else result.sequence(part)
        return isl.Schedule.from_domain(domain) if result is None else result
    if kind not in (_NODE.band, _NODE.leaf):
        return _alone(split, node.child(0), domain)
    if not split.alone(domain):
        return _host(split, node, domain)
    return _launch(split, node, domain, [])


def _host_band(split: _Split, node: isl.ScheduleNode, domain: isl.UnionSet) -> isl.Schedule:
    depth = node.get_schedule_depth()
    body = _host(split, node.child(0), domain)
    partial = node.band_get_partial_schedule().intersect_domain(domain)
    return body.insert_partial_schedule(_with_launches(partial, body.get_domain(), domain, depth))


def _with_launches(
    partial: isl.MultiUnionPwAff, wanted: isl.UnionSet, known: isl.UnionSet, depth: int
) -> isl.MultiUnionPwAff:
    """Extend ``partial``, given on ``known``, to the launches in ``wanted``: ``K[…, h, …] -> h``."""
    launches = [piece for piece in sets_of(wanted) if piece.get_tuple_name() not in _names(known)]
    stays = known.intersect(wanted)
    result = partial.intersect_domain(stays)
    members = []
    for member in range(partial.dim(isl.dim_type.set)):
        value = result.get_at(member)
        for launch in launches:
            variable = isl.PwAff.var_on_domain(
                isl.LocalSpace.from_space(launch.get_space()), isl.dim_type.set, depth + member
            )
            value = value.union_add(isl.UnionPwAff.from_pw_aff(variable.intersect_domain(launch)))
        members.append(value)
    return multi_union(members)


def multi_union(members: list[isl.UnionPwAff]) -> isl.MultiUnionPwAff:
    """Return the tuple of ``members`` as one multi union piecewise affine expression."""
    result = isl.MultiUnionPwAff.from_union_pw_aff(members[0])
    for member in members[1:]:
        result = result.flat_range_product(isl.MultiUnionPwAff.from_union_pw_aff(member))
    return result


def _names(union: isl.UnionSet) -> set[str]:
    return {str(piece.get_tuple_name()) for piece in sets_of(union)}


def parallel_first(node: isl.ScheduleNode) -> list[int]:
    """Return the members of the band ``node``, real parallel ones first, or [] when it has none.

    A member whose value is one constant for every instance is no loop and offers no parallelism.
    """
    members = range(node.band_n_member())
    parallel = [m for m in members if node.band_member_get_coincident(m) and is_loop(node, m)]
    if not parallel or not (node.band_get_permutable() or parallel[0] == 0):
        return []
    if not node.band_get_permutable():
        parallel = parallel[:1]
    return parallel + [m for m in members if m not in parallel]


def is_loop(node: isl.ScheduleNode, member: int) -> bool:
    """Return whether the ``member`` of the band ``node`` takes more than one value for some statement."""
    return varies(node.band_get_partial_schedule().get_at(member))


def _launch(split: _Split, node: isl.ScheduleNode, domain: isl.UnionSet, order: list[int]) -> isl.Schedule:
    """Make the band ``node`` a kernel; return the host tree of its launches.

    Its loops go by ``order``, the parallel ones first; without it they stay, and a single CPE runs them.
    """
    name = split.name("k" if order else "single")
    before = node.get_prefix_schedule_union_map().intersect_domain(domain)  # instance -> [host's loops]
    launches = _plain(_as_set(before.range(), node.get_schedule_depth()).set_tuple_name(name).coalesce())
    loops = tuple(own(f"{name}_h{k}") for k in range(node.get_schedule_depth()))
    # the instances of one launch, the values of the host's loops being parameters
    inside = before.intersect_range(_point(loops).to_union_set()).domain()
    if order:
        schedule, parallel = _ordered(node, inside, order), _leading(order, node)
    else:
        schedule, parallel = _as_it_stands(node, inside), 1
    mark = mark_of(node.parent()) if order else None
    front = mark if isinstance(mark, FrontMark) else None
    pieces = front.pieces if front else None
    kernel = Kernel(name, launches, loops, schedule, parallel, front is not None, not order, pieces)
    split.kernels.append(kernel)
    return isl.Schedule.from_domain(launches.to_union_set())


def _ordered(node: isl.ScheduleNode, inside: isl.UnionSet, order: list[int]) -> isl.Schedule:
    """Return the subtree at the band ``node`` for the instances ``inside``, its loops by ``order``."""
    partial = node.band_get_partial_schedule()
    ordered = multi_union([partial.get_at(m) for m in order]).intersect_domain(inside)
    below = subtree(node.child(0), inside).insert_partial_schedule(ordered)
    coincident = [bool(node.band_member_get_coincident(m)) for m in order]
    return flagged(below, bool(node.band_get_permutable()), coincident)


def _as_it_stands(node: isl.ScheduleNode, inside: isl.UnionSet) -> isl.Schedule:
    """Return the subtree at ``node`` for the instances ``inside``; one without a loop gets one of a turn."""
    schedule = subtree(node, inside)
    if node.get_type() == _NODE.band:
        return schedule
    zero = isl.UnionPwAff.val_on_domain(inside, isl.Val(0))
    return schedule.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(zero))


def _leading(order: list[int], node: isl.ScheduleNode) -> int:
    if not node.band_get_permutable():
        return 1
    return sum(1 for m in order if node.band_member_get_coincident(m) and is_loop(node, m))


def with_fixed_loops(kernel: Kernel, values: Mapping[int, isl.Aff]) -> Kernel:
    """Return ``kernel`` with parallel loops of one iteration each, at ``values`` of what a launch is given.

    Keys are their places among the parallel loops, in ascending order.  A launch is then for the CPE that has
    these iterations, or for the CPEs that share the others; where one CPE ran all, it need not be the first
    one any more, and the loops that it ran follow in their order.
    """
    domain, band = kernel.domain, kernel.schedule.get_root().child(0)
    permutable = bool(band.band_get_permutable()) or band.band_n_member() == 1
    fixed = [(place, isl.UnionPwAff.aff_on_domain(domain, value)) for place, value in values.items()]
    if kernel.single and not permutable:
        schedule = kernel.schedule.insert_partial_schedule(multi_union([value for _, value in fixed]))
        return _for_owners(schedule, kernel, len(fixed), [True] * len(fixed), permutable=True)
    members, before = band.band_get_partial_schedule(), 0 if kernel.single else kernel.parallel
    loops = [
        (members.get_at(k), not kernel.single and bool(band.band_member_get_coincident(k)))
        for k in range(band.band_n_member())
    ]
    for count, (place, value) in enumerate(fixed):
        loops.insert(min(place, before + count), (value, True))
    below = band.delete().insert_partial_schedule(multi_union([loop for loop, _ in loops]))
    flags = [flag for _, flag in loops]
    return _for_owners(below.get_schedule(), kernel, before + len(fixed), flags, permutable=permutable)


def _for_owners(
    schedule: isl.Schedule, kernel: Kernel, parallel: int, coincident: list[bool], *, permutable: bool
) -> Kernel:
    """Return ``kernel`` with a ``schedule`` of which the outermost band has loops of one iteration."""
    schedule = flagged(schedule, permutable, coincident)
    return replace(kernel, schedule=schedule, parallel=parallel, single=False, for_owners=True)


def _as_set(union: isl.UnionSet, dimensions: int) -> isl.Set:
    pieces = sets_of(union)
    if pieces:
        return pieces[0]
    return isl.Set.empty(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, dimensions))


def _plain(launches: isl.Set) -> isl.Set:
    """Return ``launches``, with some that have nothing to do where exactness would take many divisions.

    A stride of a loop takes one.
    """
    loops = launches.dim(isl.dim_type.set)
    divisions = max((piece.dim(isl.dim_type.div) for piece in launches.get_basic_sets()), default=0)
    return launches.remove_divs().coalesce() if divisions > loops else launches


def _point(loops: tuple[str, ...]) -> isl.Set:
    """Return ``[h0, …] -> { [h0, …] }``."""
    equal = " and ".join(f"x{k} = p{k}" for k in range(len(loops))) or "true"
    variables = ", ".join(f"x{k}" for k in range(len(loops)))
    return over_parameters(f"{{ [{variables}] : {equal} }}", loops)


def subtree(node: isl.ScheduleNode, domain: isl.UnionSet) -> isl.Schedule:
    """Return a copy of the subtree at ``node`` as a schedule of ``domain`` alone."""
    kind = node.get_type()
    if kind in (_NODE.sequence, _NODE.set):
        result: isl.Schedule | None = None
        for position in range(node.n_children()):
            inside = domain.intersect(node.child(position).filter_get_filter())
            if inside.is_empty():
                continue
            part = subtree(node.child(position).child(0), inside)
            result = part if result is None else result.sequence(part)
        return isl.Schedule.from_domain(domain) if result is None else result
    if kind == _NODE.leaf:
        return isl.Schedule.from_domain(domain)
    body = subtree(node.child(0), domain)
    if kind != _NODE.band:
        return body
    members = range(node.band_n_member())
    body = body.insert_partial_schedule(node.band_get_partial_schedule().intersect_domain(domain))
    flags = [bool(node.band_member_get_coincident(m)) for m in members]
    return flagged(body, bool(node.band_get_permutable()), flags)


def flagged(schedule: isl.Schedule, permutable: bool, coincident: list[bool]) -> isl.Schedule:
    """Set the flags of the outermost band of ``schedule``."""
    node = schedule.get_root().child(0).band_set_permutable(int(permutable))
    for member, flag in enumerate(coincident):
        node = node.band_member_set_coincident(member, int(flag))
    return node.get_schedule()
