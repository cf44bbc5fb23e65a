"""The line about a region that ``swbuild explain`` begins with: verdict, kernels, threads, main limit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from swbuild.expressions.types import is_integer
from swbuild.manifest.suggest import listing
from swbuild.memory.words import is_small

if TYPE_CHECKING:
    from swbuild.codegen.unit import RegionUnit
    from swbuild.frontend.scop import Scop

__all__ = ["summary"]


def summary(region: RegionUnit) -> str:
    """Return the line about ``region``."""
    report = region.report
    kernels = report["kernels"]
    threads = "x".join(map(str, report["threads"]))
    count = f"{len(kernels)} kernel{'s' if len(kernels) > 1 else ''} on {math.prod(report['threads'])} CPEs"
    where = f"{_verdict(report)}, {count} ({threads}){_sums(report)}" if kernels else _verdict(report)
    return f"{region.scop.name}: {where}; limit: {_limit(region)}"


def _verdict(report: Mapping[str, Any]) -> str:
    if not report["kernels"]:
        return "stays on the host"
    where = "on the core group in part" if report["host_statements"] else "on the core group"
    least = report.get("where", {}).get("least_iterations")
    return f"{where} from about {least} iterations on" if least else where


def _sums(report: Mapping[str, Any]) -> str:
    """Return which sums are in work arrays, and what has become of `contract: true` where it is asked for."""
    parts = f", sums in parts in {_words(report['sums_in_parts'])}" if "sums_in_parts" in report else ""
    return parts + _contracted(report)


def _contracted(report: Mapping[str, Any]) -> str:
    if "contracted" not in report:
        return ""
    why = "in a function that it calls, or added to a place that is found by a side effect"
    return ", in multiply-adds" if report["contracted"] else f", not in multiply-adds: sums are {why}"


def _limit(region: RegionUnit) -> str:
    """Return the first thing to look at: what stays on the host and why, a bad mapping, or transfers."""
    report = region.report
    if report.get("where", {}).get("chosen") == "host":
        where = report["where"]
        return (
            f"it is estimated to take {where['host_cycles']} cycles there, "
            f"{where['cpes_cycles']} on the core group"
        )
    if "note" in report:
        return str(report["note"])
    sums, counters = _ordered_sums(region)
    if sums:
        return f"the reduction on {sums} keeps the order of the source (`reassociate: true` allows parts)"
    if counters:
        return f"{counters} counts beside the loop: write what it is as a formula of the loop's counter"
    small = _small_elements(region)
    if small:
        return f"the host alone writes {small}: elements of less than 4 bytes share words of memory"
    for loop in report["loops"]:
        if loop["because"] and not loop["parallel"] and report["host_statements"]:
            return f"{loop['loop']} in line {loop['line']} is sequential: {loop['because'][0]}"
    if report["notes"]:
        return str(report["notes"][0]["message"]).partition("; ")[0]
    return _transfers(report) or "the computation itself"


def _ordered_sums(region: RegionUnit) -> tuple[str, str]:
    """Return the variables of reductions that keep loops on the host, and those that count beside a loop.

    The latter are no reductions, as other statements read them; what is added to them is no data.
    """
    from swbuild.polyhedral.reductions import find_reductions
    from swbuild.polyhedral.verdicts import analyse_region

    scop = region.scop
    there = {item["statement"] for item in region.report["host_statements"]}
    adding: dict[str, frozenset[str]] = {}
    for reduction in find_reductions(scop):
        adding[reduction.array] = adding.get(reduction.array, frozenset()) | reduction.statements
    sums: dict[str, None] = {}
    counters: dict[str, None] = {}
    for loop in analyse_region(scop).loops if there else ():
        for array, _ in loop.reductions if there.intersection(loop.statements) else ():
            steps = adding.get(array, frozenset())
            if not scop.users(array) & {*loop.statements} - steps:
                sums[array] = None
            elif is_integer(scop.array(array).element) and not any(_reads_data(scop, name) for name in steps):
                counters[array] = None
    return _words(sums), _words(counters)


def _reads_data(scop: Scop, statement: str) -> bool:
    """Return whether a statement accesses an element of an array."""
    return any(not scop.array(access.array).is_scalar for access in scop.statement(statement).accesses)


def _small_elements(region: RegionUnit) -> str:
    """Return the arrays and variables of few bytes that keep statements in parallel loops on the host."""
    there = {item["statement"] for item in region.report["host_statements"]}
    if not any(loop["parallel"] for loop in region.report["loops"]):
        return ""
    found = map(region.scop.array, sorted(region.scop.written_by(there)))
    small = [array.name for array in found if is_small(array)]
    return _words(small) if small else ""


def _transfers(report: Mapping[str, Any]) -> str:
    """Return the transfers that happen most often, and how often."""
    rows = [row for kernel in report["kernels"] for row in kernel["transfers"]]
    per = max((row["per"] for row in rows), key=lambda loops: loops.count(","), default="")
    names = dict.fromkeys(row["buffer"] for row in rows if row["per"] == per)
    return f"transfers of {_words(names)}, once per {per}" if per else ""


def _words(names: Iterable[str]) -> str:
    found = list(names)
    return listing(found).replace("`", "") if found else ""
