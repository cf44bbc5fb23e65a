"""Which operations blocks of host code have, and which chains lead from a loop's turn to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, replace

from swbuild.emulator.model.blocks import Block
from swbuild.emulator.model.flow import loop_begin
from swbuild.emulator.model.step import Role, whole
from swbuild.emulator.model.values import Node, graph
from swbuild.machine import LIBRARY, Host
from swbuild.machine.cost.host import Chain, Mix
from swbuild.sw64.instructions import Kind

__all__ = ["VECTOR_BYTES", "mixes"]

#: Of the host's vectors, on both machines.
VECTOR_BYTES = 32
#: What an operation counts as in a mix; others only take a place.
_UNITS = {
    **dict.fromkeys((Kind.LOAD, Kind.FLOAT_LOAD, Kind.STORE), "memory"),
    **dict.fromkeys((Kind.FLOAT, Kind.COMPARE, Kind.CONVERT, Kind.SHUFFLE), "arithmetic"),
    **dict.fromkeys((Kind.VECTOR, Kind.TRANSFER), "arithmetic"),
    Kind.DIVIDE: "divide",
}
#: What its latency counts as in a chain; others take a cycle.
_LATENCIES = {
    **dict.fromkeys((Kind.FLOAT, Kind.COMPARE, Kind.CONVERT), "arithmetic"),
    **dict.fromkeys((Kind.LOAD, Kind.FLOAT_LOAD), "load"),
    Kind.DIVIDE: "divide",
    Kind.MULTIPLY: "multiply",
}


def mixes(function: Sequence[Block], host: Host) -> list[Mix]:
    """Return the mix of each block of a function.

    A loop of several blocks, of which each goes on with the next, has its chains in the largest of them.
    """
    found = [_mix(block) for block in function]
    for number, block in enumerate(function):
        begin = number if block.loops else loop_begin(function, number)
        if begin is not None:
            turn = range(begin, number + 1)
            steps = [step for k in turn for step in function[k].steps]
            chains = _chains(graph(whole(steps), block.live, 1), host)
            body = max(turn, key=lambda k: len(function[k].steps))
            found[body] = replace(found[body], chains=chains)
    return found


def _mix(block: Block) -> Mix:
    nodes = graph(whole(block.steps), block.live, int(block.loops))
    units = Counter(_UNITS.get(node.kind, "") for node in nodes)
    return Mix(
        operations=sum(node.kind is not Kind.NONE for node in nodes),
        memory=units["memory"],
        arithmetic=units["arithmetic"],
        divide=units["divide"],
        integer_divide=sum(node.role is Role.DIVISION for node in nodes),
        call=block.end.where if block.end and block.end.where in LIBRARY else "",
    )


def _chains(turn: Sequence[Node], host: Host) -> tuple[Chain, ...]:
    """Return the chains of a loop's turn, but those that others cover."""
    names = {name for node in turn for name in _made(node)}
    chains = {_chain(turn, name, host) for name in sorted(names)} - {Chain()}
    return tuple(chain for chain in sorted(chains, key=astuple) if not _covered(chain, chains))


def _covered(chain: Chain, others: Iterable[Chain]) -> bool:
    """Return whether another chain has as many operations of every kind."""
    return any(
        other != chain and all(a <= b for a, b in zip(astuple(chain), astuple(other), strict=True))
        for other in others
    )


def _made(node: Node) -> tuple[str, ...]:
    """Return what a node hands on to the next turn: registers, or the place in memory that it stores to."""
    stores = node.role is Role.STORE and node.place
    return (*node.carries, node.place) if stores else node.carries


def _chain(turn: Sequence[Node], name: str, host: Host) -> Chain:
    """Return the longest chain through a turn that starts and ends in ``name``."""
    depth: dict[int, Chain] = {}
    longest = Chain()
    for number, node in enumerate(turn):
        known = [depth[ahead] for ahead in _ahead(turn, node) if ahead in depth]
        if name in node.sources or (node.role is Role.LOAD and node.place == name and not node.after):
            known.append(Chain())
        if known:
            depth[number] = _longer(_longest(known, host), node)
            if name in _made(node):
                longest = _longest((longest, depth[number]), host)
    return longest


def _ahead(turn: Sequence[Node], node: Node) -> Iterable[int]:
    """Return the nodes whose results a node reads, through memory, too."""
    stores = (k for k in node.after if node.role is Role.LOAD and turn[k].role is Role.STORE)
    return (*(source for source in node.sources if isinstance(source, int)), *stores)


def _longest(chains: Iterable[Chain], host: Host) -> Chain:
    return max(chains, key=lambda chain: (chain.cycles(host), astuple(chain)))


def _longer(chain: Chain, node: Node) -> Chain:
    kind = "integer_divide" if node.role is Role.DIVISION else _LATENCIES.get(node.kind, "other")
    return replace(chain, **{kind: getattr(chain, kind) + 1})
