"""The candidates of a kernel's planner, forced one by one, and the model time that each of them takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from timed import timed

from swbuild.attempt import RegionResult
from swbuild.compilation import compile_regions
from swbuild.frontend import CppOptions, SourceModel, read_source
from swbuild.generate import print_unit
from swbuild.machine import load
from swbuild.options import KernelOptions
from swbuild.planning import candidates, estimates, search
from swbuild.planning.mappings import grids
from swbuild.planning.shape import KernelShape
from swbuild.planning.shaping import shape_of
from swbuild.planning.sizes import assumed_sizes
from swbuild.planning.tilings import Placed
from swbuild.planning.view import Candidate, Views

__all__ = ["SAMPLE", "Kernel", "Run", "Space", "measured", "space_of"]

#: How many of a space are measured: of the cheapest, of which no two are estimated to take the same; of those
#: that are estimated to take at most twice as long, evenly spread; and of all others.
SAMPLE = (10, 20, 6)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function in C that is one region and one kernel; ``sizes`` are macros, ``options`` its own wishes."""

    source: Path
    sizes: Mapping[str, int]
    options: KernelOptions

    @property
    def name(self) -> str:
        return self.source.stem

    def program(self, count: int) -> str:
        """Return a program that calls ``count`` copies of the function, :meth:`copy` being their names."""
        head, begin, body = self.source.read_text(encoding="utf-8").partition(f"void {self.name}(void)")
        sizes = "".join(f"#define {name} {value}\n" for name, value in self.sizes.items())
        copies = [f"void {self.copy(number)}(void){body}" for number in range(count)]
        calls = "".join(f"    {self.copy(number)}();\n" for number in range(count))
        assert begin, f"{self.source} has no function {self.name}"
        return "\n".join([sizes, head, *copies, f"int main(void)\n{{\n{calls}    return 0;\n}}\n"])

    def copy(self, number: int) -> str:
        return f"{self.name}_{number}"


@dataclass(frozen=True, slots=True)
class Space:
    """The planner's choice for a kernel, how many candidates it has, and those that are to be measured."""

    chosen: Candidate
    size: int
    near: int
    picked: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """A candidate with what it was estimated to take, and what it takes, spawn and join included."""

    candidate: Candidate
    estimated: float
    cycles: float


def space_of(kernel: Kernel, folder: Path, sample: tuple[int, int, int] = SAMPLE) -> Space:
    """Return the space of ``kernel``, of which ``sample`` is picked; ``folder`` is for its program."""
    result = _compiled(_model(kernel, 1, folder), {kernel.copy(0): kernel.options})[0]
    placed = _placed(result)
    mapping = placed.tiled.mapping
    chosen = Candidate(mapping.threads, placed.tiled.sizes)
    shape = _shape(result, kernel.options)
    found = sorted(_estimated(shape, result, kernel.options), key=lambda each: each.total)
    near = [each for each in found if each.total <= 2 * found[0].total]
    different = {each.total: each for each in reversed(near)}
    count, some, others = sample
    first = [different[total] for total in sorted(different)[:count]]
    rest = [each for each in near if each not in first]
    picked = (*first, *_spread(rest, some), *_spread(found[len(near) :], others))
    return Space(chosen, len(found), len(near), tuple(e.candidate for e in picked if e.candidate != chosen))


def measured(kernel: Kernel, forced: Sequence[Candidate], folder: Path) -> tuple[Run, ...]:
    """Return a run of ``kernel`` as it is planned, then one with each of the ``forced`` that fit the LDM."""
    model = _model(kernel, 1 + len(forced), folder)
    options = {kernel.copy(0): kernel.options}
    options |= {kernel.copy(1 + n): _forcing(kernel.options, each) for n, each in enumerate(forced)}
    compiled = compile_regions(model, options)
    unit = print_unit(model, compiled)
    assert unit.slave is not None
    for file in (unit.host, unit.slave, unit.header):
        (folder / file.name).write_text(file.text, encoding="utf-8")
    times = timed(kernel.options.machine, folder, [folder / unit.host.name], [folder / unit.slave.name])
    results = [item.result for item in compiled if isinstance(item.result, RegionResult)]
    return tuple(
        Run(
            _candidate(result),
            _estimate(result, kernel.options),
            times[_placed(result).tiled.kernel.name].cycles,
        )
        for result in results
    )


def _model(kernel: Kernel, count: int, folder: Path) -> SourceModel:
    source = folder / f"{kernel.name}.c"
    source.write_text(kernel.program(count), encoding="utf-8")
    return read_source(source, CppOptions(), None)


def _compiled(model: SourceModel, options: Mapping[str, KernelOptions]) -> list[RegionResult]:
    found = [item.result for item in compile_regions(model, options)]
    return [result for result in found if isinstance(result, RegionResult)]


def _placed(result: RegionResult) -> Placed:
    (placed,) = result.placed
    return placed


def _candidate(result: RegionResult) -> Candidate:
    placed = _placed(result)
    return Candidate(placed.tiled.mapping.threads, placed.tiled.sizes)


def _shape(result: RegionResult, options: KernelOptions) -> KernelShape:
    scop, scheduled = result.assembled.code.scop, result.order.scheduled
    sizes = assumed_sizes(scop, options).values
    placed, private = _placed(result), scheduled.private
    copies = private.depths(placed.expanded)
    return shape_of(scop, placed.tiled, private.names, sizes, options, copies)


def _estimated(
    shape: KernelShape, result: RegionResult, options: KernelOptions
) -> Iterator[candidates.Estimate]:
    """Yield every candidate that fits the LDM: all grids, with all sizes of tiles that the search may try."""
    kernel, terms = [Views(shape, load(options.machine))], candidates.Terms(options.budget)
    for threads in grids(_placed(result).tiled.kernel, options):
        counts = (*threads, *[0] * (len(shape.loops) - len(threads)))
        sizes = [search.sizes_of(loop, n) for loop, n in zip(shape.loops, counts, strict=True)]
        for tile in product(*sizes):
            each = Candidate(threads, tile)
            found = candidates.estimate(kernel, each, terms)
            if isinstance(found, candidates.Estimate):
                yield found


def _spread(some: Sequence[candidates.Estimate], count: int) -> list[candidates.Estimate]:
    """Return ``count`` of ``some`` at equal distances, all where there are no more."""
    step = max(1.0, len(some) / count)
    return [some[int((k + 0.5) * step)] for k in range(min(count, len(some)))]


def _forcing(options: KernelOptions, candidate: Candidate) -> KernelOptions:
    threads = candidate.threads
    shape = (threads[0], threads[1]) if len(threads) > 1 else options.threads
    return replace(options, threads=shape, tile=candidate.tile)


def _estimate(result: RegionResult, options: KernelOptions) -> float:
    scop, private = result.assembled.code.scop, result.order.scheduled.private
    sizes = assumed_sizes(scop, KernelOptions(machine=options.machine)).values
    return estimates.estimate(scop, _placed(result), private, sizes, options).cycles.total
