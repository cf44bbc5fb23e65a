"""The user's own transformations: a tree of loops, changed step by step, each step checked."""

__all__: list[str] = []
