"""The text of an assembly file with its macros, repetitions, conditions and constants worked out.

What GNU as does when it reads: ``.macro`` with defaults, ``:req``, ``:vararg``, arguments by name, ``\\@``
and ``.exitm``; ``.rept``, ``.irp``, ``.irpc``; ``.if`` and its relatives; ``.set``, ``.equ`` and ``=``, whose
values count from where they stand on.  ``.altmacro`` is refused.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from swbuild.sw64.conditions import alternatives, holds
from swbuild.sw64.expressions import number
from swbuild.sw64.macros import (
    LABEL,
    Macro,
    Row,
    directive,
    formals,
    given,
    parts,
    rows,
    substituted,
    words,
)
from swbuild.sw64.syntax import Item, read, without_block_comments

__all__ = ["Expansion", "expand"]

_DEEPEST, _MOST = 100, 400_000
_ASSIGNED = re.compile(r"([A-Za-z_.$][\w.$]*)\s*==?(?!=)\s*(.*)", re.DOTALL)
_WORD = re.compile(r"(?<![\w.$\\!])[A-Za-z_.][\w.$]*")
_REPEATS = (".rept", ".rep", ".irp", ".irpc")
_SETS = (".set", ".equ", ".equiv")
#: Directives whose operands are numbers.
_NUMBERS = frozenset(
    (
        *(".byte", ".short", ".half", ".hword", ".2byte", ".4byte", ".8byte", ".word", ".long", ".int"),
        *(".quad", ".skip", ".space", ".zero", ".org", ".align", ".balign", ".p2align", ".fill"),
        *(".float", ".double"),
    )
)


@dataclass(slots=True)
class Expansion:
    """The statements in order, and what is wrong, each with its row."""

    rows: list[Row] = field(default_factory=list)
    problems: list[tuple[Row, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the text, a statement in each line."""
        return "\n".join(row.text for row in self.rows)

    def items(self) -> list[Item]:
        """Return the items with the lines that they come from."""
        return [replace(item, line=self.rows[item.line - 1].line) for item in read(self.text)]


def expand(text: str) -> Expansion:
    """Return what an assembly file comes to; lines count from 1."""
    found = [
        row
        for line, part in enumerate(without_block_comments(text).split("\n"), 1)
        for row in rows(part, line)
    ]
    expander = _Expander()
    with contextlib.suppress(_TooMany):
        expander.run(found, 0)
    return expander.made


class _Exit(Exception):
    """``.exitm``."""


class _TooMany(Exception):
    """There is more than is reasonable; a problem says so."""


class _Expander:
    def __init__(self) -> None:
        self.made = Expansion()
        self.macros: dict[str, Macro] = {}
        self.constants: dict[str, int] = {}
        self.labels: set[str] = set()
        self.calls = 0

    def run(self, body: Sequence[Row], depth: int) -> None:
        """Work out statements; ``depth`` counts the macros and repetitions around them."""
        k = 0
        while k < len(body):
            try:
                k = self._step(body, k, depth)
            except _TooMany:
                if depth or len(self.made.rows) >= _MOST:
                    raise
                k += 1

    def _step(self, body: Sequence[Row], k: int, depth: int) -> int:
        """Work out statement ``k`` and return the number of the next one."""
        row = self._behind_labels(body[k])
        name, rest = parts(row.text)
        if name in self.macros:
            self._call(self.macros[name], row, rest, depth)
        elif name == ".macro":
            return self._block(body, k, (".macro",), ".endm", lambda rows: self._define(row, rest, rows))
        elif name in _REPEATS:
            return self._block(
                body, k, _REPEATS, ".endr", lambda rows: self._repeat(row, name, rest, rows, depth)
            )
        elif name.startswith(".if"):
            return self._condition(body, k, row, name, rest, depth)
        elif name in _DIRECTIVES:
            _DIRECTIVES[name](self, row, rest, depth)
        elif found := _ASSIGNED.fullmatch(row.text.strip()):
            self._set(row, f"{found[1]}, {found[2]}", depth)
        elif row.text.strip():
            self._emit(row, name, rest)
        return k + 1

    def _behind_labels(self, row: Row) -> Row:
        text = row.text
        while match := LABEL.match(text):
            self.labels.add(match[1])
            self._add(Row(match[0], row.line, row.via))
            text = text[match.end() :]
        return Row(text, row.line, row.via)

    def _add(self, row: Row) -> None:
        if len(self.made.rows) >= _MOST:
            self._refuse(row, f"macros make more than {_MOST} statements")
            raise _TooMany
        self.made.rows.append(row)

    def _emit(self, row: Row, name: str, rest: str) -> None:
        """Add a statement with the values that constants have here."""
        if self.constants and rest and (name[0] != "." or name in _NUMBERS):
            head = row.text[: len(row.text) - len(row.text.lstrip()) + len(name)]
            row = Row(head + _WORD.sub(self._value, row.text[len(head) :]), row.line, row.via)
        self._add(row)

    def _value(self, match: re.Match[str]) -> str:
        value = self.constants.get(match[0])
        return match[0] if value is None else str(value) if value >= 0 else f"({value})"

    def _refuse(self, row: Row, text: str) -> None:
        self.made.problems.append((row, text))

    # ---- blocks ----

    def _block(
        self,
        body: Sequence[Row],
        k: int,
        opens: Sequence[str],
        closes: str,
        act: Callable[[Sequence[Row]], None],
    ) -> int:
        """Let ``act`` have what stands between a directive and its end; return what is behind."""
        depth = 0
        for j in range(k + 1, len(body)):
            word = directive(body[j])
            depth += (word in opens) - (word == closes)
            if depth < 0:
                act(body[k + 1 : j])
                return j + 1
        self._refuse(body[k], f"'{directive(body[k])}' has no '{closes}'")
        return len(body)

    def _define(self, row: Row, text: str, body: Sequence[Row]) -> None:
        match = re.match(r"\s*([^\s,(]+)[\s,]*(.*)", text, re.DOTALL)
        try:
            if not match:
                raise ValueError("'.macro' has no name")
            name = match[1].lower()
            if name in self.macros:
                raise ValueError(f"the macro '{match[1]}' is defined already")
            self.macros[name] = Macro(match[1], formals(match[2]), tuple(body))
        except ValueError as error:
            self._refuse(row, str(error))

    def _repeat(self, row: Row, name: str, rest: str, body: Sequence[Row], depth: int) -> None:
        sets = self._turns(row, name, rest)
        if depth >= _DEEPEST:
            self._refuse(row, "repetitions are nested too deeply")
            raise _TooMany
        with contextlib.suppress(_Exit):
            for arguments in sets:
                self.run(substituted(body, arguments) if arguments else body, depth + 1)

    def _turns(self, row: Row, name: str, rest: str) -> list[dict[str, str]]:
        """Return what stands for the parameter in each turn of a repetition."""
        if name in (".rept", ".rep"):
            count = self._number(row, rest)
            if count > _MOST:
                self._refuse(row, f"'{name}' repeats more than {_MOST} times")
                return []
            return [{}] * max(0, count)
        parameter, values = re.split(r"[\s,]+", f"{rest.strip()} ", maxsplit=1)
        found = words(values)
        if name == ".irpc":
            found = list("".join(found))
        return [{parameter.lstrip("\\"): value} for value in found or [""]]

    def _call(self, macro: Macro, row: Row, text: str, depth: int) -> None:
        if depth >= _DEEPEST:
            self._refuse(row, f"the macro '{macro.name}' calls itself without end")
            raise _TooMany
        try:
            arguments = given(macro, text)
        except ValueError as error:
            self._refuse(row, str(error))
            return
        self.calls += 1
        called = substituted(macro.body, arguments, (*row.via, (macro.name, row.line)), self.calls - 1)
        with contextlib.suppress(_Exit):
            self.run(called, depth + 1)

    # ---- conditions ----

    def _condition(self, body: Sequence[Row], k: int, row: Row, name: str, rest: str, depth: int) -> int:
        """Work out the part of a condition that holds; return what is behind it."""
        found, end = alternatives(body, k)
        if end is None:
            self._refuse(row, f"'{name}' has no '.endif'")
            return len(body)
        chosen = self._holds(row, name, rest)
        for begin, stop in found:
            word, text = parts(body[begin].text) if begin > k else (name, rest)
            if begin > k:
                chosen = word == ".else" or self._holds(body[begin], ".if", text)
            if chosen:
                self.run(body[begin + 1 : stop], depth)
                break
        return end + 1

    def _holds(self, row: Row, name: str, rest: str) -> bool:
        try:
            return holds(name, rest, self.constants, self.labels)
        except ValueError as error:
            self._refuse(row, str(error))
            return False

    def _number(self, row: Row, text: str) -> int:
        value = number(text, self.constants)
        if value is None:
            self._refuse(row, f"'{text.strip()}' is no number here")
        return value or 0

    # ---- other directives ----

    def _set(self, row: Row, rest: str, _: int) -> None:
        name, comma, text = rest.partition(",")
        value = number(text, self.constants) if comma else None
        if value is not None:
            self.constants[name.strip()] = value
            text = f" {value}"
        else:
            self.constants.pop(name.strip(), None)
        self._add(Row(f"\t.set\t{name}{comma}{text}", row.line, row.via))

    def _purge(self, row: Row, rest: str, _: int) -> None:
        if self.macros.pop(rest.strip().lower(), None) is None:
            self._refuse(row, f"there is no macro '{rest.strip()}'")

    def _exit(self, row: Row, _: str, depth: int) -> None:
        if depth:
            raise _Exit
        self._refuse(row, "'.exitm' stands outside of macros")

    def _error(self, row: Row, rest: str, _: int) -> None:
        self._refuse(row, rest.strip().strip('"') or "'.error'")

    def _ignore(self, row: Row, rest: str, depth: int) -> None:
        """Do nothing: the directive is what holds anyway."""

    def _unknown(self, row: Row, _: str, __: int) -> None:
        self._refuse(row, f"the directive '{directive(row)}' is not emulated")

    def _stray(self, row: Row, _: str, __: int) -> None:
        self._refuse(row, f"'{directive(row)}' has no begin")


_DIRECTIVES: dict[str, Callable[[_Expander, Row, str, int], None]] = {
    **dict.fromkeys(_SETS, _Expander._set),
    **dict.fromkeys((".endm", ".endr", ".endif", ".else", ".elseif"), _Expander._stray),
    **dict.fromkeys((".altmacro", ".include", ".incbin"), _Expander._unknown),
    ".noaltmacro": _Expander._ignore,
    ".purgem": _Expander._purge,
    ".exitm": _Expander._exit,
    ".error": _Expander._error,
    ".err": _Expander._error,
}
