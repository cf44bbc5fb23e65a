"""The report of a region: what was decided, as plain data for JSON."""

from __future__ import annotations

from swbuild.codegen.plan import KernelCode, RegionCode
from swbuild.codegen.transferreport import transfer_rows
from swbuild.mapping.regiontree import HostTree
from swbuild.memory.plan import Buffer
from swbuild.polyhedral.reasons import LoopReason, loop_reasons
from swbuild.polyhedral.scheduling import Scheduled

__all__ = ["region_report"]


def region_report(region: RegionCode, scheduled: Scheduled, tree: HostTree) -> dict[str, object]:
    """Return the JSON-ready description of ``region``."""
    scop = region.scop
    return {
        "name": scop.name,
        "function": scop.function,
        "lines": [scop.span.line, scop.span.end_line],
        "machine": region.options.machine.value,
        "preset": region.options.preset.value,
        "threads": list(region.options.threads),
        "parameters": [p.name for p in scop.parameters],
        "private": sorted(scheduled.private.names),
        "sequential_loops": list(scheduled.peeled),
        "kernels": [_kernel(region, kernel) for kernel in region.kernels],
        "host_statements": [
            {"statement": name, "line": scop.statement(name).span.line} for name in tree.statements
        ],
        "loops": [_loop(reason) for reason in _sequential(region, scheduled, tree)],
    }


def _sequential(region: RegionCode, scheduled: Scheduled, tree: HostTree) -> tuple[LoopReason, ...]:
    """Return the loops that the host runs, with the reasons."""
    around = {name for kernel in tree.kernels if kernel.host_loops for name in kernel.statements}
    statements = around | set(tree.statements)
    return loop_reasons(region.scop, scheduled.dependences, statements) if statements else ()


def _loop(reason: LoopReason) -> dict[str, object]:
    return {
        "loop": reason.name,
        "line": reason.line,
        "parallel": not reason.carried,
        "because": [str(dependence) for dependence in reason.carried],
    }


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
        "ldm_bytes": kernel.plan.bytes,
        "buffers": [_buffer(region, buffer) for buffer in kernel.plan.buffers],
        "transfers": transfer_rows(region, kernel),
        "main_memory": [
            {"array": d.array, "statement": d.statement, "reason": d.reason} for d in kernel.plan.direct
        ],
    }


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
