"""What one project of each kind needs: other host languages, several manifests, installation, odd paths."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from buildkit import call
from cmakekit import Build, Configure, copy_project


def test_a_cxx_host_where_paths_have_spaces_and_accents(configured: Configure, tmp_path: Path) -> None:
    folder = tmp_path / "über allem (1), co"
    folder.mkdir()
    source = copy_project("cxx_host", folder / "le code")
    build = configured(source, source=source, build=folder / "le build")
    build.build()
    assert build.run("app") == "3\n"
    assert "no work to do" in build.build()


def test_two_manifests_and_two_programs(configured: Configure) -> None:
    build = configured("two_manifests")
    build.build()
    assert build.run("one") == build.run("two") == "3 5 7\n"


def test_multi_config(configured: Configure) -> None:
    build = configured("two_manifests", generator="Ninja Multi-Config")
    build.build(config="Release")
    assert build.run("one", "Release") == "3 5 7\n"
    build.build(config="Debug")
    assert build.run("two", "Debug") == "3 5 7\n"
    assert len(list(build.directory.rglob("scale.host.c"))) == 1


def test_install_export_and_consume(configured: Configure, tmp_path: Path) -> None:
    library = configured("installed_library", build=tmp_path / "library")
    library.build()
    prefix = tmp_path / "prefix"
    call([library.cmake, "--install", library.directory, "--prefix", prefix], library.environment)
    exported = (prefix / "lib/cmake/scaling/scaling.cmake").read_text()
    assert "swbuild::runtime" in exported
    assert "hybrid" not in exported, "flags belong to the consumer's machine"
    assert (prefix / "include/scale.sw.h").is_file()
    consumer = configured(
        "consumer", source=copy_project("consumer", tmp_path / "c"), build=tmp_path / "b",
        scaling_ROOT=str(prefix),
    )  # fmt: skip
    consumer.build()
    assert consumer.run("app") == "8\n"


def test_outputs_and_properties(configured: Configure) -> None:
    build = configured("outputs", CMAKE_EXPORT_COMPILE_COMMANDS="ON")
    said = [line[3:] for line in build.output.splitlines()]
    assert "headers: generated/scale.sw.h" in said
    assert "reports: generated/scale.report.json" in said
    assert "schedules: generated/scale.schedule.txt" in said
    assert "SUNWAY_KERNELS: scale" in said
    assert "SUNWAY_MACHINE: sw26010" in said
    assert f"SUNWAY_MANIFEST: {build.source}/sunway.yaml" in said
    assert "FOLDER: swbuild" in said
    build.build("all", "serial")
    report = json.loads((build.directory / "generated/scale.report.json").read_text())
    assert [region["region"] for region in report["regions"]] == ["scale"]
    assert "scale" in (build.directory / "generated/scale.schedule.txt").read_text()
    assert build.run("serial") == "8\n"
    assert build.run("entry") == "252\n"
    _check_compile_commands(build)


def _check_compile_commands(build: Build) -> None:
    """Both roles have their own compiler line: editors must see what is compiled."""
    entries = json.loads((build.directory / "compile_commands.json").read_text())
    commands = {Path(entry["file"]).name: entry["command"].split() for entry in entries}
    slave, host = commands["scale.slave.c"], commands["scale.host.c"]
    assert "-slave" in slave and "-msimd" in slave and "-host" not in slave and "-DFACTOR=2" not in slave
    assert "-host" in host and "-DFACTOR=2" in host and "-slave" not in host


def test_clean_removes_what_was_generated(configured: Configure) -> None:
    build = configured("cxx_host", generator="Unix Makefiles")
    build.build()
    folder = build.directory / "kernels.sunway"
    assert (folder / "scale.host.c").is_file()
    build.build("clean")
    assert [path.name for path in folder.iterdir() if ".request." not in path.name] == []


def test_slave_code_by_flags(configured: Configure) -> None:
    build = configured("outputs", SWBUILD_SLAVE_MODE="flags", CMAKE_EXPORT_COMPILE_COMMANDS="ON")
    assert "slave compiler" not in build.output
    build.build()
    assert build.run("entry") == "252\n"
    _check_compile_commands(build)


def test_serial_without_a_toolchain_file(configured: Configure) -> None:
    build = configured("two_manifests", toolchain=None)
    assert "regions run serially (SWBUILD_TARGET=host)" in build.output
    build.build()
    assert build.run("one") == "3 5 7\n"
    assert (build.directory / "scaling.sunway/scale.report.json").is_file()


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
def test_a_cxx_host_on_the_other_machine(configured: Configure) -> None:
    build = configured("cxx_host", SWBUILD_MACHINE="sw26010-pro")
    build.build()
    assert build.run("app") == "3\n"


def test_projects_that_cmake_configures_on_the_way(configured: Configure, tmp_path: Path) -> None:
    """``check_ipo_supported()`` has a project of its own, with the toolchain file, without our variables."""
    source = copy_project("c_host", tmp_path / "source")
    lists = source / "CMakeLists.txt"
    asked = 'include(CheckIPOSupported)\ncheck_ipo_supported(RESULT ipo)\nmessage(STATUS "IPO ${ipo}")\n'
    lists.write_text(lists.read_text() + asked)
    build = configured(
        source, source=source, route="subdirectory", SWBUILD_PYTHON=sys.executable,
        SWBUILD_MACHINE="sw26010-pro",
    )  # fmt: skip
    assert re.search("IPO (TRUE|YES)", build.output)
    build.build()
    assert build.run("app") == "sum correct\n"


def test_the_tests_of_the_manifest(configured: Configure) -> None:
    build = configured("c_host")
    build.build()
    listed = json.loads(build.ctest("--show-only=json-v1"))
    tests = {test["name"]: test for test in listed["tests"]}
    assert sorted(tests) == ["app", "kernels.add", "kernels.scale"]
    properties = {item["name"]: item["value"] for item in tests["kernels.add"]["properties"]}
    assert properties["LABELS"] == ["sunway"]
    assert properties["SKIP_RETURN_CODE"] == 77
    assert properties["TIMEOUT"] == 360
    assert "100% tests passed, 0 tests failed out of 2" in build.ctest("-R", "app|kernels.add")


def test_mpi_host_and_its_own_slave_compiler(configured: Configure, tmp_path: Path) -> None:
    build = configured("mpi_host", SWBUILD_MPI="ON", SWBUILD_MACHINE="sw26010-pro")
    printed = build.build()
    assert "Building SWSlave object" in printed
    assert Path(build.cached("CMAKE_C_COMPILER") or "mpicc").name == "mpicc"
    build.run("app")


#: What strict projects compile everything with; an interface library brings it after all flags of a target.
_STRICT = """\
add_library(strict INTERFACE)
target_compile_options(strict INTERFACE -Wall -Wextra -Werror)
link_libraries(strict)
"""
_REGION_THAT_STAYS = """\
void stays(double *x);
void stays(double *x)
{
#pragma scop
    while (x[0] > 1.0)
        x[0] *= 0.5;
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("toolchain", "compiler"),
    [("emulator", ""), (None, "gcc"), (None, "clang")],
    ids=["emulator", "gcc", "clang"],
)
def test_pragmas_are_no_error_for_strict_projects(
    configured: Configure, tmp_path: Path, toolchain: str | None, compiler: str
) -> None:
    if compiler and shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source = copy_project("cxx_host", tmp_path / "source")
    lists = source / "CMakeLists.txt"
    text = lists.read_text().replace("MANIFEST sunway.yaml", "MANIFEST sunway.yaml REFERENCE ALLOW_REFUSED")
    lists.write_text(text.replace("add_sunway", f"{_STRICT}add_sunway", 1))
    (source / "scale.c").write_text(_REGION_THAT_STAYS + (source / "scale.c").read_text())
    chosen = {"CMAKE_C_COMPILER": compiler} if compiler else {}
    build = configured(source, source=source, toolchain=toolchain, **chosen)
    build.build("app", "kernels.reference")
    assert build.run("app") == "3\n"
    (source / "main.cpp").write_text('#pragma scop\nextern "C" {}\nint main() { return 0; }\n')
    assert "unknown-pragmas" in build.build("app", check=False), "files of others keep their flags"


def test_counted_code_is_an_option(configured: Configure) -> None:
    build = configured("cxx_host", SWBUILD_COUNTED="ON")
    build.build()
    assert _has_model_time(build)
    call([build.cmake, "-DSWBUILD_COUNTED=OFF", build.directory], build.environment)
    build.build()
    assert not _has_model_time(build)
    call(
        [build.cmake, "-DSWBUILD_COUNTED=ON", "-DSWBUILD_SLAVE_MODE=flags", build.directory],
        build.environment,
    )
    build.build()
    assert _has_model_time(build)


def _has_model_time(build: Build) -> bool:
    profile = build.directory / "profile.json"
    call(["swbuild", "run", "--profile", profile, build.program("app")], build.environment)
    shown = call(["swbuild", "profile", profile], build.environment).stdout
    has_host = "host ahead of the first spawn" in shown
    assert has_host == ("compute time is not in it" not in shown), "both roles are counted, or neither"
    return has_host
