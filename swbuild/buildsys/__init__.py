"""What build systems need of swbuild: the contract of ``swbuild query``, helpers to vendor, the cache."""

from __future__ import annotations

__all__: list[str] = []
