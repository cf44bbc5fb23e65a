"""Element by element: what the offloaded run computed against what the reference computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from swbuild.check.results import ArrayReport, BadElement
from swbuild.classes import dataclass
from swbuild.expressions.types import ElementType, TypeKind

__all__ = ["EXACT", "Tolerance", "compare_arrays", "dtype_of", "tolerance_for"]

AnyArray = npt.NDArray[Any]

#: How many terms of a long sum together lose a unit of rounding of it, at most.
_LOST = 32

#: No tolerance that nobody has stated is larger: half of the part that one of 64 CPEs has of a sum.
_MOST = 1 / 128

#: How many bad elements a report shows.
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What may differ: an element is right when it lies within ``absolute + relative · |expected|``, or
    within ``ulp`` representable numbers.  All zero means bit-exact (but NaN matches NaN).
    """

    absolute: float = 0.0
    relative: float = 0.0
    ulp: int = 0


EXACT = Tolerance()


def tolerance_for(element: ElementType, exact: bool, terms: int = 1) -> Tolerance:
    """Return the tolerance when the user states none: none at all unless sums were reordered.

    What a serial sum of so many ``terms`` of one sign rounds off goes with their number: 800,000 squares of
    type ``float`` have been seen to lose 0.04 % of their sum, a hundredth of a unit of rounding each.
    """
    if exact or element.kind is not TypeKind.FLOAT:
        return EXACT
    usual, unit = (1e-4, 2.0**-24) if element.size <= 4 else (1e-11, 2.0**-53)
    return Tolerance(relative=max(usual, min(_MOST, terms * unit / _LOST)))


def dtype_of(element: ElementType) -> np.dtype[Any]:
    """Return the numpy type that has the layout of the C type."""
    if element.kind is TypeKind.FLOAT:
        return np.dtype({4: "<f4", 8: "<f8"}.get(element.size, "longdouble"))
    return np.dtype(f"<{'i' if element.kind is TypeKind.SIGNED else 'u'}{element.size}")


def compare_arrays(name: str, expected: AnyArray, actual: AnyArray, tolerance: Tolerance) -> ArrayReport:
    """Compare two arrays of one type and shape.

    NaN matches any NaN; an infinity matches only the infinity of its sign; the two zeros differ
    unless a tolerance is given, because the same operations in the same order keep the sign.
    """
    bad = _differs(expected, actual, tolerance)
    count = int(np.count_nonzero(bad))
    if not count:
        return ArrayReport(name, expected.size, 0)
    where = np.argwhere(bad)
    first = tuple(_bad_element(expected, actual, tuple(int(i) for i in index)) for index in where[:_SHOWN])
    box = tuple(zip(map(int, where.min(axis=0)), map(int, where.max(axis=0)), strict=True))
    absolute, relative, ulp = _largest_errors(expected[bad], actual[bad])
    return ArrayReport(name, expected.size, count, first, box, absolute, relative, ulp)


def _bad_element(expected: AnyArray, actual: AnyArray, index: tuple[int, ...]) -> BadElement:
    return BadElement(index, repr(expected[index].item()), repr(actual[index].item()))


def _differs(expected: AnyArray, actual: AnyArray, tolerance: Tolerance) -> npt.NDArray[np.bool_]:
    """Return where the arrays differ by more than ``tolerance``."""
    if expected.dtype.kind != "f":
        return np.asarray(expected != actual)
    both_nan = np.isnan(expected) & np.isnan(actual)
    if tolerance == EXACT:
        same = (expected == actual) & (np.signbit(expected) == np.signbit(actual))
        return np.asarray(~(same | both_nan))
    with np.errstate(all="ignore"):
        distance = np.abs(actual - expected)
        near = distance <= tolerance.absolute + tolerance.relative * np.abs(expected)
        near &= np.isfinite(expected) & np.isfinite(actual)
    if tolerance.ulp:
        near |= _ulp_distance(expected, actual) <= tolerance.ulp
    return np.asarray(~(near | (expected == actual) | both_nan))


def _largest_errors(expected: AnyArray, actual: AnyArray) -> tuple[float, float, int]:
    """Return the largest absolute, relative and ULP error of elements that differ."""
    with np.errstate(all="ignore"):
        distance = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
        relative = distance / np.abs(expected.astype(np.float64))
    ulp = int(_ulp_distance(expected, actual).max()) if expected.dtype.kind == "f" else 0
    return _largest(distance), _largest(relative), ulp


def _largest(values: AnyArray) -> float:
    """Return the largest value, infinity if there is one that is not a number."""
    return float(np.inf if np.isnan(values).any() else values.max())


def _ulp_distance(expected: AnyArray, actual: AnyArray) -> npt.NDArray[np.uint64]:
    """Return how many representable numbers lie between the elements, as if the type were a ruler."""
    if expected.dtype.itemsize not in (4, 8):
        expected, actual = expected.astype(np.float64), actual.astype(np.float64)
    left, right = _ruler(expected), _ruler(actual)
    return np.asarray(np.where(left > right, left - right, right - left), dtype=np.uint64)


def _ruler(values: AnyArray) -> npt.NDArray[np.uint64]:
    """Return the ordinal of each number among the representable ones (both zeros have the same)."""
    bits = values.view(np.uint64 if values.dtype.itemsize == 8 else np.uint32).astype(np.uint64)
    sign = np.uint64(1 << (8 * values.dtype.itemsize - 1))
    magnitude = bits & (sign - np.uint64(1))
    return np.asarray(np.where(bits & sign, sign - magnitude, sign + magnitude), dtype=np.uint64)
