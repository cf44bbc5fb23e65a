"""Which tests have to do with kernels: a mark that costs the sessions nothing that have none."""

from __future__ import annotations

import pytest

__all__ = ["is_touched", "touch"]

_TOUCHED: pytest.StashKey[bool] = pytest.StashKey()


def touch(item: pytest.Item) -> None:
    """Note that the test has to do with kernels."""
    item.stash[_TOUCHED] = True


def is_touched(item: pytest.Item) -> bool:
    """Return whether the test has to do with kernels."""
    return item.stash.get(_TOUCHED, False)
