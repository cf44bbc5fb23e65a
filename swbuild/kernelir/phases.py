"""Kernels that share a spawn: the host's loops around them run on the CPEs, with barriers in between.

A join and the next spawn take some ten thousand cycles, a barrier of all CPEs a few dozen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from swbuild.classes import dataclass
from swbuild.expressions.nodes import Name
from swbuild.expressions.trees import names_in
from swbuild.kernelir.nodes import (
    Barrier,
    Block,
    Compute,
    Counter,
    Fence,
    Guard,
    Launch,
    Loop,
    Node,
    Phase,
    in_turn,
)
from swbuild.kernelir.passes import expressions_of, transform, walk
from swbuild.kernelir.scope import Between, Separation

__all__ = ["Shared", "share_spawns"]

#: Whether kernels, by their names, may run one after the other in one spawn.
Permission = Callable[[frozenset[str]], bool]


@dataclass(frozen=True, slots=True)
class Shared:
    """What the CPEs run in one spawn; ``loops`` are the names that its ``body`` takes from around it."""

    name: str
    body: Node
    kernels: tuple[str, ...]
    loops: tuple[str, ...]


def share_spawns(
    host: Node, may: Permission, stem: str, known: frozenset[str], between: Separation
) -> tuple[Node, tuple[Shared, ...]]:
    """Return the host's tree with one launch in the place of every largest part that is for the CPEs alone.

    Such a part has launches, more than one of them in a run, and no statement of the host's.  It is
    equivalent: all that is done before a barrier happens before all that comes after it on any CPE, as with a
    join and the next spawn, and only kernels that need it are kept apart; loops and conditions are those of
    the host, with equal values on all CPEs.
    A kernel that is a phase of such a part is one wherever it is launched.  ``stem`` begins the names of the
    spawns; ``known`` are names that have their values everywhere.  ``between`` says where to have
    barriers.
    """
    sharing = _Sharing(may, stem, known, between)
    tree = sharing.of(host)
    phases = {kernel for shared in sharing.found for kernel in shared.kernels}

    def alone(node: Node) -> Node:
        return sharing.taken(node) if isinstance(node, Launch) and node.kernel in phases else node

    return transform(tree, alone), tuple(sharing.found)


class _Sharing:
    """Goes through the host's tree from the outside and collects what shares a spawn."""

    def __init__(self, may: Permission, stem: str, known: frozenset[str], between: Separation) -> None:
        self._may, self._stem, self._known, self._between = may, stem, known, between
        self.found: list[Shared] = []

    def of(self, node: Node) -> Node:
        """Return ``node`` with its largest parts for the CPEs as launches."""
        if isinstance(node, Block):
            return Block(tuple(self._one(run) for run in self._runs(node)))
        if isinstance(node, Guard):
            otherwise = None if node.otherwise is None else self.of(node.otherwise)
            return replace(node, then=self.of(node.then), otherwise=otherwise)
        if isinstance(node, (Loop, Counter)):
            return self.taken(node) if self._is_for_cpes(node) else replace(node, body=self.of(node.body))
        return node

    def _runs(self, block: Block) -> list[tuple[Node, ...]]:
        """Return the children in runs, as long as they can be for the CPEs, and each of the others alone."""
        runs: list[tuple[Node, ...]] = []
        for child in block.children:
            if runs and self._is_for_cpes(Block((*runs[-1], child))):
                runs[-1] = (*runs[-1], child)
            else:
                runs.append((child,))
        return runs

    def _one(self, run: tuple[Node, ...]) -> Node:
        return self.of(run[0]) if len(run) == 1 else self.taken(Block(run))

    def _is_for_cpes(self, node: Node) -> bool:
        nodes = walk(node)
        kernels = frozenset(found.kernel for found in nodes if isinstance(found, Launch))
        alone = not any(isinstance(found, Compute) for found in nodes)
        return bool(alone and kernels) and _repeats(node) and self._may(kernels)

    def taken(self, node: Node) -> Launch:
        """Return the launch of a new spawn that runs ``node``."""
        loops = tuple(name for name in dict.fromkeys(_free(node)) if name not in self._known)
        kernels = (found.kernel for found in walk(node) if isinstance(found, Launch))
        name = f"{self._stem}{len(self.found)}"
        body, _ = _phases(node, frozenset(), self._between)
        self.found.append(Shared(name, body, tuple(dict.fromkeys(kernels)), loops))
        return Launch(name, tuple(map(Name, loops)))


def _repeats(node: Node) -> bool:
    """Return whether ``node`` may launch more than once in a run."""
    if isinstance(node, Block):
        return sum(_launches(child) for child in node.children) > 1 or any(map(_repeats, node.children))
    if isinstance(node, Guard):
        return any(_repeats(child) for child in (node.then, node.otherwise) if child is not None)
    if isinstance(node, Loop) and node.trip_count != 1:
        return _launches(node)
    return isinstance(node, (Loop, Counter)) and _repeats(node.body)


def _launches(node: Node) -> bool:
    return any(isinstance(found, Launch) for found in walk(node))


def _phases(node: Node, after: frozenset[str], between: Separation) -> tuple[Node, frozenset[str]]:
    """Return what a CPE runs for ``node``: phases for launches, and what has to come behind them.

    ``after`` are the kernels that may run behind it before the next barrier; the same of what comes ahead of
    ``node`` is returned.
    """
    if isinstance(node, Block):
        parts: list[Node] = []
        for child in reversed(node.children):
            part, after = _phases(child, after, between)
            parts = [*in_turn(part), *parts]
        return Block(tuple(parts)), after
    if isinstance(node, Guard):
        then, first = _phases(node.then, after, between)
        if node.otherwise is None:
            return replace(node, then=then), first | after
        otherwise, second = _phases(node.otherwise, after, between)
        return replace(node, then=then, otherwise=otherwise), first | second
    if isinstance(node, Loop) and node.trip_count != 1:
        return _repeated(node, after, between)
    if isinstance(node, (Loop, Counter)):
        body, after = _phases(node.body, after, between)
        return replace(node, body=body), after
    assert isinstance(node, Launch)
    return _phase(node, after, between)


def _repeated(node: Loop, after: frozenset[str], between: Separation) -> tuple[Node, frozenset[str]]:
    """Return the loop: behind an iteration comes the next one, or what is behind the loop."""
    ahead = after
    while True:
        body, first = _phases(node.body, ahead, between)
        if first <= ahead:
            return replace(node, body=body), ahead
        ahead |= first


def _phase(node: Launch, after: frozenset[str], between: Separation) -> tuple[Node, frozenset[str]]:
    phase = Phase(node.kernel, node.loops)
    needed = {between(node.kernel, other) for other in after}
    if Between.BARRIER in needed:
        return Block((phase, Barrier())), frozenset({node.kernel})
    found = Block((phase, Fence())) if Between.FENCE in needed else phase
    return found, after | {node.kernel}


def _free(node: Node) -> Iterator[str]:
    """Yield the names in ``node`` that have their values from around it."""
    bound = {found.iterator for found in walk(node) if isinstance(found, (Loop, Counter))}
    for found in walk(node):
        for expression in expressions_of(found):
            yield from sorted(names_in(expression) - bound)
