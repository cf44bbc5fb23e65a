"""A step back in the walk leaves nothing behind.

A loop whose counter is called ``late`` is counted to its end, body and all, and is then said to have no
bounds, so that it becomes a statement.  The model of its region has to be that of the same loop given up at
its head.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import islpy as isl
import pytest
from pycparser import c_ast

from swbuild.diagnostics import Diagnostic, Span
from swbuild.frontend import CppOptions, loop_walk, read_source
from swbuild.frontend.drafts import Loop
from swbuild.frontend.dynamic import DynamicLoops
from swbuild.frontend.integers import Value
from swbuild.frontend.loops import Iterations, LoopHead, LoopReader
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.state import Current, Flow, ModelState, Position

FRAME = """
struct grid {{ int n; long w; }};
void kernel(int n, int m, long l, struct grid *g, int g_n, unsigned u, double A[restrict 90][90],
            double x[restrict 90], int idx[restrict 90]) {{
  int late, j, q = 0, r = 0;
#pragma scop
{region}
#pragma endscop
}}
"""
#: What may stand inside ``late`` and behind it; between them they touch each field of the state.
INSIDE = [
    "x[late] += 1;",
    "q = late;",
    "q = 3; x[q] += 2;",
    "r = n - 1;",
    "x[late + g->n] = l;",
    "if (m > 3) x[late] = 1; else x[late] = g_n;",
    "if (x[late] > 0) x[late] = u;",
    "for (j = 0; j < m; j++) A[i][j] += late;",
    "{ int t = late; x[t] = t; }",
    "{ double w[4]; w[0] = late; x[late] = w[0]; }",
    "if (x[late] > 0) { double t = late; x[late] = t; }",
    "for (j = 0; j < l; j++) A[i][j] = 1;",
    "A[i][u - 1u] = 2;",
    "for (j = 0; j < idx[late]; j++) x[j] += 1;",
]
BEHIND = [
    "x[q] = 1;",
    "x[r] = q;",
    "x[i] = g_n + g->n;",
    "if (x[i] > 1) for (j = 0; j < n; j++) A[i][j] = 1;",
    "for (j = 0; j < idx[i]; j++) x[j] += 1;",
    "for (j = 0; j < n; j++) A[i][j] = 1;",
    "x[i] = l ? 1 : 2;",
    "A[i][u - 1u] = 2;",
    "x[i] = m;",
]
SEEDS = range(16)


def _program(seed: int) -> str:
    choice = random.Random(seed)
    inside, behind = choice.sample(INSIDE, choice.randint(1, 4)), choice.sample(BEHIND, choice.randint(1, 4))
    lines = [
        "for (int i = 0; i < 80; i++) {",
        f"  for (late = 0; late < {choice.choice(('n', '7', 'g->n'))}; late++) {{",
        *(f"    {line}" for line in inside),
        "  }",
        *(f"  {line}" for line in behind),
        "}",
    ]
    return FRAME.format(region="\n".join(lines))


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    directory, found = tmp_path_factory.mktemp("nests"), []
    for seed in SEEDS:
        found.append(directory / f"nest{seed}.c")
        found[-1].write_text(_program(seed))
    return found


def _give_up(name: str) -> None:
    if name == "late":
        raise NotModelledError(Diagnostic("SW211", "given up", Span("kernel.c")))


def _late(patch: pytest.MonkeyPatch) -> None:
    """Let loops over ``late`` fail behind their bodies."""
    value = loop_walk.exit_value

    def exit_value(head: LoopHead, start: Value, loop: Loop, points: Iterations) -> Value | None:
        _give_up(loop.name)
        return value(head, start, loop, points)

    patch.setattr(loop_walk, "exit_value", exit_value)


def _early(patch: pytest.MonkeyPatch) -> None:
    """Let loops over ``late`` fail at their heads."""
    read = LoopReader.head

    def head(reader: LoopReader, node: c_ast.For, domain: isl.Set) -> LoopHead:
        found = read(reader, node, domain)
        _give_up(found.symbol.name)
        return found

    patch.setattr(LoopReader, "head", head)


class _Seen:
    """What reading a file shows: the states in which loops become statements, and its model."""

    def __init__(self, path: Path, failing: Callable[[pytest.MonkeyPatch], None]) -> None:
        self.states: list[str] = []
        with pytest.MonkeyPatch.context() as patch:
            failing(patch)
            patch.setattr(DynamicLoops, "loop", self._looking(DynamicLoops.loop))
            found = read_source(path, CppOptions(), None)
        self.refused, self.model = bool(found.refused), repr([*found.scops, *found.refused])

    def _looking(self, loop: Callable[..., None]) -> Callable[..., None]:
        def entered(loops: DynamicLoops, node: c_ast.For, where: Position) -> None:
            if node.init.lvalue.name == "late":
                self.states.append(repr(loops._now.state))
            loop(loops, node, where)

        return entered

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Seen) and (self.states, self.model) == (other.states, other.model)


@pytest.fixture(scope="module")
def expected(programs: list[Path]) -> list[_Seen]:
    return [_Seen(path, _early) for path in programs]


def test_a_loop_given_up_late_is_modelled_as_if_it_had_not_been_tried(
    programs: list[Path], expected: list[_Seen]
) -> None:
    assert sum(not seen.refused for seen in expected) > len(expected) // 2
    assert all(_Seen(path, _late) == wanted for path, wanted in zip(programs, expected, strict=True))


def _leak_is_seen(back_to: Callable[[Current, ModelState], None], programs: list[Path], expected: list[_Seen],
                  monkeypatch: pytest.MonkeyPatch) -> bool:  # fmt: skip
    monkeypatch.setattr(Current, "back_to", back_to)
    return any(_Seen(path, _late) != wanted for path, wanted in zip(programs, expected, strict=True))


#: The flow has a test of its own; quotients are of outermost loops, and none of those is given up here.
_OTHERS = ("flow", "quotients")


@pytest.mark.parametrize("name", [f.name for f in fields(ModelState) if f.name not in _OTHERS])
def test_a_field_of_the_state_that_leaks_is_seen(
    name: str, programs: list[Path], expected: list[_Seen], monkeypatch: pytest.MonkeyPatch
) -> None:
    def back_to(now: Current, state: ModelState) -> None:
        now.state = replace(state, **{name: getattr(now.state, name)})

    assert _leak_is_seen(back_to, programs, expected, monkeypatch)


@pytest.mark.parametrize("name", [f.name for f in fields(Flow)])
def test_a_field_of_the_flow_that_leaks_is_seen(
    name: str, programs: list[Path], expected: list[_Seen], monkeypatch: pytest.MonkeyPatch
) -> None:
    def back_to(now: Current, state: ModelState) -> None:
        now.state = replace(state, flow=replace(state.flow, **{name: getattr(now.flow, name)}))

    assert _leak_is_seen(back_to, programs, expected, monkeypatch)
