"""One region in stages: generated, built as reference and as offloaded program, each when it is wanted.

:func:`swbuild.check.check_source` does a whole file at once; a test runner that builds here, runs
elsewhere and judges later needs the stages one by one.  Every stage raises :class:`SwbuildError`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

from swbuild.check.builds import Builder
from swbuild.check.emulation import SPAWN_COUNTER
from swbuild.check.harness import harness_source, slots_source
from swbuild.check.reference import outer_objects, reference_source
from swbuild.check.slots import Slot, region_slots
from swbuild.check.tasks import RegionCheck
from swbuild.classes import dataclass
from swbuild.codegen.unit import GeneratedFile, GeneratedUnit, RegionUnit
from swbuild.diagnostics import SwbuildError
from swbuild.files import made, write_text
from swbuild.frontend.request import CppOptions, RegionRequest
from swbuild.options import KernelOptions
from swbuild.toolchain import Role, Target, Toolchain

__all__ = [
    "GeneratedRegion",
    "RegionTask",
    "build_offloaded",
    "build_reference",
    "generate_region_unit",
    "seen_by",
]

#: How the user's own text is compiled: as it is, but its ``main`` must not be the harness's.
_AS_IT_IS = ("-w", "-Dmain=swchk_user_main")
_RUNTIME = Path(__file__).with_name("harness_runtime.c")


@dataclass(frozen=True, slots=True)
class RegionTask:
    """One region of one C file, with everything that is asked of it."""

    path: Path
    request: RegionRequest
    options: KernelOptions = field(default_factory=KernelOptions)
    check: RegionCheck = field(default_factory=RegionCheck)
    cpp: CppOptions = field(default_factory=CppOptions)

    @property
    def name(self) -> str:
        """The region's unique name."""
        return self.request.name


@dataclass(frozen=True, slots=True)
class GeneratedRegion:
    """A region after generation: ``preprocessed`` is its source file's text behind the preprocessor,
    ``dependencies`` are all files that were read.
    """

    task: RegionTask
    preprocessed: str
    dependencies: tuple[str, ...]
    unit: GeneratedUnit
    region: RegionUnit
    slots: tuple[Slot, ...]


def generate_region_unit(task: RegionTask) -> GeneratedRegion:
    """Return the generated files of the region; other regions of its source stay as they are."""
    from swbuild.frontend import read_source
    from swbuild.generate import complete, generate_unit

    model = read_source(task.path, task.cpp, (task.request,))
    unit = complete(generate_unit(model, {task.name: task.options}))
    region = unit.regions[0]
    return GeneratedRegion(task, model.unit, model.dependencies, unit, region, region_slots(region))


def seen_by(generated: GeneratedRegion, toolchain: Toolchain) -> GeneratedRegion:
    """Return the region with the text that the host compiler of ``toolchain`` makes of its source.

    Macros such as ``__OPTIMIZE__`` depend on the compiler and its flags.
    """
    from swbuild.frontend import read_source

    task, tool = generated.task, toolchain.tools[Role.HOST]
    driver, *flags = tool.command()
    cpp = dataclasses.replace(task.cpp, compiler=driver, flags=tuple(flags))
    model = read_source(task.path, cpp, (task.request,))
    if model.refused:
        raise SwbuildError(model.refused[0].diagnostics)
    scop = dataclasses.replace(
        generated.region.scop, frame=model.scops[0].frame, contracted=model.scops[0].contracted
    )
    region = dataclasses.replace(generated.region, scop=scop)
    return dataclasses.replace(generated, preprocessed=model.unit, region=region)


def build_reference(
    generated: GeneratedRegion,
    toolchain: Toolchain,
    directory: Path,
    name: str = "reference",
    cache: Path | None = None,
) -> Path:
    """Build the serial reference in ``directory`` and return the executable; ``cache`` takes the objects."""
    builder = Builder(toolchain, made(cache or directory / "objects"))
    scop, slots = generated.region.scop, generated.slots
    contract = generated.task.options.contract
    text = reference_source(scop, slots, generated.preprocessed, contract=contract) + slots_source(slots)
    objects = [
        # The harness needs the addresses of variables that have none.
        builder.object(Role.HOST, _write(directory / f"{name}.c", text), (*_AS_IT_IS, "-Dregister=")),
        _runtime(toolchain, cache or directory.parent / "objects", "-DSWCHK_FENCE", "-DSWCHK_REFERENCE"),
    ]
    return builder.executable(directory / name, objects, variables=outer_objects(scop, slots))


def build_offloaded(
    generated: GeneratedRegion,
    toolchain: Toolchain,
    directory: Path,
    name: str = "offloaded",
    cache: Path | None = None,
    files: Path | None = None,
    fenced: bool = True,
) -> Path:
    """Build the generated files with their harness in ``directory`` and return the executable.

    ``files`` takes the generated files, where regions of one source are to share them.  On the emulator, a
    ``fenced`` harness has every object end, or begin, where memory does, at whatever address that makes;
    another one has them begin at multiples of 128 bytes, as on a node.
    """
    builder = Builder(toolchain, made(cache or directory / "objects"))
    emulated = toolchain.target is Target.EMULATOR
    files = made(files or directory)
    for file in _files(generated.unit):
        _write(files / file.name, file.text)
    user = (*_user_arguments(generated), f"-I{files}")
    text = harness_source(generated.region, SPAWN_COUNTER if emulated else None)
    harness = _write(directory / f"{name}.harness.c", text + slots_source(generated.slots))
    fence = ("-DSWCHK_FENCE",) if emulated and fenced else ()
    objects = [
        builder.object(Role.HOST, files / generated.unit.host.name, user),
        builder.object(Role.HOST, harness),
        _runtime(toolchain, cache or directory.parent / "objects", *fence),
    ]
    if generated.unit.slave is not None:
        objects.append(builder.object(Role.SLAVE, files / generated.unit.slave.name, user))
    return builder.executable(directory / name, objects)


def _runtime(toolchain: Toolchain, cache: Path, *definitions: str) -> Path:
    """Return the object of the harness's fixed part, which all regions that use ``cache`` share."""
    shared = Builder(toolchain, made(cache))
    return shared.object(Role.HOST, _RUNTIME, definitions)


def _files(unit: GeneratedUnit) -> Sequence[GeneratedFile]:
    return [file for file in (unit.header, unit.host, unit.slave) if file is not None]


def _user_arguments(generated: GeneratedRegion) -> tuple[str, ...]:
    """Return the arguments for generated files that hold the user's own text."""
    cpp = generated.task.cpp
    includes = [f"-I{Path(directory).resolve()}" for directory in cpp.includes]
    defines = [f"-D{definition}" for definition in cpp.defines]
    source = Path(generated.unit.source).resolve().parent
    return (*_AS_IT_IS, *defines, *includes, f"-I{source}")


def _write(path: Path, text: str) -> Path:
    write_text(path, text)
    return path
