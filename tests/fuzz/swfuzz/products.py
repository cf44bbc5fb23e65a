"""Draws programs in which many iterations read the same: products of arrays that each miss some of the loops.

Most boxes of their kernels are needed by a row of the mesh, by a column or by all CPEs alike, so that one CPE
may get them for others.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from swfuzz.grammar import random_grid
from swfuzz.linear import Linear, constant, variable
from swfuzz.program import (
    Array,
    Assign,
    Atom,
    Binary,
    Expr,
    If,
    Index,
    Loop,
    Number,
    Program,
    Ref,
    Statement,
    Test,
    is_valid,
)

__all__ = ["random_product", "random_triangle", "sharing_options"]

_COUNTERS = "ijkl"
_TYPES = ("double", "double", "double", "float", "float", "int", "long", "short")


@dataclass(slots=True)
class _Products:
    """Draws the nests of one program; ``arrays`` grows with them.

    ``slanted`` is the probability that a loop around an inner one tells where that begins or ends.
    """

    random: Random
    slanted: float = 0.12
    arrays: list[Array] = field(default_factory=list)
    limits: dict[str, Linear] = field(default_factory=dict)
    own: str = "i"
    inner: str = "k"

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def one_of(self, *values: int) -> int:
        return self.random.choice(values)

    def loop(self, counter: str, outer: str, body: tuple[Statement, ...]) -> Loop:
        """Return a loop with the limit of ``counter``; some begin or end with one of the ``outer`` ones."""
        low, high = constant(self.one_of(0, 0, 0, 0, 1, 2)), (self.limits[counter],)
        if outer and self.chance(self.slanted):
            other = variable(self.random.choice(outer)) + self.one_of(0, 1, 1)
            if self.chance(0.4):
                low = other
            else:
                high = (self.limits[counter], other)
        step = self.one_of(1, 1, 1, 1, 1, 1, 1, 2, 3)
        return Loop(counter, (low,), high, step, self.chance(0.06), 0, body)

    def named(self, name: str, type_: str, counters: str, written: bool = False) -> Ref:
        """Return an element of a new array, found by ``counters``, perhaps a few elements ahead."""
        ahead = [0 if written else self.one_of(0, 0, 0, 0, 1, 2) for _ in counters]
        extents = tuple(
            self.limits[c] + k + self.one_of(0, 0, 1, 3) for c, k in zip(counters, ahead, strict=True)
        )
        flat = self.random.choice(("nested", "expanded")) if len(counters) > 1 and self.chance(0.1) else ""
        self.arrays.append(Array(name, type_, extents, flat))  # type: ignore[arg-type]
        return Ref(name, tuple(Index(variable(c) + k) for c, k in zip(counters, ahead, strict=True)))

    def factor(self, number: str, loops: str, integers: bool) -> Expr:
        """Return an element that some of ``loops`` find, in any order."""
        if len(loops) > 1 and self.chance(0.85):
            loops = loops.replace(self.random.choice(self.own), "") or loops
        count = self.random.choice([k for k in (1, 1, 2, 2, 2, 3) if k <= len(loops)])
        counters = self.random.sample(loops, count)
        if self.inner in loops and self.inner not in counters and self.chance(0.6):
            counters[self.random.randrange(count)] = self.inner
        known = [a for a in self.arrays if len(a.dims) == count and a.name[0] + a.name[-1] != f"c{number[0]}"]
        known = [a for a in known if not integers or a.type in ("int", "short")]
        if known and self.chance(0.25):
            array = self.random.choice(known)
            found, type_ = Ref(array.name, tuple(Index(variable(c)) for c in counters)), array.type
        else:
            type_ = self.random.choice([t for t in _TYPES if not integers or t in ("int", "short")])
            found = self.named(f"a{number}", type_, "".join(counters))
        return Binary("%", found, Number("13")) if type_ in ("int", "short", "long") else found

    def value(self, number: str, loops: str, integers: bool) -> Expr:
        """Return a product or a sum of factors."""
        found = self.factor(f"{number}0", loops, integers)
        for k in range(1, self.one_of(1, 2, 2, 2, 2, 3, 4)):
            other = self.factor(f"{number}{k}", loops, integers)
            found = Binary(self.random.choice("***+-"), found, other)
        return found

    def guarded(self, loops: str, item: Statement) -> Statement:
        """Return ``item``, sometimes under a condition on counters and sizes."""
        if not self.chance(0.1):
            return item
        counter = variable(self.random.choice(loops))
        if self.chance(0.3):
            return If(Test((Atom(counter, "==", 2, 1),)), (item,))
        other = self.random.choice((variable("n"), variable("m"), constant(3), variable(loops[0])))
        return If(
            Test((Atom(counter - other + self.one_of(0, 1, 2), self.random.choice(("<", ">=", "!="))),)),
            (item,),
        )

    def nest(self, number: int) -> Statement:
        """Return loops over the elements of a new array, with loops inside over what is added to each."""
        depth = self.one_of(2, 3, 3, 3, 3, 3, 3, 4)
        loops = _COUNTERS[:depth]
        sizes = (variable("n"), variable("m"), variable("n"), variable("m"), constant(self.one_of(3, 9, 17)))
        self.limits = {c: self.random.choice(sizes) + self.one_of(0, 0, 0, -1, -2) for c in loops}
        own = self.own = loops[: min(self.one_of(1, 2, 2, 2, 3), depth - 1)]
        self.inner = loops[-1]
        integers = self.chance(0.1)
        target = self.named(
            f"c{number}", "int" if integers else self.random.choice(("double", "float")), own, True
        )
        sums: Statement = Assign(
            target, self.random.choice(("+=", "+=", "-=")), self.value(str(number), loops, integers)
        )
        if integers:
            assert isinstance(sums, Assign)
            sums = replace(sums, op="=", value=Binary("%", sums.value, Number("1000")))
        body: tuple[Statement, ...] = (self.guarded(loops, sums),)
        for k in reversed(range(len(own), depth)):
            body = (self.loop(loops[k], loops[:k], body),)
        if self.chance(0.3):
            first: Expr = Number("0.5") if not integers else Number("3")
            first = self.factor(f"{number}9", own, integers) if self.chance(0.4) else first
            body = (Assign(target, self.random.choice(("=", "=", "+=")), first), *body)
        if self.chance(0.2):
            body = (*body, Assign(target, "+=", self.factor(f"{number}8", own, integers)))
        for k in reversed(range(len(own))):
            body = (self.loop(loops[k], loops[:k], body),)
        return body[0]

    def program(self) -> Program:
        body: tuple[Statement, ...] = tuple(self.nest(k) for k in range(self.one_of(1, 1, 1, 2, 2, 3)))
        if self.chance(0.15):
            body = (Loop("t", (constant(0),), (constant(2),), 1, False, 0, body),)
        return Program(("n", "m"), tuple(self.arrays), body)


def random_product(random: Random) -> Program:
    """Return a valid program with options that let CPEs share."""
    while True:
        program = _Products(random).program()
        if is_valid(program):
            return replace(program, options=sharing_options(random, program))


def random_triangle(random: Random) -> Program:
    """Return the same as :func:`random_product`, with half of the inner loops over triangles."""
    while True:
        program = _Products(random, 0.5).program()
        if is_valid(program):
            return replace(program, options=sharing_options(random, program))


def sharing_options(random: Random, program: Program) -> dict[str, object]:
    """Return the fields of random KernelOptions under which tiles may be handed on."""
    options: dict[str, object] = {"share": "always" if random.random() < 0.9 else "auto"}
    pick = random.random()
    if pick < 0.75:
        options["threads"] = [8, 8]
    elif pick < 0.85:
        rows = 2 ** random.randrange(7)
        options["threads"] = [rows, 64 // rows]
    elif pick < 0.9:
        options["threads"] = list(random_grid(random))
    if random.random() < 0.04:
        options["distribution"] = random.choice(("block", "joint"))
    if random.random() < 0.3:
        options["fusion"] = "min"
    if random.random() < 0.75:
        options["tile"] = [
            random.choice((1, 2, 3, 4, 5, 8, 16)) for _ in range(random.choice((1, 2, 3, 3, 4)))
        ]
    if random.random() < 0.2:
        options["ldm_budget"] = random.choice((512, 2048, 8192, 32768))
    if random.random() < 0.2:
        options["vectorize"] = "never"
    if random.random() < 0.3:
        options["prefetch"] = "never"
    if random.random() < 0.15:
        options["spawn"] = "kernel"
    if random.random() < 0.1:
        options["params"] = {program.sizes[0]: random.choice((2, 7, 33))}
    return options
