"""A chip that does not exist, with a mesh, calls, headers and tools of its own, goes all the way.

All of it is ``tests/machine/chips``: the package knows nothing of it.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from emulator_programs import call
from objects import shared_objects

from swbuild.check.report import explain
from swbuild.check.results import Outcome
from swbuild.check.session import check_source
from swbuild.check.tasks import CheckSettings, RegionCheck, SourceTask
from swbuild.diagnostics import SwbuildError
from swbuild.emulator import toolchain_dir
from swbuild.frontend import CppOptions, read_source
from swbuild.frontend.request import RegionRequest
from swbuild.generate import generate_unit
from swbuild.machine import load, machine_file, machine_names
from swbuild.machine.reserved import is_machine_name
from swbuild.manifest import load_text, resolve
from swbuild.manifest.schema import manifest_schema
from swbuild.options import KernelOptions, Preset
from swbuild.toolchain import Target, toolchain_for

HERE = Path(__file__).parent
KERNELS = HERE / "kernels.c"
SIZES: dict[str, tuple[dict[str, int], ...]] = {
    "product": ({"ni": 131, "nj": 517, "nk": 33}, {"ni": 1, "nj": 7, "nk": 5}),
    "stencil": ({"steps": 3, "n": 67, "m": 531}, {"steps": 1, "n": 3, "m": 3}),
    "columns": ({"n": 37, "m": 2113}, {"n": 5, "m": 1}),
}
MODES = ("eager", "late", "checked")


@pytest.fixture(autouse=True)
def _tern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWBUILD_MACHINES", str(HERE / "chips"))


@pytest.mark.parametrize(
    ("threads", "preset"),
    [
        ((4, 16), Preset.DEFAULT),
        pytest.param((2, 8), Preset.DEFAULT, marks=pytest.mark.matrix),
        pytest.param((1, 64), Preset.DEFAULT, marks=pytest.mark.matrix),
        ((2, 16), Preset.CLASSIC),
    ],
)
def test_kernels_are_right_on_it(threads: tuple[int, int], preset: Preset, tmp_path: Path) -> None:
    options = KernelOptions(machine="tern", threads=threads, preset=preset, reassociate=True)
    task = SourceTask(
        KERNELS,
        options=dict.fromkeys(SIZES, options),
        checks={name: RegionCheck(sizes) for name, sizes in SIZES.items()},
    )
    results = check_source(task, CheckSettings(timeout=300.0, modes=MODES), tmp_path, shared_objects())
    assert {result.region for result in results} == set(SIZES)
    for result in results:
        assert result.outcome is Outcome.PASS and result.kernels and result.machine == "tern", explain(result)
        assert len(result.cases) == len(MODES) * 2 and result.counts.dma_operations, explain(result)


def test_its_calls_are_in_the_code_and_no_others() -> None:
    model = read_source(KERNELS, CppOptions(), None)
    unit = generate_unit(model, {name: KernelOptions(machine="tern", threads=(2, 16)) for name in SIZES})
    assert unit.slave is not None
    for word in (
        "#include <mesh_core.h>",
        "MESH_LDM union",
        "mesh_self()",
        "mesh_fetch_rows(",
        "mesh_wait(&",
    ):
        assert word in unit.slave.text
    assert "if (sw_thread >= 32)" in unit.slave.text
    for word in ("#include <mesh_host.h>", "MESH_KERNEL(", "mesh_start();", "mesh_spawn(", "mesh_join();"):
        assert word in unit.host.text
    assert "athread_s" not in unit.host.text + unit.slave.text and "athread_d" not in unit.slave.text


def test_a_buffer_may_take_its_ldm_and_no_more(tmp_path: Path) -> None:
    """128 KB: between those of the two others."""
    text = "version: 1\nmachine: {}\nsources: [{}]\ndefaults:\n  ldm-budget: 128KiB\n  threads: {}\n"
    source = tmp_path / "k.c"
    source.write_text("")
    project = resolve(load_text(text.format("tern", source, "[4, 16]"), "m.yaml"), tmp_path / "m.yaml")
    assert project.machine == "tern" and project.sources[0].every.options.grid == (4, 16)
    whole = resolve(
        load_text(f"version: 1\nmachine: tern\nsources: [{source}]\n", "m.yaml"), tmp_path / "m.yaml"
    )
    assert whole.sources[0].every.options.grid == (4, 16)
    with pytest.raises(SwbuildError, match="`ldm-budget`: 131072 bytes are more than the 65536"):
        resolve(load_text(text.format("sw26010", source, "[4, 16]"), "m.yaml"), tmp_path / "m.yaml")
    with pytest.raises(SwbuildError, match="did you mean `tern`"):
        load_text("version: 1\nmachine: tern-1\nsources: [k.c]\n", "m.yaml")


@pytest.mark.parametrize(("shape", "fits"), [("[3, 5]", True), ("[16, 1]", True), ("[8, 8]", False)])
def test_a_grid_has_no_more_threads_than_the_machine_has_cpes(
    shape: str, fits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chip = (HERE / "chips" / "tern.yaml").read_text().replace("name: tern", "name: quart")
    chip = chip.replace("mesh_columns: {value: 16", "mesh_columns: {value: 4")
    (tmp_path / "quart.yaml").write_text(chip)
    (tmp_path / "tern").symlink_to(HERE / "chips" / "tern")
    monkeypatch.setenv("SWBUILD_MACHINES", str(tmp_path))
    text = f"version: 1\nmachine: quart\nsources: [{tmp_path}/k.c]\ndefaults:\n  threads: {shape}\n"
    (tmp_path / "k.c").write_text("")
    manifest = load_text(text, "m.yaml")
    if fits:
        assert str(list(resolve(manifest, tmp_path / "m.yaml").sources[0].every.options.grid)) == shape
        return
    with pytest.raises(SwbuildError) as caught:
        resolve(manifest, tmp_path / "m.yaml")
    told = str(caught.value)
    assert "m.yaml:5:3: error[SW107]: `threads`: [8, 8] are more than the 16 CPEs of the quart" in told


MESH = """\
#ifdef SLAVE
#include <mesh_core.h>
#include <crts.h>
#include <simd.h>
MESH_LDM long mine, got, seen[4];
void wander(long *found)
{
    volatile doublev8 wide = 1.0;
    mine = 100 * _ROW + _COL;
    athread_rma_row_bcast_coll(&got, &mine, sizeof(long), 13);
    CRTS_ssync_row();
    athread_rma_col_bcast_coll(&seen[0], &mine, sizeof(long), 2);
    athread_ssync_array();
    found[_PEN] = 10000 * mine + got + seen[0] + (sizeof wide != 64) + (_PEN != 16 * _ROW + _COL);
}
#else
#include <mesh_host.h>
#include <stdio.h>
MESH_KERNEL(wander);
int main(void)
{
    static long found[64];
    mesh_start();
    mesh_spawn(wander, found);
    mesh_join();
    for (int k = 0; k < 64; k++)
        if (found[k] != 10000 * (100 * (k / 16) + k % 16) + 100 * (k / 16) + 13 + 200 + k % 16)
            printf("%d: %ld\\n", k, found[k]);
    printf("%d CPEs\\n", athread_get_max_threads());
    athread_halt();
    return 0;
}
#endif
"""


def test_the_emulated_mesh_has_its_shape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = toolchain_for(Target.EMULATOR, "tern")
    (tmp_path / "mesh.c").write_text(MESH)
    for side in ("host", "slave"):
        words = ["ternc", f"-m{side}", "-msimd", f"-D{side.upper()}", "-c", "mesh.c", "-o", f"{side}.o"]
        done = call(words, tmp_path, chain.environment())
        assert done.status == 0, done.err
    monkeypatch.delenv("SWBUILD_MACHINES")
    done = call(["ternc", "-mhybrid", "host.o", "slave.o", "-o", "mesh"], tmp_path, chain.environment())
    assert done.status == 0, done.err
    for mode in ("eager", "late", "random:3"):
        done = call(["bsub", "-I", "-b", "./mesh"], tmp_path, chain.environment({"SWBUILD_EMU_DMA": mode}))
        assert (
            "\n64 CPEs\n" in done.out and ": " not in done.out.split("dispatching ...")[1].split("64 CPEs")[0]
        )
    counts = chain.environment({"SWBUILD_EMU_CHECKED": "1", "SWBUILD_EMU_COUNTERS": "counts.json"})
    done = call(["./mesh"], tmp_path, counts)
    assert (done.status, done.out, done.err) == (0, "64 CPEs\n", "")
    assert json.loads((tmp_path / "counts.json").read_text())["machine"] == "tern"


def test_it_is_one_of_the_machines_only_where_it_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine_names() == ("sw26010", "sw26010-pro", "tern")
    assert manifest_schema()["definitions"]["Manifest"]["properties"]["machine"]["enum"][-1] == "tern"
    assert is_machine_name("mesh_fetch") and (toolchain_dir("tern") / "ternc").is_file()
    assert dataclasses.replace(KernelOptions(machine="tern")).grid == load("tern").mesh == (4, 16)
    monkeypatch.delenv("SWBUILD_MACHINES")
    assert machine_names() == ("sw26010", "sw26010-pro") and not is_machine_name("mesh_fetch")
    assert not (toolchain_dir("sw26010") / "ternc").exists()


def test_a_machine_with_fewer_cpes_and_the_older_interface(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file is another one's with some entries changed; the compilers have the same names."""
    text = machine_file("sw26010").read_text(encoding="utf-8")
    changes = {
        "name: sw26010\n": "name: half\n",
        "mesh_rows: {value: 8,": "mesh_rows: {value: 2,",
        "ldm_bytes: {value: 65536,": "ldm_bytes: {value: 32768,",
        "ldm_budget: {value: 57344,": "ldm_budget: {value: 24576,",
    }
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "half.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("SWBUILD_MACHINES", str(tmp_path))
    assert load("sw26010").hands_on("double", 8) and not load("half").hands_on("double", 8)
    checks = {name: RegionCheck(SIZES[name][:1]) for name in ("product", "columns")}
    options = dict.fromkeys(checks, KernelOptions(machine="half", reassociate=True))
    requests = tuple(RegionRequest(name, function=name) for name in checks)
    task = SourceTask(KERNELS, requests=requests, options=options, checks=checks)
    settings = CheckSettings(timeout=300.0, modes=("late", "checked"))
    for result in check_source(task, settings, tmp_path, shared_objects()):
        assert result.outcome is Outcome.PASS and result.threads == (2, 8), explain(result)
        assert result.counts.ldm_bytes is not None and result.counts.ldm_bytes <= 24576 + 4096
    for machine in ("half", "sw26010"):
        assert f"/machines/{machine} " in (toolchain_dir(machine) / "sw5cc").read_text()
