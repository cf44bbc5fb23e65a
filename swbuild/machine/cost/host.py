"""What one pass through a block of code asks of the management core, and how long that takes.

A block's *mix* says how many operations of each kind it has; for a loop, its *chains* say which of them wait
for one another from one turn to the next.
"""

from __future__ import annotations

from dataclasses import fields

from swbuild.classes import dataclass
from swbuild.machine.model import Host, MachineModel

__all__ = ["Chain", "HostRun", "Mix"]


@dataclass(frozen=True, slots=True)
class Chain:
    """Operations of which each waits for the one before; ``other`` takes a cycle each."""

    arithmetic: int = 0
    load: int = 0
    divide: int = 0
    multiply: int = 0
    integer_divide: int = 0
    other: int = 0

    def cycles(self, host: Host) -> float:
        """Return the host's cycles from the first operation's start to the last one's end."""
        return (
            self.arithmetic * host.float_latency
            + self.load * host.load_latency
            + self.divide * host.divide_cycles
            + self.multiply * host.multiply_latency
            + self.integer_divide * host.integer_divide_cycles
            + self.other
        )


@dataclass(frozen=True, slots=True)
class Mix:
    """Numbers of operations: of all, and of the kinds that have something of the core to themselves.

    ``call`` is the function of the mathematical library that the block calls.
    """

    operations: float = 0
    memory: float = 0
    arithmetic: float = 0
    divide: float = 0
    integer_divide: float = 0
    call: str = ""
    chains: tuple[Chain, ...] = ()

    def cycles(self, machine: MachineModel) -> float:
        """Return the host's cycles of one pass whose data are in the first level of its caches."""
        host = machine.host
        return max(
            self.operations / host.issue_width,
            self.memory / host.memory_slots,
            self.arithmetic / host.float_slots,
            self.divide * host.divide_cycles,
            self.integer_divide * host.integer_divide_cycles,
            *(chain.cycles(host) for chain in self.chains),
        ) + machine.library.cycles(self.call)

    def __str__(self) -> str:
        numbers = [getattr(self, each.name) for each in fields(self) if each.name not in ("call", "chains")]
        return ";".join([_joined(numbers), self.call, *(_joined(_counts(chain)) for chain in self.chains)])

    @classmethod
    def parse(cls, text: str) -> Mix:
        """Return the mix that ``str`` has written; raise :class:`ValueError` for any other text."""
        first, *rest = text.split(";")
        numbers = [float(word) for word in first.split(",")]
        if len(numbers) != len(fields(cls)) - 2 or not rest:
            raise ValueError(f"'{text}' is no mix of operations")
        operations, memory, arithmetic, divide, integer_divide = numbers
        chains = tuple(_chain(word) for word in rest[1:])
        return cls(operations, memory, arithmetic, divide, integer_divide, rest[0], chains)


@dataclass(frozen=True, slots=True)
class HostRun:
    """What a block did in a stretch of time: passes, and lines that its accesses moved between the levels."""

    passes: int
    second: int
    filled: int
    written: int

    def stalled(self, host: Host) -> float:
        """Return the host's cycles that were lost to the caches' misses."""
        return (
            self.second * host.l2_cycles + self.filled * host.fill_cycles + self.written * host.write_cycles
        )


def _joined(numbers: list[float]) -> str:
    return ",".join(f"{number:g}" for number in numbers)


def _counts(chain: Chain) -> list[float]:
    return [getattr(chain, each.name) for each in fields(chain)]


def _chain(word: str) -> Chain:
    numbers = [int(number) for number in word.split(",")]
    if len(numbers) != len(fields(Chain)):
        raise ValueError(f"'{word}' is no chain of operations")
    return Chain(*numbers)
