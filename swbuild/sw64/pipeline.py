"""The pipes of a CPE: when each operation of a sequence issues, and what it waited for.

Operations issue in the order of the program, as many in a cycle as there are pipes that take them.  One that
needs a result waits until the producer's latency is over; two writes of a register stay in order; a unit that
is not pipelined takes nothing until it is done.  Whether a message has come, a transfer is under way or an
address lies in main memory is not known here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from swbuild.sw64.instructions import Kind

__all__ = [
    "Operation",
    "Rules",
    "Slot",
    "Turns",
    "Wait",
    "block_cycles",
    "costs",
    "issue",
    "loop_cycles",
    "turns",
]

#: So many turns of a loop are tried before its state is taken to repeat.
_MOST_TURNS = 64


@dataclass(frozen=True, slots=True)
class Operation:
    """What the pipes know of an instruction.

    Registers are any hashable names; ``stored`` are those of ``reads`` whose value a store writes; ``line``
    and ``text`` are for who reads the result.
    """

    kind: Kind
    reads: tuple[Hashable, ...] = ()
    writes: tuple[Hashable, ...] = ()
    stored: tuple[Hashable, ...] = ()
    line: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """A machine's pipes: ``takes`` those of a kind, the preferred first; ``latency`` cycles to a use.

    ``stored`` is the latency towards the data of a store where that differs; ``busy`` the cycles for which a
    unit takes no other operation of its kind; ``branch`` the cycles lost by a taken jump.
    """

    pipes: int
    takes: Mapping[Kind, tuple[int, ...]]
    latency: Mapping[Kind, int]
    stored: Mapping[Kind, int]
    busy: Mapping[Kind, int]
    branch: int = 0


@dataclass(frozen=True, slots=True)
class Wait:
    """What held an operation up, beyond the order of the program, and for how many cycles.

    ``register`` is the result it waited for, None for a busy unit or pipe; ``line`` is that of the operation
    that it waited for.
    """

    cycles: int
    cause: str
    line: int
    register: Hashable = None


@dataclass(frozen=True, slots=True)
class Slot:
    """Where an operation issues: its cycle and pipe, and what it waited for."""

    operation: Operation
    cycle: int
    pipe: int
    wait: Wait | None


@dataclass(frozen=True, slots=True)
class Turns:
    """The steady state of a loop: the slots of the turns that repeat, cycles from the first one's begin."""

    slots: tuple[tuple[Slot, ...], ...]
    total: int

    @property
    def cycles(self) -> float:
        """Return the cycles of one turn."""
        return self.total / len(self.slots)


@dataclass(slots=True)
class _State:
    """What earlier operations leave behind; cycles count from the first operation's."""

    rules: Rules
    now: int = 0
    free: list[int] = field(default_factory=list)
    writers: dict[Hashable, tuple[int, Operation]] = field(default_factory=dict)
    units: dict[Kind, tuple[int, Operation]] = field(default_factory=dict)
    holders: dict[int, Operation] = field(default_factory=dict)

    def step(self, operation: Operation, following: Operation | None) -> Slot:
        """Issue ``operation``; ``following`` is the next one, which may share its cycle."""
        held = max(self._holds(operation), key=lambda hold: hold[0], default=(0, "", 0, None))
        begin = max(self.now, held[0])
        pipe = self._pipe(operation, following, begin)
        cycle = max(begin, self.free[pipe])
        slot = Slot(operation, cycle, pipe, self._wait(held, cycle, pipe))
        self._record(slot)
        return slot

    def _holds(self, operation: Operation) -> Iterator[tuple[int, str, int, Hashable]]:
        """Yield the cycles before which the operation cannot issue, each with its reason."""
        rules = self.rules
        for register in operation.reads:
            if register in self.writers:
                cycle, writer = self.writers[register]
                stored = register in operation.stored
                latency = (rules.stored if stored else rules.latency).get(
                    writer.kind, rules.latency[writer.kind]
                )
                yield cycle + latency, "register", writer.line, register
        for register in operation.writes:
            if register in self.writers:
                cycle, writer = self.writers[register]
                later = rules.latency[writer.kind] - rules.latency[operation.kind]
                yield cycle + max(later, 0) + 1, "write", writer.line, register
        if operation.kind in self.units:
            until, holder = self.units[operation.kind]
            yield until, "unit", holder.line, None

    def _pipe(self, operation: Operation, following: Operation | None, begin: int) -> int:
        """Choose the pipe that is free first; of several the one that the next operation can spare."""
        takes = self.rules.takes
        wanted = takes[following.kind] if following else ()
        needed = wanted[0] if len(wanted) == 1 else None
        mine = takes[operation.kind]
        return min(mine, key=lambda pipe: (max(begin, self.free[pipe]), pipe == needed, mine.index(pipe)))

    def _wait(self, held: tuple[int, str, int, Hashable], cycle: int, pipe: int) -> Wait | None:
        until, cause, line, register = held
        ready = max(self.now, until)
        if cycle > ready:
            return Wait(cycle - self.now, "pipe", self.holders[pipe].line)
        earliest = max(self.now, self.free[pipe])
        return Wait(cycle - earliest, cause, line, register) if cycle > earliest else None

    def _record(self, slot: Slot) -> None:
        operation = slot.operation
        self.now = slot.cycle
        self.free[slot.pipe] = slot.cycle + 1
        self.holders[slot.pipe] = operation
        for register in operation.writes:
            self.writers[register] = (slot.cycle, operation)
        if operation.kind in self.rules.busy:
            self.units[operation.kind] = (slot.cycle + self.rules.busy[operation.kind], operation)

    def jump(self) -> None:
        """Let nothing share the cycle of a taken jump, nor those that it loses."""
        self.now += 1 + self.rules.branch

    def relative(self) -> tuple[object, ...]:
        """Return what later operations can see of the past, as cycles from now."""
        longest = max(self.rules.latency.values(), default=0)
        writers = {
            (register, writer.kind, cycle - self.now)
            for register, (cycle, writer) in self.writers.items()
            if cycle + max(longest, self.rules.stored.get(writer.kind, 0)) > self.now
        }
        units = {(kind, until - self.now) for kind, (until, _) in self.units.items() if until > self.now}
        return frozenset(writers), frozenset(units), tuple(max(0, cycle - self.now) for cycle in self.free)


def issue(operations: Sequence[Operation], rules: Rules) -> list[Slot]:
    """Return the slots of a sequence that begins with all registers ready and all pipes free."""
    state = _State(rules, free=[0] * rules.pipes)
    return _pass(state, operations, None)


def block_cycles(block: Sequence[Operation], rules: Rules) -> int:
    """Return the cycles of one pass through a block: those up to its last issue, that one included."""
    slots = issue(block, rules)
    return slots[-1].cycle + 1 if slots else 0


def loop_cycles(body: Sequence[Operation], rules: Rules) -> float:
    """Return the cycles of one turn of a loop in its steady state; the last operation jumps back."""
    return turns(body, rules).cycles


def turns(body: Sequence[Operation], rules: Rules) -> Turns:
    """Return the steady state of a loop: turns are issued until their state has been seen before."""
    if not body:
        return Turns(((),), 0)
    state = _State(rules, free=[0] * rules.pipes)
    seen: dict[tuple[object, ...], int] = {}
    begins: list[int] = []
    done: list[list[Slot]] = []
    while (key := state.relative()) not in seen and len(done) < _MOST_TURNS:
        seen[key] = len(done)
        begins.append(state.now)
        done.append(_pass(state, body, body[0]))
        state.jump()
    first = seen.get(key, len(done) - 1)
    return Turns(
        tuple(
            tuple(replace(slot, cycle=slot.cycle - begins[first]) for slot in turn) for turn in done[first:]
        ),
        state.now - begins[first],
    )


def costs(slots: Sequence[Slot], end: int) -> list[tuple[int, int]]:
    """Return the cycles that each slot accounts for, ``end`` in all, and how many of them were waited.

    ``slots`` begin at cycle 0 and ``end`` is the cycle after them.  A cycle belongs to its first operation,
    the cycles in which nothing issues to the operation that waits.
    """
    result = []
    before = -1
    for slot in slots:
        spent = slot.cycle - before
        result.append((spent, max(0, spent - 1)))
        before = slot.cycle
    if result:
        spent, stall = result[-1]
        result[-1] = (spent + end - before - 1, stall + end - before - 1)
    return result


def _pass(state: _State, operations: Sequence[Operation], after: Operation | None) -> list[Slot]:
    followers = [*operations, after][1:]
    return [state.step(*pair) for pair in zip(operations, followers, strict=True)]
