"""What the caller's environment says to emulated runs has no say in a check."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.check import CheckSettings, Outcome, SourceTask, check_sources, explain
from swbuild.check.program import ProgramTask, check_program

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
    "SWBUILD_EMU_FIFO": "1",
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


PROGRAM = """
#include <stdio.h>
#define N 64
double a[N];
int main(void)
{
#pragma scop
  for (int i = 0; i < N; i++)
    a[i] = 2 * i;
#pragma endscop
  printf("%g\\n", a[7]);
  return 0;
}
"""


@pytest.mark.parametrize("level", ["kernel", "program"])
def test_too_little_address_space_is_infrastructure(level: str, tmp_path: Path) -> None:
    source = tmp_path / "scale.c"
    source.write_text(REGION if level == "kernel" else PROGRAM)
    limited = tmp_path / "limited"
    limited.write_text('#!/bin/sh\nulimit -v 300000\nexec "$@"\n')
    limited.chmod(0o755)
    settings = CheckSettings(modes=("late",), jobs=1, launcher=f"{limited} {{exe}} {{args}}")
    if level == "kernel":
        (result,) = check_sources([SourceTask(source)], settings)
        text = explain(result)
    else:
        result = check_program(ProgramTask((source,)), settings)
        text = result.message
    assert result.outcome is Outcome.INFRA, text
    assert "error[SW603]" in text and "ulimit -v" in text
