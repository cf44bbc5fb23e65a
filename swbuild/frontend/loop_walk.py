"""``for`` loops of a region."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from swbuild.frontend.ctype import Scalar
from swbuild.frontend.drafts import Block, Loop
from swbuild.frontend.dynamic import DynamicLoops, leaves_early
from swbuild.frontend.integers import Value, constant, parameter
from swbuild.frontend.loops import Iterations, LoopHead, iterations, without, wraps
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.state import Position

__all__ = ["Loops"]


class Loops(DynamicLoops):
    """Handles counted loops."""

    def _for(self, node: c_ast.For, where: Position) -> None:
        """Model a loop: counted where it can be, else, inside another loop, as a statement."""
        if where.loops and leaves_early(node.stmt):
            self._dynamic(node, where)
            return
        known = (dict(self.parameters), self.context, self.moderate, len(self.assumptions))
        values, stale = dict(self._values), dict(self.stale)
        try:
            self._counted(node, where)
        except NotModelledError as reason:
            self.parameters, self.context, self.moderate = known[:3]
            del self.assumptions[known[3] :]
            self._values, self.stale = values, stale
            self._attempted(node, where, reason)

    def _counted(self, node: c_ast.For, where: Position) -> None:
        head = self._loop_head(node, where)
        start = self._start_value(node, head, where)
        body_writes = self.facts.symbols_written_in(node.stmt)
        if head.symbol in body_writes:
            problem = self.problems.make(
                "SW212",
                f"the loop counter '{head.symbol.name}' is modified in the loop",
                body_writes[head.symbol],
                "count with another variable",
            )
            if where.loops:
                raise NotModelledError(problem)
            self.problems.add(problem)
        kind = start.type
        self._counters += 1
        loop = Loop(
            f"{head.symbol.name}'{self._counters}", head.symbol.name, kind, head.step > 0, node, head.symbol
        )
        self._forget(node.stmt)
        outer = self._active.get(head.symbol)
        self._active[head.symbol] = (loop, len(where.loops))
        self.counters[head.symbol] = node
        self._depths.setdefault(head.symbol, len(where.loops)) if isinstance(
            node.init, c_ast.DeclList
        ) else None
        try:
            self._body(node, head, start, loop, where)
        finally:
            del self._active[head.symbol]
            if outer is not None:
                self._active[head.symbol] = outer
        exit_value = self._values.get(head.symbol)
        self._forget(node.stmt)
        self._values[head.symbol] = exit_value

    def _loop_head(self, node: c_ast.For, where: Position) -> LoopHead:
        try:
            return self._loops.head(node, where.domain)
        except NotModelledError:
            self._forget(node)
            for symbol in self.facts.symbols_written_in(node):
                self._values[symbol] = None
            raise

    def _start_value(self, node: c_ast.For, head: LoopHead, where: Position) -> Value:
        assert isinstance(head.symbol.type, Scalar)
        element = head.symbol.type.element
        if head.start is not None:
            value = self._bound(head.start, where.domain)
            return self.integers.convert(value, element, where.domain, head.start)
        value_now = self._value_of(head.symbol)
        if value_now is None:
            raise self.problems.refuse(
                "SW210",
                f"where the loop's counter '{head.symbol.name}' starts is not known",
                node,
                "set it in the loop's head",
            )
        return value_now

    def _bound(self, node: c_ast.Node, domain: isl.Set) -> Value:
        try:
            return self.integers.value(node, domain)
        except NotModelledError as reason:
            raise self._bound_problem(reason, node) from None

    def _bound_problem(self, reason: NotModelledError, node: c_ast.Node) -> NotModelledError:
        found = reason.diagnostic
        if found.code != "SW211":
            return reason
        return NotModelledError(replace(found, message=f"the loop's bound has no model: {found.message}"))

    def _body(self, node: c_ast.For, head: LoopHead, start: Value, loop: Loop, where: Position) -> None:
        counter = Value(parameter(loop.variable), start.type)
        ahead = counter.pa.ge_set(start.pa) if head.step > 0 else counter.pa.le_set(start.pa)
        reached = where.domain.intersect(ahead)
        before = len(self.assumptions)
        try:
            holds = self.integers.condition(head.condition, reached)
        except NotModelledError as reason:
            raise self._bound_problem(reason, head.condition) from None
        conditional = len(self.assumptions) > before
        del self.assumptions[before:]
        holds = self._ordered(node, head, holds, start, counter, where)
        simple = self._is_simple(head, loop)
        points = iterations(loop.variable, start, head.step, holds, simple, where.domain)
        if conditional:
            # What the condition needs is needed at the values that it is evaluated for, and no others.
            first = where.domain.intersect(counter.pa.eq_set(start.pa))
            self.integers.condition(head.condition, points.stepped.union(first))
        self._check_counter(node, head, points, counter, where)
        inner = Position(Block(loop), (*where.loops, loop), points.visited.coalesce(), where.guards)
        self.statement(node.stmt, inner)
        if inner.block.items:
            where.block.items.append(inner.block)
        self._leave(node, head, start, loop, points, where)

    def _ordered(
        self, node: c_ast.For, head: LoopHead, holds: isl.Set, start: Value, counter: Value, where: Position
    ) -> isl.Set:
        """Read ``i != end`` as ``i < end`` (or ``>``): the loop must start on the right side and meet its
        end.
        """
        cond = head.condition
        if not isinstance(cond, c_ast.BinaryOp) or cond.op != "!=":
            return holds
        mine = [
            self.facts.bindings.symbol(s) is head.symbol if isinstance(s, c_ast.ID) else False
            for s in (cond.left, cond.right)
        ]
        if sum(mine) != 1:
            return holds
        end = self.integers.value(cond.right if mine[0] else cond.left, where.domain).pa
        distance = end.sub(start.pa) if head.step > 0 else start.pa.sub(end)
        meets = distance.nonneg_set()
        if abs(head.step) > 1:
            meets = meets.intersect(distance.mod_val(isl.Val(abs(head.step))).eq_set(constant(0)))
        self.require(where.domain, meets, cond, "the loop must end by meeting its bound")
        return counter.pa.lt_set(end) if head.step > 0 else counter.pa.gt_set(end)

    def _is_simple(self, head: LoopHead, loop: Loop) -> bool:
        """Whether the condition is an order between the counter alone and something without it."""
        cond = head.condition
        if not isinstance(cond, c_ast.BinaryOp):
            return False
        if cond.op == "!=":
            return True
        ops = {"<": 1, "<=": 1, ">": -1, ">=": -1}
        if cond.op not in ops:
            return False
        sides = [self.facts.mentions(side, head.symbol) for side in (cond.left, cond.right)]
        direction = 1 if head.step > 0 else -1
        if isinstance(cond.left, c_ast.ID) and sides == [True, False]:
            return ops[cond.op] == direction
        if isinstance(cond.right, c_ast.ID) and sides == [False, True]:
            return ops[cond.op] == -direction
        return False

    def _check_counter(
        self, node: c_ast.For, head: LoopHead, points: Iterations, counter: Value, where: Position
    ) -> None:
        outer = without(points.visited, [])
        position = outer.find_dim_by_name(isl.dim_type.param, str(_variable_of(counter)))
        if position >= 0:
            moved = isl.Set.from_params(outer).move_dims(isl.dim_type.set, 0, isl.dim_type.param, position, 1)
            if not moved.is_bounded():
                raise self.problems.refuse(
                    "SW226",
                    "the loop has no end: its condition does not stop the counter",
                    node,
                    "compare the counter with the last value",
                )
        if wraps(counter):
            self.integers.require_range(counter.pa, None, counter.type, points.stepped, head.condition)

    def _leave(
        self, node: c_ast.For, head: LoopHead, start: Value, loop: Loop, points: Iterations, where: Position
    ) -> None:
        """Note the counter's value behind the loop (if the counter outlives it)."""
        if isinstance(node.init, c_ast.DeclList):
            return
        self.stale[head.symbol] = node
        self._values[head.symbol] = self._exit_value(head, start, loop, points, where)

    def _exit_value(
        self, head: LoopHead, start: Value, loop: Loop, points: Iterations, where: Position
    ) -> Value | None:
        """Return the counter's value when the loop is left: behind its last step, or its start."""
        stepped = points.stepped
        position = stepped.find_dim_by_name(isl.dim_type.param, loop.variable)
        if position < 0:
            return None
        moved = isl.Set.from_params(stepped).move_dims(isl.dim_type.set, 0, isl.dim_type.param, position, 1)
        try:
            last = moved.dim_max(0) if head.step > 0 else moved.dim_min(0)
        except isl.Error:
            return None
        ran = without(points.visited, [loop.variable])
        pa = last.intersect_domain(ran).union_add(start.pa.intersect_domain(ran.complement()))
        return Value(pa.coalesce(), start.type)


def _variable_of(counter: Value) -> str:
    names = [
        counter.pa.get_dim_name(isl.dim_type.param, i) for i in range(counter.pa.dim(isl.dim_type.param))
    ]
    return str(names[0])
