"""Confirms programs on the emulated node, with transfers completing early, late and at random."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from swfuzz.batch import source
from swfuzz.cases import sizes_for
from swfuzz.program import Program
from swfuzz.worker import options_from

__all__ = ["emulated"]

MODES = ("checked", "eager", "random:7")


def fixed_sizes(program: Program) -> dict[str, int]:
    """Return the sizes that the program's options fix."""
    params = program.options.get("params")
    return dict(params) if isinstance(params, Mapping) else {}


def emulated(programs: Mapping[str, Program], machine: str, directory: Path) -> dict[str, str]:
    """Return what is wrong with each program, the empty text when nothing is."""
    from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source
    from swbuild.frontend.request import RegionRequest

    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "fuzz.c"
    bodies = [source(program, name).split("\n\n", 1)[1] for name, program in programs.items()]
    path.write_text("#include <math.h>\n\n" + "\n".join(bodies))
    options = {name: options_from({**p.options, "machine": machine}) for name, p in programs.items()}
    checks = {}
    for name, program in programs.items():
        fixed = fixed_sizes(program)
        sizes = tuple({"n": n, "m": m, **fixed} for n, m in sizes_for(program)[-3:] if n and m)
        checks[name] = RegionCheck(sizes=tuple({s: v[s] for s in program.sizes} for v in sizes))
    requests = tuple(RegionRequest(n, function=n, params=fixed_sizes(p)) for n, p in programs.items())
    task = SourceTask(path, requests=requests, options=options, checks=checks)
    settings = CheckSettings(modes=MODES, timeout=120, refused_is_error=False)
    found = check_source(task, settings, directory / "work", directory / "objects")
    fine = (Outcome.PASS, Outcome.SKIP)
    return {r.region: "" if r.outcome in fine else f"{r.outcome.value}: {r.message}"[:2000] for r in found}
