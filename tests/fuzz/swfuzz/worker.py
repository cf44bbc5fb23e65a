"""One process: generate the files of a batch, program by program, and write down what each of them did.

    python -m swfuzz.worker DIRECTORY

``options.json`` in the directory names the programs; each is a file of its own.  ``outcomes.jsonl``
gets a line when a program begins and one when it ends, so that a hang or the death of this process is
seen where it happened; programs that have a line already are not tried again.
"""

from __future__ import annotations

import faulthandler
import json
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from swfuzz.steps import random_steps

__all__ = ["main", "options_from"]


def options_from(fields: dict[str, Any]) -> Any:
    """Return the KernelOptions that JSON fields stand for."""
    from swbuild.options import (
        Distribution,
        Fusion,
        KernelOptions,
        Prefetch,
        Preset,
        Resident,
        Share,
        Spawn,
        Turn,
        Vectorize,
    )

    kinds = {
        "distribution": Distribution,
        "fusion": Fusion,
        "prefetch": Prefetch,
        "preset": Preset,
        "resident": Resident,
        "share": Share,
        "spawn": Spawn,
        "turn": Turn,
        "vectorize": Vectorize,
    }
    values = {name: kinds[name](value) if name in kinds else value for name, value in fields.items()}
    for name in ("threads", "tile", "assume"):
        if name in values:
            values[name] = tuple(values[name])
    return KernelOptions(**values)


def generate(directory: Path, name: str, options: Any, steps: int | None = None) -> tuple[str, str]:
    """Write the generated files of one program; return what happened, and the text about it.

    ``steps`` is the seed of random transformations, None for none.
    """
    from swbuild.diagnostics import SwbuildError
    from swbuild.frontend import CppOptions, read_source
    from swbuild.frontend.request import RegionRequest

    try:
        request = RegionRequest(name, function=name, params=dict(options.params))
        model = read_source(directory / f"{name}.c", CppOptions(), [request])
        if model.refused:
            return _refusal(SwbuildError(d for r in model.refused for d in r.diagnostics))
        if steps is not None:
            chosen = random_steps(model.scops[0], Random(steps))
            options = replace(options, transform=chosen)
        unit = without_useless_unrolling(model, name, options)
    except SwbuildError as error:
        return _refusal(error)
    except Exception:  # noqa: BLE001 - finding these is the purpose
        return "traceback", traceback.format_exc()
    for file in (unit.host, unit.slave, unit.header):
        if file is not None:
            (directory / file.name).write_text(file.text)
    region = unit.regions[0]
    entry = [[argument.name, argument.element.name, argument.by_value] for argument in region.arguments]
    kinds = [step.kind.value for step in options.transform]
    facts = {"kernels": len(region.kernels), "entry": entry, "steps": kinds}
    return "generated", json.dumps(facts)


def _refusal(error: Any) -> tuple[str, str]:
    """Return what a refusal is: one, or a defect that was caught."""
    from swbuild.diagnostics import INTERNAL

    defect = any(found.code == INTERNAL for found in error.diagnostics)
    return "traceback" if defect else "refused", str(error)


def without_useless_unrolling(model: Any, name: str, options: Any) -> Any:
    """Return the generated unit; loops that cannot be unrolled where they end up are left as they are."""
    from swbuild.diagnostics import SwbuildError
    from swbuild.generate import complete, generate_unit
    from swbuild.options import StepKind

    try:
        return complete(generate_unit(model, {name: options}))
    except SwbuildError as error:
        if {d.code for d in error.diagnostics} != {"SW312"}:
            raise
    kept = tuple(step for step in options.transform if step.kind is not StepKind.UNROLL)
    return complete(generate_unit(model, {name: replace(options, transform=kept)}))


def main(directory: Path) -> None:
    """Generate what is not yet in the log."""
    faulthandler.enable()  # the parent aborts a program that takes too long, deep inside isl perhaps
    wanted = json.loads((directory / "options.json").read_text())
    with open(directory / "outcomes.jsonl", "a+", buffering=1) as log:
        log.seek(0)
        known = {json.loads(line)["name"] for line in log.read().splitlines()}
        for name, fields in wanted.items():
            if name in known:
                continue
            log.write(json.dumps({"event": "begin", "name": name}) + "\n")
            start = time.process_time()
            steps = fields.pop("steps", None)
            kind, text = generate(directory, name, options_from(fields), steps)
            seconds = time.process_time() - start
            log.write(
                json.dumps({"event": "end", "name": name, "kind": kind, "text": text, "seconds": seconds})
                + "\n"
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
