"""Text that is another one wherever it is compiled: ``__COUNTER__``, and ``__LINE__`` under ``#line``.

The host file, the slave file and the serial reference are compiled apart, so a region with such text
would compute with several values.
"""

from __future__ import annotations

import re
from pathlib import Path

from swbuild.diagnostics import Diagnostic, Span
from swbuild.frontend.pragmas import find_markers
from swbuild.frontend.preprocess import Preprocessed, counted_on, renumbered
from swbuild.frontend.request import CppOptions

__all__ = ["moving_text"]

_NO_TEXT = re.compile(r"^#[^\n]*\n|\s+", re.MULTILINE)
_HINTS = {
    "__COUNTER__": "count before the region, in a variable",
    "__LINE__": "take the line before the region, in a variable, or remove the '#line' above",
}


def moving_text(
    path: Path, options: CppOptions, source: Preprocessed, functions: frozenset[str]
) -> dict[int, Diagnostic]:
    """Return why regions of ``path`` cannot be moved, by the line of their ``#pragma scop``.

    ``source`` is what the front end reads, ``functions`` what regions may call that is defined there.
    """
    found: dict[int, Diagnostic] = {}
    others = {"__COUNTER__": (counted_on, frozenset[str]()), "__LINE__": (renumbered, functions)}
    for word, (preprocessor, called) in others.items():
        other = preprocessor(path, options) if _mentions(source, word) else None
        if other is not None:
            for line in _differing(source, other, called):
                what = f"this region depends on {word}, whose value is another one in another file"
                found[line] = Diagnostic("SW230", what, Span(str(path), line, 1), _HINTS[word])
    return found


def _mentions(source: Preprocessed, word: str) -> bool:
    """Whether a file that ``source`` is made of names ``word``."""
    return any(word.encode() in Path(name).read_bytes() for name in source.dependencies)


def _differing(source: Preprocessed, other: Preprocessed, functions: frozenset[str]) -> list[int]:
    """Return the lines of the regions whose text, or that of ``functions`` they call, is not the same."""
    mine, theirs = _regions(source), _regions(other)
    changed = _essence(source.text) != _essence(other.text)
    return [
        line
        for (line, text), (_, again) in zip(mine, theirs, strict=True)
        if _essence(text) != _essence(again) or (changed and functions & set(re.findall(r"\w+", text)))
    ]


def _regions(source: Preprocessed) -> list[tuple[int, str]]:
    """Return (line, text) for what stands between each opening pragma and the next pragma."""
    markers = find_markers(source)
    ends = [marker.offset for marker in markers[1:]] + [len(source.text)]
    return [(m.line, source.text[m.offset : end]) for m, end in zip(markers, ends, strict=True) if m.opens]


def _essence(text: str) -> str:
    return _NO_TEXT.sub(" ", text)
