"""Kernel level: every region of one file, in a harness of its own, against its serial reference."""

from __future__ import annotations

import dataclasses
import secrets
import time
from collections.abc import Mapping
from pathlib import Path

from swbuild.check.blame import blamed
from swbuild.check.coverage import coverage_of, notes_on
from swbuild.check.emulation import LACKING, built_for, read_counts, run_environment
from swbuild.check.evidence import ENDLESS, FAILING, Ending, reference_failure
from swbuild.check.exchange import RunOutput, read_output, write_inputs
from swbuild.check.judge import Case, judge_case
from swbuild.check.plan import Plan, as_given, plan_region
from swbuild.check.results import CaseResult, Counts, Outcome, RegionResult, in_view_of, worst
from swbuild.check.sizes import UNKNOWN_SIZE
from swbuild.check.slots import region_slots
from swbuild.check.staged import GeneratedRegion, RegionTask, build_offloaded, build_reference
from swbuild.check.tasks import CheckSettings, RegionCheck
from swbuild.classes import dataclass
from swbuild.codegen.unit import GeneratedUnit, RegionUnit
from swbuild.diagnostics import Diagnostic, SwbuildError, internal_error
from swbuild.files import made, system_error
from swbuild.frontend.request import CppOptions, RegionRequest, SourceModel
from swbuild.machine import load
from swbuild.options import KernelOptions
from swbuild.toolchain import Completed, Job, Target, Toolchain, host_toolchain, launcher_for, toolchain_for

__all__ = ["UnitCheck", "check_region"]

#: What is the user's to mend: sizes that belong to nothing, a region that does not end, or fails.
_USERS = (UNKNOWN_SIZE, ENDLESS, FAILING)


@dataclass(frozen=True, slots=True)
class UnitCheck:
    """One generated file on its way through the checks; ``directory`` holds all that is made for it."""

    model: SourceModel
    unit: GeneratedUnit
    cpp: CppOptions
    settings: CheckSettings
    directory: Path
    cache: Path


@dataclass(frozen=True, slots=True)
class _Region:
    """One region of it, with everything that building and running it needs."""

    of: UnitCheck
    region: RegionUnit
    plan: Plan
    generated: GeneratedRegion
    toolchain: Toolchain
    directory: Path

    @property
    def check(self) -> RegionCheck:
        return self.generated.task.check

    @property
    def emulated(self) -> bool:
        return self.toolchain.target is Target.EMULATOR


def check_region(
    context: UnitCheck, region: RegionUnit, options: KernelOptions, check: RegionCheck
) -> RegionResult:
    """Build, run and compare one region; a tool that fails is a result, too."""
    start = time.monotonic()
    cases: tuple[CaseResult, ...] = ()
    counts, coverage = Counts(), None
    notes: tuple[Diagnostic, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    try:
        plan = plan_region(region, options, check)
        cases, counts = _check(context, region, options, check, plan)
        coverage = coverage_of(region, options, plan.goals, cases)
        notes = notes_on(region, coverage, chosen=not check.sizes)
        outcome = worst(case.outcome for case in cases)
        message = next((case.message for case in cases if case.outcome is outcome), "")
    except SwbuildError as error:
        asked = all(diagnostic.code in _USERS for diagnostic in error.diagnostics)
        outcome = Outcome.USER_ERROR if asked else Outcome.INFRA
        message, diagnostics = str(error), error.diagnostics
    except OSError as error:
        diagnostics = (system_error(error, str(context.directory)),)
        outcome, message = Outcome.INFRA, str(diagnostics[0])
    except Exception as error:  # noqa: BLE001 - a defect in one region must not take the others along
        diagnostics = (internal_error(error, region.scop.span, f"region '{region.scop.name}'"),)
        outcome, message = Outcome.INFRA, str(diagnostics[0])
    return RegionResult(
        region=region.scop.name,
        source=context.model.path,
        machine=options.machine,
        threads=options.grid,
        outcome=in_view_of(outcome, check.expected_failure),
        message=message,
        kernels=region.kernels,
        cases=cases,
        counts=counts,
        seconds=time.monotonic() - start,
        diagnostics=diagnostics,
        expected_failure=check.expected_failure,
        notes=notes,
        coverage=coverage,
    )


def _check(
    context: UnitCheck, region: RegionUnit, options: KernelOptions, check: RegionCheck, plan: Plan
) -> tuple[tuple[CaseResult, ...], Counts]:
    """Return the verdicts on all cases in all modes, and the counts of the last run."""
    if not plan.cases:
        return plan.skipped, Counts()
    settings = context.settings
    toolchain = toolchain_for(settings.target, options.machine, settings.overrides)
    directory = made(context.directory / region.scop.name)
    write_inputs(directory / "inputs.bin", plan.slots, [case.inputs for case in plan.cases])
    work = _Region(context, region, plan, _generated(context, region, options, check), toolchain, directory)
    plan, reference = as_given(plan, _run_reference(work))
    if plan is not work.plan:
        write_inputs(directory / "inputs.bin", plan.slots, [case.inputs for case in plan.cases])
        work = dataclasses.replace(work, plan=plan)
    if not plan.cases:
        return plan.skipped, Counts()
    executable = build_offloaded(
        work.generated,
        _built_for_all(context, toolchain),
        directory,
        cache=context.cache,
        files=context.directory,
    )
    results, counts = list(plan.skipped), Counts()
    for mode in _modes(context, region):
        found, counted = _run_offloaded(work, executable, mode, reference)
        results += found
        counts = _together(counts, counted)
    return tuple(results), counts


def _built_for_all(context: UnitCheck, toolchain: Toolchain) -> Toolchain:
    """Return ``toolchain`` as it builds for all regions of the file.

    They share its object for CPEs, which otherwise would be compiled with and without a version for checked
    mode.
    """
    modes = {mode for region in context.unit.regions for mode in _modes(context, region)}
    return built_for(modes, toolchain)


def _modes(context: UnitCheck, region: RegionUnit) -> tuple[str, ...]:
    """Return the modes to run ``region`` in.

    What kernels access in main memory without DMA is watched, and counted, in checked mode alone, so a
    region that does is run in that, too: first, so that the last run's counts are those of a mode asked for.
    """
    settings = context.settings
    if settings.target is not Target.EMULATOR:
        return (settings.target.value,)
    direct = any(kernel.get("main_memory") for kernel in region.report.get("kernels", ()))
    return (*(("checked",) if direct and "checked" not in settings.modes else ()), *settings.modes)


def _together(before: Counts, counts: Counts) -> Counts:
    """Return the counts of a run, with those of accesses without DMA from an earlier one if it has none."""
    if counts.direct_accesses is not None:
        return counts
    return dataclasses.replace(
        counts, direct_accesses=before.direct_accesses, direct_bytes=before.direct_bytes
    )


def _generated(
    context: UnitCheck, region: RegionUnit, options: KernelOptions, check: RegionCheck
) -> GeneratedRegion:
    """Return the region as the stages of :mod:`swbuild.check.staged` take it."""
    model = context.model
    task = RegionTask(Path(model.path), RegionRequest(region.scop.name), options, check, context.cpp)
    return GeneratedRegion(task, model.unit, model.dependencies, context.unit, region, region_slots(region))


def _run_reference(work: _Region) -> RunOutput:
    """Build and run the serial reference; raise SwbuildError when it does not get to its end."""
    toolchain = host_toolchain()
    executable = build_reference(work.generated, toolchain, work.directory, cache=work.of.cache)
    done, found = _run(work, toolchain, "local", executable, "reference", {})
    if not found.complete:
        raise SwbuildError(reference_failure(work.region.scop, Ending.of(done)))
    return found


def _run_offloaded(
    work: _Region, executable: Path, mode: str, reference: RunOutput
) -> tuple[list[CaseResult], Counts]:
    """Run the offloaded cases once and judge what they left."""
    counters = work.directory / f"counters.{mode.replace(':', '-')}.json"
    environment = run_environment(mode, counters) if work.emulated else {}
    launcher = work.of.settings.launcher
    done, found = _run(work, work.toolchain, launcher, executable, mode, environment)
    pairs = zip(work.plan.cases, reference.records, found.records, strict=False)
    results = [
        judge_case(work.region, work.plan.slots, case, mode, expected, actual, work.check.tolerance)
        for case, expected, actual in pairs
    ]
    if not found.complete:
        results += _lost(work.plan.cases[len(results) :], mode, done)
    counts = read_counts(counters)
    if counts.spawns == 0:
        results = [*map(_idle, results, work.plan.cases), *results[len(work.plan.cases) :]]
    if work.emulated:
        results = _blamed(work, executable, environment, results)
    return results, counts


def _blamed(
    work: _Region, executable: Path, environment: Mapping[str, str], results: list[CaseResult]
) -> list[CaseResult]:
    """Return the results with the owner of the first bad element, from a run with a trace."""

    def rerun(inputs: Path, extra: Mapping[str, str]) -> object:
        arguments = (str(inputs), str(work.directory / "blame.bin"), "-")
        limit = work.check.timeout or work.of.settings.timeout
        job = Job(executable, arguments, {}, {**environment, **extra}, work.directory, limit)
        return launcher_for("local", work.toolchain.machine).start(work.toolchain, job)

    return blamed(
        results, work.plan.cases, work.plan.slots, work.directory, rerun, load(work.toolchain.machine).mesh
    )


def _idle(result: CaseResult, case: Case) -> CaseResult:
    """Return the verdict on a case of a run that started no kernel at all."""
    if result.outcome is not Outcome.PASS or not case.must_spawn:
        return result
    message = "right, but the emulator saw no kernel start: the offloaded code did not run"
    return dataclasses.replace(result, outcome=Outcome.NOT_OFFLOADED, message=message)


def _run(
    work: _Region,
    toolchain: Toolchain,
    launcher: str,
    executable: Path,
    name: str,
    environment: Mapping[str, str],
) -> tuple[Completed, RunOutput]:
    """Start an executable of the harness and read what it wrote; a nonce tells it from an older run's."""
    nonce = secrets.token_hex(8)
    output = work.directory / f"{name.replace(':', '-')}.bin"
    output.unlink(missing_ok=True)
    arguments = (str(work.directory / "inputs.bin"), str(output), nonce)
    settings = work.of.settings
    limit = work.check.timeout or settings.timeout
    job = Job(executable, arguments, settings.launch_settings, environment, work.directory, limit)
    done = launcher_for(launcher, toolchain.machine).start(toolchain, job)
    return done, read_output(output, work.plan.slots, work.plan.shapes, nonce)


def _lost(cases: tuple[Case, ...], mode: str, done: Completed) -> list[CaseResult]:
    """Return the verdicts on the cases that a run did not finish: the first of them is where it died."""
    ended = Outcome.INFRA if done.status == LACKING else Outcome.CRASH
    outcome = Outcome.TIMEOUT if done.timed_out else ended
    message = f"the offloaded run {Ending.of(done)}\n{done.output}".rstrip()
    if not cases:
        return [CaseResult((), mode, outcome, message)]
    lost = [CaseResult(tuple(cases[0].sizes.items()), mode, outcome, message)]
    later = "not run: an earlier case ended the program"
    return lost + [CaseResult(tuple(case.sizes.items()), mode, Outcome.SKIP, later) for case in cases[1:]]
