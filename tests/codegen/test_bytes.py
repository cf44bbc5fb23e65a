"""The same input gives the same bytes, whatever the order of Python's hashes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from generation import EXAMPLES, unit_of

from swbuild.options import KernelOptions

PROGRAM = """
import sys
from pathlib import Path
from swbuild.frontend import CppOptions, read_source
from swbuild.generate import generate_unit
model = read_source(Path(sys.argv[1]), CppOptions(), None)
unit = generate_unit(model, {})
print(unit.host.text, unit.slave.text, unit.header.text, sep="")
"""


@pytest.mark.parametrize("example", ["symm", "heat-3d"])
def test_bytes_do_not_depend_on_hashes(example: str) -> None:
    root = Path(__file__).parents[2]
    texts = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}
        command = [sys.executable, "-c", PROGRAM, str(EXAMPLES / f"{example}.c")]
        texts.add(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)
    assert len(texts) == 1
    assert len(texts.pop()) > 1000


def test_text_names_no_place_of_this_machine() -> None:
    unit = unit_of("mvt", KernelOptions())
    assert unit.slave is not None
    for file in (unit.host, unit.slave, unit.header):
        assert str(EXAMPLES) not in file.text
