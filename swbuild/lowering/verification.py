"""The trees of a region, from the first to the last pass: is each of them sound?"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from swbuild.diagnostics import Diagnostic
from swbuild.frontend.scop import Scop
from swbuild.kernelir.program import Program
from swbuild.kernelir.scope import Held, Scope
from swbuild.kernelir.verify import faults
from swbuild.lowering.code import KernelCode
from swbuild.lowering.region import Assembled, limits_of
from swbuild.lowering.spawns import separation
from swbuild.machine import load
from swbuild.mapping.tiling import given_names, telling_names

__all__ = ["scope_of", "verify"]

_HINT = "this is a defect of swbuild, not of your input; please report it with the input"


def verify(assembled: Assembled) -> tuple[Diagnostic, ...]:
    """Return what is wrong with the trees of a region: one message for the first bad tree of each program."""
    code = assembled.code
    counts = {kernel.name: len(kernel.loops) for kernel in code.kernels}
    spawned = {spawned.name: len(spawned.loops) for spawned in code.spawned}
    host = Scope(_names(code.scop), kernels=counts | spawned, host=True)
    trees = [] if assembled.host is None else [("host", assembled.host, host)]
    for kernel, program in zip(code.kernels, assembled.kernels, strict=True):
        trees.append((f"kernel {kernel.name}", program, scope_of(assembled, kernel)))
    for spawn, program in zip(code.spawns, assembled.spawns, strict=True):
        between = separation(code.scop, code.kernels, code.owned)
        scope = Scope(_names(code.scop) | set(spawn.loops), phases=counts, between=between)
        trees.append((f"spawn {spawn.name}", program, scope))
    return tuple(
        Diagnostic("SW491", f"{where} {when}: {'; '.join(found)}", code.scop.span, _HINT)
        for where, program, scope in trees
        for when, found in _first_bad(program, scope)
    )


def _first_bad(program: Program, scope: Scope) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield after which pass the first bad tree came, and what is wrong with it."""
    stages = [("as it was built", program.built)]
    stages += [(f"after '{made.name}'", made.result) for made in program.passes]
    for when, tree in stages:
        found = faults(tree, scope)
        if found:
            yield when, found
            return


def _names(scop: Scop) -> frozenset[str]:
    return frozenset(scop.numbers)


def scope_of(assembled: Assembled, kernel: KernelCode) -> Scope:
    """Return what the tree of ``kernel`` may speak of."""
    scop, options = assembled.code.scop, assembled.code.options
    names = {*_names(scop), *given_names(kernel.tiled.mapping)}
    names |= {*kernel.tiled.kernel.host_loops, *kernel.loops}
    budget = options.budget
    buffers = {
        b.name: Held(
            b.box.bound or (),
            scop.array(b.array).element.size,
            b.bytes,
            b.slots,
            b.alignment,
            frozenset(statement for statement, _ in b.refs),
            b.load,
            b.turned.bytes if b.turned else 0,
        )
        for b in kernel.plan.buffers
    }
    left = budget - sum(partial.bytes for partial in kernel.partials)
    mapping = kernel.tiled.mapping
    return Scope(
        frozenset(names),
        buffers,
        budget=left,
        limits=limits_of(options),
        threads=telling_names(mapping),
        whole=prod(mapping.grid) == load(options.machine).cpes,
    )
