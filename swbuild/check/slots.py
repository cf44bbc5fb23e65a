"""The objects that a region and its harness exchange: parameters, scalars and arrays, in a fixed order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from swbuild.check.shapes import Shape, array_shape
from swbuild.codegen.unit import RegionUnit
from swbuild.frontend.scop import Array, ElementType, Parameter, Storage

__all__ = ["Slot", "region_slots", "slot_shapes"]


@dataclass(frozen=True, slots=True)
class Slot:
    """One object: exactly one of ``parameter`` and ``array`` is set.

    ``text`` is how the region's source spells it (``s->a``), ``name`` how the model calls it.
    ``argument`` is its position in the entry's arguments, ``None`` if the entry does not take it.
    """

    name: str
    text: str
    element: ElementType
    parameter: Parameter | None
    array: Array | None
    argument: int | None
    by_value: bool
    writes: bool

    @property
    def is_scalar(self) -> bool:
        """Whether it is a single value."""
        return self.array is None or self.array.is_scalar


def region_slots(unit: RegionUnit) -> tuple[Slot, ...]:
    """Return the entry's arguments in their order, then whatever else the region's text needs."""
    taken = {argument.name: position for position, argument in enumerate(unit.arguments)}
    rest = [parameter.name for parameter in unit.scop.parameters]
    rest += [array.name for array in unit.scop.arrays if array.storage is not Storage.REGION]
    names = [*taken, *(name for name in rest if name not in taken)]
    return tuple(_slot(unit, name, taken.get(name)) for name in names)


def slot_shapes(unit: RegionUnit, slots: tuple[Slot, ...], point: isl.Set) -> Mapping[str, Shape] | str:
    """Return the shape of each slot at ``point``, or why there is none."""
    shapes: dict[str, Shape] = {}
    for slot in slots:
        shape = () if slot.array is None else array_shape(unit.scop, slot.array, point)
        if shape is None:
            return f"the size of {slot.text} is not known: give its extents under `arrays:`"
        shapes[slot.name] = shape
    return shapes


def _slot(unit: RegionUnit, name: str, position: int | None) -> Slot:
    parameter = next((p for p in unit.scop.parameters if p.name == name), None)
    argument = None if position is None else unit.arguments[position]
    by_value = argument.by_value if argument else parameter is not None
    writes = argument.writes if argument else False
    if parameter is not None:
        return Slot(name, parameter.expression, parameter.type, parameter, None, position, by_value, writes)
    array = unit.scop.array(name)
    return Slot(name, _spelling(array), array.element, None, array, position, by_value, writes)


def _spelling(array: Array) -> str:
    """Return the expression for the array itself: ``&s->a[0][0]`` speaks of ``s->a``."""
    uncast = re.sub(r"^\([\w ]+\*\)", "", array.pointer.strip())
    text = re.sub(r"(\[\s*0\s*\])+$", "", uncast)
    return text.lstrip("&").strip().removeprefix("(").removesuffix(")")
