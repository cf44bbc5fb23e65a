"""The report for programs: everything that is known of the session's tests, as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["FORMAT", "document", "document_text"]

FORMAT = "swbuild-pytest"


def document(records: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report: the session's settings, counts by category, jobs, and a record for each test."""
    from swbuild import __version__

    return {
        "format": FORMAT,
        "version": 1,
        "swbuild": __version__,
        "settings": dict(settings),
        "categories": dict(Counter(record["category"] for record in records)),
        "jobs": _jobs(records),
        "tests": [dict(record) for record in records],
    }


def document_text(found: Mapping[str, Any]) -> str:
    """Return the report's text; what JSON has no number for is written as text."""
    return json.dumps(_plain(found), indent=1, allow_nan=False) + "\n"


def _jobs(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    jobs: dict[str, dict[str, Any]] = {}
    for record in records:
        log = record.get("log")
        if not log:
            continue
        job = jobs.setdefault(
            log, {"job": record.get("jobid"), "node": record.get("node"), "log": log, "tests": 0}
        )
        job["queue_seconds"] = record.get("queue_seconds")
        job["tests"] += 1
    return list(jobs.values())


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value
