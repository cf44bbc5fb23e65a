"""What a person reads about a check that did not pass."""

from __future__ import annotations

from collections.abc import Iterator

from swbuild.check.results import ArrayReport, CaseResult, Outcome, RegionResult

__all__ = ["explain", "explain_array", "explain_case"]


def explain(result: RegionResult) -> str:
    """Return why a region did not pass, or why it should not have; empty if all is well."""
    if result.outcome is Outcome.PASS:
        return ""
    if result.outcome is Outcome.EXPECTED:
        return f"{result.region}: fails as expected ({result.expected_failure})"
    if result.outcome is Outcome.UNEXPECTED:
        reason = f"{result.region}: passes, though it is expected to fail ({result.expected_failure})"
        return f"{reason}\n  hint: remove `expected-failure` from the manifest"
    lines = [f"{result.region}: {result.outcome.value}"]
    if not result.bad_cases:
        lines += [f"  {line}" for line in result.message.splitlines()]
    for case in result.bad_cases:
        lines += [f"  {line}" for line in explain_case(case)]
    return "\n".join(lines)


def explain_case(case: CaseResult) -> Iterator[str]:
    """Yield the lines about one case."""
    where = f"{case.label} ({case.mode})" if case.mode else case.label
    first, *rest = case.message.splitlines() or [case.outcome.value]
    yield f"{where}: {first}"
    yield from (f"  {line}" for line in rest)
    for report in case.arrays:
        yield from (f"  {line}" for line in explain_array(report))


def explain_array(report: ArrayReport) -> Iterator[str]:
    """Yield the lines about one array: how many, which, how large, whose."""
    if report.red_zone is not None:
        side = "before its start" if report.red_zone < 0 else "from its start, behind its end"
        yield f"{report.array}: written outside the array, {abs(report.red_zone)} bytes {side}"
    if not report.mismatches:
        return
    share = 100.0 * report.mismatches / max(report.elements, 1)
    only_read = ", and the region only reads it" if report.untouchable else ""
    count = f"{report.mismatches} of {report.elements}"
    yield f"{report.array}: {count} elements differ ({share:.3g} %){only_read}"
    for bad in report.first:
        subscript = "".join(f"[{i}]" for i in bad.index)
        yield f"  {report.array}{subscript}: expected {bad.expected}, got {bad.actual}"
    if report.mismatches > len(report.first):
        yield f"  and {report.mismatches - len(report.first)} more"
    if report.mismatches > 1 and report.box:
        ranges = "".join(f"[{low}]" if low == high else f"[{low}..{high}]" for low, high in report.box)
        yield f"  all of them lie in {report.array}{ranges}"
    yield (
        f"  largest error: absolute {report.max_absolute:.6g}, relative {report.max_relative:.6g}, "
        f"{report.max_ulp} ULP"
    )
    if report.owner:
        yield f"  the first bad element belongs to {report.owner}"
