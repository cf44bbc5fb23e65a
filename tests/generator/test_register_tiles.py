"""Register tiles and vectors: what is computed so, in which order, and that results stay the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from generation import EXAMPLES, generated
from objects import shared_objects
from turns import dealt

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.codegen.unit import GeneratedUnit
from swbuild.options import KernelOptions, Preset, Share, Turn, Vectorize, Where

#: Each of 35 neighbours with a factor of its own: more than there are registers.
_POINTS = " + ".join(f"0.{7 * r + c + 11} * A[i + {r}][j + {c}]" for r in range(5) for c in range(7))

TWO_LOOPS = "for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) "
#: name, arguments, body
NESTS = {
    "product": (
        "double s, double A[restrict n][m], double B[restrict m][n], double C[restrict n][n]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < m; k++)"
            " C[i][j] += s * A[i][k] * B[k][j];"
        ),
    ),
    "singles": (
        "float s, float A[restrict n][m], float B[restrict m][n], float C[restrict n][n]",
        (
            "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) for (int j = 0; j < n; j++)"
            " C[i][j] = C[i][j] - (s + 0.5f) * A[i][k] / B[k][j];"
        ),
    ),
    "points": (
        "double A[restrict n + 4][m + 6], double B[restrict n][m]",
        f"for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) B[i][j] = {_POINTS};",
    ),
    "every_other": (
        "double A[restrict n][2 * m], double B[restrict n][m]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][2 * j] = B[i][j] / (2.0 + B[i][j]);",
    ),
    "changed": (
        "double A[restrict n][2 * m], double B[restrict n][m]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][2 * j] /= 2.0 + B[i][j];",
    ),
    "narrowed": (
        "double s, double t, float A[restrict n][2 * m]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][2 * j] = s / t;",
    ),
    "outer": (
        "double A[restrict n][m], double x[restrict n], double y[restrict m]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] -= x[i] * y[j];",
    ),
    "solved": (
        "double A[restrict n][m], double B[restrict m][m]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { A[i][j] *= B[j][j];"
            " for (int k = j + 1; k < m; k++) A[i][k] -= A[i][j] * B[j][k]; }"
        ),
    ),
    "solved_from_below": (
        "double A[restrict n][m], double B[restrict m][m]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { A[i][m - 1 - j] *= B[j][j];"
            " for (int k = 0; k < m - 1 - j; k++) A[i][k] -= A[i][m - 1 - j] * B[j][k]; }"
        ),
    ),
    "rows": (
        "double A[restrict n][m], double C[restrict n][n]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) for (int k = 0; k < m; k++)"
            " C[i][j] += A[i][k] * A[j][k];"
        ),
    ),
    "corner": (
        "double A[restrict m][n], double C[restrict n][n]",
        (
            "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) for (int k = 0; k < m; k++)"
            " C[i][j] += A[k][i] * A[k][j];"
        ),
    ),
    "strict": (
        "double A[restrict n][m], double C[restrict n][n]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) for (int k = 0; k < m; k++)"
            " C[i][j] -= A[i][k] * A[j][k];"
        ),
    ),
    "beyond": (
        "double A[restrict n][m], double B[restrict n + 1][m], double C[restrict n][n + 1]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j <= i + 1; j++) for (int k = 0; k < m; k++)"
            " C[i][j] -= A[i][k] * B[j][k];"
        ),
    ),
    "falling": (
        "float A[restrict m][n], float B[restrict m][n], float C[restrict n][n]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < n - i; j++) for (int k = 0; k < m; k++)"
            " C[i][j] += A[k][i] * B[k][j];"
        ),
    ),
    "opposite": (
        "double A[restrict m][n], double B[restrict m][n], double C[restrict n][n]",
        (
            "for (int i = 0; i < n; i++) for (int j = n - 1 - i; j < n; j++) for (int k = 0; k < m; k++)"
            " C[i][j] += A[k][i] * B[k][j];"
        ),
    ),
    "steep": (
        "double A[restrict m][n], double C[restrict n][n]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
            " for (int k = 0; k < m; k++) if (j <= 2 * i) C[i][j] += A[k][i] * A[k][j];"
        ),
    ),
    "apart": (
        "float A[restrict n][2 * m], float B[restrict n][m], float C[restrict n][m]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < n; k++)"
            " C[i][j] -= B[i][j] * A[k][2 * j + 1] / B[k][m - 1 - j];"
        ),
    ),
    "turns": (
        "double A[restrict n][m], double B[restrict n][m], double C[restrict n][n]",
        (
            "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) for (int j = i; j < n; j++)"
            " C[i][j] += A[j][k] * 0.5 * B[i][k] + B[j][k] * A[i][k];"
        ),
    ),
    "band": (
        "double A[restrict m][n], double C[restrict n][n]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
            " for (int k = 0; k < m; k++) if (j <= 2 * i + 3 && 3 * j >= i - 5)"
            " C[i][j] += A[k][i] * A[k][j];"
        ),
    ),
    "sums": (
        "double A[restrict n][m], double x[restrict m], double y[restrict n]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += A[i][j] * x[j];",
    ),
    "star": (
        "double A[restrict n][m], double B[restrict n][m]",
        (
            "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"
            " B[i][j] = -0.0 * A[i][j] + (A[i][j - 1] - A[i][j + 1]) / 3 + A[i - 1][j] * A[i + 1][j];"
        ),
    ),
    "two": (
        "double A[restrict n][m], double B[restrict n][m]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {"
            " A[i][j] = A[i][j] * 0.25 + B[i][j]; B[i][j] *= A[i][j]; }"
        ),
    ),
    "triangle": (
        "double s, double A[restrict n][n], double B[restrict n][m]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {"
            " for (int k = i + 1; k < n; k++) B[i][j] += A[k][i] * B[k][j]; B[i][j] = s * B[i][j]; }"
        ),
    ),
    "zeros": (
        "double A[restrict n][m]",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = -0.0;",
    ),
    "filter": (
        "float A[restrict n + 2][m + 2], float B[restrict n][m], float F[restrict 3][3]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
            " for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++) B[i][j] += F[p][q] * A[i + p][j + q];"
        ),
    ),
}
#: What vectors do by functions: the same, and those functions' names behind `simd_v`.
LANEWISE = {
    "shortest": (
        "double A[restrict n][m], double B[restrict m][n], double C[restrict n][n]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < m; k++)"
            " if (A[i][k] + B[k][j] < C[i][j]) C[i][j] = A[i][k] + B[k][j];"
        ),
        ("fcmplt", "seleq"),
    ),
    "clipped": (
        "float t, float A[restrict n][m], float B[restrict n][m]",
        TWO_LOOPS + "B[i][j] = A[i][j] >= t ? t : A[i][j] > 0.5 ? A[i][j] : -A[i][j];",
        ("fcmple", "fcmplt", "seleq"),
    ),
    "between": (
        "double A[restrict n][m], double B[restrict n][m]",
        (
            TWO_LOOPS + "if ((A[i][j] > -0.5 && !(A[i][j] >= 0.25)) || A[i][j] == B[i][j - 1]"
            " || B[i][j - 1] != B[i][j - 1]) A[i][j] += 2.0 * A[i][j];"
        ),
        ("fcmple", "fcmplt", "fcmpeq", "seleq"),
    ),
    "norms": (
        "double A[restrict n][m], double B[restrict n][m]",
        TWO_LOOPS + "B[i][j] = 1.0 / sqrt(A[i][j] * A[i][j] + fabs(B[i][j]) + 1e-3);",
        ("sqrt", "abs"),
    ),
    "larger": (
        "float A[restrict n][m], float B[restrict n][m]",
        TWO_LOOPS + "B[i][j] = fmaxf(A[i][j], fminf(B[i][j], A[i][j - 1] * A[i][j])) - fmaxf(B[i][j], 0);",
        ("fcmplt", "fcmpeq", "seleq"),
    ),
    "no_numbers": (
        "double A[restrict n][m], double B[restrict n][m]",
        (
            TWO_LOOPS + "B[i][j] = fmax((A[i][j] - A[i][j]) / (A[i][j] - A[i][j]), B[i][j])"
            " + fmin(B[i][j], (A[i][j] - A[i][j]) / (A[i][j] - A[i][j])) / -(A[i][j] - A[i][j]);"
        ),
        ("fcmplt", "fcmpeq", "seleq"),
    ),
    "ways": (
        "int A[restrict n][m], int B[restrict m][n], int C[restrict n][n]",
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < m; k++)"
            " C[i][j] = C[i][j] <= A[i][k] + B[k][j] ? C[i][j] : A[i][k] + B[k][j];"
        ),
        ("addw", "cmplew", "seleqw"),
    ),
    "counted_up": (
        "int t, int A[restrict n][m], int B[restrict n][m]",
        (
            TWO_LOOPS + "if ((A[i][j] > t && !(A[i][j] >= 7)) || A[i][j] == B[i][j - 1] || B[i][j] != 3)"
            " A[i][j] += -(B[i][j] - t) - 2147483647;"
        ),
        ("addw", "subw", "cmpltw", "cmplew", "cmpeqw", "seleqw"),
    ),
}
#: Tiles of integers without vectors: these multiply and mask none.
WHOLE = {
    "multiplied": ("int A[restrict n][m], int B[restrict m][n], int C[restrict n][n]", "*"),
    "masked_off": ("long A[restrict n][m], long B[restrict m][n], long C[restrict n][n]", "&"),
    "wrapped": ("unsigned A[restrict n][m], unsigned B[restrict m][n], unsigned C[restrict n][n]", "^"),
}
#: What has to stay as it is: neighbours depend on each other, lie apart, are of two types, or call functions.
PLAIN = {
    "chain": ("double A[restrict n][m]", "A[i][j] = 0.5 * A[i][j - 1];"),
    "near": ("double A[restrict n][m]", "A[i][j] = A[i][j] * A[i][j - 1];"),
    "mixed": ("double A[restrict n][m], float B[restrict n][m]", "A[i][j] = A[i][j] * B[i][j];"),
    "wider": ("float A[restrict n][m]", "A[i][j] = A[i][j] * 0.5;"),
    "strided": ("double A[restrict n][2 * m], double B[restrict n][m]", "B[i][j] = A[i][2 * j];"),
    "turned": ("double A[restrict m][n], double B[restrict n][m]", "B[i][j] = A[j][i];"),
    "counted": ("double A[restrict n][m]", "A[i][j] = A[i][j] * j;"),
    "called": ("double A[restrict n][m]", "A[i][j] = __builtin_exp(A[i][j]);"),
    "whole": ("int A[restrict n][m]", "A[i][j] = A[i][j] * 3;"),
    "guarded": ("double A[restrict n][m]", "A[i][j] = A[i][j] != 0.0 ? 1.0 / A[i][j] : 1.0;"),
    "rooted": ("double A[restrict n][m]", "if (A[i][j] > 0.0) A[i][j] = sqrt(A[i][j]);"),
    "uneven": ("double A[restrict n][m]", "A[i][j] = (j > 3 ? A[i][j] : 2.0) * 0.5;"),
    "inexact": ("float A[restrict n][m]", "A[i][j] = A[i][j] > 0.1 ? A[i][j] : 1.0f;"),
    "masked": ("double A[restrict n][m], int B[restrict n][m]", "if (B[i][j]) A[i][j] = 0.0;"),
    "twofold": ("double A[restrict n][m]", "if (A[i][j] > 0.5) A[i][j] = 0.0; else A[i][j] = 1.0;"),
}
MACHINES = ("sw26010", "sw26010-pro")


def function(name: str, arguments: str, body: str) -> str:
    head = f"#include <math.h>\nvoid {name}(int n, int m, {arguments})"
    return f"{head}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def kernel(directory: Path, name: str, options: KernelOptions) -> str:
    arguments, body = NESTS[name] if name in NESTS else (PLAIN[name][0], TWO_LOOPS + PLAIN[name][1])
    found = generated(directory, function(name, arguments, body), options)
    assert found.slave is not None
    return found.slave.text


@pytest.mark.parametrize("machine", MACHINES)
def test_what_can_be_done_in_vectors_is(tmp_path: Path, machine: str) -> None:
    lanes = {"sw26010": 4, "sw26010-pro": 8}[machine]
    for name in ("product", "star", "two", "triangle", "zeros"):
        text = kernel(
            tmp_path, name, KernelOptions(machine=machine, tile=(8, 64, 16)[: 2 + (name == "product")])
        )
        assert f"doublev{lanes}" in text and "#include <simd.h>" in text, name
    text = kernel(tmp_path, "singles", KernelOptions(machine=machine, tile=(8, 64, 16)))
    assert f"floatv{lanes}" in text and "double" not in text


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", LANEWISE)
def test_what_vectors_have_functions_for_is_done_by_them(tmp_path: Path, name: str, machine: str) -> None:
    arguments, body, functions = LANEWISE[name]
    options = KernelOptions(machine=machine, tile=(8, 64, 16))
    found = generated(tmp_path, function(name, arguments, body), options)
    assert found.slave is not None
    wide = "" if "int" in arguments else "s" if "float" in arguments else "d"
    typed = {"sw26010": "", "sw26010-pro": wide}[machine]
    for each in functions:
        kind = typed or {"sqrt": "d", "abs": "d"}.get(each, "")
        assert f"simd_v{each}{kind}(" in found.slave.text, each


@pytest.mark.parametrize("machine", MACHINES)
def test_many_operands_are_in_single_vectors(tmp_path: Path, machine: str) -> None:
    """More than there are registers: each is used once."""
    text = kernel(tmp_path, "points", KernelOptions(machine=machine, tile=(4, 64)))
    assert text.count("simd_loadu(") == 35 and text.count("simd_storeu(") == 1


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_that_lie_apart_are_divided_in_vectors(tmp_path: Path, machine: str) -> None:
    lanes = {"sw26010": 4, "sw26010-pro": 8}[machine]
    for name in ("every_other", "changed"):
        text = kernel(tmp_path, name, KernelOptions(machine=machine))
        divided = re.findall(rf"doublev{lanes} quotients_A\d+ = dividends_A\d+ / divisors_A\d+;", text)
        assert len(divided) == 8 // lanes, name
        assert text.count("simd_vextf") == 8, name
    # quotients of doubles, each rounded to a float
    assert "quotients_" not in kernel(tmp_path, "narrowed", KernelOptions(machine=machine))


def register_tiles(unit: GeneratedUnit) -> object:
    (kernel,) = unit.regions[0].report["kernels"]  # type: ignore[misc]
    return kernel["register_tiles"]


def test_the_report_tells_how_nests_are_tiled(tmp_path: Path) -> None:
    arguments, body = NESTS["product"]
    options = KernelOptions(machine="sw26010", tile=(8, 64, 16))
    found = generated(tmp_path, function("product", arguments, body), options)
    tile = {"statements": ["S0"], "jammed": ["4 of i"], "vectors": "4 x 4 of j", "held_over": ["k"]}
    assert register_tiles(found) == [{**tile, "in_a_turn": "2 of k"}]
    plain = generated(tmp_path, function("plain", PLAIN["whole"][0], TWO_LOOPS + PLAIN["whole"][1]), options)
    assert register_tiles(plain) == []


def test_a_sum_is_held_in_registers_and_added_to_in_its_order(tmp_path: Path) -> None:
    text = kernel(tmp_path, "product", KernelOptions(machine="sw26010", tile=(8, 64, 16)))
    first = text[text.index("i + 3 <=") : text.index("for (; j + 3 <=")]
    inner = first[first.index("long k = k0;") :]
    two, one, *_ = inner.split("}")
    for text, turns in ((two, 2), (one, 1)):
        assert re.findall(r"(\w+) \+= s_v \* (\w+) \* (\w+);", text) == [
            (f"C{4 * i + j}", f"A{4 * turn + i}", f"B{4 * turn + j}")
            for turn in range(turns)
            for i in range(4)
            for j in range(4)
        ]
        assert "LDM_C" not in text
        assert [f"(k + {turn}, j)" in text for turn in range(1, 3)] == [turns == 2, False]
    assert "k + 1 <= " in two and "k += 2" in two and "k++" in one
    assert len(re.findall(r"simd_storeu\(C\d+, ", inner)) == 16


def test_short_sums_and_small_tiles_take_one_iteration_in_a_turn(tmp_path: Path) -> None:
    for tile in ((8, 64, 3), (8, 4, 16)):
        (found,) = register_tiles(
            generated(
                tmp_path, function("product", *NESTS["product"]), KernelOptions(machine="sw26010", tile=tile)
            )
        )
        assert found["held_over"] == ["k"] and "in_a_turn" not in found, tile


def test_the_widest_tile_is_for_loops_that_it_leaves_nothing_of(tmp_path: Path) -> None:
    for extent, vectors in ((16, 4), (24, 2), (12, 2), (32, 4)):
        options = KernelOptions(machine="sw26010", tile=(8, extent, 16))
        (tile,) = register_tiles(generated(tmp_path, function("product", *NESTS["product"]), options))
        assert tile["vectors"] == f"{vectors} x 4 of j", extent


def test_rows_below_a_diagonal_that_is_read_are_vectors(tmp_path: Path) -> None:
    text = (EXAMPLES / "lu.c").read_text(encoding="utf-8")
    found = generated(tmp_path, text, KernelOptions(machine="sw26010-pro", where=Where.CPES))
    assert found.slave is not None
    single = found.slave.text[found.slave.text.index("static void lu_single0(") :]
    assert re.search(r"simd_loade\(A\d+, &LDM_A\(i, j\)\);", single)


def test_a_triangle_that_one_cpe_changes_is_in_vectors_of_gathered_columns(tmp_path: Path) -> None:
    """Column k is divided first; what ends at the diagonal has no other end, and leaves some of each row."""
    text = (EXAMPLES / "cholesky.c").read_text(encoding="utf-8")
    found = generated(tmp_path, text, KernelOptions(machine="sw26010-pro", where=Where.CPES))
    assert found.slave is not None
    single = found.slave.text[found.slave.text.index("static void cholesky_single0(") :]
    divided, rest = single.split("for (; i_2 + 3 <=")[0], single.split("for (; i_2 + 3 <=")[1]
    assert "doublev8 quotients_A" in divided and "-=" not in divided
    updated = rest[: rest.index("for (; j <= i_2; j++)")]
    assert "for (; j + 15 <= i_2; j += 16)" in updated and "for (; j + 7 <= i_2; j += 8)" in updated
    assert re.search(r"doublev8 (A\d+) = simd_set_doublev8\(LDM_A\(j, i\), LDM_A\(j \+ 1, i\),", updated)
    columns = re.findall(r"for \(; j <= i_2( \+ \d)?; j\+\+\)", rest)
    assert columns[:4] == ["", " + 1", " + 2", " + 3"]


#: Nests with an end that depends on the jammed loop: how many of its iterations have the columns that not all
#: of them have, and how the last vector begins, or the first one.
SLANTED = {
    "rows": ([4, 3, 2, 1], r"j_part = SW_MIN\(.*, i \+ 3\) - 3;"),
    "strict": ([4, 3, 2, 1], r"j_part = SW_MIN\(.*, i \+ [23]\) - [34];"),
    "falling": ([4, 3, 2, 1], r"j_part = SW_MIN\(.*, n - i - 1\) - 3;"),
    "corner": ([1, 2, 3], r"j_part = i;"),
    "opposite": ([1, 2, 3], r"j_part = n - i - 4;"),
}


@pytest.mark.parametrize("name", SLANTED)
def test_jammed_iterations_share_what_they_have_in_common(name: str, tmp_path: Path) -> None:
    copies, begin = SLANTED[name]
    options = KernelOptions(machine="sw26010", tile=(16, 24, 8), share=Share.NEVER, turn=Turn.NEVER)
    text = kernel(tmp_path, name, options)
    jammed = text[text.index("i + 3 <=") :]
    singles = re.split(r"for \(; j <=? .*; j\+\+\) {\n", jammed)[1 : 1 + len(copies)]
    assert [len(re.findall(r"C\d [+-]= ", part[: part.index("}")])) for part in singles] == copies
    assert re.search(rf"long {begin}", jammed), jammed


def test_what_vectors_leave_is_done_by_one_of_which_some_lanes_are_stored(tmp_path: Path) -> None:
    text = kernel(tmp_path, "product", KernelOptions(machine="sw26010-pro", tile=(8, 64, 16)))
    parts = re.findall(r"if \((.*)\) {\n *long j_part = (.*) - 7;", text)
    end = "SW_MIN(n - 1, j0 + 63)"
    assert parts == [(f"j <= {end} && j0 + 7 <= {end}", end)] * 2
    part = text[text.index("long j_part") :].split("} else {")[0]
    assert len(re.findall(r"C(\d) \+= s_v \* A\1 \* B0;", part)) == 4
    assert len(re.findall(r"C(\d)_kept = simd_vseleqd\(.*lanes_v, since_v\), C\1, C\1_before\);", part)) == 4
    # what divides may fail in lanes that are not stored
    assert "_part" not in kernel(tmp_path, "singles", KernelOptions(machine="sw26010", tile=(8, 64, 16)))


def test_rows_that_read_a_vector_alike_are_jammed_though_nothing_is_summed(tmp_path: Path) -> None:
    text = kernel(tmp_path, "outer", KernelOptions(machine="sw26010", tile=(8, 64)))
    jammed = text[text.index("i + 3 <=") : text.index("for (; j + 3 <=")]
    assert len(re.findall(r"simd_loadu\(y\d, ", jammed)) == 4
    assert len(re.findall(r"A\d+ -= x\d \* y\d;", jammed)) == 16


def test_where_a_tile_is_full_its_loops_do_not_end_at_one_another(tmp_path: Path) -> None:
    options = KernelOptions(machine="sw26010", tile=(16, 24, 8), share=Share.NEVER)
    text = kernel(tmp_path, "steep", options)
    indent = min(re.findall(r"\n( *)} else {", text), key=len)
    whole, part = text.split(f"\n{indent}}} else {{")
    assert "i + 3 <=" in whole and "C7 += A3 * A_21;" in whole
    assert "i + 3 <=" not in part


def test_registers_of_arrays_with_names_that_run_into_each_other_are_different(tmp_path: Path) -> None:
    body = (
        "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"
        " A1[i][j] = A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j] * A1[i][j];"
    )
    arguments = "double A[restrict n][m], double A1[restrict n][m]"
    unit = generated(tmp_path, function("f", arguments, body), KernelOptions(machine="sw26010", tile=(8, 64)))
    assert unit.slave is not None
    tile = unit.slave.text[unit.slave.text.index("for (; j + ") :]
    names = re.findall(r"doublev4 (\w+)[; ]", tile[: tile.index("}")])
    assert len(names) > 12 and len(set(names)) == len(names)


@pytest.mark.parametrize("machine", MACHINES)
def test_elements_that_lie_apart_are_gathered_where_jammed_iterations_share_them(
    tmp_path: Path, machine: str
) -> None:
    options = KernelOptions(machine=machine, tile=(16, 16, 16), turn=Turn.NEVER)
    text = kernel(tmp_path, "rows", options)
    lanes = {"sw26010": 4, "sw26010-pro": 8}[machine]
    elements = ["LDM_A_2(j, k)", *(f"LDM_A_2(j + {lane}, k)" for lane in range(1, lanes))]
    gathered = f"doublev{lanes} A_20 = simd_set_doublev{lanes}({', '.join(elements)});"
    assert gathered in text and re.search(r"C\d \+= A3 \* A_20;", text)
    turned = kernel(tmp_path, "turns", options)
    assert f"simd_set_doublev{lanes}(LDM_A" in turned and f"simd_set_doublev{lanes}(LDM_B" in turned
    assert f"= simd_set_floatv{lanes}(LDM_A(k, 2 * j + 1), LDM_A(k, 2 * j + 3)," in kernel(
        tmp_path, "apart", options
    )


def test_rows_that_lie_apart_are_taken_side_by_side_without_vectors(tmp_path: Path) -> None:
    text = kernel(tmp_path, "sums", KernelOptions(machine="sw26010-pro", tile=(16,)))
    assert "simd.h" not in text
    assert [f"y{k} += A{k} * x0;" in text for k in range(9)] == [True] * 8 + [False]


def whole(name: str) -> tuple[str, str]:
    """Return the arguments and the body of a sum of integers."""
    arguments, operator = WHOLE[name]
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < m; k++)"
    return arguments, f"{loops} C[i][j] += (A[i][k] {operator} B[k][j]) + 5;"


@pytest.mark.parametrize("name", WHOLE)
def test_sums_of_integers_stay_in_registers(tmp_path: Path, name: str) -> None:
    found = generated(tmp_path, function(name, *whole(name)), KernelOptions(machine="sw26010"))
    assert found.slave is not None
    (tile,) = found.regions[0].report["kernels"][0]["register_tiles"]
    assert sorted(tile["jammed"]) == ["4 of i", "4 of j"] and tile["vectors"] is None
    assert "simd" not in found.slave.text


@pytest.mark.parametrize("name", PLAIN)
def test_what_cannot_be_stays_as_it_is(tmp_path: Path, name: str) -> None:
    text = kernel(tmp_path, name, KernelOptions(machine="sw26010", tile=(8, 64)))
    assert "simd" not in text and "_v" not in text


def test_the_user_and_the_classic_preset_may_do_without(tmp_path: Path) -> None:
    for options in (KernelOptions(vectorize=Vectorize.NEVER), KernelOptions(preset=Preset.CLASSIC)):
        assert "C0" not in kernel(tmp_path, "product", options)


@pytest.mark.parametrize(
    ("machine", "tile", "names"),
    [
        *dealt([*NESTS, *LANEWISE, *WHOLE], ("sw26010", ()), ("sw26010-pro", (8, 40, 7))),
        pytest.param("sw26010", (8, 40, 7), [*NESTS, *LANEWISE, *WHOLE], marks=pytest.mark.matrix),
        pytest.param("sw26010-pro", (), [*NESTS, *LANEWISE, *WHOLE], marks=pytest.mark.matrix),
    ],
)
def test_results_are_those_of_the_serial_loops(
    tmp_path: Path, machine: str, tile: tuple[int, ...], names: list[str]
) -> None:
    path = tmp_path / "nests.c"
    every = {**NESTS, **{name: nest[:2] for name, nest in LANEWISE.items()}, **{n: whole(n) for n in WHOLE}}
    nests = {name: every[name] for name in names}
    path.write_text("".join(function(name, *nest) for name, nest in nests.items()))
    options = KernelOptions(machine=machine, tile=tile)
    sizes = ({"n": 1, "m": 1}, {"n": 9, "m": 35}, {"n": 37, "m": 19})
    task = SourceTask(
        path, options=dict.fromkeys(nests, options), checks={name: RegionCheck(sizes=sizes) for name in nests}
    )
    results = check_source(task, CheckSettings(), tmp_path, shared_objects())
    assert {result.region for result in results} == set(nests)
    assert [explain(r) for r in results if r.outcome is not Outcome.PASS] == []
