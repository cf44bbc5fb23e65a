"""Program level: the user's whole program, once serial and once offloaded, and all that it says compared."""

from __future__ import annotations

import re  # reads pragmas in the user's text
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from swbuild.check.builds import Builder
from swbuild.check.compare import EXACT, Tolerance
from swbuild.check.emulation import LACKING, built_for, read_counts, run_environment
from swbuild.check.results import Counts, Outcome
from swbuild.check.tasks import CheckSettings
from swbuild.check.text import TextDifference, compare_texts
from swbuild.classes import dataclass
from swbuild.codegen.unit import GeneratedUnit
from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.endings import run_directory
from swbuild.files import made, named_failures, write_text
from swbuild.frontend.request import CppOptions, RegionRequest
from swbuild.options import KernelOptions
from swbuild.toolchain import (
    Completed,
    Job,
    Role,
    Target,
    Toolchain,
    host_toolchain,
    launcher_for,
    link,
    link_failure,
    toolchain_for,
)

__all__ = [
    "Offloaded",
    "ProgramRegion",
    "ProgramResult",
    "ProgramRun",
    "ProgramTask",
    "build_offloaded_program",
    "check_program",
    "generate_program",
]

_PRAGMA = re.compile(r'^\s*(?:(?:#|%:)\s*pragma\s+|_Pragma\s*\(\s*")scop\b', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ProgramTask:
    """A program: its sources, how they are compiled, and how it is run.

    ``options`` go to regions by name, ``default_options`` to all others, and what ``every`` states holds for
    all of them.  ``inputs`` are files
    that are copied into the directory in which it runs; every other file found there afterwards is output.
    ``link_arguments`` come behind the objects of both executables (``-lm`` is there anyway).
    """

    sources: tuple[Path, ...]
    cpp: CppOptions = field(default_factory=CppOptions)
    every: RegionRequest = field(default_factory=RegionRequest)
    options: Mapping[str, KernelOptions] = field(default_factory=dict)
    default_options: KernelOptions = field(default_factory=KernelOptions)
    arguments: tuple[str, ...] = ()
    inputs: tuple[Path, ...] = ()
    link_arguments: tuple[str, ...] = ()
    tolerance: Tolerance = EXACT

    def for_kernels(self) -> ProgramTask:
        """Return the program with kernels also where the host is estimated to take less time."""
        options = {name: each.for_kernels() for name, each in self.options.items()}
        return replace(self, options=options, default_options=self.default_options.for_kernels())


@dataclass(frozen=True, slots=True)
class ProgramRegion:
    """A region of the program: its kernels, or why it has none."""

    name: str
    source: str
    kernels: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """One offloaded run against the serial one."""

    mode: str
    outcome: Outcome
    message: str
    differences: tuple[TextDifference, ...]
    counts: Counts
    seconds: float


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The verdict on a program."""

    outcome: Outcome
    message: str
    regions: tuple[ProgramRegion, ...] = ()
    runs: tuple[ProgramRun, ...] = ()
    serial_seconds: float = 0.0
    seconds: float = 0.0
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Offloaded:
    """A source with regions and what was generated for it."""

    source: Path
    unit: GeneratedUnit


def check_program(task: ProgramTask, settings: CheckSettings) -> ProgramResult:
    """Build the program serial and offloaded, run both, compare output, errors, exit status and files.

    It is offloaded wherever it has kernels, in every mode; where it is generated otherwise, since the host is
    estimated to take less time, it runs as it is generated, too, in the first mode.  Never raises for a
    mistake of the user or a failure of a tool: both are results.
    """
    start = time.monotonic()
    try:
        offloaded = generate_program(task.for_kernels())
        chosen = generate_program(task) if task.for_kernels() != task else offloaded
    except SwbuildError as error:
        return ProgramResult(Outcome.USER_ERROR, str(error), diagnostics=error.diagnostics)
    regions = tuple(_regions(offloaded))
    try:
        with run_directory(settings.keep, "program") as directory:
            serial, runs = _runs(_Checked(task, settings, directory), offloaded, chosen)
    except SwbuildError as error:
        return ProgramResult(Outcome.INFRA, str(error), regions, diagnostics=error.diagnostics)
    outcome, message = _verdict(runs, regions)
    return ProgramResult(outcome, message, regions, runs, serial, time.monotonic() - start)


@dataclass(frozen=True, slots=True)
class _Checked:
    """A program on its way through the check; ``directory`` holds all that is made for it."""

    task: ProgramTask
    settings: CheckSettings
    directory: Path

    @property
    def emulated(self) -> bool:
        return self.settings.target is Target.EMULATOR

    @property
    def modes(self) -> tuple[str, ...]:
        return self.settings.modes if self.emulated else (self.settings.target.value,)


def _runs(
    of: _Checked, offloaded: Sequence[Offloaded], chosen: Sequence[Offloaded]
) -> tuple[float, tuple[ProgramRun, ...]]:
    """Return the seconds of the serial run, and the others against it."""
    expected = _serial(of)
    regions = tuple(_regions(offloaded))
    runs = _judged(of, offloaded, {mode: mode for mode in of.modes}, expected, regions)
    if _texts(chosen) != _texts(offloaded):
        asked = replace(of, directory=made(of.directory / "as-generated"))
        runs += _judged(asked, chosen, {f"{of.modes[0]}, as generated": of.modes[0]}, expected, ())
    return expected.done.seconds, tuple(runs)


def _texts(offloaded: Sequence[Offloaded]) -> list[str]:
    files = [file for found in offloaded for file in (found.unit.host, found.unit.header, found.unit.slave)]
    return [file.text if file else "" for file in files]


def _serial(of: _Checked) -> _Ran:
    host = host_toolchain()
    serial = _build_serial(of.task, Builder(host, made(of.directory / "objects")), of.directory)
    expected = _run(of.task, of.settings, host, "local", serial, of.directory / "run.serial", {})
    if expected.done.timed_out:
        what = f"the serial program did not end within {of.settings.timeout:g} s"
        raise SwbuildError(
            Diagnostic("SW502", what, Span(str(of.task.sources[0])), "give it a smaller problem")
        )
    return expected


def _judged(
    of: _Checked,
    offloaded: Sequence[Offloaded],
    modes: Mapping[str, str],
    expected: _Ran,
    regions: Sequence[ProgramRegion],
) -> list[ProgramRun]:
    """Return the runs of one build, by name each in its mode; some of ``regions`` have to start kernels."""
    task, settings = of.task, of.settings
    toolchain = toolchain_for(settings.target, task.default_options.machine, settings.overrides)
    builder = Builder(built_for(modes.values(), toolchain), made(of.directory / "objects"))
    executable = build_offloaded_program(task, offloaded, builder, of.directory)
    runs = []
    for name, mode in modes.items():
        place = of.directory / f"run.{mode.replace(':', '-')}"
        counters = place.with_suffix(".counters.json")
        environment = run_environment(mode, counters) if of.emulated else {}
        actual = _run(task, settings, toolchain, settings.launcher, executable, place, environment)
        runs.append(_judge(task, name, expected, actual, read_counts(counters), regions))
    return runs


def generate_program(task: ProgramTask) -> tuple[Offloaded, ...]:
    """Return what is generated for the sources that have regions."""
    from swbuild.frontend import read_source
    from swbuild.generate import generate_unit

    marked = [source for source in task.sources if _PRAGMA.search(_read(source))]
    found = []
    for source in marked:
        model = read_source(source, task.cpp, None, every=task.every)
        given = {scop.name: task.options.get(scop.name, task.default_options) for scop in model.scops}
        options = {name: replace(each, files=len(marked)) for name, each in given.items()}
        found.append(Offloaded(source, generate_unit(model, options)))
    return tuple(found)


def _read(source: Path) -> str:
    try:
        return source.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        what = f"cannot read the source: {error.strerror}"
        raise SwbuildError(Diagnostic("SW503", what, Span(str(source)))) from error


def _regions(offloaded: Sequence[Offloaded]) -> Iterator[ProgramRegion]:
    for found in offloaded:
        for region in found.unit.regions:
            reason = "" if region.kernels else "nothing in it can run on the core group"
            yield ProgramRegion(region.scop.name, str(found.source), region.kernels, reason)
        for refused in found.unit.refused:
            reason = "; ".join(dict.fromkeys(diagnostic.message for diagnostic in refused.diagnostics))
            yield ProgramRegion(refused.name, str(found.source), (), reason)


def _build_serial(task: ProgramTask, builder: Builder, directory: Path) -> Path:
    objects = [builder.object(Role.HOST, source.resolve(), _arguments(task)) for source in task.sources]
    return _link(task, builder.toolchain, objects, directory / "serial")


def build_offloaded_program(
    task: ProgramTask, offloaded: Sequence[Offloaded], builder: Builder, directory: Path
) -> Path:
    """Return the program with its regions on the core group, built in ``directory``."""
    generated = {found.source: found.unit for found in offloaded}
    objects: list[Path] = []
    for number, source in enumerate(task.sources):
        unit = generated.get(source)
        if unit is None:
            objects.append(builder.object(Role.HOST, source.resolve(), _arguments(task)))
            continue
        place = directory / f"{number:03}-{source.stem}"
        made(place)
        arguments = (*_arguments(task), f"-I{place}", f"-I{source.resolve().parent}")
        for file in (unit.header, unit.host, *([unit.slave] if unit.slave else [])):
            write_text(place / file.name, file.text)
        objects.append(builder.object(Role.HOST, place / unit.host.name, arguments))
        if unit.slave is not None:
            objects.append(builder.object(Role.SLAVE, place / unit.slave.name, arguments))
    return _link(task, builder.toolchain, objects, directory / "offloaded")


def _link(task: ProgramTask, toolchain: Toolchain, objects: Sequence[Path], output: Path) -> Path:
    done = link(toolchain, objects, output, task.link_arguments)
    if done.status:
        raise link_failure(done, output)
    return output


def _arguments(task: ProgramTask) -> tuple[str, ...]:
    includes = [f"-I{Path(directory).resolve()}" for directory in task.cpp.includes]
    return ("-w", *(f"-D{definition}" for definition in task.cpp.defines), *includes)


@dataclass(frozen=True, slots=True)
class _Ran:
    done: Completed
    files: Mapping[str, str]


def _run(
    task: ProgramTask,
    settings: CheckSettings,
    toolchain: Toolchain,
    launcher: str,
    executable: Path,
    place: Path,
    environment: Mapping[str, str],
) -> _Ran:
    """Run the program in a directory of its own that holds nothing but its inputs."""
    shutil.rmtree(place, ignore_errors=True)
    made(place)
    for file in task.inputs:
        with named_failures(place / file.name):
            shutil.copy(file, place)
    job = Job(executable, task.arguments, settings.launch_settings, environment, place, settings.timeout)
    done = launcher_for(launcher, toolchain.machine).start(toolchain, job)
    return _Ran(done, _output_files(place))


def _output_files(place: Path) -> dict[str, str]:
    files = sorted(path for path in place.rglob("*") if path.is_file())
    return {str(path.relative_to(place)): path.read_bytes().decode("latin-1") for path in files}


def _judge(
    task: ProgramTask,
    mode: str,
    expected: _Ran,
    actual: _Ran,
    counts: Counts,
    regions: Sequence[ProgramRegion],
) -> ProgramRun:
    differences = tuple(_differences(task, expected, actual))
    outcome, message = Outcome.PASS, ""
    if actual.done.timed_out:
        outcome, message = Outcome.TIMEOUT, f"it did not end within {actual.done.seconds:.3g} s"
    elif actual.done.status != expected.done.status:
        outcome = _ended(actual.done.status)
        message = (
            f"exit status {actual.done.status}, serial {expected.done.status}\n{_tail(actual.done.stderr)}"
        )
    elif differences:
        outcome = Outcome.MISMATCH
        message = f"{', '.join(difference.name for difference in differences)} differ from the serial run"
    elif counts.spawns == 0 and any(region.kernels for region in regions):
        outcome, message = Outcome.NOT_OFFLOADED, "right, but no kernel was started"
    return ProgramRun(mode, outcome, message.rstrip(), differences, counts, actual.done.seconds)


def _ended(status: int) -> Outcome:
    """Return the verdict on an exit status that the serial program does not have."""
    if status == LACKING:
        return Outcome.INFRA
    return Outcome.CRASH if status < 0 or status > 1 else Outcome.MISMATCH


def _differences(task: ProgramTask, expected: _Ran, actual: _Ran) -> Iterator[TextDifference]:
    streams = {
        "standard output": (expected.done.stdout, actual.done.stdout),
        "standard error": (expected.done.stderr, actual.done.stderr),
    }
    names = sorted({*expected.files, *actual.files})
    files = {name: (expected.files.get(name), actual.files.get(name)) for name in names}
    for name, (left, right) in {**streams, **files}.items():
        difference = compare_texts(name, left, right, task.tolerance)
        if difference is not None:
            yield difference


def _tail(text: str, lines: int = 12) -> str:
    return "\n".join(text.splitlines()[-lines:])


def _verdict(runs: Sequence[ProgramRun], regions: Sequence[ProgramRegion]) -> tuple[Outcome, str]:
    bad = next((run for run in runs if run.outcome is not Outcome.PASS), None)
    if bad is not None:
        return bad.outcome, f"{bad.message} ({bad.mode})"
    if not any(region.kernels for region in regions):
        reasons = "; ".join(f"{region.name}: {region.reason}" for region in regions) or "it has no region"
        return Outcome.SKIP, f"right, but nothing of it is offloaded: {reasons}"
    return Outcome.PASS, ""
