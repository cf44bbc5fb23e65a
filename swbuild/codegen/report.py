"""The report of a region: what was decided, as plain data for JSON."""

from __future__ import annotations

from swbuild.codegen.mappingnotes import mapping_notes
from swbuild.codegen.partials import part_bytes
from swbuild.codegen.transferreport import transfer_rows
from swbuild.lowering.code import KernelCode, RegionCode
from swbuild.mapping.busy import constant_busy_cpes
from swbuild.mapping.grid import grid_of
from swbuild.mapping.regiontree import HostTree
from swbuild.memory.plan import Buffer
from swbuild.planning.where import Comparison
from swbuild.polyhedral.described import Described
from swbuild.polyhedral.scheduling import Scheduled
from swbuild.polyhedral.verdicts import carried_by_loops

__all__ = ["comparison_report", "region_report"]


def region_report(region: RegionCode, scheduled: Scheduled, tree: HostTree) -> dict[str, object]:
    """Return the JSON-ready description of ``region``."""
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
        "sets_errno": list(scop.sets_errno) if region.kernels else [],
        "kernels": [_kernel(region, kernel) for kernel in region.kernels],
        "host_statements": [
            {"statement": name, "line": scop.statement(name).span.line} for name in tree.statements
        ],
        "loops": _loops(region, scheduled, tree),
    }
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
        "kernels": [
            {
                "name": kernel.kernel,
                "launches": round(kernel.launches),
                "cycles": round(kernel.cycles.total),
                "spawn_and_join": round(kernel.cycles.control),
                "computing": round(kernel.cycles.computing),
                "get": round(kernel.cycles.get),
                "put": round(kernel.cycles.put),
                "main_memory": round(kernel.cycles.direct),
                "busy_cpes": round(kernel.busy, 1),
            }
            for kernel in found.kernels
        ],
    }


def _loops(region: RegionCode, scheduled: Scheduled, tree: HostTree) -> list[dict[str, object]]:
    """Return the loops that the host runs, with what keeps them in order."""
    around = {name for kernel in tree.kernels if kernel.host_loops for name in kernel.statements}
    statements = frozenset(around | set(tree.statements))
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


def _kernel(region: RegionCode, kernel: KernelCode) -> dict[str, object]:
    mapping = kernel.tiled.mapping
    return {
        "name": kernel.name,
        "statements": list(kernel.tiled.kernel.statements),
        "mapped_loops": len(mapping.threads),
        "threads": list(mapping.threads),
        "tile": list(kernel.tiled.sizes),
        "distribution": mapping.distribution.value,
        "host_loops": len(kernel.loops),
        "nest": _nest(region, kernel),
        "busy_cpes": constant_busy_cpes(grid_of(region.scop, kernel.tiled), region.scop.context),
        "ldm_bytes": kernel.plan.bytes + part_bytes(kernel),
        "buffers": [_buffer(region, buffer) for buffer in kernel.plan.buffers],
        "transfers": transfer_rows(region, kernel),
        "reductions": [
            {"array": p.array, "operator": p.operator.value, "shape": list(p.bound)} for p in kernel.partials
        ],
        "main_memory": [
            {"array": d.array, "statement": d.statement, "reason": d.reason} for d in kernel.plan.direct
        ],
    }


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
        "level": buffer.level,
        "load": buffer.load,
        "store": buffer.store.value,
    }
