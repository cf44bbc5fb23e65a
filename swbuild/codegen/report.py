"""The report of a region: what was decided, as plain data for JSON."""

from __future__ import annotations

from collections.abc import Sequence

from swbuild.codegen.mappingnotes import mapping_notes
from swbuild.codegen.partials import part_bytes
from swbuild.codegen.transferreport import transfer_rows
from swbuild.frontend.scop import Storage
from swbuild.kernelir.nodes import Barrier, Share
from swbuild.kernelir.passes import walk
from swbuild.kernelir.tiles import Tile
from swbuild.lowering.code import KernelCode, RegionCode, SpawnCode
from swbuild.mapping.busy import constant_busy_cpes
from swbuild.mapping.grid import grid_of
from swbuild.mapping.regiontree import HostTree
from swbuild.mapping.tiling import Mapping
from swbuild.memory.buffers import Buffer
from swbuild.memory.words import is_small
from swbuild.names import plain_name
from swbuild.planning.candidates import Estimate as Cost
from swbuild.planning.estimates import Estimate
from swbuild.planning.search import Ranking
from swbuild.planning.tilings import Placed
from swbuild.planning.view import Candidate
from swbuild.planning.where import Comparison
from swbuild.polyhedral.described import Described
from swbuild.polyhedral.scheduling import Scheduled
from swbuild.polyhedral.verdicts import carried_by_loops

__all__ = ["choice_report", "comparison_report", "region_report"]


def region_report(
    region: RegionCode, scheduled: Scheduled, tree: HostTree, placed: Sequence[Placed]
) -> dict[str, object]:
    """Return the JSON-ready description of ``region``, whose kernels were ``placed``."""
    scop = region.scop
    report: dict[str, object] = {
        "name": scop.name,
        "function": scop.function,
        "lines": [scop.span.line, scop.span.end_line],
        "machine": region.options.machine,
        "preset": region.options.preset.value,
        "threads": list(region.options.grid),
        "parameters": [p.name for p in scop.parameters],
        "private": sorted(scheduled.private.names),
        "sequential_loops": list(scheduled.peeled),
        "wavefront_tile": list(scheduled.front),
        "block": scheduled.block,
        "sets_errno": list(scop.sets_errno) if region.kernels else [],
        "kernels": [
            _kernel(region, kernel, place) for kernel, place in zip(region.kernels, placed, strict=True)
        ],
        "spawns": [_spawn(spawn) for spawn in region.spawns],
        "host_statements": [
            {"statement": name, "line": scop.statement(name).span.line} for name in tree.statements
        ],
        "loops": _loops(region, scheduled, tree),
    }
    report["one_text"] = [
        {"statement": s.name, "lines": [span.line for span in (s.span, *s.also)]}
        for s in scop.statements
        if s.also
    ]
    if scop.whole_words:
        small = [array.name for array, _, _ in region.arguments if is_small(array)]
        report["whole_words"] = {"arrays": small, "where": scop.whole_words}
    works = [plain_name(array.name) for array in scop.arrays if array.storage is Storage.WORK]
    if works:
        report["sums_in_parts"] = works
    if scop.usual:
        called = (p for p in scop.parameters if p.expression in scop.usual)
        report["sizes_in_calls"] = {p.name: scop.usual[p.expression] for p in called}
    if region.options.contract:
        report["contracted"] = bool(scop.contracted)
    notes = [{"code": note.code, "message": note.message} for note in mapping_notes(report)]
    return {**report, "notes": notes}


def comparison_report(found: Comparison) -> dict[str, object]:
    """Return the JSON-ready estimates for the host and for the core group, and what follows from them."""
    threshold = found.threshold
    return {
        "chosen": "at run time" if threshold else "host" if found.at_home else "cpes",
        "sizes": dict(found.sizes),
        "host_cycles": round(found.host),
        "cpes_cycles": round(found.cpes),
        "least_iterations": threshold.iterations if threshold else None,
        "kernels": [_sides(sides.kernel, sides.host) for sides in found.kernels],
        "left_to_the_host": [
            {
                "statements": list(sides.statements),
                "host_cycles": round(sides.host),
                "cpes_cycles": round(sides.kernel.cycles.total),
            }
            for sides in found.given_up
        ],
    }


def _sides(kernel: Estimate, host: float) -> dict[str, object]:
    """Return what a kernel takes on the core group, and what its statements take on the host."""
    return {
        "name": kernel.kernel,
        "host_cycles": round(host),
        "cpes_cycles": round(kernel.cycles.total),
        "launches": round(kernel.launches),
        "spawn_and_join": round(kernel.cycles.control),
        "computing": round(kernel.cycles.computing),
        "get": round(kernel.cycles.get),
        "put": round(kernel.cycles.put),
        "main_memory": round(kernel.cycles.direct),
        "busy_cpes": round(kernel.busy, 1),
        **_by_one_for_others(kernel),
    }


def _by_one_for_others(kernel: Estimate) -> dict[str, object]:
    """Return what it takes to hand boxes on, and what is moved with and without it, where some are."""
    if not kernel.cycles.handing:
        return {}
    return {
        "handing_on": round(kernel.cycles.handing),
        "bytes": round(kernel.bytes),
        "bytes_if_each_for_itself": round(kernel.bytes_alone),
    }


def _loops(region: RegionCode, scheduled: Scheduled, tree: HostTree) -> list[dict[str, object]]:
    """Return the loops that run in order, on the host or in a spawn, with what keeps them in order."""
    around = frozenset(name for k in tree.kernels if k.host_loops for name in k.statements)
    statements = around | tree.in_order
    carried = carried_by_loops(region.scop, scheduled.dependences, statements)
    return [
        {
            "loop": loop.name,
            "line": loop.span.line,
            "parallel": found == (),
            "because": _because(found),
        }
        for loop, found in carried.items()
    ]


def _because(found: tuple[Described, ...] | None) -> list[str]:
    if found is None:
        return ["what it has to keep in order is too complicated to tell"]
    return list(dict.fromkeys(f"{item.verbs} in a later iteration" for item in found))


def _kernel(region: RegionCode, kernel: KernelCode, place: Placed) -> dict[str, object]:
    mapping, grid = kernel.tiled.mapping, grid_of(region.scop, kernel.tiled)
    return {
        "name": kernel.name,
        "statements": list(kernel.tiled.kernel.statements),
        "single": kernel.tiled.kernel.single,
        "mapped_loops": len(mapping.threads),
        "shared_loops": [loop.name for loop in grid.mapped],
        "threads": list(mapping.grid),
        "tile": list(kernel.tiled.sizes),
        "distribution": mapping.distribution.value,
        "choice": None if place.among is None else choice_report(mapping, place.among),
        "host_loops": len(kernel.loops),
        "launched_in": _launched_in(region, kernel),
        "nest": _nest(region, kernel),
        "busy_cpes": constant_busy_cpes(grid, region.scop.context),
        **({"for_owners": True} if kernel.tiled.kernel.for_owners else {}),
        "ldm_bytes": kernel.plan.bytes + part_bytes(kernel),
        "buffers": [_buffer(region, buffer) for buffer in kernel.plan.buffers],
        **_handed_on(kernel),
        "transfers": transfer_rows(region, kernel),
        "register_tiles": list(map(_register_tile, kernel.tiles)),
        "reductions": [
            {"array": p.array, "operator": p.operator.value, "shape": list(p.bound)} for p in kernel.partials
        ],
        "main_memory": [
            {"array": d.array, "statement": d.statement, "reason": d.reason} for d in kernel.plan.direct
        ],
    }


def _handed_on(kernel: KernelCode) -> dict[str, object]:
    """Return which buffers one CPE gets for others, and for whom, where there are such."""
    shares = {node.buffer: node.along.value for node in walk(kernel.body) if isinstance(node, Share)}
    rows = [{"buffer": b.name, "along": shares[b.name]} for b in kernel.plan.buffers if b.name in shares]
    others = [{"buffer": name, "because": why} for name, why in kernel.unshared.items()]
    return {**({"handed_on": rows} if rows else {}), **({"not_handed_on": others} if others else {})}


def _register_tile(tile: Tile) -> dict[str, object]:
    """Return which loops ``tile`` takes several iterations of, and over which it holds what it changes."""
    vectors = None if tile.along is None else f"{tile.vectors} x {tile.lanes} of {plain_name(tile.along)}"
    return {
        "statements": list(tile.statements),
        "jammed": [f"{count} of {plain_name(name)}" for name, count in tile.jammed],
        "vectors": vectors,
        "held_over": list(map(plain_name, tile.sums)),
        **({"in_a_turn": f"{tile.turns} of {plain_name(tile.sums[-1])}"} if tile.turns > 1 else {}),
    }


def _spawn(spawn: SpawnCode) -> dict[str, object]:
    """Return what runs in ``spawn``, and for whose sake there are barriers."""
    barriers = sum(isinstance(node, Barrier) for node in walk(spawn.body))
    return {
        "name": spawn.name,
        "kernels": list(spawn.kernels),
        "barriers": barriers,
        "because": [
            {"array": array, "written_by": list(writers), "read_by": list(readers)}
            for array, writers, readers in (spawn.shared if barriers else ())
        ],
    }


def choice_report(mapping: Mapping, among: Ranking) -> dict[str, object]:
    """Return what threads and tiles were chosen from, and why these.

    Its cycles are those of the quick estimate that ranks all candidates: good to compare with each other.
    """
    chosen = Candidate(mapping.threads, mapping.tile, mapping.is_joint)
    taken = next((e for e in among.best if e.candidate == chosen), None)
    other = among.best[0] if among.best and taken is not among.best[0] else among.runner_up
    return {
        "considered": among.considered,
        "quick_cycles": None if taken is None else round(taken.total),
        "because": _why(taken, among),
        "runner_up": None if other is None else _candidate(other),
    }


def _why(taken: Cost | None, among: Ranking) -> str:
    """Return what distinguishes ``taken``, in words that follow "of so many candidates"."""
    if taken is None or taken is not among.best[0]:
        return "the cheapest of those whose buffers were placed"
    if any(each.total < taken.total for each in among.best):
        return "one within 2 % of the cheapest that hands tiles on"
    return among.reason.value


def _candidate(found: Cost) -> dict[str, object]:
    return {
        "threads": list(found.candidate.grid),
        "mapped_loops": len(found.candidate.threads),
        "tile": list(found.candidate.tile),
        "quick_cycles": round(found.total),
        "ldm_bytes": found.bytes,
    }


def _launched_in(region: RegionCode, kernel: KernelCode) -> int:
    """Return in how many loops of the host the spawn stands that runs ``kernel``."""
    return next(
        (len(spawn.loops) for spawn in region.spawns if kernel.name in spawn.kernels), len(kernel.loops)
    )


def _nest(region: RegionCode, kernel: KernelCode) -> int | None:
    """Return the line of the outermost loop around the kernel's first statement."""
    iterators = region.scop.statement(kernel.tiled.kernel.statements[0]).iterators
    return iterators[0].span.line if iterators else None


def _buffer(region: RegionCode, buffer: Buffer) -> dict[str, object]:
    return {
        "name": buffer.name,
        "array": buffer.array,
        "type": region.scop.array(buffer.array).element.name,
        "shape": list(buffer.box.bound or ()),
        "bytes": buffer.bytes,
        "slots": buffer.slots,
        "level": buffer.level,
        "load": buffer.load,
        "store": buffer.store.value,
        **_turned(buffer),
    }


def _turned(buffer: Buffer) -> dict[str, object]:
    """Return the dimension that comes last in turned boxes, and their bytes, where there are some."""
    turned = buffer.turned
    return {"turned": {"last": turned.dimension, "bytes": turned.bytes}} if turned else {}
