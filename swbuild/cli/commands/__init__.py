"""The subcommands, one module each: ``configure(parser)`` and ``run(args)``."""

from __future__ import annotations

__all__: list[str] = []
