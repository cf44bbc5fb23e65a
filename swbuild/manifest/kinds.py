"""The kinds of values a manifest holds; each reads a node, writes its JSON Schema and names itself.

One object per field serves loader, schema and reference page, so that they cannot disagree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Protocol, TypeVar

from swbuild.classes import dataclass
from swbuild.manifest.nodes import Entry, ListNode, MapNode, Node, Scalar
from swbuild.manifest.problems import Problems, Rejected, found
from swbuild.manifest.scalars import is_null, looks_like, trap
from swbuild.manifest.suggest import did_you_mean, listing

__all__ = [
    "Choice",
    "Integer",
    "Kind",
    "ListOf",
    "MapOf",
    "Number",
    "Quantity",
    "Schema",
    "Text",
    "Truth",
    "plain_text",
    "trapped",
    "union_schema",
    "wrong_type",
]

Schema = dict[str, Any]
T = TypeVar("T")


class Kind(Protocol):
    """What all kinds can do."""

    def load(self, node: Node, name: str, problems: Problems) -> Any:
        """Return the value of ``node``, which stands under ``name``, or report and raise ``Rejected``."""

    def schema(self) -> Schema:
        """Return the JSON Schema (draft-07) of what :meth:`load` takes."""

    def describe(self) -> str:
        """Return the kind in words: ``a list of integers``."""


def wrong_type(kind: Kind, node: Node, name: str, problems: Problems, hint: str = "") -> Rejected:
    """Report that ``node`` is not of ``kind``."""
    return problems.reject("SW105", f"{name} must be {kind.describe()}, not {found(node)}", node.span, hint)


def trapped(scalar: Scalar, name: str, problems: Problems, hint: str) -> Rejected:
    """Report a word that YAML readers disagree on."""
    message = f"{name}: `{scalar.text}` is ambiguous: YAML 1.1 readers take it for {trap(scalar)}"
    return problems.reject("SW106", message, scalar.span, hint)


def plain_text(node: Node, name: str, kind: Kind, problems: Problems) -> str:
    """Return a scalar's text if it is one, and not a number, a truth value, nothing or a trap."""
    if not isinstance(node, Scalar):
        raise wrong_type(kind, node, name, problems)
    if trap(node):
        raise trapped(node, name, problems, f"put it in quotes if the text is meant: '{node.text}'")
    if looks_like(node) != "text":
        hint = "" if is_null(node) else f"put it in quotes if the text is meant: '{node.text}'"
        raise wrong_type(kind, node, name, problems, hint)
    return node.text


@dataclass(frozen=True, slots=True)
class Text:
    """A text that ``pattern`` matches as a whole; ``what`` names it (``a C identifier``)."""

    what: str = "a text"
    pattern: str = r"[\s\S]*\S[\s\S]*"
    hint: str = ""

    def load(self, node: Node, name: str, problems: Problems) -> str:
        text = plain_text(node, name, self, problems)
        if not re.fullmatch(self.pattern, text):
            raise problems.reject("SW107", f"{name}: '{text}' is not {self.what}", node.span, self.hint)
        return text

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^(?:{self.pattern})$"}

    def describe(self) -> str:
        return self.what


@dataclass(frozen=True, slots=True)
class Integer:
    """A decimal integer between ``low`` and ``high``."""

    low: int = 0
    high: int = 2**31 - 1

    def load(self, node: Node, name: str, problems: Problems) -> int:
        if isinstance(node, Scalar) and trap(node):
            raise trapped(node, name, problems, f"write {_decimal_hint(node.text)}")
        if not isinstance(node, Scalar) or looks_like(node) != "integer":
            raise wrong_type(self, node, name, problems, _integer_hint(node))
        value = int(node.text)
        if not self.low <= value <= self.high:
            message = f"{name}: {value} is out of range, it must lie between {self.low} and {self.high}"
            raise problems.reject("SW107", message, node.span)
        return value

    def schema(self) -> Schema:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    def describe(self) -> str:
        return "an integer"


def _decimal_hint(text: str) -> str:
    if ":" in text:
        return f"a list: [{', '.join(part.lstrip('0') or '0' for part in text.split(':'))}]"
    digits = text.replace("_", "")
    if re.fullmatch(r"[-+]?0x[0-9a-fA-F]+", digits):
        return str(int(digits, 16))
    if not digits.lstrip("+-").isdigit():
        return "a decimal integer"
    return re.sub(r"^([-+]?)0+(?=[0-9])", r"\1", digits)


def _integer_hint(node: Node) -> str:
    if not isinstance(node, Scalar):
        return ""
    if not node.plain and re.fullmatch(r"[-+]?[0-9]+", node.text):
        return f"remove the quotes: {node.text}"
    try:
        value = float(node.text)
    except ValueError:
        return ""
    return f"write {int(value)}" if value == value and abs(value) < 2**53 and value.is_integer() else ""


@dataclass(frozen=True, slots=True)
class Truth:
    """``true`` or ``false``."""

    def load(self, node: Node, name: str, problems: Problems) -> bool:
        if isinstance(node, Scalar) and trap(node):
            raise trapped(node, name, problems, "write true or false")
        if not isinstance(node, Scalar) or looks_like(node) != "truth value":
            raise wrong_type(self, node, name, problems)
        return node.text.lower() == "true"

    def schema(self) -> Schema:
        return {"type": "boolean"}

    def describe(self) -> str:
        return "true or false"


@dataclass(frozen=True, slots=True)
class Number:
    """A number that is not negative."""

    def load(self, node: Node, name: str, problems: Problems) -> float:
        if isinstance(node, Scalar) and trap(node):
            raise trapped(node, name, problems, f"write {_decimal_hint(node.text)}")
        if not isinstance(node, Scalar) or looks_like(node) not in {"integer", "number"}:
            raise wrong_type(self, node, name, problems)
        value = float(node.text)
        if not value >= 0:
            message = f"{name}: {node.text} is out of range, it must not be negative"
            raise problems.reject("SW107", message, node.span)
        return value

    def schema(self) -> Schema:
        return {"type": "number", "minimum": 0}

    def describe(self) -> str:
        return "a number"


@dataclass(frozen=True, slots=True)
class Choice:
    """One member of an ``Enum`` whose values are the manifest's words."""

    of: type[Enum]
    synonyms: tuple[tuple[str, str], ...] = ()

    def load(self, node: Node, name: str, problems: Problems) -> Enum:
        words = [str(member.value) for member in self.of]
        if isinstance(node, Scalar) and trap(node):
            raise trapped(node, name, problems, f"choose {listing(words, 'or')}")
        text = plain_text(node, name, self, problems)
        if text not in words:
            hint = did_you_mean(text, words, dict(self.synonyms))
            raise problems.reject("SW107", f"{name}: there is no `{text}` to choose", node.span, hint)
        return self.of(text)

    def schema(self) -> Schema:
        return {"enum": [member.value for member in self.of]}

    def describe(self) -> str:
        return "one of " + listing([str(member.value) for member in self.of], "or")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A positive number with a unit: ``200KiB``, ``90s``; a bare integer counts ``base`` units."""

    what: str
    base: str
    units: tuple[tuple[str, int], ...]
    example: str

    def load(self, node: Node, name: str, problems: Problems) -> int:
        if isinstance(node, Scalar) and trap(node):
            raise trapped(node, name, problems, f"write it as in {self.example}")
        match = re.fullmatch(self._pattern(), node.text) if isinstance(node, Scalar) else None
        if match is None:
            raise wrong_type(self, node, name, problems, f"write it as in {self.example}")
        value = int(match[1]) * dict(self.units).get(match[2] or self.base, 1)
        if not 0 < value < 2**31:
            message = f"{name}: {match[0]} is out of range, it must lie between 1 and {2**31 - 1} {self.base}"
            raise problems.reject("SW107", message, node.span)
        return value

    def _pattern(self) -> str:
        return rf"(0|[1-9][0-9]*) *({'|'.join(unit for unit, _ in self.units)})?"

    def schema(self) -> Schema:
        text = {"type": "string", "pattern": f"^{self._pattern()}$"}
        return union_schema({"type": "integer", "minimum": 1}, text)

    def describe(self) -> str:
        return f"{self.what} such as {self.example}"


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of ``item``; the value is a tuple."""

    item: Kind
    plural: str
    low: int = 0
    high: int | None = None

    def load(self, node: Node, name: str, problems: Problems) -> tuple[Any, ...]:
        if not isinstance(node, ListNode):
            raise wrong_type(self, node, name, problems, _bracket_hint(node))
        if len(node.items) < self.low or (self.high is not None and len(node.items) > self.high):
            message = f"{name} has {len(node.items)} entries; it must be {self.describe()}"
            raise problems.reject("SW107", message, node.span)
        return tuple(load_all(node.items, lambda item: self.item.load(item, f"an entry of {name}", problems)))

    def schema(self) -> Schema:
        limits = {"minItems": self.low} | ({} if self.high is None else {"maxItems": self.high})
        return {"type": "array", "items": self.item.schema(), **limits}

    def describe(self) -> str:
        if self.high is None:
            return f"a list of {self.plural}"
        return f"a list of {self.low} to {self.high} {self.plural}"


def _bracket_hint(node: Node) -> str:
    return f"put it in brackets: [{node.text}]" if isinstance(node, Scalar) and not is_null(node) else ""


@dataclass(frozen=True, slots=True)
class MapOf:
    """A mapping from names to ``value``; the value is a dict in the order of the file."""

    key: Text
    value: Kind
    plural: str

    def load(self, node: Node, name: str, problems: Problems) -> dict[str, Any]:
        if not isinstance(node, MapNode):
            raise wrong_type(self, node, name, problems)

        def load_entry(entry: Entry) -> tuple[str, Any]:
            word = entry.key.text
            halves: tuple[tuple[Kind, Node, str], ...] = (
                (self.key, entry.key, f"the key `{word}` in {name}"),
                (self.value, entry.value, f"`{word}` in {name}"),
            )
            key, value = load_all(halves, lambda half: half[0].load(half[1], half[2], problems))
            return key, value

        return dict(load_all(node.entries, load_entry))

    def schema(self) -> Schema:
        return {
            "type": "object",
            "propertyNames": {"pattern": f"^(?:{self.key.pattern})$"},
            "additionalProperties": self.value.schema(),
        }

    def describe(self) -> str:
        return f"a mapping of {self.plural}"


def load_all(nodes: Iterable[T], load: Callable[[T], Any]) -> list[Any]:
    """Return ``load`` of every node; when some are rejected, go on to the last one and then reject all."""
    values: list[Any] = []
    rejected = False
    for node in nodes:
        try:
            values.append(load(node))
        except Rejected:
            rejected = True
    if rejected:
        raise Rejected
    return values


def union_schema(*schemas: Mapping[str, Any]) -> Schema:
    """Return the schema of a value that fits one of ``schemas``."""
    return {"anyOf": [dict(schema) for schema in schemas]}
