"""What emitted C has to live with: the user's names and macros around it."""

from __future__ import annotations

import re  # reads words of the text of functions that the slave file takes over
from collections.abc import Iterable

from swbuild.classes import dataclass
from swbuild.codegen.ctext import Lines
from swbuild.expressions.statements import identifiers
from swbuild.frontend.request import Vocabulary
from swbuild.lowering.code import RegionCode
from swbuild.machine.reserved import is_machine_name, is_reserved, names_in_headers
from swbuild.names import Names

__all__ = ["Surroundings", "surroundings"]

_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Prints our lines for places where the user's macros hold: all of them, or those of options alone."""

    names: Names
    vocabulary: Vocabulary

    def call(self, lines: Lines) -> Lines:
        """Return ``lines`` for the middle of the user's text, which goes on under its macros."""
        return self._kept_apart(self.names.lines(lines), self.vocabulary.macros)

    def header(self, lines: Lines) -> Lines:
        """Return ``lines`` for a header, which other text follows."""
        return self._kept_apart(self.names.lines(lines), self.vocabulary.given)

    def behind(self, lines: Lines, headers: Lines) -> Lines:
        """Return ``lines`` with ``headers`` before them for the end of the user's text."""
        return self._freed(self.names.lines(lines), headers, self.vocabulary.macros, self.vocabulary.library)

    def slave(self, lines: Lines, headers: Lines, prelude: str) -> Lines:
        """Return ``lines`` with ``headers`` before them for a file of its own that holds ``prelude``."""
        hidden = self.vocabulary.library.intersection(_WORD.findall(prelude))
        return self._freed(self.names.lines(lines), self.names.lines(headers), self.vocabulary.given, hidden)

    def _freed(self, lines: Lines, headers: Lines, macros: frozenset[str], hidden: frozenset[str]) -> Lines:
        """Return all lines without the ``macros`` in them; headers do not declare what is ``hidden``."""
        inside = {name for name in macros if is_machine_name(name)} | (macros & names_in_headers())
        gone = _used(lines, macros) | (inside if headers else set())
        away = [f"#define {name} sw_other_{name}" for name in sorted(hidden - gone)]
        back = [f"#undef {name}" for name in sorted(hidden - gone)]
        return [*(f"#undef {name}" for name in sorted(gone)), *away, *headers, *back, *lines]

    @staticmethod
    def _kept_apart(lines: Lines, macros: frozenset[str]) -> Lines:
        """Return ``lines`` with the ``macros`` in them switched off, and on again behind them."""
        used = sorted(_used(lines, macros))
        off = [line for name in used for line in (f'#pragma push_macro("{name}")', f"#undef {name}")]
        return [*off, *lines, *(f'#pragma pop_macro("{name}")' for name in used)]


def surroundings(vocabulary: Vocabulary, regions: Iterable[RegionCode]) -> Surroundings:
    """Return those of a file with this ``vocabulary``; our names keep clear of all that ``regions`` name."""
    taken = set(vocabulary.words)
    for region in regions:
        scop = region.scop
        taken.update(scop.numbers)
        taken.update(array.name for array in scop.arrays)
        taken.update(*(identifiers(s.body) for s in scop.statements))
        taken.update(*(_WORD.findall(text) for text in scop.prelude))
    taken.update([name.removeprefix("slave_") for name in taken])  # linkers know the kernel f as slave_f
    return Surroundings(Names(taken, is_reserved), vocabulary)


def _used(lines: Lines, macros: frozenset[str]) -> frozenset[str]:
    return macros.intersection(word for line in lines for word in _WORD.findall(line))
