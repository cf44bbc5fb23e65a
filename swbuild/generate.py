"""Generation: from the model of a C file to its host, slave and header file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial

from swbuild import __version__
from swbuild.attempt import RegionResult
from swbuild.codegen.aliasing import addresses
from swbuild.codegen.comments import banner
from swbuild.codegen.header import header_lines
from swbuild.codegen.host import host_text, refusals
from swbuild.codegen.slave import slave_lines
from swbuild.codegen.surroundings import surroundings
from swbuild.codegen.unit import EntryArgument, GeneratedFile, GeneratedUnit, RegionUnit
from swbuild.compilation import Compilation, compile_regions, tried
from swbuild.diagnostics import SwbuildError
from swbuild.frontend.request import RefusedRegion, SourceModel
from swbuild.lowering.code import RegionCode
from swbuild.mapping.grid import grid_of
from swbuild.names import Names
from swbuild.options import KernelOptions

__all__ = ["complete", "generate_unit", "print_unit"]


def generate_unit(model: SourceModel, options: Mapping[str, KernelOptions]) -> GeneratedUnit:
    """Return the files of ``model``; ``options`` per region name, the defaults where one is missing.

    Regions that cannot be generated stay on the host, and are listed as refused beside those of ``model``.
    """
    return print_unit(model, compile_regions(model, options))


def print_unit(model: SourceModel, compiled: tuple[Compilation, ...]) -> GeneratedUnit:
    """Return the files of ``model``, whose regions have become ``compiled``."""
    regions = tuple(c.result.assembled.code for c in compiled if isinstance(c.result, RegionResult))
    refused = [c.result for c in compiled if isinstance(c.result, RefusedRegion)]
    try:
        return _unit(model, regions, tuple(refused))
    except Exception:  # noqa: BLE001 - a region whose text cannot be printed must not take the others along
        printed = {code.scop.name: tried(code.scop, partial(_unit, model, (code,), ())) for code in regions}
    refused += [found for found in printed.values() if isinstance(found, RefusedRegion)]
    sound = tuple(code for code in regions if isinstance(printed[code.scop.name], GeneratedUnit))
    return _unit(model, sound, tuple(refused))


def complete(unit: GeneratedUnit) -> GeneratedUnit:
    """Return ``unit``; raise :class:`SwbuildError` with all reasons where regions of it were refused."""
    if unit.refused:
        raise SwbuildError(item for region in unit.refused for item in region.diagnostics)
    return unit


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
