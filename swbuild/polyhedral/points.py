"""How many points a set of integers has, and which, at given sizes: isl's loops over it, run by numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any

import islpy as isl
import numpy as np
import numpy.typing as npt

from swbuild.islnumbers import int_of

__all__ = ["Points", "TooMany"]

Numbers = npt.NDArray[np.int64]
_Env = Mapping[str, Any]


class TooMany(Exception):
    """More points than the caller allows."""


class Points:
    """The points of ``found``, a set over parameters, for any values of these."""

    def __init__(self, found: isl.Set) -> None:
        self.dimensions = found.dim(isl.dim_type.set)
        named = isl.Set(str(found)).set_tuple_name("P")
        build = isl.AstBuild.from_context(isl.Set.universe(named.get_space().params()))
        order = isl.UnionMap.from_map(isl.Map.identity(named.get_space().map_from_set())).intersect_domain(
            named.to_union_set()
        )
        self._tree = build.node_from_schedule_map(order)

    def count(self, sizes: Mapping[str, int], limit: int) -> int:
        """Return how many points there are at ``sizes``; raise :class:`TooMany` for more than ``limit``."""
        return sum(chunk for chunk in _visit(self._tree, dict(sizes), 1, limit, None))

    def all(self, sizes: Mapping[str, int], limit: int) -> Numbers:
        """Return the points as rows; raise :class:`TooMany` for more than ``limit``."""
        rows: list[Numbers] = []
        for _ in _visit(self._tree, dict(sizes), 1, limit, rows):
            pass
        return np.concatenate(rows) if rows else np.empty((0, self.dimensions), np.int64)


def _visit(node: isl.AstNode, env: _Env, rows: int, limit: int, found: list[Numbers] | None) -> Iterator[int]:
    """Yield how many points the subtree adds for ``rows`` values of the counters in ``env``."""
    kind = node.get_type()
    if not rows:
        return
    if kind == isl.ast_node_type.block:
        children = node.block_get_children()
        for k in range(children.n_ast_node()):
            yield from _visit(children.get_at(k), env, rows, limit, found)
    elif kind == isl.ast_node_type.if_:  # type: ignore[attr-defined]
        yield from _branch(node, env, rows, limit, found)
    elif kind == isl.ast_node_type.for_:  # type: ignore[attr-defined]
        yield from _loop(node, env, rows, limit, found)
    elif kind == isl.ast_node_type.user:
        if found is not None:
            found.append(_point(node.user_get_expr(), env, rows))
        yield rows
    else:
        yield from _visit(node.mark_get_node(), env, rows, limit, found)


def _branch(
    node: isl.AstNode, env: _Env, rows: int, limit: int, found: list[Numbers] | None
) -> Iterator[int]:
    holds = _wide(_value(node.if_get_cond(), env), rows).astype(bool)
    chosen = np.flatnonzero(holds)
    yield from _visit(node.if_get_then_node(), _taken(env, chosen), len(chosen), limit, found)
    if node.if_has_else_node():
        others = np.flatnonzero(~holds)
        yield from _visit(node.if_get_else_node(), _taken(env, others), len(others), limit, found)


def _loop(node: isl.AstNode, env: _Env, rows: int, limit: int, found: list[Numbers] | None) -> Iterator[int]:
    name = str(node.for_get_iterator().get_id().name)
    first = _wide(_value(node.for_get_init(), env), rows)
    if node.for_is_degenerate():
        yield from _visit(node.for_get_body(), {**env, name: first}, rows, limit, found)
        return
    step = int_of(node.for_get_inc().get_val())
    last = _wide(_last(node.for_get_cond(), env), rows)
    counts = np.maximum((last - first) // step + 1, 0)
    total = int(counts.sum())
    body = node.for_get_body()
    if found is None and body.get_type() == isl.ast_node_type.user:
        yield total
        return
    if total > limit:
        raise TooMany
    outer = np.repeat(np.arange(rows), counts)
    offsets = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    inside = {**_taken(env, outer), name: first[outer] + step * offsets}
    yield from _visit(body, inside, total, limit, found)


def _last(condition: isl.AstExpr, env: _Env) -> Any:
    """Return the last value that ``counter <= e`` or ``counter < e`` (several of them: all) allows."""
    operator: Any = condition.get_op_type()
    left, right = condition.get_op_arg(0), condition.get_op_arg(1)
    if operator in (_OP.and_, _OP.and_then):  # type: ignore[attr-defined]
        return np.minimum(_last(left, env), _last(right, env))
    return _value(right, env) - (1 if operator == _OP.lt else 0)


def _point(call: isl.AstExpr, env: _Env, rows: int) -> Numbers:
    values = [_wide(_value(call.get_op_arg(k), env), rows) for k in range(1, call.get_op_n_arg())]
    return np.stack(values, axis=1) if values else np.empty((rows, 0), np.int64)


def _taken(env: _Env, rows: Numbers) -> dict[str, Any]:
    return {name: value[rows] if isinstance(value, np.ndarray) else value for name, value in env.items()}


def _wide(value: Any, rows: int) -> Numbers:
    return np.broadcast_to(np.asarray(value, np.int64), (rows,))


def _value(expression: isl.AstExpr, env: _Env) -> Any:
    kind = expression.get_type()
    if kind == isl.ast_expr_type.int:
        return int_of(expression.get_val())
    if kind == isl.ast_expr_type.id:
        return env[str(expression.get_id().name)]
    operator = expression.get_op_type()
    args = [_value(expression.get_op_arg(k), env) for k in range(expression.get_op_n_arg())]
    if operator == _OP.minus:
        return -args[0]
    if operator in (_OP.cond, _OP.select):
        return np.where(*args)
    return reduce(_OPERATORS[operator], args)


_OP = isl.ast_expr_op_type

#: isl divides by positive constants only; ``pdiv`` of what is not negative, and ``div`` of multiples.
_OPERATORS: dict[Any, Callable[[Any, Any], Any]] = {
    _OP.add: np.add,
    _OP.sub: np.subtract,
    _OP.mul: np.multiply,
    _OP.div: np.floor_divide,
    _OP.fdiv_q: np.floor_divide,
    _OP.pdiv_q: np.floor_divide,
    _OP.pdiv_r: np.remainder,
    _OP.zdiv_r: np.remainder,
    _OP.min: np.minimum,
    _OP.max: np.maximum,
    _OP.eq: np.equal,
    _OP.lt: np.less,
    _OP.le: np.less_equal,
    _OP.gt: np.greater,
    _OP.ge: np.greater_equal,
    _OP.and_: np.logical_and,  # type: ignore[attr-defined]
    _OP.and_then: np.logical_and,
    _OP.or_: np.logical_or,  # type: ignore[attr-defined]
    _OP.or_else: np.logical_or,
}
