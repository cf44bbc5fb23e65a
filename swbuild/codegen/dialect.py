"""How each machine's C spells a transfer, a wait and a spawn."""

from __future__ import annotations

from dataclasses import dataclass

from swbuild.options import Machine

__all__ = ["Dialect", "dialect_of"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """Templates of the vendor's calls; braces hold the names of the pieces.

    ``ldm`` and ``memory`` are addresses, ``bytes`` the length of the transfer, ``block`` the length
    of one contiguous piece in main memory and ``gap`` the distance from its end to the next one's
    start, all in bytes.  ``fence`` makes earlier puts visible to later gets of the same CPE,
    ``store_fence`` earlier stores.
    """

    machine: Machine
    includes: tuple[str, ...]
    get: str
    get_strided: str
    put: str
    put_strided: str
    wait: str
    fence: str
    store_fence: str
    reply_type: str


_SW26010 = Dialect(
    machine=Machine.SW26010,
    includes=("slave.h",),
    get="athread_get(PE_MODE, {memory}, {ldm}, {bytes}, (void *)&{reply}, 0, 0, 0);",
    get_strided="athread_get(PE_MODE, {memory}, {ldm}, {bytes}, (void *)&{reply}, 0, {gap}, {block});",
    put="athread_put(PE_MODE, {ldm}, {memory}, {bytes}, (void *)&{reply}, 0, 0);",
    put_strided="athread_put(PE_MODE, {ldm}, {memory}, {bytes}, (void *)&{reply}, {gap}, {block});",
    wait="while ({reply} != {count})\n  ;",
    fence="athread_dma_barrier();",
    store_fence='__asm__ __volatile__("memb" ::: "memory");',
    reply_type="volatile int",
)

_SW26010_PRO = Dialect(
    machine=Machine.SW26010_PRO,
    includes=("slave.h",),
    get="athread_dma_iget({ldm}, {memory}, {bytes}, &{reply});",
    get_strided="athread_dma_iget_stride({ldm}, {memory}, {bytes}, {block}, {gap}, &{reply});",
    put="athread_dma_iput({memory}, {ldm}, {bytes}, &{reply});",
    put_strided="athread_dma_iput_stride({memory}, {ldm}, {bytes}, {block}, {gap}, &{reply});",
    wait="athread_dma_wait_value(&{reply}, {count});",
    fence="athread_dma_barrier();",
    store_fence='__asm__ __volatile__("memb" ::: "memory");',
    reply_type="volatile int",
)


def dialect_of(machine: Machine) -> Dialect:
    """Return the dialect of ``machine``."""
    return _SW26010 if machine is Machine.SW26010 else _SW26010_PRO
