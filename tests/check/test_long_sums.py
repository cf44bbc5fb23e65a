"""Sums of millions of terms: the serial one, too, loses what goes with their number."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, Tolerance, check_source
from swbuild.check.compare import tolerance_for
from swbuild.expressions.types import ElementType, TypeKind
from swbuild.options import KernelOptions

SOURCE = """\
float squares(int n, const float x[n])
{
    float sum = 0.0f;
#pragma scop
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
#pragma endscop
    return sum;
}
"""
#: Enough for a serial sum that is off by more than a thousandth.
TERMS = 3_000_000


@pytest.mark.parametrize(
    ("stated", "outcome"), [(None, Outcome.PASS), (Tolerance(relative=1e-4), Outcome.MISMATCH)]
)
def test_parts_are_right_where_the_serial_sum_is_off(
    stated: Tolerance | None, outcome: Outcome, tmp_path: Path
) -> None:
    path = tmp_path / "squares.c"
    path.write_text(SOURCE)
    task = SourceTask(
        path,
        default_options=KernelOptions(reassociate=True),
        checks={"squares": RegionCheck(({"n": TERMS},), tolerance=stated)},
    )
    (result,) = check_source(task, CheckSettings(timeout=120.0, modes=("eager",)), tmp_path, tmp_path / "o")
    assert result.outcome is outcome


@pytest.mark.parametrize(("name", "size"), [("float", 4), ("double", 8)])
def test_the_part_of_one_cpe_is_missed_however_many_terms_there_are(name: str, size: int) -> None:
    element = ElementType(name, size, TypeKind.FLOAT)
    found = [tolerance_for(element, exact=False, terms=terms).relative for terms in (1, TERMS, 10**18)]
    assert found == sorted(found) and found[-1] <= 1 / 128
