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
    messages, (vector, size) = dialect.messages, lanes[element]
    to, source, length, sends, message, at = map(own, ("to", "from", "length", "sends", "message", "at"))
    send = {"row": messages.send_row, "column": messages.send_column}[way].format(vector=message)
    receive = {"row": messages.receive_row, "column": messages.receive_column}[way].format(vector=message)
    load = messages.load.format(vector=message, place=f"{source} + {at}")
    store = messages.store.format(vector=message, place=f"{to} + {at}")
    kind = element.name
    arguments = f"{kind} *const {to}, {kind} *const {source}, const long {length}, const int {sends}"
    every = f"for (long {at} = 0; {at} < {length}; {at} += {size}) {{"
    return [
        f"/* Hands elements on along a {way}, {size} in a message: from the CPE that sends, to all. */",
        f"static void {name}({arguments})",
        "{",
        f"  {vector.name} {message};",
        f"  if ({sends}) {{",
        f"    for (long {at} = {length}; {at} % {size} != 0; {at}++)",
        f"      {source}[{at}] = 0;",
        f"    {every}",
        *(f"      {line}" for line in (load, send, store)),
        "    }",
        "  } else {",
        f"    {every}",
        *(f"      {line}" for line in (receive, store)),
        "    }",
        "  }",
        "}",
    ]
