"""YAML text as a tree of located nodes, with nothing guessed about the meaning of a scalar.

PyYAML finds the structure; what a plain ``on``, ``010`` or ``8:8`` means is left to the place
where it stands (see :mod:`swbuild.manifest.scalars`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.error import MarkedYAMLError, YAMLError
from yaml.parser import Parser
from yaml.reader import Reader, ReaderError
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Span, SwbuildError

__all__ = ["Entry", "ListNode", "MapNode", "Node", "Scalar", "parse"]

#: No manifest is that large; an alias that is repeated in aliases soon is.
_NODE_LIMIT = 200_000

#: Python reads no numbers with more digits.
_LONGEST = 4000
_UNFIT = r"[^\t\n\r\x20-\x7e\x80-\ud7ff\ue000-\U0010ffff]"  # compiled where it is used: that takes long


@dataclass(frozen=True, slots=True)
class Scalar:
    """A word or a text; ``plain`` when it stands without quotes."""

    text: str
    plain: bool
    span: Span


@dataclass(frozen=True, slots=True)
class ListNode:
    """A sequence, in either notation."""

    items: tuple[Node, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Entry:
    """One ``key: value`` of a mapping."""

    key: Scalar
    value: Node


@dataclass(frozen=True, slots=True)
class MapNode:
    """A mapping, in the order of the file; no key occurs twice."""

    entries: tuple[Entry, ...]
    span: Span


Node = Scalar | ListNode | MapNode


class _Loader(Reader, Scanner, Parser, Composer, BaseResolver):
    """PyYAML's composer without implicit types: a plain scalar stays a text."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        BaseResolver.__init__(self)


def parse(text: str, file: str) -> tuple[Node, list[Diagnostic]]:
    """Return the tree of the one document in ``text``, and what is wrong with its keys and tags.

    Raises :class:`SwbuildError` when ``text`` is not YAML at all.
    """
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is None:
            raise SwbuildError(Diagnostic("SW101", "the manifest is empty", Span(file, 1, 1), _START_HINT))
        converter = _Converter(file)
        return converter.convert(root, ()), converter.problems
    except YAMLError as error:
        raise SwbuildError(_syntax_error(error, text, file)) from None
    except RecursionError:
        place = Span(file, loader.line + 1, loader.column + 1)
        message = "lists and mappings nest too deeply to be read"
        hint = "no manifest needs more than ten levels"
        raise SwbuildError(Diagnostic("SW101", message, place, hint)) from None


_START_HINT = "start with 'version: 1', or let 'swbuild init file.c' write a manifest"


class _Converter:
    """Turns PyYAML's nodes into ours and collects duplicate keys, tags and odd keys on the way."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Diagnostic] = []
        self.count = 0

    def convert(self, node: yaml.Node, above: tuple[yaml.Node, ...]) -> Node:
        """Return ``node`` as ours; ``above`` are the nodes that contain it."""
        span = self._span(node)
        self.count += 1
        if self.count > _NODE_LIMIT or any(node is outer for outer in above):
            message = "an alias contains itself, or aliases grow without end"
            raise SwbuildError(Diagnostic("SW101", message, span))
        self._check_tag(node, span)
        if isinstance(node, yaml.ScalarNode):
            return Scalar(self._text(node.value, span), node.style is None, span)
        inner = (*above, node)
        if isinstance(node, yaml.SequenceNode):
            return ListNode(tuple(self.convert(item, inner) for item in node.value), span)
        return MapNode(tuple(self._entries(node.value, inner)), span)

    def _text(self, text: str, span: Span) -> str:
        """Return ``text``, of which only the start is taken where it can be no name and no value."""
        odd = re.search(_UNFIT, text)
        if odd:
            message = f"the character {odd[0]!r} is not allowed in a manifest"
            self._report("SW101", message, span, "remove it")
        elif len(text) > _LONGEST:
            message = f"a text of {len(text)} letters is longer than any that a manifest needs"
            self._report("SW101", message, span, f"at most {_LONGEST}")
        else:
            return text
        return re.sub(_UNFIT, "", text)[:20]

    def _entries(self, pairs: list[tuple[Any, Any]], above: tuple[yaml.Node, ...]) -> Iterator[Entry]:
        seen: dict[str, Scalar] = {}
        for key_node, value_node in pairs:
            key, value = self.convert(key_node, above), self.convert(value_node, above)
            if not isinstance(key, Scalar):
                self._report("SW105", "a key must be a word, not a list or a mapping", key.span)
            elif key.text in seen:
                first = seen[key.text].span
                message = f"the key `{key.text}` is here for the second time"
                hint = f"the first one is on line {first.line}; keep one of them"
                self._report("SW103", message, key.span, hint)
            else:
                seen[key.text] = key
                yield Entry(key, value)

    def _check_tag(self, node: yaml.Node, span: Span) -> None:
        kind = {yaml.ScalarNode: "str", yaml.SequenceNode: "seq", yaml.MappingNode: "map"}[type(node)]
        if node.tag != f"tag:yaml.org,2002:{kind}":
            shown = node.tag.replace("tag:yaml.org,2002:", "!!")
            self._report("SW106", f"the tag `{shown}` means nothing in a manifest", span, "remove it")

    def _report(self, code: str, message: str, span: Span, hint: str = "") -> None:
        self.problems.append(Diagnostic(code, message, span, hint))

    def _span(self, node: yaml.Node) -> Span:
        start, end = node.start_mark, node.end_mark
        return Span(self.file, start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def _syntax_error(error: YAMLError, text: str, file: str) -> Diagnostic:
    if isinstance(error, ReaderError):
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        message = f"the character {chr(error.character)!r} is not allowed in YAML"
        hint = "remove it; a manifest is plain UTF-8 text"
        return Diagnostic("SW101", message, Span(file, line, column), hint)
    if isinstance(error, MarkedYAMLError) and error.problem is not None:
        mark = error.problem_mark or error.context_mark
        span = Span(file, mark.line + 1, mark.column + 1) if mark else Span(file)
        context = f" {error.context}" if error.context else ""
        return Diagnostic("SW101", f"not YAML: {error.problem}{context}", span, _syntax_hint(error.problem))
    return Diagnostic("SW101", f"not YAML: {error}", Span(file))


def _syntax_hint(problem: str) -> str:
    """Return advice for the mistakes that people make most."""
    for sign, hint in _SYNTAX_HINTS:
        if sign in problem:
            return hint
    return ""


_SYNTAX_HINTS = (
    ("'\\t'", "indent with spaces; YAML takes no tabs"),
    ("mapping values are not allowed", "check the indentation; a text that holds ': ' needs quotes"),
    ("could not find expected ':'", "a key needs a colon and a space after it, as in 'threads: [8, 8]'"),
    ("expected <block end>", "check the indentation: entries of one mapping start in one column"),
    ("expected ',' or ']'", "close the list with ']'"),
    ("expected ',' or '}'", "close the mapping with '}'"),
    ("found undefined alias", "a text that starts with '*' needs quotes; an alias needs an anchor"),
    ("expected a single document", "a manifest is one document: remove the '---' between two"),
    ("cannot start any token", "quote a text that starts with this character"),
)
