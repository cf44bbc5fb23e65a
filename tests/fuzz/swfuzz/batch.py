"""Runs a batch of programs: one generation, one build against the mock, one run; a verdict for each."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from swfuzz.cases import Case, case_of, driver_text, section_of
from swfuzz.program import Program, program_text

__all__ = ["LIMIT", "Trial", "Verdict", "run_batch", "run_trials", "source"]

#: Seconds of processor time that the generation of one region may take, on a busy machine, too.
LIMIT = 60

_MOCK = Path(__file__).with_name("mock")
_FUZZ = Path(__file__).parents[1]
_WARN = (
    "-Wall",
    "-Wextra",
    "-Wno-unused-variable",
    "-Wno-unused-but-set-variable",
    "-Wno-type-limits",
    "-Wno-sign-compare",
    "-Wno-tautological-compare",
    "-Wno-unused-parameter",
    "-Wno-absolute-value",
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a program: ``ok``, ``refused``, or a failure of some kind with its text."""

    kind: str
    text: str = ""
    kernels: int = 0
    spawns: int = 0

    @property
    def failed(self) -> bool:
        return self.kind not in ("ok", "refused")


def source(program: Program, name: str) -> str:
    """Return the C file of one program."""
    return "#include <math.h>\n\n" + program_text(program, name)


@dataclass(frozen=True, slots=True)
class Trial:
    """A C file with one function, the fields of its options, and how to call it."""

    text: str
    options: Mapping[str, object]
    case: Case


def run_batch(
    programs: Mapping[str, Program], machine: str, directory: Path, toolchain: Path, seconds: int = 20
) -> dict[str, Verdict]:
    """Return the verdict on each of ``programs``; ``toolchain`` is the root of the swbuild to try."""
    trials = {
        name: Trial(source(program, name), {**program.options, "machine": machine}, case_of(program))
        for name, program in programs.items()
    }
    return run_trials(trials, directory, toolchain, seconds)


def run_trials(
    trials: Mapping[str, Trial], directory: Path, toolchain: Path, seconds: int = 20
) -> dict[str, Verdict]:
    """Return the verdict on each file; its function has the name of the trial."""
    directory.mkdir(parents=True, exist_ok=True)
    for stale in directory.iterdir():
        if stale.name != "driver.o":
            stale.unlink()
    (directory / "options.json").write_text(
        json.dumps({name: trial.options for name, trial in trials.items()})
    )
    for name, trial in trials.items():
        (directory / f"{name}.c").write_text(trial.text)
    verdicts = _generate(trials, directory, toolchain)
    alive = {name: trial for name, trial in trials.items() if verdicts[name].kind == "generated"}
    if alive:
        verdicts.update(_build_and_run(alive, directory, seconds, verdicts))
    return verdicts


def _generate(programs: Mapping[str, Trial], directory: Path, toolchain: Path) -> dict[str, Verdict]:
    """Return what the generator made of each program; a process that dies is started again for the rest."""
    environment = {**os.environ, "PYTHONPATH": f"{toolchain}{os.pathsep}{_FUZZ}"}
    command = [sys.executable, "-m", "swfuzz.worker", str(directory)]
    verdicts: dict[str, Verdict] = {}
    while len(verdicts) < len(programs):
        before = len(verdicts)
        ending = _watched(command, environment, directory)
        log, begun = directory / "outcomes.jsonl", ""
        for line in log.read_text().splitlines() if log.exists() else []:
            event = json.loads(line)
            if event["event"] == "begin":
                begun = event["name"]
                continue
            kernels = json.loads(event["text"])["kernels"] if event["kind"] == "generated" else 0
            verdicts.setdefault(event["name"], Verdict(event["kind"], event["text"], kernels))
        if begun and begun not in verdicts:
            verdicts[begun] = Verdict("slow" if ending.startswith("took") else "died", ending[:3000])
        if len(verdicts) == before:
            raise RuntimeError(f"the worker does not work\n{ending}")
    return verdicts


def _watched(command: Sequence[str], environment: Mapping[str, str], directory: Path) -> str:
    """Run the worker and return its complaints; abort it when one region takes more than LIMIT seconds."""
    errors, log = directory / "errors.txt", directory / "outcomes.jsonl"
    with open(errors, "w") as stderr:
        worker = subprocess.Popen(command, env=environment, stderr=stderr, cwd=directory)
        size, since, slow = -1, 0.0, False
        while worker.poll() is None:
            time.sleep(0.05)
            now = log.stat().st_size if log.exists() else 0
            used = _processor_seconds(worker.pid)
            if now != size:
                size, since = now, used
            elif used - since > LIMIT and not slow:
                slow = True
                worker.send_signal(signal.SIGABRT)
    text = errors.read_text(errors="replace")
    return f"took more than {LIMIT} s\n{text}" if slow else text


def _processor_seconds(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _compile(directory: Path, source: str, output: str, *arguments: str) -> str:
    """Compile; return what the compiler says."""
    command = [
        "gcc",
        "-std=gnu99",
        "-O0",
        "-fno-common",
        "-c",
        source,
        "-o",
        output,
        f"-I{_MOCK}",
        *arguments,
    ]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    return done.stderr


def _build_and_run(
    programs: Mapping[str, Trial], directory: Path, seconds: int, generated: Mapping[str, Verdict]
) -> dict[str, Verdict]:
    renamed = [f"-D{name}=ref_{name}" for name in programs]
    called = {name: _called(trial.case, generated[name]) for name, trial in programs.items()}
    (directory / "cases.c").write_text(driver_text(called, {n for n in called if _shares(directory, n)}))
    said = _compile_all(directory, programs, "{}.c", "reference", *renamed, "-w")
    if said:
        return {name: Verdict("invalid", said) for name in programs}
    objects, verdicts = ["reference.o"], dict[str, Verdict]()
    for side in ("host", "slave"):
        sources = {n: p for n, p in programs.items() if (directory / f"{n}.{side}.c").exists()}
        said = _compile_all(directory, sources, f"{{}}.{side}.c", side, *_WARN, "-Wno-unknown-pragmas")
        if said:
            verdicts.update(_blamed(programs, said, f"{side} compiler"))
        objects.append(f"{side}.o")
    broken = {name for name, v in verdicts.items() if "rror:" in v.text}
    if broken:
        rest = {name: p for name, p in programs.items() if name not in broken}
        found = (
            _build_and_run(rest, directory, seconds, generated) if rest and len(rest) < len(programs) else {}
        )
        return {**{n: Verdict("blocked", "by another's compile error") for n in rest}, **found, **verdicts}
    _compile(directory, "cases.c", "cases.o", "-w")
    driver = _driver_object(directory)
    link = ["gcc", *objects, "cases.o", str(driver), "-lm", "-o", "fuzz"]
    done = subprocess.run(link, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the mock lacks something\n{done.stderr[:3000]}")
    command = [str(directory / "fuzz"), str(seconds)]
    done = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, check=False, errors="replace"
    )
    for line in done.stdout.splitlines():
        name, _, rest = line.partition(" ")
        kind, _, what = rest.partition(" ")
        if name not in programs:
            continue
        if kind == "ok":
            verdicts.setdefault(name, Verdict("ok", "", generated[name].kernels, int(what)))
        else:
            verdicts[name] = Verdict(kind.rstrip(":") or "crash", what)
    for name in programs:
        verdicts.setdefault(name, Verdict("lost", done.stderr[-500:]))
    return verdicts


def _shares(directory: Path, name: str) -> bool:
    """Return whether CPEs hand data to each other in a generated program, or keep it in their LDMs."""
    slave = directory / f"{name}.slave.c"
    return slave.exists() and any(
        word in slave.read_text() for word in ("athread_rma_", "sw_hand_", "_held[")
    )


def _called(case: Case, generated: Verdict) -> Case:
    """Return how to call the generated side: the entry itself where the function keeps its original text.

    An entry that takes elements of an array as sizes is called by the function alone.
    """
    entry = tuple((name, type_, by_value) for name, type_, by_value in json.loads(generated.text)["entry"])
    known = {*case.sizes, *(word.removesuffix("_p") for word, _, _ in case.objects)}
    direct = not generated.kernels and all(name in known for name, _, _ in entry)
    return replace(case, entry=entry if direct else None)


def _driver_object(directory: Path) -> Path:
    output = directory / "driver.o"
    source = _MOCK / "driver.c"
    if not output.exists() or output.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(
            ["gcc", "-O1", "-w", "-std=gnu99", "-c", source, "-o", output, f"-I{_MOCK}"], check=True
        )
    return output


def _compile_all(
    directory: Path, programs: Mapping[str, Trial], pattern: str, stem: str, *arguments: str
) -> str:
    """Compile the files of all programs at once."""
    text = "".join(
        f'#undef SWMOCK_LDM\n#define SWMOCK_LDM "{section_of(name)}"\n#include "{pattern.format(name)}"\n'
        for name in programs
    )
    (directory / f"{stem}.c").write_text(text)
    return _compile(directory, f"{stem}.c", f"{stem}.o", *arguments)


def _blamed(programs: Mapping[str, Trial], said: str, kind: str) -> dict[str, Verdict]:
    """Return the programs that the compiler's words are about."""
    blamed: dict[str, Verdict] = {}
    for line in said.splitlines():
        name = line.partition(".")[0]
        if name not in programs or not re.search("(warning|[Ee]rror):", line):
            continue
        if name not in blamed or ("rror:" in line and "rror:" not in blamed[name].text):
            blamed[name] = Verdict(kind, line)
    if not blamed:
        return {name: Verdict(kind, said[:1500]) for name in programs}
    return blamed
