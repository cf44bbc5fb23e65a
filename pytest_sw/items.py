"""What the parts of the plugin hand to each other: a test of a kernel, and what is known of it on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_sw.records import Record, set_record
from pytest_sw.touched import touch
from swbuild.check.evidence import CaseRun
from swbuild.check.exchange import RunOutput
from swbuild.check.plan import Plan
from swbuild.check.staged import GeneratedRegion, RegionTask

__all__ = ["Evidence", "KernelItem", "Prepared", "TargetHandle"]


class KernelItem(pytest.Item):
    """One kernel at one set of sizes (``None``: the default ones) on one target; ``line`` is its place."""

    def __init__(
        self,
        *,
        task: RegionTask,
        sizes: Mapping[str, int] | None,
        target: str,
        label: str,
        line: int,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.task = task
        self.sizes = sizes
        self.target = target
        self.label = label
        self.line = max(line, 1)
        self.record = Record(self.nodeid, target, task.name, label, task.options.machine, self.line)
        touch(self)
        set_record(self, self.record)
        self.add_marker(pytest.mark.sunway(target=target))

    @property
    def baseline_name(self) -> str:
        """The name under which the test's figures are stored: they do not depend on the target."""
        return f"{self.parent.nodeid if self.parent else ''}::{self.task.name}[{self.label}]"

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.line - 1, self.name


@dataclass(frozen=True)
class TargetHandle:
    """Where a Python test's kernels run."""

    name: str
    timeout: float | None
    modes: tuple[str, ...]
    checked: bool


@dataclass(frozen=True)
class Prepared:
    """A test that is built and whose reference has run: all that is missing is the run to judge."""

    generated: GeneratedRegion
    plan: Plan
    inputs: Path
    reference: RunOutput
    executable: Path
    directory: Path


@dataclass(frozen=True)
class Evidence:
    """What there is to judge a test by."""

    prepared: Prepared
    runs: tuple[CaseRun, ...]
