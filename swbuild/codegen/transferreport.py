"""What a kernel moves, as formulas: per which loops, how many operations, how many bytes."""

from __future__ import annotations

from collections.abc import Iterator

from swbuild.expressions.nodes import Expression
from swbuild.expressions.printing import in_parentheses
from swbuild.kernelir.nodes import (
    AT_HAND,
    NEXT,
    SPARE,
    Block,
    Counter,
    Deal,
    Guard,
    Loop,
    Node,
    Place,
    Rotate,
    Row,
    Share,
    Transfer,
)
from swbuild.kernelir.origin import Role
from swbuild.lowering.code import KernelCode, RegionCode

__all__ = ["transfer_rows"]


def transfer_rows(region: RegionCode, kernel: KernelCode) -> list[dict[str, object]]:
    """Return one row per transfer of the kernel's code.

    ``per`` names the loops of each CPE around it, ``operations`` and ``bytes`` say how much one
    visit moves, over the sizes and those loops.
    """
    elements = {b.name: region.scop.array(b.array).element.size for b in kernel.plan.buffers}
    places: dict[str, Place] = {}
    rows: list[dict[str, object]] = []
    visited = list(_visited(kernel.body, ()))
    early = {node.buffer for node, _ in visited if isinstance(node, Transfer) and node.slot == NEXT}
    handed = {node.buffer for node, _ in visited if isinstance(node, Share)}
    for position, (node, loops) in enumerate(visited):
        if isinstance(node, Place):
            places[node.buffer] = node
        elif isinstance(node, Rotate) and node.target == AT_HAND:
            # a box comes ahead for each iteration, which says where it lies
            later = [found for found, _ in visited[position + 1 :]]
            come = handed if node.source == SPARE else early
            boxes = ((name, _box_at_hand(later, name)) for name in node.buffers if name in come)
            rows += [_row(name, "get", loops, place.size, elements) for name, place in boxes]
        elif isinstance(node, Share) and node.slot == AT_HAND:
            rows.append(_row(node.buffer, "get", loops, node.size, elements))  # whoever gets it for all
        elif isinstance(node, Transfer) and node.slot == AT_HAND:
            sizes = (node.part.size,) if isinstance(node.part, Row) else places[node.buffer].size
            rows.append(_row(node.buffer, node.group.direction.value, loops, sizes, elements))
    return list({tuple(row.items()): row for row in rows}.values())


def _box_at_hand(later: list[Node], buffer: str) -> Place:
    """Return the box of ``buffer`` in an iteration, of which ``later`` follows its turn to the next slot."""
    found: Place | None = None
    for node in later:
        if isinstance(node, Place) and node.buffer == buffer:
            if found is not None:
                break
            found = node
        elif isinstance(node, Transfer) and node.buffer == buffer and node.slot != AT_HAND:
            found = None  # that was the box of the next iteration
    assert found is not None
    return found


def _visited(node: Node, loops: tuple[str, ...]) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """Yield every node with the iterators of the loops around it."""
    yield node, loops
    if isinstance(node, Block):
        for child in node.children:
            yield from _visited(child, loops)
    elif isinstance(node, Loop):
        silent = node.condition is None or node.origin.role is Role.SPLIT
        yield from _visited(node.body, loops if silent else (*loops, node.iterator))
    elif isinstance(node, Counter):
        yield from _visited(node.body, loops)
    elif isinstance(node, Deal):
        yield from _visited(node.body, (*loops, node.iterator))
    elif isinstance(node, Guard):
        yield from _visited(node.then, loops)
        if node.otherwise is not None:
            yield from _visited(node.otherwise, loops)


def _row(
    buffer: str,
    direction: str,
    loops: tuple[str, ...],
    sizes: tuple[Expression, ...],
    elements: dict[str, int],
) -> dict[str, object]:
    factors = [in_parentheses(size) for size in sizes]
    return {
        "buffer": buffer,
        "direction": direction,
        "per": ", ".join(loops) or "launch",
        "operations": " * ".join(factors[:-2]) or "1",
        "bytes": " * ".join([str(elements[buffer]), *factors]),
    }
