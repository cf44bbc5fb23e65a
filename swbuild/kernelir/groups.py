"""What the passes that let transfers go on during an iteration have in common: groups, and second slots."""

from __future__ import annotations

from collections.abc import Callable

from swbuild.classes import dataclass
from swbuild.kernelir.nodes import Begin, Node, Transfer, Wait
from swbuild.kernelir.passes import walk

__all__ = ["Permission", "Permissions", "Slotted", "Transfers"]

#: Whether a buffer may have another slot, for transfers that go on in another iteration than their own.
Permission = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Slotted:
    """A tree, and the buffers of which it uses two slots."""

    tree: Node
    buffers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Transfers:
    """The transfers of a group that stand together in a block, from its begin to its wait."""

    begin: Begin
    nodes: tuple[Node, ...]
    wait: Wait

    @property
    def buffers(self) -> tuple[str, ...]:
        """The buffers that are filled, or stored."""
        moved = (n for node in self.nodes for n in walk(node) if isinstance(n, Transfer))
        return tuple(dict.fromkeys(transfer.buffer for transfer in moved))


class Permissions:
    """A permission that is asked once for each buffer, and what it has said."""

    def __init__(self, may: Permission) -> None:
        self._may = may
        self._asked: dict[str, bool] = {}

    def __call__(self, buffer: str) -> bool:
        """Return whether ``buffer`` may have another slot."""
        if buffer not in self._asked:
            self._asked[buffer] = self._may(buffer)
        return self._asked[buffer]

    @property
    def given(self) -> frozenset[str]:
        """The buffers that may have one."""
        return frozenset(name for name, yes in self._asked.items() if yes)
