"""Tables: by rich where a person looks, aligned plain text in files and pipes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import JustifyMethod
    from rich.table import Table

__all__ = ["plain_rows", "print_rows"]

Row = Sequence[str]


def print_rows(
    heads: Row,
    rows: Sequence[Row],
    right: frozenset[int] = frozenset(),
    stream: TextIO | None = None,
    colours: Mapping[str, str] | None = None,
) -> None:
    """Print a table on ``stream`` (default: standard output); the columns in ``right`` hold numbers.

    In a narrow terminal, cells of words take several lines, numbers stay whole, and the columns that have no
    room make a table of their own below.  ``colours`` are for cells with just these texts.
    """
    stream = stream or sys.stdout
    if not stream.isatty():
        stream.write(plain_rows(heads, rows, right))
        return
    from rich.console import Console

    console = Console(file=stream)
    least = [_longest_word([heads, *rows], number, number in right) for number in range(len(heads))]
    for columns in _parts(least, console.width):
        table = _rich_table(columns, heads, rows, right, least, colours or {})
        console.print(table, width=max(_width(columns, least), console.width), crop=False, soft_wrap=True)


def _longest_word(rows: Sequence[Row], column: int, whole: bool) -> int:
    """Return the length of what must not be cut in a column."""
    return max(len(word) for row in rows for word in ([row[column]] if whole else row[column].split(" ")))


def _parts(least: Sequence[int], width: int) -> list[list[int]]:
    """Return the columns in parts that fit the width; each begins with the first one."""
    parts = [[0]]
    for column in range(1, len(least)):
        if len(parts[-1]) > 1 and _width([*parts[-1], column], least) > width:
            parts.append([0])
        parts[-1].append(column)
    return parts


def _width(columns: Sequence[int], least: Sequence[int]) -> int:
    return sum(least[column] for column in columns) + 2 * len(columns) + 1


def _rich_table(
    columns: Sequence[int],
    heads: Row,
    rows: Sequence[Row],
    right: frozenset[int],
    least: Sequence[int],
    colours: Mapping[str, str],
) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        justify: JustifyMethod = "right" if column in right else "left"
        table.add_column(heads[column], justify=justify, overflow="fold", min_width=least[column])
    for row in rows:
        cells = [(row[column], column in right) for column in columns]
        table.add_row(*(Text(_whole(c) if number else c, colours.get(c, "")) for c, number in cells))
    return table


def _whole(cell: str) -> str:
    """Return the cell with its number and its unit on one line."""
    return cell.replace(" ", "\N{NO-BREAK SPACE}")


def plain_rows(heads: Row, rows: Sequence[Row], right: frozenset[int] = frozenset()) -> str:
    """Return the table as lines of text."""
    table = [heads, *rows]
    widths = [max(len(row[number]) for row in table) for number in range(len(heads))]
    lines = []
    for row in table:
        cells = [_padded(cell, widths[number], number in right) for number, cell in enumerate(row)]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def _padded(cell: str, width: int, right: bool) -> str:
    return cell.rjust(width) if right else cell.ljust(width)
