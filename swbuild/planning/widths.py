"""How wide diamonds over time are to be in planes: what fronts take, by what a tile moves and computes.

A wide diamond serves more steps with what it loads, but there are fewer of them for the CPEs to share, and
the LDM has room for shorter pieces of each, of which a larger part overlaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

from swbuild.classes import dataclass
from swbuild.machine import MachineModel
from swbuild.machine.cost.launches import Launch, Moved, Shape, launch_cycles

__all__ = ["UNIT", "Plane", "cheapest"]

#: Widths of diamonds are multiples of this: their ends then are no fractions.
UNIT = 4

#: The narrowest diamonds and the widest ones: these leave little room for what is beside them.
_NARROWEST, _WIDEST = 12, 32

#: Lengths of pieces are multiples of this.
_STRIDE = 16

#: What part of the LDM buffers are to take.
_FILLED = 0.95


@dataclass(frozen=True, slots=True)
class Plane:
    """Sweeps over two loops, as far as the cost of their tiles goes.

    ``slopes`` say how far dependences reach in a sweep along each loop, of which a step has ``in_a_step``;
    ``elements`` are the bytes of an element of each array, and ``budget`` those of the LDM; a point of a
    sweep takes ``point`` cycles.
    """

    slopes: tuple[int, int]
    in_a_step: int
    elements: tuple[int, ...]
    budget: int
    point: float
    machine: MachineModel

    @property
    def widths(self) -> list[int]:
        """The widths to choose from: those of diamonds over whole steps, if there are any.

        Others begin with different sweeps, and isl takes long over what they have in common.
        """
        widths = range(_NARROWEST, _WIDEST + 1, UNIT)
        over_steps = [width for width in widths if width % (self.in_a_step * self.slopes[0]) == 0]
        return over_steps or [*widths]

    def length(self, width: int) -> int:
        """Return the length of the pieces of diamonds of this ``width``; nothing fits if not positive."""
        room = int(self.budget * _FILLED) // max(1, sum(self.elements))
        return (room // self._rows(width) - self._lean(width)) // _STRIDE * _STRIDE

    def cycles(self, width: int, sweeps: int, extents: tuple[int, int]) -> float:
        """Return what so many ``sweeps`` over ``extents`` points take in diamonds of this ``width``."""
        whole, rest = divmod(extents[0] // width + 1, self.machine.cpes)
        taken = whole * self._round(width, self.machine.cpes, extents[1])
        if rest:
            taken += self._round(width, rest, extents[1])
        fronts = ceil(2 * self.slopes[0] * sweeps / width) + 1
        return fronts * (taken + self.machine.control.sync_cycles)

    def _round(self, width: int, busy: int, extent: int) -> float:
        """Return what ``busy`` CPEs take for a diamond each, whose second loop has this ``extent``."""
        lean = self._lean(width)
        pieces = ceil((extent + lean) / self.length(width))
        columns = max(1, (extent + (pieces - 1) * lean) // pieces)
        moved = tuple(
            Moved(0, is_put, pieces, 1, self._shape(width, columns, extent, element))
            for element in self.elements
            for is_put in (False, True)
        )
        # it is as high as it is wide, by the sweeps in which dependences reach as far, and half full
        points = width * width / (2 * self.slopes[0]) * extent
        taken = launch_cycles(Launch(busy, points * self.point, moved), self.machine)
        return taken.computing + taken.get + taken.put

    def _rows(self, width: int) -> int:
        return width + 2 * self.slopes[0]

    def _lean(self, width: int) -> int:
        """Return by how much a piece leans over while its diamond lasts."""
        return self.slopes[1] * (width // self.slopes[0] + 2)

    def _shape(self, width: int, columns: int, extent: int, element: int) -> Shape:
        return Shape(self._rows(width), columns * element, max(columns, extent) * element, element)


def cheapest(plane: Plane, runs: Sequence[tuple[int, tuple[int, int]]]) -> tuple[int, int] | None:
    """Return the width of diamonds and the length of pieces that take the least, None where nothing fits.

    ``runs`` are the sweeps and the extents of their loops at each of the sizes to plan for, which all count
    alike.
    """
    fitting = [width for width in plane.widths if plane.length(width) > 0]
    if not fitting:
        return None
    width = min(fitting, key=lambda each: prod(plane.cycles(each, *run) for run in runs))
    return width, plane.length(width)
