"""What a region reads and writes: its objects, its sizes, and what has to hold for the model of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from swbuild.expressions.types import ElementType
from swbuild.frontend.drafts import Object
from swbuild.frontend.integers import Value, constant, parameter, single_value
from swbuild.frontend.naming import Naming
from swbuild.frontend.places import Place
from swbuild.frontend.problems import Problems
from swbuild.frontend.scop import Quotient, Storage
from swbuild.frontend.sizes import plain_sizes, type_range
from swbuild.frontend.state import Assumption, Current, Size
from swbuild.frontend.symbols import Symbol

__all__ = ["Objects", "is_one_name"]

_MODERATE = 2**40


class Objects:
    """Finds the object or size that a place belongs to, and collects assumptions.

    ``is_hidden`` says that a variable's name means another one where the region stands.
    """

    def __init__(
        self, now: Current, naming: Naming, problems: Problems, is_hidden: Callable[[Symbol], bool]
    ) -> None:
        self._now, self._naming, self._problems = now, naming, problems
        self._is_hidden = is_hidden

    def object(self, place: Place, node: c_ast.Node) -> Object:
        """Return the object that ``place`` belongs to; raise NotModelledError where it is two at once."""
        known = self._now.state.objects.get((place.symbol, place.fields))
        found = self._new_object(place, node) if known is None else known
        if place.record is not None and found.place.element.element != place.element.element:
            raise self._problems.refuse(
                "SW218",
                f"members of several types of the array of structures '{place.path}' are used here",
                node,
                "keep the members of one type in an array of their own",
            )
        if found.rank != len(place.subscripts):
            raise self._problems.refuse(
                "SW216",
                f"'{place.path}' is used with different numbers of subscripts",
                node,
                "give it the same number everywhere",
            )
        return found

    def _new_object(self, place: Place, node: c_ast.Node) -> Object:
        key, depths = (place.symbol, place.fields), self._now.state.depths
        storage = Storage.REGION if place.symbol in depths else place.symbol.storage
        made = Object(self._naming.name(key), key, place, storage, depths.get(place.symbol, 0))
        self._now.state = replace(self._now.state, objects={**self._now.state.objects, key: made})
        self._refuse_mixtures(place, node)
        return made

    def _refuse_mixtures(self, place: Place, node: c_ast.Node) -> None:
        """Refuse two names for what may be one place: ``s[i].x`` beside ``s->x``, a global declared again."""
        if self._is_hidden(place.symbol):
            raise self._problems.refuse(
                "SW218",
                f"another variable called '{place.symbol.name}' hides the one that is meant here",
                node,
                "give one of them another name",
            )
        known = [thing.place for thing in self._now.state.objects.values()]
        known += [size.place for size in self._now.state.parameters.values()]
        if any(is_one_name(place.symbol, other.symbol) for other in known):
            raise self._problems.refuse(
                "SW218",
                f"two declarations of '{place.symbol.name}' meet here: in the function, and outside of it",
                node,
                "leave the declaration in the function out",
            )
        if any(_are_mixed(place, other) for other in known):
            raise self._problems.refuse(
                "SW218",
                f"'{place.symbol.name}' is used as one structure and as an array of structures",
                node,
                "copy what is needed of the one structure to variables before the region",
            )

    def parameter(self, place: Place, node: c_ast.Node) -> Value:
        """Return the value of an integer variable that the region does not write."""
        key = (place.symbol, place.fields)
        if key not in self._now.state.parameters:
            self._refuse_mixtures(place, node)
            self._add(Size(self._naming.name(key), place, node))
        return Value(parameter(self._now.state.parameters[key].name), place.element.element)

    def _add(self, size: Size) -> None:
        state, place = self._now.state, size.place
        self._now.state = replace(
            state,
            parameters={**state.parameters, (place.symbol, place.fields): size},
            context=state.context.intersect(type_range(size.name, place.element.element)),
            moderate=_moderate(state.moderate, size.name, place.element.element),
        )

    def quotient(self, value: isl.PwAff) -> isl.PwAff:
        """Return ``value``, a formula of sizes that is never negative, as a number that has a name.

        Equal formulas share one; those that are constants need none.
        """
        state = self._now.state
        value = value.coalesce()
        simple = value.gist(state.context)
        if single_value(simple) is not None:
            return simple
        for known in state.quotients:
            if single_value(known.value.sub(value).coalesce()) == 0:
                return parameter(known.name)
        name = self._naming.number("rounds")
        self._now.state = replace(self._now.state, quotients=(*state.quotients, Quotient(name, value)))
        self.know(parameter(name).nonneg_set())
        return parameter(name)

    def know(self, holds: isl.Set) -> None:
        """Take it for certain that the sizes are in ``holds``."""
        state = self._now.state
        self._now.state = replace(state, context=state.context.intersect(holds))

    def require(self, domain: isl.Set, holds: isl.Set, node: c_ast.Node, why: str) -> None:
        """Note that the model is right only where ``holds`` is true for all points of ``domain``."""
        if domain.is_subset(holds):
            return
        state = self._now.state
        reached = domain.intersect(state.context)
        bad = reached.subtract(holds)
        if not bad.is_empty():
            made = Assumption(plain_sizes(bad), plain_sizes(reached), node, why)
            self._now.state = replace(state, assumptions=(*state.assumptions, made))

    def rely_on(self, needs: tuple[Assumption, ...]) -> None:
        """Assume all of ``needs``, those known already excepted."""
        state = self._now.state
        fresh = [a for a in needs if a not in state.assumptions]
        if fresh:
            self._now.state = replace(state, assumptions=(*state.assumptions, *fresh))


def _moderate(sizes: isl.Set, name: str, element: ElementType) -> isl.Set:
    if element.size <= 4:
        return sizes
    size = parameter(name)
    return sizes.intersect(size.le_set(constant(_MODERATE))).intersect(size.ge_set(constant(-_MODERATE)))


def _are_mixed(place: Place, other: Place) -> bool:
    """Whether one place is in a structure, and the other in an array of such structures."""
    if other.symbol is not place.symbol or (other.record is None) == (place.record is None):
        return False
    shared = min(len(other.fields), len(place.fields))
    return other.fields[:shared] == place.fields[:shared]


def is_one_name(first: Symbol, second: Symbol) -> bool:
    """Whether two declarations may be of one object: ``extern double A[]`` in a function and outside."""
    if first is second or first.name != second.name or first.storage is not Storage.GLOBAL:
        return False
    both = [getattr(symbol.node, "storage", None) or () for symbol in (first, second)]
    return second.storage is Storage.GLOBAL and any("extern" in words for words in both)
