"""Statements to insert into a kernel's tree, once per visit of a level, per row, or per element."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import reduce

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Max, Min, Select
from swbuild.kernelir.astwalk import Leaf
from swbuild.kernelir.expressions import value_in
from swbuild.kernelir.nodes import Block, ElementStore, Group, Node, Row, Transfer, in_turn

__all__ = ["Insertion", "by_element", "by_row", "joined", "once_each", "value_at", "visit"]


@dataclass(frozen=True, slots=True)
class Insertion:
    """Statements to insert at one level: ``relation`` maps the prefix to their instances."""

    relation: isl.Map
    leaf: Leaf

    @property
    def name(self) -> str:
        """The name of the statements."""
        return str(self.relation.get_tuple_name(isl.dim_type.out))

    def is_beside(self, other: Insertion) -> bool:
        """Return whether ``other`` has its statements at the same places."""
        return bool(self.relation.set_tuple_name(isl.dim_type.out, other.name).plain_is_equal(other.relation))


def visit(name: str, visits: isl.Set) -> isl.Map:
    """Return ``prefix -> name[prefix]`` on ``visits``."""
    return (
        isl.Map.identity(visits.get_space().map_from_set())
        .intersect_domain(visits)
        .set_tuple_name(isl.dim_type.out, name)
    )


def once_each(name: str, visits: isl.Set, node: Node) -> Insertion:
    """Insert ``node`` at each of ``visits``."""
    return Insertion(visit(name, visits), lambda *_: node)


def joined(inserted: Iterable[Insertion], alone: Collection[str]) -> list[Insertion]:
    """Return ``inserted`` with neighbours that are at the same visits as one, but for those named ``alone``.

    isl takes its time over every statement, above all over conditions on it.
    """
    found: list[Insertion] = []
    for each in inserted:
        last = found[-1] if found else None
        if last is not None and not {last.name, each.name} & set(alone) and last.is_beside(each):
            found[-1] = Insertion(last.relation, _one_by_one(last.leaf, each.leaf))
        else:
            found.append(each)
    return found


def _one_by_one(first: Leaf, second: Leaf) -> Leaf:
    def leaf(build: isl.AstBuild, instances: isl.PwMultiAff) -> Node:
        nodes = (first(build, instances), second(build, instances))
        return Block(tuple(child for node in nodes for child in in_turn(node)))

    return leaf


def value_at(build: isl.AstBuild, value: isl.PwAff, instances: isl.PwMultiAff) -> Expression:
    """Return ``value``, a function of the prefix, where the AST stands.

    isl may tell cases apart by what they come to there, as by the one CPE that has the last iteration: then
    it is the least or the largest of its formulas, if it is that everywhere.
    """
    plain = instances.reset_tuple_id(isl.dim_type.out)

    def here(some: isl.PwAff) -> Expression:
        return value_in(build, some.pullback_pw_multi_aff(plain).coalesce())  # else isl takes long over cases

    found = here(value)
    formulas = [isl.PwAff.from_aff(aff) for _, aff in value.get_pieces()] if isinstance(found, Select) else []
    for choose, kind in ((isl.PwAff.min, Min), (isl.PwAff.max, Max)) if formulas else ():
        if reduce(choose, formulas).intersect_domain(value.domain()).is_equal(value):
            return kind(tuple(map(here, formulas)))
    return found


def by_element(buffer: str, name: str, written: isl.Map) -> Insertion:
    """Insert stores of all elements ``written`` (prefix -> element), one by one."""
    depth = written.dim(isl.dim_type.in_)
    relation = _graph(written.reset_tuple_id(isl.dim_type.out), written.dim(isl.dim_type.out), name)

    def leaf(build: isl.AstBuild, instances: isl.PwMultiAff) -> Node:
        return ElementStore(buffer, _components(build, instances, depth))

    return Insertion(relation, leaf)


def by_row(buffer: str, name: str, moved: isl.Map, group: Group) -> Insertion:
    """Insert transfers of the rows of ``moved`` (prefix -> element), each from first to last."""
    plain = moved.reset_tuple_id(isl.dim_type.out)
    depth, inner = plain.dim(isl.dim_type.in_), plain.dim(isl.dim_type.out) - 1
    rowwise = plain.move_dims(isl.dim_type.in_, depth, isl.dim_type.out, 0, inner)
    rows = rowwise.domain()
    low, high = rowwise.dim_min(0).gist(rows), rowwise.dim_max(0).gist(rows)

    def leaf(build: isl.AstBuild, instances: isl.PwMultiAff) -> Node:
        outer = _components(build, instances, depth)
        row = Row(outer, value_at(build, low, instances), _length(build, instances, low, high, rows))
        return Transfer(buffer, 0, row, group)

    return Insertion(_graph(plain, inner, name), leaf)


def _length(
    build: isl.AstBuild, instances: isl.PwMultiAff, low: isl.PwAff, high: isl.PwAff, rows: isl.Set
) -> Expression:
    """Return how many indices there are from ``low`` to ``high``, functions of ``rows``.

    Where both depend on cases, it is the difference of the two: there would be a case for each pair of them.
    """
    if low.plain_is_equal(high):
        return Constant(1)
    if low.n_piece() == 1 or high.n_piece() == 1:
        size = high.sub(low).add_constant_val(isl.Val(1))
        return value_at(build, size.gist(rows), instances)
    first, last = (value_at(build, end, instances) for end in (low, high))
    return Binary(BinaryOperator.ADD, Binary(BinaryOperator.SUB, last, first), Constant(1))


def _components(build: isl.AstBuild, instances: isl.PwMultiAff, start: int) -> tuple[Expression, ...]:
    count = instances.dim(isl.dim_type.out)
    return tuple(value_in(build, instances.get_pw_aff(k)) for k in range(start, count))


def _graph(relation: isl.Map, kept: int, name: str) -> isl.Map:
    """Return ``prefix -> name[prefix, first kept outputs]`` of ``relation``."""
    plain = relation.project_out(isl.dim_type.out, kept, relation.dim(isl.dim_type.out) - kept)
    identity = isl.Map.identity(plain.domain().get_space().map_from_set())
    graph = identity.flat_range_product(plain).set_tuple_name(isl.dim_type.out, name)
    return graph.detect_equalities().coalesce()
