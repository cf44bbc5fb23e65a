"""Sums into arrays in parts, so that several statements use each row of an array once."""

from __future__ import annotations

from pathlib import Path

import pytest
from generation import generated

from swbuild.attempt import RegionResult
from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.cli.summary import summary
from swbuild.compilation import compile_regions
from swbuild.frontend import CppOptions, RegionRequest, read_source
from swbuild.frontend.scop import Storage
from swbuild.options import KernelOptions, Where
from swbuild.polyhedral.scheduling import Origin

_PAIRS = tuple(
    {"n": n, "m": m}
    for n, m in ((1, 1), (1, 7), (2, 3), (63, 65), (64, 64), (65, 1), (130, 257), (1031, 37), (31, 1030))
)
_SIZES = tuple({"n": n} for n in (1, 2, 3, 7, 63, 64, 65, 129, 257))

#: functions by name: parameters, body, and sizes to check them at
FUNCTIONS = {
    "both": (
        (
            "int n, int m, double A[restrict n][m], double s[restrict m], double q[restrict n],"
            " double p[restrict m], double r[restrict n]"
        ),
        """for (int i = 0; i < n; i++) {
        q[i] = 0.0;
        for (int j = 0; j < m; j++) {
            s[j] += r[i] * A[i][j];
            q[i] += A[i][j] * p[j];
        }
    }""",
        _PAIRS,
    ),
    # differences, of rows and columns that do not begin at 0
    "inside": (
        (
            "int n, int m, float A[restrict n][m], float s[restrict m], float q[restrict n],"
            " float p[restrict m], float r[restrict n]"
        ),
        """for (int i = 1; i < n - 1; i++) {
        q[i] = 1.0f;
        for (int j = 2; j < m; j++) {
            s[j] -= r[i] * A[i][j] + i;
            q[i] += A[i][j] * p[j];
        }
    }""",
        _PAIRS,
    ),
    # two nests, one with its loops the other way round and backwards, and a variable of a row
    "nests": (
        (
            "int n, double x1[restrict n], double x2[restrict n], double y1[restrict n],"
            " double y2[restrict n], double A[restrict n][n]"
        ),
        """for (int i = n - 1; i >= 0; i--)
        for (int j = 0; j < n; j++)
            x1[i] += A[i][j] * y1[j];
    for (int i = 0; i < n; i++) {
        double t = 0.5 * y2[i];
        for (int j = n - 1; j >= 0; j--)
            x2[j] = x2[j] + A[i][j] * t * (i + 1);
    }""",
        _SIZES,
    ),
    # a matrix that the first nest changes, and a use of the sum between others
    "changed": (
        (
            "int n, double A[restrict n][n], double u[restrict n], double v[restrict n],"
            " double w[restrict n], double x[restrict n], double y[restrict n], double z[restrict n]"
        ),
        """for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] += u[i] * v[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i] += A[j][i] * y[j];
    for (int i = 0; i < n; i++)
        x[i] *= z[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w[i] += A[i][j] * x[j];""",
        _SIZES,
    ),
    # all of a row first
    "after": (
        (
            "int n, int m, double A[restrict n][m], double x[restrict m], double y[restrict m],"
            " double z[restrict n]"
        ),
        """for (int j = 0; j < m; j++)
        y[j] = 0.0;
    for (int i = 0; i < n; i++) {
        z[i] = 0.0;
        for (int j = 0; j < m; j++)
            z[i] += A[i][j] * x[j];
        for (int j = 0; j < m; j++)
            y[j] += A[i][j] * z[i];
    }""",
        _PAIRS,
    ),
    # a variable of each element, which takes two values
    "variable": (
        (
            "int n, int m, double A[restrict n][m], double s[restrict m], double q[restrict n],"
            " double p[restrict m], double r[restrict n]"
        ),
        """for (int i = 0; i < n; i++) {
        q[i] = 0.0;
        for (int j = 0; j < m; j++) {
            double t = A[i][j] * 2.0;
            s[j] += r[i] * t + A[i][j];
            t = t * t + p[j];
            q[i] += A[i][j] - t;
        }
    }""",
        _PAIRS,
    ),
    # one half of a symmetric matrix: both statements add to one array
    "half": (
        "int n, double A[restrict n][n], double x[restrict n], double y[restrict n]",
        """for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            y[i] += A[i][j] * x[j];
            y[j] += A[i][j] * x[i];
        }""",
        _SIZES,
    ),
    # sums into two arrays, one with two dimensions
    "planes": (
        (
            "int n, double A[restrict n][n][n], double s[restrict n][n], double t[restrict n],"
            " double q[restrict n], double p[restrict n]"
        ),
        """for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) {
                s[j][k] += A[i][j][k] * p[i];
                t[k] += A[i][j][k];
                q[i] += A[i][j][k] * p[k];
            }""",
        tuple({"n": n} for n in (1, 2, 5, 17, 65)),
    ),
}

PROGRAM = "\n".join(
    f"void {name}({parameters})\n{{\n#pragma scop\n    {body}\n#pragma endscop\n}}\n"
    for name, (parameters, body, _) in FUNCTIONS.items()
)
#: What bounds the sizes, or nothing.
_LIMITS = {"limits": ("n <= 2200", "m <= 2200"), "none": ()}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("passes") / "passes.c"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def _options(name: str, limits: str, machine: str = "sw26010", *, reassociate: bool = True) -> KernelOptions:
    parameters = FUNCTIONS[name][0]
    assume = tuple(text for text in _LIMITS[limits] if f"int {text[0]}," in parameters)
    return KernelOptions(machine=machine, where=Where.CPES, reassociate=reassociate, assume=assume)


def _in_one_pass(source: Path, limits: str, *names: str, reassociate: bool = True) -> dict[str, RegionResult]:
    """Return which of the regions ``names`` are in one pass."""
    options = {name: _options(name, limits, reassociate=reassociate) for name in names}
    requests = [RegionRequest(name, name, assume=options[name].assume) for name in names]
    model = read_source(source, CppOptions(), requests)
    results = {each.scop.name: each.result for each in compile_regions(model, options)}
    return {
        name: result
        for name, result in results.items()
        if isinstance(result, RegionResult) and result.order.scheduled.origin is Origin.ONE_PASS
    }


def test_rows_are_used_once_where_sums_may_be_in_parts(source: Path) -> None:
    names = "both", "nests", "after", "variable"
    found = _in_one_pass(source, "limits", *names)
    assert found.keys() == {*names}
    for name, result in found.items():
        assert not result.assembled.code.exact, name
        assert len(result.assembled.code.spawns) == 1, name


def test_sums_keep_their_order_unless_the_user_says_so(source: Path) -> None:
    assert not _in_one_pass(source, "limits", "both", "nests", reassociate=False)


def test_sizes_need_no_bounds(source: Path) -> None:
    """The entry allocates rows as long as they are; there are as many as CPEs."""
    found = _in_one_pass(source, "none", "both", "changed")
    assert found.keys() == {"both", "changed"}
    scop = found["both"].assembled.code.scop
    (work,) = (array for array in scop.arrays if array.storage is Storage.WORK)
    assert [str(extent) for extent in work.extents] == ["{ [(64)] }", "[n, m] -> { [(m)] }"]


@pytest.mark.parametrize(("subscript", "parts"), [("j", True), ("j - 3", False)])
def test_a_pointer_into_the_middle_of_an_array_has_no_parts(
    subscript: str, parts: bool, tmp_path: Path
) -> None:
    """Rows of the work array have no room below index 0."""
    parameters, body, _ = FUNCTIONS["both"]
    text = f"void both({parameters})\n{{\n#pragma scop\n    {body}\n#pragma endscop\n}}\n"
    for old, new in (
        ("double s[restrict m]", "double *restrict s"),
        ("j < m", "j < 40"),
        ("s[j]", f"s[{subscript}]"),
    ):
        text = text.replace(old, new)
    unit = generated(tmp_path, text, KernelOptions(reassociate=True, where=Where.CPES))
    (region,) = unit.regions
    assert region.kernels and ("sums_in_parts" in region.report) is parts


def test_without_memory_the_original_loops_run(tmp_path: Path) -> None:
    parameters, body, _ = FUNCTIONS["both"]
    text = f"void both({parameters})\n{{\n#pragma scop\n    {body}\n#pragma endscop\n}}\n"
    unit = generated(tmp_path, text, KernelOptions(reassociate=True, where=Where.CPES))
    (region,) = unit.regions
    assert ", sums in parts in s_parts; limit:" in summary(region)
    assert region.refusals[-1] == "there is no memory for sums in parts"
    host = unit.host.text
    number = len(region.refusals)
    assert f"if (!sw_memory)\n    return {number};" in host
    assert host.count("__builtin_malloc(8L * 64L * m + 128)") == 1
    assert host.count("__builtin_free(sw_memory);\n  return 0;") == 1


@pytest.mark.parametrize(
    ("limits", "machine", "mode"),
    [
        ("limits", "sw26010", "late"),
        ("none", "sw26010-pro", "checked"),
        *(
            pytest.param(limits, machine, mode, marks=pytest.mark.matrix)
            for limits, machine in (("limits", "sw26010-pro"), ("none", "sw26010"))
            for mode in ("eager", "random:1", "checked")
        ),
    ],
)
def test_results_are_those_of_the_serial_loops(
    source: Path, limits: str, machine: str, mode: str, tmp_path: Path
) -> None:
    task = SourceTask(
        source,
        options={name: _options(name, limits, machine) for name in FUNCTIONS},
        checks={name: RegionCheck(sizes) for name, (_, _, sizes) in FUNCTIONS.items()},
    )
    results = check_source(task, CheckSettings(timeout=120.0, modes=(mode,)), tmp_path, tmp_path / "o")
    assert {result.region for result in results} == set(FUNCTIONS)
    for result in results:
        assert result.outcome is Outcome.PASS, explain(result)
