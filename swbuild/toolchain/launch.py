"""How an executable is started: here, through a batch system, or by a site's own template.

A launcher is a command template.  Its placeholders are checked when it is made, its words are
split before they are filled in, so that no value is ever seen by a shell.
"""

from __future__ import annotations

import shlex
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.options import Machine
from swbuild.toolchain.model import Toolchain
from swbuild.toolchain.process import Completed, run

__all__ = ["LAUNCHERS", "Job", "Launcher", "launcher_for", "launcher_from_template"]

#: What a template may speak of, and the value when a job does not say.
PLACEHOLDERS: Mapping[str, str] = {
    "exe": "",
    "args": "",
    "name": "swbuild",
    "queue": "q_sw_expr",
    "ranks": "1",
    "cpes": "64",
    "share_mb": "4096",
    "stack_mb": "1024",
    "cache_kb": "0",
    "minutes": "10",
}

#: Templates by name and machine.  ``-b`` keeps the compute cores' stacks in their local memory.
LAUNCHERS: Mapping[str, Mapping[Machine, str]] = {
    "local": dict.fromkeys(Machine, "{exe} {args}"),
    "bsub": {
        Machine.SW26010: "bsub -b -I -q {queue} -n {ranks} -cgsp {cpes} -host_stack {stack_mb}"
        " -share_size {share_mb} -J {name} {exe} {args}",
        Machine.SW26010_PRO: "bsub -b -I -q {queue} -n {ranks} -cgsp {cpes} -host_stack {stack_mb}"
        " -share_size {share_mb} -cache_size {cache_kb} -J {name} {exe} {args}",
    },
    "swrun": dict.fromkeys(Machine, "swrun -E {cpes} -i {exe} {args}"),
    "slurm": dict.fromkeys(Machine, "srun -n {ranks} -J {name} -t {minutes} {exe} {args}"),
}


@dataclass(frozen=True, slots=True)
class Job:
    """One start of an executable."""

    executable: Path
    arguments: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: Path | None = None
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Launcher:
    """A named, validated command template."""

    name: str
    words: tuple[str, ...]

    def command(self, job: Job) -> list[str]:
        """Return the command line that starts ``job``."""
        values = {**PLACEHOLDERS, **job.settings, "exe": str(job.executable)}
        line: list[str] = []
        for word in self.words:
            line += job.arguments if word == "{args}" else [word.format(**values)]
        return line

    def start(self, toolchain: Toolchain, job: Job) -> Completed:
        """Run ``job`` to its end or its time limit; raise SW412 when the launcher itself is missing."""
        command = self.command(job)
        environment = toolchain.environment(job.environment)
        try:
            return run(command, environment=environment, directory=job.directory, timeout=job.timeout)
        except FileNotFoundError as error:
            what = f"cannot start {command[0]} (launcher {self.name}): no such program"
            raise SwbuildError(Diagnostic("SW412", what, Span(command[0]))) from error


def launcher_from_template(template: str, name: str = "template") -> Launcher:
    """Return the launcher for a site's template; raise SW411 for what the template gets wrong."""
    try:
        fields = [name for _, name, _, _ in string.Formatter().parse(template) if name is not None]
        words = tuple(shlex.split(template))
    except ValueError as error:
        raise SwbuildError(_bad_template(template, str(error))) from error
    unknown = [name for name in fields if name not in PLACEHOLDERS]
    problems = [_bad_template(template, f"unknown placeholder {{{name}}}") for name in unknown]
    if "exe" not in fields:
        problems.append(_bad_template(template, "the placeholder {exe} is missing"))
    if "args" in fields and "{args}" not in words:
        problems.append(_bad_template(template, "{args} must be a word of its own"))
    if problems:
        raise SwbuildError(problems)
    return Launcher(name, words if "args" in fields else (*words, "{args}"))


def launcher_for(name: str, machine: Machine) -> Launcher:
    """Return a launcher by name, or from a template when ``name`` holds a placeholder."""
    if "{" in name:
        return launcher_from_template(name)
    if name not in LAUNCHERS:
        raise SwbuildError(
            Diagnostic(
                "SW410",
                f"unknown launcher {name!r}",
                Span("launcher"),
                hint=f"one of {', '.join(LAUNCHERS)}, or a template with {{exe}}",
            )
        )
    return launcher_from_template(LAUNCHERS[name][machine], name)


def _bad_template(template: str, why: str) -> Diagnostic:
    known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
    what = f"launcher template {template!r}: {why}"
    return Diagnostic("SW411", what, Span("launcher"), hint=f"known: {known}")
