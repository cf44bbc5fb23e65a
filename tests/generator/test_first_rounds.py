"""CPEs whose tiles stay begin with their own first ones, and hand boxes on along rows and columns."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from generation import EXAMPLES, generated
from objects import shared_objects

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.options import KernelOptions, Resident, Where

LU = EXAMPLES / "lu.c"
OPTIONS = KernelOptions(machine="sw26010-pro", where=Where.CPES, resident=Resident.ALWAYS)


def test_factors_of_a_block_are_got_once_for_each_row_and_column_of_the_mesh(tmp_path: Path) -> None:
    """Columns come ahead: the first one of a CPE may be that of the second round."""
    found = generated(tmp_path, LU.read_text(encoding="utf-8"), OPTIONS)
    (kernel,) = (k for k in found.regions[0].report["kernels"] if len(k.get("handed_on", ())) == 2)
    assert {row["along"] for row in kernel["handed_on"]} == {"row", "column"}
    assert found.slave is not None
    text = found.slave.text[found.slave.text.index(f"static void {kernel['name']}(") :]
    loop = text[text.index("for (long j0_round") :]
    begun = re.search(r"if \(sw_rid == 7 - sw_cid && (.*) < j0 && j0 < n\)\n *athread_rma_col_bcast", loop)
    assert begun is not None
    assert f"if (sw_rid == 7 - sw_cid && {begun[1]} < j0 + 256 && " in loop, "the next one of a CPE"


@pytest.mark.slow
@pytest.mark.parametrize("budget", [None, 16384])
def test_results_are_those_of_the_serial_loops(budget: int | None, tmp_path: Path) -> None:
    """In the smaller LDM some of the tiles leave."""
    options = replace(OPTIONS, ldm_budget=budget)
    counts = tuple({"n": n} for n in (1, 2, 31, 33, 65, 130, 263, 290))
    task = SourceTask(LU, options={"lu": options}, default_check=RegionCheck(counts))
    settings = CheckSettings(modes=("checked", "late"), jobs=1)
    for result in check_source(task, settings, tmp_path, shared_objects()):
        assert result.outcome is Outcome.PASS, explain(result)
