"""How long each stage took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Timings"]


class Timings:
    """Wall-clock seconds by stage, in the order of their first use; stages may nest and repeat."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the body to the stage ``name``."""
        self.seconds.setdefault(name, 0.0)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - start

    def lines(self) -> Iterator[str]:
        """Yield a table of the stages."""
        width = max(map(len, (*self.seconds, "total")))
        for name, seconds in self.seconds.items():
            yield f"{name:<{width}} {1000 * seconds:9.1f} ms"
        yield f"{'total':<{width}} {1000 * sum(self.seconds.values()):9.1f} ms"
