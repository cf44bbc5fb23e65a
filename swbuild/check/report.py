"""What a person reads about a check that did not pass."""

from __future__ import annotations

from collections.abc import Iterator

from swbuild.check.results import ArrayReport, CaseResult, Outcome, RegionResult
from swbuild.diagnostics import Diagnostic, Severity, Span

__all__ = ["coverage_notes", "explain", "explain_array", "explain_case"]

#: How many of the things that were not reached are told; the others are counted.
_SHOWN = 5


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


def coverage_notes(result: RegionResult) -> tuple[Diagnostic, ...]:
    """Return what the sizes of a check did not reach in a region, the worst first, if it ran at all."""
    coverage = result.coverage
    if coverage is None or not coverage.sizes:
        return ()
    missed = sorted(coverage.missed, key=lambda missed: missed.kind != "statements")
    notes = [_missed(result, item.line, f"not reached: {item.what}") for item in missed[:_SHOWN]]
    if len(missed) > _SHOWN:
        rest = f"not reached: {len(missed) - _SHOWN} more things, which --json lists"
        notes.append(_missed(result, missed[_SHOWN].line, rest))
    notes += [
        _missed(result, line, "not known: whether both sides of the condition on data were seen")
        for line in coverage.data_conditions
    ]
    return tuple(notes)


def _missed(result: RegionResult, line: int, message: str) -> Diagnostic:
    span = Span(result.source, line)
    return Diagnostic("SW505", f"{result.region}: {message}", span, severity=Severity.NOTE)


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
