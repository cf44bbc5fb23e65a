"""Where an array is wrong, small enough to look at: shares of bad elements on a grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from swbuild.classes import dataclass

__all__ = ["ErrorMap", "differing", "error_map"]

#: The grid has at most so many cells on a side.
_CELLS = 48


@dataclass(frozen=True, slots=True)
class ErrorMap:
    """Shares of bad elements (0 to 1), row by row; ``shape`` is the array's, folded to two dimensions."""

    shape: tuple[int, int]
    cells: tuple[tuple[float, ...], ...]


def differing(expected: npt.NDArray[Any], actual: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return where the arrays differ at all; a NaN equals a NaN."""
    bad = expected != actual
    if expected.dtype.kind == "f":
        bad &= ~(np.isnan(expected) & np.isnan(actual))
    return np.asarray(bad)


def error_map(bad: npt.NDArray[np.bool_]) -> ErrorMap:
    """Return the map of a mask; the last dimension goes to the right, all others go down."""
    flat = bad.reshape(-1, bad.shape[-1]) if bad.ndim else bad.reshape(1, 1)
    rows, columns = flat.shape
    down = np.linspace(0, rows, min(rows, _CELLS) + 1).astype(int)
    right = np.linspace(0, columns, min(columns, _CELLS) + 1).astype(int)
    cells = tuple(
        tuple(
            float(flat[down[i] : down[i + 1], right[j] : right[j + 1]].mean()) for j in range(len(right) - 1)
        )
        for i in range(len(down) - 1)
    )
    return ErrorMap((rows, columns), cells)
