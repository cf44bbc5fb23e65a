"""What the emulator says of a block of host code: where it stands, and its mix of operations.

Mixes are written by the pass over the assembly (``host_instrument``), travel through the program as text, and
become cycles when a profile is read, so that other numbers of the machine need no new run.
"""

from __future__ import annotations

from dataclasses import dataclass

from swbuild.machine import Host
from swbuild.machine.cost.host import Mix

__all__ = ["CACHE_SHAPE", "HostBlock", "caches_text"]

#: The numbers of the machine that the run itself needs: its caches are simulated while it goes on.
CACHE_SHAPE = ("host.line_bytes", "host.l1_bytes", "host.l1_ways", "host.l2_bytes", "host.l2_ways")


@dataclass(frozen=True, slots=True)
class HostBlock:
    """A block of host code: its place in the source and its mix."""

    file: str
    line: int
    mix: Mix


def caches_text(host: Host) -> str:
    """Return the shape of the host's caches as the runtime's SWBUILD_EMU_HOST_CACHES takes it."""
    return ",".join(str(getattr(host, name.removeprefix("host."))) for name in CACHE_SHAPE)
