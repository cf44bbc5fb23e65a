"""What becomes of the regions of one C file: the value of every stage that each of them has reached."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TypeVar

from swbuild.attempt import RegionResult, Tried
from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Span, SwbuildError, internal_error
from swbuild.frontend.request import RefusedRegion, SourceModel
from swbuild.frontend.scop import Scop
from swbuild.options import KernelOptions
from swbuild.region import compile_region

__all__ = ["Compilation", "compile_regions", "require_sound", "tried"]

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Compilation:
    """One region: its model, what was tried for it, and what the stages made of it or why they refuse it.

    A region that cannot be modelled has neither ``scop`` nor ``options``.
    """

    name: str
    source: str
    span: Span
    scop: Scop | None
    options: KernelOptions | None
    search: tuple[Tried, ...]
    result: RegionResult | RefusedRegion


def compile_regions(model: SourceModel, options: Mapping[str, KernelOptions]) -> tuple[Compilation, ...]:
    """Return what becomes of the regions of ``model``: those that cannot be modelled, and the others.

    ``options`` are per region name, the defaults where one is missing.  With SWBUILD_VERIFY in the
    environment the trees of each region are verified after every pass; an unsound region is refused.
    """
    refused = [Compilation(r.name, model.path, r.span, None, None, (), r) for r in model.refused]
    made = [_compiled(model, scop, options.get(scop.name, KernelOptions())) for scop in model.scops]
    return (*refused, *made)


def _compiled(model: SourceModel, scop: Scop, options: KernelOptions) -> Compilation:
    search: list[Tried] = []
    result = tried(scop, lambda: _verified(compile_region(scop, options, search.append)))
    if isinstance(result, RegionResult) and result.placed and model.names.machine:
        result = RefusedRegion(scop.name, scop.span, tuple(map(_not_free, model.names.machine)))
    return Compilation(scop.name, model.path, scop.span, scop, options, tuple(search), result)


def _verified(result: RegionResult) -> RegionResult:
    """Return ``result``; raise :class:`SwbuildError` where it is to be verified and a tree is unsound."""
    if os.environ.get("SWBUILD_VERIFY"):
        _raise(_unsound(result))
    return result


def _unsound(result: RegionResult) -> tuple[Diagnostic, ...]:
    from swbuild.lowering.verification import verify  # nobody else pays for it

    return verify(result.assembled)


def _raise(problems: Collection[Diagnostic]) -> None:
    if problems:
        raise SwbuildError(problems)


def require_sound(compiled: Collection[Compilation]) -> None:
    """Raise :class:`SwbuildError` (SW491) for all regions of which a tree is unsound after some pass."""
    results = ((item, item.result) for item in compiled)
    _raise(
        [
            replace(found, message=f"region '{item.name}': {found.message}")
            for item, result in results
            if isinstance(result, RegionResult)
            for found in _unsound(result)
        ]
    )


def tried(scop: Scop, work: Callable[[], Made]) -> Made | RefusedRegion:
    """Return what ``work`` does for ``scop``, or why it does not, in words that name the region."""
    try:
        return work()
    except SwbuildError as error:
        named = (replace(d, message=f"region '{scop.name}': {d.message}") for d in error.diagnostics)
        return RefusedRegion(scop.name, scop.span, tuple(named))
    except Exception as error:  # noqa: BLE001 - a defect in one region must not take the others along
        found = internal_error(error, scop.span, f"region '{scop.name}'")
        return RefusedRegion(scop.name, scop.span, (found,))


def _not_free(declared: tuple[str, Span]) -> Diagnostic:
    name, span = declared
    message = f"'{name}' is a name of the machine's headers, which the generated code includes"
    return Diagnostic("SW304", message, span, "rename it, or keep it in a file without kernels")
