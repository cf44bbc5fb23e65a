"""Draws random programs; every one of them is well-defined C for all sizes >= 0 by construction."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import Literal

from swfuzz.linear import Bounds, Linear, constant, variable
from swfuzz.program import (
    Array,
    Assign,
    Atom,
    Binary,
    Call,
    Continue,
    Counter,
    Expr,
    If,
    Index,
    Indexing,
    Local,
    LocalArray,
    Loop,
    Number,
    Program,
    Ref,
    Select,
    Statement,
    Test,
    Value,
    While,
    is_valid,
    loop_bounds,
    walk,
)

__all__ = ["random_options", "random_program"]

_COUNTERS = ("i", "j", "k", "l", "p", "q")
_FLOATS = ("double", "double", "double", "float")
_INTEGERS = ("int", "long", "unsigned int", "short", "unsigned char")


@dataclass(slots=True)
class _Scope:
    ranges: dict[str, Bounds] = field(default_factory=dict)
    arrays: list[Array] = field(default_factory=list)

    def inside(self, counter: str, bounds: Bounds) -> _Scope:
        return _Scope({**self.ranges, counter: bounds}, list(self.arrays))


class _Grammar:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = 0
        self.budget = random.choice((2, 3, 3, 4, 4, 5, 6, 9))  # how many statements of any kind
        self.depth = random.choice((1, 2, 2, 2, 3, 3, 3, 4))
        self.sizes = random.choice((("n",), ("n", "m"), ("n", "m")))
        self.calm = random.random() < 0.5  # simple subscripts only: more of it becomes parallel
        self.in_place = random.random() < 0.5
        self.dynamics = random.random() < 0.15  # whether some loops depend on data
        self.works = self.random.random() < 0.2  # whether iterations use arrays as work space
        self.parts = random.choice((0, 0, 0, 0, 1, 2))  # how many loops are written in two parts of one text
        self.indexing = self.random_indexing() if random.random() < 0.2 else None

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def random_indexing(self) -> Indexing:
        style: Literal["own", "shared", "hoisted", "rows", "strides"]
        style = self.random.choice(("own", "shared", "hoisted", "rows", "strides"))
        type_ = self.random.choice(("int", "int", "int", "long", "unsigned long", "unsigned int"))
        return Indexing(style, type_, self.chance(0.3))

    # -- arrays -----------------------------------------------------------------------------------

    def extent(self, dims: int) -> Linear:
        size = variable(self.random.choice(self.sizes))
        pick = self.random.random()
        if pick < 0.45:
            return size
        if pick < 0.75:
            return size + self.random.choice((1, 2, 3, 4))
        if pick < 0.85:
            return constant(self.random.choice((1, 3, 5, 8, 40)))
        if dims < 3 and pick < 0.95:
            return size * 2 + self.random.choice((0, 1, 3))
        if dims < 3 and len(self.sizes) > 1:
            return variable("n") + variable("m") + self.random.choice((0, 1))
        return size

    def array(self, number: int) -> Array:
        name = "ABCDEFG"[number]
        dims = self.random.choice((1, 2, 2, 2, 3))
        type_ = self.random.choice(_FLOATS) if self.chance(0.8) else self.random.choice(_INTEGERS)
        shape = tuple(self.extent(dims) for _ in range(dims))
        if self.chance(0.15):
            shape = (shape[0],) * dims
        flat: tuple[Literal["nested", "expanded"], ...] = ("nested", "expanded")
        linear = 0.08 if self.indexing is None else 0.6
        return Array(name, type_, shape, self.random.choice(flat) if self.chance(linear) else "")

    def scalar(self, number: int) -> Array:
        type_ = self.random.choice(("double", "double", "float", "int", "long"))
        return Array(f"s{number}", type_, ())

    # -- subscripts -------------------------------------------------------------------------------

    def form(self, scope: _Scope, wanted: str) -> Linear:
        """Return a random form over what is in sight, mostly about the counter ``wanted``."""
        counters = [wanted] if wanted and self.chance(0.85) else list(scope.ranges)
        if not counters or self.chance(0.06):
            return self.random.choice((constant(self.random.randint(0, 3)), variable(self.sizes[0]) + -1))
        first = variable(self.random.choice(counters))
        pick = self.random.random()
        if self.calm or pick < 0.6:
            offset = self.random.choice((0, 0, 0, 1, -1, 2, -2)) if self.chance(0.6) else 0
            return first + offset
        if pick < 0.72:
            return variable(self.random.choice(self.sizes)) - first + self.random.choice((-1, -1, 0, 1))
        if pick < 0.82:
            return first * 2 + self.random.choice((0, 0, 1, -1))
        if pick < 0.94:
            other = variable(self.random.choice(list(scope.ranges)))
            return (first + other if self.chance(0.6) else first - other) + self.random.choice((0, 0, 1, 2))
        return first + variable(self.random.choice(self.sizes))

    def index(self, scope: _Scope, extent: Linear, wanted: str = "") -> Index:
        """Return a subscript provably inside ``extent``, or one that is provably not outside of 0 .. 0."""
        for _ in range(12):
            form = self.form(scope, wanted)
            index = Index(form)
            if not self.calm and self.chance(0.1):
                index = Index(form, self.random.choice("%/?"), self.random.choice((1, 2, 3, 4)))
            if index.is_valid(scope.ranges) and index.bounds(scope.ranges).within(constant(0), extent + -1):
                return index
        for name in sorted(scope.ranges, key=lambda _: self.random.random()):
            index = Index(variable(name))
            if index.bounds(scope.ranges).within(constant(0), extent + -1):
                return index
        return Index(constant(0))

    def ref(self, scope: _Scope, arrays: list[Array]) -> Ref | None:
        """Return an access that is in bounds, to one of the arrays, or None."""
        for _ in range(4):
            array = self.random.choice(arrays)
            counters = list(scope.ranges)
            if self.chance(0.3):
                self.random.shuffle(counters)
            elif self.chance(0.5) and len(counters) > len(array.dims):
                counters = counters[-len(array.dims) :] if array.dims else []
            wanted = [counters[k % len(counters)] if counters else "" for k in range(len(array.dims))]
            ref = Ref(array.name, tuple(map(self.index, [scope] * len(wanted), array.dims, wanted)))
            if all(
                i.bounds(scope.ranges).within(constant(0), e + -1)
                for i, e in zip(ref.indices, array.dims, strict=True)
            ):
                return ref
        return None

    # -- values -----------------------------------------------------------------------------------

    def read(self, scope: _Scope, floating: bool) -> Expr:
        """Return a leaf; an integer one is small enough for sums and products of int."""
        pick = self.random.random()
        if pick < 0.1:
            return Number(
                self.random.choice(("0.5", "1.25", "3", "2.0f", "-1.5", "7") if floating else ("3", "7"))
            )
        if pick < 0.16 and scope.ranges:
            return Counter(variable(self.random.choice(list(scope.ranges))) + self.random.choice((0, 1, -2)))
        arrays = [a for a in scope.arrays if floating or a.type in _INTEGERS]
        fresh = [a for a in arrays if a.name.startswith("t") and a.name != "t"]
        if fresh and self.chance(0.5):
            arrays = fresh
        ref = self.ref(scope, arrays) if arrays else None
        if ref is None:
            return Number("2")
        return self.tame(ref, scope)

    def tame(self, ref: Ref, scope: _Scope) -> Expr:
        type_ = next(a.type for a in scope.arrays if a.name == ref.array)
        if type_ in ("double", "float"):
            return ref
        return Binary("%", ref, Number("13"))

    def expr(self, scope: _Scope, size: int, floating: bool) -> Expr:
        if size <= 0 or self.chance(0.15):
            return self.read(scope, floating)
        pick = self.random.random()
        if floating and pick < 0.06:
            return Call(
                self.random.choice(("fabs", "sqrt", "fabs")),
                Call("fabs", Binary("+", self.expr(scope, size - 1, True), Number("0.5"))),
            )
        if pick < 0.12 and scope.ranges:
            return Select(
                self.test(scope), self.expr(scope, size - 1, floating), self.expr(scope, size - 1, floating)
            )
        op = self.random.choice("+++--**")
        left, right = self.expr(scope, size - 1, floating), self.expr(scope, size - 1, floating)
        if op == "*":
            factors = ("0.5", "0.25", "3", "0.3") if floating else ("2", "3", "-1")
            right = Number(self.random.choice(factors)) if size > 1 else right
        return Binary(op, left, right)

    # -- statements -------------------------------------------------------------------------------

    def target(self, scope: _Scope) -> tuple[Ref, str] | None:
        arrays = [a for a in scope.arrays if a.dims] if self.chance(0.85) else scope.arrays
        ref = self.ref(scope, arrays or scope.arrays)
        if ref is None:
            return None
        return ref, next(a.type for a in scope.arrays if a.name == ref.array)

    def assign(self, scope: _Scope) -> Statement | None:
        found = self.target(scope)
        if found is None:
            return None
        ref, type_ = found
        floating = type_ in ("double", "float")
        value = self.expr(scope, self.random.choice((0, 1, 1, 2, 2, 3)), floating)
        if self.in_place and self.chance(0.4):
            near = self.neighbour(ref, scope)
            value = Binary(self.random.choice("+-"), self.tame(near, scope), value)
        op = "="
        if self.chance(0.35):
            op = self.random.choice(("+=", "+=", "-=", "*=") if floating else ("+=", "-="))
            if op == "*=":
                value = Number("0.75")
        if not floating:
            value = Binary("%", value, Number("11" if op == "=" else "3"))
        return Assign(ref, op, value)

    def neighbour(self, ref: Ref, scope: _Scope) -> Ref:
        """Return the same access with one subscript shifted if that stays in bounds."""
        array = next(a for a in scope.arrays if a.name == ref.array)
        for _ in range(4):
            if not ref.indices:
                break
            which = self.random.randrange(len(ref.indices))
            moved = replace(
                ref.indices[which], form=ref.indices[which].form + self.random.choice((-1, 1, -2, 2))
            )
            if moved.is_valid(scope.ranges) and moved.bounds(scope.ranges).within(
                constant(0), array.dims[which] + -1
            ):
                return replace(ref, indices=(*ref.indices[:which], moved, *ref.indices[which + 1 :]))
        return ref

    def atom(self, scope: _Scope) -> Atom:
        counters = list(scope.ranges)
        form = variable(self.random.choice(counters)) if counters else variable(self.sizes[0])
        if self.chance(0.3):
            return Atom(
                form + self.random.choice((0, 1)),
                self.random.choice(("==", "!=")),
                self.random.choice((2, 3, 4)),
                self.random.choice((0, 1)),
            )
        other = self.random.choice(
            [constant(self.random.randint(0, 9)), *map(variable, counters), *map(variable, self.sizes)]
        )
        if self.chance(0.15) and counters:
            form = form + variable(self.random.choice(counters))
        return Atom(
            form - other + self.random.choice((0, 0, 1, -1)),
            self.random.choice(("<", "<=", ">", ">=", "==", "!=")),
        )

    def test(self, scope: _Scope) -> Test:
        count = 2 if self.chance(0.25) else 1
        return Test(
            tuple(self.atom(scope) for _ in range(count)), self.random.choice(("&&", "||")), self.chance(0.1)
        )

    def value(self, scope: _Scope) -> Value | None:
        floats = [a for a in scope.arrays if a.type in ("double", "float")]
        ref = self.ref(scope, floats) if floats else None
        if ref is None:
            return None
        return Value(ref, self.random.choice("<>"), self.random.choice(("0.5", "0.7", "1.5")))

    def dynamic(self, scope: _Scope, depth: int) -> Statement | None:
        """Return a loop that data end."""
        self.names += 1
        counter, limit = f"w{self.names}", self.random.choice((1, 2, 3, 5))
        inner = scope.inside(counter, Bounds((constant(0),), (constant(limit - 1),)))
        test = self.value(inner)
        if test is None:
            return None
        body = self.block(inner, max(depth, self.depth - 1), self.random.choice((1, 1, 2)))
        return While(counter, limit, test, self.chance(0.4), body) if body else None

    def branch(self, scope: _Scope, depth: int) -> Statement | None:
        test: Test | Value = self.test(scope)
        if self.chance(0.15):
            test = self.value(scope) or test
        if self.chance(0.08):
            return If(test, (Continue(),))
        then = self.block(scope, depth, self.random.choice((1, 1, 2)))
        other = self.block(scope, depth, 1) if self.chance(0.35) else ()
        return If(test, then, other) if then else None

    def loop(self, scope: _Scope, depth: int) -> Statement | None:
        counter = _COUNTERS[len(scope.ranges)]
        outer = [variable(name) for name in scope.ranges]
        low = constant(self.random.choice((0, 0, 0, 1, 2, 3)))
        size = variable(self.random.choice(self.sizes))
        high = size + self.random.choice((0, 0, 0, 0, -1, -2, -3))
        if self.chance(0.08):
            high = constant(self.random.choice((2, 3, 5)))
        if outer and self.chance(0.3):
            bound = self.random.choice(outer) + self.random.choice((0, 1, 1, 2))
            if self.chance(0.5):
                low = bound
            else:
                high = bound
        lows, highs = (low,), (high,)
        if outer and self.chance(0.06):
            highs = (high, self.random.choice(outer) + self.random.choice((2, 4, 32)))
        step = self.random.choice((1, 1, 1, 1, 1, 1, 2, 3))
        shell = Loop(counter, lows, highs, step, self.chance(0.15), self.random.randrange(6), ())
        bounds = loop_bounds(shell, scope.ranges)
        if len(bounds.lows) > 3 or len(bounds.highs) > 3:
            bounds = Bounds(bounds.lows[:3], bounds.highs[:3])
        body = self.block(scope.inside(counter, bounds), depth + 1, self.random.choice((1, 1, 2, 2, 3)))
        return replace(shell, body=body) if body else None

    def local(self, scope: _Scope) -> Statement:
        self.names += 1
        if self.chance(0.25):
            counter = "z"
            extent = self.random.choice((2, 4, 5))
            inner = scope.inside(counter, Bounds((constant(0),), (constant(extent - 1),)))
            item = LocalArray(
                f"t{self.names}", self.random.choice(_FLOATS), extent, counter, self.expr(inner, 1, True)
            )
            scope.arrays.append(Array(item.name, item.type, (constant(extent),)))
            return item
        item2 = Local(f"t{self.names}", self.random.choice(_FLOATS), self.expr(scope, 1, True))
        scope.arrays.append(Array(item2.name, item2.type, ()))
        return item2

    def statement(self, scope: _Scope, depth: int) -> Statement | None:
        self.budget -= 1
        pick = self.random.random()
        if depth == 0 or (depth < self.depth and pick < 0.62 and self.budget > 0):
            return self.loop(scope, depth)
        if self.dynamics and 0 < len(scope.ranges) < 4 and self.budget > 0 and self.chance(0.3):
            return self.dynamic(scope, depth)
        if pick < 0.75 and self.budget > 0 and depth > 0:
            return self.branch(scope, depth)
        if pick < 0.8 and depth > 0:
            return self.local(scope)
        return self.assign(scope)

    def workspace(self, scope: _Scope) -> list[Statement]:
        """Return loops that fill an array, most often all of it, and loops that read it afterwards."""
        array = self.random.choice([a for a in scope.arrays if a.name.startswith("W")])
        inner, ref = self.places(array, scope)
        if self.chance(0.8):
            inner.arrays = [a for a in inner.arrays if not a.name.startswith("W")]
        loops = [self.over(array, scope, Assign(ref, "=", self.expr(inner, 1, True)))]
        if self.chance(0.3):
            test = self.value(inner) if self.chance(0.5) else self.test(inner)
            again = Assign(ref, "+=", self.expr(inner, 1, True))
            loops.append(self.over(array, scope, If(test, (again,)) if test is not None else again))
        found = self.target(inner)
        if found is not None and found[1] in ("double", "float"):
            read = self.neighbour(ref, replace(inner, arrays=scope.arrays))
            value = Binary("+", read, self.expr(inner, 1, True))
            loops.append(self.over(array, scope, Assign(found[0], "=", value)))
        return loops

    def places(self, array: Array, scope: _Scope) -> tuple[_Scope, Ref]:
        """Return what is in sight in loops over ``array``, and its element there."""
        counters = _COUNTERS[len(scope.ranges) :][: len(array.dims)]
        for counter, extent in zip(counters, array.dims, strict=True):
            scope = scope.inside(counter, Bounds((constant(0),), (extent + -1,)))
        return scope, Ref(array.name, tuple(Index(variable(counter)) for counter in counters))

    def over(self, array: Array, scope: _Scope, body: Statement) -> Statement:
        """Return ``body`` in loops over ``array``; one time in ten they leave out its first elements."""
        low = constant(1 if self.chance(0.1) else 0)
        counters = _COUNTERS[len(scope.ranges) :][: len(array.dims)]
        for counter, extent in reversed(list(zip(counters, array.dims, strict=True))):
            body = Loop(counter, (low,), (extent,), 1, self.chance(0.15), 0, (body,))
        return body

    def parted(self, item: Statement, scope: _Scope) -> list[Statement]:
        """Return a loop as two: up to a counter around it and from there on, often with more between them."""
        if not (self.parts and scope.ranges and isinstance(item, Loop)) or item.step != 1 or self.chance(0.3):
            return [item]
        self.parts -= 1
        cut = variable(self.random.choice(list(scope.ranges))) + self.random.choice((0, 0, 0, 1, -1))
        first, last = replace(item, highs=(*item.highs, cut)), replace(item, lows=(*item.lows, cut))
        between = self.assign(scope) if self.chance(0.5) else None
        return [first, last] if between is None else [first, between, last]

    def block(self, scope: _Scope, depth: int, count: int) -> tuple[Statement, ...]:
        inner = _Scope(dict(scope.ranges), list(scope.arrays))
        items = [self.statement(inner, depth) for i in range(count) if i == 0 or self.budget > 0]
        found = [item for item in items if item is not None]
        if self.works and 0 < len(scope.ranges) < 3 and self.chance(0.6):
            found = [*self.workspace(inner), *found]
        if self.parts:
            found = [part for item in found for part in self.parted(item, inner)]
        if not any(not isinstance(item, (Local, LocalArray)) for item in found):
            last = self.assign(inner)
            found += [last] if last is not None else []
        return tuple(found)

    def program(self) -> Program:
        arrays = [self.array(i) for i in range(self.random.choice((1, 2, 2, 3, 4)))]
        arrays += [self.scalar(i) for i in range(self.random.choice((0, 0, 1, 2)))]
        if self.works:
            shapes: tuple[tuple[int, ...], ...] = ((5,), (12,), (3, 4))
            arrays += [
                Array(f"W{i}", self.random.choice(_FLOATS), tuple(map(constant, self.random.choice(shapes))))
                for i in range(self.random.choice((1, 1, 2)))
            ]
        scope = _Scope({}, arrays)
        body = self.block(scope, 0, self.random.choice((1, 1, 2, 2, 3)))
        if self.chance(0.2):
            count = constant(self.random.choice((2, 3)))
            body = (Loop("t", (constant(0),), (count,), 1, False, 0, body),)
        return Program(self.sizes, tuple(arrays), body, {}, self.chance(0.1), self.indexing)


def _attempt(random: Random) -> Program | None:
    program = _Grammar(random).program()
    return program if is_valid(program) and _does_something(program) else None


def _does_something(program: Program) -> bool:
    """Return whether the region writes to what outlives it."""
    arrays = {a.name for a in program.arrays}
    return any(isinstance(item, Assign) and item.target.array in arrays for item in walk(program.body))


def random_program(random: Random) -> Program:
    """Return a valid program with random options."""
    while True:
        program = _attempt(random)
        if program is not None:
            return replace(program, options=random_options(random, program))


def random_grid(random: Random) -> tuple[int, int]:
    """Return a thread grid: half of them of all 64 CPEs, the others of any shape that fits."""
    if random.random() < 0.5:
        rows = 2 ** random.randrange(7)
        return rows, 64 // rows
    rows = random.randint(1, 64)
    shape = rows, random.randint(1, 64 // rows)
    return shape if random.random() < 0.5 else shape[::-1]


def random_options(random: Random, program: Program) -> dict[str, object]:
    """Return the fields of random KernelOptions (the machine belongs to the whole file)."""
    options: dict[str, object] = {}
    if random.random() < 0.6:
        options["threads"] = list(random_grid(random))
    if random.random() < 0.6:
        options["distribution"] = random.choice(("block", "joint"))
    if random.random() < 0.3:
        options["fusion"] = "min"
    if random.random() < 0.3:
        options["preset"] = "classic"
    if random.random() < 0.4:
        options["tile"] = [random.choice((1, 2, 3, 4, 8, 16, 32)) for _ in range(random.choice((1, 2, 2, 3)))]
    if random.random() < 0.2:
        options["ldm_budget"] = random.choice((2048, 8192, 32768))
    if random.random() < 0.2:
        options["vectorize"] = "never"
    if random.random() < 0.2:
        options["prefetch"] = "never"
    if random.random() < 0.1:
        options["params"] = {program.sizes[0]: random.choice((2, 7, 33))}
    if random.random() < 0.4:
        options["share"] = random.choice(("always", "always", "always", "never"))
    if random.random() < 0.4:
        options["resident"] = random.choice(("always", "always", "always", "never"))
    if random.random() < 0.4:
        options["turn"] = random.choice(("always", "always", "always", "never"))
    if random.random() < 0.15:
        options["typical"] = {size: random.choice((5, 40, 300, 3000)) for size in program.sizes}
    return options
