"""Did you mean …?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["did_you_mean", "listing"]


def did_you_mean(word: str, known: Iterable[str], synonyms: Mapping[str, str] | None = None) -> str:
    """Return a hint that names the likeliest of ``known`` for ``word``, else lists all of them.

    ``synonyms`` maps words of other tools to the known word that they stand for.
    """
    import difflib  # not before something is misspelt

    names = list(known)
    plain = word.strip().lower().replace("_", "-")
    stand_in = {**{name.lower(): name for name in names}, **(synonyms or {})}
    close = difflib.get_close_matches(plain, list(stand_in), n=1, cutoff=0.6)
    if close:
        return f"did you mean `{stand_in[close[0]]}`?"
    return f"known: {listing(names)}" if names else ""


def listing(names: Iterable[str], conjunction: str = "and") -> str:
    """Return ``a, b and c``, each as code; ``names`` must not be empty."""
    *first, last = [f"`{name}`" for name in names]
    return f"{', '.join(first)} {conjunction} {last}" if first else last
