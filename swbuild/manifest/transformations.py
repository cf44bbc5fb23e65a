"""The steps of `transform`: what each key of a step holds, and the steps that they stand for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from swbuild.classes import dataclass
from swbuild.diagnostics import Span
from swbuild.manifest.kinds import Integer, ListOf, MapOf, Schema, Text, union_schema
from swbuild.manifest.nodes import Node, Scalar
from swbuild.manifest.problems import Problems
from swbuild.manifest.records import Record, option, options, place
from swbuild.options import Step, StepKind

__all__ = ["Cut", "Move", "Skewing", "StepEntry", "Transformation", "steps_of"]

LOOP = Text(
    "the name of a loop",
    r"[A-Za-z_][A-Za-z0-9_]*(#[1-9][0-9]*)?",
    "write its counter, as in i; the second of several loops over i is i#2",
)
STATEMENT = Text("the name of a statement", r"S[0-9]+", "statements are S0, S1, … in the order of the text")
SIZE = Integer(2, 1 << 20)
#: also backwards
DISTANCE = Integer(-(1 << 20), 1 << 20)


@dataclass(frozen=True, slots=True)
class Skewing:
    """How a loop is skewed."""

    loop: str = option(LOOP, "The loop whose counter changes.", example="j")
    by: str = option(LOOP, "A loop around it, whose counter is added.", example="t")
    factor: int | None = option(DISTANCE, "How often it is added.", example="2", default=None, shown="1")
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Move:
    """How far statements are moved within a loop."""

    loop: str = option(LOOP, "The loop.", example="i")
    by: int = option(DISTANCE, "How many iterations later they run.", example="1")
    statements: tuple[str, ...] | None = option(
        ListOf(STATEMENT, "statements", 1),
        "The statements to move.",
        example="[S1]",
        default=None,
        shown="all in the loop",
    )
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a loop is cut."""

    loop: str = option(LOOP, "The loop.", example="i")
    before: tuple[str, ...] | None = option(
        ListOf(STATEMENT, "statements", 1),
        "The statements before which to cut.",
        example="[S1]",
        default=None,
        shown="between all parts of its body",
    )
    span: Span = place()


@dataclass(frozen=True, slots=True)
class _CutEntry:
    """A loop's name, or a mapping."""

    def load(self, node: Node, name: str, problems: Problems) -> Cut:
        if isinstance(node, Scalar):
            return Cut(LOOP.load(node, name, problems), span=node.span)
        return Record(Cut, "a cut").load(node, name, problems)

    def schema(self) -> Schema:
        return union_schema(LOOP.schema(), Record(Cut, "a cut").schema())

    def describe(self) -> str:
        return "the name of a loop or a mapping (a cut)"


def _sizes(what: str) -> MapOf:
    return MapOf(LOOP, SIZE, what)


@dataclass(frozen=True, slots=True)
class Transformation:
    """One step on the loops of a region; it has exactly one of these keys.

    Loops are named by their counters. Where several loops count with `i`, `i#2` is the second one in the
    order of the text, as the steps before have left it. Statements are `S0`, `S1`, … in the order of the
    source. `swbuild explain --loops` shows both. Every step is checked: one that would change a result
    is refused, with the dependence in its way.
    """

    interchange: tuple[str, str] | None = option(
        ListOf(LOOP, "loops", 2, 2),
        "Swap two loops of a perfect nest.",
        example="[i, j]",
        default=None,
        also=("permute", "swap"),
    )
    reverse: str | None = option(LOOP, "Run a loop backwards.", example="i", default=None)
    skew: Skewing | None = option(
        Record(Skewing, "a skewing"),
        "Add the counter of an outer loop to that of an inner one.",
        example="{loop: j, by: t, factor: 2}",
        default=None,
    )
    scale: dict[str, int] | None = option(
        _sizes("factors"), "Multiply a loop's counter.", example="{i: 2}", default=None
    )
    shift: Move | None = option(
        Record(Move, "a move"),
        "Run statements some iterations later in a loop.",
        example="{loop: i, by: 1, statements: [S1]}",
        default=None,
    )
    fuse: tuple[str, str] | None = option(
        ListOf(LOOP, "loops", 2, 2),
        "Make one loop of two that follow each other; it has the name of the first.",
        example="['i#1', 'i#2']",
        default=None,
        also=("fusion", "merge", "join"),
    )
    distribute: Cut | None = option(
        _CutEntry(),
        "Cut a loop into several that follow each other.",
        example="{loop: i, before: [S1]}",
        default=None,
        also=("fission", "split"),
    )
    tile: dict[str, int] | None = option(
        _sizes("tile sizes"),
        "Tile the loops of a nest, outermost first; the loops over the tiles of `i` are called `i_t`.",
        example="{i: 32, j: 32}",
        default=None,
        also=("block",),
    )
    strip_mine: dict[str, int] | None = option(
        _sizes("strip sizes"),
        "Cut a loop into strips: `i` becomes `i` inside `i_t`.",
        example="{i: 32}",
        default=None,
        also=("stripmine", "strip"),
    )
    unroll: dict[str, int] | None = option(
        _sizes("factors"),
        "Repeat a loop's body in the generated code, with a loop for the rest.",
        example="{k: 4}",
        default=None,
    )
    span: Span = place()


@dataclass(frozen=True, slots=True)
class StepEntry:
    """A mapping with exactly one key."""

    def load(self, node: Node, name: str, problems: Problems) -> Transformation:
        step = Record(Transformation, "a step").load(node, name, problems)
        given = [item.key for item in options(Transformation) if getattr(step, item.attribute) is not None]
        if len(given) != 1:
            said = " and ".join(f"`{key}`" for key in given) or "nothing"
            message = f"a step is one transformation, not {said}"
            raise problems.reject("SW107", message, node.span, "give each its own '- ' in the list")
        return step

    def schema(self) -> Schema:
        reference = Record(Transformation, "a step").schema()
        return {"allOf": [reference, {"minProperties": 1, "maxProperties": 1}]}

    def describe(self) -> str:
        return "a mapping (a step)"


def steps_of(given: tuple[Transformation, ...] | None) -> tuple[Step, ...]:
    """Return the steps that the entries of `transform` stand for."""
    return tuple(step for entry in given or () for step in _steps(entry))


def _steps(entry: Transformation) -> Iterator[Step]:
    for item in options(Transformation):
        value: Any = getattr(entry, item.attribute)
        if value is not None:
            yield from _of_kind(StepKind(item.key), value, entry.span)


def _of_kind(kind: StepKind, value: Any, span: Span) -> Iterator[Step]:
    if isinstance(value, Skewing):
        factor = 1 if value.factor is None else value.factor
        yield Step(kind, (value.loop, value.by), (factor,), span=span)
    elif isinstance(value, Move):
        yield Step(kind, (value.loop,), (value.by,), value.statements or (), span)
    elif isinstance(value, Cut):
        yield Step(kind, (value.loop,), (), value.before or (), span)
    elif isinstance(value, str):
        yield Step(kind, (value,), span=span)
    elif kind is StepKind.TILE:
        yield Step(kind, tuple(value), tuple(value.values()), span=span)
    elif isinstance(value, dict):
        for loop, amount in value.items():
            yield Step(kind, (loop,), (amount,), span=span)
    else:
        yield Step(kind, tuple(value), span=span)
