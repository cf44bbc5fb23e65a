"""The walk over a region: from C statements to loops, domains, accesses and bodies."""

from __future__ import annotations

from pycparser import c_ast

from swbuild.frontend.branches import CONTROL
from swbuild.frontend.integers import universe
from swbuild.frontend.loop_walk import Loops
from swbuild.frontend.problems import NotModelledError
from swbuild.frontend.state import Position

__all__ = ["RegionBuilder"]

_ASSUME = frozenset({"__builtin_assume", "__pencil_assume"})
#: Says that values are no longer needed, which nothing here depends on.
_KILL = "__pencil_kill"


class RegionBuilder(Loops):
    """Builds the drafts of one region; afterwards its public attributes hold what was found."""

    def build(self, items: list[c_ast.Node]) -> None:
        """Walk the statements of the region; every problem goes to the collector."""
        self._sequence(items, Position(self.root, (), universe()))

    def _sequence(self, items: list[c_ast.Node], where: Position) -> None:
        for item in items:
            self.statement(item, where)

    def statement(self, node: c_ast.Node, where: Position) -> None:
        try:
            self._dispatch(node, where)
        except NotModelledError as problem:
            self.problems.add(problem.diagnostic)

    def _dispatch(self, node: c_ast.Node, where: Position) -> None:
        name = type(node).__name__
        if isinstance(node, c_ast.Label) and not self.facts.jumps_to(node.name):
            self.statement(node.stmt, where)
        elif isinstance(node, (c_ast.While, c_ast.DoWhile)) and where.loops:
            self._dynamic(node, where)
        elif name in CONTROL:
            self._refuse_control(node, name, where)
        elif isinstance(node, c_ast.Compound):
            self._sequence(node.block_items or [], where)
        elif isinstance(node, c_ast.For):
            self._for(node, where)
        elif isinstance(node, c_ast.If):
            self._if(node, where)
        elif isinstance(node, c_ast.Decl):
            self._declaration(node, where)
        elif isinstance(node, c_ast.DeclList):
            self._sequence(node.decls, where)
        elif isinstance(node, (c_ast.EmptyStatement, c_ast.Pragma, c_ast.Typedef, c_ast.StaticAssert)):
            return
        elif isinstance(node, c_ast.FuncCall) and getattr(node.name, "name", "") in _ASSUME:
            self._assume(node, where)
        elif isinstance(node, c_ast.FuncCall) and getattr(node.name, "name", "") == _KILL:
            return
        elif not self._is_idle(node):
            self._expression(node, where)

    def _refuse_control(self, node: c_ast.Node, name: str, where: Position) -> None:
        self.problems.add(
            self.problems.make(
                "SW213",
                f"{CONTROL[name]} inside a region: which statements run is not known from the loops' bounds",
                node,
                "use for loops with affine bounds, and if",
            )
        )
        body = getattr(node, "stmt", None)
        if isinstance(body, c_ast.Node):
            self._forget(body)
            self.statement(body, where)
