"""Collects what is wrong with a manifest, so that one run tells all of it."""

from __future__ import annotations

from collections.abc import Iterable

from swbuild.diagnostics import Diagnostic, Note, Span
from swbuild.manifest.nodes import ListNode, MapNode, Node, Scalar
from swbuild.manifest.scalars import looks_like

__all__ = ["Problems", "Rejected", "found"]


class Rejected(Exception):
    """This value could not be read, and the reason has been reported."""


class Problems:
    """The diagnostics so far."""

    def __init__(self, diagnostics: Iterable[Diagnostic] = ()) -> None:
        self.diagnostics: list[Diagnostic] = list(diagnostics)

    def report(self, code: str, message: str, span: Span, hint: str = "", *notes: Note) -> None:
        """Take note of a mistake and go on."""
        self.diagnostics.append(Diagnostic(code, message, span, hint, notes=notes))

    def reject(self, code: str, message: str, span: Span, hint: str = "") -> Rejected:
        """Take note of a mistake and return what to raise, for the value is of no use."""
        self.report(code, message, span, hint)
        return Rejected()


def found(node: Node) -> str:
    """Say what stands there: ``the integer 8``, ``a list``."""
    if isinstance(node, ListNode):
        return "a list"
    if isinstance(node, MapNode):
        return "a mapping"
    return _found_scalar(node)


def _found_scalar(scalar: Scalar) -> str:
    sort = looks_like(scalar)
    if sort == "nothing":
        return "nothing"
    if sort == "text":
        return f"the text '{scalar.text}'"
    return f"the {sort} {scalar.text}"
