"""Large constants become parameters for isl's scheduler, and numbers again in the schedules that it finds."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest
from generation import EXAMPLES, generated

from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_sources, explain
from swbuild.options import KernelOptions, Where
from swbuild.polyhedral.symbolic import Symbols, symbols_for, with_numbers

PARAM = isl.dim_type.param
NOTHING = isl.Set("{ : }")

RELATIONS = [
    "{ S[i, j] -> T[i + 1, j] : 0 <= i < 1000 and 0 <= j <= 999 }",
    "{ S[i] -> T[1500 - i] : 0 <= i <= 1500 }",
    "{ S[i] -> T[j] : 40 <= i < 200 and 2 j = i and j >= 31 }",
    "[n] -> { S[i] -> T[i + n] : n = 600 and 0 <= i < n; S[i] -> T[0] : i >= 595 and i <= 4000 }",
    "{ S[i] -> T[j] : exists (e : 0 <= i <= 1000 and 2e >= i - 300 and 3e < i and j = i) }",
    "{ S[i] -> T[j] : j = floor(i / 3) and 100 <= i <= 300 or j = 7 and 0 <= i <= 5 }",
]


def _with_values(relation: isl.UnionMap, symbols: Symbols) -> isl.UnionMap:
    found = relation
    for name, value in zip(symbols.names, symbols.values, strict=True):
        found = found.intersect_params(isl.Set(f"[p] -> {{ : p = {value} }}").set_dim_name(PARAM, 0, name))
    return found


@pytest.mark.parametrize("text", RELATIONS)
def test_with_the_values_of_its_parameters_a_relation_is_what_it_was(text: str) -> None:
    relation = isl.UnionMap(text)
    symbols = symbols_for((relation,), relation.domain(), NOTHING)
    changed = symbols.in_map(relation)
    assert all(abs(number) < 32 for number in _constants(changed))
    assert _with_values(changed, symbols).is_equal(_with_values(relation, symbols))
    known = symbols.in_context(NOTHING)
    assert not known.intersect_params(_with_values(changed, symbols).params()).is_empty()


def _constants(relation: isl.UnionMap) -> list[int]:
    maps = relation.get_map_list()
    parts = (part for k in range(maps.n_map()) for part in maps.get_at(k).get_basic_maps())
    return [int(c.get_constant_val().to_python()) for part in parts for c in part.get_constraints()]


def test_what_has_no_large_constants_stays_as_it_is() -> None:
    relation = isl.UnionMap(
        "{ S[i] -> T[j] : exists (e : 0 <= i <= 20 and 2e >= -2 + i and 3e < i and j = i) }"
    )
    symbols = symbols_for((relation,), relation.domain(), NOTHING)
    assert symbols.values == ()
    assert symbols.in_map(relation).is_equal(relation)
    assert symbols.in_set(relation.domain()).is_equal(relation.domain())


@pytest.mark.parametrize(
    "text", ["{ : false }", "[n] -> { : n > 3 and n < 2 }", "[n] -> { : n = 1000 or n = 5 }"]
)
def test_what_is_known_stays_known(text: str) -> None:
    context = isl.Set(text)
    found = Symbols((1000,), ("large0",)).in_context(context)
    at_value = found.intersect_params(isl.Set("[large0] -> { : large0 = 1000 }"))
    assert at_value.is_equal(context.intersect_params(isl.Set("[large0] -> { : large0 = 1000 }")))


def test_no_parameter_has_the_name_of_one_of_the_program() -> None:
    domain = isl.UnionSet("[large0] -> { S[i] : 0 <= i < large0 and i < 1000 }")
    assert symbols_for((), domain, NOTHING).names != ("large0",)


def test_neighbouring_constants_share_a_parameter() -> None:
    relation = isl.UnionMap("{ S[i] -> T[j] : 0 <= i < 1000 and 2 <= j <= 1000; S[i] -> S[i + 1] : i <= 40 }")
    assert symbols_for((relation,), relation.domain(), NOTHING).values == (40, 1000)


def test_a_schedule_gets_its_numbers_back() -> None:
    domain = isl.UnionSet("{ S[i, j] : 0 <= i <= 999 and 0 <= j < 500; T[i] : 0 <= i <= 999 }")
    symbols = symbols_for((), domain, NOTHING)
    assert symbols.values == (499, 999)
    first, last = symbols.names
    given = f"[{first}, {last}] -> "
    instances = f"{{ S[i, j] : 0 <= i <= {last} and 0 <= j <= {first}; T[i] : 0 <= i <= {last} }}"
    loop = f"[{{ S[i, j] -> [({last} - i)]; T[i] -> [(2{last} - 3i)] }}]"
    inside = '{ filter: "{ S[i, j] }", child: { schedule: "[{ S[i, j] -> [(j)] }]" } }'
    sequence = f'{{ sequence: [ {{ filter: "{{ T[i] }}" }}, {inside} ] }}'
    band = f'{{ schedule: "{given}{loop}", permutable: 1, coincident: [ 1 ], child: {sequence} }}'
    schedule = isl.Schedule(f'{{ domain: "{given}{instances}", child: {band} }}')
    found = with_numbers(schedule, domain, symbols)
    assert found is not None
    assert found.get_domain().is_equal(domain)
    assert "large" not in str(found)
    expected = isl.UnionMap("{ S[i, j] -> [999 - i, 1, j]; T[i] -> [1998 - 3i, 0, 0] }")
    assert found.get_map().is_equal(expected.intersect_domain(domain))
    node = found.get_root().child(0)
    assert node.band_get_permutable() and node.band_member_get_coincident(0)


def test_a_parameter_in_a_fraction_is_not_replaced() -> None:
    domain = isl.UnionSet("{ S[i] : 0 <= i <= 999 }")
    symbols = symbols_for((), domain, NOTHING)
    (name,) = symbols.names
    schedule = isl.Schedule(f"""{{ domain: "[{name}] -> {{ S[i] : 0 <= i <= {name} }}",
        child: {{ schedule: "[{name}] -> [{{ S[i] -> [(floor(({name} - i) / 2))] }}]" }} }}""")
    assert with_numbers(schedule, domain, symbols) is None


@pytest.mark.parametrize("name", ["lu", "cholesky", "ludcmp"])
def test_factorisations_of_constant_size_run_in_blocks_too(name: str, tmp_path: Path) -> None:
    text = (EXAMPLES / f"{name}.c").read_text()
    text = text.replace("int n, ", "").replace(f"void {name}", f"enum {{ n = 1000 }};\nvoid {name}")
    (region,) = generated(tmp_path, text).regions
    assert region.report["block"] == 32


@pytest.mark.parametrize("machine", ["sw26010", pytest.param("sw26010-pro", marks=pytest.mark.matrix)])
def test_their_results_are_those_of_the_serial_run(machine: str) -> None:
    names = ("lu", "cholesky", "ludcmp")
    options = KernelOptions(machine=machine, params={"n": 67}, where=Where.CPES)
    tasks = [
        SourceTask(EXAMPLES / f"{name}.c", options={name: options}, default_check=RegionCheck(({"n": 67},)))
        for name in names
    ]
    results = check_sources(tasks, CheckSettings(modes=("checked",), jobs=1))
    assert [result.region for result in results] == list(names)
    for result in results:
        assert result.outcome is Outcome.PASS, explain(result)
