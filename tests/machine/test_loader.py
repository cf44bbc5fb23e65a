"""The machine files: complete, strict, cited, and quick to load."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from swbuild.diagnostics import SwbuildError
from swbuild.machine import CONFIDENCES, MachineModel, facts, load, machine_file
from swbuild.options import Machine

MACHINES = list(Machine)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_number_is_cited(machine: Machine) -> None:
    found = facts(machine)
    assert len(found) > 40
    for fact in found:
        assert fact.confidence in CONFIDENCES, fact
        assert fact.source.strip(), fact
        assert isinstance(fact.value, int | float) and not isinstance(fact.value, bool), fact


@pytest.mark.parametrize("machine", MACHINES)
def test_facts_are_the_model(machine: Machine) -> None:
    model = load(machine)
    for fact in facts(machine):
        value: object = model
        for part in fact.name.split("."):
            value = getattr(value, part)
        assert value == fact.value, fact.name
        assert isinstance(value, float) or isinstance(fact.value, int), "an integer field needs an integer"


def test_the_two_machines_differ_where_programs_must_know() -> None:
    old, new = load(Machine.SW26010), load(Machine.SW26010_PRO)
    assert (old.ldm_bytes, new.ldm_bytes) == (64 * 1024, 256 * 1024)
    assert (old.ldm_budget, new.ldm_budget) == (56 * 1024, 200 * 1024)
    assert (old.cpes, new.cpes) == (64, 64)
    assert (old.simd.double_lanes, new.simd.double_lanes) == (4, 8)


@pytest.mark.parametrize("machine", MACHINES)
def test_dma_limits_are_legal_lengths_and_fit_the_descriptor(machine: Machine) -> None:
    dma = load(machine).dma
    bits = {Machine.SW26010: (24, 20), Machine.SW26010_PRO: (18, 18)}[machine]
    for limit, width in zip((dma.max_length, dma.max_block), bits, strict=True):
        assert limit % dma.alignment == 0
        assert limit < 2**width <= limit + dma.alignment


def test_loading_twice_gives_the_same_frozen_object() -> None:
    model = load(Machine.SW26010)
    assert load(Machine.SW26010) is model
    with pytest.raises(FrozenInstanceError):
        model.ldm_bytes = 1  # type: ignore[misc]


def test_overrides_replace_numbers_by_dotted_name_and_leave_the_rest() -> None:
    model = load(Machine.SW26010, overrides={"dma.max_length": 4096, "ldm_bytes": 32768})
    assert (model.dma.max_length, model.ldm_bytes) == (4096, 32768)
    assert model.dma.max_block == load(Machine.SW26010).dma.max_block
    assert load(Machine.SW26010).ldm_bytes == 65536
    assert load(Machine.SW26010, overrides={"memory.get_latency": 100.5}).memory.get_latency == 100.5


def test_all_bad_overrides_are_told_at_once() -> None:
    with pytest.raises(SwbuildError) as caught:
        load(Machine.SW26010, overrides={"dma.max_lenth": 1, "ldm_bytes": 1.5, "mesh_rows": True})
    text = str(caught.value)
    assert len(caught.value.diagnostics) == 3
    assert "did you mean 'dma.max_length'?" in text
    assert "'ldm_bytes' must be an integer" in text
    assert "'mesh_rows' must be a number" in text


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        (("mesh_rows: {", "mesh_rose: {"), "mesh_rows"),
        (("mesh_rows: {", "extra: {value: 1, unit: x, source: x, confidence: A}\nmesh_rows: {"), "extra"),
    ],
)
def test_a_machine_file_with_a_missing_or_an_extra_number_is_refused(
    edit: tuple[str, str], complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from swbuild.machine import loader

    broken = tmp_path / "sw26010.yaml"
    text = machine_file(Machine.SW26010).read_text(encoding="utf-8")
    assert edit[0] in text
    broken.write_text(text.replace(*edit), encoding="utf-8")
    monkeypatch.setattr(loader, "machine_file", lambda machine: broken)
    loader._document.cache_clear()
    loader._build.cache_clear()
    try:
        with pytest.raises((KeyError, ValueError), match=complaint):
            load(Machine.SW26010)
    finally:
        loader._document.cache_clear()
        loader._build.cache_clear()


def test_loading_imports_nothing_heavy() -> None:
    code = (
        "import sys, swbuild.machine as m; from swbuild.options import Machine; m.load(Machine.SW26010_PRO);"
        "print(*sorted({'numpy', 'islpy', 'pycparser', 'rich', 'jsonschema'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_model_type_is_public() -> None:
    assert isinstance(load(Machine.SW26010), MachineModel)
