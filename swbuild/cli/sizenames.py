"""Names of sizes on the command line that belong to no region of a run."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Set
from pathlib import Path

from swbuild.diagnostics import Diagnostic, Span

__all__ = ["unknown_sizes"]

_WORD = re.compile(rb"[A-Za-z_]\w*")


def unknown_sizes(given: Iterable[str], known: Set[str], sources: Iterable[Path]) -> tuple[Diagnostic, ...]:
    """Return a mistake for each name that was ``given`` by ``-p`` and means nothing to any region.

    ``known`` are the sizes of the regions that ran; without any, nothing is said.  A word of the ``sources``
    is none: a size of a region that did not run, or one whose region has another name for it.
    """
    names = [name for name in given if name not in known] if known else []
    words = frozenset[str]().union(*map(_words, sources)) if names else frozenset()
    return tuple(_unknown(name, known) for name in names if name not in words)


def _unknown(name: str, known: Set[str]) -> Diagnostic:
    close = difflib.get_close_matches(name, sorted(known), n=1)
    hint = f"did you mean '{close[0]}'?" if close else "give sizes by the names that the loops use"
    message = f"no region has a size called '{name}'; they have {', '.join(sorted(known))}"
    return Diagnostic("SW504", message, Span(f"-p {name}"), hint)


def _words(path: Path) -> frozenset[str]:
    try:
        return frozenset(word.decode() for word in _WORD.findall(path.read_bytes()))
    except OSError:
        return frozenset()
