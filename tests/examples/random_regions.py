"""Random regions: C loop nests made from a seed, for checking the whole way from source to emulated run.

usage: python tests/examples/random_regions.py FIRST LAST [--keep DIR]     check the seeds FIRST … LAST - 1

Every subscript stays inside its array for all sizes of at least 1, so whatever is wrong in a check
is wrong in the project.  A seed that fails is reduced to the fewest statements that still fail.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from swbuild.check import CheckSettings, Outcome, RegionCheck, RegionResult, SourceTask, check_source, explain
from swbuild.machine import DEFAULT_MACHINE, load, machine_names
from swbuild.options import Distribution, Fusion, KernelOptions, Preset
from swbuild.toolchain import run

__all__ = ["Program", "check_program_text", "make_options", "make_program", "reduced"]

#: Large enough for the sum of two counters, twice a counter, and small offsets; three dimensions get less.
_EXTENT = {1: "2 * n + 2 * m + 8", 2: "2 * n + 2 * m + 8", 3: "n + m + 4"}
_SIZES = ({"n": 1, "m": 1}, {"n": 2, "m": 3}, {"n": 13, "m": 7}, {"n": 37, "m": 33}, {"n": 34, "m": 67})


@dataclass(frozen=True)
class Loop:
    """A ``for`` with its body."""

    head: str
    body: tuple[Loop | str, ...]


@dataclass(frozen=True)
class Program:
    """A function with one region: its arrays (name, type, dimensions) and what it does."""

    arrays: tuple[tuple[str, str, int], ...]
    body: tuple[Loop | str, ...]
    scalars: tuple[str, ...] = ("alpha", "beta")

    def text(self) -> str:
        """Return the C file."""
        arrays = [f"{kind} {name}{_dimensions(rank)}" for name, kind, rank in self.arrays]
        scalars = [f"double {name}" for name in self.scalars]
        head = f"void region(int n, int m, {', '.join([*scalars, *arrays])})"
        return "\n".join([head, "{", "#pragma scop", *_lines(self.body, 1), "#pragma endscop", "}", ""])


def _dimensions(rank: int) -> str:
    return f"[restrict {_EXTENT[rank]}]" + f"[{_EXTENT[rank]}]" * (rank - 1)


def _lines(body: Sequence[Loop | str], depth: int) -> list[str]:
    found: list[str] = []
    for part in body:
        if isinstance(part, str):
            found.append("    " * depth + part)
        else:
            found += ["    " * depth + part.head + " {", *_lines(part.body, depth + 1), "    " * depth + "}"]
    return found


@dataclass
class _Maker:
    """Draws a program; ``counters`` are the loop counters in scope with their upper bounds."""

    random: random.Random
    arrays: tuple[tuple[str, str, int], ...]
    counters: list[tuple[str, str]] = field(default_factory=list)
    temporaries: list[str] = field(default_factory=list)
    statements: int = 0

    def nest(self, depth: int) -> Loop:
        counter = "ijk"[len(self.counters)]
        bound = self.random.choice(("n", "m"))
        head = self.head(counter, bound)
        self.counters.append((counter, bound))
        known = len(self.temporaries)
        body: list[Loop | str] = []
        for _ in range(self.random.choice((1, 1, 2))):
            if depth > 1 and self.random.random() < 0.75:
                body.append(self.nest(depth - 1))
            else:
                body += self.statement()
        if depth > 1 and not any(isinstance(part, Loop) for part in body):
            body.append(self.nest(depth - 1))
        self.counters.pop()
        del self.temporaries[known:]
        return Loop(head, tuple(body))

    def head(self, c: str, bound: str) -> str:
        outer = self.random.choice(self.counters)[0] if self.counters else None
        forms = [f"for (int {c} = 0; {c} < {bound}; {c}++)"] * 4
        forms += [
            f"for (int {c} = 1; {c} < {bound} - 1; {c}++)",
            f"for (int {c} = {bound} - 1; {c} >= 0; {c}--)",
            f"for (int {c} = 0; {c} < {bound}; {c} += 2)",
            f"for (int {c} = 1; {c} <= {bound}; {c} += 3)",
        ]
        if outer:
            forms += [
                f"for (int {c} = 0; {c} <= {outer}; {c}++)",
                f"for (int {c} = {outer}; {c} < {bound}; {c}++)",
                f"for (int {c} = {outer} + 1; {c} < {bound}; {c}++)",
            ]
        return self.random.choice(forms)

    def statement(self) -> list[str]:
        self.statements += 1
        target, value = self.element(), self.expression()
        kind = self.random.random()
        if kind < 0.35:
            return [f"{target} = {value};"]
        if kind < 0.65:
            return [f"{target} += {value};"]
        if kind < 0.75:
            return [f"{target} *= {self.random.choice(('alpha', 'beta', '0.5'))};"]
        if kind < 0.85:
            name = f"t{self.statements}"
            self.temporaries.append(name)
            return [f"double {name} = {value};", f"{target} = {name} * 0.5;"]
        if kind < 0.93:
            return [f"if ({self.condition()})", f"    {target} = {value};"]
        return [f"if ({self.element()} > 0.6)", f"    {target} = {value};"]

    def condition(self) -> str:
        counter = self.random.choice(self.counters)[0]
        other = self.random.choice([*(name for name, _ in self.counters), "n", "m"])
        return self.random.choice(
            (
                f"{counter} > 2",
                f"{counter} < {other}",
                f"{counter} % 2 == 0",
                f"{counter} != {other} && {counter} < 9",
            )
        )

    def expression(self) -> str:
        terms = [self.term() for _ in range(self.random.choice((1, 2, 2, 3)))]
        return " + ".join(terms)

    def term(self) -> str:
        factor = self.random.choice(("alpha", "beta", "0.25", "0.125", "0.3"))
        choices = [f"{factor} * {self.element()}"] * 5 + [
            f"0.0625 * {self.element()} * {self.element()}",
            factor,
        ]
        choices += self.temporaries[-2:]
        return self.random.choice(choices)

    def element(self) -> str:
        name, _, rank = self.random.choice(self.arrays)
        return name + "".join(f"[{self.subscript(simple=rank == 3)}]" for _ in range(rank))

    def subscript(self, simple: bool) -> str:
        counter = self.random.choice(self.counters)[0]
        if simple:
            return self.random.choice([counter] * 4 + [f"{counter} + 1", f"{counter} + 2", "2", "n"])
        other = self.random.choice(self.counters)[0]
        forms = [counter] * 6 + [f"{counter} + {self.random.randint(1, 3)}"] * 2
        forms += [
            f"{counter} + {other}",
            f"n + m - {counter}",
            f"2 * {counter}",
            str(self.random.randint(0, 4)),
            "n",
        ]
        return self.random.choice(forms)


def make_program(seed: int) -> Program:
    """Return the program of this seed."""
    rng = random.Random(seed)
    kinds = ("double", "double", "double", "float", "int") if seed % 3 == 0 else ("double",)
    arrays = tuple(
        (name, rng.choice(kinds), rng.choice((1, 2, 2, 2, 3))) for name in "ABCD"[: rng.randint(1, 4)]
    )
    # An array of three dimensions is large: one is enough.
    seen = 0
    bounded = []
    for name, kind, rank in arrays:
        seen += rank == 3
        bounded.append((name, kind, 2 if rank == 3 and seen > 1 else rank))
    maker = _Maker(rng, tuple(bounded))
    nests = tuple(maker.nest(rng.choice((1, 2, 2, 3))) for _ in range(rng.choice((1, 1, 2, 3))))
    return Program(tuple(bounded), nests)


def make_options(seed: int) -> KernelOptions:
    """Return the options to check the program of this seed with."""
    rng = random.Random(seed ^ 0x5EED)
    return KernelOptions(
        machine=rng.choice(machine_names()),
        threads=rng.choice(load(DEFAULT_MACHINE).thread_shapes),
        tile=rng.choice(((), (), (), (8,), (5, 7), (32, 4, 16))),
        fusion=rng.choice((Fusion.MAX, Fusion.MAX, Fusion.MIN)),
        distribution=rng.choice((Distribution.CYCLIC, Distribution.CYCLIC, Distribution.BLOCK)),
        preset=rng.choice((Preset.DEFAULT, Preset.DEFAULT, Preset.CLASSIC)),
    )


def check_program_text(
    text: str, options: KernelOptions, directory: Path, modes: Sequence[str]
) -> RegionResult:
    """Check the region of this C text and return its result."""
    source = directory / "random.c"
    source.write_text(text)
    task = SourceTask(source, default_options=options, default_check=RegionCheck(_SIZES))
    settings = CheckSettings(modes=tuple(modes), timeout=120.0)
    (result,) = check_source(task, settings, directory / "work", directory / "objects")
    return result


def reduced(program: Program, fails: Callable[[Program], bool]) -> Program:
    """Return the smallest program found by leaving out parts of ``program`` that still ``fails``."""
    for candidate in _smaller(program.body):
        shorter = Program(program.arrays, candidate, program.scalars)
        if candidate and fails(shorter):
            return reduced(shorter, fails)
    return program


def _smaller(body: tuple[Loop | str, ...]) -> list[tuple[Loop | str, ...]]:
    """Return every body that has one part less."""
    found = [body[:i] + body[i + 1 :] for i in range(len(body))]
    for i, part in enumerate(body):
        if isinstance(part, Loop):
            found += [
                (*body[:i], Loop(part.head, inner), *body[i + 1 :]) for inner in _smaller(part.body) if inner
            ]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a range of seeds; return 1 if any fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "random-regions")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one seed")
    args = parser.parse_args(arguments)
    args.keep.mkdir(parents=True, exist_ok=True)
    if args.last == args.first + 1:
        return 0 if _try(args.first, args.keep) else 1
    bad = sum(not _try_apart(seed, args.keep, args.limit) for seed in range(args.first, args.last))
    print(f"{args.last - args.first} seeds, {bad} bad")
    return 1 if bad else 0


def _try_apart(seed: int, keep: Path, limit: float) -> bool:
    """Try a seed in a process of its own, which may be ended: isl cannot be interrupted otherwise."""
    command = [sys.executable, __file__, str(seed), str(seed + 1), "--keep", str(keep)]
    done = run(command, timeout=limit)
    print(done.output.splitlines()[0] if done.output else f"{seed}: nothing said", flush=True)
    if done.timed_out:
        print(f"{seed}: no end within {limit:.0f} s", flush=True)
    return not done.status


def _try(seed: int, keep: Path) -> bool:
    program, options = make_program(seed), make_options(seed)
    modes = (random.Random(seed).choice(("late", "eager", f"random:{seed}")),)

    def outcome(candidate: Program) -> tuple[Outcome | None, str]:
        with tempfile.TemporaryDirectory() as directory:
            try:
                result = check_program_text(candidate.text(), options, Path(directory), modes)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                return None, f"{type(error).__name__}: {error}"
        return result.outcome, explain(result) or f"{len(result.kernels)} kernels"

    found, text = outcome(program)
    print(
        f"{seed}: {found.value if found else 'exception'} {text.splitlines()[0][:150] if text else ''}",
        flush=True,
    )
    # Tiles that were drawn may be too large: then saying so is right.
    if found in (Outcome.PASS, Outcome.SKIP) or (options.tile and "error[SW302]" in text):
        return True
    small = reduced(program, lambda candidate: outcome(candidate)[0] is found)
    head = f"seed {seed}: {found.value if found else 'exception'}, {options}, {modes[0]}"
    (keep / f"seed{seed}.c").write_text(f"/* {head}\n{outcome(small)[1]}\n*/\n{small.text()}")
    return False


if __name__ == "__main__":
    sys.exit(main())
