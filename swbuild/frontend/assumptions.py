"""What the sizes have to be for a region's model to be right: one set, which the generated host code tests.

All sets here are parameter sets.  An assumption is a set of sizes alone: from where the model would be wrong,
at points of counters and sizes, the counters are projected out, so that one bad point rules its sizes out.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from swbuild.frontend.drafts import Draft
from swbuild.frontend.integers import parameter, universe
from swbuild.frontend.problems import Problems
from swbuild.frontend.sizes import sizes_only
from swbuild.frontend.state import ModelState

__all__ = ["refuse_impossible", "where_right"]


def where_right(state: ModelState, drafts: Sequence[Draft]) -> isl.Set:
    """Return the parameter values for which no assumption of ``state`` is broken.

    Where a place is not reached nothing is needed there, and a simpler condition may fail,
    too, as long as the region computes nothing for those sizes, or they are not all positive.
    """
    holds, bad = state.moderate, universe().complement()
    for assumption in state.assumptions:
        bad = bad.union(assumption.bad)
    bad, computing = bad.coalesce(), _computing(state, drafts)
    for assumption in state.assumptions:
        simple = assumption.bad.gist(assumption.sizes).coalesce()
        costs = simple.intersect(computing).intersect(state.context)
        holds = holds.subtract(simple if costs.is_subset(bad) else assumption.bad)
    return holds.coalesce()


def _computing(state: ModelState, drafts: Sequence[Draft]) -> isl.Set:
    """Return the positive sizes for which the region computes anything."""
    computing = sizes_only(drafts[0].domain)
    for draft in drafts[1:]:
        computing = computing.union(sizes_only(draft.domain)).coalesce()
    for size in state.parameters.values():
        computing = computing.intersect(parameter(size.name).pos_set())
    return computing


def refuse_impossible(
    state: ModelState, problems: Problems, drafts: Sequence[Draft], assumptions: isl.Set
) -> None:
    """Add a problem where ``assumptions`` leave nothing of any statement."""
    domains = [draft.domain.intersect(state.context) for draft in drafts]
    if any(not domain.intersect(assumptions).is_empty() for domain in domains):
        return
    sizes = sizes_only(domains[0])
    alone = [a for a in state.assumptions if sizes.is_subset(a.bad)]
    culprit = (alone or state.assumptions)[0]
    why = "it never does" if alone else "with the other conditions here it never does"
    message = f"{culprit.why}, and {why} where the region computes anything"
    problems.add(problems.make("SW221", message, culprit.node, "correct the bounds, subscripts or types"))
