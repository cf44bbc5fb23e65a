"""What a block computes, by values instead of registers: copies, counters and folded addresses are gone.

A CPE has registers enough, three operands and no indexed addresses; its compilers contract products and sums
and step through arrays by pointers.  So a value is a *root*, the result of an operation or what a register
holds at the block's begin, and a number that is added to it for nothing where it becomes an address.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from swbuild.emulator.model.step import Address, Role, Step
from swbuild.sw64.instructions import Kind

__all__ = ["Node", "graph"]

#: The result of a node, or what a register holds at the begin; None is a constant.
Root = int | str | None
Value = tuple[Root, int]
_Place = tuple[str, Root, Root, int, int]


@dataclass(slots=True)
class Node:
    """An operation: ``sources`` it reads, ``stored`` as data of a store; ``after`` are nodes that it follows.

    ``carries`` are registers whose value for the next pass it makes; ``kept`` nodes have an effect; ``turn``
    counts the turns of a loop in one; ``place`` names what an access of a loop is for in every turn.
    """

    kind: Kind
    role: Role = Role.COMPUTE
    sources: tuple[int | str, ...] = ()
    stored: tuple[int | str, ...] = ()
    after: tuple[int, ...] = ()
    carries: tuple[str, ...] = ()
    kept: bool = False
    where: str = ""
    turn: int = 0
    place: str = ""


def graph(steps: Sequence[Step], live: Iterable[str], turns: int = 0) -> list[Node]:
    """Return what ``steps`` compute, in their order, without what nobody reads.

    ``turns`` 0: they are no loop; else that many turns of it in one, with one test and one jump.
    """
    builder = _Builder(_inductions(steps) if turns else None)
    for turn in range(max(1, turns)):
        builder.turn = turn
        for step in steps:
            if turn + 1 >= turns or step.role is not Role.BRANCH:
                builder.add(step)
    builder.finish(sorted(live))
    _contract(builder.nodes)
    return _needed(builder.nodes)


def _inductions(steps: Sequence[Step]) -> _Loop:
    """Return which registers a turn only moves on by a number, and which it leaves alone."""
    dry = _Builder(None)
    for step in steps:
        dry.add(step)
    moved = {name for name, (root, offset) in dry.known.items() if root == name and offset}
    fixed = {name for name, value in dry.known.items() if value == (name, 0)}
    return _Loop(frozenset(moved), frozenset(dry.known) - moved - fixed)


@dataclass(frozen=True, slots=True)
class _Loop:
    """``moved`` registers grow by a number every turn, ``changed`` ones become something else."""

    moved: frozenset[str]
    changed: frozenset[str]


@dataclass(slots=True)
class _Builder:
    loop: _Loop | None
    turn: int = 0
    nodes: list[Node] = field(default_factory=list)
    known: dict[str, Value] = field(default_factory=dict)
    made: dict[tuple[object, ...], int] = field(default_factory=dict)
    pointers: dict[tuple[object, ...], str] = field(default_factory=dict)
    stored: dict[_Place, int] = field(default_factory=dict)
    loaded: dict[_Place, list[int]] = field(default_factory=dict)

    def value(self, name: str) -> Value:
        return self.known.get(name, (name, 0))

    def add(self, step: Step) -> None:
        """Take in one step."""
        if step.role is Role.COPY:
            self._set(step, self.value(step.sources[0]) if step.sources[0] != "zero" else (None, 0))
        elif step.role is Role.CONSTANT:
            self._set(step, (None, step.number))
        elif step.role is Role.ADD:
            root, offset = self.value(step.target)
            self._set(step, (root, offset + step.number))
        elif step.role is Role.ADDRESS and step.address:
            self._set(step, self._sum(step.address))
        elif step.role is Role.LOAD and step.address:
            self._load(step, step.address)
        elif step.role is Role.STORE and step.address:
            self._store(step, step.address)
        else:
            self._compute(step)

    def _set(self, step: Step, value: Value) -> None:
        if step.target:
            self.known[step.target] = value
        if step.flags:
            self.known["flags"] = value

    def _compute(self, step: Step) -> None:
        sources = tuple(root for name in step.sources if (root := self.root(self.value(name))) is not None)
        kept = step.role in (Role.BRANCH, Role.CALL, Role.RETURN, Role.DIVISION)
        if step.role is Role.JUMP:
            return
        node = Node(step.kind, step.role, sources, kept=kept or not step.target, where=step.where)
        for _ in range(step.times):
            found = self._node(replace(node))
        self._set(step, (found, 0))
        if step.role is Role.DIVISION:
            self.known["dx"] = (found, 0)

    def _load(self, step: Step, address: Address) -> None:
        if self.loop and address.symbol.startswith(".LC"):
            self._set(step, (address.symbol, 0))  # a constant: loaded ahead of the loop
            return
        place, sources = self._place(address)
        for _ in range(step.times):
            after = (self.stored[place],) if place in self.stored else ()
            kept = step.times > 1
            node = Node(step.kind, step.role, sources, after=after, kept=kept, place=self._fixed(place))
            found = self._node(node)
        if step.times == 2:  # the halves of an unaligned vector
            found = self._node(Node(Kind.SHUFFLE, Role.COMPUTE, (found,)))
        self.loaded.setdefault(place, []).append(found)
        self._set(step, (found, 0))

    def _store(self, step: Step, address: Address) -> None:
        place, sources = self._place(address)
        data = tuple(root for name in step.sources if (root := self.root(self.value(name))) is not None)
        after = (*self.loaded.get(place, ()), *([self.stored[place]] if place in self.stored else ()))
        sources = (*sources, *data)
        node = Node(step.kind, step.role, sources, data, after, kept=True, place=self._fixed(place))
        for _ in range(step.times):
            self.stored[place] = self._node(replace(node))

    def _place(self, address: Address) -> tuple[_Place, tuple[int | str, ...]]:
        """Return what an address is, for comparison with others, and what has to be there ahead of it."""
        base, base_offset = self.value(address.base) if address.base else (None, 0)
        index, index_offset = self.value(address.index) if address.index else (None, 0)
        offset = address.offset + base_offset + address.scale * index_offset
        place = (address.symbol, base, index, address.scale, offset)
        if index is None:
            return place, () if base is None or self._steps(base) else (base,)
        walks = self._steps(index) or self._steps(base)
        if walks and not self._varies(index) and not self._varies(base):
            key = ("pointer", address.symbol, base, index, address.scale)
            self.pointers[key] = str(index if self._steps(index) else base)  # one step for all turns in one
            return place, ()
        return place, (self._indexed(base, index, address.scale),)

    def _fixed(self, place: _Place) -> str:
        """Return a name for a place that is the same in every turn of a loop, none for any other."""
        _, base, index, _, _ = place
        if self.loop is None or any(self._steps(root) or self._varies(root) for root in (base, index)):
            return ""
        return str(place)

    def _steps(self, root: Root) -> bool:
        return self.loop is not None and root in self.loop.moved

    def _varies(self, root: Root) -> bool:
        return isinstance(root, int) or (self.loop is not None and root in self.loop.changed)

    def _indexed(self, base: Root, index: Root, scale: int) -> int:
        sources = tuple(root for root in (base, index) if root is not None)
        return self._once(("indexed", base, index, scale), Node(Kind.INTEGER, Role.ADDRESS, sources))

    def _sum(self, address: Address) -> Value:
        base, base_offset = self.value(address.base) if address.base else (None, 0)
        offset = address.offset + base_offset
        if not address.index:
            if base is None and address.symbol:
                return self._once(("symbol", address.symbol), Node(Kind.INTEGER, Role.ADDRESS)), offset
            return base, offset
        index, index_offset = self.value(address.index)
        if index is None:
            return base, offset + address.scale * index_offset
        return self._indexed(base, index, address.scale), offset + address.scale * index_offset

    def root(self, value: Value) -> int | str | None:
        """Return the value as an operand: with an operation where a number has to be added to it."""
        root, offset = value
        if root is None or not offset:
            return root
        return self._once(("sum", root, offset), Node(Kind.INTEGER, Role.ADD, (root,)))

    def _once(self, key: tuple[object, ...], node: Node) -> int:
        if key not in self.made:
            self.made[key] = self._node(node)
        return self.made[key]

    def _node(self, node: Node) -> int:
        node.turn = self.turn
        self.nodes.append(node)
        return len(self.nodes) - 1

    def finish(self, live: Sequence[str]) -> None:
        """Make what is read behind the block: its own results, and the steps of a loop's pointers."""
        counters = []
        for name in live:
            root, offset = value = self.value(name)
            if value == (name, 0) or name == "flags":
                continue
            if self._steps(name) and root == name:
                counters.append(name)
            elif root is None:
                self._once(("constant", offset), Node(Kind.INTEGER, Role.CONSTANT, kept=True))
            elif isinstance(found := self.root(value), int):
                self.nodes[found].kept = True
                self.nodes[found].carries += (name,)
        needed = [self.nodes[number] for number in _reached(self.nodes)]
        for name in counters:
            self._step(name, needed)
        for key in self.pointers:
            name = f"pointer {key[1:]}"
            self._node(Node(Kind.INTEGER, Role.ADD, (name,), carries=(name,), kept=True))

    def _step(self, name: str, needed: Sequence[Node]) -> None:
        """Make the step of a counter; a pointer that it moves can stand for it in the loop's test."""
        number = self.root(self.value(name))
        assert isinstance(number, int)
        step = self.nodes[number]
        moved = [key for key, counter in self.pointers.items() if counter == name]
        if moved and not any(name in node.sources for node in needed if node is not step):
            del self.pointers[moved[0]]
        step.kept = True
        step.carries += (name,)


def _contract(nodes: list[Node]) -> None:
    """Melt each product that only one sum of its turn reads into that sum: multiply-add."""
    readers: dict[int, int] = {}
    for node in nodes:
        for source in node.sources:
            if isinstance(source, int):
                readers[source] = readers.get(source, 0) + 1
    for node in nodes:
        if node.role is not Role.SUM:
            continue
        for source in node.sources:
            if not isinstance(source, int):
                continue
            product = nodes[source]
            one = product.role is Role.PRODUCT and product.turn == node.turn
            if one and readers[source] == 1 and _forgotten(product):
                others = tuple(other for other in node.sources if other != source)
                node.sources, node.role = product.sources + others, Role.COMPUTE
                product.role = Role.COPY
                break


def _forgotten(product: Node) -> bool:
    """Return whether nobody else reads a product; what is left in a register of results need be no result."""
    return not product.kept or set(product.carries) <= {"v0", "v1"} != set()


def _needed(nodes: list[Node]) -> list[Node]:
    """Return the nodes that have an effect or that another such node reads, numbered anew."""
    needed = _reached(nodes)
    renamed = {old: new for new, old in enumerate(needed)}
    result = [nodes[number] for number in needed]
    for node in result:
        node.sources = tuple(renamed[s] if isinstance(s, int) else s for s in node.sources)
        node.stored = tuple(renamed[s] if isinstance(s, int) else s for s in node.stored)
        node.after = tuple(renamed[s] for s in node.after if s in renamed)
    return result


def _reached(nodes: Sequence[Node]) -> list[int]:
    """Return the numbers of the nodes that have an effect or that another such node reads."""
    found: set[int] = set()
    waiting = [number for number, node in enumerate(nodes) if node.kept and node.role is not Role.COPY]
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += [source for source in nodes[number].sources if isinstance(source, int)]
    return sorted(found)
