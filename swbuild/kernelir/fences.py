"""Is what a CPE puts visible to what it gets later?

A put that was waited for is in main memory for the other CPEs, and for later gets of the same CPE only
after a fence.  The tree is walked in the order of execution, loops twice: the second iteration follows the
first.
"""

from __future__ import annotations

from collections.abc import Iterator

from swbuild.classes import dataclass
from swbuild.kernelir.nodes import (
    Block,
    Counter,
    Direction,
    ElementStore,
    Fence,
    Group,
    Guard,
    Loop,
    Node,
    Transfer,
    Wait,
)
from swbuild.kernelir.scope import Scope

__all__ = ["fence_faults"]


@dataclass(frozen=True, slots=True)
class _Put:
    """What has been put from ``buffer`` since the last fence, in flight for ``group`` or there already."""

    buffer: str
    group: Group | None


_Puts = frozenset[_Put]


class _Walk:
    """Walks a tree and collects what is wrong."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.found: list[str] = []

    def after(self, node: Node, puts: _Puts) -> _Puts:
        """Return what may wait for a fence behind ``node``, where ``puts`` do before it."""
        if isinstance(node, Block):
            for child in node.children:
                puts = self.after(child, puts)
            return puts
        if isinstance(node, Counter):
            return self.after(node.body, puts)
        if isinstance(node, Loop):
            once = self.after(node.body, puts)
            if node.condition is None:
                return once
            return puts | (once if once == puts else self.after(node.body, once))
        if isinstance(node, Guard):
            then = self.after(node.then, puts)
            return then | (puts if node.otherwise is None else self.after(node.otherwise, puts))
        return self._leaf(node, puts)

    def _leaf(self, node: Node, puts: _Puts) -> _Puts:
        if isinstance(node, ElementStore):
            return puts | self._put(node.buffer, None)
        if isinstance(node, Transfer) and node.group.direction is Direction.PUT:
            return puts | self._put(node.buffer, node.group)
        if isinstance(node, Transfer):
            self._get(node.buffer, puts)
        if isinstance(node, Wait):
            puts = frozenset(_Put(p.buffer, None) if p.group == node.group else p for p in puts)
        fenced = isinstance(node, Fence) or (isinstance(node, Wait) and node.fence)
        return frozenset(p for p in puts if p.group is not None) if fenced else puts

    def _put(self, buffer: str, group: Group | None) -> _Puts:
        return frozenset([_Put(buffer, group)] if self.scope.buffers[buffer].readers else [])

    def _get(self, buffer: str, puts: _Puts) -> None:
        for name in sorted({p.buffer for p in puts if buffer in self.scope.buffers[p.buffer].readers}):
            what = f"the get of {buffer} may come before what was put from {name}"
            self.found.append(f"{what}: there is no fence")


def fence_faults(node: Node, scope: Scope) -> Iterator[str]:
    """Yield which gets in ``node`` may read what was there before an earlier put."""
    walker = _Walk(scope)
    walker.after(node, frozenset())
    yield from walker.found
