"""Statements in the forms that the walk over a region knows, before any of them is modelled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pycparser import c_ast

from swbuild.frontend.continues import without_continues
from swbuild.frontend.countdowns import without_countdowns
from swbuild.frontend.inductions import without_inductions
from swbuild.frontend.pointer_counters import without_pointer_counters
from swbuild.frontend.second_counters import without_second_counters
from swbuild.frontend.single_rounds import without_single_rounds
from swbuild.frontend.switches import without_switches
from swbuild.frontend.symbols import Bindings, FileScope, Symbol
from swbuild.frontend.whiles import without_whiles

__all__ = ["in_plain_forms"]


def in_plain_forms(
    items: Sequence[c_ast.Node],
    function: c_ast.FuncDef,
    bindings: Bindings,
    scope: FileScope,
    is_read_later: Callable[[Symbol], bool],
) -> list[c_ast.Node]:
    """Return statements that do the same as ``items`` of ``function``, which are changed in place below.

    Where it can be, there is no ``switch``, ``continue`` or ``do ... while (0)`` in them, ``while`` loops and
    pointers that count have become ``for`` loops and numbers, loops have one counter and step it in their
    heads, and what they step besides is a formula of it.  ``is_read_later`` tells of a variable whether
    anything after ``items`` reads it.
    """
    plain = without_single_rounds(items, scope.integer)
    plain = without_whiles(plain, bindings, is_read_later)
    plain = without_switches(plain, bindings, scope.integer)
    without_continues(plain)
    plain = without_pointer_counters(plain, function, bindings)
    plain = without_countdowns(plain, function, bindings)
    plain = without_second_counters(plain, bindings)
    without_inductions(plain, bindings, is_read_later)
    return plain
