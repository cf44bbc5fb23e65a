"""Seeded inputs: the same bytes for the reference and the offloaded run, on every machine."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from swbuild.check.compare import dtype_of
from swbuild.check.shapes import Shape
from swbuild.check.slots import Slot, element_of
from swbuild.expressions.types import TypeKind

__all__ = ["make_inputs"]


def make_inputs(
    slots: Sequence[Slot],
    shapes: Mapping[str, Shape],
    sizes: Mapping[str, int],
    seed: int,
    index_bound: int | None,
) -> dict[str, npt.NDArray[Any]]:
    """Return a value for each slot.

    Floating-point numbers lie in [1/4, 1), and the diagonal of a square matrix is raised by its
    order, so that factorisations and solves stay finite.  Integers are small and not zero; with
    ``index_bound`` (the region uses data as subscripts) they lie in [0, index_bound).
    """
    values = {slot.name: _value(slot, shapes[slot.name], sizes, seed, index_bound) for slot in slots}
    for slot in slots:
        if slot.parameter is not None:
            _enter_size(slot, slots, values)
    return values


def _enter_size(slot: Slot, slots: Sequence[Slot], values: Mapping[str, npt.NDArray[Any]]) -> None:
    """Put the size ``slot``, if it is an element such as ``size[0]``, into the array that it belongs to."""
    for owner in slots:
        index = element_of(slot, owner)
        array = values[owner.name]
        if index is not None and all(i < n for i, n in zip(index, array.shape, strict=True)):
            array[index] = values[slot.name]


def _value(
    slot: Slot, shape: Shape, sizes: Mapping[str, int], seed: int, index_bound: int | None
) -> npt.NDArray[Any]:
    dtype = dtype_of(slot.element)
    if slot.parameter is not None:
        return np.array(sizes[slot.name], dtype=dtype)
    random = np.random.default_rng([seed, zlib.crc32(slot.name.encode())])
    if slot.element.kind is TypeKind.FLOAT:
        return _floats(random, shape, dtype)
    return _integers(random, shape, dtype, index_bound)


def _floats(random: np.random.Generator, shape: Shape, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    values = random.uniform(0.25, 1.0, shape).astype(dtype)
    if len(shape) == 2 and shape[0] == shape[1]:
        values[np.diag_indices(shape[0])] += shape[0]
    return np.asarray(values)


def _integers(
    random: np.random.Generator, shape: Shape, dtype: np.dtype[Any], index_bound: int | None
) -> npt.NDArray[Any]:
    if index_bound is not None:
        return random.integers(0, max(index_bound, 1), shape).astype(dtype)
    values = np.asarray(random.integers(1, 10, shape))
    if dtype.kind == "i":
        values = values * np.asarray(random.choice((-1, 1), shape))
    return values.astype(dtype)
