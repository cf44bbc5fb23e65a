"""The names that the model gives: to the variables of statements' own texts."""

from __future__ import annotations

from swbuild.frontend.symbols import FileScope, Symbol
from swbuild.names import distinct, plain

__all__ = ["OwnNames"]


class OwnNames:
    """Names of variables that statements' own texts declare, which clash with no others."""

    def __init__(self, scope: FileScope) -> None:
        self._scope = scope
        self._names: dict[Symbol, str] = {}
        self._given = 0

    def get(self, symbol: Symbol) -> str | None:
        """Return the name of a variable that belongs to a statement's text, None for all others."""
        return self._names.get(symbol)

    def name(self, symbol: Symbol) -> str:
        """Make a variable one of a statement's text, and return its name."""
        if symbol not in self._names:
            wish = plain(f"sw_{symbol.name}{self._given}")
            self._names[symbol] = distinct(wish, self._scope.words.__contains__)
            self._given += 1
        return self._names[symbol]

    def drop(self, symbol: Symbol) -> None:
        """Make a variable an ordinary one again."""
        del self._names[symbol]
