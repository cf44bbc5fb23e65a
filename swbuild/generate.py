"""Generation: from the model of a C file to its host, slave and header file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

from swbuild import __version__
from swbuild.codegen.aliasing import addresses
from swbuild.codegen.comments import banner
from swbuild.codegen.header import header_lines
from swbuild.codegen.host import host_text, refusals
from swbuild.codegen.plan import RegionCode
from swbuild.codegen.slave import slave_lines
from swbuild.codegen.surroundings import surroundings
from swbuild.codegen.unit import EntryArgument, GeneratedFile, GeneratedUnit, RegionUnit
from swbuild.diagnostics import Diagnostic, Span, SwbuildError, internal_error
from swbuild.frontend.request import RefusedRegion, SourceModel
from swbuild.frontend.scop import Scop
from swbuild.mapping.grid import grid_of
from swbuild.names import Names
from swbuild.options import KernelOptions
from swbuild.region import generate_region

__all__ = ["complete", "generate_unit"]

Made = TypeVar("Made")


def generate_unit(model: SourceModel, options: Mapping[str, KernelOptions]) -> GeneratedUnit:
    """Return the files of ``model``; ``options`` per region name, the defaults where one is missing.

    Regions that cannot be generated stay on the host, and are listed as refused beside those of ``model``.
    """
    regions: list[RegionCode] = []
    refused: list[RefusedRegion] = []
    for scop in model.scops:
        made = _tried(scop, partial(generate_region, scop, options.get(scop.name, KernelOptions())))
        if isinstance(made, RegionCode) and made.kernels and model.names.machine:
            made = RefusedRegion(scop.name, scop.span, tuple(map(_not_free, model.names.machine)))
        if isinstance(made, RefusedRegion):
            refused.append(made)
        else:
            regions.append(made)
    try:
        return _unit(model, tuple(regions), (*model.refused, *refused))
    except Exception:  # noqa: BLE001 - a region whose text cannot be printed must not take the others along
        printed = {code.scop.name: _tried(code.scop, partial(_unit, model, (code,), ())) for code in regions}
    refused += [found for found in printed.values() if isinstance(found, RefusedRegion)]
    sound = tuple(code for code in regions if isinstance(printed[code.scop.name], GeneratedUnit))
    return _unit(model, sound, (*model.refused, *refused))


def complete(unit: GeneratedUnit) -> GeneratedUnit:
    """Return ``unit``; raise :class:`SwbuildError` with all reasons where regions of it were refused."""
    if unit.refused:
        raise SwbuildError(item for region in unit.refused for item in region.diagnostics)
    return unit


def _tried(scop: Scop, work: Callable[[], Made]) -> Made | RefusedRegion:
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


def _unit(
    model: SourceModel, regions: tuple[RegionCode, ...], refused: tuple[RefusedRegion, ...]
) -> GeneratedUnit:
    base = os.path.splitext(os.path.basename(model.path))[0]
    around = surroundings(model.names, regions)
    kernels = any(region.kernels for region in regions)
    slave = None
    if kernels:
        text = [*banner(model.path, "Slave side", __version__), *slave_lines(regions, base, around)]
        slave = GeneratedFile(f"{base}.slave.c", "\n".join(text) + "\n")
    header = [*banner(model.path, "Declarations", __version__), *header_lines(regions, around)]
    opening = banner(model.path, "Host side", __version__)
    return GeneratedUnit(
        model.path,
        GeneratedFile(f"{base}.host.c", host_text(model.path, model.text, regions, base, opening, around)),
        slave,
        GeneratedFile(f"{base}.sw.h", "\n".join(header) + "\n"),
        tuple(_region_unit(region, around.names) for region in regions),
        tuple(sorted(refused, key=lambda region: region.span)),
    )


def _region_unit(region: RegionCode, names: Names) -> RegionUnit:
    parameters = tuple(EntryArgument(p.name, p.type, True, True, False) for p in region.scop.parameters)
    arrays = tuple(
        EntryArgument(array.name, array.element, array.is_scalar and not written, read, written)
        for array, read, written in region.arguments
    )
    return RegionUnit(
        region.scop,
        names.spelled(region.entry),
        parameters + arrays,
        tuple(names.spelled(kernel.function) for kernel in region.kernels),
        region.exact,
        names.data(region.report),
        len(addresses(region)),
        tuple(grid_of(region.scop, kernel.tiled) for kernel in region.kernels),
        refusals(region),
    )
