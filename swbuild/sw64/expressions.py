"""Constant expressions of assembly: numbers, constants by name, and symbols with an offset."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["Value", "evaluate", "number"]

_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)|([A-Za-z_.$][\w.$]*)|(<<|>>|&&|\|\||[=!<>]=|<>|[-+*/%&|^~!<>()]))"
)
#: As GNU as has them; what compares gives -1 or 0.
_LEVELS = (
    ("||",),
    ("&&",),
    ("+", "-", "==", "!=", "<>", "<", ">", "<=", ">="),
    ("|", "^", "&"),
    ("*", "/", "%", "<<", ">>"),
)
_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<>": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Value:
    """``symbol - minus + offset``; without symbols a number."""

    offset: int = 0
    symbol: str = ""
    minus: str = ""


class _Reader:
    def __init__(self, text: str, constants: Mapping[str, int]) -> None:
        self.constants = constants
        self.tokens: list[tuple[str, str, str]] = []
        at = 0
        while at < len(text.rstrip()):
            match = _TOKEN.match(text, at)
            if not match:
                raise ValueError(text)
            self.tokens.append((match[1] or "", match[2] or "", match[3] or ""))
            at = match.end()

    def level(self, k: int = 0) -> Value:
        if k == len(_LEVELS):
            return self.unary()
        left = self.level(k + 1)
        while self.tokens and self.tokens[0][2] in _LEVELS[k]:
            left = _combined(self.tokens.pop(0)[2], left, self.level(k + 1))
        return left

    def unary(self) -> Value:
        if not self.tokens:
            raise ValueError("an operand is missing")
        digits, name, mark = self.tokens.pop(0)
        if digits:
            octal = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
            return Value(int(digits, 8 if octal else 0))
        if name:
            return Value(self.constants[name]) if name in self.constants else Value(symbol=name)
        if mark == "(":
            inside = self.level()
            if not self.tokens or self.tokens.pop(0)[2] != ")":
                raise ValueError("a bracket is open")
            return inside
        if mark not in ("+", "-", "~", "!"):
            raise ValueError(mark)
        value = self.unary()
        if mark == "!":
            return Value(int(not _plain(value)))
        return value if mark == "+" else _combined("-", Value(-1 if mark == "~" else 0), value)


def _combined(mark: str, a: Value, b: Value) -> Value:
    if mark == "+" and not (a.symbol and b.symbol) and not (a.minus and b.minus):
        return Value(a.offset + b.offset, a.symbol or b.symbol, a.minus or b.minus)
    if mark == "-" and not b.minus and not (a.minus and b.symbol):
        return Value(a.offset - b.offset, a.symbol, a.minus or b.symbol)
    return Value(_arithmetic(mark, _plain(a), _plain(b)))


def _plain(value: Value) -> int:
    if value.symbol or value.minus:
        raise ValueError("an address where a number is needed")
    return value.offset


def _arithmetic(mark: str, a: int, b: int) -> int:
    if mark in ("/", "%"):
        if not b:
            raise ValueError("division by zero")
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if mark == "/" else a - b * quotient
    if mark in _COMPARISONS:
        return -1 if _COMPARISONS[mark](a, b) else 0
    if mark in ("&&", "||"):
        return int(bool(a and b) if mark == "&&" else bool(a or b))
    results = {"|": a | b, "^": a ^ b, "&": a & b, "*": a * b}
    return results[mark] if mark in results else (a << b if mark == "<<" else a >> b)


def evaluate(text: str, constants: Mapping[str, int]) -> Value | None:
    """Return the value of an expression; None for what is none, or no address plus an offset."""
    try:
        reader = _Reader(text, constants)
        value = reader.level()
    except ValueError:
        return None
    return None if reader.tokens or (value.minus and not value.symbol) else value


def number(text: str, constants: Mapping[str, int]) -> int | None:
    """Return the value of an expression without addresses, else None."""
    value = evaluate(text, constants)
    return value.offset if value and not value.symbol else None
