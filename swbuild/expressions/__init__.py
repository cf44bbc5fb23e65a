"""Expressions as trees: immutable nodes, what can be asked of them, and how they are printed as C."""

__all__: list[str] = []
