"""The kernel IR: a small tree of loops, transfers and computations, between isl's AST and C.

Expressions are trees over the IR's iterators and the names of parameters; every integer in them
is a ``long`` in the emitted code.  Nodes are immutable; a pass returns a new tree.
"""

from __future__ import annotations

from enum import Enum

from swbuild.classes import dataclass
from swbuild.expressions.linear import distance
from swbuild.expressions.nodes import Binary, BinaryOperator, Expression, Name
from swbuild.expressions.types import ElementType
from swbuild.kernelir.origin import Origin
from swbuild.names import own

__all__ = [
    "AT_HAND",
    "EARLY",
    "NEXT",
    "Along",
    "Arrived",
    "Barrier",
    "Begin",
    "Block",
    "Compute",
    "Copy",
    "Counter",
    "Deal",
    "Direction",
    "ElementStore",
    "Fence",
    "Fetch",
    "FromTile",
    "Group",
    "Guard",
    "Keep",
    "Launch",
    "Loop",
    "Meet",
    "Node",
    "Phase",
    "Piece",
    "Place",
    "Purpose",
    "Register",
    "Rotate",
    "Row",
    "SPARE",
    "Share",
    "Transfer",
    "Wait",
    "Whole",
    "Window",
    "in_turn",
    "stays_of",
    "there_of",
]


@dataclass(frozen=True, slots=True)
class Block:
    """Nodes that run one after the other."""

    children: tuple[Node, ...]

    @property
    def registers(self) -> tuple[str, ...]:
        """The variables that it declares for its own nodes; those of fills have names of their own."""
        found = (c for c in self.children if isinstance(c, (Register, Fetch)))
        return tuple(c.name for c in found if isinstance(c, Fetch) or not c.fill)


@dataclass(frozen=True, slots=True)
class Loop:
    """``for (long iterator = first; condition; iterator += step) body``.

    Without ``condition`` it is one iteration; without ``first`` the iterator is that of the
    :class:`Counter` around it and goes on from where it stands.  ``origin`` says what it is.
    """

    iterator: str
    first: Expression | None
    condition: Expression | None
    step: int
    body: Node
    origin: Origin

    @property
    def trip_count(self) -> int | None:
        """The number of iterations where it is constant."""
        if self.condition is None:
            return 1
        comparison = self.condition
        if self.first is None or not isinstance(comparison, Binary) or comparison.left != Name(self.iterator):
            return None
        further = {BinaryOperator.LT: 0, BinaryOperator.LE: 1}.get(comparison.operator)
        length = distance(self.first, comparison.right)
        return None if further is None or length is None else max(0, -(-(length + further) // self.step))


@dataclass(frozen=True, slots=True)
class Counter:
    """``long iterator = first`` for the loops of ``body`` to count with."""

    iterator: str
    first: Expression
    body: Node


@dataclass(frozen=True, slots=True)
class Deal:
    """``body`` for every one of ``step`` numbers from ``first`` to ``last``: those that are this thread's.

    ``turn``, the variable of a :class:`Counter` around it, says how many numbers come before its first one,
    and counts on from ``end``, the number behind the last one, for the next time.  Nothing is beside it.
    """

    iterator: str
    turn: str
    first: Expression
    last: Expression
    end: Expression
    step: int
    body: Node
    origin: Origin


@dataclass(frozen=True, slots=True)
class Guard:
    """``if (condition) then else otherwise``."""

    condition: Expression
    then: Node
    otherwise: Node | None = None


@dataclass(frozen=True, slots=True)
class Compute:
    """One statement instance: a statement of C with all references resolved.

    ``iterators`` are the values of the statement's own loops (they give IR loops their names).
    """

    statement: str
    body: Expression
    iterators: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Register:
    """``type name = value`` for what follows in the block; a ``fill`` has ``value`` in all lanes."""

    name: str
    type: ElementType
    value: Expression
    fill: bool = False


@dataclass(frozen=True, slots=True)
class Fetch:
    """A vector ``type name``: the elements from ``place`` on or, if ``spread``, that one in all lanes.

    ``further``: the elements of the lanes behind the first, where they do not lie side by side.
    """

    name: str
    type: ElementType
    place: Expression
    spread: bool = False
    further: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Keep:
    """Store what ``name`` holds at ``place``, a ``vector`` from there on, as ``statement`` does.

    Where a box is turned, no statement does: it is the empty string.
    """

    statement: str
    name: str
    place: Expression
    vector: bool


@dataclass(frozen=True, slots=True)
class Launch:
    """Spawn a kernel and wait for it; ``loops`` are the values of the host loops around it."""

    kernel: str
    loops: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Phase:
    """One CPE's share of a kernel that runs inside a larger spawn; ``loops`` as for :class:`Launch`."""

    kernel: str
    loops: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Barrier:
    """All CPEs of the core group meet; what each of them put and stored before is then visible to all."""


class Direction(Enum):
    """Where a transfer goes: from main memory, or to it."""

    GET = "get"
    PUT = "put"


class Purpose(Enum):
    """What transfers are for."""

    VISIT = "boxes of a visit"
    FIRST = "boxes that are not there yet"
    EXCHANGE = "what CPEs exchange of boxes that stay"
    REST = "boxes that do not stay"


@dataclass(frozen=True, slots=True)
class Group:
    """Transfers that one wait is for: those of one ``level`` and ``direction``.

    ``reply`` is the number of the word in the LDM that counts them, once it is allotted.  ``ahead``: they are
    waited for one iteration after they are issued.  ``purpose`` tells those of boxes that stay in the LDM.
    """

    level: int
    direction: Direction
    reply: int | None = None
    ahead: bool = False
    purpose: Purpose = Purpose.VISIT

    @property
    def name(self) -> str:
        """What to call its transfers."""
        if self.purpose is not Purpose.VISIT:
            return f"{self.direction.value}s of level {self.level} for {self.purpose.value}"
        early = {Direction.GET: "early ", Direction.PUT: "late "}[self.direction] if self.ahead else ""
        return f"{early}{self.direction.value}s of level {self.level}"


@dataclass(frozen=True, slots=True)
class Begin:
    """Open a group of transfers: none of them is counted yet, but ``complete`` as if they had been issued."""

    group: Group
    #: the group's size is not constant: the emitted code counts
    dynamic: bool = True
    complete: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """Fix the box of a buffer for this visit of its level: first index and size per dimension.

    A box that stays in the LDM is in the slot of its ``number``, and all others from ``room`` on in the one
    behind; :func:`there_of` then says whether it was there, and :func:`stays_of` whether it will be.
    """

    buffer: str
    low: tuple[Expression, ...]
    size: tuple[Expression, ...]
    number: Expression | None = None
    room: int = 0


def there_of(buffer: str) -> Name:
    """Return the variable that says whether the box of a buffer was in the LDM when it was placed."""
    return Name(own(f"{buffer}_there"))


def stays_of(buffer: str) -> Name:
    """Return the variable that says whether the box of a buffer stays in the LDM."""
    return Name(own(f"{buffer}_stays"))


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole box of a buffer, in as many operations as it takes."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What one operation moves of a box: ``rows`` times ``length`` elements, or once without ``rows``.

    ``offset`` says per dimension how far from the first index of the box it begins.  A row goes through the
    last ``whole`` dimensions, all of whose indices the box has, and the one before them.
    """

    offset: tuple[Expression, ...]
    length: Expression
    rows: Expression | None = None
    whole: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """Part of a row of the exact footprint: all indices but the last are fixed, the last is a range."""

    outer: tuple[Expression, ...]
    low: Expression
    size: Expression


@dataclass(frozen=True, slots=True)
class Window:
    """A rectangle of a box that stays, from ``low`` on, by way of the slot for boxes that do not.

    It lies there row by row; more than one index has only the last dimension, or one of the last two.
    """

    low: tuple[Expression, ...]
    size: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Transfer:
    """Issue the transfer of ``part`` of what a slot of a buffer holds, as one of ``group``.

    The ``slot`` :data:`AT_HAND` is the one that all else is about.  ``counted``: the emitted code counts it.
    """

    buffer: str
    slot: int
    part: Whole | Piece | Row | Window
    group: Group
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Copy:
    """Copy ``part`` of a box that stays to the slot for others, where it is put from, or from there."""

    buffer: str
    part: Window
    direction: Direction


@dataclass(frozen=True, slots=True)
class FromTile:
    """Copy ``part`` of an array, the box of a buffer, from the ``tile`` around it, if that is in the LDM.

    A tile is in the slot of its ``number`` if that is below ``room``; :func:`there_of` says whether it was
    there.
    """

    buffer: str
    part: Window
    tile: Window
    number: Expression
    room: int


#: The slots of a buffer: what a CPE computes on, what comes next or is handed on, what is handed to it or is
#: stored while it computes, and what comes meanwhile for the iteration after the next.
AT_HAND, NEXT, SPARE, EARLY = range(4)


@dataclass(frozen=True, slots=True)
class Rotate:
    """Exchange two slots of each of ``buffers``: what is in ``source`` is in ``target`` from now on."""

    buffers: tuple[str, ...]
    target: int = AT_HAND
    source: int = NEXT


class Along(Enum):
    """Who a box is shared by: the CPEs of a row of the mesh, of a column, or all."""

    ROW = "row"
    COLUMN = "column"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Meet:
    """All CPEs of the core group meet: whoever is here can be handed boxes by :class:`Share`."""


@dataclass(frozen=True, slots=True)
class Share:
    """Have the CPE that is the ``owner`` hand what is in slot 1 of a buffer to a ``slot`` of all ``along``.

    The box has ``size`` indices per dimension.  Nothing is handed out unless all of ``under`` hold; along the
    way all CPEs agree on that, and on the size.  ``in_messages``: all of them take part, and have the box
    when they go on; nobody has to meet before, or waits afterwards.  What is for all then takes two steps:
    those for whom ``passes`` holds have it from the owner, and hand it on.
    """

    buffer: str
    along: Along
    owner: Expression
    size: tuple[Expression, ...]
    under: tuple[Expression, ...] = ()
    slot: int = AT_HAND
    in_messages: bool = False
    passes: Expression | None = None


@dataclass(frozen=True, slots=True)
class Arrived:
    """Wait for what was handed out since :class:`Meet`: a box for each of ``under`` whose parts all hold.

    ``sent`` says the same of boxes that this CPE hands out itself while it computes.
    """

    under: tuple[tuple[Expression, ...], ...]
    sent: tuple[tuple[Expression, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class ElementStore:
    """Store one element of a buffer straight into main memory."""

    buffer: str
    index: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait for the transfers of ``group``.

    ``count`` is their number when it is a constant, else None (the emitted code counts).
    ``fence``: what was put must be visible to what this CPE gets later.
    """

    group: Group
    fence: bool = False
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Fence:
    """Make what was put visible to what this CPE gets later."""


Node = (
    Arrived
    | Barrier
    | Begin
    | Block
    | Compute
    | Copy
    | FromTile
    | Counter
    | Deal
    | ElementStore
    | Fence
    | Fetch
    | Guard
    | Keep
    | Launch
    | Loop
    | Meet
    | Phase
    | Place
    | Register
    | Rotate
    | Share
    | Transfer
    | Wait
)


def in_turn(node: Node) -> tuple[Node, ...]:
    """Return the nodes that a block runs one after the other, or ``node`` alone if it is none."""
    return node.children if isinstance(node, Block) else (node,)
