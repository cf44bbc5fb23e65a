"""``for`` loops of a region: counted where they can be, else statements of their own."""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast

from swbuild.frontend.bounds import LoopBounds, exit_value
from swbuild.frontend.counters import counter_dimension
from swbuild.frontend.drafts import Block, Loop
from swbuild.frontend.dynamic import DynamicLoops, leaves_early
from swbuild.frontend.integers import Value
from swbuild.frontend.loops import LoopHead, LoopReader
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.state import Current, Position, Surroundings, Tracked
from swbuild.frontend.tracking import Tracker
from swbuild.frontend.walking import Walk

__all__ = ["CountedLoops"]

#: The reasons against counting for which a loop may still be a statement.
_NOT_COUNTED = frozenset({"SW210", "SW211", "SW212", "SW226"})


class CountedLoops:
    """Handles ``for`` loops; ``walk`` takes their bodies."""

    def __init__(
        self,
        around: Surroundings,
        now: Current,
        heads: LoopReader,
        bounds: LoopBounds,
        tracker: Tracker,
        dynamic: DynamicLoops,
        walk: Walk,
    ) -> None:
        self._around, self._now, self._heads, self._bounds = around, now, heads, bounds
        self._tracker, self._dynamic, self._walk = tracker, dynamic, walk

    def loop(self, node: c_ast.For, where: Position) -> None:
        """Model a loop: counted where it can be, else, inside another loop, as a statement."""
        if where.loops and leaves_early(node.stmt):
            self._dynamic.loop(node, where)
            return
        before = self._now.state
        try:
            self._counted(node, where)
        except NotModelledError as reason:
            self._now.back_to(before)
            if not where.loops or reason.diagnostic.code not in _NOT_COUNTED:
                raise
            self._dynamic.loop(node, where)

    def _counted(self, node: c_ast.For, where: Position) -> None:
        head = self._heads.head(node, where.domain)
        start = self._bounds.start(node, head, where.domain)
        self._check_body(node, head, where)
        outside = self._now.state.active
        loop = self._entered(node, head, start, len(where.loops))
        points = self._bounds.iterations(node, head, start, loop, where.domain)
        self._body(node, loop, Position((*where.loops, loop), points.visited.coalesce(), where.guards))
        self._now.state = replace(self._now.state, active=outside)
        self._leave(node, head, None if _declares(node) else exit_value(head, start, loop, points))

    def _check_body(self, node: c_ast.For, head: LoopHead, where: Position) -> None:
        """Refuse bodies that write the counter; where no other model is tried, go on for their problems."""
        changed = self._around.facts.symbols_written_in(node.stmt).get(head.symbol)
        if changed is not None:
            message = f"the loop counter '{head.symbol.name}' is modified in the loop"
            problem = self._around.problems.refuse("SW212", message, changed, "count with another variable")
            if where.loops:
                raise problem
            self._around.problems.add(problem.diagnostic)

    def _entered(self, node: c_ast.For, head: LoopHead, start: Value, level: int) -> Loop:
        """Return the loop, and make its counter mean what it counts."""
        symbol, variable = head.symbol, counter_dimension(head.symbol.name, self._now.number())
        loop = Loop(variable, symbol.name, start.type, head.step > 0, node, symbol)
        self._tracker.forget(node.stmt)
        state = self._now.state
        depths = {symbol: level, **state.depths} if _declares(node) else state.depths
        self._now.state = replace(state, active={**state.active, symbol: (loop, level)}, depths=depths)
        return loop

    def _body(self, node: c_ast.For, loop: Loop, inner: Position) -> None:
        outer = self._now.state
        self._now.state = replace(outer, items=())
        self._walk.statement(node.stmt, inner)
        items = self._now.state.items
        self._now.state = replace(self._now.state, items=outer.items)
        if items:
            self._now.add(Block(loop, items))

    def _leave(self, node: c_ast.For, head: LoopHead, last: Value | None) -> None:
        """Note the counter's value behind the loop (if the counter outlives it)."""
        flow = self._now.flow
        if not _declares(node):
            flow = flow.outdated(head.symbol, node)
            flow = flow.with_value(head.symbol, None if last is None else Tracked(last))
        self._now.flow = flow
        self._tracker.forget(node.stmt)
        self._now.flow = self._now.flow.with_value(head.symbol, flow.values.get(head.symbol))


def _declares(node: c_ast.For) -> bool:
    """Whether a loop declares its counter."""
    return isinstance(node.init, c_ast.DeclList)
