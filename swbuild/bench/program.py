"""A whole program: built with its regions on the core group, run once with a profile, and measured."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from swbuild.bench.operations import operations
from swbuild.bench.profiled import COUNTED, Numbers, build_settings, figures, profile_environment
from swbuild.bench.results import Measured
from swbuild.bench.sensitivity import influences
from swbuild.bench.tasks import BenchSettings
from swbuild.check.builds import Builder
from swbuild.check.evidence import Ending
from swbuild.check.program import Offloaded, ProgramTask, build_offloaded_program, generate_program
from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.endings import run_directory
from swbuild.files import made, named_failures
from swbuild.toolchain import Job, Target, launcher_for, toolchain_for

__all__ = ["measure_program"]


@dataclass(frozen=True, slots=True)
class _Program:
    """A program whose sources are generated; ``directory`` holds all that is made for it."""

    task: ProgramTask
    offloaded: tuple[Offloaded, ...]
    sizes: Mapping[str, int]
    settings: BenchSettings
    directory: Path

    def run(self, numbers: Numbers) -> Path:
        """Build and run it, counting with these numbers of the machine; return the profile."""
        machine = self.task.default_options.machine
        name = ",".join(f"{number}={value}" for number, value in numbers.items())
        place = made(self.directory / (name or "bench"))
        toolchain = replace(toolchain_for(Target.EMULATOR, machine), settings=build_settings(numbers))
        counted = replace(self.task.cpp, defines=(*self.task.cpp.defines, COUNTED))
        builder = Builder(toolchain, made(place / "objects"))
        task = replace(self.task, cpp=counted)
        executable = build_offloaded_program(task, self.offloaded, builder, place)
        for file in task.inputs:
            with named_failures(place / file.name):
                shutil.copy(file, place)
        profile = place / "profile.json"
        environment = profile_environment(profile, "spawn", machine, numbers, self.settings.sensitivity)
        job = Job(executable, task.arguments, {}, environment, place, self.settings.timeout)
        done = launcher_for("local", machine).start(toolchain, job)
        if done.timed_out or not profile.exists():
            what = f"the run {Ending.of(done)}\n{done.output}".rstrip()
            hint = "see what 'swbuild check --program' says of it"
            raise SwbuildError(Diagnostic("SW507", what, Span(str(task.sources[0])), hint))
        return profile

    def measured(self, profile: Path, numbers: Numbers) -> Measured:
        """Return what the run that left ``profile`` says, with other numbers of the machine."""
        first, options = self.task.sources[0], self.task.default_options
        found = figures(profile, numbers, whole=False)
        sizes, budget = self.sizes, options.budget
        return Measured(first.stem, str(first), options.machine, sizes, found, self._operations(), budget)

    def _operations(self) -> int | None:
        """Return the operations of all regions, each once; None where a size or the count is not known."""
        total = 0
        for scop in (region.scop for found in self.offloaded for region in found.unit.regions):
            known = all(parameter.name in self.sizes for parameter in scop.parameters)
            count = operations(scop, self.sizes) if known else None
            if count is None:
                return None
            total += count
        return total


def measure_program(task: ProgramTask, sizes: Mapping[str, int], settings: BenchSettings) -> Measured:
    """Measure a program from its first spawn to its last join; ``sizes`` are its regions' parameters.

    All its kernels run, also where the host is estimated to take less time.

    Raise :class:`SwbuildError` for a mistake of the user and for a failure of a tool.
    """
    offloaded = generate_program(task.for_kernels())
    with run_directory(settings.keep, "bench") as directory:
        program = _Program(task, offloaded, sizes, settings, directory)
        profile = program.run({})
        measured = program.measured(profile, {})
        if not settings.sensitivity:
            return measured
        return replace(measured, influences=influences(program, measured, profile))
