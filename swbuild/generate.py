"""Generation: from the model of a C file to its host, slave and header file."""

from __future__ import annotations

import os
from collections.abc import Mapping

from swbuild import __version__
from swbuild.codegen.aliasing import addresses
from swbuild.codegen.comments import banner
from swbuild.codegen.header import header_lines
from swbuild.codegen.host import host_text
from swbuild.codegen.plan import RegionCode
from swbuild.codegen.slave import slave_lines
from swbuild.codegen.unit import EntryArgument, GeneratedFile, GeneratedUnit, RegionUnit
from swbuild.diagnostics import Diagnostic, SwbuildError
from swbuild.frontend.request import SourceModel
from swbuild.mapping.grid import grid_of
from swbuild.options import KernelOptions
from swbuild.region import generate_region

__all__ = ["generate_unit"]


def generate_unit(model: SourceModel, options: Mapping[str, KernelOptions]) -> GeneratedUnit:
    """Return the files of ``model``; ``options`` per region name, the defaults where one is missing.

    Raise :class:`SwbuildError` with the diagnostics of all regions that cannot be generated.
    """
    regions: list[RegionCode] = []
    problems: list[Diagnostic] = []
    for scop in model.scops:
        try:
            regions.append(generate_region(scop, options.get(scop.name, KernelOptions())))
        except SwbuildError as error:
            problems += error.diagnostics
    if problems:
        raise SwbuildError(problems)
    return _unit(model, tuple(regions))


def _unit(model: SourceModel, regions: tuple[RegionCode, ...]) -> GeneratedUnit:
    base = os.path.splitext(os.path.basename(model.path))[0]
    stem = "".join(letter if letter.isalnum() else "_" for letter in base)
    kernels = any(region.kernels for region in regions)
    slave = None
    if kernels:
        text = [*banner(model.path, "Slave side", __version__), *slave_lines(regions, stem, base)]
        slave = GeneratedFile(f"{base}.slave.c", "\n".join(text) + "\n")
    header = [*banner(model.path, "Declarations", __version__), *header_lines(regions, stem)]
    opening = banner(model.path, "Host side", __version__)
    return GeneratedUnit(
        model.path,
        GeneratedFile(f"{base}.host.c", host_text(model.path, model.text, regions, base, opening)),
        slave,
        GeneratedFile(f"{base}.sw.h", "\n".join(header) + "\n"),
        tuple(_region_unit(region) for region in regions),
    )


def _region_unit(region: RegionCode) -> RegionUnit:
    parameters = tuple(EntryArgument(p.name, p.type, True, True, False) for p in region.scop.parameters)
    arrays = tuple(
        EntryArgument(array.name, array.element, array.is_scalar and not written, read, written)
        for array, read, written in region.arguments
    )
    return RegionUnit(
        region.scop,
        f"sw_{region.scop.name}",
        parameters + arrays,
        tuple(kernel.name for kernel in region.kernels),
        region.exact,
        dict(region.report),
        len(addresses(region)),
        tuple(grid_of(region.scop, kernel.tiled) for kernel in region.kernels),
    )
