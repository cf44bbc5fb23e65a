"""Programs as files: a C file whose first line holds its options, so that it can be tried again as it is."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swfuzz.batch import Verdict, source
from swfuzz.program import Program

__all__ = ["keep", "options_of"]

_MARK = "/* fuzz: "


def keep(directory: Path, name: str, program: Program, machine: str, verdict: Verdict) -> Path:
    """Write a failing program, and its tree beside it so that it can be made smaller later."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.c"
    head = json.dumps({**program.options, "machine": machine})
    text = verdict.text.replace("*/", "* /").strip()[-1500:]
    path.write_text(f"{_MARK}{head} */\n/* {verdict.kind}: {text} */\n{source(program, name)}")
    (directory / f"{name}.tree").write_bytes(pickle.dumps((program, machine)))
    return path


def options_of(text: str) -> Mapping[str, Any]:
    """Return the options that the first line of a kept program names."""
    first = text.split("\n", 1)[0]
    if not first.startswith(_MARK):
        raise ValueError("not a kept program: the first line does not name the options")
    found: Mapping[str, Any] = json.loads(first.removeprefix(_MARK).removesuffix(" */"))
    return found
