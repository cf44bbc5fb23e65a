"""Checking: every region against its serial reference, and whole programs against themselves.

The command line, CTest and the pytest plugin all go through the few functions that are exported
here; nothing in this package knows of them.
"""

from __future__ import annotations

from swbuild.check.compare import Tolerance
from swbuild.check.report import coverage_line, explain, remarks
from swbuild.check.results import ArrayReport, CaseResult, Counts, Outcome, RegionResult, exit_status
from swbuild.check.session import check_source, check_sources
from swbuild.check.table import print_table
from swbuild.check.tasks import CheckSettings, RegionCheck, SourceTask

__all__ = [
    "ArrayReport",
    "CaseResult",
    "CheckSettings",
    "Counts",
    "Outcome",
    "RegionCheck",
    "RegionResult",
    "SourceTask",
    "Tolerance",
    "check_source",
    "check_sources",
    "coverage_line",
    "exit_status",
    "explain",
    "print_table",
    "remarks",
]
