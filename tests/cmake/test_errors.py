"""What is wrong is said at configure time, with the reason and the way out."""

from __future__ import annotations

from pathlib import Path

import pytest
from cmakekit import Configure

_HEAD = """\
cmake_minimum_required(VERSION 3.20)
project(wrong LANGUAGES C)
"""

_MANIFEST = "version: 1\nsources: [a.c]\n"

_FIND = "find_package(swbuild CONFIG REQUIRED)\n"


def _configure(configured: Configure, folder: Path, text: str, manifest: str = _MANIFEST, **more: str) -> str:
    folder = folder / "source"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(_HEAD + text)
    (folder / "sunway.yaml").write_text(manifest)
    (folder / "a.c").write_text("void a(void);\n")
    build = configured(folder, source=folder, toolchain=None, check=False, **more)
    assert "Configuring incomplete" in build.output
    # CMake breaks the lines of a message.
    return " ".join(build.output.split())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("add_sunway_kernels(k MANIFST sunway.yaml)", "unknown argument 'MANIFST'. Did you mean MANIFEST?"),
        ("add_sunway_kernels(k MANIFEST sunway.yaml KERNEL a)", "Did you mean KERNELS?"),
        ("add_sunway_kernels(k MANIFEST sunway.yaml gemm)", "argument 'gemm'. It takes MANIFEST, TYPE"),
        ("add_sunway_kernels(k MANIFEST)", "add_sunway_kernels(k): no value after MANIFEST."),
        ("add_sunway_kernels(k)", "MANIFEST is missing"),
        ("add_sunway_kernels(k MANIFEST sunway.yaml TYPE MODULE)", "TYPE is 'MODULE'; it can be STATIC"),
        ("add_library(k a.c)\nadd_sunway_kernels(k MANIFEST sunway.yaml)", "there is a target of this name"),
        ("add_sunway_kernels(k MANIFEST missing.yaml)", "missing.yaml: error[SW108]"),
        ("add_sunway_kernels(k MANIFEST sunway.yaml KERNELS b)", "error[SW"),
        ("sunway_add_tests(k)", "sunway_add_tests(k): there is no target of this name."),
        ("add_library(k a.c)\nsunway_add_tests(k)", "was not made by add_sunway_kernels()"),
        ("add_sunway_kernels(k MANIFEST sunway.yaml)\nsunway_add_tests(k LABEL x)", "Did you mean LABELS?"),
    ],
)
def test_a_wrong_call(configured: Configure, tmp_path: Path, text: str, words: str) -> None:
    assert words in _configure(configured, tmp_path, _FIND + text)


def test_the_manifests_own_messages_are_shown(configured: Configure, tmp_path: Path) -> None:
    text = _FIND + "add_sunway_kernels(k MANIFEST sunway.yaml)"
    output = _configure(configured, tmp_path, text, "version: 1\nsources:\n  - fil: a.c\n    regionen: {}\n")
    assert "add_sunway_kernels(k): swbuild does not accept the manifest." in output
    assert f"{tmp_path}/source/sunway.yaml:3:5: error[SW102]" in output
    assert f"{tmp_path}/source/sunway.yaml:4:5: error[SW102]" in output, "all mistakes at once"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("function(f)\n" + _FIND + "endfunction()\nf()", "was called in the function f()"),
        ("find_package(swbuild 0.2 CONFIG REQUIRED)", 'compatible with requested version "0.2"'),
        ("find_package(swbuild CONFIG REQUIRED COMPONENTS Kernel)", "no component 'Kernel'"),
        ("set(SWBUILD_TARGET nodes)\n" + _FIND, "SWBUILD_TARGET is 'nodes'; it can be emulator"),
        ("set(SWBUILD_TARGET emulator)\n" + _FIND, "toolchains/emulator.cmake"),
        ("set(SWBUILD_MACHINE sw26011)\n" + _FIND, "it can be sw26010 or sw26010-pro"),
    ],
)
def test_a_wrong_find_package(configured: Configure, tmp_path: Path, text: str, words: str) -> None:
    assert words in _configure(configured, tmp_path, text)


def test_the_program_is_missing(configured: Configure, tmp_path: Path) -> None:
    output = _configure(configured, tmp_path, _FIND, SWBUILD_EXECUTABLE="/nowhere/swbuild")
    assert "SWBUILD_EXECUTABLE is /nowhere/swbuild, but there is no such file" in output


def test_a_slave_compiler_that_does_not_work(configured: Configure, tmp_path: Path) -> None:
    text = "set(SWBUILD_TARGET node)\nset(SWBUILD_MACHINE sw26010-pro)\n" + _FIND
    output = _configure(configured, tmp_path, text)
    assert "The slave compiler cannot compile a simple file." in output
    assert "-mslave -msimd" in output


def test_a_region_that_cannot_be_modelled_fails_the_build(configured: Configure, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    text = _HEAD + _FIND + "add_sunway_kernels(k MANIFEST sunway.yaml)\n"
    (folder / "CMakeLists.txt").write_text(text)
    (folder / "sunway.yaml").write_text(_MANIFEST)
    (folder / "a.c").write_text(
        "void a(int n, double *x)\n{\n#pragma scop\n    while (n--)\n        x[n] = 0;\n#pragma endscop\n}\n"
    )
    build = configured(folder, source=folder, toolchain=None)
    output = build.build(check=False)
    assert f"{folder}/a.c:4:5: error[SW2" in output
    assert not list(build.directory.rglob("a.host.c"))
