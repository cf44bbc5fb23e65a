"""Are transfers issued, awaited and used in a sound order?

The tree is walked once, in the order of execution.  Of a loop one iteration is looked at, and a second one
where the first leaves other transfers in flight than it met.  An iteration has to leave no group open that
it has opened, unless it waits for it first: then the group has to be open before the loop where the loop
runs, and is not after it if only iterations that others follow have opened it.  So it is with a group that
only iterations open that two others follow, if it is open before where the first iteration is not the last.
What is opened under a condition counts as open until it is waited for, or until a place where the same
condition does not hold.  Boxes that are handed out while CPEs compute are a group as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from swbuild.classes import dataclass
from swbuild.expressions.c import Call
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Expression
from swbuild.kernelir.nodes import (
    AT_HAND,
    NEXT,
    Arrived,
    Begin,
    Block,
    Compute,
    Copy,
    Counter,
    Deal,
    Direction,
    ElementStore,
    Fetch,
    FromTile,
    Group,
    Guard,
    Keep,
    Loop,
    Meet,
    Node,
    Place,
    Rotate,
    Share,
    Transfer,
    Wait,
)
from swbuild.kernelir.passes import walk
from swbuild.kernelir.prefetching import first_goes_on, goes_on, goes_on_twice, starts
from swbuild.kernelir.scope import Held, Scope
from swbuild.names import own

__all__ = ["flow_faults"]


@dataclass(frozen=True, slots=True)
class _Open:
    """A group that is open: what is in flight for it, and under which condition it was opened.

    ``certain``: so many transfers have been issued, ``sometimes``: others may have been, ``uncounted``: of
    which the emitted code does not know.
    """

    slots: frozenset[tuple[str, int]] = frozenset()
    under: Expression | None = None
    dynamic: bool = True
    certain: int = 0
    sometimes: bool = False
    uncounted: bool = False


_State = Mapping[Group, _Open]

#: Boxes that are handed out while CPEs compute, which :class:`Arrived` waits for.
_HANDED = Group(-1, Direction.GET, ahead=True)


class _Walk:
    """Walks a tree and collects what is wrong."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.found: list[str] = []
        self.placed: set[str] = set()
        #: conditions that hold where the walk is
        self.holding: frozenset[Expression] = frozenset()
        #: slots of buffers that hold something: fetched, or computed
        self.filled: set[tuple[str, int]] = set()
        #: buffers that have been handed out since all CPEs met; None once a CPE may have gone on from there
        self.handed: list[str] | None = None

    def after(self, node: Node, state: _State) -> _State:
        """Return the groups open behind ``node``, where those of ``state`` are open before it."""
        if isinstance(node, Block):
            for child in node.children:
                state = self.after(child, state)
            return state
        if isinstance(node, (Loop, Counter, Deal)):
            return self._loop(node, state)
        if isinstance(node, Guard):
            return self._guard(node, state)
        return self._leaf(node, state)

    def _loop(self, node: Loop | Counter | Deal, state: _State) -> _State:
        self.leave_meeting(f"an iteration over {node.iterator} begins")
        outside, state = state, _in_an_iteration(node, state)
        behind = self.after(node.body, state)
        self.leave_meeting(f"an iteration over {node.iterator} ends")
        if isinstance(node, Counter) or (isinstance(node, Loop) and node.condition is None):
            return behind
        if any(group in state and open_.slots != state[group].slots for group, open_ in behind.items()):
            self.after(node.body, behind)  # what an iteration leaves in flight, the next one meets
        for group in behind.keys() - state.keys():
            self.found.append(f"an iteration over {node.iterator} leaves the {group.name} open")
        for group in state.keys() - behind.keys():
            self.found.append(f"the {group.name} are waited for in every iteration over {node.iterator}")
        return {
            group: _maybe(before, behind.get(group, before))
            for group, before in outside.items()
            if not self._ends(node, before, behind.get(group, before))
        }

    def _ends(self, loop: Loop | Deal, before: _Open, behind: _Open) -> bool:
        """Return whether a group is open just where ``loop`` goes on, and thus not after it."""
        if isinstance(loop, Deal) or loop.first is None:
            return False
        if before.under == first_goes_on(loop):
            return behind.under == goes_on_twice(loop)
        if behind.under != goes_on(loop):
            return False
        runs = loop.trip_count is not None and loop.trip_count > 0
        return runs or before.under == starts(loop) or _parts(starts(loop)) <= self.holding

    def _guard(self, node: Guard, state: _State) -> _State:
        conditions = _parts(node.condition)
        if conditions <= self.holding:
            return self.after(node.then, state)
        outside, self.holding = self.holding, self.holding | conditions
        then = self.after(node.then, state)
        self.holding = outside
        if node.otherwise is not None:
            other = self.after(node.otherwise, state)
        else:
            # what was opened where this condition holds, among others, is not open where it does not
            other = {g: o for g, o in state.items() if o.under is None or not conditions <= _parts(o.under)}
        merged: dict[Group, _Open] = {}
        for group in {**then, **other}:
            found = then.get(group) or other[group]
            if group in other and group not in then and group in state and not state[group].slots:
                continue  # where the condition does not hold, there is nothing to wait for
            if group not in state:
                found = replace(found, under=found.under or node.condition)
            elif group in then and group in other:
                found = _maybe(other[group], then[group])
            merged[group] = found
        return merged

    def _leaf(self, node: Node, state: _State) -> _State:
        if isinstance(node, Begin):
            return self._begin(node, state)
        if isinstance(node, Transfer):
            return self._transfer(node, state)
        if isinstance(node, Wait):
            return self._wait(node, state)
        if isinstance(node, Place):
            self._touched(node.buffer, state, f"{node.buffer} gets another box")
            self.placed.add(node.buffer)
            if node.number is not None:
                self.filled.discard((node.buffer, AT_HAND))
        elif isinstance(node, Rotate):
            return self._rotate(node, state)
        elif isinstance(node, Copy):
            self._copy(node, state)
        elif isinstance(node, FromTile):
            self._is_placed(node.buffer, f"{node.buffer} is copied from a tile")
            self._touched(node.buffer, state, f"{node.buffer} is copied from a tile")
            self.filled.add((node.buffer, AT_HAND))  # what is not there is got next
        elif isinstance(node, (Compute, Keep)):
            self._compute(node, state)
        elif isinstance(node, Fetch):
            self._fetch(node, state)
        elif isinstance(node, Meet):
            self.leave_meeting("all CPEs meet again")
            if _HANDED in state:
                self.found.append("all CPEs meet again before what was handed out has arrived")
            self.handed = []
        elif isinstance(node, Share):
            return self._share(node, state)
        elif isinstance(node, Arrived):
            return self._arrived(node, state)
        elif isinstance(node, ElementStore):
            self._is_placed(node.buffer, f"an element of {node.buffer} is stored")
            self._touched(node.buffer, state, f"an element of {node.buffer} is stored")
        return state

    def _copy(self, node: Copy, state: _State) -> None:
        what = f"a part of {node.buffer} is copied"
        self._is_placed(node.buffer, what)
        self._touched(node.buffer, state, what)
        if (node.buffer, AT_HAND) not in self.filled:
            self.found.append(f"{what} in a slot that was never filled")

    def _begin(self, node: Begin, state: _State) -> _State:
        if node.group in state:
            self.found.append(f"the {node.group.name} are begun again before they are waited for")
        for other in state:
            if other != node.group and node.group.reply is not None and other.reply == node.group.reply:
                self.found.append(f"the {node.group.name} share a reply word with the {other.name}")
        return {**state, node.group: _Open(dynamic=node.dynamic, certain=node.complete)}

    def _transfer(self, node: Transfer, state: _State) -> _State:
        what, key = f"the {node.group.direction.value} of {node.buffer}", (node.buffer, node.slot)
        if node.buffer in (self.handed or []):
            self.found.append(f"{what} is issued before {node.buffer} has arrived")
        self._is_placed(node.buffer, f"{what} is issued")
        for group, other in state.items():
            if group != node.group and key in other.slots:
                self.found.append(f"{what} is issued while slot {node.slot} is moved for the {group.name}")
        if node.group.direction is Direction.GET:
            self.filled.add(key)
        elif key not in self.filled:
            self.found.append(f"{what} stores what was never computed or fetched")
        here = state.get(node.group)
        if here is None:
            self.found.append(f"{what} is issued before its group is begun, or after the wait")
            return state
        uncounted = here.uncounted or not node.counted
        issued = replace(here, slots=here.slots | {key}, certain=here.certain + 1, uncounted=uncounted)
        return {**state, node.group: issued}

    def _wait(self, node: Wait, state: _State) -> _State:
        here = state.get(node.group)
        if here is None:
            self.found.append(f"the {node.group.name} are waited for without being open")
            return state
        if node.count is not None and (here.sometimes or here.certain != node.count):
            issued = "a number that varies is" if here.sometimes else f"{here.certain} are"
            self.found.append(f"{node.count} {node.group.name} are waited for, {issued} issued")
        if (node.count is None) != here.dynamic:
            self.found.append(f"the {node.group.name} are counted at one of begin and wait alone")
        return {group: other for group, other in state.items() if group != node.group}

    def _rotate(self, node: Rotate, state: _State) -> _State:
        for name in node.buffers:
            loaded = name not in self.scope.buffers or self.scope.buffers[name].loaded
            slots = {(name, node.target), (name, node.source)}
            for group, other in state.items():
                if group.direction is Direction.GET and slots & other.slots:
                    self.found.append(f"{name} turns to the next slot while {group.name} are in flight")
            stored = any(
                group.direction is Direction.PUT and (name, node.target) in other.slots
                for group, other in state.items()
            )
            if stored or not loaded:  # it leaves that slot; whatever comes next is got or computed
                self.filled.discard((name, node.target))
                continue
            if (name, node.source) not in self.filled:
                self.found.append(f"{name} turns to a slot that was never filled")
            self.filled.discard((name, node.source))
            self.filled.add((name, node.target))
        return {group: _turned(other, node) for group, other in state.items()}

    def leave_meeting(self, what: str) -> None:
        if self.handed:
            self.found.append(f"{what} before {' and '.join(self.handed)} has arrived")
        self.handed = None

    def _share(self, node: Share, state: _State) -> _State:
        what = f"{node.buffer} is handed out"
        for group, other in state.items():
            if any(buffer == node.buffer for buffer, _ in other.slots):
                self.found.append(f"{what} while the {group.name} are in flight")
        if (node.buffer, NEXT) not in self.filled:
            self.found.append(f"{what} from a slot that was never filled")
        if self.handed is None and not node.in_messages:
            self.found.append(f"{what} before all CPEs have met")
        self.filled.discard((node.buffer, NEXT))
        self.filled.add((node.buffer, node.slot))
        if node.in_messages:
            return state
        if node.slot == AT_HAND:
            self.handed = [*(self.handed or []), node.buffer]
            return state
        before = state.get(_HANDED, _Open())
        slots = before.slots | {(node.buffer, NEXT), (node.buffer, node.slot)}
        return {**state, _HANDED: replace(before, slots=slots, certain=before.certain + 1)}

    def _arrived(self, node: Arrived, state: _State) -> _State:
        meanwhile = state.get(_HANDED)
        handed = len(self.handed or []) if meanwhile is None else meanwhile.certain
        if handed != len(node.under) or (meanwhile is not None and meanwhile.sometimes):
            self.found.append(f"{len(node.under)} boxes are waited for, {handed} are handed out")
        self.handed = None
        return {group: other for group, other in state.items() if group != _HANDED}

    def _compute(self, node: Compute | Keep, state: _State) -> None:
        self.leave_meeting(f"{node.statement or 'what turns a box'} computes")
        for name, buffer in self.scope.buffers.items():
            if node.statement in buffer.statements:
                self._uses(name, buffer, state, f"{node.statement} uses {name}")
                self.filled.add((name, 0))

    def _fetch(self, node: Fetch, state: _State) -> None:
        for name, buffer in self.scope.buffers.items():
            if isinstance(node.place, Call) and node.place.function == own(f"LDM_{name}"):
                self._uses(name, buffer, state, f"a vector of {name} is loaded")

    def _uses(self, name: str, buffer: Held, state: _State, what: str) -> None:
        self._is_placed(name, what)
        self._touched(name, state, what)
        if buffer.slots > 1 and buffer.loaded and (name, 0) not in self.filled:
            self.found.append(f"{what} in a slot that was never filled")

    def _is_placed(self, buffer: str, what: str) -> None:
        if buffer not in self.placed:
            self.found.append(f"{what} before it has a box")

    def _touched(self, buffer: str, state: _State, what: str) -> None:
        for group, other in state.items():
            if (buffer, 0) in other.slots:
                self.found.append(f"{what} before the {group.name} are waited for")


def _parts(condition: Expression) -> frozenset[Expression]:
    """Return the conditions that all hold where ``condition`` does; none of them for one that always does."""
    if isinstance(condition, Constant) and condition.value:
        return frozenset()
    if isinstance(condition, Binary) and condition.operator is BinaryOperator.AND:
        return _parts(condition.left) | _parts(condition.right)
    if isinstance(condition, Binary) and condition.operator is BinaryOperator.OR:
        always = not (_parts(condition.left) and _parts(condition.right))
        return frozenset() if always else frozenset({condition})
    return frozenset({condition})


def _turned(group: _Open, node: Rotate) -> _Open:
    """Return ``group`` with what is in flight from or to slots, after these have turned."""
    other = {node.target: node.source, node.source: node.target}
    slots = ((n, other.get(slot, slot) if n in node.buffers else slot) for n, slot in group.slots)
    return replace(group, slots=frozenset(slots))


def _in_an_iteration(loop: Loop | Counter | Deal, state: _State) -> _State:
    """Return ``state`` as an iteration of ``loop`` begins.

    A group that ``loop`` waits for and that is open if the first iteration goes on, is so for each iteration.
    """
    if not isinstance(loop, Loop) or loop.first is None or loop.condition is None:
        return state
    first, each = first_goes_on(loop), goes_on(loop)
    waited = {node.group for node in walk(loop.body) if isinstance(node, Wait)}
    return {
        group: replace(open_, under=each) if group in waited and open_.under == first else open_
        for group, open_ in state.items()
    }


def _maybe(before: _Open, after: _Open) -> _Open:
    """Return the group of which ``after`` may have become, but need not have."""
    varies = after.sometimes or after.certain != before.certain
    return replace(after, certain=before.certain, sometimes=varies)


def flow_faults(node: Node, scope: Scope) -> Iterator[str]:
    """Yield what is wrong with the order of transfers, waits and uses in ``node``."""
    walker = _Walk(scope)
    left = walker.after(node, {})
    walker.leave_meeting("the kernel ends")
    yield from walker.found
    yield from (f"the {group.name} are never waited for" for group in left)
    yield from _uncounted(node)


def _uncounted(node: Node) -> Iterator[str]:
    """Yield which groups the emitted code counts without being told of each transfer."""
    nodes = walk(node)
    if any(isinstance(n, Transfer) and n.counted for n in nodes):
        dynamic = {n.group for n in nodes if isinstance(n, Begin) and n.dynamic}
        for n in nodes:
            if isinstance(n, Transfer) and n.group in dynamic and not n.counted:
                yield f"the {n.group.direction.value} of {n.buffer} is not counted"
