"""The names of everything that the generator makes up: allotted, when a file is printed, among what is free.

A name of ours travels through the stages with a mark, a letter that no C identifier of a program's has: it
can be mistaken for nothing of the user's, in isl's sets as little as in C text.  :class:`Names` takes the
marks off again, once all that the file must not collide with is known.  A name of the user's that stands
for what the user means by it carries no mark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from itertools import chain, count
from typing import Any

__all__ = ["Names", "distinct", "from_ascii", "in_ascii", "own", "plain", "plain_name"]

_MARK = "ǂ"
#: What stands for the mark where nothing but ASCII can be read.
_ASCII_MARK = "_swbuild_mark_"
_OWN = re.compile(rf"{_MARK}(\w*?){_MARK}(\w*?){_MARK}")


def own(name: str, kind: str = "") -> str:
    """Return the mark-up of a name of ours that is to be spelled ``name`` where that is free.

    The same name of two kinds is two names.  One with a name of ours in it is of another kind than one with
    the user's.
    """
    bare = plain_name(name)
    return f"{_MARK}{plain(bare)}{_MARK}{kind}{'' if bare == name else '_own'}{_MARK}"


def plain_name(name: str) -> str:
    """Return what ``name`` is to be spelled like, be it marked or not."""
    return _OWN.sub(r"\1", name)


def in_ascii(text: str) -> str:
    """Return ``text`` with other marks in its names, in letters that isl reads."""
    return text.replace(_MARK, _ASCII_MARK)


def from_ascii(text: str) -> str:
    """Return what :func:`in_ascii` has made ``text`` of."""
    return text.replace(_ASCII_MARK, _MARK)


def plain(name: str) -> str:
    """Return ``name``, an identifier of C or of its extensions, in letters, digits and underscores."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def distinct(wish: str, taken: Callable[[str], bool]) -> str:
    """Return ``wish``, or the first of ``wish_2``, ``wish_3``, … that is not ``taken``.

    All that begins like ``wish`` may be taken: then the name begins otherwise.
    """
    further = chain((f"{wish}_{number}" for number in range(2, 10)), (f"sw_{wish}_{n}" for n in count(1)))
    return next(name for name in chain([wish], further) if not taken(name))


class Names:
    """Allots the names of one generated unit; none of them is one of ``taken`` or ``is_reserved``."""

    def __init__(self, taken: Collection[str], is_reserved: Callable[[str], bool]) -> None:
        self._taken, self._is_reserved = set(taken), is_reserved
        self._allotted: dict[tuple[str, str], str] = {}

    def spelled(self, text: str) -> str:
        """Return ``text`` with the marked names in it as they are spelled in C."""
        return _OWN.sub(self._spelling, text)

    def lines(self, lines: Collection[str]) -> list[str]:
        """Return ``lines``, spelled."""
        return [self.spelled(line) for line in lines]

    def data(self, value: Any) -> Any:
        """Return JSON-ready data with every text in it spelled."""
        if isinstance(value, str):
            return self.spelled(value)
        if isinstance(value, dict):
            return {self.data(key): self.data(item) for key, item in value.items()}
        return [self.data(item) for item in value] if isinstance(value, (list, tuple)) else value

    def _spelling(self, match: re.Match[str]) -> str:
        key = (match[1], match[2])
        if key not in self._allotted:
            self._allotted[key] = distinct(match[1], self._is_taken)
            self._taken.add(self._allotted[key])
        return self._allotted[key]

    def _is_taken(self, name: str) -> bool:
        return name in self._taken or self._is_reserved(name)
