"""The kernel IR: loops, transfers and computations of one kernel."""

__all__: list[str] = []
