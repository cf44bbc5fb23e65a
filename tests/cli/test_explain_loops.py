"""``swbuild explain --loops``, ``--dependences`` and ``--dot``, as the page on loops shows them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run

PAGE = (Path(__file__).parents[2] / "docs" / "loops.md").read_text()
SOURCE = re.findall(r"```c\n(.*?)```", PAGE, re.DOTALL)[0]
MANIFEST = re.findall(r"```yaml\n(version.*?)```", PAGE, re.DOTALL)[0]
SESSIONS = [
    (command.split()[1:], output)
    for command, output in re.findall(r"```console\n\$ (swbuild [^\n]*)\n(.*?)```", PAGE, re.DOTALL)
    if " check " not in command
]


@pytest.fixture
def wave(tmp_path: Path) -> Path:
    (tmp_path / "wave.c").write_text(SOURCE)
    (tmp_path / "wave.yaml").write_text(MANIFEST)
    steps = MANIFEST.split("          - skew")[0] + "          - reverse: j\n"
    (tmp_path / "bad.yaml").write_text(steps)
    return tmp_path


@pytest.mark.parametrize(("arguments", "output"), SESSIONS, ids=lambda value: str(value)[:40])
def test_the_page_shows_what_is_printed(arguments: list[str], output: str, wave: Path, swbuild: Run) -> None:
    done = swbuild(*arguments)
    assert done.stdout + done.stderr == output


def test_the_page_has_sessions() -> None:
    assert len(SESSIONS) == 3


def test_graph(wave: Path, swbuild: Run) -> None:
    done = swbuild("explain", "wave.c", "--dot")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("digraph dependences {")
    assert done.stdout.count("{") == done.stdout.count("}")
    edges = re.findall(r'"(\w+)\.(S\d)" -> "(\w+)\.(S\d)" \[label="([^"]*)"', done.stdout)
    assert ("relax", "S0", "relax", "S0", "u (1, 0)") in edges
    assert ("norm", "S0", "norm", "S0", "sum (0+, *)") in edges


def test_data(wave: Path, swbuild: Run) -> None:
    done = swbuild("explain", "wave.c", "--loops", "--json")
    relax, norm = json.loads(done.stdout)
    assert [loop["verdict"] for loop in relax["loops"]] == ["sequential"] * 2
    assert norm["loops"][0]["reductions"] == [{"array": "sum", "operator": "+"}]
    assert relax["dependences"][0]["distance"] == ["1", "0"]


def test_private_variables_are_named(tmp_path: Path, swbuild: Run) -> None:
    body = "#pragma scop\nfor (int i = 0; i < n; i++) {\n  double t = 2 * x[i];\n  x[i] = t * t;\n}"
    (tmp_path / "p.c").write_text(f"void f(int n, double x[n])\n{{\n{body}\n#pragma endscop\n}}\n")
    done = swbuild("explain", "p.c", "--loops")
    assert "parallel after privatisation (a copy of t each)" in done.stdout


def test_loops_of_a_function_called_at_several_depths_are_several(swbuild: Run, tmp_path: Path) -> None:
    """And a check of it finds sizes for each."""
    (tmp_path / "heat.c").write_text(
        """static void step(int n, const double *a, double *b) {
    for (int i = 1; i < n - 1; i++) b[i] = 0.25 * (a[i - 1] + a[i + 1]);
}
void heat(int n, int steps, double *a, double *b) {
#pragma scop
  step(n, a, b);
  for (int t = 0; t < steps; t++) { step(n, b, a); step(n, a, b); }
#pragma endscop
}
"""
    )
    done = swbuild("explain", "heat.c", "--loops", "--json")
    (region,) = json.loads(done.stdout)
    assert [loop["verdict"] for loop in region["loops"]] == ["parallel", "sequential", "parallel", "parallel"]
    assert swbuild("check", "heat.c", "-p", "n=70", "-p", "steps=3").returncode == 0
