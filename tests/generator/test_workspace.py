"""Arrays that iterations use as work space: copies of them are private, and their last values are kept."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.frontend import CppOptions, read_source
from swbuild.frontend.scop import Scop
from swbuild.options import KernelOptions
from swbuild.polyhedral.context import lightened
from swbuild.polyhedral.joining import joined
from swbuild.polyhedral.workspace import find_workspace, with_copies
from swbuild.region import compile_region

#: Function -> its region, with `w` (or `s->w`, `v`) as work space; `n` and `m` are sizes.
PRIVATE = {
    "row": """
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < 13; p++) {
            w[p] = 0.0;
            for (int k = 0; k < 13; k++)
                w[p] += A[i][k] * B[k][p];
        }
        for (int p = 0; p < 13; p++)
            A[i][p] = w[p];
    }""",
    "global": """
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < 13; p++)
            shared[p] = A[i][p] + i;
        for (int p = 0; p < 13; p++)
            A[i][p] = shared[12 - p];
    }""",
    "member": """
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < 13; p++)
            s->w[p] = A[i][p] + i;
        for (int p = 1; p < 12; p++)
            A[i][p] = s->w[p - 1] + s->w[p + 1];
    }""",
    "plane": """
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < 13; p++)
            for (int q = 0; q < 7; q++)
                W[p][q] = A[i][p] * q;
        for (int p = 1; p < 12; p++)
            for (int q = 1; q < 6; q++)
                A[i][p] += W[p - 1][q] + W[p + 1][q] - W[p][q - 1] * W[p][q + 1];
    }""",
    "halo": """
    for (int i = 0; i < n; i++) {
        w[0] = -1.0;
        w[12] = i;
        for (int p = 1; p < 12; p++)
            w[p] = A[i][p];
        for (int p = 1; p < 12; p++)
            A[i][p] = w[p - 1] + w[p + 1];
    }""",
    "chained": """
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < 13; p++)
            w[p] = A[i][p] + 1.0;
        for (int p = 0; p < 13; p++)
            v[p] = w[12 - p] * 2.0;
        for (int p = 0; p < 13; p++)
            A[i][p] = v[p] - w[p];
    }""",
    "shrinks": """
    for (int i = 0; i < 13; i++)
        for (int j = 0; j < n; j++) {
            for (int p = i; p < 13; p++)
                w[p] = A[j][p] * B[i][p];
            for (int p = i; p < 13; p++)
                C[i][j][p] = w[p] + i;
        }""",
    "backwards": """
    for (int i = n - 1; i >= 0; i -= 3) {
        for (int p = 12; p >= 0; p--)
            w[p] = A[i][p] + i;
        for (int p = 0; p < 13; p++)
            A[i][p] = w[12 - p];
    }""",
    "sometimes": """
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < 13; p++)
            w[p] = A[i][p];
        for (int p = 0; p < 13; p++)
            if (A[i][p] > 0.5)
                w[p] = i;
        for (int p = 0; p < 13; p++)
            A[i][p] = w[12 - p];
    }""",
    "either": """
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < 13; p++)
            if (p < m)
                w[p] = A[i][p];
            else
                w[p] = -i;
        for (int p = 0; p < 13; p++)
            A[i][p] = w[12 - p];
    }""",
    "part": """
    for (int i = 0; i < n; i++)
        if (i != m) {
            for (int p = 0; p < 13; p++)
                w[p] = A[i][p] + i;
            for (int p = 0; p < 13; p++)
                A[i][p] = w[12 - p];
        }""",
    "copied": """
    for (int i = 0; i < n; i++) {
        copy(w, A[i]);
        copy(A[i], w);
    }""",
    "read_behind": """
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < 13; p++)
            w[p] = A[i][p];
        for (int p = 0; p < 13; p++)
            A[i][p] = w[12 - p];
    }
    if (n > 0)
        for (int i = 0; i < m; i++)
            for (int p = 0; p < 13; p++)
                B[i][p] += w[p];""",
    "twice": """
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < 13; p++)
            w[p] = A[i][p];
        for (int p = 0; p < 13; p++)
            A[i][p] = w[12 - p];
    }
    for (int i = 0; i < m; i++) {
        for (int p = 3; p < 9; p++)
            w[p] = B[i][p] + i;
        for (int p = 3; p < 9; p++)
            B[i][p] = w[11 - p];
    }""",
}
#: As above; these are no work space, and have to be right all the same.
SHARED = {
    "before": """
    for (int i = 0; i < n; i++) {
        for (int p = 1; p < 13; p++)
            w[p] = A[i][p];
        for (int p = 1; p < 13; p++)
            A[i][p] = w[p - 1];
    }""",
    "next": """
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < 13; p++)
            A[i][p] += i > 0 ? w[p] : 0.0;
        for (int p = 0; p < 13; p++)
            w[p] = B[i][p];
    }""",
    "may": """
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < 13; p++)
            if (A[i][p] > 0.5)
                w[p] = i;
        for (int p = 0; p < 13; p++)
            A[i][p] = w[12 - p];
    }""",
    "may_later": """
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < 13; p++)
            w[p] = A[i][p];
        for (int p = 0; p < 13; p++)
            A[i][p] = w[12 - p];
    }
    for (int i = 0; i < n; i++)
        for (int p = 0; p < 13; p++)
            if (B[i][p] > 0.5)
                w[p] = i;""",
}
#: As above; one of two nests uses `w` as work space, what the other leaves is read between them.
PARTLY = {
    "read_between": """
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < 13; p++)
            w[p] = A[i][p];
        for (int p = 0; p < 13; p++)
            A[i][p] = w[12 - p];
    }
    if (n > 0)
        for (int p = 0; p < 13; p++)
            v[p] = w[p];
    for (int i = 0; i < m; i++) {
        for (int p = 0; p < 13; p++)
            w[p] = B[i][p];
        for (int p = 0; p < 13; p++)
            B[i][p] = w[12 - p];
    }""",
}
#: As PRIVATE; only the run knows how much room the work space takes.
SIZED = {
    "row": """
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < m; p++) {
            w[p] = 0.0;
            for (int k = 0; k < m; k++)
                w[p] += A[i][k] * B[k][p];
        }
        for (int p = 0; p < m; p++)
            A[i][p] = w[p];
    }""",
    "plane": """
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < m; p++)
            for (int q = 0; q < 7; q++)
                W[q][p] = A[i][p] * q;
        for (int p = 1; p < m; p++)
            for (int q = 1; q < 6; q++)
                A[i][p] += W[q][p - 1] - W[q - 1][p] * W[q + 1][p];
    }""",
    "halo": """
    for (int i = n - 1; i > 0; i--) {
        v[0] = -1.0;
        v[m + 1] = i;
        for (int p = 0; p < m; p++)
            v[p + 1] = A[i][p];
        for (int p = 0; p < m; p++)
            A[i][p] = v[p] + v[p + 2];
    }""",
}
HEAD = """\
typedef struct { double w[13]; } work;
double shared[13];
static void copy(double *to, const double *from)
{
    for (int p = 0; p < 13; p++)
        to[p] = from[p];
}
"""
FUNCTION = """\
void {name}(int n, int m, double A[n + 1][13], double B[n + m + 13][13], double C[13][n + 1][13],
    double w[13], double v[13], double W[13][7], work *s)
{{
#pragma scop{body}
#pragma endscop
}}
"""
FUNCTION_OF_SIZES = """\
void {name}(int n, int m, double A[n + 1][m + 1], double B[m + 1][m + 1], double w[m], double v[m + 2],
    double W[7][m])
{{
#pragma scop{body}
#pragma endscop
}}
"""
SIZES = ({"n": 0, "m": 1}, {"n": 1, "m": 5}, {"n": 7, "m": 6}, {"n": 67, "m": 0})


def _source(bodies: dict[str, str], directory: Path) -> Path:
    path = directory / "work.c"
    function = FUNCTION_OF_SIZES if bodies is SIZED else FUNCTION
    path.write_text(HEAD + "".join(function.format(name=f"f_{name}", body=bodies[name]) for name in bodies))
    return path


def _scops(bodies: dict[str, str], directory: Path) -> dict[str, Scop]:
    model = read_source(_source(bodies, directory), CppOptions(), None)
    assert not model.refused
    return {scop.name: lightened(scop) for scop in model.scops}


def test_work_space_is_found_and_loops_around_it_leave_the_host(tmp_path: Path) -> None:
    for name, scop in [*_scops(PRIVATE, tmp_path).items(), *_scops(SIZED, tmp_path).items()]:
        assert find_workspace(scop), name
        tree = compile_region(scop, KernelOptions(), lambda _: None).order.tree
        assert tree.kernels and not tree.statements, name
        assert not any(kernel.host_loops for kernel in tree.kernels), name
    for name, scop in _scops(SHARED, tmp_path).items():
        assert not find_workspace(scop), name
    (scop,) = _scops(PARTLY, tmp_path).values()
    assert [len(work.statements) for work in find_workspace(scop)] == [2]


def test_copies_have_room_for_the_sizes_at_which_kernels_run(tmp_path: Path) -> None:
    most = {"f_row": 512, "f_plane": 73, "f_halo": 510}
    for name, scop in _scops(SIZED, tmp_path).items():
        code = compile_region(scop, KernelOptions(), lambda _: None).assembled.code
        allowed = code.scop.assumptions.intersect_params(isl.Set(f"[m] -> {{ : m = {most[name]} }}"))
        too_large = code.scop.assumptions.intersect_params(isl.Set(f"[m] -> {{ : m = {most[name] + 1} }}"))
        assert not allowed.is_empty(), name
        assert too_large.is_empty(), name


@pytest.mark.parametrize(
    ("bodies", "machine"),
    [
        pytest.param(PRIVATE, "sw26010", id="private-sw26010"),
        pytest.param(PRIVATE, "sw26010-pro", id="private-sw26010-pro", marks=pytest.mark.matrix),
        pytest.param(SIZED, "sw26010", id="sized-sw26010", marks=pytest.mark.matrix),
        pytest.param(SIZED, "sw26010-pro", id="sized-sw26010-pro"),
        pytest.param(SHARED | PARTLY, "sw26010", id="shared-sw26010"),
        pytest.param(SHARED | PARTLY, "sw26010-pro", id="shared-sw26010-pro", marks=pytest.mark.matrix),
    ],
)
def test_results_and_what_is_left_in_the_arrays_are_right(
    bodies: dict[str, str], machine: str, tmp_path: Path
) -> None:
    names = [f"f_{name}" for name in bodies]
    task = SourceTask(
        _source(bodies, tmp_path),
        default_options=KernelOptions(machine=machine),
        checks=dict.fromkeys(names, RegionCheck(SIZES)),
    )
    results = check_source(task, CheckSettings(timeout=120.0, modes=("checked",)), tmp_path, tmp_path / "o")
    assert {result.region for result in results} == set(names)
    for result in results:
        assert result.outcome is Outcome.PASS, explain(result)
        assert not any(case.outcome is Outcome.SKIP for case in result.cases), explain(result)


def test_copies_are_put_back_by_statements_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        """void f(int n, double a[n][n], double c[n][n], double u[n])
{
#pragma scop
    for (int t = 0; t < n; t++) {
        for (int i = t + 1; i < n; i++)
            u[i] = a[i][t];
        for (int i = t + 1; i < n; i++)
            for (int j = 0; j < n; j++)
                if (j != t)
                    a[i][j] = a[i][j] + (a[i][t] + u[i]);
        for (int i = t + 1; i < n; i++)
            for (int j = 0; j < n; j++)
                c[i][j] += u[i];
    }
#pragma endscop
}
"""
    )
    (scop,) = read_source(path, CppOptions(), None).scops
    whole = joined(scop, convex=False)
    assert [s.name for s in whole.statements] == ["S0", "S1", "S3"]  # S2 is part of S1
    found = find_workspace(whole)
    assert [work.array for work in found] == ["u"]
    names = [s.name for s in with_copies(whole, found).statements]
    assert len(names) == len(set(names)) == 4
