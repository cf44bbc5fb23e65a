"""Where measured data lie, and which machine each table is about."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from swbuild.machine import MachineModel, load

__all__ = ["MEASURED", "measured_on", "measured_rows"]

MEASURED = Path(__file__).with_name("measured")


def measured_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a table, without the comments ahead of them."""
    with (MEASURED / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


@cache
def _machines() -> dict[str, str]:
    return {row["table"]: row["machine"] for row in measured_rows("machines")}


def measured_on(name: str) -> MachineModel:
    """Return the machine that the table ``name`` was measured on."""
    return load(_machines()[name])
