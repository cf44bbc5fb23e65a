"""Good manifests, and that model, schema, reference page and examples say the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import marked
import pytest
import yaml

from swbuild.diagnostics import SwbuildError
from swbuild.manifest import load_text
from swbuild.manifest.model import Check, Defaults, Manifest, Region, Source, Tolerance
from swbuild.manifest.records import Option, options
from swbuild.manifest.reference import reference_text
from swbuild.manifest.schema import RECORDS, SCHEMA_FILE, manifest_schema, schema_text
from swbuild.manifest.transformations import Cut, Move, Skewing, Transformation
from swbuild.options import Distribution, Fusion, Preset

ROOT = Path(__file__).parents[2]

FULL = """\
# comments stay out of the way
version: 1
minimum-swbuild: '0.1'
machine: sw26010-pro
include-dirs: [inc]
defines: {N: 64, SCALE: 1.5, NAME: value, FLAG: }
defaults:
  threads: [4, 8]
  check: {seed: 3}
x-team: {any: thing, at: [all]}
sources:
  - file: a.c
    include-dirs: [more]
    defines: [M=2, QUIET]
    regions:
      one:
      two: {function: kernel, index: 1}
      three:
        label: update
        threads: [8, 8]
        tile: [64, 32]
        distribution: block
        fusion: min
        preset: classic
        ldm-budget: 48KiB
        params: {n: -3, m: 2147483647}
        typical: {k: 1000}
        assume: [n > 3, "m: n"]
        arrays: {A: [n, 7, "n + 1"]}
        check:
          sizes: {n: [1, 2], m: 3}
          timeout: 2min
          tolerance: {rtol: 1e-12, atol: .5, max-ulp: 4}
          x-why: mine
  - b.c
"""


def test_everything_is_read() -> None:
    manifest = load_text(FULL, "m.yaml")
    assert manifest.machine == "sw26010-pro"
    assert manifest.defines == ("N=64", "SCALE=1.5", "NAME=value", "FLAG")
    first, second = manifest.sources
    assert second == Source("b.c")
    assert first.regions is not None
    assert first.regions["one"] == Region()
    assert first.regions["two"] == Region(function="kernel", index=1)
    assert first.regions["three"] == Region(
        label="update",
        threads=(8, 8),
        tile=(64, 32),
        distribution=Distribution.BLOCK,
        fusion=Fusion.MIN,
        preset=Preset.CLASSIC,
        ldm_budget=48 * 1024,
        params={"n": -3, "m": 2147483647},
        typical={"k": 1000},
        assume=("n > 3", "m: n"),
        arrays={"A": ("n", "7", "n + 1")},
        check=Check(({"n": 1, "m": 3}, {"n": 2, "m": 3}), None, Tolerance(1e-12, 0.5, 4), 120),
    )
    assert manifest.defaults == Defaults(threads=(4, 8), check=Check(seed=3))


def test_places_are_those_of_the_names() -> None:
    manifest = load_text(FULL, "m.yaml")
    regions = manifest.sources[0].regions or {}
    assert {name: str(region.span) for name, region in regions.items()} == {
        "one": "m.yaml:16:7",
        "two": "m.yaml:17:7",
        "three": "m.yaml:18:7",
    }


@pytest.mark.parametrize(
    "text",
    [
        "--- \nversion: 1\nsources: [a.c]\n...\n",
        "{version: 1, sources: [a.c]}",
        '{"version": 1, "sources": [{"file": "a.c"}]}',
        "version: 1\nsources: [a.c]\ndefaults: !!map {}\n",
        "version: 1\nsources: [&f a.c]\n",
        "\ufeffversion: 1\nsources: ['a b.c', \"ü.c\"]\n",
        "version: 1\r\nsources: [a.c]\r\n",
        marked.in_region("check: &c {seed: 3}") + "      s: {check: *c}\n",
        marked.in_region("params: {n: 1, y: 2, N: 3, 'on': 4}"),
        marked.in_region("tile: [+32]"),
    ],
)
def test_good(text: str) -> None:
    assert load_text(text.removeprefix("\ufeff"), "m.yaml").version == 1


def test_a_bomb_of_aliases_is_refused() -> None:
    lines = ["x-a0: &a0 [0, 0]"] + [f"x-a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    with pytest.raises(SwbuildError, match="aliases grow without end"):
        load_text(marked.at_top("\n".join(lines)), "m.yaml")


ALL_OPTIONS = [(cls, item) for cls in RECORDS for item in options(cls)]


@pytest.mark.parametrize(("cls", "item"), ALL_OPTIONS, ids=[f"{c.__name__}.{i.key}" for c, i in ALL_OPTIONS])
def test_every_key_is_documented_and_its_example_holds(cls: type, item: Option) -> None:
    assert item.doc.endswith(".")
    assert f"`{item.key}: {item.example}`" in reference_text()
    text = _minimal(cls, item)
    load_text(text, "m.yaml")
    jsonschema.Draft7Validator(manifest_schema()).validate(yaml.load(text, Loader=_Core))


def _minimal(cls: type, item: Option) -> str:
    """Return a manifest that holds the example of one key."""
    line = f"{item.key}: {item.example}"
    if cls is Manifest:
        head = "" if item.key == "version" else "version: 1\n"
        return head + ("" if item.key == "sources" else "sources: [a.c]\n") + line
    if cls is Source:
        return f"version: 1\nsources:\n  - {'' if item.key == 'file' else 'file: a.c'}\n    {line}\n"
    needed = {"loop": "loop: i", "by": "by: 1" if cls is Move else "by: t"}
    also = [text for key, text in needed.items() if key != item.key and cls in (Skewing, Move)]
    also += ["loop: i"] if cls is Cut and item.key != "loop" else []
    return marked.in_region(_WRAPS.get(cls, "%s") % ", ".join([line, *also]))


_WRAPS = {
    Check: "check: {%s}",
    Tolerance: "check: {tolerance: {%s}}",
    Transformation: "transform: [{%s}]",
    Skewing: "transform: [{skew: {%s}}]",
    Move: "transform: [{shift: {%s}}]",
    Cut: "transform: [{distribute: {%s}}]",
}


class _Core(yaml.SafeLoader):
    """YAML 1.2's idea of numbers, as editors have it."""


_Core.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("null", r"null|~|", ["n", "~", ""]),
    ("bool", r"true|false", "tf"),
):
    _Core.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", __import__("re").compile(f"^(?:{_pattern})$"), list(_first)
    )


def _agrees(text: str) -> tuple[bool, bool]:
    try:
        load_text(text, "m.yaml")
        ours = True
    except SwbuildError:
        ours = False
    data: Any = yaml.load(text, Loader=_Core)
    return ours, jsonschema.Draft7Validator(manifest_schema()).is_valid(data)


@pytest.mark.parametrize(
    "option",
    [
        "threads: [8, 8]",
        "threads: [3, 3]",
        "threads: 8",
        "thread: [8, 8]",
        "x-thread: [8, 8]",
        "tile: []",
        "tile: [1]",
        "tile: [0]",
        "tile: [1.5]",
        "fusion: max",
        "fusion: most",
        "ldm-budget: 48KiB",
        "ldm-budget: 48",
        "ldm-budget: 48KB",
        "params: {n: 3}",
        "params: {n: x}",
        "params: {9n: 3}",
        "typical: {n: 300}",
        "typical: {n: 0}",
        "typical: [300]",
        "assume: [n > 3]",
        "assume: n > 3",
        "arrays: {A: [3, n]}",
        "arrays: {A: []}",
        "check: {sizes: {n: [1, 2]}}",
        "check: {sizes: [{n: 1}]}",
        "check: {sizes: []}",
        "check: {sizes: 3}",
        "check: {tolerance: {rtol: 1e-12}}",
        "check: {tolerance: {rtol: -1}}",
        "index: -1",
        "label: 9",
    ],
)
def test_schema_and_loader_agree(option: str) -> None:
    ours, theirs = _agrees(marked.in_region(option))
    assert ours == theirs


def test_schema_is_draft_07_and_takes_the_full_manifest() -> None:
    jsonschema.Draft7Validator.check_schema(manifest_schema())
    jsonschema.Draft7Validator(manifest_schema()).validate(yaml.load(FULL, Loader=_Core))


def test_committed_schema_and_page_are_fresh() -> None:
    advice = "run 'swbuild schema --update' in the checkout"
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), advice
    page = ROOT / "docs" / "manifest.md"
    assert page.read_text(encoding="utf-8") == reference_text(), advice
    assert json.loads(schema_text()) == manifest_schema()
