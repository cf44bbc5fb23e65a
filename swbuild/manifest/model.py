"""The manifest as frozen dataclasses: the one truth for loader, JSON Schema, reference page and hints.

An attribute that is ``None`` was not given; :mod:`swbuild.manifest.resolve` merges regions with
their defaults and fills the rest in.
"""

from __future__ import annotations

from dataclasses import replace

from swbuild.classes import dataclass
from swbuild.diagnostics import Span
from swbuild.machine import DEFAULT_MACHINE
from swbuild.manifest.kinds import (
    Choice,
    Integer,
    ListOf,
    MapOf,
    Number,
    Schema,
    Text,
    Truth,
    union_schema,
    wrong_type,
)
from swbuild.manifest.nodes import ListNode, MapNode, Node, Scalar
from swbuild.manifest.problems import Problems
from swbuild.manifest.records import Record, option, place
from swbuild.manifest.transformations import StepEntry, Transformation
from swbuild.manifest.values import (
    BYTES,
    IDENTIFIER,
    INT,
    SECONDS,
    Defines,
    Extent,
    MachineName,
    Shape,
    Sizes,
)
from swbuild.options import (
    Distribution,
    Fusion,
    Prefetch,
    Preset,
    Resident,
    Share,
    Spawn,
    Turn,
    Vectorize,
    Where,
)

__all__ = ["Check", "Defaults", "Manifest", "Region", "Source", "Tolerance"]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a result may lie from the reference where the mapping changes the order of operations.

    An element passes when |result − reference| ≤ atol + rtol·|reference|, or when it is at most
    `max-ulp` representable numbers away.  Kernels that keep the order are always compared bit by bit.
    """

    rtol: float | None = option(
        Number(), "Relative tolerance.", example="1e-12", default=None, shown="by type"
    )
    atol: float | None = option(Number(), "Absolute tolerance.", example="1e-300", default=None, shown="0")
    max_ulp: int | None = option(
        Integer(0),
        "Distance in units in the last place that always passes.",
        example="4",
        default=None,
        shown="0",
        also=("ulp", "ulps"),
    )
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Check:
    """How `swbuild check` and the pytest plugin try a kernel."""

    sizes: tuple[dict[str, int], ...] | None = option(
        Sizes(),
        "The problem sizes to run, one after the other: a list of assignments to the region's parameters, or "
        "the same in columns.  A number that stands for a column serves every row.",
        example="{ni: [20, 33], nj: [25, 64], nk: 30}",
        default=None,
        shown="chosen such that they reach all of the region",
        also=("size", "inputs", "parameters"),
    )
    seed: int | None = option(Integer(0), "Seed of the input data.", example="7", default=None, shown="1")
    tolerance: Tolerance | None = option(
        Record(Tolerance, "a tolerance"),
        "What counts as equal where the order of floating-point operations changes.",
        example="{rtol: 1e-12}",
        default=None,
        shown="bit by bit where the order is kept",
        also=("tol", "epsilon"),
    )
    timeout: float | None = option(
        SECONDS, "How long one run may take.", example="90s", default=None, shown="60s", also=("time-limit",)
    )
    expected_failure: str | None = option(
        Text("a reason"),
        "Why the kernel is known to fail.  A failure then counts as expected and a pass as a failure, in "
        "'swbuild check' (all sizes together) as in pytest (each by itself); errors of the machinery stay "
        "errors.",
        example="the sum needs more than 53 bits",
        default=None,
        shown="it should pass",
        also=("xfail", "expect-failure", "known-failure"),
    )
    span: Span = place()


_IN_CHECK = ((Check, "put it under `check`"),)


@dataclass(frozen=True, slots=True)
class Defaults:
    """Options of kernels.  Under `defaults` they hold for every region, in a region for that one.

    `params`, `typical`, `arrays` and `check` of a region are merged key by key with those of the defaults,
    `assume` is added to them, and everything else replaces them.
    """

    threads: tuple[int, int] | None = option(
        Shape(),
        "The shape of the thread grid, rows and columns, of at most as many threads as the mesh has CPEs.  "
        "Two outer parallel loops go over rows and columns, a single one over all threads; with "
        "`preset: classic` a grid of one row is for the outermost loop.",
        example="[8, 8]",
        default=None,
        shown="the whole mesh, in the shape of the least estimated cost",
        also=("cpes", "grid", "thread", "mesh", "num-threads"),
    )
    tile: tuple[int, ...] | None = option(
        ListOf(Integer(1), "integers", 1, 16),
        "Tile sizes in iterations, outermost mapped loop first; loops without a number get the chosen size.",
        example="[64, 64, 32]",
        default=None,
        shown="chosen by estimated cost, to fit the LDM",
        also=("tiles", "tile-size", "tile-sizes", "block-size"),
    )
    distribution: Distribution | None = option(
        Choice(Distribution),
        "How tiles go to threads: each loop's in turn to its part of the threads (`cyclic`, for any "
        "size), or one contiguous block each (`block`); or those of all outer parallel loops, four at most, "
        "numbered together and dealt out in turn to all threads (`joint`), so that no loop has to have many.",
        example="block",
        default=None,
        shown="cyclic",
        also=("schedule", "distribute"),
    )
    fusion: Fusion | None = option(
        Choice(Fusion),
        "How eagerly loop nests are fused: as far as the dependences allow (`max`), or not at all (`min`). "
        "Unless it is said, `max`; inside sequential loops `min`, if that is estimated to "
        "take less time.",
        example="min",
        default=None,
        shown="by estimate",
        also=("fuse",),
    )
    preset: Preset | None = option(
        Choice(Preset),
        "`default` is the best that swbuild does, `classic` the published baseline algorithm: 32 iterations "
        "per tile and dimension, a spawn per iteration of an outer sequential loop, every transfer waited "
        "for at once.",
        example="classic",
        default=None,
        shown="default",
        also=("strategy", "mode"),
    )
    ldm_budget: int | None = option(
        BYTES,
        "How much of a CPE's scratch-pad the buffers may take, at most all that the machine has.",
        example="48KiB",
        default=None,
        shown="what the machine has, less the stack, shared by the files of a program",
        also=("ldm", "ldm-size", "budget", "memory"),
    )
    params: dict[str, int] | None = option(
        MapOf(IDENTIFIER, INT, "parameters"),
        "Parameters of the region that are always this number; the kernel is specialised for them.  At run "
        "time the original loops take over where they are not.",
        example="{n: 1024}",
        default=None,
        shown="none: sizes stay symbolic",
        also=("parameters", "sizes", "constants"),
    )
    typical: dict[str, int] | None = option(
        MapOf(IDENTIFIER, Integer(1), "parameters"),
        "Sizes that the region is usually run with, or those where its time matters most: tiles, threads and "
        "the order of loops are chosen for them.  At other sizes it is just as right, but may take longer "
        "than it would without.",
        example="{n: 1000}",
        default=None,
        shown="those of calls in the same file; without such calls none: what is chosen is good on average "
        "over small, middle and large sizes",
        also=("typical-sizes", "expected", "usual", "hints", "plan-for"),
    )
    assume: tuple[str, ...] | None = option(
        ListOf(Text("a C condition"), "C conditions"),
        "Conditions over the parameters that the caller guarantees.",
        example="[n >= 64, m > n]",
        default=None,
        shown="nothing",
        also=("assumptions", "assumes", "context"),
    )
    arrays: dict[str, tuple[str, ...]] | None = option(
        MapOf(IDENTIFIER, ListOf(Extent(), "extents", 1), "arrays"),
        "The extents of arrays whose shape the source does not show, as integers or C expressions.",
        example="{A: [n, m + 1]}",
        default=None,
        shown="as declared",
        also=("array", "shapes", "extents"),
    )
    transform: tuple[Transformation, ...] | None = option(
        ListOf(StepEntry(), "steps"),
        "Steps on the region's loops, one after the other.  The order that they lead to is kept: swbuild "
        "maps its parallel loops, but does not look for a better one.",
        example="[{interchange: [i, j]}, {unroll: {k: 4}}]",
        default=None,
        shown="none: swbuild looks for an order itself",
        also=("transforms", "transformations", "steps", "script"),
    )
    reassociate: bool | None = option(
        Truth(),
        "Whether sums, products, minima and maxima may be computed in parts that are combined at the end.  "
        "Each CPE computes one part, and the parts are combined in the order of the CPEs, so that results "
        "differ from the serial ones by rounding, but not from run to run.  Integers in variables come to "
        "the same in any order, and are added up in parts without this.",
        example="true",
        default=None,
        shown="false: only loops whose order does not matter to a single bit run in parallel",
        also=("reduction", "reductions", "associative", "fast-math"),
    )
    contract: bool | None = option(
        Truth(),
        "Whether products and sums become multiply-adds, which round once, on the core group and in what the "
        "host runs of the region between kernels.  The serial reference of the check contracts the very same "
        "operations, so that results still compare bit for bit (see [loops](loops.md#multiply-adds)).",
        example="true",
        default=None,
        shown="false: each operation is rounded, as the source says",
        also=("fma", "fp-contract", "fused", "multiply-add"),
    )
    where: Where | None = option(
        Choice(Where),
        "Who runs the region: its loops on the host (`host`), kernels on the core group (`cpes`), or whoever "
        "is estimated to take less time (`auto`).  Where that depends on sizes that are known at run time "
        "only, the host tests them.  Checks, tests and measurements use kernels with `auto`, whatever the "
        "estimates say; `preset: classic` knows no estimates and always uses the core group.",
        example="cpes",
        default=None,
        shown="auto",
        also=("target", "offload", "run-on"),
    )
    spawn: Spawn | None = option(
        Choice(Spawn),
        "What one spawn of the CPEs is for: as many kernels of the region as can follow each other, with "
        "the host's loops around them and barriers of all CPEs in between (`region`), or a single run of a "
        "kernel (`kernel`).  A barrier takes a small part of what a join and the next spawn do.  "
        "`preset: classic` spawns for each kernel.",
        example="kernel",
        default=None,
        shown="region",
        also=("launch", "spawns", "barriers"),
    )
    vectorize: Vectorize | None = option(
        Choice(Vectorize),
        "Whether the loops inside tiles compute several iterations at a time in registers (`auto`): in "
        "vectors, where the machine has them and neighbours lie side by side in the LDM, and with elements "
        "that many iterations add to held in registers all the while.  Every element gets its values in the "
        "order of the source.  `preset: classic` never does so.",
        example="never",
        default=None,
        shown="auto",
        also=("vectorise", "simd", "vectors", "registers"),
    )
    prefetch: Prefetch | None = option(
        Choice(Prefetch),
        "Whether transfers go on while CPEs compute: what the next iteration of a loop over tiles reads is "
        "got into a second slot of its buffer meanwhile, where the LDM has room for one and nothing in the "
        "kernel writes the array, and what an iteration writes is stored while the next one computes, where "
        "the kernel does nothing else with the array (`auto`), or every transfer is waited for at once "
        "(`never`).  `preset: classic` "
        "knows no second slots.",
        example="never",
        default=None,
        shown="auto",
        also=("pipeline", "double-buffer", "double-buffering", "slots"),
    )
    share: Share | None = option(
        Choice(Share),
        "Who gets a tile that all CPEs of a row of the mesh read alike, or all of a column, or all CPEs: one "
        "of them, who hands it to the others (`auto`, where that is estimated to take less time; `always`, "
        "wherever it can be), or each for itself (`never`).  Tiles can be shared on machines with broadcasts "
        "(the SW26010-Pro) or register communication (the SW26010), in kernels that all CPEs run, with "
        "`cyclic` distribution, along rows and columns where the grid of threads is the mesh: both are "
        "chosen for it if they are not given.  `preset: classic` shares none.",
        example="never",
        default=None,
        shown="auto",
        also=("broadcast", "scheme", "mesh", "rma"),
    )
    resident: Resident | None = option(
        Choice(Resident),
        "Whether tiles of an array that kernels read or change again and again in a loop stay in the LDMs "
        "of the CPEs that work on them, as many as fit, and only what other CPEs need goes by main memory "
        "(`auto`, where that is estimated to take less time; `always`, wherever it can be), or each kernel "
        "loads and stores its tiles (`never`).  Tiles can stay where all of the loop runs in one spawn, "
        "accesses are known exactly, and tiles and threads are not given.  `preset: classic` keeps none.",
        example="never",
        default=None,
        shown="auto",
        also=("residency", "keep", "stay", "cache"),
    )
    turn: Turn | None = option(
        Choice(Turn),
        "Whether a tile is copied in the LDM with another dimension last, where vectors would else be put "
        "together of elements that lie apart, as of the second operand of `C[i][j] += A[i][k] * B[j][k]` "
        "(`auto`, where that is estimated to take less time; `always`, wherever it can be; `never`).  The "
        "copy takes LDM of its own.  `preset: classic` and `vectorize: never` copy none.",
        example="never",
        default=None,
        shown="auto",
        also=("transpose", "pack", "packing", "layout"),
    )
    check: Check | None = option(
        Record(Check, "a check"),
        "How the kernel is tried.",
        example="{sizes: {n: [7, 64, 65]}}",
        default=None,
        shown="as in the table of `check`",
        also=("test", "tests", "verify"),
    )
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Region(Defaults):
    """A region of a source file, between `#pragma scop` and `#pragma endscop`, and its options.

    It is found by its function, by its label, or by its place in the file; without any of them
    the region's name is the name of its function.
    """

    function: str | None = option(
        IDENTIFIER,
        "The function that holds the region.",
        example="kernel_gemm",
        default=None,
        shown="the region's name",
        also=("func", "fn", "name"),
    )
    label: str | None = option(
        IDENTIFIER,
        "The word after `#pragma scop`.",
        example="update",
        default=None,
        shown="",
        also=("pragma", "scop"),
    )
    index: int | None = option(
        Integer(0),
        "Which region it is, counted from 0: in `function` if that is given, else in the file.",
        example="1",
        default=None,
        shown="0",
        also=("number", "nth"),
    )


_IN_REGION = ((Region, "put it in a region, under `regions`"),)


@dataclass(frozen=True, slots=True)
class _Regions:
    """The regions of a file by their names; the place of a region is the place of its name."""

    def load(self, node: Node, name: str, problems: Problems) -> dict[str, Region]:
        entries = node.entries if isinstance(node, MapNode) else ()
        names = {entry.key.text: entry.key.span for entry in entries}
        if isinstance(node, ListNode):
            raise wrong_type(self, node, name, problems, "write 'name: {...}' for each, without dashes")
        kind = MapOf(IDENTIFIER, Record(Region, "a region", True, _IN_CHECK), "regions")
        regions = kind.load(node, name, problems)
        if not regions:
            hint = "remove the key to take every region"
            raise problems.reject("SW107", f"{name} is empty", node.span, hint)
        return {key: replace(region, span=names[key]) for key, region in regions.items()}

    def schema(self) -> Schema:
        item = union_schema(Record(Region, "a region").schema(), {"type": "null"})
        names = {"pattern": f"^(?:{IDENTIFIER.pattern})$"}
        return {"type": "object", "propertyNames": names, "additionalProperties": item, "minProperties": 1}

    def describe(self) -> str:
        return "a mapping from names to regions"


@dataclass(frozen=True, slots=True)
class Source:
    """A C file.  Without `regions`, every region in it is taken, named after its label or function."""

    file: str = option(
        Text("a file name"),
        "The file, relative to the manifest.",
        example="src/gemm.c",
        also=("path", "source", "src", "name"),
    )
    include_dirs: tuple[str, ...] | None = option(
        ListOf(Text("a directory"), "directories"),
        "Directories for `#include`, relative to the manifest, before those of the manifest's head.",
        example="[include]",
        default=None,
        shown="none",
        also=("includes", "include", "include-directories", "includedirs"),
    )
    defines: tuple[str, ...] | None = option(
        Defines(),
        "Macros for the preprocessor, after those of the manifest's head.",
        example="{USE_FLOAT: 1, NDEBUG: }",
        default=None,
        shown="none",
        also=("define", "macros", "definitions", "cflags"),
    )
    regions: dict[str, Region] | None = option(
        _Regions(),
        "The regions to offload, by names that are unique in the manifest.",
        example="{gemm: {function: kernel_gemm}}",
        default=None,
        shown="every region in the file",
        also=("region", "kernels", "kernel", "scops"),
    )
    span: Span = place()


@dataclass(frozen=True, slots=True)
class _SourceEntry:
    """A source: the mapping, or just the file's name."""

    def load(self, node: Node, name: str, problems: Problems) -> Source:
        if isinstance(node, Scalar):
            return Source(Text("a file name").load(node, name, problems), span=node.span)
        return Record(Source, "a source", elsewhere=_IN_REGION).load(node, name, problems)

    def schema(self) -> Schema:
        return union_schema({"type": "string"}, Record(Source, "a source").schema())

    def describe(self) -> str:
        return "a file name or a mapping (a source)"


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest lists C files, the regions in them that become kernels, and how.

    Keys that start with `x-` are yours: swbuild does not look at them.
    """

    version: int = option(Integer(1, 1), "The version of this format.", example="1")
    sources: tuple[Source, ...] = option(
        ListOf(_SourceEntry(), "sources", 1),
        "The C files.",
        example="[gemm.c]",
        also=("source", "files", "file", "kernels"),
    )
    minimum_swbuild: str | None = option(
        Text("a version", r"[0-9]+(\.[0-9]+)*", "as in '0.1', with quotes"),
        "The oldest swbuild that may read this manifest.",
        example="'0.1'",
        default=None,
        shown="any",
        also=("minimum-version", "requires"),
    )
    machine: str | None = option(
        MachineName(),
        "The chip to generate for.",
        example=DEFAULT_MACHINE,
        default=None,
        shown=DEFAULT_MACHINE,
        also=("arch", "target", "chip", "architecture"),
    )
    include_dirs: tuple[str, ...] | None = option(
        ListOf(Text("a directory"), "directories"),
        "Directories for `#include` in every source, relative to the manifest.",
        example="[include]",
        default=None,
        shown="none",
        also=("includes", "include", "include-directories"),
    )
    defines: tuple[str, ...] | None = option(
        Defines(),
        "Macros for the preprocessor in every source.",
        example="[NDEBUG, N=64]",
        default=None,
        shown="none",
        also=("define", "macros", "definitions"),
    )
    separate: bool | None = option(
        Truth(),
        "Whether each source is a program of its own.  Otherwise they are taken to be linked into one "
        "program, and share the room for buffers, unless `ldm-budget` says how much each file may take.",
        example="true",
        default=None,
        shown="false",
        also=("programs", "independent", "standalone"),
    )
    defaults: Defaults | None = option(
        Record(Defaults, "`defaults`", elsewhere=_IN_CHECK),
        "Options that hold for every region that does not say otherwise.",
        example="{threads: [8, 8]}",
        default=None,
        shown="as in the table of options",
        also=("default", "options", "common"),
    )
    span: Span = place()
