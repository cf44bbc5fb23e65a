"""Failures in the words of CI systems: GitHub's workflow commands, GitLab's code quality report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["github", "gitlab"]

_SEVERITY = {"error": "blocker", "failed": "critical"}


def github(records: Iterable[Mapping[str, Any]]) -> str:
    """Return a workflow command for each test that failed."""
    lines = []
    for record in _bad(records):
        title = _escaped(f"{record['kernel']} on {record['target']}: {record['category']}", True)
        place = f"file={_escaped(_file(record), True)},line={record['line']}"
        lines.append(f"::error {place},title={title}::{_escaped(record['message'])}\n")
    return "".join(lines)


def gitlab(records: Iterable[Mapping[str, Any]]) -> str:
    """Return the code quality report, an issue for each test that failed."""
    issues = [
        {
            "description": f"{record['kernel']} on {record['target']}: {record['category']}: "
            + record["message"].partition("\n")[0],
            "check_name": f"sw.{record['category']}",
            "fingerprint": hashlib.sha256(f"{record['test']} {record['category']}".encode()).hexdigest()[:32],
            "severity": _SEVERITY.get(record["outcome"], "major"),
            "location": {"path": _file(record), "lines": {"begin": record["line"]}},
        }
        for record in _bad(records)
    ]
    return json.dumps(issues, indent=2) + "\n"


def _bad(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [record for record in records if record.get("outcome") in ("failed", "error", "xpassed")]


def _file(record: Mapping[str, Any]) -> str:
    return str(record["test"]).partition("::")[0]


def _escaped(text: str, in_property: bool = False) -> str:
    """Return ``text`` as a workflow command may hold it."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if in_property else text
