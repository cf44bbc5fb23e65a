"""Every name of a translation unit, for those who have to stay out of their way."""

from __future__ import annotations

import re  # reads words of the user's text

from swbuild.frontend.preprocess import Preprocessed
from swbuild.frontend.prune import Chunk, declared_names
from swbuild.frontend.request import Vocabulary
from swbuild.machine.reserved import is_machine_name, library_names

__all__ = ["vocabulary"]

_WORD = re.compile(r"[^\W\d][\w$]*")


def vocabulary(source: Preprocessed, raw: str, chunks: tuple[Chunk, ...]) -> Vocabulary:
    """Return the names in ``source``, whose text before preprocessing is ``raw``."""
    words = set(_WORD.findall(raw)).union(*map(_WORD.findall, source.own_texts()))
    special = {word for word in words if word in library_names() or is_machine_name(word)}
    declared = declared_names(source, chunks, special)
    return Vocabulary(
        words=frozenset(words | {name for name, _, _ in source.macros}),
        macros=source.own_macros(),
        given=source.given_macros(),
        library=frozenset(declared.keys() & library_names()),
        machine=tuple(sorted((name, span) for name, span in declared.items() if is_machine_name(name))),
    )
