"""The programs of host and kernels: as they were built, and after every pass that changes something."""

from __future__ import annotations

from collections.abc import Iterator

from swbuild.dump.nodes import node_lines
from swbuild.dump.text import indented
from swbuild.kernelir.program import Program

__all__ = ["built_lines", "pass_lines"]

#: the host's program or a kernel's, by what to call it
Programs = tuple[tuple[str, Program], ...]


def built_lines(programs: Programs) -> Iterator[str]:
    """Yield the trees before any pass."""
    for name, program in programs:
        yield name
        yield from indented(node_lines(program.built))


def pass_lines(programs: Programs) -> Iterator[str]:
    """Yield the trees after each pass; one that changes nothing only says so."""
    for name, program in programs:
        before = program.built
        for made in program.passes:
            changed = made.result != before
            yield f"{name} after '{made.name}'{'' if changed else ': no change'}"
            if changed:
                yield from indented(node_lines(made.result))
            before = made.result
