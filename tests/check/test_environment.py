"""What the caller's environment says to emulated runs has no say in a check."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.check import CheckSettings, Outcome, SourceTask, check_sources, explain

SETTINGS = CheckSettings(modes=("eager", "checked"), jobs=1)
REGION = """
void scale(int n, double a[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 2 * a[i];
#pragma endscop
}
"""
#: Settings that would end the run, change its counts or lose them.
FOREIGN = {
    "SWBUILD_EMU_CPES": "3",
    "SWBUILD_EMU_DMA": "nonsense",
    "SWBUILD_EMU_STACK": "main",
    "SWBUILD_EMU_CHECKED_CODE": "0",
    "SWBUILD_EMU_COUNTERS": "counters-of-others.json",
    "PMI_RANK": "2",
}


def test_foreign_settings_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "scale.c"
    source.write_text(REGION)
    (plain,) = check_sources([SourceTask(source)], SETTINGS)
    for name, value in FOREIGN.items():
        monkeypatch.setenv(name, value)
    (result,) = check_sources([SourceTask(source)], SETTINGS)
    assert result.outcome is Outcome.PASS, explain(result)
    assert result.counts == plain.counts
    assert result.counts.dma_bytes
    assert "built without checked code" not in explain(result)
