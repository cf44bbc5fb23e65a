# ruff: noqa: E501 (C text is easier to read in one line)
"""Random regions over the signature of :mod:`region_program`, free of undefined behaviour for its sizes.

Every generated index stays inside its array for all ``0 <= n, m <= 20``: expressions carry the
interval of their values, and whatever could leave an array is folded back with ``%``.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

__all__ = ["random_region"]

LIMIT = 20
SIZES = {"x": 80, "y": 2000, "f": 200, "cnt": 200, "table": 64}


@dataclass(frozen=True)
class Term:
    """An integer expression and the interval of its values."""

    text: str
    low: int
    high: int


@dataclass
class _Scope:
    terms: list[Term]
    tracked: list[str] = field(default_factory=list)
    doubles: list[str] = field(default_factory=list)
    depth: int = 0
    counters: tuple[str, ...] = ()


class _Generator:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = 0
        self.outer: list[str] = []
        self.budget = 18

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    # -- expressions ----------------------------------------------------------------------------

    def affine(self, scope: _Scope, size: int = 2) -> Term:
        """Return a random quasi-affine expression."""
        pick = self.random.random()
        if size == 0 or pick < 0.35:
            if self.random.random() < 0.25:
                value = self.random.randint(-3, 7)
                return Term(str(value), value, value)
            return self.random.choice(scope.terms)
        left = self.affine(scope, size - 1)
        if pick < 0.6:
            right = self.affine(scope, size - 1)
            if self.random.random() < 0.5:
                return Term(f"({left.text} + {right.text})", left.low + right.low, left.high + right.high)
            return Term(f"({left.text} - {right.text})", left.low - right.high, left.high - right.low)
        if pick < 0.75:
            factor = self.random.choice([2, 3, -1, -2])
            ends = sorted((left.low * factor, left.high * factor))
            return Term(f"({factor} * {left.text})", *ends)
        if pick < 0.88:
            divisor = self.random.choice([2, 3, 4, -2])
            if self.random.random() < 0.5:
                bound = max(abs(left.low), abs(left.high)) // 2
                return Term(f"({left.text} / {divisor})", -bound, bound)
            return Term(f"({left.text} % {divisor})", 1 - abs(divisor), abs(divisor) - 1)
        if pick < 0.94:
            right = self.affine(scope, size - 1)
            name = self.random.choice(["min", "max"])
            low, high = (min, max) if name == "min" else (max, max)
            return Term(
                f"{name}({left.text}, {right.text})", low(left.low, right.low), high(left.high, right.high)
            )
        right = self.affine(scope, size - 1)
        cond = self.condition(scope, 0)
        return Term(
            f"({cond} ? {left.text} : {right.text})", min(left.low, right.low), max(left.high, right.high)
        )

    def index(self, scope: _Scope, size: int) -> str:
        """Return an expression inside [0, size)."""
        term = self.affine(scope)
        if term.low >= 0 and term.high < size:
            return term.text
        if term.high - term.low < size and self.random.random() < 0.8:
            offset = -term.low + self.random.randint(0, size - 1 - (term.high - term.low))
            return f"{term.text} + {offset}" if offset >= 0 else f"{term.text} - {-offset}"
        return f"(({term.text} % {size}) + {size}) % {size}"

    def condition(self, scope: _Scope, size: int = 1) -> str:
        pick = self.random.random()
        if size and pick < 0.3:
            op = self.random.choice(["&&", "||"])
            return f"({self.condition(scope, size - 1)} {op} {self.condition(scope, size - 1)})"
        if size and pick < 0.4:
            return f"!({self.condition(scope, size - 1)})"
        if pick < 0.55:
            return f"{self.affine(scope, 1).text} % {self.random.choice([2, 3, 4])} == {self.random.randint(-1, 2)}"
        op = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"{self.affine(scope, 1).text} {op} {self.affine(scope, 1).text}"

    def element(self, scope: _Scope) -> str:
        """Return a random double or float element."""
        pick = self.random.random()
        if pick < 0.2:
            return f"B[{self.index(scope, 60)}][{self.index(scope, 60)}]"
        if pick < 0.3:
            row = self.index(_Scope([Term("n", 0, LIMIT)]), 5) if self.random.random() < 0.1 else "2"
            return f"A[{row}][{self.random.randint(0, 4)}]"
        if pick < 0.4:
            a, b = self.index(scope, 40), self.index(scope, 20)
            return f"y[({a}) * 20 + {b}]"
        if pick < 0.46:
            return f"x[idx[{self.index(scope, 200)}]]"
        if pick < 0.52:
            return f"s->w[{self.index(scope, 40)}]"
        name = self.random.choice(["x", "y", "f", "table", "x"])
        return f"{name}[{self.index(scope, SIZES[name])}]"

    def value(self, scope: _Scope, size: int = 2) -> str:
        pick = self.random.random()
        if size == 0 or pick < 0.4:
            if scope.doubles and self.random.random() < 0.3:
                return self.random.choice(scope.doubles)
            if self.random.random() < 0.2:
                return self.affine(scope, 1).text
            return self.element(scope)
        if pick < 0.5:
            test = self.condition(scope, 0) if self.random.random() < 0.6 else f"{self.element(scope)} > 1"
            return f"({test} ? {self.value(scope, size - 1)} : {self.value(scope, size - 1)})"
        if pick < 0.56:
            return f"(double){self.affine(scope, 1).text} / 3"
        if pick < 0.6:
            return f"fabs({self.value(scope, size - 1)})"
        op = self.random.choice(["+", "-", "*"])
        right = self.value(scope, size - 1) if op != "*" else "0.5"
        text = f"{self.value(scope, size - 1)} {op} {right}"
        return f"({text})" if self.random.random() < 0.6 else text

    # -- statements -----------------------------------------------------------------------------

    def block(self, scope: _Scope, count: int) -> list[str]:
        inner = _Scope(
            list(scope.terms), list(scope.tracked), list(scope.doubles), scope.depth, scope.counters
        )
        lines: list[str] = []
        for _ in range(count):
            lines += self.statement(inner)
        return lines

    def statement(self, scope: _Scope) -> list[str]:
        pick = self.random.random()
        self.budget -= 1
        if pick < 0.34 and scope.depth < 3 and self.budget > 0:
            return self.loop(scope)
        if pick < 0.48 and self.budget > 0:
            return self.branch(scope)
        if pick < 0.56:
            return self.scalar(scope)
        if pick < 0.62:
            index = self.index(scope, 200)
            return [self.random.choice([f"cnt[{index}]++;", f"cnt[{index}] += {self.affine(scope).text};"])]
        if pick < 0.66 and scope.doubles:
            return [
                f"{self.random.choice(scope.doubles)} {self.random.choice(['=', '+=', '-='])} {self.value(scope)};"
            ]
        op = self.random.choice(["=", "=", "+=", "-=", "*="])
        value = self.value(scope) if op != "*=" else "0.75"
        return [f"{self.element(scope)} {op} {value};"]

    def scalar(self, scope: _Scope) -> list[str]:
        if self.random.random() < 0.5:
            name = self.name("t")
            line = f"double {name} = {self.value(scope)};"
            scope.doubles.append(name)
            return [line]
        term = self.affine(scope)
        if abs(term.low) > 1000 or abs(term.high) > 1000:
            return []
        if scope.tracked and self.random.random() < 0.0:
            return []
        name = self.name("k")
        scope.terms.append(Term(name, term.low, term.high))
        return [f"int {name} = {term.text};"]

    def branch(self, scope: _Scope) -> list[str]:
        cond = (
            self.condition(scope)
            if self.random.random() < 0.7
            else f"{self.element(scope)} > {self.value(scope, 0)}"
        )
        lines = [f"if ({cond}) {{", *self.block(scope, self.random.randint(1, 2)), "}"]
        if self.random.random() < 0.5:
            lines += ["else {", *self.block(scope, self.random.randint(1, 2)), "}"]
        return lines

    def loop(self, scope: _Scope) -> list[str]:
        low = self.affine(scope, 1)
        if abs(low.low) > 60 or abs(low.high) > 60:
            low = Term("0", 0, 0)
        high = self.affine(scope, 1)
        if abs(high.low) > 60 or abs(high.high) > 60:
            high = Term("n", 0, LIMIT)
        step = self.random.choice([1, 1, 1, 2, 3, 5])
        down = self.random.random() < 0.35
        kind, name = self.counter(scope)
        start, end = (high, low) if down else (low, high)
        op = self.random.choice([">", ">="] if down else ["<", "<="])
        cond = f"{name} {op} {end.text}"
        if self.random.random() < 0.15:
            cond = f"{end.text} {'<' if down else '>'} {name}"
        if self.random.random() < 0.12:
            cond += f" && {name} != {self.random.randint(0, 9)}"
        sign = "-" if down else "+"
        forms = [f"{name} {sign}= {step}", f"{name} = {name} {sign} {step}"]
        forms += [f"{name}{sign}{sign}", f"{sign}{sign}{name}"] if step == 1 else []
        head = f"for ({kind}{name} = {start.text}; {cond}; {self.random.choice(forms)}) {{"
        term = Term(name, min(low.low, high.low), max(low.high, high.high))
        inner = _Scope(
            [*scope.terms, term, term],
            list(scope.tracked),
            list(scope.doubles),
            scope.depth + 1,
            (*scope.counters, name),
        )
        lines = [head, *self.block(inner, self.random.randint(1, 3)), "}"]
        if not kind and self.random.random() < 0.3:
            lines.append(f"x[{self.random.randint(60, 79)}] = {name};")
        return lines

    def counter(self, scope: _Scope) -> tuple[str, str]:
        """Return (declaration, name) of a loop counter."""
        if self.random.random() < 0.3:
            free = [name for name in ("i", "j", "k", "l2") if name not in scope.counters]
            name = self.random.choice(free)
            self.outer.append(name)
            return "", name
        return self.random.choice(["int ", "int ", "long ", "short "]), self.name("c")


def random_region(seed: int) -> tuple[str, str]:
    """Return (text before the region, region) for a seed."""
    generator = _Generator(seed)
    scope = _Scope([Term("n", 0, LIMIT), Term("m", 0, LIMIT), Term("n", 0, LIMIT)], doubles=["acc"])
    lines = generator.block(scope, generator.random.randint(2, 4))
    return "int i = 0, j = 0, k = 0, l2 = 0; double acc = 1.5;", "\n".join(lines)
