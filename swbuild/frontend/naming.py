"""The names that the model gives: to objects and sizes, and to variables of statements' own texts."""

from __future__ import annotations

import re  # takes the expressions for tables of pointers apart
from dataclasses import replace

from swbuild.frontend.drafts import Key
from swbuild.frontend.state import Current
from swbuild.frontend.symbols import FileScope, Symbol
from swbuild.machine.reserved import is_reserved
from swbuild.names import distinct, plain

__all__ = ["Naming"]

_WORD = re.compile(r"\w+")


class Naming:
    """Gives names that clash with no others: each asks once, and is told the same from then on."""

    def __init__(self, now: Current, scope: FileScope) -> None:
        self._now, self._scope = now, scope

    def name(self, key: Key) -> str:
        """Return the name of an object or parameter: its own, varied where it can mean something else."""
        known = self._now.state.names.get(key)
        if known is not None:
            return known
        parts = _WORD.findall(key[0].name) if key[0].is_made else [key[0].name]
        wish = plain("_".join((*parts, *key[1])))
        return self._give(key, distinct(wish, lambda name: self._is_taken(name, name == key[0].name)))

    def number(self, wish: str) -> str:
        """Return a name like ``wish``, another one each time, for a number that is not in the source."""
        given = distinct(wish, lambda name: self._is_taken(name, False) or name in self._scope.words)
        return self._give(given, given)

    def _give(self, key: Key | str, name: str) -> str:
        self._now.state = replace(self._now.state, names={**self._now.state.names, key: name})
        return name

    def _is_taken(self, name: str, is_own: bool) -> bool:
        """Whether ``name`` is another object's, C's or a header's; ``is_own``: the source's for this one."""
        scope = self._scope
        functions = name in scope.functions or name in scope.prototypes
        foreign = functions or (name in scope.words and not is_own)
        return name in self._now.state.names.values() or foreign or is_reserved(name)

    # -- variables of statements' own texts -----------------------------------------------------

    def own(self, symbol: Symbol) -> str | None:
        """Return the name of a variable that belongs to a statement's text, None for all others."""
        return self._now.state.own.get(symbol)

    def make_own(self, symbol: Symbol) -> str:
        """Make a variable one of a statement's text, and return its name there."""
        state = self._now.state
        if symbol in state.own:
            return state.own[symbol]
        wish = plain(f"sw_{symbol.name}{state.own_given}")
        name = distinct(wish, self._scope.words.__contains__)
        self._now.state = replace(state, own={**state.own, symbol: name}, own_given=state.own_given + 1)
        return name

    def drop_own(self, symbol: Symbol) -> None:
        """Make a variable an ordinary one again."""
        state = self._now.state
        self._now.state = replace(state, own={s: n for s, n in state.own.items() if s is not symbol})
