"""Batch systems: templates for their commands, what they say, and jobs that leave nothing behind."""

from __future__ import annotations

from swbuild.toolchain.launchers.job import JobEnd, JobRequest, run_job
from swbuild.toolchain.launchers.states import JobState
from swbuild.toolchain.launchers.system import BATCH_SYSTEMS, BatchSystem, batch_system_for
from swbuild.toolchain.launchers.template import Template, read_template

__all__ = [
    "BATCH_SYSTEMS",
    "BatchSystem",
    "JobEnd",
    "JobRequest",
    "JobState",
    "Template",
    "batch_system_for",
    "read_template",
    "run_job",
]
