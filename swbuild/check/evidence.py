"""One case of a region: its input file, the runs that it went through, and the verdict on what they left.

A run is believed only for what it wrote itself: the output carries the nonce of the run that was
started for it, and ends with an end record.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from swbuild.check.exchange import RunOutput, read_output, write_inputs
from swbuild.check.judge import judge_case
from swbuild.check.plan import Plan, plan_region
from swbuild.check.results import CaseResult, Counts, Outcome
from swbuild.check.staged import GeneratedRegion
from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic
from swbuild.frontend.scop import Scop
from swbuild.toolchain import Completed

__all__ = [
    "ENDLESS",
    "FAILING",
    "CaseRun",
    "Ending",
    "case_arguments",
    "new_nonce",
    "plan_case",
    "prepare_case",
    "read_run",
    "reference_failure",
    "verdicts",
]


#: A region whose own loops do not end, and one whose own statements end the program.
ENDLESS, FAILING = "SW502", "SW506"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run of an executable ended, wherever it ran."""

    status: int
    seconds: float = 0.0
    timed_out: bool = False
    output: str = ""

    @classmethod
    def of(cls, done: Completed) -> Ending:
        """Return the ending of a run on this computer."""
        return cls(done.status, done.seconds, done.timed_out, done.output)

    def __str__(self) -> str:
        if self.timed_out:
            return f"did not end within {self.seconds:.3g} s"
        if self.status < 0 or 128 < self.status < 192:
            return f"was killed by signal {-self.status if self.status < 0 else self.status - 128}"
        return f"ended with status {self.status} before its work was done"


@dataclass(frozen=True, slots=True)
class CaseRun:
    """What one run left: ``found`` holds only what carries its nonce."""

    mode: str
    ending: Ending
    found: RunOutput
    counts: Counts = field(default_factory=Counts)


def new_nonce() -> str:
    """Return the mark that tells the output of one run from that of any other."""
    return secrets.token_hex(8)


def plan_case(generated: GeneratedRegion, sizes: Mapping[str, int] | None) -> Plan:
    """Return the plan for one set of sizes, for the default ones with ``None``."""
    check = dataclasses.replace(generated.task.check, sizes=() if sizes is None else (sizes,))
    return plan_region(generated.region, generated.task.options, check)


def prepare_case(plan: Plan, directory: Path) -> Path:
    """Write the input file of the case in ``directory`` and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "inputs.bin"
    write_inputs(path, plan.slots, [case.inputs for case in plan.cases])
    return path


def case_arguments(inputs: Path, output: Path, nonce: str) -> tuple[str, ...]:
    """Return the arguments that an executable of the harness takes."""
    return (str(inputs), str(output), nonce)


def read_run(plan: Plan, mode: str, output: Path, nonce: str, ending: Ending, counts: Counts) -> CaseRun:
    """Return the run that was to write ``output`` with ``nonce``."""
    return CaseRun(mode, ending, read_output(output, plan.slots, plan.shapes, nonce), counts)


def reference_failure(scop: Scop, ending: Ending) -> Diagnostic:
    """Return what to say of a serial reference that did not get to its end.

    Whatever the region itself does is the user's to mend; SW501 is not.
    """
    what = f"the serial reference of {scop.name} {ending}"
    said = f"{what}\n{ending.output}".rstrip()
    if ending.timed_out:
        hint = "the region does not end for these inputs, or needs more time: give smaller sizes or --timeout"
        return Diagnostic(ENDLESS, what, scop.span, hint)
    if _machinery(ending):
        hint = "what surrounds the region fails: see the message above"
        return Diagnostic("SW501", said, scop.span, hint)
    hint = "the region itself fails for these inputs: give sizes that it is meant for"
    return Diagnostic(FAILING, said, scop.span, hint)


def verdicts(
    generated: GeneratedRegion, plan: Plan, reference: RunOutput, run: CaseRun
) -> tuple[CaseResult, ...]:
    """Return the verdict on each case of the plan in this run."""
    tolerance = generated.task.check.tolerance
    results = [
        judge_case(generated.region, plan.slots, case, run.mode, expected, actual, tolerance)
        for case, expected, actual in zip(plan.cases, reference.records, run.found.records, strict=False)
    ]
    if not run.found.complete:
        return (*results, *_lost(plan, len(results), run))
    return tuple(_spawned(run, plan, i, result) for i, result in enumerate(results))


def _spawned(run: CaseRun, plan: Plan, number: int, result: CaseResult) -> CaseResult:
    """Return the verdict, worse where the emulator saw no kernel start though one had to."""
    if run.counts.spawns != 0 or result.outcome is not Outcome.PASS or not plan.cases[number].must_spawn:
        return result
    message = "right, but the emulator saw no kernel start: the offloaded code did not run"
    return dataclasses.replace(result, outcome=Outcome.NOT_OFFLOADED, message=message)


def _lost(plan: Plan, done: int, run: CaseRun) -> list[CaseResult]:
    """Return the verdicts on the cases that the run did not finish; the first of them is where it ended."""
    ending = run.ending
    outcome = Outcome.TIMEOUT if ending.timed_out else Outcome.INFRA if _machinery(ending) else Outcome.CRASH
    message = f"the offloaded run {ending}\n{ending.output}".rstrip()
    sizes = [tuple(case.sizes.items()) for case in plan.cases[done:]] or [()]
    later = "not run: an earlier case ended the program"
    return [
        CaseResult(sizes[0], run.mode, outcome, message),
        *(CaseResult(size, run.mode, Outcome.SKIP, later) for size in sizes[1:]),
    ]


def _machinery(ending: Ending) -> bool:
    """Whether the machinery failed: the harness says so with 99, and 0 without results is a lie."""
    return ending.status in (0, 99)
