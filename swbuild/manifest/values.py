"""The kinds of value that only manifests have: sizes in columns, definitions, extents, sources."""

from __future__ import annotations

from math import prod
from typing import Any

from swbuild.classes import dataclass
from swbuild.machine import load, machine_names
from swbuild.manifest.kinds import (
    Integer,
    ListOf,
    MapOf,
    Quantity,
    Schema,
    Text,
    plain_text,
    trapped,
    union_schema,
    wrong_type,
)
from swbuild.manifest.nodes import ListNode, MapNode, Node, Scalar
from swbuild.manifest.problems import Problems
from swbuild.manifest.scalars import looks_like, trap
from swbuild.manifest.suggest import did_you_mean, listing

__all__ = ["BYTES", "IDENTIFIER", "INT", "SECONDS", "Defines", "Extent", "Shape", "Sizes"]

IDENTIFIER = Text("a C identifier", r"[A-Za-z_][A-Za-z0-9_]*", "letters, digits and '_', no digit first")
INT = Integer(-(2**31), 2**31 - 1)
BYTES = Quantity("a number of bytes", "B", (("B", 1), ("KiB", 1024), ("MiB", 1024**2)), "48KiB")
SECONDS = Quantity("a time", "s", (("s", 1), ("min", 60), ("h", 3600)), "90s")

_MACROS = ListOf(Text("a macro", r"[A-Za-z_][A-Za-z0-9_]*(=.*)?", "write NAME or NAME=value"), "macros")
_INTS = ListOf(INT, "integers", 1)


def _most_cpes() -> int:
    """Return the CPEs of the machine that has most of them."""
    return max(load(name).cpes for name in machine_names())


@dataclass(frozen=True, slots=True)
class MachineName:
    """The name of a machine, or a word that people write for it."""

    def load(self, node: Node, name: str, problems: Problems) -> str:
        names = machine_names()
        if isinstance(node, Scalar) and trap(node):
            raise trapped(node, name, problems, f"choose {listing(names, 'or')}")
        text = plain_text(node, name, self, problems)
        if text not in names:
            aliases = {alias: known for known in names for alias in load(known).aliases}
            hint = did_you_mean(text, names, aliases)
            raise problems.reject("SW107", f"{name}: there is no `{text}` to choose", node.span, hint)
        return text

    def schema(self) -> Schema:
        return {"enum": list(machine_names())}

    def describe(self) -> str:
        return "one of " + listing(machine_names(), "or")


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a thread grid on one of the machines, ``[rows, columns]``."""

    def load(self, node: Node, name: str, problems: Problems) -> tuple[int, int]:
        hint = "write a list of rows and columns, such as [8, 8]"
        if isinstance(node, Scalar) and trap(node):
            raise trapped(node, name, problems, hint)
        if not isinstance(node, ListNode):
            raise wrong_type(self, node, name, problems, hint)
        most = _most_cpes()
        values = ListOf(Integer(1, most), "integers").load(node, name, problems)
        if len(values) != 2:
            message = f"{name}: {list(values)} is no shape of a thread grid"
            raise problems.reject("SW107", message, node.span, hint)
        if prod(values) > most:
            message = f"{name}: {list(values)} are {prod(values)} threads, more than any machine has CPEs"
            raise problems.reject("SW107", message, node.span, f"rows times columns may be {most} at most")
        return values[0], values[1]

    def schema(self) -> Schema:
        side = {"type": "integer", "minimum": 1, "maximum": _most_cpes()}
        return {"type": "array", "items": side, "minItems": 2, "maxItems": 2}

    def describe(self) -> str:
        return "a list [rows, columns]"


@dataclass(frozen=True, slots=True)
class Extent:
    """An array's extent: an integer, or a C expression over the parameters."""

    def load(self, node: Node, name: str, problems: Problems) -> str:
        if isinstance(node, Scalar) and looks_like(node) == "integer":
            return str(Integer(1).load(node, name, problems))
        return plain_text(node, name, self, problems)

    def schema(self) -> Schema:
        return union_schema({"type": "integer", "minimum": 1}, {"type": "string"})

    def describe(self) -> str:
        return "an integer or a C expression"


@dataclass(frozen=True, slots=True)
class Defines:
    """Macros for the preprocessor, ``[NAME, NAME=value]`` or ``{NAME: value}``, as a tuple of the former."""

    def load(self, node: Node, name: str, problems: Problems) -> tuple[str, ...]:
        if not isinstance(node, MapNode):
            return _MACROS.load(node, name, problems)
        values = MapOf(IDENTIFIER, _Replacement(), "macros").load(node, name, problems)
        return tuple(f"{macro}={value}" if value else macro for macro, value in values.items())

    def schema(self) -> Schema:
        return union_schema(_MACROS.schema(), MapOf(IDENTIFIER, _Replacement(), "macros").schema())

    def describe(self) -> str:
        return "a list or a mapping of macros"


@dataclass(frozen=True, slots=True)
class _Replacement:
    """What a macro stands for: a number, a text, or nothing."""

    def load(self, node: Node, name: str, problems: Problems) -> str:
        sort = looks_like(node) if isinstance(node, Scalar) and not trap(node) else ""
        if isinstance(node, Scalar) and sort in {"integer", "number", "nothing"}:
            return "" if sort == "nothing" else node.text
        return plain_text(node, name, self, problems)

    def schema(self) -> Schema:
        return {"type": ["string", "number", "null"]}

    def describe(self) -> str:
        return "a number, a text or nothing"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes to check with, as a tuple of assignments.

    Either a list of assignments, ``[{n: 7, m: 9}, {n: 64, m: 65}]``, or the same in columns,
    ``{n: [7, 64], m: [9, 65]}``, where a single number serves every row.
    """

    def load(self, node: Node, name: str, problems: Problems) -> tuple[dict[str, int], ...]:
        if isinstance(node, MapNode):
            return self._columns(node, name, problems)
        if not isinstance(node, ListNode):
            raise wrong_type(self, node, name, problems, "write [{n: 64}] or {n: [7, 64]}")
        rows = ListOf(MapOf(IDENTIFIER, INT, "parameters"), "assignments", 1).load(node, name, problems)
        return tuple(rows)

    def _columns(self, node: MapNode, name: str, problems: Problems) -> tuple[dict[str, int], ...]:
        columns: dict[str, Any] = MapOf(IDENTIFIER, _Column(), "columns").load(node, name, problems)
        lengths = {key: len(column) for key, column in columns.items() if len(column) > 1}
        if len(set(lengths.values())) > 1:
            counted = ", ".join(f"`{key}` has {length}" for key, length in lengths.items())
            message = f"{name}: the columns differ in length: {counted}"
            hint = "a row takes one number of every column; give all columns one length, or a single number"
            raise problems.reject("SW110", message, node.span, hint)
        rows = max(lengths.values(), default=1)
        return tuple(
            {key: column[row % len(column)] for key, column in columns.items()} for row in range(rows)
        )

    def schema(self) -> Schema:
        rows = ListOf(MapOf(IDENTIFIER, INT, "parameters"), "assignments", 1)
        return union_schema(rows.schema(), MapOf(IDENTIFIER, _Column(), "columns").schema())

    def describe(self) -> str:
        return "a list of assignments, or a mapping of columns"


@dataclass(frozen=True, slots=True)
class _Column:
    """One number, or a list of them."""

    def load(self, node: Node, name: str, problems: Problems) -> tuple[int, ...]:
        if isinstance(node, ListNode):
            return _INTS.load(node, name, problems)
        return (INT.load(node, name, problems),)

    def schema(self) -> Schema:
        return union_schema(INT.schema(), _INTS.schema())

    def describe(self) -> str:
        return "an integer or a list of integers"
