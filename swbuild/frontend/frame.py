"""What stands around a region in its translation unit: the declarations in sight, in the user's own words.

The text is the compiler's own preprocessed text, and no declaration is understood here: they are found,
and cut at their initialisers, so that the same words can be compiled again.
"""

from __future__ import annotations

import re  # reads the output of the preprocessor
from collections.abc import Collection, Sequence

from swbuild.classes import dataclass
from swbuild.frontend.tokens import OPENING, Token, matching, next_outside, separated, tokens_of

__all__ = [
    "Declaration",
    "Declarator",
    "Frame",
    "Parameter",
    "declarations_inside",
    "frame_of",
    "parameters_of",
]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_CONTROLS = _set("if while switch")
_STATEMENTS = _set("return goto break continue asm __asm__ __asm sizeof _Static_assert")
_QUALIFIERS = _set(
    "const volatile restrict __const __const__ __volatile __volatile__ __restrict __restrict__ static extern "
    "register auto inline __inline __inline__ typedef _Thread_local __thread __extension__ _Noreturn"
)
_TYPES = _set(
    "void char short int long float double signed unsigned __signed __signed__ _Bool _Complex __complex__ "
    "__int128 __float128 __float80 __ibm128 __auto_type _Float16 _Float32 _Float64 _Float128 _Float32x "
    "_Float64x _Decimal32 _Decimal64 _Decimal128 __builtin_va_list"
)
_WITH_PARENTHESES = _set("__attribute__ __attribute __typeof__ __typeof typeof _Alignas _Atomic __declspec")
_AGGREGATES = _set("struct union enum")


@dataclass(frozen=True, slots=True)
class Declarator:
    """One name that a declaration declares: its declarator, and the initialiser behind it if there is one."""

    name: str
    text: str
    initialiser: str | None


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration in the user's words: ``specifiers``, then declarators (none for a type alone)."""

    specifiers: str
    declarators: tuple[Declarator, ...]

    def has(self, word: str) -> bool:
        """Whether ``word`` (``static``, ``const``) stands among the specifiers."""
        outside = re.sub(r"\{.*\}", "", self.specifiers, flags=re.DOTALL)
        return re.search(rf"(?<![\w$]){word}(?![\w$])", outside) is not None


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of the function: its name (empty if it has none) and its declaration."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a region stands in its preprocessed file.

    The function's body is ``text[body:end]`` with its braces, the region ``text[begin:stop]`` with its
    pragmas.  ``blocks`` are the blocks around it, outermost first, with what they declare before it.
    """

    body: int
    end: int
    begin: int
    stop: int
    parameters: tuple[Parameter, ...]
    blocks: tuple[tuple[Declaration, ...], ...]


def frame_of(
    text: str, function: tuple[str, int, int, int], region: tuple[int, int], typedefs: Collection[str]
) -> Frame:
    """Return the frame of the region ``text[slice(*region)]`` in a function (name, start, body, end)."""
    name, start, body, end = function
    scan = _Scanner(text, tokens_of(text, body + 1, region[0]), typedefs)
    scan.run()
    parameters = parameters_of(text, tokens_of(text, start, body), name)
    return Frame(body, end, *region, parameters, tuple(tuple(block) for block in scan.blocks))


def declarations_inside(
    text: str, begin: int, end: int, typedefs: Collection[str]
) -> tuple[Declaration, ...]:
    """Return all declarations in ``text[begin:end]`` in textual order, however deep they stand."""
    scan = _Scanner(text, tokens_of(text, begin, end), typedefs)
    scan.run()
    return tuple(scan.found)


class _Scanner:
    """Reads statements; ``blocks`` are the blocks still open, with the declarations in each."""

    def __init__(self, text: str, tokens: Sequence[Token], typedefs: Collection[str]) -> None:
        self.text, self.tokens, self.typedefs = text, tokens, set(typedefs)
        self.blocks: list[list[Declaration]] = [[]]
        self.found: list[Declaration] = []
        #: What heads of loops declare, for the statement that follows, per open block.
        self._heads: list[list[Declaration]] = [[]]

    def run(self) -> None:
        """Read all the tokens."""
        at = 0
        while at < len(self.tokens):
            at = self._step(at)

    def _step(self, at: int) -> int:
        word = self.tokens[at].text
        if word == "{":
            self.blocks.append(list(self._heads[-1]))
            self._heads.append([])
            return at + 1
        if word == "}":
            return self._close(at)
        if word in _CONTROLS:
            return self._behind(at + 1)
        if word == "for":
            return self._loop(at)
        if word in ("else", "do"):
            return at + 1
        if word in ("case", "default") or self._word(at + 1) == ":":
            return self._find(at, ":") + 1
        return self._item(at)

    def _close(self, at: int) -> int:
        if len(self.blocks) > 1:
            self.blocks.pop()
            self._heads.pop()
        if self._word(at + 1) != "else":
            self._heads[-1] = []
        return at + 1

    def _loop(self, at: int) -> int:
        stop = self._find(at + 2, ";")
        self._heads[-1] = [*self._heads[-1], *self._declared(at + 2, stop)]
        return self._behind(at + 1)

    def _item(self, at: int) -> int:
        stop = self._find(at, ";")
        self.blocks[-1] += self._declared(at, stop)
        self._heads[-1] = []
        return stop + 1

    def _declared(self, at: int, stop: int) -> list[Declaration]:
        tokens = self.tokens[at:stop]
        found = [_declaration(self.text, tokens, self.typedefs)] if self._declares(tokens) else []
        self.found += found
        self.typedefs |= {item.name for one in found if one.has("typedef") for item in one.declarators}
        return found

    def _declares(self, tokens: Sequence[Token]) -> bool:
        words = [token.text for token in tokens if token.text != "__extension__"]
        if not words or words[0] in _STATEMENTS:
            return False
        if words[0] in self.typedefs:
            return len(words) > 1 and (words[1] in "*(" or words[1][0].isalpha() or words[1][0] in "_$")
        return words[0] in _QUALIFIERS | _TYPES | _WITH_PARENTHESES | _AGGREGATES

    def _word(self, at: int) -> str:
        return self.tokens[at].text if at < len(self.tokens) else ""

    def _behind(self, at: int) -> int:
        """Return the position behind the parentheses that open at ``at``."""
        return matching(self.tokens, at) + 1

    def _find(self, at: int, word: str) -> int:
        """Return the position of the next ``word`` outside all brackets, the end if there is none."""
        return next_outside(self.tokens, at, word)


def _declaration(text: str, tokens: Sequence[Token], typedefs: Collection[str]) -> Declaration:
    split = _specifiers(tokens, typedefs)
    if not split:
        return Declaration("", (_declarator(text, tokens),))
    specifiers = text[tokens[0].start : tokens[split - 1].end]
    parts = separated(tokens[split:])
    return Declaration(specifiers, tuple(_declarator(text, part) for part in parts if part))


def _specifiers(tokens: Sequence[Token], typedefs: Collection[str]) -> int:
    """Return how many tokens are specifiers."""
    at, typed = 0, False
    while at < len(tokens):
        word = tokens[at].text
        if word in _WITH_PARENTHESES and at + 1 < len(tokens) and tokens[at + 1].text == "(":
            typed = typed or ("attribute" not in word and word != "_Alignas")
            at = matching(tokens, at + 1) + 1
        elif word in _AGGREGATES:
            at, typed = _aggregate(tokens, at), True
        elif word in _TYPES or (word in typedefs and not typed):
            at, typed = at + 1, True
        elif word in _QUALIFIERS or word == "_Atomic":
            at += 1
        else:
            break
    return at


def _aggregate(tokens: Sequence[Token], at: int) -> int:
    """Return the position behind ``struct tag { … }``."""
    at += 1
    while at + 1 < len(tokens) and tokens[at].text in _WITH_PARENTHESES:
        at = matching(tokens, at + 1) + 1
    if at < len(tokens) and tokens[at].text != "{":
        at += 1
    if at < len(tokens) and tokens[at].text == "{":
        at = matching(tokens, at) + 1
    return at


def _declarator(text: str, tokens: Sequence[Token]) -> Declarator:
    equals = next_outside(tokens, 0, "=")
    if not equals:
        return Declarator("", "", None)  # no C: the parser has refused it, or will
    initialiser = text[tokens[equals + 1].start : tokens[-1].end] if equals + 1 < len(tokens) else None
    return Declarator(_name(tokens[:equals]), text[tokens[0].start : tokens[equals - 1].end], initialiser)


def _name(tokens: Sequence[Token]) -> str:
    """Return the name that a declarator declares: the first word in it that is nothing else."""
    at = 0
    while at < len(tokens):
        word = tokens[at].text
        if word in _WITH_PARENTHESES:
            at = matching(tokens, at + 1) if at + 1 < len(tokens) else at
        elif (word[0].isalpha() or word[0] in "_$") and word not in _QUALIFIERS:
            return word
        at += 1
    return ""


def parameters_of(text: str, header: Sequence[Token], name: str) -> tuple[Parameter, ...]:
    at = next((i for i, t in enumerate(header[:-1]) if t.text == name and header[i + 1].text == "("), None)
    if at is None:
        return ()
    parts = separated(header[at + 2 : matching(header, at + 1)])
    if [token.text for part in parts for token in part] == ["void"]:
        return ()
    return tuple(
        Parameter(_parameter_name(part), text[part[0].start : part[-1].end]) for part in parts if part
    )


def _parameter_name(tokens: Sequence[Token]) -> str:
    """Return a parameter's name: the last word outside brackets, or the word behind a star in parentheses."""
    names, at = [], 0
    while at < len(tokens):
        word = tokens[at].text
        if word == "(" and at + 1 < len(tokens) and tokens[at + 1].text in "*(":
            return _name(tokens[at + 1 :])
        if word in OPENING:
            at = matching(tokens, at)
        elif word[0].isalpha() or word[0] in "_$":
            names.append(word)
        at += 1
    plain = [word for word in names if word not in _QUALIFIERS | _TYPES | _WITH_PARENTHESES]
    return plain[-1] if plain else ""
