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
from pathlib import Path
from typing import Any

__all__ = ["main", "options_from"]


def options_from(fields: dict[str, Any]) -> Any:
    """Return the KernelOptions that JSON fields stand for."""
    from swbuild.options import Distribution, Fusion, KernelOptions, Machine, Preset

    kinds = {"machine": Machine, "distribution": Distribution, "fusion": Fusion, "preset": Preset}
    values = {name: kinds[name](value) if name in kinds else value for name, value in fields.items()}
    for name in ("threads", "tile", "assume"):
        if name in values:
            values[name] = tuple(values[name])
    return KernelOptions(**values)


def generate(directory: Path, name: str, options: Any) -> tuple[str, str]:
    """Write the generated files of one program; return what happened, and the text about it."""
    from swbuild.diagnostics import SwbuildError
    from swbuild.frontend import CppOptions, read_source
    from swbuild.frontend.request import RegionRequest
    from swbuild.generate import generate_unit

    try:
        request = RegionRequest(name, function=name, params=dict(options.params))
        model = read_source(directory / f"{name}.c", CppOptions(), [request])
        if model.refused:
            return "refused", "\n".join(str(d) for r in model.refused for d in r.diagnostics)
        unit = generate_unit(model, {name: options})
    except SwbuildError as error:
        return "refused", str(error)
    except Exception:  # noqa: BLE001 - finding these is the purpose
        return "traceback", traceback.format_exc()
    for file in (unit.host, unit.slave, unit.header):
        if file is not None:
            (directory / file.name).write_text(file.text)
    region = unit.regions[0]
    entry = [[argument.name, argument.element.name, argument.by_value] for argument in region.arguments]
    return "generated", json.dumps({"kernels": len(region.kernels), "entry": entry})


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
            kind, text = generate(directory, name, options_from(fields))
            seconds = time.process_time() - start
            log.write(
                json.dumps({"event": "end", "name": name, "kind": kind, "text": text, "seconds": seconds})
                + "\n"
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
