"""Pointers and linear subscripts: the code of kernels is that of arrays with declared extents."""

from __future__ import annotations

from pathlib import Path

import pytest
from generation import generated
from turns import MACHINES, dealt

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_sources
from swbuild.options import KernelOptions, Where

#: How an array with one extent or with two is declared, and what its element is.
FORMS = {
    "arrays": (
        ("double {0}[restrict {1}]", "(i) {0}[i]"),
        ("double {0}[restrict {1}][{2}]", "(i, j) {0}[i][j]"),
    ),
    "rows": (("double *restrict {0}", "(i) {0}[i]"), ("double (*restrict {0})[{2}]", "(i, j) {0}[i][j]")),
    "linear": (
        ("double *restrict {0}", "(i) {0}[i]"),
        ("double *restrict {0}", "(i, j) {0}[(i) * ({2}) + (j)]"),
    ),
}

#: The arrays with their extents, then the region: what stays in the LDM, work space of iterations, a triangle
#: that is handed on, tiles over several steps, and values of first and last rows.
PROGRAMS = {
    "paths": (
        {"A": ("n", "n")},
        """for (int k = 0; k < n; k++)
          for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
              if (A(i, k) + A(k, j) < A(i, j)) A(i, j) = A(i, k) + A(k, j);""",
    ),
    "work": (
        {"A": ("n", "m"), "B": ("m", "m"), "W": ("m",)},
        """for (int i = 0; i < n; i++) {
          for (int p = 0; p < m; p++) {
            W(p) = 0;
            for (int s = 0; s < m; s++) W(p) += A(i, s) * B(s, p);
          }
          for (int p = 0; p < m; p++) A(i, p) = W(p);
        }""",
    ),
    "triangle": (
        {"A": ("n", "n"), "B": ("n", "m")},
        """for (int i = 0; i < n; i++)
          for (int j = 0; j < m; j++) {
            for (int k = i + 1; k < n; k++) B(i, j) += A(k, i) * B(k, j);
            B(i, j) *= 0.5;
          }""",
    ),
    "steps": (
        {"A": ("n", "m"), "B": ("n", "m")},
        """for (int t = 0; t < 20; t++) {
          for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
              B(i, j) = 0.25 * (A(i - 1, j) + A(i + 1, j) + A(i, j - 1) + A(i, j + 1));
          for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++) A(i, j) = B(i, j);
        }""",
    ),
    "rims": (
        {"A": ("n", "m"), "B": ("n", "m")},
        """for (int i = 0; i < n; i++)
          for (int j = 0; j < m; j++) B(i, j) = A(i, j) + A(0, j) - A(n - 1, j) * A(n - 1, m - 1);""",
    ),
}


def _text(program: str, form: str) -> str:
    arrays, region = PROGRAMS[program]
    macros, parameters = "", ["int n", "int m"]
    for name, extents in arrays.items():
        declared, element = (each.format(name, *extents) for each in FORMS[form][len(extents) - 1])
        macros += f"#define {name}{element}\n"
        parameters.append(declared)
    head = f"{macros}void {program}({', '.join(parameters)})"
    return f"{head}\n{{\n#pragma scop\n{region}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize(
    ("machine", "programs"),
    dealt(PROGRAMS, *((machine,) for machine in MACHINES)),
)
def test_kernels_of_pointers_are_those_of_arrays(machine: str, programs: list[str], tmp_path: Path) -> None:
    options = KernelOptions(machine=machine)
    for program in programs:
        texts = {form: generated(tmp_path, _text(program, form), options).slave.text for form in FORMS}
        assert texts["rows"] == texts["arrays"], program
        # the last elements of a plane whose rim is only read may not be there
        assert texts["linear"] == texts["arrays"] or program == "steps", program


@pytest.mark.parametrize(("machine", "programs"), dealt(PROGRAMS, *((machine,) for machine in MACHINES)))
def test_kernels_of_pointers_compute_what_the_source_does(
    machine: str, programs: list[str], tmp_path: Path
) -> None:
    options = KernelOptions(machine=machine, where=Where.CPES)
    sizes = RegionCheck(({"n": 1, "m": 3}, {"n": 13, "m": 70}, {"n": 67, "m": 9}))
    tasks = []
    for program in programs:
        for form in ("rows", "linear"):
            path = tmp_path / f"{program}_{form}.c"
            path.write_text(_text(program, form), encoding="utf-8")
            tasks.append(SourceTask(path, default_options=options, default_check=sizes))
    results = check_sources(tasks, CheckSettings(modes=("checked",), jobs=1))
    assert len(results) == 2 * len(programs)
    for result in results:
        assert result.outcome is Outcome.PASS, result.message
