"""The objects that a region and its harness exchange: parameters, scalars and arrays, in a fixed order."""

from __future__ import annotations

import re  # reads elements named in a manifest
from collections.abc import Mapping

import islpy as isl

from swbuild.check.shapes import Shape, array_shape
from swbuild.classes import dataclass
from swbuild.codegen.unit import RegionUnit
from swbuild.expressions.types import ElementType
from swbuild.frontend.scop import Array, Parameter, RowTable, Storage

__all__ = ["Slot", "element_of", "region_slots", "slot_shapes"]


_ELEMENT = re.compile(r"(.+?)((?:\[\d+\])+)")


@dataclass(frozen=True, slots=True)
class Slot:
    """One object: exactly one of ``parameter`` and ``array`` is set.

    ``text`` is how the region's source spells it (``s->a``), ``name`` how the model calls it.
    ``given``: the source states what it holds for good.
    ``table``: the array is rows that a table leads to, ``text``, or the parameter is how far they are apart.
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
    given: bool
    table: RowTable | None = None

    @property
    def is_scalar(self) -> bool:
        """Whether it is a single value."""
        return self.array is None or self.array.is_scalar


def region_slots(unit: RegionUnit) -> tuple[Slot, ...]:
    """Return the entry's arguments in their order, then whatever else the region's text needs."""
    taken = {argument.name: position for position, argument in enumerate(unit.arguments)}
    rest = [parameter.name for parameter in unit.scop.parameters]
    rest += [array.name for array in unit.scop.arrays if array.storage not in (Storage.REGION, Storage.WORK)]
    names = [*taken, *(name for name in rest if name not in taken)]
    return tuple(_slot(unit, name, taken.get(name)) for name in names)


def slot_shapes(unit: RegionUnit, slots: tuple[Slot, ...], point: isl.Set) -> Mapping[str, Shape] | str:
    """Return the shape of each slot at ``point``, or why there is none."""
    shapes: dict[str, Shape] = {}
    for slot in slots:
        shape = () if slot.array is None else array_shape(unit.scop, slot.array, point)
        if shape is None:
            return f"the size of {slot.text} is not known: give its extents under `arrays:`"
        shapes[slot.name] = _with_elements(slot, slots, shape)
    return shapes


def element_of(slot: Slot, owner: Slot) -> tuple[int, ...] | None:
    """Return the subscripts of the size ``slot`` (``size[0]``) in the array ``owner``, None if it is none."""
    element = _ELEMENT.fullmatch(slot.text) if slot.parameter is not None else None
    if element is None or owner.array is None or owner.text != element[1]:
        return None
    index = tuple(int(number) for number in re.findall(r"\d+", element[2]))
    return index if len(index) == len(owner.array.extents) else None


def _with_elements(slot: Slot, slots: tuple[Slot, ...], shape: Shape) -> Shape:
    """Return the shape of an array with room for the sizes that are elements of it."""
    for other in slots:
        index = element_of(other, slot)
        if index is not None and slot.array is not None and slot.array.extents[0] is None:
            shape = (max(shape[0], index[0] + 1), *shape[1:])
    return shape


def _slot(unit: RegionUnit, name: str, position: int | None) -> Slot:
    parameter = next((p for p in unit.scop.parameters if p.name == name), None)
    argument = None if position is None else unit.arguments[position]
    by_value = argument.by_value if argument else parameter is not None
    writes = argument.writes if argument else False
    if parameter is not None:
        text, element, array = parameter.expression, parameter.type, None
    else:
        array = unit.scop.array(name)
        text, element = array.address.object, array.element
    given = name in unit.scop.given
    table = next((each for each in unit.scop.tables if name in (each.array, *each.extents)), None)
    return Slot(name, text, element, parameter, array, position, by_value, writes, given, table)
