"""The machine files: complete, strict, cited, and quick to load."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from swbuild.diagnostics import SwbuildError
from swbuild.machine import CONFIDENCES, MachineModel, facts, load, machine_file, machine_names

MACHINES = machine_names()


@pytest.mark.parametrize("machine", MACHINES)
def test_every_number_is_cited(machine: str) -> None:
    found = facts(machine)
    assert len(found) > 40
    for fact in found:
        assert fact.confidence in CONFIDENCES, fact
        assert fact.source.strip(), fact
        assert isinstance(fact.value, int | float) and not isinstance(fact.value, bool), fact


@pytest.mark.parametrize("machine", MACHINES)
def test_facts_are_the_model(machine: str) -> None:
    model = load(machine)
    for fact in facts(machine):
        value: object = model
        for part in fact.name.split("."):
            value = getattr(value, part)
        assert value == fact.value, fact.name
        assert isinstance(value, float) or isinstance(fact.value, int), "an integer field needs an integer"


def test_the_two_machines_differ_where_programs_must_know() -> None:
    old, new = load("sw26010"), load("sw26010-pro")
    assert (old.ldm_bytes, new.ldm_bytes) == (64 * 1024, 256 * 1024)
    assert (old.ldm_budget, new.ldm_budget) == (56 * 1024, 200 * 1024)
    assert (old.cpes, new.cpes) == (64, 64)
    assert (old.simd.double_lanes, new.simd.double_lanes) == (4, 8)


@pytest.mark.parametrize("machine", MACHINES)
def test_dma_limits_are_legal_lengths_and_fit_the_descriptor(machine: str) -> None:
    dma = load(machine).dma
    bits = {"sw26010": (24, 20), "sw26010-pro": (18, 18)}[machine]
    for limit, width in zip((dma.max_length, dma.max_block), bits, strict=True):
        assert limit % dma.alignment == 0
        assert limit < 2**width <= limit + dma.alignment


def test_loading_twice_gives_the_same_frozen_object() -> None:
    model = load("sw26010")
    assert load("sw26010") is model
    with pytest.raises(FrozenInstanceError):
        model.ldm_bytes = 1  # type: ignore[misc]


def test_overrides_replace_numbers_by_dotted_name_and_leave_the_rest() -> None:
    model = load("sw26010", overrides={"dma.max_length": 4096, "ldm_bytes": 32768})
    assert (model.dma.max_length, model.ldm_bytes) == (4096, 32768)
    assert model.dma.max_block == load("sw26010").dma.max_block
    assert load("sw26010").ldm_bytes == 65536
    assert load("sw26010", overrides={"memory.get_latency": 100.5}).memory.get_latency == 100.5


def test_all_bad_overrides_are_told_at_once() -> None:
    with pytest.raises(SwbuildError) as caught:
        load("sw26010", overrides={"dma.max_lenth": 1, "ldm_bytes": 1.5, "mesh_rows": True})
    text = str(caught.value)
    assert len(caught.value.diagnostics) == 3
    assert "did you mean 'dma.max_length'?" in text
    assert "'ldm_bytes' must be an integer" in text
    assert "'mesh_rows' must be a number" in text


NUMBER = "{value: 1, unit: x, source: x, confidence: A}"
MISTAKES = [
    ("mesh_rows: {", "mesh_rose: {", "1:1", "`mesh_rows` is missing"),
    ("mesh_rows: {", "mesh_rose: {", "mesh_rose", "there is no `mesh_rose`"),
    ("mesh_rows: {", f"extra: {NUMBER}\nmesh_rows: {{", "extra", "there is no `extra`"),
    (
        "ldm_bytes: {value: 65536,",
        "ldm_bytes: {value: 64K,",
        "value: 64K",
        "`ldm_bytes` must be an integer, not '64K'",
    ),
    (
        "ldm_bytes: {value: 65536, unit: B per CPE, ",
        "ldm_bytes: {value: 65536, ",
        "ldm_bytes",
        "with its source",
    ),
    (
        "confidence: A}\nmesh_rows",
        "confidence: X}\nmesh_rows",
        "confidence: X",
        "the confidence is one of A, B",
    ),
    ("ldm_budget: {value: 57344,", "ldm_budget: {value: 65540,", "ldm_budget", "between 1 and the 65536"),
    ("mesh_rows: {value: 8,", "mesh_rows: {value: 9,", "mesh_rows", "a mesh of 9 x 8 CPEs"),
    ("features: [simd,", "features: [simd, wings,", "features", "there is no feature `wings`"),
    ("{memory}, {ldm}, {bytes}, (void *)&{reply}, 0, 0, 0", "{ldm}, {bytes}, {reply}", "get:", "{memory}"),
    ("athread_join();", "athread_join({kernel});", "join:", "cannot speak of {kernel}"),
    ("athread_join();", "if (x) {{ athread_join(); }", "join:", "`dialect.join`"),
    ("links_hybrid: true", "links_hybrid: 1", "links_hybrid", "must be true or false, not 1"),
    (
        "    driver: sw5cc\n    flags:\n      - {text: -hy",
        "    flags:\n      - {text: -hy",
        "link:",
        "driver` is",
    ),
    (
        "{text: -hybrid, purpose: link both kinds of objects}",
        "-hybrid",
        "-hybrid",
        "flags.0` must be a mapping",
    ),
    ("name: sw26010", "name: sw26020", "name:", "the machine `sw26020`"),
    ("title: ", "title: [", "", "this is not YAML"),
    ("title: ", "title: A\ntitle: ", "title: A", "`title` occurs twice"),
    ("compilers: [sw5cc,", "compilers: [../sw5cc,", "compilers:", "`../sw5cc` is no name"),
    ("compilers: [sw5cc,", "compilers: [xcc,", "host:", "no stand-in for the driver `sw5cc`"),
    ("launch: []", "launch: ['{cash}']", "launch:", "`tools.launch` cannot speak of {cash}"),
    ("defines: []", "defines: ['{rule}=1']", "defines:", "`emulator.defines` cannot speak of {rule}"),
    ("slave_cxx: false", "slave_cxx: false\n  include: nowhere", "include:", "there is no directory"),
    ("{kernel}, &{arguments}", "{kernel!r}, &{arguments}", "spawn:", "cannot speak of {kernel}"),
    ("simd, register-communication", "simd", "features", "`register-communication` and the numbers"),
    ("simd_set_doublev4({values})", "simd_set_doublev4()", "gather_double:", "does not use {values}"),
    ("  vectors:\n", "  broadcasts:\n    row: x({ldm})\n  vectors:\n", "broadcasts", "does not use {source}"),
    ("simd_putr({vector}, 8)", "simd_putr(8)", "send_row:", "does not use {vector}"),
    ("[simd, register-", "[simd, rma, register-", "features", "`rma` and the numbers of it go together"),
]


@pytest.mark.parametrize(("old", "new", "place", "complaint"), MISTAKES)
def test_a_mistake_in_a_machine_file_is_told_with_its_place(
    old: str, new: str, place: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = machine_file("sw26010").read_text(encoding="utf-8")
    assert old in text
    broken = tmp_path / "mine.yaml"
    text = text.replace("name: sw26010", "name: mine") if "name: " not in old else text
    broken.write_text(text.replace(old, new, 1), encoding="utf-8")
    monkeypatch.setenv("SWBUILD_MACHINES", str(tmp_path))
    with pytest.raises(SwbuildError) as caught:
        load("mine")
    told = [found for found in caught.value.diagnostics if complaint in found.message]
    assert told and told[0].code == "SW697", caught.value
    line = broken.read_text(encoding="utf-8").splitlines()[told[0].span.line - 1]
    assert told[0].span.file == str(broken) and (place == "1:1" or place in line), caught.value


def test_the_search_path_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sw26010.yaml").write_text("name: sw26010\n", encoding="utf-8")
    monkeypatch.setenv("SWBUILD_MACHINES", f"{tmp_path}:{tmp_path / 'nowhere'}")
    with pytest.raises(SwbuildError) as caught:
        machine_names()
    assert [found.code for found in caught.value.diagnostics] == ["SW696", "SW696"]
    assert "there is a machine `sw26010` already" in str(caught.value) and "nowhere" in str(caught.value)
    monkeypatch.delenv("SWBUILD_MACHINES")
    with pytest.raises(SwbuildError, match="there is no machine `sw1`"):
        load("sw1")


def test_thread_shapes_come_from_the_mesh() -> None:
    whole = ((1, 64), (2, 32), (4, 16), (8, 8), (16, 4), (32, 2), (64, 1))
    assert [load(name).thread_shapes for name in ("sw26010", "sw26010-pro")] == [whole, whole]
    small = load("sw26010", {"mesh_rows": 4, "mesh_columns": 4})
    assert small.thread_shapes == ((1, 16), (2, 8), (4, 4), (8, 2), (16, 1))
    for rows, columns in ((14, 4), (1, 64), (3, 8), (2, 32), (5, 8)):
        odd = load("sw26010", {"mesh_rows": rows, "mesh_columns": columns})
        assert {a * b for a, b in odd.thread_shapes} == {odd.cpes} and odd.mesh in odd.thread_shapes


def test_loading_imports_nothing_heavy() -> None:
    code = (
        "import sys, swbuild.machine as m; m.load('sw26010-pro');"
        "print(*sorted({'numpy', 'islpy', 'pycparser', 'rich', 'jsonschema'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_model_type_is_public() -> None:
    assert isinstance(load("sw26010"), MachineModel)
