"""What loops take on the host: operations of their statements, and lines that its caches lack."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Access, AccessKind, Scop, Statement
from swbuild.islnumbers import int_of
from swbuild.machine import MachineModel
from swbuild.machine.cost.blocks import Block, Kind, Operation
from swbuild.machine.cost.host import Chain, HostRun, Mix
from swbuild.planning.computing import body_of
from swbuild.planning.counting import Bounds, bounds_of
from swbuild.planning.loops import Inner

__all__ = ["Home", "at_home"]

#: Operations of a turn beside those of its statement: the counter's step and its test.
_TURN = 2

#: Cycles for the way into and out of an innermost loop.
_ENTRY = 3.0

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class _Reach:
    """An array's accesses by one subscript: for each dimension, how far each iterator moves it.

    ``written``: something is stored there.
    """

    array: str
    factors: tuple[tuple[int, ...], ...]
    element: int
    written: bool


@dataclass(frozen=True, slots=True)
class _Run:
    """A statement on the host: its loops, a turn of the innermost one, and what it walks through."""

    bounds: Bounds
    mix: Mix
    reaches: tuple[_Reach, ...]


@dataclass(frozen=True, slots=True)
class Home:
    """Statements that the host runs in the order of the source."""

    sizes: tuple[str, ...]
    runs: tuple[_Run, ...]
    machine: MachineModel

    def cycles(self, sizes: Mapping[str, int]) -> float:
        """Return what the statements take at ``sizes``, in cycles of the CPEs."""
        before = tuple(sizes[name] for name in self.sizes)
        pace = self.machine.clock_hz / self.machine.host_clock_hz
        return pace * sum(self._taken(run, before) for run in self.runs)

    def _taken(self, run: _Run, before: tuple[int, ...]) -> float:
        turns = _turns(run.bounds, before)
        entries = prod(turns[:-1])
        stalled = sum(_missed(run, reach, turns, self.machine) for reach in run.reaches)
        return prod(turns) * run.mix.cycles(self.machine) + entries * _ENTRY + stalled


def at_home(scop: Scop, names: Collection[str], machine: MachineModel) -> Home:
    """Return the statements of these ``names``, ready to be estimated on the host of ``machine``."""
    statements = [statement for statement in scop.statements if statement.name in names]
    return Home(
        scop.numbers, tuple(_run(scop, statement, scop.numbers, machine) for statement in statements), machine
    )


def _run(scop: Scop, statement: Statement, sizes: tuple[str, ...], machine: MachineModel) -> _Run:
    inner = Inner(len(statement.iterators) - 1) if statement.iterators else None
    block = body_of(scop, statement, machine, inner, (), (), kept=True).block
    reaches = dict.fromkeys(_reach(scop, statement, access) for access in statement.accesses)
    written = {(r.array, r.factors) for r in reaches if r.written}
    once = [r for r in reaches if r.written or (r.array, r.factors) not in written]
    return _Run(bounds_of(statement.domain, sizes), _mix(block, machine), tuple(once))


def _mix(block: Block, machine: MachineModel) -> Mix:
    kinds = [operation.kind for operation in block.operations]
    memory = kinds.count(Kind.LOAD) + kinds.count(Kind.STORE)
    arithmetic = sum(kind in (Kind.FLOAT, Kind.COMPARE, Kind.CONVERT) for kind in kinds)
    chains = (_chain(block.operations),)
    software = block.software / (machine.compute.integer_divide_cycles or 1)
    return Mix(len(kinds) + _TURN, memory, arithmetic, kinds.count(Kind.DIVIDE), software, "", chains)


def _chain(operations: tuple[Operation, ...]) -> Chain:
    """Return the longest way from what a turn gets of the one before to what it hands on."""
    longest: dict[int, Chain] = {}
    carried = {operation.carried for operation in operations} - {None}
    found = Chain()
    for number, operation in enumerate(operations):
        before = [longest[source] for source in operation.sources if source in longest]
        if operation.carried is not None:
            before.append(Chain())
        if before:
            last = max(before, key=lambda c: c.arithmetic + 4 * c.divide)
            divides = operation.kind is Kind.DIVIDE
            longest[number] = Chain(arithmetic=last.arithmetic + (not divides), divide=last.divide + divides)
            found = longest[number] if number in carried else found
    return found


def _reach(scop: Scop, statement: Statement, access: Access) -> _Reach:
    index = isl.PwMultiAff.from_map(access.relation) if access.affine else None
    count = len(statement.iterators)
    factors = []
    for k in range(access.relation.dim(_OUT)):
        pieces = index.get_pw_aff(k).get_pieces() if index is not None else []
        aff = pieces[0][1] if pieces else None
        row = (1,) * count if aff is None else tuple(_factor(aff, i) for i in range(count))
        factors.append(row)
    element = scop.array(access.array).element.size
    return _Reach(access.array, tuple(factors), element, access.kind is not AccessKind.READ)


def _factor(aff: isl.Aff, iterator: int) -> int:
    return int_of(aff.get_coefficient_val(_IN, iterator).abs().ceil())


def _turns(bounds: Bounds, before: tuple[int, ...]) -> list[float]:
    """Return how many turns each loop makes on average in a turn of the one around it."""
    found, last = [], 1.0
    for depth in range(len(before) + 1, bounds.dimensions + 1):
        here = sum(sample.weight for sample in bounds.sample(depth, before))
        found.append(here / last if last else 0.0)
        last = here
    return found or [1.0]


def _missed(run: _Run, reach: _Reach, turns: list[float], machine: MachineModel) -> float:
    """Return the host's cycles for the lines that its caches lack of an array."""
    host = machine.host
    second = _lines(run, reach, turns, host.l1_bytes, host.line_bytes)
    filled = _lines(run, reach, turns, host.l2_bytes, host.line_bytes)
    written = filled if reach.written else 0.0
    return HostRun(1, round(max(0.0, second - filled)), round(filled), round(written)).stalled(host)


def _lines(run: _Run, reach: _Reach, turns: list[float], cache: int, line: int) -> float:
    """Return how many lines of an array come into a cache.

    What a turn of some loop touches stays for the next turn where it fits; nothing comes into a cache that
    has room for all.
    """
    for outer in range(len(turns) + 1):
        inner = turns[outer:]
        if outer == len(turns) or sum(_touched(r, inner, outer, line) for r in run.reaches) * line <= cache:
            around = max(0, outer - 1)
            return prod(turns[:around]) * _touched(reach, turns[around:], around, line) if outer else 0.0
    return 0.0


def _touched(reach: _Reach, inner: list[float], outer: int, line: int) -> float:
    """Return how many lines the loops from ``outer`` on touch."""
    lengths = [
        1.0 + sum(factor * max(0.0, n - 1) for factor, n in zip(row[outer:], inner, strict=False))
        for row in reach.factors
    ]
    if not lengths:
        return 0.0
    return min(prod(inner), prod(lengths[:-1]) * max(1.0, lengths[-1] * reach.element / line))
