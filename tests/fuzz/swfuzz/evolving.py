"""Draws programs that change arrays in place, again and again in a loop, by what other iterations computed.

Tiles of the arrays may stay in the LDMs meanwhile; what CPEs need of each other goes by main memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

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

__all__ = ["random_evolution", "staying_options"]


@dataclass(slots=True)
class _Evolving:
    """Draws the steps of one program on matrices of ``n + 2`` rows and ``m + 2`` columns, and vectors."""

    random: Random
    integers: bool = False
    matrices: tuple[str, ...] = ("a",)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def one_of(self, *values: int) -> int:
        return self.random.choice(values)

    def at(self, matrix: str, row: Linear, column: Linear) -> Ref:
        return Ref(matrix, (Index(row), Index(column)))

    def number(self) -> Expr:
        return Number(
            str(self.one_of(1, 2, 3)) if self.integers else self.random.choice(("0.5", "0.25", "1.5"))
        )

    def read(self, own: str) -> Expr:
        """Return something that iteration (i, j) of step t may read, but not change."""
        i, j, t = (variable(name) for name in "ijt")
        other = self.random.choice(self.matrices)
        choices = [
            self.at(own, i, t),
            self.at(own, t, j),
            self.at(own, t, t),
            self.at(other, t, j),
            self.at(other, i, t),
            Ref("u", (Index(i),)),
            Ref("v", (Index(j),)),
            Ref("v", (Index(t),)),
        ]
        return self.random.choice(choices)

    def value(self, old: Expr, own: str) -> Expr:
        """Return a new value from the ``old`` one and others."""
        i, j, t = (variable(name) for name in "ijt")
        other: Expr = self.read(own)
        if self.chance(0.85):  # else steps may run in tiles over time
            other = self.random.choice((self.at(own, i, t), self.at(own, t, j)))
        if self.chance(0.6):
            other = Binary(self.random.choice("+-" if self.integers else "*+-"), other, self.read(own))
        found = Binary(self.random.choice("+-"), old, Binary("*", other, self.number()))
        return Binary("%", found, Number("1009")) if self.integers else found

    def loop(self, counter: str, size: str, body: tuple[Statement, ...]) -> Loop:
        """Return a loop over rows or columns: all, those behind step t, those before it, or some."""
        t, end = variable("t"), variable(size)
        low, high = self.random.choice(
            (
                (constant(0), end),
                (constant(0), end),
                (t + 1, end),
                (t + 1, end),
                (t, end),
                (constant(0), t),
                (constant(1), end - 1),
            )
        )
        return Loop(counter, (low,), (high,) if self.chance(0.9) else (high, end), 1, False, 0, body)

    def sweep(self) -> Statement:
        """Return loops that change a matrix in place, often but for the row and the column of the step."""
        i, j, t = (variable(name) for name in "ijt")
        own = self.random.choice(self.matrices)
        target = self.at(own, i, j) if self.chance(0.9) else self.at(own, i + 1, j + 1)
        item: Statement = Assign(target, "=", self.value(target, own))
        tests = [Test((Atom(i - t, "!=", 0),))] if self.chance(0.5) else []
        tests += [Test((Atom(j - t, "!=", 0),))] if self.chance(0.5) else []
        for test in tests:
            item = If(test, (item,))
        return self.loop("i", "n", (self.loop("j", "m", (item,)),))

    def line(self) -> Statement:
        """Return a loop along a row or a column of the step, or over a vector."""
        own, t = self.random.choice(self.matrices), variable("t")
        if self.chance(0.5):
            counter, size, place = "j", "m", self.at(own, t, variable("j"))
            other: Expr = Ref("v", (Index(variable("j")),))
        else:
            counter, size, place = "i", "n", self.at(own, variable("i"), t)
            other = Ref("u", (Index(variable("i")),))
        target, value = (place, other) if self.chance(0.5) else (other, place)
        found: Expr = Binary("+", Binary("*", value, self.number()), Number("1"))
        found = Binary("%", found, Number("1009")) if self.integers else found
        return self.loop(counter, size, (Assign(target, "=", found),))

    def product(self) -> Statement:
        """Return loops that add a matrix times a vector, as it is or transposed, to another vector."""
        own = self.random.choice((*self.matrices, "c"))
        row, column = Ref("u", (Index(variable("i")),)), Ref("v", (Index(variable("j")),))
        target, other = (row, column) if self.chance(0.6) else (column, row)
        scaled = Binary("*", other, Number("3" if self.integers else "0.03125"))
        found: Expr = Binary("+", target, Binary("*", self.at(own, variable("i"), variable("j")), scaled))
        found = Binary("%", found, Number("1009")) if self.integers else found
        return self.loop("i", "n", (self.loop("j", "m", (Assign(target, "=", found),)),))

    def step(self) -> Statement:
        """Return one of the loops of a step."""
        return self.random.choice((self.line, self.line, self.sweep, self.product))()

    def program(self) -> Program:
        self.integers = self.chance(0.3)
        self.matrices = ("a",) if self.chance(0.7) else ("a", "b")
        body: list[Statement] = [self.sweep() if self.chance(0.8) else self.product()]
        for _ in range(self.one_of(0, 1, 1, 2, 2)):
            body.insert(self.random.randrange(len(body) + 1), self.step())
        n, m = variable("n"), variable("m")
        limits = ((constant(0), n), (constant(0), n), (constant(0), constant(3)), (constant(1), n))
        low, high = self.random.choice(limits)
        kind = "int" if self.integers else self.random.choice(("double", "double", "float"))
        large = n + m + 2
        arrays = tuple(Array(name, kind, (large, large)) for name in (*self.matrices, "c"))  # type: ignore[arg-type]
        vectors = tuple(Array(name, kind, (large,)) for name in "uv")  # type: ignore[arg-type]
        return Program(
            ("n", "m"), (*arrays, *vectors), (Loop("t", (low,), (high,), 1, False, 0, tuple(body)),)
        )


def random_evolution(random: Random) -> Program:
    """Return a valid program with options under which tiles may stay."""
    while True:
        program = _Evolving(random).program()
        if is_valid(program):
            return replace(program, options=staying_options(random, program))


def staying_options(random: Random, program: Program) -> dict[str, object]:
    """Return the fields of random KernelOptions under which tiles may stay, of which some may not fit."""
    options: dict[str, object] = {"resident": "always"}
    if random.random() < 0.7:
        options["ldm_budget"] = random.choice((512, 1024, 2048, 4096, 8192))
    if random.random() < 0.3:
        options["fusion"] = "min"
    if random.random() < 0.2:
        options["vectorize"] = "never"
    if random.random() < 0.2:
        options["prefetch"] = "never"
    if random.random() < 0.1:
        options["params"] = {program.sizes[0]: random.choice((2, 7, 33))}
    return options
