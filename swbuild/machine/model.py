"""The typed shape of a machine file: one frozen dataclass per section, one field per number.

The dataclasses are the truth: a machine file must hold every field that they name and nothing
else.  Lengths are in bytes, times in CPE clock cycles, rates in bytes per cycle, unless the
field's name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "Compute",
    "Control",
    "Dma",
    "Fact",
    "Host",
    "MachineModel",
    "Memory",
    "Pipes",
    "Register",
    "Rma",
    "Scheduler",
    "Simd",
]


@dataclass(frozen=True, slots=True)
class Fact:
    """One number of a machine file with its provenance; ``name`` is dotted (``dma.alignment``)."""

    name: str
    value: int | float
    unit: str
    source: str
    confidence: str


@dataclass(frozen=True, slots=True)
class Simd:
    """Vector unit: register width, lanes per register and the alignment of loads and stores."""

    register_bytes: int
    double_lanes: int
    float_lanes: int
    alignment: int
    float_alignment: int


@dataclass(frozen=True, slots=True)
class Dma:
    """Limits of one DMA descriptor: addresses and lengths are multiples of ``alignment``."""

    alignment: int
    max_length: int
    max_block: int
    request_bytes: int


@dataclass(frozen=True, slots=True)
class Memory:
    """Times of DMA: what a CPE sees on an idle machine, and what the shared controller charges.

    ``*_latency`` and ``*_stream`` bound one CPE's transfer from below, ``*_request`` and ``*_open``
    occupy the controller that all CPEs share, ``*_exposed`` lies behind it.  A *merge* is a
    read-modify-write of a request that a put covers only in part.
    """

    issue_cycles: float
    get_latency: float
    get_ramp: float
    get_ramp_requests: int
    get_stream: float
    get_request: float
    get_open: float
    get_exposed: float
    put_latency: float
    put_stream: float
    put_request: float
    put_interleave: float
    put_open: float
    put_exposed: float
    put_merge: float
    merge_exposed: float
    merge_latency: float
    cluster_share: float


@dataclass(frozen=True, slots=True)
class Rma:
    """Times of transfers between the LDMs of two CPEs; ``bytes_per_cycle`` 0: the machine has none."""

    issue_cycles: float
    local_latency: float
    remote_latency: float
    column_hop: float
    row_hop: float
    bytes_per_cycle: float
    minimum_cycles: float
    alignment: int


@dataclass(frozen=True, slots=True)
class Register:
    """Register communication; ``message_bytes`` 0: the machine has none."""

    message_bytes: int
    fifo_depth: int
    latency: float
    send_cycles: float
    receive_cycles: float


@dataclass(frozen=True, slots=True)
class Control:
    """Times of spawn, join, barriers and single accesses to main memory."""

    spawn_cycles: float
    join_cycles: float
    sync_cycles: float
    atomic_cycles: float
    direct_cycles: float


@dataclass(frozen=True, slots=True)
class Compute:
    """What the model of compiled C takes beside the pipes: work done in software, and unrolling."""

    integer_divide_cycles: float
    library_cycles: float
    unroll: int
    unroll_size: int


@dataclass(frozen=True, slots=True)
class Pipes:
    """The two pipes of a CPE: ``*_pipe`` is 0, 1 or 2 for either, ``*_latency`` cycles from issue to a use.

    ``*_to_store`` is the latency towards the data of a store; a division or square root occupies its unit for
    all of its cycles; ``branch_cycles`` are those that a taken jump loses.
    """

    integer_pipe: int
    multiply_pipe: int
    float_pipe: int
    vector_pipe: int
    shuffle_pipe: int
    memory_pipe: int
    branch_pipe: int
    integer_latency: int
    multiply_latency: int
    float_latency: int
    compare_latency: int
    convert_latency: int
    divide_cycles: int
    vector_latency: int
    shuffle_latency: int
    transfer_latency: int
    load_latency: int
    float_load_latency: int
    load_to_store: int
    float_load_to_store: int
    float_to_store: int
    broadcast_latency: int
    receive_latency: int
    control_latency: int
    branch_cycles: int


@dataclass(frozen=True, slots=True)
class Scheduler:
    """What the vendor's compiler takes for granted when it orders a block, where that is not ``Pipes``.

    In a cycle it issues ``integer_slots`` operations of integers and memory, ``memory_slots`` of them to
    memory, and ``float_slots`` floating ones.
    """

    integer_slots: int
    memory_slots: int
    float_slots: int
    float_latency: int
    compare_latency: int
    convert_latency: int
    divide_latency: int
    transfer_latency: int


@dataclass(frozen=True, slots=True)
class Host:
    """The management core: what it does in a cycle of its own, latencies, and its two data caches.

    It works out of order: a block takes as long as its scarcest resource, and a loop at least as long as its
    longest chain from one turn to the next.  What its caches lack stands it still.
    """

    issue_width: int
    memory_slots: float
    float_slots: float
    float_latency: int
    load_latency: int
    divide_cycles: int
    multiply_latency: int
    integer_divide_cycles: int
    library_cycles: int
    line_bytes: int
    l1_bytes: int
    l1_ways: int
    l2_bytes: int
    l2_ways: int
    l2_cycles: float
    fill_cycles: float
    write_cycles: float


@dataclass(frozen=True, slots=True)
class MachineModel:
    """One core group as programs see it, plus what the timing model needs to know."""

    name: str
    title: str
    core_groups: int
    mesh_rows: int
    mesh_columns: int
    clock_hz: int
    host_clock_hz: int
    ldm_bytes: int
    ldm_budget: int
    icache_bytes: int
    dcache_line_bytes: int
    memory_bytes: int
    simd: Simd
    dma: Dma
    memory: Memory
    rma: Rma
    register: Register
    control: Control
    pipes: Pipes
    scheduler: Scheduler
    compute: Compute
    host: Host

    @property
    def cpes(self) -> int:
        """Return the number of CPEs of one core group."""
        return self.mesh_rows * self.mesh_columns
