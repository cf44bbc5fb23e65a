"""What is said at the end of a session: on the terminal, and in the files that the user asked for."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_sw.options import Settings
from pytest_sw.records import facts_of
from pytest_sw.verdicts import Category

__all__ = ["Reporter"]

_SHOWN = 5


class Reporter:
    """Collects the records of all tests, from the workers too, and writes the reports."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self.config = config
        self.settings = settings
        self.records: list[Mapping[str, Any]] = []
        self.written: list[str] = []

    def pytest_report_header(self) -> str:
        from swbuild import __version__

        settings = self.settings
        words = [f"target={','.join(settings.target)}"]
        if "node" in settings.target:
            words += [f"launcher={settings.launcher}", f"batch={settings.batch}"]
            words += [f"queue={settings.queue}"] if settings.queue else []
        if "emulator" in settings.target:
            words.append(f"dma={','.join(settings.dma)}{' checked' if settings.checked else ''}")
        return f"sunway: {' '.join(words)} swbuild={__version__}"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        facts = facts_of(report)
        if facts is not None:
            self.records.append(facts)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A manifest that cannot be read is an error among the tests."""
        if report.failed and report.nodeid.endswith((".yaml", ".yml")):
            self.records.append(_collection_record(report))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        if hasattr(self.config, "workerinput") or not self.records:
            return
        settings = self.settings
        if settings.json or settings.html:
            self._write_reports()
        where, _, file = settings.annotations.partition(":")
        if where:
            from pytest_sw.reports import annotations

            text = getattr(annotations, where)(self.records)
            if file:
                self._write(file, text)
            else:
                sys.stdout.write("\n" + text)
        if settings.update_baseline:
            self._update_baseline()

    def _write_reports(self) -> None:
        from pytest_sw.reports.document import document, document_text

        found = document(self.records, self.settings._asdict())
        if self.settings.json:
            self._write(self.settings.json, document_text(found))
        if self.settings.html:
            from pytest_sw.reports.page import page

            self._write(self.settings.html, page(found))

    def _update_baseline(self) -> None:
        from pytest_sw.baselines import Baselines, compiler_name

        figures = {
            record["baseline"]: record["figures"]
            for record in self.records
            if record.get("figures") and record["category"] == Category.PASS.value
        }
        if not figures:
            return
        path = Path(self.config.rootpath, self.settings.baseline)
        Baselines(path, compiler_name()).update(figures)
        self.written.append(f"{self.settings.baseline} ({len(figures)} tests)")

    def _write(self, name: str, text: str) -> None:
        path = Path(self.config.invocation_params.dir, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".part")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
        self.written.append(name)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.records:
            return
        terminalreporter.section("sunway", sep="-")
        for line in self._summary():
            terminalreporter.line(line)

    def _summary(self) -> list[str]:
        counts = Counter(record["category"] for record in self.records)
        shown = ", ".join(f"{count} {category}" for category, count in counts.most_common())
        lines = [*self._differences(), f"{len(self.records)} kernel tests: {shown}", *self._jobs()]
        retried = sum(record.get("attempts", 1) > 1 for record in self.records)
        if retried:
            lines.append(f"{retried} tests were tried again after failures of the machinery")
        if self.config.get_verbosity() > 0:
            lines += self._slowest()
        return [*lines, *(f"wrote {name}" for name in self.written)]

    def _differences(self) -> list[str]:
        """Return what ends differently on different targets; a failure only on the node comes first."""
        groups: dict[str, dict[str, str]] = {}
        for record in self.records:
            name = f"{record['kernel']}[{record['sizes']}]"
            groups.setdefault(name, {})[record["target"]] = record["category"]
        different = [(name, found) for name, found in groups.items() if len(set(found.values())) > 1]
        different.sort(key=lambda pair: pair[1].get("emulator") != Category.PASS.value)
        return [
            f"differs: {name}: " + ", ".join(f"{target} {category}" for target, category in found.items())
            for name, found in different
        ]

    def _jobs(self) -> list[str]:
        jobs = {record["log"]: record for record in self.records if record.get("log")}
        if not jobs:
            return []
        waits = [record.get("queue_seconds") or 0.0 for record in jobs.values()]
        names = [str(record.get("jobid") or Path(log).name) for log, record in jobs.items()]
        listed = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
        return [f"{len(jobs)} jobs ({listed}), {sum(waits):.1f} s in the queue"]

    def _slowest(self) -> list[str]:
        slow = sorted(self.records, key=lambda record: -sum(record.get("stages", {}).values()))[:_SHOWN]
        lines = ["slowest (s):"]
        for record in slow:
            stages = ", ".join(f"{name} {seconds:.2f}" for name, seconds in record.get("stages", {}).items())
            lines.append(f"  {record['test']}: {stages}")
        return lines


def _collection_record(report: pytest.CollectReport) -> Mapping[str, Any]:
    return {
        "test": report.nodeid,
        "target": "-",
        "kernel": Path(report.nodeid).name,
        "sizes": "-",
        "machine": "-",
        "line": 1,
        "category": Category.CONFIG.value,
        "outcome": "error",
        "phase": "collect",
        "message": str(report.longrepr),
        "stages": {},
    }
