"""Frozen dataclasses as mappings of the manifest: fields are keys, their metadata the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, field, fields
from typing import Any, Generic, TypeVar

from swbuild.classes import dataclass
from swbuild.diagnostics import Span
from swbuild.manifest.kinds import Kind, Schema, wrong_type
from swbuild.manifest.nodes import MapNode, Node, Scalar
from swbuild.manifest.problems import Problems, Rejected
from swbuild.manifest.scalars import is_null, trap
from swbuild.manifest.suggest import did_you_mean

__all__ = ["Option", "Record", "option", "options", "place"]

T = TypeVar("T")

_KEY = "swbuild.option"


@dataclass(frozen=True, slots=True)
class Option:
    """One key of a mapping: what it holds, what it means, how it looks."""

    key: str
    attribute: str
    kind: Kind
    doc: str
    example: str
    shown_default: str
    required: bool
    also: tuple[str, ...]


def option(
    kind: Kind,
    doc: str,
    *,
    example: str,
    default: Any = MISSING,
    shown: str = "",
    also: tuple[str, ...] = (),
) -> Any:
    """Return a dataclass field that is a key of the manifest.

    ``shown`` says in the reference page what holds when the key is absent; ``also`` are words that
    people may write instead, for the hint.  Without ``default`` the key is required.
    """
    metadata = {_KEY: (kind, doc, example, shown, also)}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def place() -> Any:
    """Return the field that holds where in the file a mapping stands."""
    return field(default=Span(""), compare=False, repr=False)


def options(cls: type) -> Iterator[Option]:
    """Return the keys of a dataclass, in its order."""
    for item in fields(cls):
        if _KEY in item.metadata:
            yield _as_option(item)


def _as_option(item: Field[Any]) -> Option:
    kind, doc, example, shown, also = item.metadata[_KEY]
    required = item.default is MISSING and item.default_factory is MISSING
    return Option(item.name.replace("_", "-"), item.name, kind, doc, example, shown, required, also)


@dataclass(frozen=True, slots=True)
class Record(Generic[T]):
    """A mapping with the keys of the dataclass ``of``; ``what`` names it (``a region``).

    ``empty`` allows nothing at all to stand for a mapping without keys; ``elsewhere`` gives hints for
    keys that belong to another place.  Keys that start with ``x-`` are the user's own.
    """

    of: type[T]
    what: str
    empty: bool = False
    elsewhere: tuple[tuple[type, str], ...] = ()

    def load(self, node: Node, name: str, problems: Problems) -> T:
        if isinstance(node, Scalar) and is_null(node) and self.empty:
            node = MapNode((), node.span)
        if not isinstance(node, MapNode):
            raise wrong_type(self, node, name, problems)
        known = {item.key: item for item in options(self.of)}
        values: dict[str, Any] = {}
        rejected = self._report_missing(node, known, problems)
        for entry in node.entries:
            item = known.get(entry.key.text)
            try:
                if item is None:
                    self._check_unknown(entry.key, known, problems)
                else:
                    values[item.attribute] = item.kind.load(entry.value, f"`{item.key}`", problems)
            except Rejected:
                rejected = True
        if rejected:
            raise Rejected
        values["span"] = node.span
        return self.of(**values)

    def _report_missing(self, node: MapNode, known: dict[str, Option], problems: Problems) -> bool:
        present = {entry.key.text for entry in node.entries}
        missing = [item for item in known.values() if item.required and item.key not in present]
        for item in missing:
            hint = f"add '{item.key}: {item.example}'"
            problems.report("SW104", f"{self.what} needs the key `{item.key}`", node.span, hint)
        return bool(missing)

    def _check_unknown(self, key: Scalar, known: dict[str, Option], problems: Problems) -> None:
        if key.text.startswith("x-"):
            return
        if trap(key):
            message = f"the key `{key.text}` is ambiguous: YAML 1.1 readers take it for {trap(key)}"
            raise problems.reject("SW106", message, key.span, did_you_mean(key.text, known))
        if key.text == "<<":
            message = "merge keys are not part of manifests"
            raise problems.reject("SW102", message, key.span, "put what kernels share under `defaults`")
        raise problems.reject(
            "SW102", f"{self.what} has no key `{key.text}`", key.span, self._hint(key.text, known)
        )

    def _hint(self, word: str, known: dict[str, Option]) -> str:
        for cls, hint in self.elsewhere:
            if word.replace("_", "-") in {item.key for item in options(cls)}:
                return hint
        synonyms = {other: item.key for item in known.values() for other in item.also}
        return did_you_mean(word, known, synonyms)

    def schema(self) -> Schema:
        return {"$ref": f"#/definitions/{self.of.__name__}"}

    def describe(self) -> str:
        return f"a mapping ({self.what})"
