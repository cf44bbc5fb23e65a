"""How many cycles a CPE spends in a block of compiled C: arranged as its compiler does, issued in order.

The compiler orders a block by the latencies that it knows (``scheduler`` in the machine file), the longest
chain first; it unrolls a loop of one block, and does not let turns overlap.  What the pipes make of that
order is ``swbuild.sw64.pipeline``'s to say.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from functools import cache

from swbuild.emulator.model.step import Role, Step
from swbuild.emulator.model.values import Node, graph
from swbuild.machine import MachineModel
from swbuild.sw64.instructions import Kind
from swbuild.sw64.pipeline import Operation, Rules, block_cycles, loop_cycles
from swbuild.sw64.rules import rules, scheduler_rules

__all__ = ["arranged", "compiler_cycles", "pass_cycles", "turn_cycles", "turns_in_one"]


def pass_cycles(steps: Sequence[Step], live: Iterable[str], machine: MachineModel) -> float:
    """Return the cycles of one pass through a block that is no loop."""
    nodes = graph(steps, live)
    order = arranged(nodes, machine)
    return block_cycles(_operations(nodes, order), _pipes(machine)) + _software(nodes, machine)


def turn_cycles(steps: Sequence[Step], live: Iterable[str], machine: MachineModel) -> float:
    """Return the cycles of one turn of a loop whose body is one block, in its steady state."""
    names = frozenset(live)
    times = turns_in_one(steps, names, machine)
    nodes = graph(steps, names, times)
    order = arranged(nodes, machine)
    return (loop_cycles(_operations(nodes, order), _pipes(machine)) + _software(nodes, machine)) / times


def compiler_cycles(steps: Sequence[Step], live: Iterable[str], times: int, machine: MachineModel) -> float:
    """Return the cycles of one turn in the compiler's own schedule of ``times`` turns in one."""
    nodes = graph(steps, live, times)
    return block_cycles(_operations(nodes, arranged(nodes, machine)), _believed(machine)) / times


def turns_in_one(steps: Sequence[Step], live: frozenset[str], machine: MachineModel) -> int:
    """Return how many turns the compiler puts into one: a power of two, limited in number and in size."""
    size = len(graph(steps, live, 1))
    times = max(1, machine.compute.unroll)
    while times > 1 and times * size > machine.compute.unroll_size:
        times //= 2
    return times


def arranged(nodes: Sequence[Node], machine: MachineModel) -> list[int]:
    """Return the order into which the compiler brings the nodes: a list schedule by the longest chain."""
    believed = _believed(machine)
    edges = _edges(nodes, believed)
    return _List(nodes, edges, _heights(edges), believed).order()


def _edges(nodes: Sequence[Node], believed: Rules) -> list[list[tuple[int, int]]]:
    """Return for every node those that follow it, each with the cycles between the two."""
    edges: list[list[tuple[int, int]]] = [[] for _ in nodes]
    makers = {name: k for k, node in enumerate(nodes) for name in node.carries}
    for number, node in enumerate(nodes):
        for source in dict.fromkeys(node.sources):
            if isinstance(source, int):
                edges[source].append((number, _latency(nodes[source].kind, source in node.stored, believed)))
            elif makers.get(source, 0) > number:
                edges[number].append((makers[source], 0))  # reads what the register held before
        for earlier in node.after:
            if earlier not in node.sources:
                edges[earlier].append((number, 1 if nodes[earlier].role is Role.STORE else 0))
    return edges


def _latency(kind: Kind, stored: bool, believed: Rules) -> int:
    usual = believed.latency[kind]
    return believed.stored.get(kind, usual) if stored else usual


def _heights(edges: Sequence[Sequence[tuple[int, int]]]) -> list[int]:
    """Return for every node the cycles from it to the block's end."""
    height = [0] * len(edges)
    for number in range(len(edges) - 1, -1, -1):
        height[number] = max((cycles + height[to] for to, cycles in edges[number]), default=0)
    return height


class _List:
    """Cycle by cycle the most urgent of the nodes whose sources are there, as many as there are slots for."""

    def __init__(
        self,
        nodes: Sequence[Node],
        edges: Sequence[Sequence[tuple[int, int]]],
        height: Sequence[int],
        believed: Rules,
    ) -> None:
        self.nodes, self.edges, self.height, self.believed = nodes, edges, height, believed
        self.ready = [0] * len(nodes)
        self.left = [0] * len(nodes)
        for number, _ in (edge for follow in edges for edge in follow):
            self.left[number] += 1
        self.waiting: list[tuple[int, int]] = []  # by the cycle from which they can go
        self.able: list[tuple[int, int]] = []  # by urgency
        self.cycle = 0
        for number, count in enumerate(self.left):
            if not count:
                self._enter(number)

    def order(self) -> list[int]:
        found: list[int] = []
        while self.waiting or self.able:
            while self.waiting and self.waiting[0][0] <= self.cycle:
                self._enter(heapq.heappop(self.waiting)[1])
            found += self._fill()
            self.cycle += 1
        return found + [number for number, node in enumerate(self.nodes) if _ends(node)]

    def _fill(self) -> list[int]:
        """Return what goes in this cycle."""
        free = set(range(self.believed.pipes))
        later, found = [], []
        while self.able and free:
            urgency, number = heapq.heappop(self.able)
            pipe = next((k for k in self.believed.takes[self.nodes[number].kind] if k in free), None)
            if pipe is None:
                later.append((urgency, number))
                continue
            free.remove(pipe)
            found.append(number)
            self._release(number)
        for entry in later:
            heapq.heappush(self.able, entry)
        return found

    def _release(self, number: int) -> None:
        for to, cycles in self.edges[number]:
            self.ready[to] = max(self.ready[to], self.cycle + cycles)
            self.left[to] -= 1
            if not self.left[to]:
                self._enter(to)

    def _enter(self, number: int) -> None:
        if _ends(self.nodes[number]):
            return
        if self.ready[number] <= self.cycle:
            heapq.heappush(self.able, (-self.height[number], number))
        else:
            heapq.heappush(self.waiting, (self.ready[number], number))


def _ends(node: Node) -> bool:
    return node.kind in (Kind.BRANCH, Kind.CALL)


def _operations(nodes: Sequence[Node], order: Iterable[int]) -> list[Operation]:
    return [
        Operation(node.kind, node.sources, (number, *node.carries), node.stored)
        for number, node in ((number, nodes[number]) for number in order)
    ]


def _software(nodes: Sequence[Node], machine: MachineModel) -> float:
    """Return the cycles of what has no instruction: integer division, and the mathematical library.

    A call of the machine's own interface costs what the event that it records costs.
    """
    costs = machine.compute
    divisions = sum(node.role is Role.DIVISION for node in nodes)
    calls = sum(machine.library.cycles(node.where) for node in nodes if node.role is Role.CALL)
    return divisions * costs.integer_divide_cycles + calls


@cache
def _believed(machine: MachineModel) -> Rules:
    return scheduler_rules(machine)


@cache
def _pipes(machine: MachineModel) -> Rules:
    return rules(machine)
