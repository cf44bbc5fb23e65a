"""The vendor's calls for one buffer's transfers."""

from __future__ import annotations

from dataclasses import dataclass

from swbuild.codegen.ctext import Lines, array_index, indent, listed
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Name, Parenthesised
from swbuild.expressions.printing import c_text
from swbuild.kernelir.nodes import RowPut
from swbuild.machine import Dialect
from swbuild.names import own

__all__ = ["ISSUED", "Moved", "Transfers"]

#: counts the transfers of a group whose size is only known when it is issued
ISSUED = own("sw_issued")


@dataclass(frozen=True, slots=True)
class Moved:
    """A buffer as the transfers see it.

    ``extents`` are the array's, as C text; ``element`` is the size of one element in bytes;
    ``constant``: its box has the same size at every visit.
    """

    name: str
    array: str
    extents: tuple[str, ...]
    element: int
    constant: bool

    @property
    def dimensions(self) -> int:
        return len(self.extents)


@dataclass(frozen=True, slots=True)
class Transfers:
    """Prints transfers and waits.

    ``at_once`` is the classic way: each transfer is waited for as soon as it is issued, and a box
    whose size is not constant goes row by row.  ``counted``: some group's size is only known when
    it is issued, so a variable counts.
    """

    dialect: Dialect
    reply: str
    at_once: bool
    counted: bool

    def begin(self, *, dynamic: bool) -> Lines:
        """Open a group."""
        if self.at_once:
            return []
        return [f"{self.reply} = 0;", *([f"{ISSUED} = 0;"] if dynamic else [])]

    def wait(self, count: int | None) -> Lines:
        """Close a group of ``count`` transfers (None: as many as were counted)."""
        if self.at_once:
            return []
        return self.waited(ISSUED if count is None else str(count))

    def waited(self, count: str) -> Lines:
        """Wait until ``count`` transfers are complete."""
        return self.dialect.wait.format(reply=self.reply, count=count).split("\n")

    def box(self, moved: Moved, *, put: bool) -> Lines:
        """Move the whole box: one strided transfer for the last two dimensions, loops over the others."""
        n, name = moved.dimensions, moved.name
        strided = n > 1 and not (self.at_once and not moved.constant)
        looped = max(n - 2 if strided else n - 1, 0)
        outer = tuple(own(f"sw_d{k}") for k in range(looped))
        rest = range(looped, n)
        low = [own(f"{name}_lo{k}") for k in range(n)]
        count = [own(f"{name}_n{k}") for k in range(n)]
        ldm = own(f"{name}_ldm")
        sums = (Binary(BinaryOperator.ADD, Name(low[k]), Name(d)) for k, d in enumerate(outer))
        place = (*map(Parenthesised, sums), *(Name(low[k]) for k in rest))
        inside = array_index(_sizes(moved), (*map(Name, outer), *(Constant(0) for _ in rest)))
        pieces = {
            "ldm": f"{ldm} + {inside}" if outer else ldm,
            "memory": f"{moved.array} + {array_index(moved.extents, place)}",
            "bytes": f"{count[n - 1]} * {moved.element}",
        }
        if strided:
            pieces["block"] = pieces["bytes"]
            pieces["bytes"] = f"{count[n - 2]} * {pieces['block']}"
            pieces["gap"] = f"({moved.extents[n - 1]} - {count[n - 1]}) * {moved.element}"
        lines = self._issued(self._call(put=put, strided=strided), pieces)
        for k in reversed(range(looped)):
            head = f"for (long {outer[k]} = 0; {outer[k]} < {count[k]}; {outer[k]}++) {{"
            lines = [head, *indent(lines), "}"]
        return lines

    def row(self, moved: Moved, node: RowPut) -> Lines:
        """Put one row of the exact footprint."""
        index = (*node.outer, Parenthesised(node.low))
        pieces = {
            "ldm": f"&{own(f'LDM_{moved.name}')}({listed(index)})",
            "memory": f"{moved.array} + {array_index(moved.extents, index)}",
            "bytes": f"({c_text(node.size)}) * {moved.element}",
        }
        return self._issued(self.dialect.put, pieces)

    def _issued(self, call: str, pieces: dict[str, str]) -> Lines:
        issue = call.format(reply=self.reply, **pieces)
        if self.at_once:
            return [f"{self.reply} = 0;", issue, *self.waited("1")]
        return [issue, *([f"{ISSUED}++;"] if self.counted else [])]

    def _call(self, *, put: bool, strided: bool) -> str:
        if put:
            return self.dialect.put_strided if strided else self.dialect.put
        return self.dialect.get_strided if strided else self.dialect.get


def _sizes(moved: Moved) -> tuple[str, ...]:
    return ("", *(own(f"{moved.name}_n{k}") for k in range(1, moved.dimensions)))
