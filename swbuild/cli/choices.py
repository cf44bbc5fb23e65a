"""The lines of ``swbuild explain`` about what a region could have become, and what that would have cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["choices"]


def choices(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a region takes on either side, and how tiles were chosen for its largest kernel."""
    where = report.get("where")
    if where and where["chosen"] != "host":
        at = _at(where["sizes"], report.get("sizes_in_calls", {}))
        yield (
            f"  {at}about {_rounded(where['cpes_cycles'])} cycles on the core group, "
            f"{_rounded(where['host_cycles'])} on the host"
        )
    kernel = _largest(report)
    if kernel is not None:
        yield f"  {_chosen(kernel)}"
    for each in report["kernels"]:
        if each.get("handed_on"):
            yield f"  {_handed_on(each, report)}"


def _at(sizes: Mapping[str, int], called: Mapping[str, int]) -> str:
    """Return the sizes that were planned for; ``called`` are those that calls in the file pass."""
    if not sizes:
        return ""
    passed = [name for name, value in sizes.items() if called.get(name) == value]
    some = f"{' and '.join(passed)} " if len(passed) < len(sizes) else ""
    note = f" ({some}as in calls of this file)" if passed else ""
    return f"at {' '.join(f'{name}={value}' for name, value in sizes.items())}{note}: "


def _largest(report: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the kernel that takes most time, of those whose threads and tiles were chosen."""
    cycles = {row["name"]: row["cpes_cycles"] for row in report.get("where", {}).get("kernels", ())}
    chosen = [kernel for kernel in report["kernels"] if kernel["choice"]]
    return max(chosen, key=lambda kernel: float(cycles.get(kernel["name"], 0)), default=None)


def _chosen(kernel: Mapping[str, Any]) -> str:
    choice, other = kernel["choice"], kernel["choice"]["runner_up"]
    names = kernel["shared_loops"]
    line = (
        f"{kernel['name']}: {_shape(kernel, names)}, of {choice['considered']} candidates {choice['because']}"
    )
    return f"{line}; runner-up {_shape(other, names)}, {_more(choice, other)}" if other else line


def _handed_on(kernel: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Return which tiles one CPE gets for others, and how much that leaves to be moved."""
    by_way: dict[str, list[str]] = {}
    for row in kernel["handed_on"]:
        by_way.setdefault(row["along"], []).append(row["buffer"])
    found = (f"{' and '.join(names)} {_once(way)}" for way, names in by_way.items())
    line = f"{kernel['name']}: tiles of {', of '.join(found)}"
    costs = {row["name"]: row for row in report.get("where", {}).get("kernels", ())}.get(kernel["name"], {})
    if not costs.get("bytes"):
        return line
    alone = f"{_rounded(costs['bytes_if_each_for_itself'])} without"
    return f"{line}; about {_rounded(costs['bytes'])} bytes are moved, {alone}"


def _once(way: str) -> str:
    return f"are got once for {'all CPEs' if way == 'all' else f'each {way}'}"


def _shape(found: Mapping[str, Any], names: Sequence[str]) -> str:
    tile, threads = (" x ".join(map(str, found[key])) for key in ("tile", "threads"))
    count = found["mapped_loops"]
    if count == len(found["threads"]):
        return f"tiles {tile} on {threads} threads"
    loops = ", ".join(names[:count]) if count <= len(names) else f"{count} loops"
    return f"tiles {tile}, those of {loops} dealt together to {threads} threads"


def _more(choice: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return what the runner-up would cost beside what was taken."""
    if not choice["quick_cycles"]:
        return f"about {_rounded(other['quick_cycles'])} cycles"
    percent = round(100 * other["quick_cycles"] / choice["quick_cycles"]) - 100
    return (
        f"about {abs(percent)} % {'more' if percent > 0 else 'fewer'} cycles" if percent else "as many cycles"
    )


def _rounded(cycles: int) -> str:
    """Return ``cycles`` to three digits: an estimate says no more."""
    unit = 10 ** max(0, len(str(cycles)) - 3)
    return f"{round(cycles / unit) * unit:,}"
