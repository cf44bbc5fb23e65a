"""From C to kernels: what is offloaded, how, and why the rest is not."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from generation import generated, unit_of

from swbuild.codegen.unit import RegionUnit
from swbuild.diagnostics import SwbuildError
from swbuild.machine import machine_names
from swbuild.options import Distribution, Fusion, KernelOptions, Share
from swbuild.polyhedral import scheduling


def region(unit: object) -> RegionUnit:
    (only,) = unit.regions  # type: ignore[attr-defined]
    return only


def body(loops: str, signature: str = "int n, double a[restrict n], double b[restrict n]") -> str:
    return f"void f({signature})\n{{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n"


def test_stencil_keeps_its_time_loop_and_spawns_two_sweeps() -> None:
    found = region(unit_of("jacobi-2d", KernelOptions(distribution=Distribution.BLOCK)))
    assert found.report["sequential_loops"] == ["t"]
    assert [kernel["mapped_loops"] for kernel in found.report["kernels"]] == [2, 2]
    assert [kernel["host_loops"] for kernel in found.report["kernels"]] == [1, 1]


def test_matrix_product_maps_two_loops_and_buffers_all_three_arrays() -> None:
    (kernel,) = region(unit_of("gemm", KernelOptions())).report["kernels"]
    assert kernel["mapped_loops"] == 2
    assert {b["name"]: (b["load"], b["store"]) for b in kernel["buffers"]} == {
        "A": (True, "none"),
        "B": (True, "none"),
        "C": (True, "box"),
    }
    assert kernel["main_memory"] == []


def test_result_that_is_only_written_is_not_loaded() -> None:
    kernels = region(unit_of("2mm", KernelOptions())).report["kernels"]
    first = {b["name"]: b["load"] for b in kernels[0]["buffers"]}
    assert first == {"A": True, "B": True, "AB": False}


def test_in_place_recurrence_stays_on_the_host_with_its_reason(tmp_path: Path) -> None:
    unit = generated(tmp_path, body("for (int i = 1; i < n; i++)\n  a[i] = a[i - 1] + b[i];"))
    found = region(unit)
    assert found.kernels == ()
    assert unit.slave is None
    assert body("for (int i = 1; i < n; i++)\n  a[i] = a[i - 1] + b[i];") in unit.host.text
    assert "(void)sw_f(" not in unit.host.text
    (loop,) = found.report["loops"]
    assert (loop["loop"], loop["parallel"]) == ("i", False)
    assert loop["because"][0] == "line 5 writes a, which line 5 reads in a later iteration"


def test_scalar_of_one_iteration_does_not_serialise(tmp_path: Path) -> None:
    found = region(
        generated(tmp_path, body("for (int i = 0; i < n; i++) { double t = a[i]; b[i] = t * t; }"))
    )
    assert len(found.kernels) == 1
    assert found.report["private"] == ["t"]


def test_scalar_that_outlives_the_region_serialises(tmp_path: Path) -> None:
    text = (
        "double f(int n, double a[n])\n{\n  double s = 0;\n#pragma scop\n"
        "  for (int i = 0; i < n; i++) s = s + a[i];\n#pragma endscop\n  return s;\n}\n"
    )
    found = region(generated(tmp_path, text))
    assert found.kernels == ()
    assert [a.by_value for a in found.arguments if a.name == "s"] == [False]


def test_gathered_array_stays_in_main_memory(tmp_path: Path) -> None:
    signature = "int n, double a[restrict n], double b[restrict n], int p[restrict n]"
    found = region(generated(tmp_path, body("for (int i = 0; i < n; i++) a[i] = b[p[i]];", signature)))
    (kernel,) = found.report["kernels"]
    assert [(d["array"], d["reason"]) for d in kernel["main_memory"]] == [("b", "a subscript is not affine")]
    assert {b["name"] for b in kernel["buffers"]} == {"a", "p"}


def test_triangle_is_put_back_exactly(tmp_path: Path) -> None:
    text = body(
        "for (int i = 0; i < n; i++)\n  for (int j = 0; j <= i; j++)\n    a[i][j] = 1;\n"
        "for (int i = 0; i < n; i++)\n  for (int j = i + 1; j < n; j++)\n    a[i][j] = 2;",
        "int n, double a[restrict n][n]",
    )
    kernels = region(generated(tmp_path, text)).report["kernels"]
    stores = {b["store"] for kernel in kernels for b in kernel["buffers"]}
    assert stores <= {"box", "rows", "elements"}
    for kernel in kernels:
        for buffer in kernel["buffers"]:
            assert buffer["load"] or buffer["store"] != "box"


def test_tile_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    text = body("for (int i = 0; i < n; i++) a[i] = b[i];")
    with pytest.raises(SwbuildError) as caught:
        generated(tmp_path, text, KernelOptions(tile=(100_000,)))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "SW302"
    assert "100000" in diagnostic.message
    assert diagnostic.span.line == 3
    assert diagnostic.hint


SCALED = body("for (int i = 0; i < n; i++) a[i] *= 2;", "int n, double a[restrict n]")


def test_a_buffer_longer_than_a_transfer_is_moved_in_parts(tmp_path: Path) -> None:
    pro = KernelOptions(machine="sw26010-pro", ldm_budget=262144, tile=(32765,))
    assert "sw_d0" not in generated(tmp_path, SCALED, pro).slave.text
    text = generated(tmp_path, SCALED, replace(pro, tile=(32768,))).slave.text
    assert "for (long sw_d0 = 0; sw_d0 < a_n0; sw_d0 += 32767) {" in text
    part = "a_ldm + sw_d0, a + (a_lo0 + sw_d0), (SW_MIN(32767, a_n0 - sw_d0)) * 8, "
    assert f"athread_dma_iget({part}" in text, text


def test_default_tiles_shrink_until_they_fit(tmp_path: Path) -> None:
    for machine in machine_names():
        found = region(unit_of("heat-3d", KernelOptions(machine=machine)))
        for kernel in found.report["kernels"]:
            assert kernel["ldm_bytes"] <= (57344 if machine == "sw26010" else 204800)


def test_possible_overlap_is_tested_before_anything_runs(tmp_path: Path) -> None:
    text = body("for (int i = 0; i < n; i++) a[i] = b[n - 1 - i];", "int n, double *a, double *b")
    unit = generated(tmp_path, text)
    assert "return 1;" in unit.host.text
    assert "if (sw_f(" in unit.host.text
    assert "a[i] = b[n - 1 - i];" in unit.host.text


def test_overlap_that_cannot_be_tested_is_an_error(tmp_path: Path) -> None:
    signature = "int n, double *a, double *b, int *p"
    with pytest.raises(SwbuildError) as caught:
        generated(tmp_path, body("for (int i = 0; i < n; i++) a[i] = b[p[i]];", signature))
    assert {d.code for d in caught.value.diagnostics} == {"SW301"}


def test_sizes_promised_in_the_options_are_tested(tmp_path: Path) -> None:
    text = body("for (int i = 0; i < n; i++) a[i] = b[i];")
    unit = generated(tmp_path, text, KernelOptions(params={"n": 33}, assume=("n > 2", "elsewhere < 3")))
    assert "if (n != 33)\n    return 1;" in unit.host.text
    assert "if (!(n > 2))\n    return 2;" in unit.host.text
    assert region(unit).refusals[:2] == ("n != 33 holds", "!(n > 2) holds")
    assert "elsewhere" not in unit.host.text


def test_subscript_that_never_runs_is_no_obstacle(tmp_path: Path) -> None:
    text = body("for (int j = 0; j < n; j++) a[j] = j % 4 == 0 ? a[j] : a[j];")
    assert len(region(generated(tmp_path, text)).kernels) == 1


def test_footprints_that_are_hard_to_bound_do_not_make_the_user_wait(tmp_path: Path) -> None:
    text = body(
        "for (int i = 1; i <= n; i += 3)\n  for (int j = i + 1; j < m; j++)\n"
        "    for (int k = 1; k <= m; k += 3) {\n"
        "      a[i + 2][k] = x * a[k + i][k] + b[j + j][k + 3] + x * b[j][2 * k];\n"
        "      a[3][k] = a[i][n + m - j] * b[n + m - i][n] + a[j][k];\n    }",
        "int n, int m, double x, double a[restrict 2*n+2*m+8][2*n+2*m+8], "
        "double b[restrict 2*n+2*m+8][2*n+2*m+8]",
    )
    (kernel,) = region(generated(tmp_path, text)).report["kernels"]
    assert {d["array"] for d in kernel["main_memory"]} == {"a"}


def test_conditional_access_does_not_narrow_what_is_loaded(tmp_path: Path) -> None:
    text = body(
        "for (int i = 2; i < n; i++)\n  for (int j = 0; j < n; j++) {\n"
        "    if (c[i][0] > 0.7) { double t = j <= 1 ? c[n - i][0] : a[i]; }\n    else c[i][j] = a[i];\n  }",
        "int n, double a[restrict n], double c[restrict n][n + 2]",
    )
    unit = generated(tmp_path, text, KernelOptions(tile=(32,)))
    assert unit.slave is not None
    (kernel,) = region(unit).report["kernels"]
    (buffer,) = (b for b in kernel["buffers"] if b["array"] == "a")
    assert buffer["shape"] == [32]
    # the last i of the loop over the tile is the last one loaded
    (last,) = set(re.findall(r"long i = .*?; i <= (.*?); i\+\+", unit.slave.text))
    assert f"a_n0 = {last} - a_lo0 + 1;" in unit.slave.text


def test_scalar_in_a_struct_is_passed_by_its_place(tmp_path: Path) -> None:
    signature = "struct thing *s, int n, double a[restrict n], double b[restrict n]"
    loop = body("for (int i = 0; i < n; i++) a[i] = s->scale * b[i];", signature)
    unit = generated(tmp_path, "struct thing { double scale; };\n" + loop)
    (call,) = re.findall(r"sw_f\((.*?)\); /\*", unit.host.text)
    assert "*(&s->scale)" in call


#: a stride in the middle of a nest: isl's data flow gives up
STRIDE = """for (int i = 0; i < n; i++)
  for (int j = 0; j < i + 1; j += 2)
    for (int k = 2; k < n; k++)
      if (j + k < i + 1) { double t = 1; a[0] = t; }
      else { double u[4]; u[0] = 1; a[1] = u[0]; }"""

#: quotients in subscripts: isl's data flow takes for ever
QUOTIENTS = """for (int i = 0; i < 2; i++)
  for (int j = 2; j < n - 3; j += 2) {
    double t = 3 + b[j];
    for (int k = 2; k < n; k++) {
      a[k / 2] = t + b[(j + k) / 4];
      a[n - 1 - k] = b[k / 3] + a[(i + n) / 4];
    }
  }"""


@pytest.mark.parametrize("loops", [STRIDE, QUOTIENTS])
def test_data_flow_beyond_isl_falls_back_to_conflicts(tmp_path: Path, loops: str) -> None:
    unit = generated(tmp_path, body(loops))
    assert region(unit).entry == "sw_f"


def test_report_gives_transfers_as_formulas() -> None:
    (kernel,) = region(unit_of("gemm", KernelOptions(tile=(32,), share=Share.NEVER))).report["kernels"]
    rows = {(row["buffer"], row["direction"]): row for row in kernel["transfers"]}
    assert set(rows) == {("A", "get"), ("B", "get"), ("C", "get"), ("C", "put")}
    assert rows["A", "get"]["per"] == "i0, j0, k0"
    assert rows["C", "put"]["per"] == "i0, j0"
    assert rows["A", "get"]["operations"] == "1"
    assert rows["A", "get"]["bytes"] == "8 * (SW_MIN(32, ni - i0)) * (SW_MIN(32, nk - k0))"


def test_report_gives_transfers_of_shared_tiles_by_round() -> None:
    (kernel,) = region(unit_of("gemm", KernelOptions(tile=(32,), share=Share.ALWAYS))).report["kernels"]
    rows = {(row["buffer"], row["direction"]): row for row in kernel["transfers"]}
    assert rows["A", "get"]["per"] == "i0_round, j0_round, k0"
    assert rows["A", "get"]["bytes"] == "8 * (SW_MIN(32, ni - i0)) * (SW_MIN(32, nk - k0))"


def test_too_hard_for_isl_means_the_original_order_with_its_parallel_loops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement outside all loops is part of it: it has no outermost loop that could be peeled."""
    monkeypatch.setattr(scheduling, "MAX_OPERATIONS", 1)
    text = body("double s = 2.0 * b[0];\nfor (int i = 0; i < n; i++)\n  a[i] = s * b[i];")
    found = region(generated(tmp_path, text))
    assert [kernel["mapped_loops"] for kernel in found.report["kernels"]] == [1]
    assert found.report["sequential_loops"] == []


def test_arrays_of_structures_with_linearised_subscripts_have_their_rows(tmp_path: Path) -> None:
    text = "typedef struct { double v[9]; } cell;\n" + body(
        "for (int i = 0; i < n; i++)\n  for (int j = 0; j < m; j++)\n"
        "    q[i * m + j].v[2] = p[(i + 1) % n * m + j].v[1] + (p + i * m + j)->v[0];",
        "int n, int m, cell *restrict p, cell *restrict q",
    )
    scop = region(generated(tmp_path, text)).scop
    assert [str(e) for e in scop.array("p").extents] == ["None", "[n, m] -> { [(m)] }", "[n, m] -> { [(9)] }"]
    assert all(access.affine for statement in scop.statements for access in statement.accesses)


@pytest.mark.parametrize("neighbour", ["(j + 1) % n", "j == n - 1 ? 0 : j + 1"])
def test_inner_iterations_have_buffers_where_neighbours_wrap_around(neighbour: str, tmp_path: Path) -> None:
    found = region(generated(tmp_path, body(f"for (int j = 0; j < n; j++)\n  a[j] = b[{neighbour}] + b[j];")))
    (kernel,) = found.report["kernels"]
    assert kernel["main_memory"] == []
    assert len(found.scop.statements) == 2


def test_subscripts_that_are_clamped_stay_in_one_statement(tmp_path: Path) -> None:
    found = region(generated(tmp_path, body("for (int j = 0; j < n; j++)\n  a[j] = b[j == 0 ? 0 : j - 1];")))
    assert len(found.scop.statements) == 1


def test_a_block_of_isl_may_be_empty(tmp_path: Path) -> None:
    text = (Path(__file__).parent / "regions" / "empty_block.c").read_text()
    (tmp_path / "empty").mkdir()
    found = region(generated(tmp_path / "empty", text, KernelOptions(fusion=Fusion.MIN)))
    assert len([kernel for kernel in found.kernels if "single" not in kernel]) == 3


@pytest.mark.parametrize("machine", ["sw26010", pytest.param("sw26010-pro", marks=pytest.mark.matrix)])
def test_a_step_of_a_lattice_boltzmann_method_has_a_kernel(machine: str, tmp_path: Path) -> None:
    """Its many statements and 18 boxes take isl more steps than most regions."""
    text = (Path(__file__).parent / "regions" / "lattice.c").read_text()
    found = region(generated(tmp_path, text, KernelOptions(machine=machine)))
    assert len(found.kernels) == 1
