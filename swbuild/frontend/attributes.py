"""Attributes and pragmas that change what types are or how they lie in memory (unseen by the parser)."""

from __future__ import annotations

import re  # reads the output of the preprocessor
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.frontend.preprocess import Preprocessed

__all__ = ["Attributes", "Chunked"]

#: What follows from an attribute: the declared type is another one, or the object may be another; members
#: are not where (or what) their types say; or only alignments change.
_TYPE = (
    "vector_size", "ext_vector_type", "neon_vector_type", "neon_polyvector_type", "altivec", "mode",
    "may_alias", "address_space", "hardbool", "cleanup", "transparent_union", "alias", "weakref",
)  # fmt: skip
_MEMBERS = ("packed", "scalar_storage_order", "ms_struct", "gcc_struct")
_ALIGNMENT = ("aligned", "warn_if_not_aligned")

_ALIGNAS = "_Alignas"
_WORDS = {word: re.compile(rf"{word}(?:__)?\b") for word in (*_TYPE, *_MEMBERS, *_ALIGNMENT, _ALIGNAS)}
_LETTER = re.compile(r"\w")
#: A name for the linker, which two objects may have; a pattern that begins with letters is found fast.
_LABEL = re.compile(r"asm(__)?\s*\(\s*\"")
_NO_DECLARATOR = ("else", "do", "volatile", "__volatile__", "register")
_LAYOUT_PRAGMA = re.compile(
    r"^[ \t]*#[ \t]*pragma[ \t]+(?:(pack)[ \t]*\(([^)\n]*)\)|(scalar_storage_order|ms_struct)[ \t]+([\w-]+))",
    re.MULTILINE,
)
_SEPARATOR = re.compile(r"[;{}]")
_LAST = 1 << 30

#: Returns the start and the end of the top-level declaration around an offset.
Chunked = Callable[[int], "tuple[int, int]"]


@dataclass(frozen=True, slots=True)
class _Range:
    """Where an attribute named ``word`` counts: in ``file`` from ``first`` to ``last`` (line, column)."""

    file: str
    first: tuple[int, int]
    last: tuple[int, int]
    word: str

    def holds(self, node: c_ast.Node) -> bool:
        coord = node.coord
        if coord is None or coord.file != self.file:
            return False
        return self.first <= (int(coord.line), int(coord.column or 0)) <= self.last


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of one file that matter to types."""

    _type: tuple[_Range, ...] = ()
    _members: tuple[_Range, ...] = ()
    _alignment: tuple[_Range, ...] = ()

    @classmethod
    def of(cls, source: Preprocessed, chunk: Chunked) -> Attributes:
        """Collect them; ``chunk`` knows the top-level declarations of the text."""
        found = [*_attributes(source, chunk), *_labels(source, chunk), *_pragmas(source)]
        groups = ((*_TYPE, "asm"), _MEMBERS, _ALIGNMENT)
        return cls(*(tuple(r for r in found if r.word in words) for words in groups))

    def of_type(self, node: c_ast.Node) -> str | None:
        """Return the attribute that makes what ``node`` declares another type, None where there is none."""
        return _first(self._type, node)

    def of_members(self, node: c_ast.Node) -> str | None:
        """Return what keeps the members of the structure ``node`` from being what their types say."""
        return _first(self._members, node)

    def of_alignment(self, node: c_ast.Node) -> str | None:
        """Return the attribute that changes the alignment of what ``node`` declares."""
        return _first(self._alignment, node)


def _first(ranges: Sequence[_Range], node: c_ast.Node) -> str | None:
    return next((r.word for r in ranges if r.holds(node)), None)


def _attributes(source: Preprocessed, chunk: Chunked) -> Iterator[_Range]:
    """Yield the ranges of declarations with attributes, generously: to the next braces or semicolon."""
    text = source.text
    for first, last, word in sorted(found for each in _WORDS for found in _occurrences(text, each)):
        begin, end = chunk(first)
        start = _start(text, begin, first)
        keyword = first if word == _ALIGNAS else text.rfind("__attribute", start, first)
        if keyword < 0:
            continue
        separator = _SEPARATOR.search(text, last, end)
        stop = separator.start() if separator is not None else end
        name = "aligned" if word == _ALIGNAS else word
        yield _range(source, *_inside(text, start, keyword, stop), name)


def _labels(source: Preprocessed, chunk: Chunked) -> Iterator[_Range]:
    """Yield the ranges of declarations of objects that give the linker a name of their own."""
    text = source.text
    for match in _LABEL.finditer(text):
        word = _declarator(text, match)
        if word is None:
            continue
        start = _start(text, chunk(word.start)[0], word.start)
        before = text[start : word.start].split()
        if text[word] not in _NO_DECLARATOR and "register" not in before:
            yield _range(source, start, match.end(), "asm")


def _declarator(text: str, label: re.Match[str]) -> slice | None:
    """Return the end of the declarator before ``label``, a word or a bracket; None where there is none."""
    keyword = label.start()
    if text.startswith("__", max(0, keyword - 2), keyword):
        keyword -= 2
    elif label[1]:
        return None
    end = keyword
    while end and text[end - 1].isspace():
        end -= 1
    start = end
    while start and (_LETTER.match(text, start - 1) or text[start - 1] == "$"):
        start -= 1
    if start == end and end and text[end - 1] == "]":
        start -= 1
    apart = end < keyword or text[end - 1 : end] in ("$", "]")
    return slice(start, end) if start < end and apart else None


def _occurrences(text: str, word: str) -> Iterator[tuple[int, int, str]]:
    """Yield where ``word`` stands by itself or in underscores."""
    for match in _WORDS[word].finditer(text):  # a pattern that begins with letters is found fast
        first = match.start() - 2 * (match.start() > 1 and text.startswith("__", match.start() - 2))
        if not (first and _LETTER.match(text, first - 1)):
            yield first, match.end(), word


def _inside(text: str, start: int, keyword: int, stop: int) -> tuple[int, int]:
    """Return the part of text[start:stop] that an attribute counts for: one parameter, or all of it."""
    first = _edge(text, range(keyword - 1, start - 1, -1), "(", ")")
    last = _edge(text, range(keyword, stop), ")", "(")
    return (start, stop) if first is None or last is None else (first + 1, last)


def _edge(text: str, positions: range, outer: str, inner: str) -> int | None:
    """Return where the parameter ends, in the direction of ``positions``; None outside of parentheses."""
    depth, comma = 0, None
    for position in positions:
        character = text[position]
        if character == inner:
            depth += 1
        elif character == outer and depth:
            depth -= 1
        elif character == outer:
            return position if comma is None else comma
        elif character == "," and not depth and comma is None:
            comma = position
    return None


def _start(text: str, begin: int, offset: int) -> int:
    """Return where the declaration around ``offset`` starts; what stands in its braces is part of it."""
    depth = 0
    for position in range(offset - 1, begin - 1, -1):
        character = text[position]
        if character == "}":
            depth += 1
        elif character == "{" and depth:
            depth -= 1
        elif character in "{;" and not depth:
            return position + 1
    return begin


def _pragmas(source: Preprocessed) -> Iterator[_Range]:
    """Yield the ranges in which pragmas change the layout of structures."""
    begins: list[int] = []
    for match in _LAYOUT_PRAGMA.finditer(source.text):
        argument = (match[2] or match[4] or "").strip()
        ends = argument in ("", "pop", "default", "off", "reset")
        if begins and (ends or match[1]):
            yield from _between(source, begins.pop(), match.start())
        if not ends:
            begins.append(match.end())
    for begin in begins:
        yield from _between(source, begin, len(source.text))


def _between(source: Preprocessed, begin: int, end: int) -> Iterator[_Range]:
    """Yield ranges for text[begin:end], one for each piece of a file in it."""
    first = bisect_right(source.offsets, begin)
    cuts = [begin, *(o for o in source.offsets[first:] if o < end), end]
    for start, stop in pairwise(cuts):
        yield _range(source, start, stop, "packed")


def _range(source: Preprocessed, start: int, stop: int, word: str) -> _Range:
    first, last = source.origin(start), source.origin(stop)
    end = (last.line, last.column) if last.file == first.file and last.line >= first.line else (_LAST, 0)
    return _Range(first.file, (first.line, first.column), end, word)
