"""Small projects for the plugin's tests: C files, manifests, and generators that make mistakes."""

from __future__ import annotations

import os
import textwrap
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

from plugin_flag import PLUGIN_FLAG

__all__ = ["SCALE", "broken_generator", "junit", "manifest", "prepare", "properties"]

#: One loop, one kernel: the smallest thing that can be offloaded.
SCALE = """\
void scale(int n, double a, double x[n], double y[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
#pragma endscop
}
"""

#: A conftest that changes what the generator writes, by the names of regions.
_BROKEN = """\
import dataclasses
import swbuild.generate as generate

CHANGES = {changes!r}
original = generate.generate_unit

def generate_unit(model, options):
    unit = original(model, options)
    for name, (which, old, new) in CHANGES.items():
        if unit.regions[0].scop.name == name:
            file = getattr(unit, which)
            assert old in file.text, file.text
            changed = dataclasses.replace(file, text=file.text.replace(old, new))
            unit = dataclasses.replace(unit, **{{which: changed}})
    return unit

generate.generate_unit = generate_unit
"""


def broken_generator(**changes: tuple[str, str, str]) -> str:
    """Return a conftest: for each region, in its ``host`` or ``slave`` file, a text and what replaces it."""
    return _BROKEN.format(changes=changes)


def manifest(**kernels: str) -> str:
    """Return a manifest with a source ``NAME.c`` and a region ``NAME`` for each; the values are checks."""
    lines = ["version: 1", "sources:"]
    for name, check in kernels.items():
        lines += [f"  - file: {name}.c", "    regions:", f"      {name}:", f"        check: {check}"]
    return "\n".join(lines) + "\n"


def prepare(pytester: Any, monkeypatch: Any, **kernels: str) -> None:
    """Make a project in pytester's directory whose kernels are all ``SCALE`` under other names."""
    project_root = Path(__file__).resolve().parents[2]
    monkeypatch.setenv("PYTHONPATH", str(project_root))
    monkeypatch.setenv("XDG_CACHE_HOME", CACHE)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makeini(f"[pytest]\nsw_kernels = sunway.yaml\naddopts = {PLUGIN_FLAG}\n")
    for name in kernels:
        (pytester.path / f"{name}.c").write_text(SCALE.replace("scale", name))
    (pytester.path / "sunway.yaml").write_text(manifest(**kernels))


#: The emulator's runtime is built once for all tests, not once for each home directory.
CACHE = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")


def junit(pytester: Any, *arguments: str) -> dict[str, Any]:
    """Run pytest in a process of its own and return JUnit's test cases by their names."""
    result = pytester.runpytest_subprocess("--junitxml=junit.xml", *arguments)
    cases = ET.parse(pytester.path / "junit.xml").iter("testcase")
    return {"": result, **{str(case.get("name")): case for case in cases}}


def properties(case: Any) -> dict[str, str]:
    """Return the properties of a test case."""
    return {str(item.get("name")): str(item.get("value")) for item in case.iter("property")}


def dedent(text: str) -> str:
    """Return ``text`` without its indentation."""
    return textwrap.dedent(text)
