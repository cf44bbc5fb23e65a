"""Kernels, tiles and threads."""

__all__: list[str] = []
