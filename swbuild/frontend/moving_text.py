"""Text that is another one wherever it is compiled: ``__COUNTER__``, ``__LINE__`` under ``#line``, and
what depends on the level of optimisation.

The host file, the slave file and the serial reference are compiled apart, and the front end does not
know how, so a region with such text would compute with several values.
"""

from __future__ import annotations

import re  # reads the output of the preprocessor
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from swbuild.diagnostics import Diagnostic, Span
from swbuild.frontend.pragmas import find_markers
from swbuild.frontend.preprocess import Preprocessed, counted_on, optimised, renumbered
from swbuild.frontend.request import CppOptions

__all__ = ["moving_text"]

_NO_TEXT = re.compile(r"^#[^\n]*\n|\s+", re.MULTILINE)
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\w+|\S')
_WORDS_OF_C = frozenset(
    (
        *("auto", "char", "const", "double", "enum", "extern", "float", "inline", "int", "long", "register"),
        *("restrict", "return", "short", "signed", "sizeof", "static", "struct", "typedef", "union"),
        *("unsigned", "void", "volatile"),
    )
)
_HINTS = {
    "__COUNTER__": "count before the region, in a variable",
    "__LINE__": "take the line before the region, in a variable, or remove the '#line' above",
    "__OPTIMIZE__": "let a macro of your own decide, given by -D or 'cpp' in the manifest",
    "__NO_INLINE__": "let a macro of your own decide, given by -D or 'cpp' in the manifest",
}


def moving_text(
    path: Path, options: CppOptions, source: Preprocessed, functions: frozenset[str]
) -> dict[int, Diagnostic]:
    """Return why regions of ``path`` cannot be moved, by the line of their ``#pragma scop``.

    ``source`` is what the front end reads, ``functions`` what regions may call that is defined there.
    """
    found: dict[int, Diagnostic] = {}
    others = {
        "__COUNTER__": (counted_on, frozenset[str]()),
        "__LINE__": (renumbered, functions),
        "__OPTIMIZE__": (optimised, functions),
        "__NO_INLINE__": (optimised, functions),
    }
    for word, (preprocessor, called) in others.items():
        other = preprocessor(path, options) if _mentions(source, word) else None
        if other is not None:
            for line in _differing(source, other, called):
                what = f"this region depends on {word}, whose value is not the same wherever it is compiled"
                found[line] = Diagnostic("SW230", what, Span(str(path), line, 1), _HINTS[word])
    return found


def _mentions(source: Preprocessed, word: str) -> bool:
    """Whether a file that ``source`` is made of, but for headers of the system, names ``word``."""
    own = source.own_files & set(source.dependencies)
    return any(word.encode() in Path(name).read_bytes() for name in own)


def _differing(source: Preprocessed, other: Preprocessed, functions: frozenset[str]) -> list[int]:
    """Return the lines of the regions whose text is not the same, or that of what they may use."""
    mine, theirs = _regions(source), _regions(other)
    changed = _essence(source.text) != _essence(other.text)
    declared = changed and (_moved_names(source, other) or _moved_names(other, source))
    return [
        line
        for (line, text), (_, again) in zip(mine, theirs, strict=True)
        if declared
        or _essence(text) != _essence(again)
        or (changed and functions & set(re.findall(r"\w+", text)))
    ]


def _moved_names(source: Preprocessed, other: Preprocessed) -> set[str]:
    """Return the names in the user's declarations that ``other`` lacks and that stand elsewhere, too."""
    tokens = _TOKEN.findall("".join(source.own_texts()))
    same = Counter(_declarations(_TOKEN.findall("".join(other.own_texts()))))
    left, gone = Counter(tokens), set[str]()
    for declaration in _declarations(tokens):
        if same[declaration]:
            same[declaration] -= 1
        else:
            left.subtract(declaration)
            gone.update(declaration)
    return {word for word in gone if left[word] > 0 and word.isidentifier() and word not in _WORDS_OF_C}


def _declarations(tokens: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield what stands at file scope between semicolons, without the bodies of functions."""
    found: list[str] = []
    body, depth = 0, 0
    for before, token in pairwise(["", *tokens]):
        depth += (token in "({[") - (token in ")}]")
        if token == "{" and before == ")" and depth == 1:
            body = 1
        if not body:
            found.append(token)
        if depth == 0 and (token == ";" or (body and token == "}")):
            yield tuple(found)
            found, body = [], 0


def _regions(source: Preprocessed) -> list[tuple[int, str]]:
    """Return (line, text) for what stands between each opening pragma and the next pragma."""
    markers = find_markers(source)
    ends = [marker.offset for marker in markers[1:]] + [len(source.text)]
    return [(m.line, source.text[m.offset : end]) for m, end in zip(markers, ends, strict=True) if m.opens]


def _essence(text: str) -> str:
    return _NO_TEXT.sub(" ", text)
