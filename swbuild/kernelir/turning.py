"""Boxes that are turned in the LDM: copied such that what vectors take at once lies side by side.

Where a vector would be put together of elements of several rows of a box, and that for each of the jammed
iterations anew, the box is copied once, with the dimension along the vector last, and read there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from swbuild.classes import dataclass
from swbuild.expressions.c import Call
from swbuild.expressions.nodes import Binary, BinaryOperator, Expression, Name
from swbuild.expressions.trees import transformed
from swbuild.expressions.types import ElementType
from swbuild.kernelir.nests import Nest, nest_of, plus, strides
from swbuild.kernelir.nodes import (
    Block,
    Counter,
    Deal,
    Fetch,
    Guard,
    Keep,
    Loop,
    Node,
    Place,
    Register,
    Rotate,
    Share,
    Transfer,
)
from swbuild.kernelir.orders import orders_of
from swbuild.kernelir.origin import Origin, Role
from swbuild.kernelir.passes import walk
from swbuild.kernelir.rectangles import rectangle_of
from swbuild.kernelir.registers import element_of, is_vectorisable
from swbuild.kernelir.tiles import Lanes
from swbuild.kernelir.transfers import low_of, size_of
from swbuild.names import own

__all__ = ["Turnable", "gathered_in", "turned", "turned_macro", "with_turned_reads"]


_TURNED = Origin(Role.TURNED)

#: So many vectors are copied in a turn of the loop, so that their addresses are found together.
_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class Turnable:
    """A buffer whose boxes may be turned: its dimension that comes last then, and its element type."""

    name: str
    dimension: int
    dimensions: int
    element: ElementType

    @property
    def macro(self) -> str:
        """The macro for elements of its boxes."""
        return own(f"LDM_{self.name}")

    def index(self, index: tuple[Expression, ...]) -> tuple[Expression, ...]:
        """Return where the element at ``index`` of a box is in the turned one."""
        return (*index[: self.dimension], *index[self.dimension + 1 :], index[self.dimension])


def turned_macro(name: str) -> str:
    """Return the macro for elements of turned boxes of the buffer ``name``."""
    return own(f"LDM_{name}_turned")


def gathered_in(nest: Nest, lanes: Lanes) -> Mapping[Call, int]:
    """Return what the tiles of ``nest`` would gather in vectors, with the dimension along these.

    That is of reads of buffers in which the nest writes nothing, where the elements of a vector differ in
    that dimension alone and are neighbours in it.
    """
    element = element_of(nest)
    if element is None or element not in lanes or not is_vectorisable(nest):
        return {}
    order = next(orders_of(nest, vectors=True, gathers=True), None)
    if order is None or order.along is None:
        return {}
    written = {target.function for target in nest.targets}
    reads = (read for read in nest.reads if read.function not in written)
    found = ((read, _dimension(read, order.along.iterator)) for read in reads)
    return {read: dimension for read, dimension in found if dimension is not None}


def _dimension(read: Call, iterator: str) -> int | None:
    """Return the dimension, but the last one, in which neighbours along ``iterator`` are neighbours."""
    steps = strides(read, iterator)
    used = [k for k, step in enumerate(steps) if step != 0]
    return used[0] if len(used) == 1 and steps[used[0]] == 1 and used[0] < len(steps) - 1 else None


def with_turned_reads(nest: Nest, reads: Mapping[Call, int], named: Callable[[str], str]) -> Nest:
    """Return ``nest`` with its ``reads`` from turned boxes, in which the dimension given with each is last.

    The macro of a buffer is ``named`` anew for these.
    """

    def change(value: Expression) -> Expression:
        if not isinstance(value, Call) or value not in reads:
            return value
        dimension, index = reads[value], value.arguments
        turned = (*index[:dimension], *index[dimension + 1 :], index[dimension])
        return Call(value.type, named(value.function), turned)

    computes = tuple(replace(compute, body=transformed(compute.body, change)) for compute in nest.computes)
    return Nest(nest.loops, computes, nest.buffers | {named(read.function) for read in reads})


def turned(
    node: Node, buffers: frozenset[str], boxes: Collection[Turnable], lanes: Lanes
) -> tuple[Node, frozenset[str]]:
    """Return the tree with ``boxes`` turned where nests then need not gather vectors, and the names of these.

    A box is turned behind all that changes it, ahead of the nest that reads it.  ``buffers`` are the macros
    for elements of LDM buffers; ``lanes`` has the element types with vectors.
    """
    pass_ = _Pass(buffers, {box.macro: box for box in boxes}, lanes, set())
    found, needed = pass_.changed(node)
    assert not needed, "a box is placed in every kernel that reads it"
    return found, frozenset(pass_.found)


#: The buffers whose turned boxes a node reads, by their macros.
_Needed = frozenset[str]


@dataclass(frozen=True, slots=True)
class _Pass:
    buffers: frozenset[str]
    boxes: Mapping[str, Turnable]
    lanes: Lanes
    found: set[str]

    def changed(self, node: Node) -> tuple[Node, _Needed]:
        """Return ``node`` with turned boxes, and those that are to be turned ahead of it."""
        if isinstance(node, Block):
            return self._block(node)
        if isinstance(node, Guard):
            then, needed = self.changed(node.then)
            if node.otherwise is None:
                return replace(node, then=then), needed
            otherwise, further = self.changed(node.otherwise)
            return replace(node, then=then, otherwise=otherwise), needed | further
        if isinstance(node, Loop):
            found = self._nest(node)
            if found is not None:
                return found
        if isinstance(node, (Loop, Counter, Deal)):
            body, needed = self.changed(node.body)
            return replace(node, body=body), needed
        return node, frozenset()

    def _block(self, block: Block) -> tuple[Node, _Needed]:
        """Return ``block`` with those boxes turned in it that something in it changes.

        What is computed under a condition may not have its box where that does not hold.
        """
        children: list[Node] = []
        above: set[str] = set()
        here: set[str] = set()
        changing = {name for child in block.children for name in _changed_in(child)}
        for child in block.children:
            found, needed = self.changed(child)
            here -= _changed_in(child)
            for macro in sorted(needed):
                name = self.boxes[macro].name
                if name not in changing:
                    above.add(macro)
                elif name not in here and isinstance(found, Guard) and found.otherwise is None:
                    found = replace(found, then=Block((self._turning(self.boxes[macro]), found.then)))
                elif name not in here:
                    here.add(name)
                    children.append(self._turning(self.boxes[macro]))
            children.append(found)
        return Block(tuple(children)), frozenset(above)

    def _nest(self, loop: Loop) -> tuple[Node, _Needed] | None:
        """Return ``loop`` with what it gathers read from turned boxes, None where it is no nest that does."""
        nest = nest_of(loop, self.buffers)
        if nest is None:
            return None
        reads = {
            read: dimension
            for read, dimension in self._gathered(nest).items()
            if read.function in self.boxes and self.boxes[read.function].dimension == dimension
        }
        if not reads:
            return None
        named = {macro: turned_macro(box.name) for macro, box in self.boxes.items()}
        computes = with_turned_reads(nest, reads, named.__getitem__).computes
        node: Node = Block(computes) if len(computes) > 1 else computes[0]
        for each in reversed(nest.loops):
            node = replace(each, body=node)
        return node, frozenset(read.function for read in reads)

    def _gathered(self, nest: Nest) -> Mapping[Call, int]:
        """Return what ``nest`` would gather, or the part of it whose loops do not depend on each other."""
        rectangle = rectangle_of(nest)
        full = {} if rectangle is None else gathered_in(rectangle.nest, self.lanes)
        return {**full, **gathered_in(nest, self.lanes)}

    def _turning(self, box: Turnable) -> Node:
        """Return what turns the box of a buffer."""
        self.found.add(box.name)
        names = [own(f"{box.name}_k{k}") for k in range(box.dimensions)]
        row, column = names[box.dimension], names[-1]
        _, lanes = self.lanes[box.element]
        several = _counted(box, -1, column, [(n, self._vectors(box, names, n)) for n in (_COLUMNS, 1)])
        single = self._single(box, names)
        rest = _counted(box, -1, column, [(1, single)])
        node = _counted(box, box.dimension, row, [(lanes, several), (1, rest)])
        for k in reversed(range(box.dimensions - 1)):
            if k != box.dimension:
                node = _counted(box, k, names[k], [(1, node)])
        return node

    def _vectors(self, box: Turnable, names: Sequence[str], columns: int) -> Node:
        """Return what copies so many vectors, each of elements below one another."""
        vector, lanes = self.lanes[box.element]
        nodes: list[Node] = []
        for k in range(columns):
            index = _moved(tuple(map(Name, names)), box.dimensions - 1, k)
            place, target = self._elements(box, index)
            further = (self._elements(box, _moved(index, box.dimension, lane))[0] for lane in range(1, lanes))
            held = own(f"{box.name}{k}", f"turned_{box.name}")
            nodes += [
                Fetch(held, vector, place, further=tuple(further)),
                Keep("", held, target, vector=True),
            ]
        return Block(tuple(nodes))

    def _single(self, box: Turnable, names: Sequence[str]) -> Node:
        place, target = self._elements(box, tuple(map(Name, names)))
        held = own(f"{box.name}0", f"turned_{box.name}")
        return Block((Register(held, box.element, place), Keep("", held, target, vector=False)))

    def _elements(self, box: Turnable, index: tuple[Expression, ...]) -> tuple[Call, Call]:
        """Return an element of a box, and the same in the turned one."""
        there = Call(box.element, turned_macro(box.name), box.index(index))
        return Call(box.element, box.macro, index), there


def _moved(index: tuple[Expression, ...], dimension: int, by: int) -> tuple[Expression, ...]:
    return (*index[:dimension], plus(index[dimension], by), *index[dimension + 1 :])


def _counted(box: Turnable, dimension: int, iterator: str, parts: Sequence[tuple[int, Node]]) -> Node:
    """Return loops over a dimension of a box: for each of ``parts`` its body, so many indices at a time."""
    dimension %= box.dimensions
    first = low_of(box.name, dimension)
    end = Binary(BinaryOperator.ADD, first, size_of(box.name, dimension))
    loops = []
    for step, body in parts:
        condition = Binary(BinaryOperator.LT, plus(Name(iterator), step - 1), end)
        start = first if len(parts) == 1 else None
        loops.append(Loop(iterator, start, condition, step, body, _TURNED))
    return loops[0] if len(parts) == 1 else Counter(iterator, first, Block(tuple(loops)))


def _changed_in(node: Node) -> set[str]:
    """Return the buffers of which ``node`` changes the box at hand."""
    found: set[str] = set()
    for each in walk(node):
        if isinstance(each, Rotate):
            found |= {*each.buffers}
        elif isinstance(each, (Place, Transfer, Share)):
            found.add(each.buffer)
    return found
