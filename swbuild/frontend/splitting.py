"""Statements in parts, each of which moves less, or depends on less, than the whole.

Where subscripts jump, ``(j + 1) % n``, the footprint reaches from one end of an array to the other, and no
buffer holds it; apart, the inner iterations and those at an edge have small ones.  Where loops pass over an
element that all their iterations read, as ``d[i][j] = min(d[i][j], d[i][k] + d[k][j])`` does at ``j == k``
and at ``i == k``, the iterations before it need its old value and those after it the new one; apart, each of
the two is parallel.

A subscript is a piecewise affine function over counters and sizes, all of them parameters, and a statement's
domain a set of such.  The domain is cut into parts that are disjoint and together the whole, along the pieces
or the passing, and the parts stand one after the other at the statement's place.  That is legal because in
each iteration of the loops around exactly one of them runs, so the order in the text is what it was.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import islpy as isl

from swbuild.frontend.drafts import Block, Draft, RawAccess, Subscript, Tree
from swbuild.frontend.polynomials import Polynomial
from swbuild.frontend.scop import AccessKind

__all__ = ["split_crossings", "split_jumps"]

#: More parts of one statement are not worth their code.
_MOST = 9
#: Elements from the end of one piece to the next one that still make one footprint.
_NEAR = 64


def split_jumps(block: Block, context: isl.Set) -> Block:
    """Return ``block`` with the parts of each statement whose subscripts jump in its place."""
    return _split(block, context, _apart)


def split_crossings(block: Block, context: isl.Set) -> Block:
    """Return ``block`` with the parts of each statement that passes over what it reads in its place."""
    return _split(block, context, _before_and_after)


def _split(block: Block, context: isl.Set, cut: Callable[[Draft, isl.Set], list[isl.Set]]) -> Block:
    items: list[Tree] = []
    for item in block.items:
        if isinstance(item, Block):
            items.append(_split(item, context, cut))
        else:
            items += _parts(item, cut(item, context), context)
    return Block(block.loop, tuple(items))


def _parts(draft: Draft, domains: list[isl.Set], context: isl.Set) -> list[Draft]:
    """Return the parts of ``draft`` on ``domains``, or the whole of it where nothing is won by them."""
    if not 1 < len(domains) <= _MOST:
        return [draft]
    never = [d.intersect(a.domain).is_empty() for d in domains for a in draft.accesses]
    return [draft] if any(never) else [_part(draft, domain, context) for domain in domains]


def _apart(draft: Draft, context: isl.Set) -> list[isl.Set]:
    """Return the domain of ``draft`` cut where subscripts jump."""
    domains = [draft.domain]
    for access in draft.accesses:
        for function in _functions(access).values():
            domains = _cut(domains, _pieces(function, access.domain, context), context)
            if len(domains) > _MOST:
                return []
    return domains


def _before_and_after(draft: Draft, context: isl.Set) -> list[isl.Set]:
    """Return the domain of ``draft`` cut where a loop passes over an element that its iterations read."""
    domains = [draft.domain]
    for passing in _passings(draft):
        zero = isl.PwAff.zero_on_domain(isl.LocalSpace.from_space(passing.domain().get_space()))
        signs = (passing.lt_set(zero), passing.eq_set(zero), passing.gt_set(zero))
        parts = (domain.intersect(sign) for domain in domains for sign in signs)
        domains = [part.coalesce() for part in parts if not part.intersect(context).is_empty()]
        if len(domains) > _MOST:
            return []
    return domains


def _passings(draft: Draft) -> Iterator[isl.PwAff]:
    """Yield by how far writes of ``draft`` are from elements of the same arrays that stay where they are.

    Those are read at the same place but for one subscript, with counters of loops around all those that move
    the write along it.
    """
    order = {loop.variable: depth for depth, loop in enumerate(draft.loops)}
    writes = [access for access in draft.accesses if access.kind is not AccessKind.READ]
    for write, read in itertools.product(writes, draft.accesses):
        if read.kind is not AccessKind.READ or read.object is not write.object:
            continue
        here, there = _functions(write), _functions(read)
        differing = [key for key in here if key not in there or not here[key].plain_is_equal(there[key])]
        if here.keys() != there.keys() or len(differing) != 1:
            continue
        moving, still = (_depths(functions[differing[0]], order) for functions in (here, there))
        if moving and max(still, default=-1) < min(moving):
            yield here[differing[0]].sub(there[differing[0]])


def _depths(function: isl.PwAff, order: dict[str, int]) -> set[int]:
    """Return the depths of the loops whose counters ``function`` depends on."""
    kind = isl.dim_type.param
    names = (function.get_dim_name(kind, k) for k in range(function.dim(kind)))
    used = function.involves_dims
    return {order[name] for k, name in enumerate(names) if name in order and used(kind, k, 1)}


def _functions(access: RawAccess) -> dict[tuple[int, object], isl.PwAff]:
    """Return the affine functions that the subscripts of ``access`` consist of."""
    found: dict[tuple[int, object], isl.PwAff] = {}
    for position, subscript in enumerate(access.subscripts):
        if isinstance(subscript, Polynomial):
            found |= {(position, monomial): function for monomial, function in subscript.terms.items()}
        elif subscript is not None:
            found[position, None] = subscript
    return found


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
    """Cut those of ``domains`` in which a function jumps between two of its pieces."""
    found = []
    for domain in domains:
        here, pairs = context.intersect(domain), itertools.combinations(pieces, 2)
        jumps = any(_jumps(p, q, here) and _jumps(q, p, here) for p, q in pairs)
        for where, _ in pieces[1:] if jumps else ():
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
