"""Run-time tests that arrays which might overlap do not."""

from __future__ import annotations

import islpy as isl

from swbuild.codegen.plan import RegionCode
from swbuild.diagnostics import Diagnostic, SwbuildError
from swbuild.frontend.scop import Array, Scop
from swbuild.kernelir.expressions import to_c

__all__ = ["overlap_condition"]


def overlap_condition(region: RegionCode) -> list[str]:
    """Return C conditions, one per pair of arrays that the source does not keep apart, true on overlap.

    Raise :class:`SwbuildError` when the size of such an array is not known: then nothing can be tested.
    """
    arrays = [(a, written) for a, _, written in region.arguments if written or not a.is_scalar]
    conditions = []
    for k, (first, first_written) in enumerate(arrays):
        for second, second_written in arrays[k + 1 :]:
            if (first_written or second_written) and _may_overlap(first, second):
                conditions.append(_overlap(region.scop, first, second))
    return conditions


def _may_overlap(first: Array, second: Array) -> bool:
    return first.may_alias and second.may_alias


def _overlap(scop: Scop, first: Array, second: Array) -> str:
    sizes = [_bytes(scop, array, other) for array, other in ((first, second), (second, first))]
    one, two = (f"(const char *){array.name}" for array in (first, second))
    return f"{one} < {two} + {sizes[1]} && {two} < {one} + {sizes[0]}"


def _bytes(scop: Scop, array: Array, other: Array) -> str:
    """Return the number of bytes of ``array`` that the region can touch, as C text."""
    build = isl.AstBuild.from_context(scop.context.intersect(scop.assumptions))
    factors = [str(array.element.size)]
    for position, extent in enumerate(array.extents):
        known = _accessed(scop, array, other) if extent is None and position == 0 else extent
        assert known is not None
        factors.append(f"({to_c(build.expr_from_pw_aff(known))})")
    return " * ".join(factors)


def _accessed(scop: Scop, array: Array, other: Array) -> isl.PwAff:
    """Return one more than the greatest outermost index accessed, over the parameters."""
    touched: isl.Set | None = None
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array == array.name:
                part = access.relation.intersect_domain(statement.domain).range()
                touched = part if touched is None else touched.union(part)
    assert touched is not None
    inside = touched.intersect_params(scop.context)
    for k in range(inside.dim(isl.dim_type.set) - 1, 0, -1):
        inside = inside.project_out(isl.dim_type.set, k, 1)
    inside = inside.reset_tuple_id()
    if not inside.is_empty() and not inside.dim_is_bounded(isl.dim_type.set, 0):
        raise SwbuildError(
            Diagnostic(
                "SW301",
                f"'{array.name}' and '{other.name}' may overlap: the size of '{array.name}' is not known, "
                "so the generated code cannot test it",
                array.span,
                f"declare the pointers 'restrict', or give 'arrays: {{{array.name}: [size]}}'",
            )
        )
    return inside.dim_max(0).add_constant_val(isl.Val(1))
