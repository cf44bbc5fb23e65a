"""What is known while a region is walked, as one value.

A :class:`ModelState` and all that it holds never change.  A step of the walk puts another one into the only
place that does, :class:`Current`; a step is taken back by putting the old value there again, and two ways
through an ``if`` start from the same :class:`Flow`.  The parts of the walk keep nothing of their own but
answers that do not depend on where the walk is.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import field, replace
from typing import NamedTuple

import islpy as isl
from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.frontend.calls import Calls
from swbuild.frontend.definitions import Definitions
from swbuild.frontend.drafts import Key, Loop, Object, Tree
from swbuild.frontend.facts import RegionFacts
from swbuild.frontend.integers import Value, universe
from swbuild.frontend.places import Place, PlaceFinder
from swbuild.frontend.polynomials import Polynomial
from swbuild.frontend.problems import Problems
from swbuild.frontend.scop import Quotient
from swbuild.frontend.symbols import FileScope, Symbol

__all__ = [
    "Assumption", "Current", "Flow", "Known", "ModelState", "Position", "Size", "Surroundings", "Tracked",
]  # fmt: skip

#: What a variable holds: an affine function, or one with products of sizes, good for subscripts only.
Known = Value | Polynomial


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is fixed for a region: its facts, the names around it, and where problems go."""

    facts: RegionFacts
    scope: FileScope
    problems: Problems
    calls: Calls
    finder: PlaceFinder
    definitions: Definitions


class Size(NamedTuple):
    """An integer that the region reads and never changes: a parameter of its model."""

    name: str
    place: Place
    node: c_ast.Node


@dataclass(frozen=True, slots=True)
class Assumption:
    """``bad``: the parameter values at which the model would be wrong, for the reason ``why``.

    ``sizes`` are all the values for which the place is reached at all.
    """

    bad: isl.Set
    sizes: isl.Set
    node: c_ast.Node
    why: str


@dataclass(frozen=True, slots=True)
class Position:
    """Where the walk is: the loops around, the instances that come here, unseen conditions."""

    loops: tuple[Loop, ...]
    domain: isl.Set
    guards: tuple[tuple[Object, c_ast.Node, bool], ...] = ()

    @property
    def is_guarded(self) -> bool:
        """Whether only some of the instances come here, unknown which."""
        return bool(self.guards)


@dataclass(frozen=True, slots=True)
class Tracked:
    """The value of a variable, and what it ``needs`` to be right (asked for only once it is used)."""

    value: Known
    needs: tuple[Assumption, ...] = ()


@dataclass(frozen=True, slots=True)
class Flow:
    """What the text before a point says of variables there.

    ``values`` are those of integer variables (None: not known), ``stale`` the counters whose values
    memory does not hold, each with its loop.
    """

    values: Mapping[Symbol, Tracked | None] = field(default_factory=dict)
    stale: Mapping[Symbol, c_ast.Node] = field(default_factory=dict)

    def with_value(self, symbol: Symbol, value: Tracked | None) -> Flow:
        """Return the flow with another value for ``symbol``; where it lies is left as it was."""
        return replace(self, values={**self.values, symbol: value})

    def without_value(self, symbol: Symbol) -> Flow:
        """Return the flow in which nothing was said of ``symbol``."""
        return replace(self, values={s: v for s, v in self.values.items() if s is not symbol})

    def stored(self, symbol: Symbol) -> Flow:
        """Return the flow behind a write of ``symbol`` to memory."""
        if symbol not in self.stale:
            return self
        return replace(self, stale={s: n for s, n in self.stale.items() if s is not symbol})

    def outdated(self, symbol: Symbol, loop: c_ast.Node) -> Flow:
        """Return the flow in which only ``loop`` knows what ``symbol`` is."""
        return replace(self, stale={**self.stale, symbol: loop})

    def joined(self, other: Flow, holds: isl.Set, own: Container[Symbol]) -> Flow:
        """Return the flow behind an ``if``: this one where ``holds``, else ``other``.

        ``own`` are variables of the region, which may be declared in one branch alone.
        """
        values = dict(other.values)
        for symbol in self.values.keys() | other.values.keys():
            one_sided = symbol not in self.values or symbol not in other.values
            if self.values.get(symbol) is not other.values.get(symbol) and not (one_sided and symbol in own):
                values[symbol] = _joined(self.values.get(symbol), other.values.get(symbol), holds)
        for symbol in self.stale.keys() ^ other.stale.keys():
            values[symbol] = None
        return Flow(values, {**other.stale, **self.stale})


def _joined(first: Tracked | None, second: Tracked | None, holds: isl.Set) -> Tracked | None:
    """Return the value that is ``first`` where ``holds``, and ``second`` elsewhere."""
    if first is None or second is None:
        return None
    one, two = first.value, second.value
    needs = (*first.needs, *(need for need in second.needs if need not in first.needs))
    if one is two:
        return Tracked(one, needs)
    if not (isinstance(one, Value) and isinstance(two, Value)):
        return None
    pa = one.pa.intersect_domain(holds).union_add(two.pa.intersect_domain(holds.complement()))
    return Tracked(Value(pa.coalesce(), one.type), needs)


@dataclass(frozen=True, slots=True)
class ModelState:
    """All that the walk has found so far; ``items`` are the trees of the block that it is in."""

    flow: Flow = field(default_factory=Flow)
    items: tuple[Tree, ...] = ()
    objects: Mapping[Key, Object] = field(default_factory=dict)
    parameters: Mapping[Key, Size] = field(default_factory=dict)
    quotients: tuple[Quotient, ...] = ()
    context: isl.Set = field(default_factory=universe)
    #: 64-bit sizes stay far from the ends of their range, so that sums of them do not overflow.
    moderate: isl.Set = field(default_factory=universe)
    assumptions: tuple[Assumption, ...] = ()
    #: The names given to objects, to parameters and to numbers of our own (there, by themselves), and to
    #: variables of statements' own texts.
    names: Mapping[Key | str, str] = field(default_factory=dict)
    own: Mapping[Symbol, str] = field(default_factory=dict)
    own_given: int = 0
    #: The loops that count with each variable here, with their levels.
    active: Mapping[Symbol, tuple[Loop, int]] = field(default_factory=dict)
    #: How deep the variables of the region are declared, and the extents of its arrays there.
    depths: Mapping[Symbol, int] = field(default_factory=dict)
    extents: Mapping[Symbol, tuple[isl.PwAff, ...]] = field(default_factory=dict)
    #: How many loops and flags have been numbered.
    numbered: int = 0


class Current:
    """The one thing that changes during a walk: which state holds now."""

    def __init__(self) -> None:
        self.state = ModelState()

    @property
    def flow(self) -> Flow:
        return self.state.flow

    @flow.setter
    def flow(self, flow: Flow) -> None:
        self.state = replace(self.state, flow=flow)

    def add(self, tree: Tree) -> None:
        """Put a tree behind those of the block that the walk is in."""
        self.state = replace(self.state, items=(*self.state.items, tree))

    def number(self) -> int:
        """Return the next number of a loop or flag."""
        self.state = replace(self.state, numbered=self.state.numbered + 1)
        return self.state.numbered

    def back_to(self, state: ModelState) -> None:
        """Take all steps since ``state`` back."""
        self.state = state

    def drop_assumptions(self, before: ModelState) -> tuple[Assumption, ...]:
        """Go back to the assumptions of ``before``, keeping all else; return those made since."""
        made = self.state.assumptions[len(before.assumptions) :]
        self.state = replace(self.state, assumptions=before.assumptions)
        return made
