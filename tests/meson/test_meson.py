"""Meson's route: the subproject, the rules that ``swbuild init meson`` writes, and machine files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from buildkit import Installation, call
from changes import SCENARIOS, CountedProject
from cmakekit import Configure, copy_project
from fakenode import FakeNode
from mesonkit import Setup, meson_program, node_file

from swbuild.buildsys.mesonfiles import machine_file
from swbuild.machine import machine_names
from swbuild.toolchain import Target

#: After configuring again, Meson lets Ninja forget that outputs older than their inputs are up to date: what
#: an earlier change left as it was is generated once more, and compiled no more.
_AFTER_CONFIGURING = {
    "comment in the manifest": (1, 0, 0),
    "sizes to check edited": (1, 0, 0),
}


def test_counts(meson: Setup, installation: Installation, tmp_path: Path) -> None:
    project = CountedProject(tmp_path / "source", installation, tmp_path / "package")
    node = FakeNode(tmp_path / "node", project.program)
    cross = node_file(tmp_path, "sw26010-pro")
    build = meson(project.folder, "--cross-file", cross, path=(node.bin,))
    node.clear()
    for name, change, by_cmake in SCENARIOS:
        expected = _AFTER_CONFIGURING.get(name, by_cmake)
        change(project)
        build.build()
        tally = node.tally()
        assert tally.numbers() == expected, f"{name}: {tally}"
        build.build()
        assert node.tally().numbers() == (0, 0, 0), f"built again after {name}"


@pytest.mark.parametrize("machine", machine_names())
def test_cmake_and_meson_agree(
    meson: Setup, configured: Configure, installation: Installation, tmp_path: Path, machine: str
) -> None:
    """The same manifest gives the same bytes and is compiled by the same slave commands."""
    node = FakeNode(tmp_path / "node", installation.program)
    source = copy_project("counted", tmp_path / "source")
    by_cmake = configured(
        source, source=source, toolchain=machine, path=(node.bin,), build=tmp_path / "cmake"
    )
    node.clear()
    by_cmake.build()
    first = _slave_commands(node)
    cross = node_file(tmp_path, machine)
    by_meson = meson(source, "--cross-file", cross, "-Db_staticpic=false", path=(node.bin,))
    node.clear()
    by_meson.build()
    assert first and first == _slave_commands(node)
    left, right = by_cmake.directory / "kernels.sunway", by_meson.directory / "sunway"
    names = [f"{stem}.{kind}" for stem in ("add", "scale") for kind in ("host.c", "slave.c", "sw.h")]
    for name in names:
        assert (left / name).read_bytes() == (right / name).read_bytes(), name


def _slave_commands(node: FakeNode) -> list[list[str]]:
    """Return the slave command lines without the paths that a build directory decides."""
    found = []
    for line in node.lines():
        words = line.split()
        if words[-1].endswith(".slave.c") or (".slave.c" in line and " -c " in line):
            kept, skip = [], False
            for word in words:
                if skip:
                    skip = False
                elif word in ("-o", "-MT", "-MF"):
                    skip = True
                elif word.endswith(".slave.c"):
                    kept.append(Path(word).name)
                elif not word.startswith("-I"):
                    kept.append(word)
            found.append(sorted(kept, key=lambda word: word in ("-MD", "-c") or word.endswith(".c")))
    return sorted(found)


def test_on_the_emulator(meson: Setup, tmp_path: Path) -> None:
    source = copy_project("counted", tmp_path / "source")
    native = tmp_path / "emulator.ini"
    native.write_text(machine_file(Target.EMULATOR, "sw26010"))
    build = meson(source, "--native-file", native)
    build.build()
    build.run("first")
    build.run("second")
    assert "no work to do" in build.build()
    listed = call([meson_program(), "introspect", "--tests", build.directory], build.environment).stdout
    tests = {test["name"]: test for test in json.loads(listed)}
    assert sorted(tests) == ["kernels.add", "kernels.scale"]
    assert tests["kernels.add"]["timeout"] == 360
    assert tests["kernels.add"]["cmd"][1] == "check"


def test_serial_without_a_machine_file(meson: Setup, tmp_path: Path) -> None:
    build = meson(copy_project("counted", tmp_path / "source"))
    build.build()
    build.run("first")
    assert (build.directory / "sunway/scale.report.json").is_file()


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_pragmas_are_no_error_for_strict_projects(meson: Setup, tmp_path: Path, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    native = tmp_path / "compiler.ini"
    native.write_text(f"[binaries]\nc = '{compiler}'\n")
    strict = ("-Dwarning_level=3", "-Dwerror=true", "-Dc_args=-Wunknown-pragmas")
    build = meson(copy_project("counted", tmp_path / "source"), "--native-file", native, *strict)
    build.build()
    build.run("first")


def test_host_parts_and_counted_code(meson: Setup, tmp_path: Path) -> None:
    native = tmp_path / "emulator.ini"
    native.write_text(machine_file(Target.EMULATOR, "sw26010"))
    options = ("-Dwarning_level=2", "-Dwerror=true", "-Dswbuild:counted=true")
    build = meson(copy_project("counted", tmp_path / "source"), "--native-file", native, *options)
    build.build()
    run = ["swbuild", "run", "--checked", build.directory / "first"]
    assert call(run, build.environment).stdout == "", "libraries are thin archives"
    profile = tmp_path / "profile.json"
    call(["swbuild", "run", "--profile", profile, build.directory / "first"], build.environment)
    shown = call(["swbuild", "profile", profile], build.environment).stdout
    assert "compute time is not in it" not in shown and "host ahead of the first spawn" in shown


def test_a_wrong_manifest(meson: Setup, tmp_path: Path) -> None:
    source = copy_project("counted", tmp_path / "source")
    (source / "sunway.yaml").write_text("version: 1\nsources: [{fil: a.c}]\n")
    output = meson(source, check=False).output
    assert "swbuild does not accept the manifest" in output
    assert "sunway.yaml:2:12: error[SW102]" in output


def test_the_rules_are_checked_for_freshness(installation: Installation, tmp_path: Path) -> None:
    source = copy_project("counted", tmp_path / "source")
    environment = installation.environment()
    command = [installation.program, "init", "meson", "sunway.yaml"]
    call(command, environment, source)
    call([*command, "--check"], environment, source)
    rules = source / "sunway" / "meson.build"
    rules.write_text(rules.read_text() + "\n")
    done = call([*command, "--check"], environment, source, check=False)
    assert done.returncode == 2 and "error[SW706]" in done.stdout


@pytest.mark.parametrize("machine", machine_names())
def test_machine_files_run_programs_through_the_launcher(machine: str) -> None:
    text = machine_file(Target.NODE, machine)
    assert "exe_wrapper = ['bsub', '-b', '-I', '-q', 'q_sw_expr', '-n', '1', '-cgsp', '64'" in text
    assert ("'-cache_size', '0'" in text) == (machine == "sw26010-pro")
    assert "needs_exe_wrapper = true" in text


def test_a_machine_that_the_user_adds(meson: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The subproject knows nothing of it: its machine file brings the flags."""
    monkeypatch.setenv("SWBUILD_MACHINES", str(Path(__file__).parents[1] / "machine" / "chips"))
    native = tmp_path / "tern.ini"
    native.write_text(machine_file(Target.EMULATOR, "tern"))
    build = meson(copy_project("counted", tmp_path / "source"), "--native-file", native)
    build.build()
    build.run("first")
    assert "mesh_core.h" in next(build.directory.rglob("scale.slave.c")).read_text()
