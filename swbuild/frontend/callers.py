"""The sizes with which a file's own functions call a region's: what to plan for, nothing that is known.

``run(20, n, A)`` after ``int n = argc > 1 ? atoi(argv[1]) : 1000;`` tells how large loops usually are.
Callers are read as tokens only: no parser has to understand them, and a wrong guess costs time, no result.
"""

from __future__ import annotations

import re  # finds names
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from pycparser import c_ast, c_parser

from swbuild.classes import dataclass
from swbuild.expressions.types import LONG
from swbuild.frontend.constants import Constant, Evaluator
from swbuild.frontend.frame import parameters_of
from swbuild.frontend.parser import Parser
from swbuild.frontend.preprocess import Preprocessed
from swbuild.frontend.prune import Chunk
from swbuild.frontend.tokens import Token, matching, next_outside, separated, tokens_of

__all__ = ["Callers"]

#: No function before these parentheses.
_NO_FUNCTIONS = frozenset(("__attribute__", "__attribute", "__typeof__", "typeof", "__declspec", "_Alignas"))

#: A value beyond this is no size.
_MOST = 1 << 40

_WORD = re.compile(r"[A-Za-z_$][\w$]*")


@dataclass(frozen=True, slots=True)
class _Read:
    """The tokens of a part of the text, with the places at which names are called and assigned to."""

    tokens: Sequence[Token]
    calls: Mapping[str, Sequence[int]]
    assigned: Mapping[str, Sequence[int]]


class Callers:
    """The functions of a user's file, and what it declares outside of them.

    Each part of the text is read once, when one of its names is first asked for: a file may have hundreds of
    regions, each with some names, and as many functions.
    """

    def __init__(self, source: Preprocessed, chunks: Sequence[Chunk]) -> None:
        self._text = source.text
        own = [chunk for chunk in chunks if not source.in_system_header(chunk.start)]
        self._outside = [chunk for chunk in own if chunk.body < 0]
        self._functions = {self._name(chunk): chunk for chunk in own if chunk.body >= 0}
        self._values: dict[tuple[str, str], int | None] = {}
        self._read: dict[Chunk, _Read] = {}
        self._naming: dict[str, set[Chunk]] = defaultdict(set)
        for chunk in (*self._outside, *self._functions.values()):
            for word in _WORD.findall(self._text, _begin(chunk), chunk.end):
                self._naming[word].add(chunk)

    def sizes(self, function: str, names: Iterable[str]) -> Mapping[str, int]:
        """Return the largest value of each of ``names`` that the file shows where ``function`` runs.

        The names are visible in ``function``: a parameter has the values of arguments, any variable those
        that are assigned to it.  Names without a value of 1 or more are left out.
        """
        values = ((name, self._value(name, function)) for name in names)
        return {name: value for name, value in values if value is not None and 1 <= value <= _MOST}

    def _value(self, name: str, function: str) -> int | None:
        """Return the largest value of ``name`` in ``function``, None where none is seen."""
        if (function, name) not in self._values:
            self._values[function, name] = None
            values = (self._evaluated(tokens, where) for where, tokens in self._sources(name, function))
            self._values[function, name] = max((v for v in values if v is not None), default=None)
        return self._values[function, name]

    def _sources(self, name: str, function: str) -> Iterator[tuple[str, Sequence[Token]]]:
        """Yield the expressions that ``name`` gets its values from, with the functions they are in."""
        home = self._functions.get(function)
        if home is None:
            return
        own = list(self._assigned(home, name))
        yield from ((function, tokens) for tokens in own)
        head = tokens_of(self._text, home.start, home.body)
        names = [parameter.name for parameter in parameters_of(self._text, head, function)]
        if name in names:
            yield from self._arguments(function, names.index(name))
        elif not own and any(chunk in self._naming.get(name, ()) for chunk in self._outside):
            for chunk in self._outside:
                yield from ((function, found) for found in self._assigned(chunk, name))
            for other, each in self._functions.items():
                yield from ((other, found) for found in self._assigned(each, name))

    def _arguments(self, function: str, position: int) -> Iterator[tuple[str, Sequence[Token]]]:
        """Yield the arguments at ``position`` of each call of ``function``, with the function it is in."""
        for caller, each in self._functions.items():
            read = self._reading(each, function)
            for at in read.calls.get(function, ()):
                arguments = separated(read.tokens[at + 2 : matching(read.tokens, at + 1)])
                yield from ((caller, found) for found in arguments[position : position + 1])

    def _assigned(self, chunk: Chunk, name: str) -> Iterator[Sequence[Token]]:
        """Yield the expressions that are assigned to ``name`` in ``chunk``."""
        read = self._reading(chunk, name)
        for at in read.assigned.get(name, ()):
            ends = (next_outside(read.tokens, at + 2, stop) for stop in (",", ";", ")", "}"))
            yield read.tokens[at + 2 : min(ends)]

    def _reading(self, chunk: Chunk, name: str) -> _Read:
        """Return the tokens of ``chunk``, none where ``name`` does not occur in it."""
        if chunk not in self._naming.get(name, ()):
            return _NOTHING
        if chunk not in self._read:
            self._read[chunk] = _read(tokens_of(self._text, _begin(chunk), chunk.end))
        return self._read[chunk]

    def _name(self, chunk: Chunk) -> str:
        """Return the name of a function: the first word before parentheses."""
        words = [token.text for token in tokens_of(self._text, chunk.start, chunk.body)]
        named = (
            word
            for word, following in pairwise(words)
            if following == "(" and word not in _NO_FUNCTIONS and (word[0].isalpha() or word[0] in "_$")
        )
        return next(named, "")

    def _evaluated(self, tokens: Sequence[Token], function: str) -> int | None:
        """Return the value of an expression in ``function``, of a choice the larger branch."""

        def named(node: c_ast.ID) -> Constant | None:
            value = self._value(node.name, function)
            return None if value is None else Constant(value, LONG)

        text = self._text[tokens[0].start : tokens[-1].end] if tokens else ""
        try:
            node = Parser().parse(f"long size = {text};").ext[0].init
        except (c_parser.ParseError, RecursionError):
            return None
        evaluator = Evaluator(named)
        branches = [node.iftrue, node.iffalse] if isinstance(node, c_ast.TernaryOp) else [node]
        values = (evaluator.value(branch) for branch in branches)
        return max((constant.value for constant in values if constant is not None), default=None)


#: What is read of a part in which a name does not occur.
_NOTHING = _Read((), {}, {})


def _begin(chunk: Chunk) -> int:
    """Return where what is read of ``chunk`` begins: the body of a function."""
    return chunk.start if chunk.body < 0 else chunk.body


def _read(tokens: Sequence[Token]) -> _Read:
    """Return ``tokens`` with the places of names before parentheses and before signs of assignment."""
    words = [token.text for token in tokens]
    calls: dict[str, list[int]] = defaultdict(list)
    assigned: dict[str, list[int]] = defaultdict(list)
    before = ""
    for at, (word, following) in enumerate(pairwise(words)):
        if following == "(":
            calls[word].append(at)
        elif following == "=" and words[at + 2 : at + 3] != ["="] and before not in (".", ">"):
            assigned[word].append(at)
        before = word
    return _Read(tokens, calls, assigned)
