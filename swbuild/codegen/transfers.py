"""The vendor's calls for one buffer's transfers."""

from __future__ import annotations

from swbuild.classes import dataclass
from swbuild.codegen.ctext import Lines, array_index, listed
from swbuild.codegen.messages import function_of
from swbuild.expressions.conditions import both
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression, Parenthesised
from swbuild.expressions.printing import c_text, in_parentheses
from swbuild.expressions.types import ElementType
from swbuild.kernelir.nodes import (
    AT_HAND,
    NEXT,
    Along,
    Arrived,
    Begin,
    Direction,
    Group,
    Piece,
    Row,
    Share,
    Transfer,
    Wait,
    Whole,
    Window,
)
from swbuild.kernelir.transfers import low_of, size_of
from swbuild.machine import Dialect
from swbuild.names import own

__all__ = ["Moved", "Transfers", "aside_name", "ldm_name", "turned_name", "whole_rows"]


def ldm_name(buffer: str, slot: int) -> str:
    """Return the pointer to a slot of a buffer."""
    return own(f"{buffer}_{('ldm', 'next', 'spare', 'early')[slot]}")


def turned_name(buffer: str) -> str:
    """Return the pointer to the turned box of a buffer."""
    return own(f"{buffer}_turned")


def aside_name(buffer: str) -> str:
    """Return the pointer to the slot of a resident buffer for boxes that do not stay."""
    return own(f"{buffer}_aside")


@dataclass(frozen=True, slots=True)
class Moved:
    """A buffer as its transfers are printed: ``extents`` of its array as C text, of elements of this type."""

    name: str
    array: str
    extents: tuple[str, ...]
    element: ElementType


@dataclass(frozen=True, slots=True)
class Transfers:
    """Prints transfers and waits; ``stem`` tells the reply words of a file from those of others."""

    dialect: Dialect
    stem: str

    def reply(self, group: Group | None = None) -> str:
        """Return the name of the reply word of ``group``, or of what moves before and after all groups."""
        number = 0 if group is None else group.reply
        assert number is not None
        return own(f"sw_reply_{self.stem}" + (f"_{number}" if number else ""))

    @staticmethod
    def counter(group: Group) -> str:
        """Return the variable that counts the transfers of groups with this reply word."""
        return own("sw_issued" + (f"_{group.reply}" if group.reply else ""))

    def begin(self, node: Begin) -> Lines:
        """Open a group."""
        counted = [f"{self.counter(node.group)} = 0;"] if node.dynamic else []
        return [f"{self.reply(node.group)} = {node.complete};", *counted]

    def wait(self, node: Wait) -> Lines:
        """Close a group."""
        count = self.counter(node.group) if node.count is None else str(node.count)
        return self.waited(self.reply(node.group), count)

    def waited(self, reply: str, count: str) -> Lines:
        """Wait until ``count`` transfers are complete."""
        return self.dialect.wait.format(reply=reply, count=count).split("\n")

    @property
    def arrived(self) -> str:
        """The name of the word that counts what other CPEs have handed out."""
        return own(f"sw_arrived_{self.stem}")

    @property
    def sent(self) -> str:
        """The name of the word that counts what this CPE has handed out while it computes."""
        return own(f"sw_sent_{self.stem}")

    def meet(self, *, ahead: bool) -> Lines:
        """Have all CPEs ready for what others hand out; ``ahead``: while they compute."""
        words = [self.arrived, *([self.sent] if ahead else [])]
        return [*(f"{word} = 0;" for word in words), *self.dialect.barrier.split("\n")]

    def share(self, moved: Moved, node: Share) -> Lines:
        """Hand out a box."""
        if node.in_messages:
            return self._in_messages(moved, node)
        broadcasts = self.dialect.broadcasts
        ways = {Along.ROW: broadcasts.row, Along.COLUMN: broadcasts.column, Along.ALL: broadcasts.everybody}
        if node.slot != AT_HAND:
            begun = (broadcasts.begin_row, broadcasts.begin_column, broadcasts.begin_everybody)
            ways = dict(zip((Along.ROW, Along.COLUMN, Along.ALL), begun, strict=True))
        call = ways[node.along].format(
            ldm=ldm_name(moved.name, node.slot),
            source=ldm_name(moved.name, NEXT),
            bytes=" * ".join([*map(in_parentheses, node.size), str(moved.element.size)]),
            sent=self.sent,
            reply=self.arrived,
        )
        return [f"if ({c_text(both((node.owner, *node.under)))})", f"  {call}"]

    def _in_messages(self, moved: Moved, node: Share) -> Lines:
        """Hand out a box in messages, in which all CPEs along the way take part."""
        name, count = (
            function_of(node.along, moved.element, self.stem),
            " * ".join(map(in_parentheses, node.size)),
        )
        slots = f"{ldm_name(moved.name, node.slot)}, {ldm_name(moved.name, NEXT)}"
        who = ", ".join(c_text(part) for part in (node.owner, node.passes) if part is not None)
        call = f"{name}({slots}, {count}, {who});"
        return [f"if ({c_text(both(node.under))})", f"  {call}"] if node.under else [call]

    def await_shares(self, node: Arrived) -> Lines:
        """Wait for all boxes that are handed to this CPE."""
        arrived = self.dialect.broadcasts.arrived.format
        own_ones = arrived(reply=self.sent, count=_how_many(node.sent)).split("\n") if node.sent else []
        return [*arrived(reply=self.arrived, count=_how_many(node.under)).split("\n"), *own_ones]

    def issue(self, moved: Moved, node: Transfer) -> Lines:
        """Issue one operation."""
        assert not isinstance(node.part, Whole)
        if isinstance(node.part, Piece):
            pieces = _piece(moved, node.part, node.slot)
        else:
            pieces = _row(moved, node.part) if isinstance(node.part, Row) else _window(moved, node.part)
        call = self._call(node.group.direction, strided="gap" in pieces)
        counted = [f"{self.counter(node.group)}++;"] if node.counted else []
        return [call.format(reply=self.reply(node.group), **pieces), *counted]

    def _call(self, direction: Direction, *, strided: bool) -> str:
        if direction is Direction.PUT:
            return self.dialect.put_strided if strided else self.dialect.put
        return self.dialect.get_strided if strided else self.dialect.get


def _how_many(conditions: tuple[tuple[Expression, ...], ...]) -> str:
    """Return how many of ``conditions`` have parts that all hold."""
    always = sum(not parts for parts in conditions)
    sometimes = [in_parentheses(both(parts)) for parts in conditions if parts]
    return " + ".join([*([str(always)] if always or not sometimes else []), *sometimes])


def _piece(moved: Moved, piece: Piece, slot: int) -> dict[str, str]:
    """Return the addresses and lengths of a piece of the box that is in ``slot``."""
    pairs = enumerate(piece.offset)
    place = tuple(_plus(low_of(moved.name, k), offset) for k, offset in pairs)
    ldm = ldm_name(moved.name, slot)
    sizes = ("", *(size_of(moved.name, k).name for k in range(1, len(place))))
    whole = all(offset == Constant(0) for offset in piece.offset)
    length = in_parentheses(piece.length)
    pieces = {
        "ldm": ldm if whole else f"{ldm} + {array_index(sizes, piece.offset)}",
        "memory": f"{moved.array} + {array_index(moved.extents, place)}",
        "bytes": f"{length} * {moved.element.size}",
    }
    if piece.rows is not None:
        pieces["block"] = pieces["bytes"]
        pieces["bytes"] = f"{in_parentheses(piece.rows)} * {pieces['block']}"
        row = " * ".join(moved.extents[-piece.whole - 1 :])
        pieces["gap"] = f"({row} - {length}) * {moved.element.size}"
    return pieces


def whole_rows(buffer: str, window: Window) -> str:
    """Return the condition that the rows of ``window`` are those of the box, which has them in a row."""
    return f"{in_parentheses(window.size[-1])} == {size_of(buffer, len(window.size) - 1).name}"


def _window(moved: Moved, window: Window) -> dict[str, str]:
    """Return the addresses and lengths of a rectangle: of whole rows of the box, or put aside."""
    rows, length = (in_parentheses(size) for size in window.size[-2:])
    block = f"{length} * {moved.element.size}"
    inside = f"&{own(f'LDM_{moved.name}')}({listed(window.low)})"
    return {
        "ldm": f"{whole_rows(moved.name, window)} ? {inside} : {aside_name(moved.name)}",
        "memory": f"{moved.array} + {array_index(moved.extents, tuple(map(Parenthesised, window.low)))}",
        "bytes": f"{rows} * {block}",
        "block": block,
        "gap": f"({moved.extents[-1]} - {length}) * {moved.element.size}",
    }


def _plus(low: Expression, offset: Expression) -> Expression:
    return low if offset == Constant(0) else Parenthesised(Binary(BinaryOperator.ADD, low, offset))


def _row(moved: Moved, row: Row) -> dict[str, str]:
    """Return the addresses and lengths of a row of the exact footprint."""
    index = (*row.outer, Parenthesised(row.low))
    return {
        "ldm": f"&{own(f'LDM_{moved.name}')}({listed(index)})",
        "memory": f"{moved.array} + {array_index(moved.extents, index)}",
        "bytes": f"({c_text(row.size)}) * {moved.element.size}",
    }
