"""One region at one size: built with the checker's harness, run with a profile, and measured."""

from __future__ import annotations

import dataclasses
import secrets
from pathlib import Path

from swbuild.bench.operations import operations
from swbuild.bench.profiled import COUNTED, Numbers, build_settings, figures, profile_environment
from swbuild.bench.results import Measured
from swbuild.check.evidence import Ending
from swbuild.check.exchange import RunOutput, read_output, write_inputs
from swbuild.check.judge import refusal
from swbuild.check.plan import Plan, plan_region
from swbuild.check.staged import GeneratedRegion, build_offloaded
from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, SwbuildError
from swbuild.files import made
from swbuild.toolchain import Job, Target, launcher_for, toolchain_for

__all__ = ["PreparedRegion", "prepare_region"]


@dataclass(frozen=True, slots=True)
class PreparedRegion:
    """A generated region with its inputs at one size; ``directory`` holds all that is made for it.

    ``events``: its runs leave their events, for replays with other numbers.
    """

    generated: GeneratedRegion
    plan: Plan
    directory: Path
    timeout: float
    events: bool

    def run(self, numbers: Numbers) -> Path:
        """Build and run it, counting with these numbers of the machine; return the profile."""
        machine = self.generated.task.options.machine
        name = ",".join(f"{number}={value}" for number, value in numbers.items())
        directory = made(self.directory / (name or "bench"))
        toolchain = toolchain_for(Target.EMULATOR, machine)
        toolchain = dataclasses.replace(toolchain, settings=build_settings(numbers))
        executable = build_offloaded(_counted(self.generated), toolchain, directory, fenced=False)
        profile, output, nonce = directory / "profile.json", directory / "output.bin", secrets.token_hex(8)
        environment = profile_environment(profile, "start", machine, numbers, self.events)
        arguments = (str(self.directory / "inputs.bin"), str(output), nonce)
        job = Job(executable, arguments, {}, environment, directory, self.timeout)
        done = launcher_for("local", machine).start(toolchain, job)
        found = read_output(output, self.plan.slots, self.plan.shapes, nonce)
        output.unlink(missing_ok=True)
        ended = found.complete and not done.timed_out and profile.exists()
        self._require_success(Ending.of(done), found, ended)
        return profile

    def measured(self, profile: Path, numbers: Numbers) -> Measured:
        """Return what the run that left ``profile`` says, with other numbers of the machine."""
        task, scop, sizes = self.generated.task, self.generated.region.scop, self.plan.cases[0].sizes
        machine, budget = task.options.machine, task.options.budget
        found = figures(profile, numbers, whole=True)
        return Measured(task.name, str(task.path), machine, sizes, found, operations(scop, sizes), budget)

    def _require_success(self, ending: Ending, found: RunOutput, ended: bool) -> None:
        """Raise SW507 unless the run has done the region's work on the core group, or had none for it."""
        region = self.generated.region
        what = ""
        if not ended:
            what = f"the run {ending}\n{ending.output}".rstrip()
        elif found.records[0].status:
            what = refusal(region, found.records[0].status)
        if what:
            hint = "see what 'swbuild check' says of it at this size"
            raise SwbuildError(Diagnostic("SW507", what, region.scop.span, hint))


def prepare_region(
    generated: GeneratedRegion, directory: Path, timeout: float, events: bool
) -> PreparedRegion:
    """Return the region with inputs at the largest of its sizes; raise SW508 if it has none that will do."""
    check, region = generated.task.check.at_largest(), generated.region
    span, hint = region.scop.span, "give one as '-p NAME=VALUE', or under `check: sizes:`"
    if region.scop.parameters and not check.sizes:
        raise SwbuildError(Diagnostic("SW508", f"region '{generated.task.name}' has no size", span, hint))
    plan = plan_region(region, generated.task.options, check)
    if not plan.cases:
        raise SwbuildError(Diagnostic("SW508", plan.skipped[0].message, span, hint))
    plan = dataclasses.replace(plan, cases=plan.cases[:1], shapes=plan.shapes[:1])
    made(directory)
    write_inputs(directory / "inputs.bin", plan.slots, [plan.cases[0].inputs])
    return PreparedRegion(generated, plan, directory, timeout, events)


def _counted(generated: GeneratedRegion) -> GeneratedRegion:
    """Return the region with its model cycles to be counted, but not those of the harness."""
    task = generated.task
    cpp = dataclasses.replace(task.cpp, defines=(*task.cpp.defines, COUNTED))
    return dataclasses.replace(generated, task=dataclasses.replace(task, cpp=cpp))
