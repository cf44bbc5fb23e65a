"""pytest plugin for swbuild: one test per kernel, size and target."""

from __future__ import annotations

__all__: list[str] = []
