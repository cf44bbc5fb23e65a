"""The vectors of a machine, as types of C."""

from __future__ import annotations

from swbuild.expressions.types import DOUBLE, FLOAT, INT, ElementType
from swbuild.kernelir.tiles import Lanes
from swbuild.machine import MachineModel, load
from swbuild.options import KernelOptions

__all__ = ["lanes_of", "selectable", "vector_types"]


def lanes_of(options: KernelOptions) -> Lanes:
    """Return the vectors that kernels compute with under ``options``.

    Where products and sums are to be contracted, the machine needs an instruction for that.
    """
    machine = load(options.machine)
    able = not options.contract or bool(machine.dialect.vectors.multiply_add_double)
    return vector_types(machine) if able and options.tiles_registers else {}


def vector_types(machine: MachineModel) -> Lanes:
    """Return the vectors of each element type that ``machine`` has them of, and their lanes."""
    vectors, simd = machine.dialect.vectors, machine.simd
    named = (
        (DOUBLE, vectors.double_type, simd.double_lanes),
        (FLOAT, vectors.float_type, simd.float_lanes),
        (INT, vectors.int_type, simd.int_lanes),
    )
    return {
        element: (ElementType(name, lanes * element.size, element.kind), lanes)
        for element, name, lanes in named
        if vectors.load and name and lanes
    }


def selectable(machine: MachineModel) -> frozenset[ElementType]:
    """Return the element types of which ``machine`` can tell the lanes of vectors apart by their numbers."""
    vectors = machine.dialect.vectors
    named = (
        (DOUBLE, vectors.gather_double, vectors.double_functions),
        (FLOAT, vectors.gather_float, vectors.float_functions),
        (INT, vectors.gather_int, vectors.int_functions),
    )
    return frozenset(
        element for element, gather, functions in named if gather and functions.less and functions.where_zero
    )
