"""Words that are nearly right, and values that look like options."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from swbuild.cli.sizenames import unknown_sizes

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["chekc", "a.c"], "check"),
        (["Explain", "a.c"], "explain"),
        (["docter"], "doctor"),
        (["cache", "shwo"], "show"),
        (["check", "a.c", "--thread", "8x8"], "--threads"),
        (["check", "a.c", "--allow-refuse"], "--allow-refused"),
        (["generate", "a.c", "--cpp-option", "x"], "--cpp-options"),
        (["check", "a.c", "--target", "emulater"], "emulator"),
    ],
)
def test_the_likeliest_word_is_named(swbuild: Run, words: list[str], meant: str) -> None:
    done = swbuild(*words)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"  hint: did you mean `{meant}`?"


def test_sizes_that_no_region_has_are_named(tmp_path: Path) -> None:
    """Not those of regions that did not run, whose words are in the file."""
    source = tmp_path / "f.c"
    source.write_text("void f(int n, int sweeps) {}\nvoid g(int width) {}\n")
    (found,) = unknown_sizes(["n", "width", "swepes"], {"n", "sweeps"}, [source])
    assert (found.code, found.hint) == ("SW504", "did you mean 'sweeps'?")
    assert found.message == "no region has a size called 'swepes'; they have n, sweeps"
    assert unknown_sizes(["swepes"], set(), [source]) == (), "nothing ran"


@pytest.mark.slow
@pytest.mark.parametrize(("size", "status"), [("n=3", 0), ("nn=3", 2)])
def test_a_misspelt_size_is_a_mistake(swbuild: Run, tmp_path: Path, size: str, status: int) -> None:
    source = tmp_path / "f.c"
    source.write_text(
        "void f(int n, int m, double a[restrict n][m]) {\n#pragma scop\n"
        "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++) a[i][j] += 1.0;\n#pragma endscop\n}\n"
    )
    done = swbuild("check", str(source), "-q", "-p", "m=5", "-p", size)
    assert done.returncode == status
    assert ("error[SW504]: no region has a size called 'nn'" in done.stderr) == (status != 0)


def test_nothing_is_guessed_where_nothing_is_near(swbuild: Run) -> None:
    assert "did you mean" not in swbuild("xyzzy").stderr


@pytest.mark.parametrize("link", [["--link", "-lm"], ["--link=-lm"], ["--link", "-lm", "--link", "-pthread"]])
def test_arguments_for_the_linker_begin_with_a_dash(swbuild: Run, tmp_path: Path, link: list[str]) -> None:
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\nint main(int n, char **a) { return puts(a[1]) < 0; }\n"
    )
    done = swbuild("check", "--program", "main.c", *link, "--arg", "-n")
    assert "right, but nothing of it is offloaded" in done.stderr and done.returncode == 77
