"""What the manifest states of a region: shapes of arrays, values of sizes, conditions that hold."""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast, c_parser

from swbuild.expressions.types import is_integer
from swbuild.frontend.builder import RegionBuilder
from swbuild.frontend.ctype import Scalar
from swbuild.frontend.integers import constant, universe
from swbuild.frontend.problems import NotModelledError, Problems
from swbuild.frontend.regions import Region
from swbuild.frontend.request import RegionRequest
from swbuild.frontend.symbols import Symbol, identifiers, walk

__all__ = ["Stated"]


class Stated:
    """Reads the C expressions of a ``request`` with the names that are ``visible`` at its region."""

    def __init__(
        self, region: Region, request: RegionRequest, builder: RegionBuilder, visible: Mapping[str, Symbol]
    ) -> None:
        self._region, self._request, self._builder, self._visible = region, request, builder, visible
        self._problems: Problems = builder.around.problems

    def shapes(self) -> Mapping[str, tuple[c_ast.Node, ...]]:
        """Return the extents of arrays, by their names."""
        given = {}
        for name, extents in self._request.arrays.items():
            if name not in self._visible:
                raise self._unknown(name, "arrays")
            given[name] = tuple(self._expression(e, f"arrays: {name}") for e in extents)
        return given

    def apply_params(self) -> None:
        """Take the values of integer variables for certain."""
        for name in self._request.typical:
            self._integer(name, "typical")
        for name, value in self._request.params.items():
            symbol = self._integer(name, "params")
            node = c_ast.ID(name, self._region.begin.coord)
            self._builder.around.facts.bindings.uses[id(node)] = symbol
            self._builder.around.facts.keep(node)
            self._builder.around.definitions.sizes.add(symbol)
            known = self._builder.reader.integers.value(node, universe())
            self._builder.objects.know(known.pa.eq_set(constant(value)))

    def _integer(self, name: str, what: str) -> Symbol:
        """Return the integer variable of this ``name``."""
        symbol = self._visible.get(name)
        if symbol is None:
            raise self._unknown(name, what)
        if not isinstance(symbol.type, Scalar) or not is_integer(symbol.type.element):
            raise self._problems.refuse(
                "SW225",
                f"{what}: '{name}' is no integer variable",
                self._region.begin,
                "give values to integer variables only",
            )
        return symbol

    def apply_assumed(self) -> None:
        """Take the conditions for certain that the user states."""
        for text in self._request.assume:
            try:
                holds = self._builder.reader.integers.condition(
                    self._expression(text, "assume"), self._builder.state.context
                )
            except NotModelledError as problem:
                self._problems.add(problem.diagnostic)
                continue
            self._builder.objects.know(holds)

    def _expression(self, text: str, what: str) -> c_ast.Node:
        """Parse a C expression of the manifest with the names that are visible at the region."""
        try:
            tree = c_parser.CParser().parse(f"int sw_expression = ({text});", self._problems.locator.path)
        except c_parser.ParseError:
            raise self._problems.refuse(
                "SW225",
                f"{what}: '{text}' is no C expression",
                self._region.begin,
                "write a C expression over the sizes",
            ) from None
        node = tree.ext[0].init
        for part in walk(node):
            part.coord = self._region.begin.coord
        for name in identifiers(node):
            symbol = self._visible.get(name.name)
            if symbol is None:
                raise self._unknown(name.name, what)
            self._builder.around.facts.bindings.uses[id(name)] = symbol
        around = self._builder.around
        around.facts.keep(node)
        symbols = map(around.facts.bindings.symbol, identifiers(node))
        around.definitions.sizes.update(symbol for symbol in symbols if symbol is not None)
        return node

    def _unknown(self, name: str, what: str) -> NotModelledError:
        import difflib  # not before something is misspelt

        close = difflib.get_close_matches(name, list(self._visible), 1)
        hint = f"did you mean '{close[0]}'?" if close else "use a variable that is visible at the region"
        return self._problems.refuse(
            "SW225", f"{what}: '{name}' is not declared at the region", self._region.begin, hint
        )
