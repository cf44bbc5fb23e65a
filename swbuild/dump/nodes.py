"""The kernel IR as lines: a node per line, children below their parents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from swbuild.dump.text import indented, listed
from swbuild.kernelir.nodes import (
    Begin,
    Block,
    Compute,
    Counter,
    ElementStore,
    Guard,
    Launch,
    Loop,
    Node,
    Place,
    Put,
    RowPut,
    Wait,
)

__all__ = ["node_lines"]


@singledispatch
def node_lines(node: Node) -> Iterator[str]:
    """Yield the lines of ``node`` and of all below it."""
    raise TypeError(f"nothing is known of {type(node).__name__}")


@node_lines.register
def _block(node: Block) -> Iterator[str]:
    for child in node.children:
        yield from node_lines(child)


@node_lines.register
def _loop(node: Loop) -> Iterator[str]:
    if node.condition:
        first = node.first or "where it stands"
        yield f"for {node.iterator} from {first} while {node.condition} by {node.step}"
    else:
        yield f"let {node.iterator} be {node.first}"
    yield from indented(node_lines(node.body))


@node_lines.register
def _counter(node: Counter) -> Iterator[str]:
    yield f"counter {node.iterator} from {node.first}"
    yield from indented(node_lines(node.body))


@node_lines.register
def _guard(node: Guard) -> Iterator[str]:
    yield f"if {node.condition}"
    yield from indented(node_lines(node.then))
    if node.otherwise is not None:
        yield "else"
        yield from indented(node_lines(node.otherwise))


@node_lines.register
def _compute(node: Compute) -> Iterator[str]:
    first, *rest = [line.strip() for line in node.text.splitlines() if line.strip()] or [""]
    yield f"compute {node.statement}[{', '.join(node.iterators)}]: {first}"
    yield from indented(rest)


@node_lines.register
def _launch(node: Launch) -> Iterator[str]:
    yield f"launch {node.kernel}[{', '.join(node.loops)}]"


@node_lines.register
def _begin(node: Begin) -> Iterator[str]:
    yield f"begin {_group(node)}{', counted at run time' if node.dynamic else ''}"


@node_lines.register
def _wait(node: Wait) -> Iterator[str]:
    count = "as many as counted" if node.count is None else node.count
    yield f"wait {_group(node)}: {count}{', with a fence' if node.fence else ''}"


def _group(node: Begin | Wait) -> str:
    return f"{'puts' if node.puts else 'gets'} of level {node.level}"


@node_lines.register
def _place(node: Place) -> Iterator[str]:
    box = f"from [{listed(node.low, '')}] size [{listed(node.size, '')}]"
    yield f"{'get' if node.get else 'place'} {node.buffer} {box}"


@node_lines.register
def _put(node: Put) -> Iterator[str]:
    yield f"put {node.buffer}"


@node_lines.register
def _row_put(node: RowPut) -> Iterator[str]:
    yield f"put row of {node.buffer} at [{listed(node.outer, '')}] from {node.low} size {node.size}"


@node_lines.register
def _element_store(node: ElementStore) -> Iterator[str]:
    yield f"store {node.buffer}[{listed(node.index, '')}]"
