"""Every case of :mod:`region_cases`: replayed as C, the model computes bit for bit what the region does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from region_cases import CASES
from region_program import Case, program
from replay import replayed, run_c

from swbuild.frontend import CppOptions, SourceModel, read_source


class Outcome:
    """The outputs of all cases, original and replayed, and what was refused."""

    def __init__(self, directory: Path) -> None:
        original = directory / "original.c"
        original.write_text(program(CASES))
        self.model: SourceModel = read_source(original, CppOptions(), None)
        copy = directory / "replayed.c"
        copy.write_text(replayed(self.model))
        self.expected, _ = run_c(original, CppOptions())
        self.found, self.traces = run_c(copy, CppOptions())

    def lines(self, text: str, name: str) -> list[str]:
        return [line for line in text.split("\n") if line.startswith(f"@{name} ")]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return Outcome(tmp_path_factory.mktemp("replay"))


@pytest.mark.parametrize("case", [c for c in CASES if not c.fallback], ids=lambda c: c.name)
def test_the_replayed_model_computes_the_same(case: Case, outcome: Outcome) -> None:
    reasons = [str(d) for r in outcome.model.refused if r.name == case.name for d in r.diagnostics]
    assert not reasons, "\n".join(reasons)
    modelled = re.findall(rf"@{case.name} (?:\[model {case.name}\]\n)+", outcome.traces)
    assert len(modelled) >= 3, "the model's assumptions do not hold for ordinary sizes"
    assert outcome.lines(outcome.expected, case.name) == outcome.lines(outcome.found, case.name)


@pytest.mark.parametrize("case", [c for c in CASES if c.fallback], ids=lambda c: c.name)
def test_what_has_no_model_is_refused_with_a_reason(case: Case, outcome: Outcome) -> None:
    refused = [r for r in outcome.model.refused if r.name == case.name]
    assert len(refused) == 1 and refused[0].diagnostics
    assert all(re.fullmatch(r"SW2\d\d", d.code) and d.span.line for d in refused[0].diagnostics)
