"""The IR of the host or of a kernel on its way through the passes."""

from __future__ import annotations

from swbuild.classes import dataclass
from swbuild.kernelir.nodes import Node

__all__ = ["Pass", "Program"]


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass that was made, and the tree after it."""

    name: str
    result: Node


@dataclass(frozen=True, slots=True)
class Program:
    """The tree of loops, transfers and computations as it was ``built``, and after each of ``passes``."""

    built: Node
    passes: tuple[Pass, ...] = ()

    @property
    def result(self) -> Node:
        """The tree after all passes."""
        return self.passes[-1].result if self.passes else self.built

    def after(self, name: str, result: Node) -> Program:
        """Return the program with one more pass made."""
        return Program(self.built, (*self.passes, Pass(name, result)))
