"""The walk over a region: from C statements to loops, domains, accesses and bodies.

:class:`RegionBuilder` puts the parts of the walk together and gives each statement to the part for it.  What
they find is one value, :class:`~swbuild.frontend.state.ModelState`, in ``now``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pycparser import c_ast

from swbuild.frontend.blockcopies import NOT_NEGATIVE
from swbuild.frontend.bounds import LoopBounds
from swbuild.frontend.branches import Branches
from swbuild.frontend.calls import Calls
from swbuild.frontend.declarations import Declarations
from swbuild.frontend.definitions import Definitions
from swbuild.frontend.drafts import Block
from swbuild.frontend.dynamic import DynamicLoops
from swbuild.frontend.emission import Emission
from swbuild.frontend.facts import RegionFacts
from swbuild.frontend.integers import universe
from swbuild.frontend.loop_walk import CountedLoops
from swbuild.frontend.loops import LoopReader
from swbuild.frontend.macros import Macros
from swbuild.frontend.naming import Naming
from swbuild.frontend.objects import Objects, is_one_name
from swbuild.frontend.places import PlaceFinder
from swbuild.frontend.problems import NotModelledError, Problems
from swbuild.frontend.reading import Reader
from swbuild.frontend.state import Current, ModelState, Position, Surroundings
from swbuild.frontend.statements import Statements
from swbuild.frontend.symbols import FileScope, Symbol
from swbuild.frontend.tracking import Tracker
from swbuild.frontend.walking import CONTROL, jump_hint

__all__ = ["RegionBuilder"]

_ASSUME = frozenset({"__builtin_assume", "__pencil_assume"})
#: Says that values are no longer needed, which nothing here depends on.
_KILL = "__pencil_kill"
_IGNORED = (c_ast.EmptyStatement, c_ast.Pragma, c_ast.Typedef, c_ast.StaticAssert)


class RegionBuilder:
    """Walks one region; afterwards ``state`` holds what was found."""

    def __init__(
        self,
        facts: RegionFacts,
        scope: FileScope,
        problems: Problems,
        calls: Calls,
        visible: Mapping[str, Symbol],
    ) -> None:
        finder = PlaceFinder(facts.bindings, problems, scope.integer)
        around = Surroundings(facts, scope, problems, calls, finder, Definitions(facts, visible))
        self.around, self.now = around, Current()
        naming = Naming(self.now, scope)
        self.objects = Objects(self.now, naming, problems, lambda symbol: _is_hidden(symbol, facts, visible))
        self.reader = Reader(around, self.now, self.objects)
        tracker = Tracker(around, self.now, self.reader)
        emission = Emission(around, self.now, self.reader, self.objects, naming)
        macros = Macros(facts, scope, problems, naming)
        self.statements = Statements(around, self.now, self.reader, self.objects, tracker, emission, macros)
        dynamic = DynamicLoops(around, self.now, naming, tracker, self.statements)
        heads = LoopReader(facts.bindings, self.reader.integers, problems)
        bounds = LoopBounds(around, self.now, self.reader, self.objects)
        loops = CountedLoops(around, self.now, heads, bounds, tracker, dynamic, self)
        branches = Branches(self.now, self.reader, self.objects, tracker, emission, self.statements, self)
        declarations = Declarations(around, self.now, self.reader, self.statements)
        self._dynamic, self._tracker = dynamic, tracker
        self._parts: dict[type[c_ast.Node], Callable[[Any, Position], None]] = {
            c_ast.Compound: lambda node, where: self._sequence(node.block_items or [], where),
            c_ast.DeclList: lambda node, where: self._sequence(node.decls, where),
            c_ast.For: loops.loop,
            c_ast.If: branches.branch,
            c_ast.Decl: declarations.declaration,
            c_ast.FuncCall: self._call,
        }

    @property
    def state(self) -> ModelState:
        """All that was found so far."""
        return self.now.state

    @property
    def root(self) -> Block:
        """The statements of the region."""
        return Block(None, self.now.state.items)

    def build(self, items: list[c_ast.Node]) -> None:
        """Walk the statements of the region; every problem goes to the collector."""
        self._sequence(items, Position((), universe()))

    def _sequence(self, items: list[c_ast.Node], where: Position) -> None:
        for item in items:
            self.statement(item, where)

    def statement(self, node: c_ast.Node, where: Position) -> None:
        """Walk one statement; what has no model goes to the collector."""
        try:
            self._dispatch(node, where)
        except NotModelledError as problem:
            self.around.problems.add(problem.diagnostic)

    def _dispatch(self, node: c_ast.Node, where: Position) -> None:
        if isinstance(node, c_ast.Label) and not self.around.facts.jumps_to(node.name):
            self.statement(node.stmt, where)
        elif isinstance(node, (c_ast.While, c_ast.DoWhile)) and where.loops:
            self._dynamic.loop(node, where)
        elif isinstance(node, (c_ast.Case, c_ast.Default)):
            self._sequence(node.stmts or [], where)  # the switch around it has been refused
        elif type(node).__name__ in CONTROL:
            self._refuse_control(node, where)
        elif not isinstance(node, _IGNORED):
            self._parts.get(type(node), self._expression)(node, where)

    def _call(self, node: c_ast.FuncCall, where: Position) -> None:
        name = getattr(node.name, "name", "")
        if name in _ASSUME:
            self.statements.assume(node, where)
        elif name == NOT_NEGATIVE:
            self.statements.require_not_negative(node, where)
        elif name != _KILL:
            self.statements.expression(node, where)

    def _expression(self, node: c_ast.Node, where: Position) -> None:
        if not self.statements.is_idle(node):
            self.statements.expression(node, where)

    def _refuse_control(self, node: c_ast.Node, where: Position) -> None:
        what = CONTROL[type(node).__name__]
        problems = self.around.problems
        message = f"{what} inside a region: which statements run is not known from the loops' bounds"
        problems.add(problems.make("SW213", message, node, jump_hint(node)))
        body = getattr(node, "stmt", None)
        if isinstance(body, c_ast.Node):
            self._tracker.forget(body)
            self.statement(body, where)


def _is_hidden(symbol: Symbol, facts: RegionFacts, visible: Mapping[str, Symbol]) -> bool:
    """Whether the name of ``symbol``, which is declared outside of the region, means another one there."""
    if symbol.is_made:
        return False  # its name is that of the table
    other = visible.get(symbol.name, symbol)
    return symbol not in facts.inside and other is not symbol and not is_one_name(symbol, other)
