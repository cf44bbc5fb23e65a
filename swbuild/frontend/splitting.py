"""Statements whose subscripts jump, ``(j + 1) % n``, as one statement for each piece.

The footprint of such a subscript reaches from one end of an array to the other, and no buffer holds it;
apart, the inner iterations and those at an edge have small ones.

A subscript is a piecewise affine function over counters and sizes, all of them parameters, and a statement's
domain a set of such.  The domain is cut along the pieces into parts that are disjoint and together the whole,
which stand one behind the other at the statement's place.  That is legal because in each iteration of the
loops around exactly one of them runs, so the order in the text is what it was.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import islpy as isl

from swbuild.frontend.drafts import Block, Draft, RawAccess, Subscript, Tree
from swbuild.frontend.polynomials import Polynomial

__all__ = ["split_jumps"]

#: More parts of one statement are not worth their code.
_MOST = 9
#: Elements from the end of one piece to the next one that still make one footprint.
_NEAR = 64


def split_jumps(block: Block, context: isl.Set) -> Block:
    """Return ``block`` with the parts of each statement that has such subscripts in its place."""
    items: list[Tree] = []
    for item in block.items:
        items += [split_jumps(item, context)] if isinstance(item, Block) else _parts(item, context)
    return Block(block.loop, tuple(items))


def _parts(draft: Draft, context: isl.Set) -> list[Draft]:
    domains = [draft.domain]
    for access in draft.accesses:
        for function in _functions(access):
            domains = _cut(domains, _pieces(function, access.domain, context), context)
            if len(domains) > _MOST:
                return [draft]
    if len(domains) == 1:
        return [draft]
    happens = [d.intersect(a.domain).is_empty() for d in domains for a in draft.accesses]
    return [draft] if any(happens) else [_part(draft, domain, context) for domain in domains]


def _functions(access: RawAccess) -> Iterator[isl.PwAff]:
    for subscript in access.subscripts:
        if isinstance(subscript, Polynomial):
            yield from subscript.terms.values()
        elif subscript is not None:
            yield subscript


def _pieces(function: isl.PwAff, domain: isl.Set, context: isl.Set) -> list[tuple[isl.Set, isl.PwAff]]:
    """Return where in ``domain`` the function is which affine one, equal ones together."""
    found: dict[str, tuple[isl.Set, isl.PwAff]] = {}
    for where, aff in function.get_pieces():
        inside = where.intersect(domain)
        if not inside.intersect(context).is_empty():
            before = found.get(str(aff))
            found[str(aff)] = (inside if before is None else before[0].union(inside), isl.PwAff.from_aff(aff))
    return list(found.values())


def _cut(domains: list[isl.Set], pieces: list[tuple[isl.Set, isl.PwAff]], context: isl.Set) -> list[isl.Set]:
    """Cut ``domains`` where a function jumps between two of its pieces."""
    pairs = itertools.combinations(pieces, 2)
    if not any(_jumps(p, q, context) and _jumps(q, p, context) for p, q in pairs):
        return domains
    found = []
    for domain in domains:
        for where, _ in pieces[1:]:
            found.append(domain.intersect(where))
            domain = domain.subtract(where)
        found.append(domain)
    return [d.coalesce() for d in found if not d.intersect(context).is_empty()]


def _jumps(piece: tuple[isl.Set, isl.PwAff], other: tuple[isl.Set, isl.PwAff], context: isl.Set) -> bool:
    """Whether the functions of two pieces may differ by much where the other one holds."""
    difference = piece[1].sub(other[1]).intersect_domain(other[0].intersect(context))
    return any(d.max_val().gt(isl.Val(_NEAR)) for d in (difference, difference.neg()))


def _part(draft: Draft, domain: isl.Set, context: isl.Set) -> Draft:
    accesses = tuple(
        replace(
            access,
            domain=access.domain.intersect(domain).coalesce(),
            subscripts=tuple(_within(s, domain.intersect(access.domain), context) for s in access.subscripts),
        )
        for access in draft.accesses
    )
    return replace(draft, domain=domain, accesses=accesses)


def _within(subscript: Subscript, domain: isl.Set, context: isl.Set) -> Subscript:
    """Return a subscript as it is on ``domain``."""
    if subscript is None:
        return None
    if isinstance(subscript, Polynomial):
        terms = {m: _single(function, domain, context) for m, function in subscript.terms.items()}
        return replace(subscript, terms=terms)
    return _single(subscript, domain, context)


def _single(function: isl.PwAff, domain: isl.Set, context: isl.Set) -> isl.PwAff:
    pieces = _pieces(function, domain, context)
    return pieces[0][1] if len(pieces) == 1 else function
