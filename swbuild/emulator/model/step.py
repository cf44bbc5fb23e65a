"""The steps of code: what a reader of instructions hands to those who say what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from swbuild.sw64.instructions import Kind

__all__ = ["Address", "Role", "Step", "whole"]


class Role(Enum):
    """What a step does; ``COMPUTE`` is anything that makes a value of its sources."""

    COMPUTE = "compute"
    PRODUCT = "product"
    SUM = "sum"
    ADD = "add a constant"
    COPY = "copy"
    CONSTANT = "constant"
    ADDRESS = "address"
    LOAD = "load"
    STORE = "store"
    BRANCH = "branch"
    JUMP = "jump"
    CALL = "call"
    RETURN = "return"
    DIVISION = "integer division"


@dataclass(frozen=True, slots=True)
class Address:
    """``symbol + offset + base + scale * index``; ``symbol`` keeps its relocation (``x@tpoff``)."""

    symbol: str
    offset: int
    base: str
    index: str
    scale: int

    @property
    def registers(self) -> tuple[str, ...]:
        """Return the registers that are read."""
        return tuple(name for name in (self.base, self.index) if name)


@dataclass(frozen=True, slots=True)
class Step:
    """One operation: registers are named without their width, ``flags`` is the result that a jump tests.

    ``number`` is the constant of ``ADD`` and ``CONSTANT``; ``where`` what a jump or call goes to; ``bytes``
    what a load or store moves; ``times`` how many operations of the CPE it is, ``share`` how many such
    make one of the CPE's; ``spilled``: it moves what x86 has no register for.
    """

    kind: Kind
    role: Role = Role.COMPUTE
    sources: tuple[str, ...] = ()
    target: str = ""
    address: Address | None = None
    number: int = 0
    where: str = ""
    flags: bool = False
    bytes: int = 8
    times: int = 1
    share: int = 1
    spilled: bool = False


def whole(steps: Sequence[Step]) -> list[Step]:
    """Return the steps with one operation for the several that narrow registers make of a vector's."""
    seen: dict[tuple[object, ...], int] = {}
    result = []
    for step in steps:
        key = (step.kind, step.role)
        count = seen[key] = seen.get(key, -1) + 1 if step.share > 1 else 0
        if step.share == 1 or count % step.share == 0:
            result.append(step)
        elif step.target:
            result.append(Step(step.kind, Role.CONSTANT, (), step.target))
    return result
