"""The kernel IR as lines: a node per line, children below their parents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from swbuild.dump.text import indented, listed
from swbuild.expressions.nodes import Constant, Expression
from swbuild.expressions.printing import c_text, in_parentheses
from swbuild.expressions.statement_printing import statement_text
from swbuild.kernelir.nodes import (
    AT_HAND,
    Along,
    Arrived,
    Barrier,
    Begin,
    Block,
    Compute,
    Copy,
    Counter,
    Deal,
    Direction,
    ElementStore,
    Fence,
    Fetch,
    FromTile,
    Group,
    Guard,
    Keep,
    Launch,
    Loop,
    Meet,
    Node,
    Phase,
    Piece,
    Place,
    Register,
    Rotate,
    Row,
    Share,
    Transfer,
    Wait,
    Whole,
    Window,
)

__all__ = ["node_lines"]


@singledispatch
def node_lines(node: Node) -> Iterator[str]:
    """Yield the lines of ``node`` and of all below it."""
    raise TypeError(f"nothing is known of {type(node).__name__}")


@node_lines.register
def _block(node: Block) -> Iterator[str]:
    for child in node.children:
        if isinstance(child, Block) and child.registers:
            yield "block with registers of its own"
            yield from indented(node_lines(child))
        else:
            yield from node_lines(child)


@node_lines.register
def _loop(node: Loop) -> Iterator[str]:
    if node.condition is not None:
        first = "where it stands" if node.first is None else c_text(node.first)
        steps = f"from {first} while {c_text(node.condition)} by {node.step}"
        yield f"for {node.iterator} {steps}  ({_origin(node)})"
    else:
        yield f"let {node.iterator} be {'' if node.first is None else c_text(node.first)}"
    yield from indented(node_lines(node.body))


@node_lines.register
def _deal(node: Deal) -> Iterator[str]:
    """Yield the loop, and from where its counter goes on."""
    steps = f"from {c_text(node.first)} + {node.turn} while <= {c_text(node.last)} by {node.step}"
    yield f"for {node.iterator} {steps}  ({_origin(node)})"
    yield from indented(node_lines(node.body))
    yield f"let {node.turn} go on from {node.iterator} - {in_parentheses(node.end)}"


def _origin(node: Loop | Deal) -> str:
    """Return what ``node`` is, and its trip count where that is constant."""
    origin = node.origin
    said = [origin.role.value]
    if origin.band is not None:
        said.append(f"band {origin.band} loop {origin.member}")
    if origin.level is not None:
        said.append(f"level {origin.level}")
    if origin.coincident:
        said.append("coincident")
    if isinstance(node, Loop) and node.trip_count is not None:
        said.append(f"{node.trip_count} times")
    return ", ".join(said)


@node_lines.register
def _counter(node: Counter) -> Iterator[str]:
    yield f"counter {node.iterator} from {c_text(node.first)}"
    yield from indented(node_lines(node.body))


@node_lines.register
def _guard(node: Guard) -> Iterator[str]:
    yield f"if {c_text(node.condition)}"
    yield from indented(node_lines(node.then))
    if node.otherwise is not None:
        yield "else"
        yield from indented(node_lines(node.otherwise))


@node_lines.register
def _compute(node: Compute) -> Iterator[str]:
    text = statement_text(node.body)
    first, *rest = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    yield f"compute {node.statement}[{_texts(node.iterators)}]: {first}"
    yield from indented(rest)


@node_lines.register
def _register(node: Register) -> Iterator[str]:
    how = " in all lanes" if node.fill else ""
    yield f"register {node.name} ({node.type.name}): {c_text(node.value)}{how}"


@node_lines.register
def _fetch(node: Fetch) -> Iterator[str]:
    how = " in all lanes" if node.spread else "" if node.further else " and what follows it"
    yield f"register {node.name} ({node.type.name}): {_texts((node.place, *node.further))}{how}"


@node_lines.register
def _keep(node: Keep) -> Iterator[str]:
    yield f"keep {node.name} at {c_text(node.place)}"


@node_lines.register
def _launch(node: Launch) -> Iterator[str]:
    yield f"launch {node.kernel}[{_texts(node.loops)}]"


@node_lines.register
def _phase(node: Phase) -> Iterator[str]:
    yield f"phase {node.kernel}[{_texts(node.loops)}]"


@node_lines.register
def _barrier(_: Barrier) -> Iterator[str]:
    yield "barrier"


def _texts(values: tuple[Expression, ...]) -> str:
    return listed(map(c_text, values), "")


@node_lines.register
def _begin(node: Begin) -> Iterator[str]:
    complete = f", {node.complete} of them complete" if node.complete else ""
    yield f"begin {_group(node.group)}{', counted at run time' if node.dynamic else ''}{complete}"


@node_lines.register
def _wait(node: Wait) -> Iterator[str]:
    count = "as many as counted" if node.count is None else node.count
    yield f"wait {_group(node.group)}: {count}{', with a fence' if node.fence else ''}"


@node_lines.register
def _fence(node: Fence) -> Iterator[str]:
    yield "fence"


def _group(group: Group) -> str:
    reply = "" if group.reply is None else f", reply {group.reply}"
    return f"{group.name}{reply}"


@node_lines.register
def _place(node: Place) -> Iterator[str]:
    stays = "" if node.number is None else f", to stay in slot {c_text(node.number)} if below {node.room}"
    yield f"place {node.buffer} from [{_texts(node.low)}] size [{_texts(node.size)}]{stays}"


@node_lines.register
def _rotate(node: Rotate) -> Iterator[str]:
    turn = (
        "turn to the next slot"
        if node == Rotate(node.buffers)
        else f"turn slot {node.target} to {node.source}"
    )
    yield f"{turn} of {', '.join(node.buffers)}"


@node_lines.register
def _meet(_: Meet) -> Iterator[str]:
    yield "all CPEs meet"


@node_lines.register
def _share(node: Share) -> Iterator[str]:
    """Yield what is handed to whom, and by whom."""
    size = " x ".join(map(in_parentheses, node.size))
    who = "all" if node.along is Along.ALL else f"the {node.along.value}"
    when = "".join(f", if {c_text(condition)}" for condition in node.under)
    meanwhile = "" if node.slot == AT_HAND else f" into slot {node.slot}"
    how = " in messages" if node.in_messages else ""
    yield f"hand {size} of {node.buffer} to {who}{how}{meanwhile}, from where {c_text(node.owner)}{when}"


@node_lines.register
def _arrived(node: Arrived) -> Iterator[str]:
    yield f"wait for what is handed out: {len(node.under)} at most"


@node_lines.register
def _transfer(node: Transfer) -> Iterator[str]:
    """Yield what is moved, and as one of which group."""
    counted = ", counted" if node.counted else ""
    what = f"{node.group.direction.value} {_part(node.part)}{node.buffer} slot {node.slot}"
    yield f"{what}  ({_group(node.group)}{counted})"


@node_lines.register
def _copy(node: Copy) -> Iterator[str]:
    where = "to" if node.direction is Direction.PUT else "from"
    yield f"copy {_part(node.part)}{node.buffer} {where} the slot for others"


@node_lines.register
def _from_tile(node: FromTile) -> Iterator[str]:
    slot = f"in slot {c_text(node.number)} if below {node.room}"
    yield f"copy {_part(node.part)}{node.buffer} from the tile {_part(node.tile)}the array, {slot}, if there"


def _part(part: Whole | Piece | Row | Window) -> str:
    if isinstance(part, Whole):
        return "the box of "
    if isinstance(part, Window):
        return f"[{_texts(part.low)}] size [{_texts(part.size)}] of "
    if isinstance(part, Row):
        return f"[{_texts(part.outer)}] from {c_text(part.low)} size {c_text(part.size)} of "
    rows = "" if part.rows is None else f"{c_text(part.rows)} rows of "
    where = "" if all(o == Constant(0) for o in part.offset) else f" at [{_texts(part.offset)}]"
    return f"{rows}{c_text(part.length)}{where} of "


@node_lines.register
def _element_store(node: ElementStore) -> Iterator[str]:
    yield f"store {node.buffer}[{_texts(node.index)}]"
