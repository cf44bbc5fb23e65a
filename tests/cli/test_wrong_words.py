"""Words that are nearly right, and values that look like options."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

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


def test_nothing_is_guessed_where_nothing_is_near(swbuild: Run) -> None:
    assert "did you mean" not in swbuild("xyzzy").stderr


@pytest.mark.parametrize("link", [["--link", "-lm"], ["--link=-lm"], ["--link", "-lm", "--link", "-pthread"]])
def test_arguments_for_the_linker_begin_with_a_dash(swbuild: Run, tmp_path: Path, link: list[str]) -> None:
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\nint main(int n, char **a) { return puts(a[1]) < 0; }\n"
    )
    done = swbuild("check", "--program", "main.c", *link, "--arg", "-n")
    assert "right, but nothing of it is offloaded" in done.stderr and done.returncode == 77
