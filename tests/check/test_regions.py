"""Regions as real programs have them, generated, built and compared on the emulated node at chosen sizes."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.check import CheckSettings, Outcome, SourceTask, check_sources, explain

FILES = sorted((Path(__file__).parent / "regions").glob("*.c"))
SETTINGS = CheckSettings(modes=("eager", "late"), jobs=1)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_region_computes_what_it_did(path: Path) -> None:
    results = check_sources([SourceTask(path)], SETTINGS)
    assert len(results) == path.read_text().count("#pragma scop")
    wrong = [explain(result) for result in results if result.outcome is not Outcome.PASS]
    assert not wrong, "\n".join(wrong)
    assert any(result.kernels for result in results), "something should be offloaded"


def test_a_function_of_another_file_is_named(tmp_path: Path) -> None:
    source = tmp_path / "far.c"
    source.write_text(
        "double far(double) __attribute__((const));\n"
        "void f(int n, double a[n]) {\n#pragma scop\n"
        "  for (int i = 0; i < n; i++)\n    a[i] = far(a[i]);\n#pragma endscop\n}\n"
    )
    (result,) = check_sources([SourceTask(source)], SETTINGS)
    assert result.outcome is not Outcome.PASS
    assert "far is not defined in the file of this region" in explain(result)
