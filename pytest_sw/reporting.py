"""What is said at the end of a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from pytest_sw.options import Settings
from pytest_sw.records import facts_of

__all__ = ["Reporter"]


class Reporter:
    """Collects the records of all tests, from the workers too, and writes the reports."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self.config = config
        self.settings = settings
        self.records: list[Mapping[str, Any]] = []

    def pytest_report_header(self) -> str:
        from swbuild import __version__

        settings = self.settings
        words = [f"target={','.join(settings.target)}"]
        if "node" in settings.target:
            words += [f"launcher={settings.launcher}", f"batch={settings.batch}"]
        if "emulator" in settings.target:
            words.append(f"dma={','.join(settings.dma)}{' checked' if settings.checked else ''}")
        return f"sunway: {' '.join(words)} swbuild={__version__}"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        facts = facts_of(report)
        if facts is not None:
            self.records.append(facts)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.records:
            return
        counts = Counter(record["category"] for record in self.records)
        shown = ", ".join(f"{count} {category}" for category, count in counts.most_common())
        terminalreporter.section("sunway", sep="-")
        terminalreporter.line(f"{len(self.records)} kernel tests: {shown}")
