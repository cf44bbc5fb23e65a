"""What is remembered of a test that has to do with kernels: properties for JUnit, a record for the reports.

A record travels from an xdist worker to the controller inside pytest's own report, so it holds
nothing but what JSON can say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_sw.verdicts import Category, SwError

__all__ = ["ATTRIBUTE", "Record", "attach", "facts_of", "record_of", "set_record"]

#: The name under which the record is found on the report.
ATTRIBUTE = "sw_record"

#: What JUnit gets, in this order.
_PROPERTIES = (
    *("category", "target", "machine", "jobid", "node", "max_ulp", "max_rel"),
    *("seconds", "queue_seconds", "attempts", "digest"),
)


class Record:
    """The facts about one test, gathered while it runs."""

    def __init__(self, test: str, target: str, kernel: str, label: str, machine: str, line: int) -> None:
        self.facts: dict[str, Any] = {
            "test": test,
            "target": target,
            "kernel": kernel,
            "sizes": label,
            "machine": machine,
            "line": line,
            "category": Category.INTERNAL.value,
            "attempts": 1,
            "stages": {},
        }

    def set(self, **facts: Any) -> None:
        """Remember facts; what JSON cannot say must not be among them."""
        self.facts.update(facts)

    def stage(self, name: str, seconds: float) -> None:
        """Add to the time that a stage took."""
        stages = self.facts["stages"]
        stages[name] = stages.get(name, 0.0) + seconds

    def properties(self) -> list[tuple[str, str]]:
        """Return what JUnit shows of the test."""
        known = ((name, self.facts.get(name)) for name in _PROPERTIES)
        return [(f"sw.{name}", _text(value)) for name, value in known if value is not None]


_RECORD: pytest.StashKey[Record] = pytest.StashKey()


def set_record(item: pytest.Item, record: Record) -> None:
    """Give the test its record."""
    item.stash[_RECORD] = record


def record_of(item: pytest.Item) -> Record | None:
    """Return the test's record, if it has one."""
    return item.stash.get(_RECORD, None)


def attach(item: pytest.Item, report: pytest.TestReport, error: BaseException | None) -> None:
    """Put the record on the report that decides the test: the first that is not a pass, else the call's."""
    record = record_of(item)
    if record is None or record.facts.get("outcome") is not None:
        return
    if isinstance(error, SwError):
        record.set(category=error.category.value)
    if report.when != "call" and report.outcome == "passed":
        return
    if record.facts.get("python") and record.facts["category"] == Category.INTERNAL.value:
        record.set(category=_plain_category(report).value)
    record.set(outcome=_outcome(report), phase=report.when, message=_message(report, error))
    # JUnit reads the properties of the last report, which pytest makes from those of the test.
    item.user_properties += record.properties()
    report.user_properties = list(item.user_properties)
    setattr(report, ATTRIBUTE, dict(record.facts))


def _plain_category(report: pytest.TestReport) -> Category:
    """Return the category of a Python test that ended without saying anything of kernels."""
    if report.outcome == "passed":
        return Category.PASS
    if report.outcome == "skipped":
        return Category.NOT_APPLICABLE
    return Category.ASSERTION if report.when == "call" else Category.INTERNAL


def _outcome(report: pytest.TestReport) -> str:
    """Return the outcome in JUnit's words."""
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.outcome == "skipped" else "xpassed"
    if report.outcome == "failed" and report.when != "call":
        return "error"
    return report.outcome


def _message(report: pytest.TestReport, error: BaseException | None) -> str:
    if isinstance(error, SwError):
        return str(error)
    return "" if report.outcome == "passed" else str(error or report.longreprtext)


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def facts_of(report: object) -> Mapping[str, Any] | None:
    """Return the record that a report carries."""
    return getattr(report, ATTRIBUTE, None)
