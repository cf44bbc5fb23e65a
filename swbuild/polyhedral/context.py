"""What is known of the sizes, in a form that keeps isl fast."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from swbuild.frontend.scop import Scop
from swbuild.islnumbers import int_of

__all__ = ["lightened", "without_upper_bounds"]

#: Constraints with larger constants only repeat the range of a C type; isl's arithmetic slows down on them.
LARGE = 1 << 24


def lightened(scop: Scop) -> Scop:
    """Return ``scop`` without the type ranges in its context.

    Knowing less of the parameters is always safe; what the ranges imply is first taken out of the
    assumptions, so that nothing more has to be tested at run time.
    """
    assumptions = scop.assumptions.gist(scop.context)
    statements = tuple(
        replace(statement, domain=_without_large(statement.domain.gist_params(scop.context)))
        for statement in scop.statements
    )
    context = _without_large(scop.context)
    return replace(scop, context=context, assumptions=assumptions, statements=statements)


def without_upper_bounds(sizes: isl.Set) -> isl.Set:
    """Return a superset of ``sizes`` (a parameter set): what limits a parameter from above is dropped."""
    result = isl.Set.empty(sizes.get_space())
    for piece in sizes.get_basic_sets():
        kept = isl.BasicSet.universe(piece.get_space())
        for constraint in piece.get_constraints():
            if not constraint.is_equality() and _only_grows(constraint, sizes.dim(isl.dim_type.param)):
                kept = kept.add_constraint(constraint)
        result = result.union(kept.to_set())
    return result.coalesce()


def _only_grows(constraint: isl.Constraint, parameters: int) -> bool:
    """Return whether ``constraint`` never fails for larger parameters where it holds for smaller ones."""
    factors = (constraint.get_coefficient_val(isl.dim_type.param, k) for k in range(parameters))
    return not constraint.is_div_constraint() and all(factor.is_nonneg() for factor in factors)


def _without_large(given: isl.Set) -> isl.Set:
    """Return a superset of ``given``: the parameter constraints with large constants are dropped."""
    result = isl.Set.empty(given.get_space())
    for piece in given.get_basic_sets():
        kept = isl.BasicSet.universe(piece.get_space())
        for constraint in piece.get_constraints():
            if not _is_large(constraint, given):
                kept = kept.add_constraint(constraint)
        result = result.union(kept.to_set())
    return result.coalesce()


def _is_large(constraint: isl.Constraint, given: isl.Set) -> bool:
    if abs(int_of(constraint.get_constant_val())) < LARGE:
        return False
    count = given.dim(isl.dim_type.set)
    return not (count and constraint.involves_dims(isl.dim_type.set, 0, count))
