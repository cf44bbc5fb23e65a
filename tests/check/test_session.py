"""A whole run: several sources in parallel, mistakes kept apart, results in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.check import (
    CheckSettings,
    Outcome,
    RegionCheck,
    RegionResult,
    SourceTask,
    check_sources,
    exit_status,
)

GOOD = """\
void scale(int n, double f, double A[restrict n], const double B[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = f * B[i];
#pragma endscop
}
"""

#: Two regions in one file, and one that cannot be modelled.
THREE = (
    GOOD.replace("scale", "first")
    + GOOD.replace("scale", "second")
    + """\
void third(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        if (A[i] > 0.5)
            break;
#pragma endscop
}
"""
)

CHECK = RegionCheck(({"n": 7}, {"n": 300}))


def task(path: Path, text: str, check: RegionCheck = CHECK) -> SourceTask:
    path.write_text(text)
    return SourceTask(path, default_check=check)


@pytest.mark.slow
def test_sources_are_checked_in_parallel_and_reported_in_order(tmp_path: Path) -> None:
    tasks = [
        task(tmp_path / "good.c", GOOD),
        task(tmp_path / "three.c", THREE),
        task(tmp_path / "broken.c", "void f(void)\n{\n#pragma scop\n"),
    ]
    seen: list[RegionResult] = []
    results = check_sources(tasks, CheckSettings(jobs=2), seen.append)
    outcomes = {result.region: result.outcome for result in results}
    assert [result.region for result in results] == ["scale", "first", "second", "third", "broken"]
    assert [outcomes[name] for name in ("scale", "first", "second")] == [Outcome.PASS] * 3
    assert (outcomes["third"], outcomes["broken"]) == (Outcome.USER_ERROR, Outcome.USER_ERROR)
    assert sorted(result.region for result in seen) == sorted(outcomes)
    assert exit_status(results) == 2
    assert all(result.diagnostics for result in results[3:])


@pytest.mark.slow
def test_refused_regions_can_be_skipped_and_everything_kept(tmp_path: Path) -> None:
    keep = tmp_path / "kept"
    results = check_sources(
        [task(tmp_path / "three.c", THREE)], CheckSettings(jobs=1, keep=keep, refused_is_error=False)
    )
    assert [result.outcome for result in results] == [Outcome.PASS, Outcome.PASS, Outcome.SKIP]
    assert exit_status(results) == 0
    assert list(keep.rglob("three.slave.c"))


def test_missing_file_is_the_users_error(tmp_path: Path) -> None:
    (result,) = check_sources([SourceTask(tmp_path / "nowhere.c")], CheckSettings())
    assert result.outcome is Outcome.USER_ERROR
    assert "nowhere.c" in result.message


def test_sizes_come_from_the_region_when_none_are_given(tmp_path: Path) -> None:
    source = GOOD.replace("#pragma scop", "#pragma scop").replace("i < n", "i < n - 9")
    (result,) = check_sources([task(tmp_path / "s.c", source, RegionCheck())], CheckSettings(modes=("late",)))
    assert result.outcome is Outcome.PASS
    ran = {dict(case.sizes)["n"]: bool(case.spawns) for case in result.cases}
    assert max(ran) > 9 + 32 * 64, "more tiles than threads"
    # Small sizes leave nothing to do: that no kernel starts there is right.
    assert ran == {n: n > 9 for n in ran} and set(ran.values()) == {True, False}
