"""The circuit breaker: a target whose machinery fails time and again is left alone."""

from __future__ import annotations

__all__ = ["Breaker"]


class Breaker:
    """Counts failures of a target's machinery in a row; from ``limit`` on the target counts as broken."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._failures: dict[str, int] = {}

    def failed(self, target: str) -> None:
        """Note a failure of the machinery."""
        self._failures[target] = self._failures.get(target, 0) + 1

    def worked(self, target: str) -> None:
        """Note that the machinery worked; a target that counts as broken stays so."""
        if not self.open(target):
            self._failures[target] = 0

    def open(self, target: str) -> bool:
        """Return whether the target counts as broken."""
        return bool(self._limit) and self._failures.get(target, 0) >= self._limit

    def why(self, target: str) -> str:
        """Return the reason to show."""
        return f"its machinery failed {self._failures[target]} times in a row"
