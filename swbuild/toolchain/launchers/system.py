"""Batch systems as data: how a job is submitted, watched and cancelled."""

from __future__ import annotations

import re
from collections.abc import Mapping

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.toolchain.launchers.template import PLACEHOLDERS, Template, for_machine, read_template

__all__ = ["BATCH_SYSTEMS", "BatchSystem", "batch_system_for"]


@dataclass(frozen=True, slots=True)
class BatchSystem:
    """A site's way to run jobs.

    ``submit`` starts a job; an ``attached`` one ends together with its job, any other prints the
    job's identifier and returns.  ``job`` finds the identifier in what ``submit`` prints.  ``status``
    and ``cancel`` take it as ``{job}``; a system without ``cancel`` ends the job with the submitter.
    """

    name: str
    submit: Template
    attached: bool = True
    job: re.Pattern[str] | None = None
    status: Template | None = None
    cancel: Template | None = None


@dataclass(frozen=True, slots=True)
class _Texts:
    """A batch system as it is written down in the table below; ``{launch}`` are options of the machine."""

    submit: str
    attached: bool = True
    job: str = ""
    status: str = ""
    cancel: str = ""


_SLURM = "[-p {queue}] -N 1 -n {ranks} -t {minutes} -J {name} {options}"

BATCH_SYSTEMS: Mapping[str, _Texts] = {
    "local": _Texts("{exe} {args}"),
    # LSF's cousin at the centres.  -b keeps the compute cores' stacks in their local memory; a data cache
    # is off unless a size is given, because its default differs between documents.
    "bsub": _Texts(
        "bsub -I -b [-q {queue}] -n {ranks} -cgsp {cpes} -host_stack {stack_mb} -share_size {share_mb}"
        " {launch} -J {name} {options} {exe} {args}",
        job=r"Job <(\d+)>",
        status="bjobs {job}",
        cancel="bkill {job}",
    ),
    "swrun": _Texts("swrun -E {cpes} -i {options} {exe} {args}"),
    "srun": _Texts(
        f"srun {_SLURM} {{exe}} {{args}}",
        job=r"srun: job (\d+)|srun: jobid (\d+)",
        cancel="scancel {job}",
    ),
    "slurm": _Texts(
        f"sbatch --parsable --no-requeue -o {{log}} {_SLURM} {{exe}} {{args}}",
        attached=False,
        job=r"^(\d+)(?:;\S+)?$",
        status="squeue -h -t all -j {job} -o %T",
        cancel="scancel {job}",
    ),
}

_JOB = ("job",)


def batch_system_for(name: str, machine: str) -> BatchSystem:
    """Return the batch system of this name; a template makes an attached one.

    Raise SW410 for an unknown name and SW411 for a bad template.
    """
    if "{" in name:
        return BatchSystem("template", read_template(name, PLACEHOLDERS, "exe"))
    if name not in BATCH_SYSTEMS:
        hint = f"one of {', '.join(BATCH_SYSTEMS)}, or a template with {{exe}}"
        raise SwbuildError(Diagnostic("SW410", f"unknown launcher {name!r}", Span("launcher"), hint))
    texts = BATCH_SYSTEMS[name]
    return BatchSystem(
        name,
        read_template(for_machine(texts.submit, machine), PLACEHOLDERS, "exe"),
        texts.attached,
        re.compile(texts.job, re.MULTILINE) if texts.job else None,
        read_template(texts.status, _JOB, "job", "status template") if texts.status else None,
        read_template(texts.cancel, _JOB, "job", "cancel template") if texts.cancel else None,
    )
