"""Is a tree of the kernel IR sound?  Every rule here holds between any two passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from swbuild.expressions.trees import constant_value, names_in
from swbuild.kernelir.flow import flow_faults
from swbuild.kernelir.lengths import length_faults
from swbuild.kernelir.nodes import (
    Barrier,
    Block,
    Compute,
    Counter,
    Deal,
    Fence,
    FromTile,
    Guard,
    Launch,
    Loop,
    Node,
    Phase,
    Place,
    Rotate,
    Share,
    Transfer,
    stays_of,
    there_of,
)
from swbuild.kernelir.passes import expressions_of, walk
from swbuild.kernelir.reaching import reach_faults
from swbuild.kernelir.scope import Between, Scope
from swbuild.kernelir.transfers import low_of, size_of
from swbuild.names import plain_name

__all__ = ["faults"]


def faults(node: Node, scope: Scope) -> tuple[str, ...]:
    """Return what is wrong with the tree ``node``, in words, each fault once."""
    found = [
        *_budget(scope),
        *_names(node, scope, scope.names, frozenset()),
        *_uses(node, scope),
        *_separation(node, scope),
    ]
    if not found:  # all else relies on buffers that exist
        found += [*flow_faults(node, scope), *length_faults(node, scope), *reach_faults(node, scope)]
    return tuple(dict.fromkeys(map(plain_name, found)))


def _budget(scope: Scope) -> Iterator[str]:
    taken = sum(buffer.slots * buffer.bytes + buffer.turned for buffer in scope.buffers.values())
    if taken > scope.budget:
        yield f"all slots of the buffers take {taken} bytes, more than the budget of {scope.budget}"


def _names(node: Node, scope: Scope, known: frozenset[str], counting: frozenset[str]) -> Iterator[str]:
    """Yield what is wrong with names; ``known`` are those in scope, ``counting`` the open counters."""
    if isinstance(node, Block):
        names = node.registers
        yield from (f"a block declares '{name}' twice" for name in names if names.count(name) > 1)
        for child in node.children:
            yield from _names(child, scope, known, counting)
            if isinstance(child, (Block, FromTile, Place)):
                known |= _boxes_in(child)
            elif isinstance(child, Guard):  # what comes next may do so under the same condition
                known |= _flags_in(child)
        return
    inside = known
    if isinstance(node, (Loop, Counter, Deal)):
        yield from _iterator(node, known, counting)
        inside = known | {node.iterator}
        if isinstance(node, Counter):
            counting |= {node.iterator}
    if isinstance(node, Place):
        inside = known | _boxes_in(node)
    for value in expressions_of(node):
        first = isinstance(node, Deal) or (isinstance(node, (Loop, Counter)) and value is node.first)
        for name in sorted(names_in(value) - (known if first else inside)):
            if not (name in _box_names(scope) and isinstance(node, (Transfer, Loop))):
                yield f"{_what(node)} uses '{name}', which is not in scope"
    for child in _below(node):
        yield from _names(child, scope, inside, counting)


def _iterator(node: Loop | Counter | Deal, known: frozenset[str], counting: frozenset[str]) -> Iterator[str]:
    continues = isinstance(node, Loop) and node.first is None
    if continues and node.iterator not in counting:
        yield f"{_what(node)} goes on from a counter that is not there"
    if not continues and node.iterator in known:
        yield f"{_what(node)} hides another '{node.iterator}'"
    if isinstance(node, Deal) and node.turn not in counting:
        yield f"{_what(node)} takes turns by a counter that is not there"
    steps = isinstance(node, Deal) or (isinstance(node, Loop) and node.condition is not None)
    if steps and not isinstance(node, Counter) and node.step <= 0:
        yield f"{_what(node)} steps by {node.step}"


def _boxes_in(node: Node) -> frozenset[str]:
    """Return the variables of boxes that ``node`` sets for what follows."""
    places = [found for found in walk(node) if isinstance(found, Place)]
    return _flags_in(node).union(
        variable(place.buffer, k).name
        for place in places
        for k in range(len(place.low))
        for variable in (low_of, size_of)
    )


def _flags_in(node: Node) -> frozenset[str]:
    """Return the variables that ``node`` sets and that say of boxes whether they are there, and stay."""
    copied = [found.buffer for found in walk(node) if isinstance(found, FromTile)]
    stays = [found.buffer for found in walk(node) if isinstance(found, Place) and found.number is not None]
    there = frozenset(there_of(buffer).name for buffer in (*copied, *stays))
    return there.union(stays_of(buffer).name for buffer in stays)


def _box_names(scope: Scope) -> frozenset[str]:
    """Return the variables of all boxes: kernels declare them at their beginning."""
    return frozenset(
        variable(name, k).name
        for name, buffer in scope.buffers.items()
        for k in range(len(buffer.bound))
        for variable in (low_of, size_of)
    )


def _below(node: Node) -> tuple[Node, ...]:
    if isinstance(node, (Loop, Counter, Deal)):
        return (node.body,)
    if isinstance(node, Guard):
        return (node.then,) if node.otherwise is None else (node.then, node.otherwise)
    return ()


def _uses(node: Node, scope: Scope) -> Iterator[str]:
    """Yield what is wrong with buffers, slots, boxes and kernels that nodes speak of."""
    for found in walk(node):
        if isinstance(found, Launch):
            yield from _launch(found, scope)
        elif isinstance(found, Phase) and not scope.host:
            yield from _known(found, scope.phases, "a phase")
        elif scope.host:
            if not isinstance(found, (Block, Compute, Counter, Guard, Loop)):
                yield f"the host is to {type(found).__name__.lower()}, as only CPEs do"
        elif isinstance(found, Rotate):
            yield from _rotated(found, scope)
        elif hasattr(found, "buffer"):
            yield from _buffer(found, scope)


def _launch(node: Launch, scope: Scope) -> Iterator[str]:
    if not scope.host:
        yield f"a CPE launches {node.kernel}"
    else:
        yield from _known(node, scope.kernels, "launched")


def _known(node: Launch | Phase, kernels: Mapping[str, int], what: str) -> Iterator[str]:
    if node.kernel not in kernels:
        yield f"{node.kernel} is {what} and is no kernel of the region"
    elif len(node.loops) != kernels[node.kernel]:
        count = kernels[node.kernel]
        yield f"{node.kernel} is {what} with {len(node.loops)} values for {count} loops"


def _separation(node: Node, scope: Scope) -> Iterator[str]:
    """Yield the phases that come after another without what has to be between them."""
    faults: list[str] = []
    _met(node, frozenset(), scope, faults)
    yield from faults


#: what has run, and what of it no fence has come after yet
_Ran = frozenset[tuple[str, bool]]


def _met(node: Node, before: _Ran, scope: Scope, faults: list[str]) -> _Ran:
    """Return the phases that no barrier has come after yet; ``before`` are those ahead of ``node``."""
    if isinstance(node, Phase):
        faults += [text for ran in sorted(before) for text in _unmet(ran, node.kernel, scope)]
        return before | {(node.kernel, False)}
    if isinstance(node, Barrier):
        return frozenset()
    if isinstance(node, Fence):
        return frozenset((kernel, True) for kernel, _ in before)
    if isinstance(node, Block):
        for child in node.children:
            before = _met(child, before, scope, faults)
        return before
    if isinstance(node, Guard):
        ends = [_met(child, before, scope, faults) for child in _below(node)]
        return frozenset.union(*ends, *([before] if node.otherwise is None else []))
    if isinstance(node, Loop) and node.trip_count != 1:
        once = _met(node.body, before, scope, faults)
        return before | _met(node.body, before | once, scope, faults)
    return _met(node.body, before, scope, faults) if isinstance(node, (Loop, Counter)) else before


def _unmet(ran: tuple[str, bool], kernel: str, scope: Scope) -> Iterator[str]:
    before, fenced = ran
    needed = scope.between(before, kernel)
    if needed is Between.BARRIER or (needed is Between.FENCE and not fenced):
        yield f"no {needed.value.removeprefix('a ')} comes between {before} and {kernel}"


def _buffer(node: Node, scope: Scope) -> Iterator[str]:
    name: str = getattr(node, "buffer")  # noqa: B009 - nodes that speak of a buffer have it
    buffer = scope.buffers.get(name)
    if buffer is None:
        yield f"{_what(node)} speaks of the buffer {name}, which does not exist"
    elif isinstance(node, (Transfer, Share)) and not 0 <= node.slot < buffer.slots:
        yield f"{_what(node)} speaks of slot {node.slot} of {buffer.slots}"
    elif isinstance(node, Place):
        yield from _box(node, buffer.bound)


def _rotated(node: Rotate, scope: Scope) -> Iterator[str]:
    for name in node.buffers:
        if name not in scope.buffers or scope.buffers[name].slots <= node.source:
            yield f"{name} turns to another slot and has none"


def _box(node: Place, bound: tuple[int, ...]) -> Iterator[str]:
    if not len(node.low) == len(node.size) == len(bound):
        yield f"the box of {node.buffer} has {len(node.low)} dimensions, the buffer {len(bound)}"
        return
    for size, most in zip(node.size, bound, strict=True):
        value = constant_value(size)
        if value is not None and value > most:
            yield f"the box of {node.buffer} has {value} indices where the buffer has room for {most}"


def _what(node: Node) -> str:
    """Return ``node`` in a word or two."""
    if isinstance(node, (Loop, Counter, Deal)):
        return f"the loop over {node.iterator}"
    if isinstance(node, Compute):
        return f"the computation of {node.statement}"
    if isinstance(node, Transfer):
        return f"the {node.group.direction.value} of {node.buffer}"
    if isinstance(node, Place):
        return f"the box of {node.buffer}"
    return f"a {type(node).__name__.lower()}"
