"""Boxes handed on in messages: the functions in which the CPEs of a row or a column do so together."""

from __future__ import annotations

from collections.abc import Iterable

from swbuild.codegen.ctext import Lines
from swbuild.expressions.types import ElementType
from swbuild.kernelir.nodes import Along
from swbuild.kernelir.tiles import Lanes
from swbuild.machine import Dialect
from swbuild.names import own

__all__ = ["Handed", "function_of", "functions"]

#: Boxes of this type, handed on this way.
Handed = tuple[Along, ElementType]


def function_of(along: Along, element: ElementType, stem: str) -> str:
    """Return the name of the function that hands on elements of this type; all means columns.

    ``stem`` tells those of a file from those of others.
    """
    return own(f"sw_hand_{_way(along)}_{element.name}_{stem}")


def functions(wanted: Iterable[Handed], stem: str, dialect: Dialect, lanes: Lanes) -> Lines:
    """Return the definitions of what :func:`function_of` names, each with an empty line before it."""
    found = {function_of(along, element, stem): (_way(along), element) for along, element in wanted}
    return [line for name, each in found.items() for line in ("", *_function(name, *each, dialect, lanes))]


def _way(along: Along) -> str:
    return "row" if along is Along.ROW else "column"


def _function(name: str, way: str, element: ElementType, dialect: Dialect, lanes: Lanes) -> Lines:
    """Return a function's definition.  Slots have room for whole vectors; the last one is filled up."""
    messages, (vector, count) = dialect.messages, lanes[element]
    sends = {"row": messages.send_row, "column": messages.send_column}[way]
    receives = {"row": messages.receive_row, "column": messages.receive_column}[way]
    load = messages.load.format(vector="v", place="from + k")
    store = messages.store.format(vector="v", place="to + k")
    kind = element.name
    return [
        f"/* Hands n elements on along a {way}, {count} in a message: from the CPE that sends, to all. */",
        f"static void {name}({kind} *const to, {kind} *const from, const long n, const int sends)",
        "{",
        f"  {vector.name} v;",
        "  if (sends) {",
        f"    for (long k = n; k % {count} != 0; k++)",
        "      from[k] = 0;",
        f"    for (long k = 0; k < n; k += {count}) {{",
        *(f"      {line}" for line in (load, sends.format(vector="v"), store)),
        "    }",
        "  } else {",
        f"    for (long k = 0; k < n; k += {count}) {{",
        *(f"      {line}" for line in (receives.format(vector="v"), store)),
        "    }",
        "  }",
        "}",
    ]
