"""The sizes with which a file's own functions call a region's: what to plan for, nothing that is known.

``run(20, n, A)`` after ``int n = argc > 1 ? atoi(argv[1]) : 1000;`` tells how large loops usually are.
Callers are read as tokens only: no parser has to understand them, and a wrong guess costs time, no result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from pycparser import c_ast, c_parser

from swbuild.classes import dataclass
from swbuild.expressions.types import LONG
from swbuild.frontend.constants import Constant, Evaluator
from swbuild.frontend.frame import Parameter, parameters_of
from swbuild.frontend.parser import Parser
from swbuild.frontend.preprocess import Preprocessed
from swbuild.frontend.prune import Chunk
from swbuild.frontend.tokens import Token, matching, next_outside, separated, tokens_of

__all__ = ["Callers"]

#: No function before these parentheses.
_NO_FUNCTIONS = frozenset(("__attribute__", "__attribute", "__typeof__", "typeof", "__declspec", "_Alignas"))

#: A value beyond this is no size.
_MOST = 1 << 40


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of the user's: its parameters, and the tokens of its body."""

    parameters: tuple[Parameter, ...]
    body: Sequence[Token]


class Callers:
    """The functions of a user's file, and what it declares outside of them."""

    def __init__(self, source: Preprocessed, chunks: Sequence[Chunk]) -> None:
        self._text = source.text
        self._functions: dict[str, _Function] = {}
        self._outside: list[Token] = []
        self._values: dict[tuple[str, str], int | None] = {}
        for chunk in (each for each in chunks if not source.in_system_header(each.start)):
            tokens = tokens_of(self._text, chunk.start, chunk.end)
            if chunk.body < 0:
                self._outside += tokens
                continue
            head = [token for token in tokens if token.start < chunk.body]
            name = _function_name(head)
            self._functions[name] = _Function(parameters_of(self._text, head, name), tokens[len(head) :])

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
        own = list(_assigned(home.body, name))
        yield from ((function, tokens) for tokens in own)
        positions = [k for k, parameter in enumerate(home.parameters) if parameter.name == name]
        if positions:
            yield from self._arguments(function, positions[0])
        elif not own and any(token.text == name for token in self._outside):
            yield from ((function, tokens) for tokens in _assigned(self._outside, name))
            for other, each in self._functions.items():
                yield from ((other, tokens) for tokens in _assigned(each.body, name))

    def _arguments(self, function: str, position: int) -> Iterator[tuple[str, Sequence[Token]]]:
        """Yield the arguments at ``position`` of each call of ``function``, with the function it is in."""
        for caller, each in self._functions.items():
            for at, token in enumerate(each.body[:-1]):
                if token.text == function and each.body[at + 1].text == "(":
                    arguments = separated(each.body[at + 2 : matching(each.body, at + 1)])
                    yield from ((caller, tokens) for tokens in arguments[position : position + 1])

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


def _assigned(tokens: Sequence[Token], name: str) -> Iterator[Sequence[Token]]:
    """Yield the expressions that ``tokens`` assign to ``name``."""
    words = [token.text for token in tokens]
    for at in (k for k, word in enumerate(words[:-2]) if word == name and words[k + 1] == "="):
        if words[at + 2] == "=" or (at and words[at - 1] in (".", ">")):
            continue
        ends = (next_outside(tokens, at + 2, end) for end in (",", ";", ")", "}"))
        yield tokens[at + 2 : min(ends)]


def _function_name(head: Sequence[Token]) -> str:
    """Return the name of the function that ``head`` declares: the first word before parentheses."""
    words = [token.text for token in head]
    named = (
        word
        for word, following in pairwise(words)
        if following == "(" and word not in _NO_FUNCTIONS and (word[0].isalpha() or word[0] in "_$")
    )
    return next(named, "")
