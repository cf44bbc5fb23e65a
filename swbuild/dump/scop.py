"""The model of a region: what the front end has read in the source."""

from __future__ import annotations

from collections.abc import Iterator

from swbuild.dump.bodies import expression_line, text_lines, tree_lines
from swbuild.dump.text import aff_cases, indented, listed, map_lines, set_lines
from swbuild.dump.trees import tree_lines as schedule_lines
from swbuild.frontend.scop import Access, Array, Scop, Statement
from swbuild.polyhedral.privatise import Private

__all__ = ["scop_lines"]


def scop_lines(scop: Scop, private: Private) -> Iterator[str]:
    """Yield what is known of ``scop``; ``private`` are the variables that may have copies."""
    yield f"function {scop.function}"
    yield f"lines {scop.span.line}-{scop.span.end_line}"
    for parameter in scop.parameters:
        yield f"parameter {parameter.name}: {parameter.type.name} {parameter.expression}"
    for quotient in scop.quotients:
        yield from (f"quotient {quotient.name}: {case}" for case in aff_cases(quotient.value))
    yield from (f"context {line}" for line in set_lines(scop.context))
    yield from (f"assumption {line}" for line in set_lines(scop.assumptions))
    for array in scop.arrays:
        yield from _array(scop, array)
    for table in scop.tables:
        yield f"table {table.expression} leads to the rows of {table.array}, apart by {listed(table.extents)}"
        yield from (f"  rows {line}" for line in set_lines(table.rows))
    for name in sorted(private.names):
        yield from _private(name, private)
    yield from _memory(scop)
    for statement in scop.statements:
        yield from _statement(statement)
    yield "order"
    yield from indented(schedule_lines(scop.schedule))


def _array(scop: Scop, array: Array) -> Iterator[str]:
    kind = "scalar" if array.is_scalar else "array"
    yield f"{kind} {array.name}: {array.element.name}, {array.element.size} bytes, line {array.span.line}"
    for position, extent in enumerate(array.extents):
        cases = ["unknown"] if extent is None else aff_cases(extent)
        yield from (f"  extent {position}: {case}" for case in cases)
    if array.whole_rows is not None:
        yield from (f"  rows in memory {line}" for line in set_lines(array.whole_rows))
    yield f"  storage: {array.storage.value}"
    yield f"  address: {array.address.text}"
    flags = {
        "live out": array.live_out,
        "const": array.is_const,
        "register": array.is_register,
        "given in the source": array.name in scop.given,
        f"declared at depth {array.scope_depth}": array.scope_depth > 0,
    }
    yield from (f"  {flag}" for flag, holds in flags.items() if holds)


def _private(name: str, private: Private) -> Iterator[str]:
    """Yield of how many outer loops each statement has a copy of the variable ``name`` per iteration."""
    yield f"private {name}"
    for (statement, array), copies in sorted(private.expansions.items(), key=lambda item: item[0]):
        if array == name:
            yield f"  {statement} uses {copies.space}, copies by outer loops: {copies.depth}"


def _memory(scop: Scop) -> Iterator[str]:
    """Yield what may share memory."""
    yield from (f"may overlap: {first}, {second}" for first, second in sorted(scop.overlaps))
    for held in scop.held:
        yield f"holds its value: {held.expression}, apart from {listed(held.apart_from)}"
    yield from (f"reads for nothing: {name}" for name in scop.idle)
    yield from (f"may set errno: {name}" for name in scop.sets_errno)
    if scop.after:
        yield f"the host then does: {scop.after}"


def _statement(statement: Statement) -> Iterator[str]:
    yield f"statement {statement.name}, line {statement.span.line}"
    yield from (f"  text {line}" for line in text_lines(statement))
    yield from (f"  tree {line}" for line in tree_lines(statement.body, statement))
    for iterator in statement.iterators:
        yield f"  loop {iterator.name}: {iterator.type.name}, line {iterator.span.line}"
    yield from (f"  domain {line}" for line in set_lines(statement.domain))
    for access in sorted(statement.accesses, key=lambda a: (a.ref, a.kind.value)):
        yield from indented(_access(statement, access))


def _access(statement: Statement, access: Access) -> Iterator[str]:
    exact = "" if access.affine else " (bound only)"
    for line in map_lines(access.relation.gist_domain(statement.domain)):
        yield f"#{access.ref} {access.kind.value} {line}{exact}"
    for position, tree in enumerate(access.index_body):
        yield f"#{access.ref} subscript {position}: {expression_line(tree, statement)}"
