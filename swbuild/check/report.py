"""What a person reads about a check that did not pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swbuild.check.results import ArrayReport, CaseResult, Coverage, Outcome, RegionResult
from swbuild.diagnostics import Diagnostic, Severity, Span

__all__ = ["coverage_line", "explain", "explain_array", "explain_cases", "remarks"]

#: How many of the things that were not reached are told; the others are counted.
_SHOWN = 5

#: At how many sizes the same mistake is listed.
_PLACES = 6


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
    lines += [f"  {line}" for line in explain_cases(result.cases)]
    return "\n".join(lines)


def remarks(result: RegionResult) -> tuple[Diagnostic, ...]:
    """Return what is bad about a region's mapping, and what the sizes did not reach, if it ran at all."""
    coverage = result.coverage
    if coverage is None or not coverage.sizes:
        return ()
    return (*result.notes, *_coverage_notes(result, coverage))


def coverage_line(result: RegionResult) -> str:
    """Return what the sizes of a check reached in a region, kind by kind; empty if none ran."""
    coverage = result.coverage
    if coverage is None or not coverage.sizes:
        return ""
    sizes = "1 set" if coverage.sizes == 1 else f"{coverage.sizes} sets"
    run = "too many" if coverage.instances is None else f"{coverage.instances:,}"
    reached = ", ".join(f"{kind} {n}/{of}" for kind, (n, of) in coverage.reached.items())
    busy = ", ".join(f"{load.kernel} {load.cpes:.3g}" for load in coverage.loads)
    there = "" if coverage.launched is None else f" ({coverage.launched} on the core group)"
    line = f"{result.region}: {sizes} of sizes{there}, {run} iterations; reached: {reached}"
    return f"{line}; CPEs with work: {busy}" if busy else line


def _coverage_notes(result: RegionResult, coverage: Coverage) -> tuple[Diagnostic, ...]:
    """Return what was not reached, statements first."""
    missed = sorted(coverage.missed, key=lambda missed: missed.kind != "statements")
    notes = [_missed(result, item.line, f"not reached: {item.what}") for item in missed[:_SHOWN]]
    if len(missed) > _SHOWN:
        rest = f"not reached: {len(missed) - _SHOWN} more things, which --json lists"
        notes.append(_missed(result, missed[_SHOWN].line, rest))
    if coverage.data_conditions:
        first, *others = coverage.data_conditions
        more = f" (in {len(others) + 1} lines)" if others else ""
        unknown = f"not known: whether both sides of the conditions on data{more} were seen"
        notes.append(_missed(result, first, unknown))
    return tuple(notes)


def _missed(result: RegionResult, line: int, message: str) -> Diagnostic:
    span = Span(result.source, line)
    return Diagnostic("SW505", f"{result.region}: {message}", span, severity=Severity.NOTE)


def explain_cases(cases: Sequence[CaseResult]) -> Iterator[str]:
    """Yield the lines about those of ``cases`` that went wrong, what is alike told once.

    Cases are alike that went wrong in the same way, in the same arrays; the first one of them is told in
    full, and of the others where they are.
    """
    bad = [case for case in cases if case.outcome not in (Outcome.PASS, Outcome.SKIP)]
    groups: dict[tuple[object, ...], list[CaseResult]] = {}
    for case in bad:
        groups.setdefault(_way(case), []).append(case)
    for alike in groups.values():
        shown = alike[0]
        first, *rest = shown.message.splitlines() or [shown.outcome.value]
        yield f"{_where(shown)}: {first}"
        yield from (f"  {line}" for line in rest)
        for report in shown.arrays:
            yield from (f"  {line}" for line in explain_array(report))
        yield from (f"  {line}" for line in _others(alike, cases))


def _way(case: CaseResult) -> tuple[object, ...]:
    """Return in what way a case went wrong."""
    arrays = tuple((report.array, report.red_zone is not None) for report in case.arrays)
    return case.outcome, case.message.partition("\n")[0], arrays


def _where(case: CaseResult) -> str:
    return f"{case.label} ({case.mode})" if case.mode else case.label


def _others(alike: Sequence[CaseResult], cases: Sequence[CaseResult]) -> Iterator[str]:
    """Yield where else the same went wrong, and in which modes it did not."""
    modes: dict[str, list[str]] = {}
    for case in alike:
        modes.setdefault(case.label, []).append(case.mode)
    if len(alike) > 1:
        places = [f"{label} ({', '.join(found)})" for label, found in modes.items()]
        more = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
        yield f"the same in {len(alike)} runs: {'; '.join(places[:_PLACES])}{more}"
    right = [c.mode for c in cases if c.mode and c.outcome is Outcome.PASS and c.label in modes]
    wrong = {mode for found in modes.values() for mode in found}
    never_wrong = [mode for mode in dict.fromkeys(right) if mode not in wrong]
    if never_wrong:
        yield f"right at these sizes: {', '.join(never_wrong)}"


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
