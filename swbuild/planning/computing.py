"""What a statement computes, as operations of a core: from its tree, for a turn of the loop around it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field, replace

import islpy as isl

from swbuild.classes import dataclass
from swbuild.expressions.c import (
    AccessRef,
    Assignment,
    Call,
    Cast,
    Conditional,
    Element,
    Step,
    Typed,
    Unary,
)
from swbuild.expressions.c import (
    Operation as Binary,
)
from swbuild.expressions.nodes import Expression
from swbuild.expressions.statements import DoWhile, For, While
from swbuild.expressions.types import ElementType, is_integer
from swbuild.frontend.scop import Access, AccessKind, Scop, Statement
from swbuild.machine import MachineModel
from swbuild.machine.cost.blocks import Block, Kind, Operation
from swbuild.planning.loops import Inner

__all__ = ["Body", "body_of"]

#: Turns that a loop inside a statement, whose number only the data tell, is taken to make.
_INNER_TURNS = 16


@dataclass(frozen=True, slots=True)
class Body:
    """What one instance does: operations, and accesses to main memory that it makes one by one."""

    block: Block
    direct: float


def body_of(
    scop: Scop,
    statement: Statement,
    machine: MachineModel,
    inner: Inner | None,
    registers: Collection[str],
    direct: Collection[int],
    *,
    kept: bool = False,
) -> Body:
    """Return what an instance of ``statement`` does in a turn of its loop ``inner``.

    The variables ``registers`` need no accesses; references ``direct`` lead to main memory.  ``kept``: what
    all turns share is loaded and stored in each of them, as it may be what another pointer leads to; a
    load does not wait for what the turn before stored there.
    """
    walk = _Walk(scop, statement, machine, inner, kept, frozenset(registers), frozenset(direct))
    walk.value(statement.body)
    return Body(Block(tuple(walk.finished()), walk.software), walk.accesses)


@dataclass(slots=True)
class _Walk:
    scop: Scop
    statement: Statement
    machine: MachineModel
    inner: Inner | None
    kept: bool
    registers: frozenset[str]
    direct: frozenset[int]
    operations: list[Operation] = field(default_factory=list)
    loaded: dict[str, int] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)
    stores: dict[str, int] = field(default_factory=dict)
    #: what loads and stores lead to, by the numbers of their operations
    read: dict[int, isl.PwMultiAff] = field(default_factory=dict)
    written: dict[int, isl.PwMultiAff] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    free: set[int] = field(default_factory=set)
    sums: dict[int, tuple[int, ...]] = field(default_factory=dict)
    software: float = 0.0
    accesses: float = 0.0
    times: float = 1.0

    def finished(self) -> list[Operation]:
        """Return the operations, with what is added up from turn to turn waiting for itself.

        A place that all turns share is loaded ahead of the loop.  A load of what the turn before has stored
        waits for that.
        """
        shared = {number for place, number in self.loaded.items() if place in self.fixed}
        carried = {self.loaded[p]: v for p, v in self.stored.items() if p in self.fixed and p in self.loaded}
        gone = shared | {self.stores[place] for place in self.fixed if place in self.stores}
        gone = self.free | ({number for number in gone if number in carried} if self.kept else gone)
        kept = [number for number in range(len(self.operations)) if number not in gone]
        places = {old: new for new, old in enumerate(kept)}
        late = {} if self.kept else self._stored_before()
        operations = [replace(op, carried=late.get(k)) for k, op in enumerate(self.operations)]
        return [self._renumbered(operations[number], places, carried) for number in kept]

    def _stored_before(self) -> dict[int, int]:
        """Return the stores by the loads that find there what the turn before stored."""
        if self.inner is None:
            return {}
        found = {}
        for load, place in self.read.items():
            moved = _a_turn_later(place, self.inner)
            store = next((s for s, other in self.written.items() if moved.plain_is_equal(other)), None)
            if store is not None:
                found[load] = store
        return found

    @staticmethod
    def _renumbered(operation: Operation, places: dict[int, int], carried: dict[int, int]) -> Operation:
        """Return the operation among those left; ``carried``: loads that give the last turn's value."""
        waits = next((carried[s] for s in operation.sources if s in carried), operation.carried)
        sources = tuple(places[s] for s in operation.sources if s in places)
        return Operation(operation.kind, sources, None if waits is None else places.get(waits))

    def value(self, node: Expression) -> int | None:
        """Return the operation that makes the value of ``node``, None where it is there already."""
        if isinstance(node, AccessRef):
            return self._load(node.ref)
        if isinstance(node, Assignment):
            return self._assign(node)
        if isinstance(node, Step):
            return self._store(node.operand, self._made(Kind.INTEGER, self.value(node.operand)))
        if isinstance(node, Binary):
            return self._binary(node.operator, node.computed, self.value(node.left), self.value(node.right))
        if isinstance(node, (For, While, DoWhile)):
            return self._looped(node)
        if isinstance(node, Call):
            return self._call(node)
        found = [self.value(child) for child in node.children]
        if isinstance(node, Conditional):
            return self._made(Kind.COMPARE, *found)
        if isinstance(node, Unary) and node.operator != "+":
            return self._made(Kind.INTEGER if is_integer(node.type) else Kind.FLOAT, *found)
        if isinstance(node, Cast):
            return self._cast(node, found[0])
        if isinstance(node, Element):
            return self._made(Kind.LOAD, *found)
        return next((one for one in reversed(found) if one is not None), None)

    def _cast(self, node: Cast, operand: int | None) -> int | None:
        inner = node.operand
        changes = isinstance(inner, Typed) and is_integer(inner.type) != is_integer(node.type)
        return self._made(Kind.CONVERT, operand) if changes else operand

    def _looped(self, node: Expression) -> int | None:
        before = len(self.operations), self.software, self.accesses
        for child in node.children:
            self.value(child)
        self.software += (_INNER_TURNS - 1) * (
            2 * (len(self.operations) - before[0]) + self.software - before[1]
        )
        self.accesses += (_INNER_TURNS - 1) * (self.accesses - before[2])
        return None

    def _call(self, node: Call) -> int | None:
        found = [self.value(argument) for argument in node.arguments]
        cycles = self.machine.library.cycles(node.function)
        if node.function.rstrip("f") in ("sqrt", "fabs"):
            return self._made(Kind.DIVIDE if "sqrt" in node.function else Kind.COMPARE, *found)
        self.software += cycles
        return self._made(Kind.FLOAT, *found)

    def _binary(self, operator: str, computed: ElementType, *operands: int | None) -> int | None:
        if is_integer(computed):
            if operator in ("/", "%"):
                self.software += self.machine.compute.integer_divide_cycles
            return self._made(Kind.MULTIPLY if operator == "*" else Kind.INTEGER, *operands)
        if operator in ("/",):
            return self._made(Kind.DIVIDE, *operands)
        if operator not in ("+", "-", "*"):
            return self._made(Kind.COMPARE, *operands)
        if operator in ("+", "-"):
            for operand in operands:
                melted = self._melted(operand, operands)
                if melted is not None:
                    return melted
        return self._made(Kind.FLOAT, *operands, product=operator == "*")

    def _melted(self, product: int | None, operands: tuple[int | None, ...]) -> int | None:
        """Make a product that only this sum reads part of the sum; return its number."""
        if product is None or self.sums.get(product) is None or product != len(self.operations) - 1:
            return None
        others = [o for o in operands if o is not None and o != product]
        self.operations[product] = Operation(Kind.FLOAT, (*self.operations[product].sources, *others))
        del self.sums[product]
        return product

    def _made(self, kind: Kind, *sources: int | None, product: bool = False) -> int:
        known = tuple(s for s in sources if s is not None)
        self.operations.append(Operation(kind, known))
        number = len(self.operations) - 1
        if product:
            self.sums[number] = known
        return number

    # --- accesses -----------------------------------------------------------------------------------

    def _load(self, ref: int) -> int | None:
        reads = (a for a in self.statement.accesses if a.kind is AccessKind.READ)
        access = next((a for a in reads if a.ref == ref), None)
        if access is None:
            return None
        if ref in self.direct:
            self.accesses += self.times
            return None
        place = self._place(ref)
        if place in self.stored:
            return self.stored[place]
        if place not in self.loaded:
            self.loaded[place] = self._made(Kind.LOAD)
            if access.affine:
                self.read[self.loaded[place]] = _index(access)
            self.free |= {self.loaded[place]} if self._in_register(access.array) else set()
        return self.loaded[place]

    def _in_register(self, name: str) -> bool:
        return name in self.registers or self.scop.array(name).is_scalar

    def _assign(self, node: Assignment) -> int | None:
        value = self.value(node.value)
        if node.operator != "=":
            value = self._binary(node.operator.rstrip("="), node.computed, self.value(node.target), value)
        return self._store(node.target, value)

    def _store(self, target: Expression, value: int | None) -> int | None:
        if not isinstance(target, AccessRef):
            return value
        access = next(a for a in self.statement.accesses if a.ref == target.ref)
        if target.ref in self.direct:
            self.accesses += self.times
            return value
        place = self._place(target.ref)
        if not self._in_register(access.array):
            self.stores[place] = self._made(Kind.STORE, value)
            if access.affine:
                self.written[self.stores[place]] = _index(access)
        if value is not None:
            self.stored[place] = value
        return value

    def _place(self, ref: int) -> str:
        """Return a name for what a reference leads to: equal for equal subscripts."""
        access = next(a for a in self.statement.accesses if a.ref == ref)
        if self._in_register(access.array):
            self.fixed.add(access.array)
            return access.array
        if not access.affine:
            return f"{access.array} #{ref}"
        index = _index(access)
        place = f"{access.array} {index}"
        if self.inner is not None and not index.involves_dims(isl.dim_type.in_, self.inner.iterator, 1):
            self.fixed.add(place)
        return place


def _index(access: Access) -> isl.PwMultiAff:
    """Return the element of each instance that an affine access leads to."""
    return isl.PwMultiAff.from_map(access.relation).gist(access.relation.domain())


def _a_turn_later(index: isl.PwMultiAff, inner: Inner) -> isl.PwMultiAff:
    """Return the elements ``index`` of the instances one turn of ``inner`` later, from instances."""
    space = index.domain().get_space()
    same = isl.MultiAff.identity(space.map_from_set())
    turn = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space))
    turn = turn.set_constant_val(isl.Val(1 if inner.upwards else -1))
    later = same.set_aff(inner.iterator, same.get_aff(inner.iterator).add(turn))
    return index.pullback_multi_aff(later)
