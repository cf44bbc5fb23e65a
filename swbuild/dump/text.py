"""isl's sets, maps and functions as lines: a line per part, sorted, without the list of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import islpy as isl

from swbuild.polyhedral.islutil import maps_of, sets_of

__all__ = [
    "aff_cases",
    "indented",
    "listed",
    "map_lines",
    "set_lines",
    "union_map_lines",
    "union_set_lines",
    "value_lines",
]


def indented(lines: Iterable[str], depth: int = 1) -> Iterator[str]:
    """Yield ``lines``, ``depth`` levels further to the right."""
    yield from (f"{'  ' * depth}{line}" for line in lines)


def listed(names: Iterable[object], nothing: str = "none") -> str:
    """Return ``a, b, c``, or ``nothing`` for no names."""
    return ", ".join(map(str, names)) or nothing


def _inside(value: object) -> str:
    """Return what isl writes between the braces."""
    text = str(value)
    return text[text.index("{") + 1 : text.rindex("}")].strip().removesuffix(":").rstrip()


def set_lines(value: isl.Set) -> list[str]:
    """Return a line per part of ``value``."""
    parts = value.get_basic_sets()
    texts = (_inside(isl.Set.from_basic_set(part)) for part in parts)
    return sorted(text.removeprefix(": ") or "true" for text in texts) or ["nothing"]


def map_lines(value: isl.Map) -> list[str]:
    """Return a line per part of ``value``."""
    return sorted(_inside(isl.Map.from_basic_map(part)) for part in value.get_basic_maps()) or ["nothing"]


def union_set_lines(value: isl.UnionSet) -> list[str]:
    """Return a line per part of ``value``, by the names of its tuples."""
    return [line for piece in sets_of(value) for line in set_lines(piece)]


def union_map_lines(value: isl.UnionMap) -> list[str]:
    """Return a line per part of ``value``, by the names of its tuples."""
    return [line for piece in maps_of(value) for line in map_lines(piece)]


def aff_cases(value: isl.PwAff) -> list[str]:
    """Return a line per case of ``value``: the formula, and where there are several, its condition."""
    pieces = value.get_pieces()
    if len(pieces) == 1:
        return [_formula(pieces[0][1])]
    return sorted(f"{_formula(aff)} if {_condition(where)}" for where, aff in pieces) or ["nowhere"]


def _formula(aff: isl.Aff) -> str:
    text = _inside(aff)
    value = text[text.rindex("[") + 1 : text.rindex("]")]
    return value[1:-1] if value.endswith(")") else value


def _condition(where: isl.Set) -> str:
    """Return the condition of ``where`` without its tuple."""
    texts = (_inside(part) for part in where.get_basic_sets())
    return " or ".join(sorted(text.partition(":")[2].strip() or "true" for text in texts))


def value_lines(value: isl.UnionPwAff) -> list[str]:
    """Return a line per statement and case of ``value``: ``S0[i, j] -> formula``."""
    pieces = value.get_pw_aff_list()
    lines = []
    for position in range(pieces.n_pw_aff()):
        piece = pieces.get_at(position)
        lines += [f"{_tuple(piece)} -> {case}" for case in aff_cases(piece)]
    return sorted(lines)


def _tuple(value: isl.PwAff) -> str:
    """Return the tuple that ``value`` is a function of."""
    return _inside(isl.Set.universe(value.get_domain_space()))
