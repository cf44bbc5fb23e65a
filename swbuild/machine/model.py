"""The typed shape of a machine file: one frozen dataclass per section, one field per entry.

The dataclasses are the truth: a machine file must hold every field that they name (but those with a
default) and nothing else.  Fields of type ``int`` and ``float`` are numbers with unit, source and confidence
(:class:`Fact`), all others plain words.  Lengths are in bytes, times in CPE clock cycles, rates in bytes per
cycle, unless the field's name says otherwise.
"""

from __future__ import annotations

from dataclasses import fields

from swbuild.classes import dataclass

__all__ = [
    "FEATURES",
    "Compilers",
    "Compute",
    "Control",
    "Dialect",
    "Dma",
    "Emulation",
    "Fact",
    "Flag",
    "Host",
    "MachineModel",
    "Memory",
    "Pipes",
    "Register",
    "Rma",
    "Scheduler",
    "Simd",
    "Tool",
    "Tools",
    "Vectors",
]

#: What a machine may have.  ``crts``: the interface of the newer machine's headers, with its calls of DMA.
FEATURES = ("simd", "register-communication", "rma", "crts")


@dataclass(frozen=True, slots=True)
class Fact:
    """One number of a machine file with its provenance; ``name`` is dotted (``dma.alignment``)."""

    name: str
    value: int | float
    unit: str
    source: str
    confidence: str


@dataclass(frozen=True, slots=True)
class VectorFunctions:
    """Functions on vectors of one type, lane by lane.

    ``less``, ``less_or_equal`` and ``equal`` compare two vectors and give one that is zero where that does
    not hold; ``where_zero`` takes such a one and two others: the second where it is zero, else the third.
    """

    square_root: str = ""
    absolute: str = ""
    less: str = ""
    less_or_equal: str = ""
    equal: str = ""
    where_zero: str = ""


@dataclass(frozen=True, slots=True)
class IntegerFunctions:
    """Functions on vectors of ``int``, lane by lane; those that compare and choose are as of other types."""

    add: str = ""
    subtract: str = ""
    less: str = ""
    less_or_equal: str = ""
    equal: str = ""
    where_zero: str = ""


@dataclass(frozen=True, slots=True)
class Vectors:
    """How C asks for vectors: types and templates; without ``load`` the machine's vectors are not used.

    ``load`` and ``store`` take a vector and an element of its type, wherever that lies; ``spread`` takes
    the element into all lanes, a ``fill`` gives a vector with a number in all lanes, a ``gather`` (where
    there is none, there are no such vectors) one with ``values``, as many as there are lanes.
    ``lane`` is the function (where there is none, no quotients are put together in vectors) that takes the
    number of a ``lane`` from one.
    A ``multiply_add`` has three functions of two factors and a further operand, which all round once: the
    product and the operand, the product less the operand, and the operand less the product; without them
    there are no vectors where such are asked for.  Without ``int_type`` there are no vectors of integers.
    """

    includes: tuple[str, ...] = ()
    double_type: str = ""
    float_type: str = ""
    load: str = ""
    store: str = ""
    spread: str = ""
    fill_double: str = ""
    fill_float: str = ""
    gather_double: str = ""
    gather_float: str = ""
    lane: str = ""
    multiply_add_double: tuple[str, ...] = ()
    multiply_add_float: tuple[str, ...] = ()
    double_functions: VectorFunctions = VectorFunctions()
    float_functions: VectorFunctions = VectorFunctions()
    int_type: str = ""
    fill_int: str = ""
    gather_int: str = ""
    int_functions: IntegerFunctions = IntegerFunctions()


@dataclass(frozen=True, slots=True)
class Broadcasts:
    """How C has one CPE copy a piece of its LDM into that of others; without ``row`` the machine cannot.

    ``source`` and ``ldm`` are places in the LDM, the same for all CPEs; all of a ``row`` of the mesh, a
    ``column`` or ``everybody`` have the piece when ``arrived`` has counted it.  Those that only ``begin`` it,
    which a machine need not have, count in ``sent`` what has left the source.
    """

    row: str = ""
    column: str = ""
    everybody: str = ""
    arrived: str = ""
    begin_row: str = ""
    begin_column: str = ""
    begin_everybody: str = ""


@dataclass(frozen=True, slots=True)
class Messages:
    """How C passes what a vector holds to all others of a row of the mesh; without ``send_row`` it cannot.

    ``vector`` is a variable of one of the machine's types, and is loaded from and stored to the ``place`` in
    the LDM that a pointer leads to, with the alignment of vectors.  Who sends waits until all others of its
    row (column) have room for the message, who receives for the next one, in the order in which they were
    sent.
    """

    includes: tuple[str, ...] = ()
    load: str = ""
    store: str = ""
    send_row: str = ""
    send_column: str = ""
    receive_row: str = ""
    receive_column: str = ""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How C asks for a spawn, a transfer and a wait: templates, braces hold the names of the pieces.

    ``ldm`` and ``memory`` are addresses, ``bytes`` the length of the transfer, ``block`` the length
    of one contiguous piece in main memory and ``gap`` the distance from its end to the next one's
    start, all in bytes.  ``fence`` makes earlier puts visible to later gets of the same CPE,
    ``store_fence`` earlier stores; at ``barrier`` all CPEs of the core group meet.  ``start`` comes
    once, ahead of the first spawn; ``thread`` is the number of the CPE that runs, from 0; ``declare``
    tells the host of a kernel, ``storage`` puts a variable into the LDM.  The functions ``multiply_add``,
    of doubles and of floats, add their last operand to the product of the others, and round once.
    """

    host_includes: tuple[str, ...]
    includes: tuple[str, ...]
    declare: str
    start: str
    spawn: str
    join: str
    thread: str
    storage: str
    reply_type: str
    get: str
    get_strided: str
    put: str
    put_strided: str
    wait: str
    fence: str
    store_fence: str
    barrier: str
    multiply_add: tuple[str, ...] = ("__builtin_fma", "__builtin_fmaf")
    vectors: Vectors = Vectors()
    broadcasts: Broadcasts = Broadcasts()
    messages: Messages = Messages()


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag and what it is for.

    ``verified`` says that public material shows the flag in use for this role on this machine;
    a flag without it is our reading of a manual and is listed by ``swbuild doctor``.
    """

    text: str
    purpose: str
    verified: bool = True


@dataclass(frozen=True, slots=True)
class Tool:
    """A driver and the flags that one role always gets."""

    driver: str
    flags: tuple[Flag, ...] = ()

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of a call with these arguments after the role's flags."""
        return [*self.driver.split(), *(flag.text for flag in self.flags), *arguments]


@dataclass(frozen=True, slots=True)
class Compilers:
    """The drivers that build systems call for a language, without and with MPI."""

    c: str
    cxx: str
    mpi_c: str
    mpi_cxx: str


@dataclass(frozen=True, slots=True)
class Tools:
    """The vendor's tools by role.  ``libraries`` come last on the link line.

    ``links_hybrid``: a link has no role unless it is told one.  ``launch`` are options that ``bsub`` takes
    for this machine only; braces hold placeholders of launchers.
    """

    host: Tool
    slave: Tool
    link: Tool
    libraries: tuple[str, ...]
    compilers: Compilers
    links_hybrid: bool
    launch: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Emulation:
    """How the emulator stands in for the machine's tools.

    ``compilers`` are the names that stand-ins bear, ``binutils`` begins the names of the binary utilities.
    ``assembly`` names the instruction set of the CPEs in ``swbuild.sw64``.  ``flags`` and ``c_flags`` (for C
    alone) are what the driver does unasked, ``defines`` the macros that it sets; ``{role}`` is the side.
    ``simd_aligns``: -msimd aligns arrays for vectors.  ``slave_cxx``: CPE code may be C++.  ``include`` is a
    directory of further headers, relative to the machine file.
    """

    compilers: tuple[str, ...]
    binutils: str
    assembly: str
    flags: tuple[str, ...]
    c_flags: tuple[str, ...]
    defines: tuple[str, ...]
    simd_aligns: bool
    slave_cxx: bool
    include: str = ""


@dataclass(frozen=True, slots=True)
class Simd:
    """Vector unit: register width, lanes per register and the alignment of loads and stores."""

    register_bytes: int
    double_lanes: int
    float_lanes: int
    alignment: int
    float_alignment: int
    int_lanes: int = 0


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
    unroll: int
    unroll_size: int


@dataclass(frozen=True, slots=True)
class Library:
    """Cycles of a call of the mathematical library, for doubles and singles, on the core that calls."""

    exp: float
    exp2: float
    expm1: float
    log: float
    log2: float
    log10: float
    log1p: float
    pow: float
    sin: float
    cos: float
    tan: float
    asin: float
    acos: float
    atan: float
    atan2: float
    sinh: float
    cosh: float
    tanh: float
    cbrt: float
    fmod: float
    hypot: float
    erf: float
    erfc: float
    tgamma: float
    lgamma: float
    floor: float
    ceil: float
    round: float
    trunc: float
    rint: float
    nearbyint: float
    fma: float

    def cycles(self, name: str) -> float:
        """Return the cycles of a call of ``name``, 0 for what is none of these functions."""
        return getattr(self, LIBRARY[name]) if name in LIBRARY else 0.0


#: The fields of :class:`Library` by the functions that they stand for.
LIBRARY = {item.name + suffix: item.name for item in fields(Library) for suffix in ("", "f")}


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
    """One chip: what programs see of a core group, its tools, and what the timing model needs to know.

    ``aliases`` are words that people may write for ``name``; ``names`` are those that the machine's headers
    take in programs' C, beside what ``names.yaml`` lists.
    """

    name: str
    title: str
    aliases: tuple[str, ...]
    features: tuple[str, ...]
    dialect: Dialect
    tools: Tools
    emulator: Emulation
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
    library: Library
    host: Host
    names: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash(self.name)  # machines are keys of caches: other fields tell none apart that are loaded

    @property
    def cpes(self) -> int:
        """Return the number of CPEs of one core group."""
        return self.mesh_rows * self.mesh_columns

    @property
    def mesh(self) -> tuple[int, int]:
        """Return the rows and columns of a core group's mesh of CPEs."""
        return self.mesh_rows, self.mesh_columns

    @property
    def shares_tiles(self) -> bool:
        """Return whether one CPE can get a tile for others: whose turn it is, is said for square meshes."""
        passes_on = bool(self.dialect.broadcasts.row or self.dialect.messages.send_row)
        return passes_on and self.mesh_rows == self.mesh_columns

    def hands_on(self, element: str, size: int) -> bool:
        """Return whether CPEs can pass on boxes of elements of this type of C and ``size`` in bytes."""
        if self.dialect.broadcasts.row:
            return self.shares_tiles and size % self.rma.alignment == 0
        vectors = self.dialect.vectors
        types = {"double": vectors.double_type, "float": vectors.float_type, "int": vectors.int_type}
        return self.shares_tiles and bool(types.get(element))

    @property
    def thread_shapes(self) -> tuple[tuple[int, int], ...]:
        """Return the shapes of thread grids of all CPEs, [rows, columns], from one row to one column."""
        return tuple((r, self.cpes // r) for r in range(1, self.cpes + 1) if self.cpes % r == 0)
