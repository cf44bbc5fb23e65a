"""Boxes handed on in messages: the functions in which the CPEs of a row, a column or all do so together."""

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

_HEADS = {
    Along.ROW: "Hands elements on along a row, {size} in a message: from the CPE that sends, to all.",
    Along.COLUMN: "Hands elements on along a column, {size} in a message: from the CPE that sends, to all.",
    Along.ALL: "Hands elements on to all, {size} in a message: along a row, then along all columns.",
}


def function_of(along: Along, element: ElementType, stem: str) -> str:
    """Return the name of the function that hands on elements of this type; ``stem`` tells those of files."""
    return own(f"sw_hand_{along.value}_{element.name}_{stem}")


def functions(wanted: Iterable[Handed], stem: str, dialect: Dialect, lanes: Lanes) -> Lines:
    """Return the definitions of what :func:`function_of` names, each with an empty line before it."""
    found = {function_of(along, element, stem): (along, element) for along, element in wanted}
    return [line for name, each in found.items() for line in ("", *_function(name, *each, dialect, lanes))]


def _function(name: str, along: Along, element: ElementType, dialect: Dialect, lanes: Lanes) -> Lines:
    """Return a function's definition.  Slots have room for whole vectors; the last one is filled up."""
    messages, (vector, size) = dialect.messages, lanes[element]
    to, source, length, message, at = map(own, ("to", "from", "length", "message", "at"))
    sends, passes = own("sends"), own("passes")

    def spelled(template: str, place: str = "") -> str:
        return template.format(vector=message, place=place)

    row, column = spelled(messages.send_row), spelled(messages.send_column)
    from_row, from_column = spelled(messages.receive_row), spelled(messages.receive_column)
    load = spelled(messages.load, f"{source} + {at}")
    store = spelled(messages.store, f"{to} + {at}")
    kind = element.name
    every = f"for (long {at} = 0; {at} < {length}; {at} += {size}) {{"

    def each(*steps: str) -> Lines:
        return [f"    {every}", *(f"      {step}" for step in steps), "    }"]

    filled = [
        f"    for (long {at} = {length}; {at} % {size} != 0; {at}++)",
        f"      {source}[{at}] = 0;",
    ]
    arguments = f"{kind} *const {to}, {kind} *const {source}, const long {length}, const int {sends}"
    sent = {Along.ROW: (row,), Along.COLUMN: (column,), Along.ALL: (row, column)}[along]
    branches = [f"  if ({sends}) {{", *filled, *each(load, *sent, store)]
    if along is Along.ALL:
        arguments += f", const int {passes}"
        branches += [f"  }} else if ({passes}) {{", *each(from_row, column, store)]
    branches += ["  } else {", *each(from_row if along is Along.ROW else from_column, store), "  }"]
    head = f"/* {_HEADS[along].format(size=size)} */"
    return [head, f"static void {name}({arguments})", "{", f"  {vector.name} {message};", *branches, "}"]
