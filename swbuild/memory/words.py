"""Arrays whose elements are smaller than what DMA moves: whole words of memory.

A box around some of their elements begins and ends with a word.  It holds the neighbours in those words too.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from math import gcd, prod

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Array, Scop
from swbuild.polyhedral.extents import extents_of
from swbuild.polyhedral.islutil import constant_of

__all__ = [
    "WORD",
    "SharedWords",
    "Words",
    "in_whole_words",
    "in_words",
    "is_small",
    "with_whole_words",
    "words_of",
]

#: Bytes that DMA moves at least: addresses, lengths and gaps are multiples of it.
WORD = 4


@dataclass(frozen=True, slots=True)
class SharedWords:
    """Arrays of which CPEs would write parts of words: two that write neighbours would lose one of them."""

    arrays: frozenset[str]


@dataclass(frozen=True, slots=True)
class Words:
    """How the elements of an array lie in words.

    Of the dimension at ``position``, ``count`` indices from a multiple of it on fill whole words, with all of
    the dimensions behind it, whose extents are ``rest``.
    """

    position: int
    count: int
    rest: tuple[int, ...]


def is_small(array: Array) -> bool:
    """Return whether an element of ``array`` may share a word with its neighbours."""
    return array.element.size % WORD != 0


def words_of(scop: Scop, array: Array) -> Words | None:
    """Return how ``array``, which is no scalar, lies in words where it begins with one.

    None where rows may begin in the middle of a word, at some size at which the region runs, or where the
    last words would reach more than the rest of one beyond the array.
    """
    rest: list[int] = []
    for position in reversed(range(len(array.extents))):
        unit = array.element.size * prod(rest)
        extent, count = array.extents[position], WORD // gcd(WORD, unit)
        ends_in_last = position == 0 and (count - 1) * unit < WORD
        if ends_in_last or (extent is not None and _is_multiple(scop, extent, count)):
            return Words(position, count, tuple(rest))
        length = None if extent is None else constant_of(extent)
        if length is None:
            return None
        rest.insert(0, length)
    return None


def in_whole_words(scop: Scop, array: Array) -> bool:
    """Return whether ``array``, which begins with a word, ends with one."""
    words = words_of(scop, array)
    extent = None if words is None else array.extents[words.position]
    return words is not None and extent is not None and _is_multiple(scop, extent, words.count)


def in_words(accessed: isl.Map, words: Words | None) -> isl.Map:
    """Return ``accessed`` (prefix -> element) with all elements in the same ``words``."""
    if words is None or (words.count == 1 and not words.rest):
        return accessed
    outer = [f"i{k}" for k in range(words.position)]
    inner = [f"r{k}" for k in range(len(words.rest))]
    others = [f"s{k}" for k in range(len(words.rest))]
    known = [f"floor(x/{words.count}) = floor(y/{words.count})"]
    known += [f"0 <= {name} < {extent}" for name, extent in zip(others, words.rest, strict=True)]
    one, two = ", ".join([*outer, "x", *inner]), ", ".join([*outer, "y", *others])
    same = isl.Map(f"{{ [{one}] -> [{two}] : {' and '.join(known)} }}")
    whole = accessed.reset_tuple_id(isl.dim_type.out).apply_range(same).coalesce()
    return whole.set_tuple_name(isl.dim_type.out, accessed.get_tuple_name(isl.dim_type.out))


def with_whole_words(scop: Scop) -> Scop | None:
    """Return ``scop`` for those sizes alone at which its arrays of small elements are whole words.

    So all of those are that are written; of others, which may be read beyond their end, the rows.  None where
    there is nothing to ask of the sizes for that, or no size does.
    """
    arrays = [array for array in scop.arrays if is_small(array) and not array.is_scalar]
    written = scop.written_by(statement.name for statement in scop.statements)
    asked = [
        _multiple(scop, array)
        for array in arrays
        if words_of(scop, array) is None or (array.name in written and not in_whole_words(scop, array))
    ]
    sizes = scop.context.intersect(scop.assumptions)
    wanted = [each for each in asked if each is not None]
    if not wanted or len(wanted) < len(asked):
        return None
    whole = reduce(isl.Set.intersect, wanted).intersect_params(sizes)
    if whole.is_empty():
        return None
    build = isl.AstBuild.from_context(sizes)
    text = build.expr_from_set(whole.gist(sizes)).to_C_str()
    return replace(scop, assumptions=scop.assumptions.intersect(whole), whole_words=text)


def _multiple(scop: Scop, array: Array) -> isl.Set | None:
    """Return the sizes at which ``array`` is made of whole words, None where sizes have no say in that."""
    rest = array.element.size
    extents = extents_of(scop, array)
    for position in reversed(range(len(extents))):
        extent, count = extents[position], WORD // gcd(WORD, rest)
        if extent is None or extent.n_piece() != 1:
            return None
        length = constant_of(extent)
        if length is None:
            return extent.mod_val(isl.Val(count)).zero_set().params()
        if length % count == 0:
            return isl.Set.universe(scop.context.get_space())
        rest *= length
    return None


def _is_multiple(scop: Scop, extent: isl.PwAff, count: int) -> bool:
    """Return whether ``extent`` is a multiple of ``count`` at all sizes at which the region runs."""
    found = isl.Set.from_pw_aff(extent.intersect_params(scop.context.intersect(scop.assumptions)))
    return bool(found.is_subset(isl.Set(f"{{ [x] : x mod {count} = 0 }}")))
