"""Which sizes to try when the user names none: the ones at which tilings go wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from swbuild.check.shapes import holds, parameter_point
from swbuild.diagnostics import Diagnostic, SwbuildError
from swbuild.frontend.scop import Scop

__all__ = ["DEFAULT_BASES", "UNKNOWN_SIZE", "Sizes", "complete_sizes", "default_sizes", "unequal"]

#: The code of the one mistake that a user can make here.
UNKNOWN_SIZE = "SW504"

#: A value for every parameter of a region.
Sizes = dict[str, int]

#: One iteration, two, less than a thread row, one more than a tile, one more than two tiles.
DEFAULT_BASES = (1, 2, 7, 33, 65)

#: Added to the base for one parameter after the other, so that no two sizes are equal.
_SPREAD = (0, 4, -2, 6, -4, 10, -6, 14)


def unequal(names: Sequence[str], base: int) -> Sizes:
    """Return sizes near ``base`` that all differ (from 7 on: below that they all are ``base``)."""
    if base < 7:
        return dict.fromkeys(names, base)
    return {name: max(1, base + _SPREAD[i % 8] + 16 * (i // 8)) for i, name in enumerate(names)}


def default_sizes(scop: Scop, fixed: Mapping[str, int]) -> tuple[Sizes, ...]:
    """Return sizes that the model of ``scop`` covers, the parameters in ``fixed`` as they are there.

    Where unequal sizes break a condition of the region equal ones are tried, and when nothing of
    that fits, one point that isl picks.
    """
    names = [parameter.name for parameter in scop.parameters]
    chosen = [sizes for base in DEFAULT_BASES if (sizes := _first_fit(scop, names, base, fixed)) is not None]
    if not chosen and (picked := _sample(scop, fixed)) is not None:
        chosen = [picked]
    return tuple(sizes for i, sizes in enumerate(chosen) if sizes not in chosen[:i])


def complete_sizes(scop: Scop, given: Mapping[str, int], fixed: Mapping[str, int]) -> Sizes:
    """Return ``given`` with a value for each parameter that it leaves out.

    Raise :class:`SwbuildError` when it names sizes and none of them is the region's: the check would
    run at other sizes than the user believes.
    """
    names = [parameter.name for parameter in scop.parameters]
    if given and names and not set(given) & set(names):
        unknown = ", ".join(f"'{name}'" for name in given)
        raise SwbuildError(
            Diagnostic(
                UNKNOWN_SIZE,
                f"region {scop.name} has no size called {unknown}; it has {', '.join(names)}",
                scop.span,
                f"give '-p {names[0]}=64', or 'sizes: {{{names[0]}: 64}}' in the manifest",
            )
        )
    return {**unequal(names, 33), **{n: v for n, v in {**given, **fixed}.items() if n in names}}


def _first_fit(scop: Scop, names: Sequence[str], base: int, fixed: Mapping[str, int]) -> Sizes | None:
    for candidate in _candidates(names, base):
        sizes = {name: fixed.get(name, value) for name, value in candidate.items()}
        if _modelled(scop, sizes):
            return sizes
    return None


def _candidates(names: Sequence[str], base: int) -> Iterator[Sizes]:
    spread = unequal(names, base)
    yield spread
    yield unequal(list(reversed(names)), base)
    yield dict.fromkeys(names, base)


def _modelled(scop: Scop, sizes: Sizes) -> bool:
    point = parameter_point(scop, sizes)
    return holds(scop.context, point) and holds(scop.assumptions, point)


def _sample(scop: Scop, fixed: Mapping[str, int]) -> Sizes | None:
    """Return any sizes that the model covers, or ``None`` if isl finds none of a usable magnitude."""
    names = [parameter.name for parameter in scop.parameters]
    conditions = " and ".join(f"{name} = {fixed[name]}" for name in names if name in fixed)
    box = " and ".join([*(f"1 <= {name} <= 4096" for name in names), *([conditions] if conditions else [])])
    wanted = isl.Set(f"[{', '.join(names)}] -> {{ : {box} }}")
    feasible = isl.Set(str(scop.context.params().intersect(scop.assumptions.params()))).intersect(wanted)
    if feasible.is_empty():
        return None
    point = feasible.sample_point()
    values = {
        feasible.get_dim_name(isl.dim_type.param, i): point.get_coordinate_val(isl.dim_type.param, i)
        for i in range(feasible.dim(isl.dim_type.param))
    }
    return {name: int(values[name].to_python()) for name in names}
