"""Every code that any part of the project can print is explained, and nothing else is."""

from __future__ import annotations

import re
from pathlib import Path

from swbuild.cli.catalogue import catalogue

ROOT = Path(__file__).parents[2]
PARTS = ("swbuild", "pytest_sw", "cmake", "meson")
SUFFIXES = {".py", ".c", ".h", ".cmake", ".in", ".build"}
CODE = re.compile(r"(?<![A-Z0-9_])SW[1-9][0-9]{2}(?![0-9A-Za-z_])")


def codes(text: str) -> set[str]:
    return set(CODE.findall(text))


def test_every_code_in_the_sources_is_explained_and_no_other() -> None:
    files = [path for part in PARTS for path in (ROOT / part).rglob("*") if path.suffix in SUFFIXES]
    used = {code for path in files for code in codes(path.read_text(encoding="utf-8"))}
    assert used == set(catalogue())


def test_codes_are_told_from_other_words() -> None:
    text = 'Diagnostic("SW706"), error[SW603]: SW26010, SW1xx, SW0, SWEMU_SW123, SW6012'
    assert codes(text) == {"SW706", "SW603"}


def test_codes_are_whole_words_in_the_sources() -> None:
    """A code put together at run time would escape the first test."""
    for path in (ROOT / part for part in PARTS):
        for file in path.rglob("*.py"):
            found = re.findall(r"""["']SW["'%]|["'\[]SW[0-9]?\{""", file.read_text(encoding="utf-8"))
            assert not found, file
