"""What operations wait for on the pipes, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from swbuild.sw64.pipeline import Slot, Wait

__all__ = ["awaited"]

#: Registers that go by a name in assembly.
_NAMED: Mapping[object, str] = {29: "$gp", 30: "$sp"}


def awaited(slot: Slot, place: Callable[[int], int] = int) -> str:
    """Return what an operation waited for, beyond a pipe that its predecessor has taken; maybe nothing.

    ``place`` gives the line that is told for the line of an operation.
    """
    wait = slot.wait
    if wait is None or wait.cause == "pipe":
        return ""
    before = " of the turn before" if wait.line >= slot.operation.line else ""
    return f"{_reason(wait)} of line {place(wait.line)}{before}"


def _reason(wait: Wait) -> str:
    if wait.cause == "unit":
        return "the division"
    register = _NAMED.get(wait.register, f"${wait.register}")
    return register if wait.cause == "register" else f"the earlier write of {register}"
