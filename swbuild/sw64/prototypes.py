"""What C declares of functions, as classes of values: from gcc's ``-aux-info`` and its text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from swbuild.sw64.syntax import split

__all__ = ["CLASSES", "Prototype", "from_note", "prototypes"]

#: C types by class: integers by size, pointers, floating point, vectors of 64-bit lanes and of floats.
CLASSES = {
    "v": "void",
    "p": "void *",
    "d": "double",
    "f": "float",
    "vd": "sw64_vd",
    "vf": "sw64_vs",
    "b": "_Bool",
    "i1": "signed char",
    "i2": "short",
    "i4": "int",
    "i8": "long",
    "u1": "unsigned char",
    "u2": "unsigned short",
    "u4": "unsigned",
    "u8": "unsigned long",
}
_LINE = re.compile(r"/\* (.*):(\d+):([NOI])[CF] \*/ (.*?);(?: /\*.*)?$")
_NAME = re.compile(r"\b([A-Za-z_]\w*) \((.*)\)\s*$")
_QUALIFIERS = frozenset(
    (
        "const",
        "volatile",
        "restrict",
        "__restrict",
        "extern",
        "static",
        "inline",
        "register",
        "auto",
        "__inline",
        "__const",
        "_Noreturn",
    )
)
_BASES = frozenset(
    (
        "void",
        "char",
        "short",
        "int",
        "long",
        "float",
        "double",
        "signed",
        "unsigned",
        "_Bool",
        "_Complex",
        "__int128",
    )
)


@dataclass(frozen=True, slots=True)
class Prototype:
    """A declaration at ``place``; ``parameters`` is None where C says nothing of them.

    A class outside ``CLASSES`` is the type's text: no value of it is passed to or from assembly.
    """

    name: str
    result: str
    parameters: tuple[str, ...] | None
    variadic: bool
    place: str

    def note(self) -> str:
        """Return it as one line for the link."""
        parameters = "?" if self.parameters is None else ",".join(self.parameters)
        return "\t".join(
            ("prototype", self.name, self.result, parameters, str(int(self.variadic)), self.place)
        )


def from_note(words: list[str]) -> Prototype:
    """Return the declaration of a note's words."""
    parameters = None if words[3] == "?" else tuple(word for word in words[3].split(",") if word)
    return Prototype(words[1], words[2], parameters, words[4] == "1", words[5])


def prototypes(listing: str, text: str, wanted: Callable[[str, str], bool]) -> Iterator[Prototype]:
    """Return the declarations of gcc's listing that are ``wanted`` by file and name.

    ``text`` is the preprocessed C, in which the names of types are looked up.
    """
    types = _Types(text)
    for line in listing.splitlines():
        found = _LINE.match(line)
        declared = _NAME.search(found[4]) if found else None
        if found and declared and wanted(found[1], declared[1]):
            yield _prototype(found, declared, types)


def _prototype(found: re.Match[str], declared: re.Match[str], types: _Types) -> Prototype:
    parameters = [part.strip() for part in split(declared[2], ",")]
    variadic = parameters[-1] == "..."
    known = (
        None
        if found[3] != "N" and "???" in declared[2]
        else tuple(types.of(p) for p in parameters[: len(parameters) - variadic])
    )
    known = () if known == ("v",) else known
    result = types.of(found[4][: declared.start()])
    return Prototype(declared[1], result, known, variadic, f"{found[1]}:{found[2]}")


class _Types:
    """Classes of types, with the names that a text defines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.known: dict[str, str] = {}

    def of(self, text: str) -> str:
        if "*" in text or "(" in text or "[" in text:
            return "p"
        words = [word for word in re.findall(r"\w+", text) if word not in _QUALIFIERS]
        bases = [word for word in words if word in _BASES]
        if bases:
            return _plain(bases)
        if not words or words[0] in ("struct", "union"):
            return " ".join(words[:2]) or "?"
        return "u4" if words[0] == "enum" else self._named(words[0])

    def _named(self, name: str) -> str:
        if name not in self.known:
            self.known[name] = name  # of a definition by itself
            self.known[name] = self._defined(name)
        return self.known[name]

    def _defined(self, name: str) -> str:
        pattern = rf"\btypedef\b([^;{{}}]*(?:\{{[^{{}}]*\}})?[^;{{}}]*?)\b{name}\b([^;{{}}]*);"
        found = re.search(pattern, self.text)
        if not found:
            return name
        before, behind = found[1], found[2]
        if "vector_size" in before + behind:
            return (
                "vf"
                if "float" in before
                else "vd"
                if "double" in before or "int" in before or "long" in before
                else name
            )
        if "(" in behind or "[" in behind or "{" in before:
            return (
                "p" if "*" in before.rpartition("}")[2] else "u4" if before.split()[:1] == ["enum"] else name
            )
        return self.of(before)


def _plain(words: list[str]) -> str:
    if "double" in words:
        return "long double" if "long" in words else "d"
    simple = {"void": "v", "float": "f", "_Bool": "b", "_Complex": "_Complex", "__int128": "__int128"}
    for word in words:
        if word in simple:
            return simple[word]
    size = 1 if "char" in words else 2 if "short" in words else 8 if "long" in words else 4
    return f"{'u' if 'unsigned' in words else 'i'}{size}"
