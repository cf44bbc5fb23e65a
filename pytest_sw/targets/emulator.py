"""The emulated core group on this computer: every test in each completion mode of transfers."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_sw.baselines import model_cycles
from pytest_sw.items import KernelItem, Prepared, TargetHandle
from pytest_sw.judgement import item_size
from pytest_sw.records import Record
from pytest_sw.targets.base import Target, build_name, run_here
from pytest_sw.verdicts import Category, SwFailure, SwInfraError, tells_of_no_room
from swbuild.check.emulation import run_environment
from swbuild.check.evidence import CaseRun
from swbuild.check.ownership import Owners, read_addresses, read_owners, trace_environment
from swbuild.check.results import CaseResult
from swbuild.check.staged import GeneratedRegion, build_offloaded
from swbuild.check.store import RegionStore
from swbuild.machine import load
from swbuild.toolchain import Role, Toolchain, require_driver, toolchain_for
from swbuild.toolchain import Target as Place

__all__ = ["EmulatorTarget"]


class EmulatorTarget(Target):
    """Runs kernels with the stand-in tools."""

    _toolchain: Toolchain | None = None

    @property
    def toolchain(self) -> Toolchain:
        """The stand-ins, built on first use."""
        if self._toolchain is None:
            self._toolchain = toolchain_for(Place.EMULATOR, self.machine)
        return self._toolchain

    def absent(self) -> str:
        """Return why there is no emulator; one that should be there but cannot be built is an error."""
        missing = [name for name in ("gcc", "ar") if shutil.which(name) is None]
        if missing:
            return f"the emulator needs {' and '.join(missing)}"
        for role in Role:
            require_driver(self.toolchain, role)
        return ""

    def build(self, store: RegionStore, generated: GeneratedRegion) -> Path:
        toolchain = counting(self.toolchain) if self.context.settings.baseline else self.toolchain
        name = build_name("emulator", toolchain)
        return store.built(generated.task, name, lambda d, n: build_offloaded(generated, toolchain, d, n))

    def run(self, item: KernelItem, prepared: Prepared) -> tuple[CaseRun, ...]:
        settings, limit = self.context.settings, self.context.limit(item)
        return tuple(self._run(item.record, prepared, mode, limit, settings.checked) for mode in settings.dma)

    def run_once(self, record: Record, prepared: Prepared, handle: TargetHandle, limit: float) -> CaseRun:
        """Run in every mode that is wanted and return the first run: the others must give the same."""
        runs = [self._run(record, prepared, mode, limit, handle.checked) for mode in handle.modes]
        for run in runs[1:]:
            if run.found.complete and runs[0].found.complete and not _same(run, runs[0]):
                text = f"the results depend on when transfers complete: {runs[0].mode} and {run.mode} differ"
                raise SwFailure(Category.MISMATCH, text)
        return next((run for run in runs if not run.found.complete), runs[0])

    def _run(self, record: Record, prepared: Prepared, mode: str, limit: float, checked: bool) -> CaseRun:
        """Run once; try again when the machinery failed, never when the kernel did."""
        stem = prepared.directory / mode.replace(":", "-")
        counters = stem.with_suffix(".counters.json")
        environment = run_environment(mode, counters)
        environment["SWBUILD_EMU_CHECKED"] = "1" if checked else "0"
        attempt = 0
        while True:
            attempt += 1
            run = run_here(
                self.toolchain, prepared.executable, prepared.plan, mode, prepared.inputs,
                stem.with_suffix(".bin"), limit, environment, counters,
            )  # fmt: skip
            category = machinery(run)
            record.set(attempts=attempt)
            if category is None:
                return run
            if not category.retried or attempt > self.context.settings.infra_retries:
                text = f"the run in mode {mode} {run.ending}\n{run.ending.output}".rstrip()
                raise SwInfraError(category, self.context.shorten(text))

    def cycles(self, item: KernelItem, prepared: Prepared) -> int | None:
        """Run once more, for model time."""
        counters = prepared.directory / "profile.json"
        environment = {**run_environment("eager", counters), "SWBUILD_EMU_MODEL": f"{counters}.model"}
        done = run_here(
            self.toolchain, prepared.executable, prepared.plan, "eager", prepared.inputs,
            counters.with_suffix(".bin"), self.context.limit(item), environment,
        )  # fmt: skip
        return model_cycles(counters) if done.found.complete else None

    def owners(
        self, item: KernelItem, prepared: Prepared, run: CaseRun, results: Sequence[CaseResult]
    ) -> Mapping[tuple[int, str], Owners]:
        """Run once more, with a trace, and see which core put what."""
        stem = prepared.directory / f"{run.mode.replace(':', '-')}-traced"
        trace, addresses = stem.with_suffix(".trace"), stem.with_suffix(".addresses")
        addresses.unlink(missing_ok=True)
        environment = {
            **run_environment(run.mode, stem.with_suffix(".json")),
            **trace_environment(trace, addresses),
        }
        run_here(
            self.toolchain, prepared.executable, prepared.plan, run.mode, prepared.inputs,
            stem.with_suffix(".bin"), self.context.limit(item), environment,
        )  # fmt: skip
        slots = {slot.name: number for number, slot in enumerate(prepared.plan.slots)}
        found: dict[tuple[int, str], Owners] = {}
        for number, result in enumerate(results):
            places = read_addresses(addresses, number)
            for report in result.arrays:
                if report.mismatches and slots[report.array] in places:
                    size = item_size(prepared, report.array)
                    owners = read_owners(trace, *places[slots[report.array]], size, load(self.machine).mesh)
                    if owners is not None:
                        found[number, report.array] = owners
        return found


def counting(toolchain: Toolchain) -> Toolchain:
    """Return the stand-ins, asked for slave code that also counts its operations when there is a trace."""
    tools = {
        role: dataclasses.replace(tool, driver=f"env SWBUILD_EMU_COUNTED_CODE=1 {tool.driver}")
        for role, tool in toolchain.tools.items()
    }
    return dataclasses.replace(toolchain, tools=tools)


def _same(one: CaseRun, other: CaseRun) -> bool:
    """Return whether two runs left the same bytes."""
    pairs = zip(one.found.records, other.found.records, strict=True)
    return all(
        left.slots[name].values.tobytes() == right.slots[name].values.tobytes()
        for left, right in pairs
        for name in left.slots
    )


def machinery(run: CaseRun) -> Category | None:
    """Return the category of a failure of the machinery, ``None`` if the run can be judged."""
    if run.found.complete or run.ending.timed_out:
        return None
    if tells_of_no_room(run.ending.output) or "cannot write the output" in run.ending.output:
        return Category.DISK_FULL
    if run.ending.status == 0:
        return Category.NO_EVIDENCE
    return Category.LAUNCHER if run.ending.status in (99, 126, 127) else None
