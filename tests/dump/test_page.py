"""The page on the internals shows what the dumps say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from swbuild.dump.stages import Stage

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "internals.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("stage", Stage, ids=[stage.value for stage in Stage])
def test_excerpts_are_from_the_dump(stage: Stage) -> None:
    section = PAGE.partition(f"\n## {stage.value}: ")[2].partition("\n## ")[0]
    dump = (ROOT / "tests" / "dump" / "golden" / f"gemm.{stage.value}.txt").read_text(encoding="utf-8")
    excerpts = "".join(re.findall(r"```text\n(.*?)```", section, re.DOTALL)).split("…\n")
    for excerpt in excerpts:
        assert excerpt.strip() and excerpt in dump
