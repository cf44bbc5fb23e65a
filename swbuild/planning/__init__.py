"""Candidates as values, and the choice among them: the order of a region, the tiles of each kernel."""

__all__: list[str] = []
