"""What is estimated for kernels beside what the replay of their run makes of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import islpy as isl
import pytest
from generation import model_of
from timed import Timed, estimates_of, timed, timed_on_host

from swbuild.generate import complete, generate_unit
from swbuild.machine import load
from swbuild.machine.cost.launches import Launch, Moved, Shape, launch_cycles
from swbuild.options import KernelOptions, Vectorize
from swbuild.planning import sizes
from swbuild.planning.counting import bounds_of
from swbuild.planning.estimates import Estimate
from swbuild.planning.host import at_home
from swbuild.planning.sizes import Sizes, assumed_sizes, where_launched

#: A product, a stencil, a triangle, a sum along rows, a division, launches in a loop of the host, and rows in
#: which each element needs the one before or after it.
PROGRAM = """\
#define N 200
double a[N][N], b[N][N], c[N][N], d[N][N], x[N], y[N];
void product(int n) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
void stencil(int n) {
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      d[i][j] = 0.2 * (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
#pragma endscop
}
void triangle(int n) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      for (int k = 0; k < n; k++)
        d[i][j] += a[i][k] * a[j][k];
#pragma endscop
}
void rows(int n) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      x[i] += a[i][j] * y[j];
#pragma endscop
}
void quotient(int n) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      b[i][j] = b[i][j] / c[i][j];
#pragma endscop
}
void steps(int n) {
#pragma scop
  for (int t = 0; t < 12; t++)
    for (int i = t; i < n; i++)
      for (int j = 0; j < n; j++)
        a[i][j] = a[i][j] + b[t][j];
#pragma endscop
}
void chain(int n) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 1; j < n; j++)
      a[i][j] = 0.5 * (a[i][j - 1] + b[i][j]);
#pragma endscop
}
void back(int n) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = n - 2; j >= 0; j--)
      a[i][j] = 0.5 * (a[i][j + 1] + b[i][j]);
#pragma endscop
}
int main(void) {
  product(N), stencil(N), triangle(N), rows(N), quotient(N), steps(N), chain(N), back(N);
  return 0;
}
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Estimate, Timed]]:
    folder = tmp_path_factory.mktemp("estimates")
    model = model_of(folder, PROGRAM)
    assert not model.refused
    unit = complete(generate_unit(model, {scop.name: KernelOptions() for scop in model.scops}))
    assert unit.slave is not None
    for file in (unit.host, unit.slave, unit.header):
        (folder / file.name).write_text(file.text, encoding="utf-8")
    estimates = estimates_of(model, {"n": 200}, KernelOptions())
    times = timed("sw26010", folder, [folder / unit.host.name], [folder / unit.slave.name])
    assert times.keys() == estimates.keys()
    return {name: (estimates[name], times[name]) for name in estimates}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_estimates_are_near_the_replayed_time(both: dict[str, tuple[Estimate, Timed]]) -> None:
    assert len(both) == 8
    ratios = {name: estimate.cycles.total / time.cycles for name, (estimate, time) in both.items()}
    assert {name: ratio for name, ratio in ratios.items() if not 0.6 < ratio < 1.6} == {}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_launches_are_counted(both: dict[str, tuple[Estimate, Timed]]) -> None:
    assert {name: estimate.launches for name, (estimate, _) in both.items()} == {
        name: time.launches for name, (_, time) in both.items()
    }


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_estimates_for_the_host_are_near_the_replayed_time(tmp_path: Path) -> None:
    model = model_of(tmp_path, PROGRAM)
    times = timed_on_host("sw26010", tmp_path / "region.c")
    ratios = {}
    for scop in model.scops:
        home = at_home(scop, [statement.name for statement in scop.statements], load("sw26010"))
        spent = sum(times.get(line, 0.0) for line in range(scop.span.line, scop.span.end_line))
        ratios[scop.function] = home.cycles({"n": 200}) / spent
    assert len(ratios) == 8
    assert {name: ratio for name, ratio in ratios.items() if not 0.5 < ratio < 1.6} == {}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("{ [i, j, k] : 0 <= i, j, k < 100 }", 100**3),
        ("{ [i, j] : 0 <= i < 100 and 0 <= j <= i }", 5050),
        ("{ [i, j, k] : 0 <= i < 90 and 0 <= j < i and 0 <= k < j }", 117480),
        ("{ [i] : 0 <= i < 1000 and i mod 32 = 0 }", 32),
        ("{ [i, j] : 0 <= i < 100 and i <= j < i + 7 }", 700),
        ("{ [i, j] : 0 <= i < 10 and 0 <= j < 10 and i + j >= 15 }", 10),
        ("{ [c, i, j] : 0 <= c < 2 and 0 < i <= 100 and 0 < j <= 80 and (c + i + j) mod 2 = 0 }", 8000),
        ("{ [i, j] : 0 <= i < 90 and 0 <= j < 90 and (i + 2j) mod 3 = 0 }", 2700),
    ],
)
def test_points_are_counted(text: str, count: int) -> None:
    assert bounds_of(isl.Set(text)).count(()) == pytest.approx(count, rel=0.05)


def test_points_are_counted_at_sizes() -> None:
    found = bounds_of(
        isl.Set("[n, m] -> { [i, j] : 0 <= i < n and 0 <= j < m; [i, j] : n > 9 and i = 9 and j = m }"),
        ("n", "m"),
    )
    assert found.count((20, 10)) == 200, "the point beyond m is in row 9 alone, at which nobody looks"
    assert found.count((5, 10)) == 50
    assert found.count((5, 0)) == 0


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (("double a[300][400];\nvoid f(int n, int m) {\n#pragma scop\nfor (int i = 0; i < n; i++)\n"
         "for (int j = 1; j < m; j++) a[i][j] = 0;\n#pragma endscop\n}\n"), {"n": 300, "m": 400}),
        (("double a[300];\nvoid f(int n) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i + 10] = 0;\n"
         "#pragma endscop\n}\n"), {"n": 290}),
    ],
)  # fmt: skip
def test_sizes_are_what_the_arrays_allow(tmp_path: Path, text: str, sizes: dict[str, int]) -> None:
    (scop,) = model_of(tmp_path, text).scops
    assert assumed_sizes(scop, KernelOptions()).values == sizes


def test_sizes_are_of_several_orders_where_nothing_limits_them(tmp_path: Path) -> None:
    """The smallest is limited by a launch, or by what the LDMs hold; the largest by time, or the memory."""
    product = (
        "void f(int n, double a[n][n]) {\n#pragma scop\nfor (int i = 0; i < n; i++)\n"
        "for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) a[i][j] += k;\n#pragma endscop\n}\n"
    )
    (scop,) = model_of(tmp_path, product).scops
    machine = load("sw26010")
    small, middle, large = (sizes["n"] for sizes in assumed_sizes(scop, KernelOptions()).orders)
    control = machine.control.spawn_cycles + machine.control.join_cycles
    assert small**3 == pytest.approx(machine.cpes * control, rel=0.05)
    assert large**3 == pytest.approx(machine.clock_hz, rel=0.05)
    assert middle == pytest.approx((small * large) ** 0.5, rel=0.01)
    copied = product.replace("for (int k = 0; k < n; k++) a[i][j] += k;", "a[i][j] = 0;")
    (scop,) = model_of(tmp_path, copied).scops
    small, _, large = (sizes["n"] for sizes in assumed_sizes(scop, KernelOptions()).orders)
    assert 8 * small**2 == pytest.approx(machine.cpes * machine.ldm_bytes, rel=0.01)
    assert 8 * large**2 == pytest.approx(machine.memory_bytes / 16, rel=0.01)


CALLED = """
double a[300];
void f(int n, int m, double b[m]) {{
#pragma scop
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i] += b[j];
#pragma endscop
}}
void g(double *b) {{ f({}, b); }}
"""


def test_typical_sizes_are_planned_for_without_being_known(tmp_path: Path) -> None:
    text = (
        "double a[300];\nvoid f(int n, int m, double b[m]) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i] += b[j];\n#pragma endscop\n}\n"
    )
    (scop,) = model_of(tmp_path, text).scops
    both = assumed_sizes(scop, KernelOptions(typical={"n": 40, "m": 5000}))
    assert both.orders == ({"n": 40, "m": 5000},)
    assert not both.known | both.limits
    one = assumed_sizes(scop, KernelOptions(typical={"m": 5000}, params={"m": 70}))
    assert one.orders == ({"n": 300, "m": 70},)
    assert (one.known, one.limits) == ({"m"}, {"n"})


@pytest.mark.parametrize(
    ("call", "options", "wanted", "limits"),
    [
        ("300, 5000", {}, {"n": 300, "m": 5000}, {"n"}),
        ("200, 5000", {}, {"n": 200, "m": 5000}, set()),
        ("900, 5000", {}, {"n": 300, "m": 5000}, {"n"}),  # no more than the array allows
        ("200, 5000", {"typical": {"m": 700}}, {"n": 200, "m": 700}, set()),
        ("200, 5000", {"params": {"m": 800}}, {"n": 200, "m": 800}, set()),
    ],
)
def test_sizes_of_calls_are_planned_for(
    call: str, options: dict[str, dict[str, int]], wanted: dict[str, int], limits: set[str], tmp_path: Path
) -> None:
    (scop,) = model_of(tmp_path, CALLED.format(call)).scops
    found = assumed_sizes(scop, KernelOptions(**options))
    assert (found.orders, found.limits) == ((wanted,), limits)
    assert found.known == options.get("params", {}).keys()


def test_calls_of_tests_tell_no_sizes(tmp_path: Path) -> None:
    (scop,) = model_of(tmp_path, CALLED.format("10, 100")).scops
    found = assumed_sizes(scop, KernelOptions())
    assert len(found.orders) == 3
    assert all(sizes["n"] == 300 for sizes in found.orders)


def test_stated_sizes_are_kept(tmp_path: Path) -> None:
    text = (
        "double a[300];\nvoid f(int n) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 0;\n"
        "#pragma endscop\n}\n"
    )
    (scop,) = model_of(tmp_path, text).scops
    assert assumed_sizes(scop, KernelOptions(params={"n": 77})).orders == ({"n": 77},)


def test_what_several_accesses_ask_of_a_remainder_is_asked_once(tmp_path: Path) -> None:
    """isl takes seconds to find the largest size under some thirty remainders, most of them the same."""
    text = (Path(__file__).parents[1] / "fuzz" / "regressions" / "many_remainders_of_sizes.c").read_text()
    (scop,) = model_of(tmp_path, text).scops
    parts = sizes._inside_arrays(scop).get_basic_sets()
    assert max(part.dim(isl.dim_type.div) for part in parts) < 10


def test_sizes_that_isl_does_not_find_soon_under_remainders_are_not_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = isl.Set("[n, m] -> { : 2 <= m <= 99 and n >= 4 }")
    many = few
    for k in range(20):
        many = many.intersect(isl.Set(f"[n, m] -> {{ : exists (e : {k} + m <= 4e <= {k} + n + m) }}"))
    assert (sizes._limit(few, 1), sizes._limit(many, 1)) == (99, 99)
    monkeypatch.setattr(sizes, "apart", lambda *_: None)
    assert (sizes._limit(few, 1), sizes._limit(many, 1)) == (99, None)


def test_subscripts_with_divisions_are_walked_through(tmp_path: Path) -> None:
    text = (
        "double a[300], b[300];\nvoid f(int n) {\n#pragma scop\nfor (int i = 0; i < n; i++)\n"
        "b[i] = a[(i + 3) / 2];\n#pragma endscop\n}\n"
    )
    (scop,) = model_of(tmp_path, text).scops
    assert 100 < at_home(scop, ["S0"], load("sw26010")).cycles({"n": 100}) < 10_000


def test_a_launch_pays_for_rows_that_are_not_whole_requests() -> None:
    machine = load("sw26010")

    def put(row: int, alignment: int) -> float:
        rows = 65536 // row
        moved = Moved(0, True, 10, 1, Shape(rows, row, 8192, alignment))
        return launch_cycles(Launch(64, 0.0, (moved,)), machine).put

    assert put(1024, 128) < put(1024, 8) < put(64, 64)


def test_the_last_of_a_few_tiles_is_looked_at_besides() -> None:
    bounds = bounds_of(isl.Set("{ [i, j] : 0 <= i < 9 and 0 <= j < 499 and j mod 498 = 0 }"))
    found = {sample.point[1]: sample.weight for sample in bounds.sample(2, (4,))}
    assert found == {0: 1.0, 498: 1.0}
    assert bounds.count(()) == 18


@pytest.mark.parametrize(
    ("loop", "element", "waits"),
    [
        ("int j = 1; j < n - 1; j++", "j - 1", True),
        ("int j = n - 2; j >= 1; j--", "j + 1", True),
        ("int j = 1; j < n - 1; j++", "j + 1", False),
        ("int j = n - 2; j >= 1; j--", "j - 1", False),
    ],
)
def test_a_turn_waits_for_what_the_one_before_has_stored(
    loop: str, element: str, waits: bool, tmp_path: Path
) -> None:
    """Upwards and downwards; what only the next turn overwrites is there already."""
    text = (
        "#define N 200\ndouble a[N][N], b[N][N];\nvoid f(int n) {\n#pragma scop\n"
        f"for (int i = 0; i < n; i++) for ({loop}) a[i][j] = 0.5 * (SOURCE[i][{element}] + b[i][j]);\n"
        "#pragma endscop\n}\n"
    )
    options = KernelOptions(vectorize=Vectorize.NEVER)
    computing = {}
    for source in ("a", "b"):
        folder = tmp_path / source
        folder.mkdir()
        model = model_of(folder, text.replace("SOURCE", source))
        (found,) = estimates_of(model, {"n": 200}, options).values()
        computing[source] = found.cycles.computing
    assert (computing["a"] > 1.3 * computing["b"]) is waits


def test_kernels_that_no_assumed_sizes_launch_are_planned_for_the_nearest_that_do() -> None:
    orders = tuple({"n": n, "steps": 2 * k, "rounds": k} for n, k in ((16, 5), (90, 40)))
    assumed = Sizes(orders, frozenset(), frozenset())
    odd = isl.Set("[steps, rounds, n] -> { : steps = 2 rounds + 1 and n >= 3 }")
    assert [*where_launched(assumed, odd).orders] == [
        {"n": 16, "steps": 9, "rounds": 4},
        {"n": 90, "steps": 79, "rounds": 39},
    ]
    some = isl.Set("[steps] -> { : steps >= 80 }")
    for launched in (some, isl.Set("[n] -> { : false }")):
        assert where_launched(assumed, launched) is assumed
