"""The order of a region's statements in its text, as an isl schedule.

The schedule maps instances of statements (``S0[i, j]``) to time: what stands one behind the other becomes a
sequence, and a loop around statements one dimension, which is their counter of that loop, negated where it
counts down.
"""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from swbuild.frontend.drafts import Block, Draft, Loop
from swbuild.frontend.relations import sets_of

__all__ = ["textual_order"]


def textual_order(block: Block, domains: Mapping[Draft, isl.Set]) -> isl.Schedule | None:
    """Return the order of the statements in ``block`` that have ``domains``; None if there are none."""
    by_name = {domain.get_tuple_name(): draft for draft, domain in domains.items()}
    return _ordered(block, domains, by_name)


def _ordered(
    block: Block, domains: Mapping[Draft, isl.Set], by_name: Mapping[str, Draft]
) -> isl.Schedule | None:
    result: isl.Schedule | None = None
    for item in block.items:
        part = _ordered(item, domains, by_name) if isinstance(item, Block) else _leaf(domains.get(item))
        if part is not None:
            result = part if result is None else result.sequence(part)
    if result is not None and block.loop is not None:
        result = result.insert_partial_schedule(_dimension(result, block.loop, by_name))
    return result


def _leaf(domain: isl.Set | None) -> isl.Schedule | None:
    return None if domain is None else isl.Schedule.from_domain(isl.UnionSet.from_set(domain))


def _dimension(schedule: isl.Schedule, loop: Loop, by_name: Mapping[str, Draft]) -> isl.MultiUnionPwAff:
    """Return the schedule dimension of ``loop`` for all statements in it (negated if it counts down)."""
    total: isl.UnionPwAff | None = None
    for domain in sets_of(schedule.get_domain()):
        position = by_name[domain.get_tuple_name()].loops.index(loop)
        aff = isl.Aff.var_on_domain(isl.LocalSpace.from_space(domain.get_space()), isl.dim_type.set, position)
        part = isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(aff if loop.ascending else aff.neg()))
        total = part if total is None else total.union_add(part)
    assert total is not None
    return isl.MultiUnionPwAff.from_union_pw_aff(total)
