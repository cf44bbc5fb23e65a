"""What Python tests get: kernels to call with numpy arrays, programs to start, arrays to compare."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pytest_sw.collect import load_project, region_task
from pytest_sw.context import Context
from pytest_sw.items import Prepared, TargetHandle
from pytest_sw.records import Record, record_of, set_record
from pytest_sw.targeting import feature_names, mark_arguments
from pytest_sw.targets.base import Target
from pytest_sw.touched import touch
from pytest_sw.verdicts import Category, SwFailure, SwInfraError
from pytest_sw.workbench import workbench
from swbuild.check.compare import Tolerance, compare_arrays, dtype_of
from swbuild.check.evidence import CaseRun, plan_case, prepare_case
from swbuild.check.exchange import RunOutput
from swbuild.check.judge import Case
from swbuild.check.plan import Plan
from swbuild.check.report import explain_array
from swbuild.check.results import Counts
from swbuild.check.staged import GeneratedRegion, RegionTask
from swbuild.diagnostics import SwbuildError
from swbuild.machine import DEFAULT_MACHINE, load
from swbuild.toolchain import Completed, Job, launcher_for

__all__ = [
    "Kernel",
    "Outputs",
    "TargetHandle",
    "comparison",
    "kernel_factory",
    "program_runner",
    "target_handle",
]

AnyArray = npt.NDArray[Any]


class Outputs(Mapping[str, AnyArray]):
    """What a kernel wrote: arrays by name, as items and as attributes, and what is known of the run."""

    def __init__(self, arrays: Mapping[str, AnyArray], seconds: float, counts: Counts) -> None:
        self._arrays = dict(arrays)
        self.seconds = seconds
        self.counts = counts

    def __getitem__(self, name: str) -> AnyArray:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __getattr__(self, name: str) -> AnyArray:
        try:
            return self._arrays[name]
        except KeyError:
            known = ", ".join(self._arrays)
            raise AttributeError(f"the kernel writes no {name}, only {known}") from None


class Kernel:
    """A kernel of a manifest on a target."""

    def __init__(
        self, context: Context, item: pytest.Item, target: Target, handle: TargetHandle, task: RegionTask
    ):
        self._context, self._item, self._target = context, item, target
        self._handle, self._task = handle, task
        self._calls = 0

    @property
    def name(self) -> str:
        """The kernel's name in the manifest."""
        return self._task.name

    def run(self, /, **values: Any) -> Outputs:
        """Call the offloaded kernel: parameters are integers, arrays are of the shape that they have in C.

        Arrays that the kernel only writes may be left out and start as zeros.  Raises ``TypeError`` for
        values that do not fit, :class:`SwFailure` when the kernel crashes, hangs or refuses, and other
        :class:`SwError` when it cannot be built or run.
        """
        __tracebackhide__ = True
        prepared = self._prepare(values)
        run = self._target.run_once(self._record, prepared, self._handle, self._limit)
        return self._outputs(prepared, run)

    def reference(self, /, **values: Any) -> Outputs:
        """Call the serial original with the same values."""
        __tracebackhide__ = True
        prepared = self._prepare(values)
        generated, plan = prepared.generated, prepared.plan
        with self._context.stage(self._record, "reference", Category.REFERENCE):
            found = self._target.reference(self._context.store, generated, plan, prepared.inputs, self._limit)
        return _written(plan, found, Counts())

    @property
    def _record(self) -> Record:
        record = record_of(self._item)
        assert record is not None
        return record

    @property
    def _limit(self) -> float:
        stated = self._handle.timeout or self._context.settings.timeout or self._task.check.timeout or 60.0
        return stated * self._context.settings.timeout_scale

    def _prepare(self, values: Mapping[str, Any]) -> Prepared:
        __tracebackhide__ = True
        context, record = self._context, self._record
        with context.stage(record, "generate", Category.GENERATE):
            generated = context.store.generated(self._task)
        sizes = {p.name: int(values[p.name]) for p in generated.region.scop.parameters if p.name in values}
        missing = [p.name for p in generated.region.scop.parameters if p.name not in values]
        missing = [name for name in missing if name not in self._task.options.params]
        if missing:
            raise TypeError(f"{self.name}: no value for the parameters {', '.join(missing)}")
        plan = _with_values(self.name, generated, plan_case(generated, sizes), values)
        with context.stage(record, "build", Category.COMPILE):
            executable = self._target.build(context.store, generated)
        self._calls += 1
        directory = (
            context.runs / "python" / f"{context.file_name(self._item.nodeid)}-{self.name}-{self._calls}"
        )
        inputs = prepare_case(plan, directory)
        return Prepared(generated, plan, inputs, RunOutput((), False), executable, directory)

    def _outputs(self, prepared: Prepared, run: CaseRun) -> Outputs:
        __tracebackhide__ = True
        if not run.found.complete:
            text = f"{self.name} on {self._handle.name}: the run {run.ending}\n{run.ending.output}".rstrip()
            raise SwFailure(Category.TIMEOUT if run.ending.timed_out else Category.CRASH, text)
        record = run.found.records[0]
        if record.status:
            raise SwFailure(
                Category.NOT_OFFLOADED,
                f"{self.name}: its entry returned {record.status}: it refused these values",
            )
        outside = [name for name, slot in record.slots.items() if slot.changed_outside is not None]
        if outside:
            raise SwFailure(Category.MISMATCH, f"{self.name} wrote outside of {', '.join(outside)}")
        if self._context.settings.keep != "all":
            shutil.rmtree(prepared.directory, ignore_errors=True)
        return _written(prepared.plan, run.found, run.counts)


def target_handle(request: pytest.FixtureRequest) -> TargetHandle:
    """Return the handle for the test's target; see to its record."""
    item = request.node
    bench = workbench(request.config)
    arguments = mark_arguments(item)
    settings = bench.settings
    name = str(request.param)
    touch(item)
    set_record(item, Record(item.nodeid, name, item.name.partition("[")[0], "-", "-", item.location[1] or 0))
    _open_record(item).set(python=True)
    modes = arguments.get("dma") or settings.dma
    return TargetHandle(
        name, arguments.get("timeout"), tuple(modes), arguments.get("checked", settings.checked)
    )


def kernel_factory(request: pytest.FixtureRequest, handle: TargetHandle) -> Callable[[str, str], Kernel]:
    """Return the function behind the fixture ``sw_kernel``."""
    bench = workbench(request.config)
    item = request.node

    def sw_kernel(manifest: str | Path, name: str) -> Kernel:
        """Return a kernel of a manifest; a relative name is looked for beside the test, then in the root."""
        __tracebackhide__ = True
        places = [Path(request.path).parent / manifest, Path(request.config.rootpath) / manifest]
        path = next((place for place in places if place.exists()), places[0])
        with bench.context.stage(_open_record(item), "manifest", Category.CONFIG):
            from swbuild.manifest import select

            project = select(load_project(path), [name])
        source = project.sources[0]
        task = region_task(source, source.kernel(name), bench.settings.seed)
        _require_features(item, task.options.machine)
        _open_record(item).set(kernel=name, machine=task.options.machine)
        target = bench.require(handle.name, task.options.machine, _open_record(item))
        return Kernel(bench.context, item, target, handle, task)

    return sw_kernel


def program_runner(request: pytest.FixtureRequest, handle: TargetHandle) -> Callable[..., Completed]:
    """Return the function behind the fixture ``sw_run``."""
    bench = workbench(request.config)

    def sw_run(
        executable: str | Path,
        *arguments: str,
        machine: str = DEFAULT_MACHINE,
        timeout: float = 60.0,
        environment: Mapping[str, str] | None = None,
    ) -> Completed:
        """Start an executable on the target, through the launcher there, and return how it ended."""
        __tracebackhide__ = True
        target = bench.require(handle.name, load(machine).name, _open_record(request.node))
        limit = (handle.timeout or timeout) * bench.settings.timeout_scale
        job = Job(Path(executable), arguments, {}, environment or {}, None, limit)
        launcher = bench.settings.launcher if handle.name == "node" else "local"
        try:
            return launcher_for(launcher, target.machine).start(target.toolchain, job)
        except SwbuildError as error:
            raise SwInfraError(Category.LAUNCHER, str(error)) from None

    return sw_run


def comparison(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Return the function behind the fixture ``sw_compare``."""

    def sw_compare(
        actual: Any,
        expected: Any,
        *,
        name: str = "array",
        rtol: float = 0.0,
        atol: float = 0.0,
        max_ulp: int = 0,
    ) -> None:
        """Fail with a report of where and how two arrays differ; without tolerances every bit counts."""
        __tracebackhide__ = True
        left, right = np.asarray(expected), np.asarray(actual)
        if left.shape != right.shape or left.dtype != right.dtype:
            raise TypeError(
                f"{name}: {right.dtype}{right.shape} cannot be compared with {left.dtype}{left.shape}"
            )
        report = compare_arrays(name, left, right, Tolerance(atol, rtol, max_ulp))
        if not report.good:
            _open_record(request.node, create=False)
            raise SwFailure(Category.MISMATCH, "\n".join(explain_array(report)), pytrace=True)

    return sw_compare


def _open_record(item: pytest.Item, create: bool = True) -> Record:
    record = record_of(item)
    if record is None:
        record = Record(item.nodeid, "-", item.name, "-", "-", 0)
        if create:
            set_record(item, record)
    return record


def _require_features(item: pytest.Item, machine: str) -> None:
    missing = [name for name in feature_names(item) if name not in load(machine).features]
    if missing:
        _open_record(item).set(category=Category.NOT_APPLICABLE.value)
        pytest.skip(f"{machine} has no {', '.join(missing)}")


def _with_values(name: str, generated: GeneratedRegion, plan: Plan, values: Mapping[str, Any]) -> Plan:
    """Return the plan with the user's arrays as its inputs."""
    __tracebackhide__ = True
    if not plan.cases:
        raise TypeError(f"{name}: {plan.skipped[0].message}")
    case, shapes = plan.cases[0], plan.shapes[0]
    reads = {argument.name for argument in generated.region.arguments if argument.reads}
    arrays = {slot.name: slot for slot in plan.slots if slot.parameter is None}
    parameters = {slot.name for slot in plan.slots if slot.parameter is not None}
    unknown = [key for key in values if key not in arrays and key not in parameters]
    missing = [key for key in arrays if key in reads and key not in values]
    if unknown or missing:
        problems = [f"there is no {key} (there are {', '.join([*parameters, *arrays])})" for key in unknown]
        problems += [f"no value for {key}, which it reads" for key in missing]
        raise TypeError(f"{name}: " + "; ".join(problems))
    inputs = dict(case.inputs)
    for key, slot in arrays.items():
        dtype = dtype_of(slot.element)
        given = np.zeros(shapes[key], dtype) if key not in values else np.asarray(values[key])
        if given.shape != tuple(shapes[key]) or given.dtype != dtype:
            if given.ndim or given.shape != tuple(shapes[key]):
                wanted = f"{dtype}{list(shapes[key])}"
                raise TypeError(f"{name}: {key} must be {wanted}, not {given.dtype}{list(given.shape)}")
            given = given.astype(dtype)
        inputs[key] = np.ascontiguousarray(given).reshape(shapes[key])
    changed = Case(case.sizes, inputs, case.must_spawn)
    return dataclasses.replace(plan, cases=(changed,))


def _written(plan: Plan, found: RunOutput, counts: Counts) -> Outputs:
    record = found.records[0]
    arrays = {slot.name: record.slots[slot.name].values.copy() for slot in plan.slots if slot.writes}
    return Outputs(arrays, record.seconds, counts)
