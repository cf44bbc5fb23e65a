"""What is bad about a mapping is said, with the reason, and what is good is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from generation import generated

from swbuild.codegen.mappingnotes import Observed, mapping_diagnostics, mapping_notes
from swbuild.codegen.unit import RegionUnit
from swbuild.frontend import CppOptions, read_source
from swbuild.frontend.request import RegionRequest
from swbuild.generate import generate_unit
from swbuild.options import KernelOptions, Spawn

HEAD = (
    "void f(int n, int m, int *restrict c, double *restrict a, double *restrict b, double x[16]) {\n"
    "#pragma scop\n"
)

BAD = {
    "time loop": (
        "for (int t = 0; t < m; t++) for (int i = 1; i < n; i++) { b[i] = a[i - 1]; a[i] = b[i]; }",
        {"SW320": "launched inside a loop of the host, once per wavefront of tiles"},
    ),
    "two loops": (
        """for (int s = 0; s < m; s++) for (int t = 0; t < m; t++)
        { for (int i = 0; i < n; i++) b[i] = a[i] + b[i]; for (int i = 1; i < n; i++) a[i] = b[i - 1]; }""",
        {"SW320": "launched inside 2 loops of the host"},
    ),
    "gather": (
        "for (int i = 0; i < n; i++) a[i] = b[c[i]];",
        {"SW321": "one by one: b (a subscript is not affine)"},
    ),
    "scatter": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < 16; j++) a[i * 16 + j] = x[c[j] & 15] + b[i];",
        {"SW321": "x (a subscript is not affine)"},
    ),
    "small": ("for (int i = 0; i < 16; i++) x[i] = x[i] + 1;", {"SW323": "only 1 of 64 CPEs"}),
    "columns": (
        "for (int i = 0; i < 900; i++) b[i] = a[i];",
        {"SW323": "only 29 of 64 CPEs get work, in tiles of 32 iterations"},
    ),
    "many": (
        """for (int t = 0; t < m; t++) { for (int i = 1; i < 15; i++) x[i] = x[i] + a[t];
        for (int i = 1; i < 15; i++) b[i] = x[i - 1] + x[i + 1];
        for (int i = 1; i < 15; i++) x[i] = b[i - 1] + b[i + 1]; }""",
        {"SW320": "f_k2: launched", "SW322": "became 3 kernels", "SW323": "f_k0, f_k1, f_k2: only 1"},
    ),
}

GOOD = {
    "plain": "for (int i = 0; i < n; i++) a[i] = b[i];",
    "two kernels": "for (int i = 1; i < n; i++) a[i] = b[i]; for (int i = 1; i < n; i++) b[i] = a[i - 1];",
    "large": "for (int i = 0; i < 2048; i++) a[i] = b[i];",
    "one spawn": "for (int t = 0; t < m; t++) for (int i = 1; i < n; i++) { b[i] = a[i - 1]; a[i] = b[i]; }",
    "half": "for (int i = 0; i < 1024; i++) a[i] = b[i];",
}


def region(directory: Path, body: str, options: KernelOptions | None = None) -> RegionUnit:
    (found,) = generated(directory, f"{HEAD}{body}\n#pragma endscop\n}}\n", options).regions
    return found


@pytest.mark.parametrize("name", BAD)
def test_bad_mappings_are_said(tmp_path: Path, name: str) -> None:
    body, expected = BAD[name]
    found = region(tmp_path, body, KernelOptions(tile=(32,), spawn=Spawn.KERNEL))
    notes = {note.code: note.message for note in mapping_notes(found.report)}
    assert notes.keys() == expected.keys(), notes
    for code, text in expected.items():
        assert text in notes[code]


@pytest.mark.parametrize("name", GOOD)
def test_good_mappings_are_not_commented_on(tmp_path: Path, name: str) -> None:
    assert mapping_notes(region(tmp_path, GOOD[name]).report) == ()


@pytest.mark.parametrize(("n", "codes"), [(100, ["SW323"]), (5000, [])])
def test_sizes_that_are_fixed_count_as_constant(tmp_path: Path, n: int, codes: list[str]) -> None:
    path = tmp_path / "fixed.c"
    path.write_text(f"{HEAD}for (int i = 0; i < n; i++) a[i] = b[i];\n#pragma endscop\n}}\n")
    model = read_source(path, CppOptions(), (RegionRequest("f", "f", params={"n": n}),))
    (found,) = generate_unit(model, {"f": KernelOptions(params={"n": n})}).regions
    assert [note.code for note in mapping_notes(found.report)] == codes


def test_a_check_adds_what_it_counted(tmp_path: Path) -> None:
    found = region(tmp_path, BAD["time loop"][0], KernelOptions(spawn=Spawn.KERNEL))
    observed = {kernel: Observed(1.0, "n=8 m=2", 4, "n=9 m=4") for kernel in found.kernels}
    text = "\n".join(map(str, mapping_diagnostics(found, observed)))
    assert "region.c:2:1: note[SW320]" in text
    assert "4 times at n=9 m=4" in text
    assert "of 64 CPEs get work at n=8 m=2" in text
