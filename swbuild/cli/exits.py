"""Exit statuses, the same in every subcommand, in CTest, in Meson and in the pytest plugin."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Exit"]


class Exit(IntEnum):
    """What the process says to its caller."""

    OK = 0
    MISMATCH = 1
    USER_ERROR = 2
    INTERNAL = 70  # a defect of swbuild itself (EX_SOFTWARE)
    SKIPPED = 77
    INFRASTRUCTURE = 99
    INTERRUPTED = 130
