"""The bounds of counted loops: where the counter starts, which values it takes, and what it is behind.

The counter of a loop is an isl parameter here, ``loop.variable``, beside the sizes and the counters around:
domains are parameter sets.  The iterations are those of the loop's own C: where its condition is no plain
order, an iteration counts only if the condition held for all before it.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from swbuild.expressions.types import INT, ElementType, TypeKind, common_type, element_range
from swbuild.frontend.constants import converted
from swbuild.frontend.ctype import Scalar
from swbuild.frontend.drafts import Loop
from swbuild.frontend.integers import Value, constant, parameter
from swbuild.frontend.loops import Iterations, LoopHead, iterations, without, wraps
from swbuild.frontend.objects import Objects
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.reading import Reader
from swbuild.frontend.state import Current, Surroundings
from swbuild.islnumbers import val_of

__all__ = ["LoopBounds", "exit_value"]

_DIRECTIONS = {"<": 1, "<=": 1, ">": -1, ">=": -1}


class LoopBounds:
    """Reads the bounds of loops whose heads are known; every method raises NotModelledError."""

    def __init__(self, around: Surroundings, now: Current, reader: Reader, objects: Objects) -> None:
        self._around, self._now, self._reader, self._objects = around, now, reader, objects

    def start(self, node: c_ast.For, head: LoopHead, domain: isl.Set) -> Value:
        """Return the value at which the counter starts."""
        if head.start is None:
            return self._value_now(node, head)
        assert isinstance(head.symbol.type, Scalar)
        try:
            value = self._reader.integers.value(head.start, domain)
        except NotModelledError as reason:
            raise _of_bound(reason) from None
        return self._reader.integers.convert(value, head.symbol.type.element, domain, head.start)

    def _value_now(self, node: c_ast.For, head: LoopHead) -> Value:
        known = self._reader.value_of(head.symbol)
        if known is None:
            message = f"where the loop's counter '{head.symbol.name}' starts is not known"
            raise self._around.problems.refuse("SW210", message, node, "set it in the loop's head")
        return known

    def iterations(
        self, node: c_ast.For, head: LoopHead, start: Value, loop: Loop, domain: isl.Set
    ) -> Iterations:
        """Return the iterations of a loop that ``domain`` reaches."""
        counter = Value(parameter(loop.variable), start.type)
        ahead = counter.pa.ge_set(start.pa) if head.step > 0 else counter.pa.le_set(start.pa)
        before = self._now.state
        down = self._ends_below_zero(node, head, counter.type, domain)
        if down and head.condition.op == "!=":  # what starts with the end makes no iteration
            holds = ahead.intersect(start.pa.lt_set(constant(element_range(start.type)[1])))
        else:
            holds = self._condition(head, domain.intersect(ahead))
        needs = self._now.drop_assumptions(before)
        if down:
            holds = holds.intersect(counter.pa.ge_set(constant(0)))
        else:
            holds = self._ordered(head, holds, start, counter, domain)
        points = iterations(loop.variable, start, head.step, holds, self._is_simple(head), domain)
        if needs:
            # What the condition needs is needed at the values that it is evaluated for, and no others.
            first = domain.intersect(counter.pa.eq_set(start.pa))
            self._reader.integers.condition(head.condition, points.stepped.union(first))
        self._refuse_endless(node, points, loop)
        if wraps(counter) and not down:
            self._reader.integers.require_range(
                counter.pa, None, counter.type, points.stepped, head.condition
            )
        return points

    def _ends_below_zero(self, node: c_ast.For, head: LoopHead, kind: ElementType, domain: isl.Set) -> bool:
        """Whether an unsigned counter of the loop's own goes down to 0 and ends the loop with what follows.

        That is the largest number of its type: none is larger, and a loop may go on while the counter is
        another one (``i != (size_t)-1``).
        """
        cond = head.condition
        own = isinstance(node.init, c_ast.DeclList) and head.step == -1
        if not own or kind.kind is not TypeKind.UNSIGNED or kind.size < INT.size:
            return False
        if not isinstance(cond, c_ast.BinaryOp):
            return False
        end = self._unequal_to(head)
        if end is not None:
            known = self._around.scope.constant(end)
            if known is None or common_type(known.type, kind) != kind:
                return False
            return converted(known.value, kind) == element_range(kind)[1]
        sides = {"<": (cond.left, cond.right), ">": (cond.right, cond.left)}.get(cond.op)
        if sides is None or not self._is_simple(replace(head, step=1)):
            return False
        return common_type(self._reader.integers.value(sides[1], domain).type, kind) == kind

    def _condition(self, head: LoopHead, reached: isl.Set) -> isl.Set:
        try:
            return self._reader.integers.condition(head.condition, reached)
        except NotModelledError as reason:
            raise _of_bound(reason) from None

    def _ordered(
        self, head: LoopHead, holds: isl.Set, start: Value, counter: Value, domain: isl.Set
    ) -> isl.Set:
        """Read ``i != end`` as ``i < end`` (or ``>``): the loop must start on the right side and meet its
        end.
        """
        bound = self._unequal_to(head)
        if bound is None:
            return holds
        end = self._reader.integers.value(bound, domain).pa
        distance = end.sub(start.pa) if head.step > 0 else start.pa.sub(end)
        meets = distance.nonneg_set()
        if abs(head.step) > 1:
            meets = meets.intersect(distance.mod_val(val_of(abs(head.step))).eq_set(constant(0)))
        self._objects.require(domain, meets, head.condition, "the loop must end by meeting its bound")
        return counter.pa.lt_set(end) if head.step > 0 else counter.pa.gt_set(end)

    def _unequal_to(self, head: LoopHead) -> c_ast.Node | None:
        """Return the other side of ``i != end``, None for all other conditions."""
        cond, symbol_of = head.condition, self._around.facts.bindings.symbol
        if not isinstance(cond, c_ast.BinaryOp) or cond.op != "!=":
            return None
        left, right = (
            isinstance(s, c_ast.ID) and symbol_of(s) is head.symbol for s in (cond.left, cond.right)
        )
        if left == right:
            return None
        return cond.right if left else cond.left

    def _is_simple(self, head: LoopHead) -> bool:
        """Whether the condition is an order between the counter alone and something without it."""
        cond = head.condition
        if not isinstance(cond, c_ast.BinaryOp):
            return False
        if cond.op == "!=":
            return True
        if cond.op not in _DIRECTIONS:
            return False
        sides = [self._around.facts.mentions(side, head.symbol) for side in (cond.left, cond.right)]
        direction = 1 if head.step > 0 else -1
        if isinstance(cond.left, c_ast.ID) and sides == [True, False]:
            return _DIRECTIONS[cond.op] == direction
        if isinstance(cond.right, c_ast.ID) and sides == [False, True]:
            return _DIRECTIONS[cond.op] == -direction
        return False

    def _refuse_endless(self, node: c_ast.For, points: Iterations, loop: Loop) -> None:
        values = _values(points.visited, loop)
        if values is not None and not values.is_bounded():
            raise self._around.problems.refuse(
                "SW226",
                "the loop has no end: its condition does not stop the counter",
                node,
                "compare the counter with the last value",
            )


def exit_value(head: LoopHead, start: Value, loop: Loop, points: Iterations) -> Value | None:
    """Return the counter's value when the loop is left: behind its last step, or its start."""
    values = _values(points.stepped, loop)
    if values is None:
        return None
    try:
        last = values.dim_max(0) if head.step > 0 else values.dim_min(0)
    except isl.Error:
        return None
    ran = without(points.visited, [loop.variable])
    pa = last.intersect_domain(ran).union_add(start.pa.intersect_domain(ran.complement()))
    return Value(pa.coalesce(), start.type)


def _values(points: isl.Set, loop: Loop) -> isl.Set | None:
    """Return the values of the counter at ``points``: its parameter becomes the one dimension of the set.

    None where nothing constrains it.
    """
    position = points.find_dim_by_name(isl.dim_type.param, loop.variable)
    if position < 0:
        return None
    return isl.Set.from_params(points).move_dims(isl.dim_type.set, 0, isl.dim_type.param, position, 1)


def _of_bound(reason: NotModelledError) -> NotModelledError:
    """Return the problem of an expression as one of a loop's bound."""
    found = reason.diagnostic
    if found.code != "SW211":
        return reason
    return NotModelledError(replace(found, message=f"the loop's bound has no model: {found.message}"))
