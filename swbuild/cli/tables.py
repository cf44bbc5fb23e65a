"""Tables: by rich where a person looks, aligned plain text in files and pipes."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["plain_rows", "print_rows"]

Row = Sequence[str]


def print_rows(heads: Row, rows: Sequence[Row], right: frozenset[int] = frozenset()) -> None:
    """Print a table on standard output; the columns in ``right`` hold numbers."""
    if not sys.stdout.isatty():
        sys.stdout.write(plain_rows(heads, rows, right))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for number, head in enumerate(heads):
        table.add_column(head, justify="right" if number in right else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


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
