"""Macros of the assembler: what they take, and their text with arguments put in, as GNU as has it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swbuild.sw64.syntax import split, without_comment

__all__ = [
    "LABEL",
    "Formal",
    "Macro",
    "Row",
    "directive",
    "formals",
    "given",
    "parts",
    "rows",
    "substituted",
    "words",
]

LABEL = re.compile(r"\s*([A-Za-z_.$][\w.$]*|\d+)\s*:(?!:)")

_FORMAL = re.compile(r"([A-Za-z_.$][\w.$]*)(?::(req|vararg))?(?:\s*=\s*(\"[^\"]*\"|[^\s,]+))?")
_KEYWORD = re.compile(r"([A-Za-z_.$][\w.$]*)=(?!=)(.*)", re.DOTALL)
_REFERENCE = re.compile(r"\\(\(\)|@|[A-Za-z_.$][\w.$]*)")
#: Blanks that stand beside these separate nothing.
_OPERATORS = "+-*/%|&^<>=!~(),:"


@dataclass(frozen=True, slots=True)
class Row:
    """One statement: the line that it comes from, and which macros, called at which lines, made it."""

    text: str
    line: int
    via: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Formal:
    """A parameter; ``kind`` is ``req``, ``vararg`` or empty."""

    name: str
    default: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Macro:
    """A definition: the rows between its ``.macro`` and ``.endm``."""

    name: str
    formals: tuple[Formal, ...]
    body: tuple[Row, ...]


def rows(text: str, line: int, via: tuple[tuple[str, int], ...] = ()) -> list[Row]:
    """Return the statements of a line of text; the comment of the compiler's schedule stays with the last."""
    code, comment = without_comment(text)
    found = [part for part in split(code, ";") if part.strip()]
    if found and comment.startswith("# ["):
        found[-1] += comment
    return [Row(part, line, via) for part in found]


def formals(text: str) -> tuple[Formal, ...]:
    """Return the parameters of a definition, separated by commas or blanks; raise ValueError for others."""
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    found = []
    while text := text.lstrip(" \t,"):
        match = _FORMAL.match(text)
        if not match:
            raise ValueError(f"'{text}' is no parameter of a macro")
        found.append(Formal(match[1], _plain(match[3] or ""), match[2] or ""))
        text = text[match.end() :]
    return tuple(found)


def words(text: str, most: int = 0) -> list[str]:
    """Return arguments, separated by commas or blanks; of ``most`` the last one takes all that is left."""
    found: list[str] = []
    rest = text.strip()
    while rest:
        if most and len(found) == most - 1:
            return [*found, _trimmed(rest)]
        end = _end(rest)
        found.append(rest[:end].strip())
        rest = rest[end:].lstrip()
        if rest.startswith(","):
            rest = rest[1:].lstrip()
            found += [] if rest else [""]
    return [_plain(_squeezed(word)) for word in found]


def _end(text: str) -> int:
    """Return where the first argument ends."""
    depth, quoted = 0, False
    for k, character in enumerate(text):
        if character == '"' and text[k - 1 : k] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif character == ",":
            return k
        elif character in "()":
            depth += 1 if character == "(" else -1
        elif character in " \t" and not depth and not _joined(text, k):
            return k
    return len(text)


def _joined(text: str, k: int) -> bool:
    """Return whether a blank stands beside an operator."""
    before, behind = text[:k].rstrip()[-1:], text[k:].lstrip()[:1]
    return before in _OPERATORS or behind in _OPERATORS


def _squeezed(text: str) -> str:
    return text if '"' in text else re.sub(r"\s+", "", text)


def _trimmed(text: str) -> str:
    """Return several arguments with the blanks that separate them alone."""
    return text if '"' in text else re.sub(r"\s*([-+*/%|&^<>=!~(),:])\s*", r"\1", text)


def _plain(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def given(macro: Macro, text: str) -> dict[str, str]:
    """Return the texts of the parameters in a call; raise ValueError for what does not fit."""
    takes = macro.formals
    last = takes[-1].kind == "vararg" if takes else False
    arguments = words(text, len(takes) if last else 0)
    found = {formal.name: "" for formal in takes}
    by_name = False
    for k, argument in enumerate(arguments):
        keyword = _KEYWORD.fullmatch(argument)
        if keyword and keyword[1] in found:
            by_name = True
            found[keyword[1]] = _plain(keyword[2])
        elif by_name:
            raise ValueError(
                f"the macro '{macro.name}' gets an argument without a name behind one with a name"
            )
        elif k >= len(takes):
            raise ValueError(f"the macro '{macro.name}' takes {len(takes)} arguments, not {len(arguments)}")
        else:
            found[takes[k].name] = argument
    for formal in takes:
        if not found[formal.name] and formal.kind == "req":
            raise ValueError(f"the macro '{macro.name}' needs its argument '{formal.name}'")
        found[formal.name] = found[formal.name] or formal.default
    return found


def substituted(
    body: Sequence[Row],
    arguments: Mapping[str, str],
    via: tuple[tuple[str, int], ...] | None = None,
    count: int | None = None,
) -> list[Row]:
    r"""Return rows with arguments for ``\name``, nothing for ``\()``, and ``count``, if any, for ``\@``."""

    def text(match: re.Match[str]) -> str:
        if match[1] == "()":
            return ""
        if match[1] == "@":
            return match[0] if count is None else str(count)
        return arguments.get(match[1], match[0])

    result = []
    for row in body:
        result += rows(_REFERENCE.sub(text, row.text), row.line, row.via if via is None else via)
    return result


def parts(text: str) -> tuple[str, str]:
    """Return the name of a statement, in small letters, and what follows it."""
    name, _, rest = text.strip().replace("\t", " ").partition(" ")
    return name.lower(), rest.partition("# [")[0].strip()


def directive(row: Row) -> str:
    """Return the name of a statement, behind its labels."""
    text = row.text
    while match := LABEL.match(text):
        text = text[match.end() :]
    return parts(text)[0]
