"""How an executable is started: here, through a batch system, or by a site's own template.

A launcher is a command template, see :mod:`swbuild.toolchain.launchers.template`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.machine import DEFAULT_MACHINE
from swbuild.toolchain.launchers.template import (
    PLACEHOLDERS,
    Template,
    for_machine,
    placeholders,
    read_template,
)
from swbuild.toolchain.model import Toolchain
from swbuild.toolchain.process import Completed, run

__all__ = ["LAUNCHERS", "Job", "Launcher", "launcher_for", "launcher_from_template"]

#: Templates by name.  ``-b`` keeps the compute cores' stacks in their local memory; ``{launch}`` stands for
#: the options that the machine needs.
LAUNCHERS: Mapping[str, str] = {
    "local": "{exe} {args}",
    "bsub": "bsub -b -I [-q {queue}] -n {ranks} -cgsp {cpes} -host_stack {stack_mb}"
    " -share_size {share_mb} {launch} -J {name} {exe} {args}",
    "swrun": "swrun -E {cpes} -i {exe} {args}",
    "slurm": "srun -n {ranks} -J {name} -t {minutes} [-p {queue}] {options} {exe} {args}",
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
    template: Template
    takes_arguments: bool
    machine: str = DEFAULT_MACHINE

    def command(self, job: Job) -> list[str]:
        """Return the command line that starts ``job``."""
        values = {**placeholders(self.machine), **job.settings, "exe": str(job.executable)}
        line = self.template.fill(values, job.arguments)
        return line if self.takes_arguments else [*line, *job.arguments]

    def start(self, toolchain: Toolchain, job: Job) -> Completed:
        """Run ``job`` to its end or its time limit; raise SW412 when the launcher itself is missing."""
        command = self.command(job)
        environment = toolchain.environment(job.environment)
        try:
            return run(command, environment=environment, directory=job.directory, timeout=job.timeout)
        except FileNotFoundError as error:
            what = f"cannot start {command[0]} (launcher {self.name}): no such program"
            raise SwbuildError(Diagnostic("SW412", what, Span(command[0]))) from error


def launcher_from_template(template: str, name: str = "template", machine: str = DEFAULT_MACHINE) -> Launcher:
    """Return the launcher for a site's template; raise SW411 for what the template gets wrong."""
    return Launcher(name, read_template(template, PLACEHOLDERS, "exe"), "{args}" in template, machine)


def launcher_for(name: str, machine: str) -> Launcher:
    """Return a launcher by name, or from a template when ``name`` holds a placeholder."""
    if "{" in name:
        return launcher_from_template(name, machine=machine)
    if name not in LAUNCHERS:
        raise SwbuildError(
            Diagnostic(
                "SW410",
                f"unknown launcher {name!r}",
                Span("launcher"),
                hint=f"one of {', '.join(LAUNCHERS)}, or a template with {{exe}}",
            )
        )
    return launcher_from_template(for_machine(LAUNCHERS[name], machine), name, machine)
