"""Tables in a terminal: words wrap, numbers do not."""

from __future__ import annotations

import io
import re

import pytest

from swbuild.tables import print_rows

HEADS = ("region", "kernels", "sizes", "verdict", "DMA ops", "DMA bytes", "LDM", "seconds")
ROW = (
    "a_region",
    "12",
    "3: sizeX=100000 sizeY=100000 sizeZ=3",
    "mismatch",
    "1234567",
    "139.7 KiB",
    "17.7 KiB",
    "2.4",
)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", [30, 60, 80, 100, 200])
def test_numbers_stay_whole(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    terminal = _Terminal()
    print_rows(HEADS, [ROW], frozenset({1, 4, 5, 6, 7}), terminal)
    text = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue()).replace("\N{NO-BREAK SPACE}", " ")
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    for word in (*ROW[:2], "sizeX=100000", *ROW[3:]):
        assert any(word in line for line in text.splitlines()), word
    assert max(map(len, text.splitlines())) <= columns
    parts = 1 if columns > 80 else 2 if columns > 50 else 5
    assert text.count(ROW[0]) == parts
