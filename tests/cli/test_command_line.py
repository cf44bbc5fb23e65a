"""The frame of the command line: help, statuses, what an error looks like."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from swbuild import __version__
from swbuild.cli import app
from swbuild.cli.catalogue import catalogue, page_text
from swbuild.cli.command import COMMANDS, load
from swbuild.cli.exits import Exit

Run = Callable[..., "subprocess.CompletedProcess[str]"]
MANIFEST = """\
version: 1
sources:
  - file: a.c
    regions: {first: , second: {index: 1, function: first}}
  - b.c
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("a.c", "b.c"):
        (tmp_path / name).touch()
    path = tmp_path / "sunway.yaml"
    path.write_text(MANIFEST)
    return path


def test_help_names_every_command(swbuild: Run) -> None:
    done = swbuild("--help")
    assert done.returncode == 0
    for command in COMMANDS:
        assert f"  {command.name} " in done.stdout


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_explains_itself(command: app.Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run([command.name, "--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: swbuild {command.name}")
    assert load(command).__doc__
    for line in text.splitlines():
        assert line.rstrip() == line


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["--version"]) == 0
    assert capsys.readouterr().out == f"swbuild {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["frobnicate"],
        ["check"],
        ["check", "--threads"],
        ["query", "m.yaml", "--format", "xml"],
        ["generate", "a.c", "--nonsense"],
        ["emulator", "--machine", "x86", "env"],
        ["emulator", "env", "--machine", "x86"],
        ["emulator", "path", "sw5cc"],
        ["check", "a.c", "--dma", "never"],
        ["check", "a.c", "--dma", "random"],
        ["check", "a.c", "--seed", "-1"],
        ["check", "a.c", "--timeout", "0"],
        ["check", "a.c", "--timeout", "nan"],
    ],
)
def test_a_wrong_command_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(arguments) == Exit.USER_ERROR
    assert "error[SW100]: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--threads", "9x8"], "[9, 8] are 72 threads"),
        (["--threads", "8:8"], "SW106"),
        (["--threads", "many"], "--threads: error[SW105]"),
        (["--tile", "64,x"], "--tile: error[SW105]"),
        (["--tile", "0"], "out of range"),
        (["--fusion", "on"], "choose `max` or `min`"),
        (["--preset", "clasic"], "did you mean `classic`?"),
        (["--machine", "sw26010pro"], "did you mean `sw26010-pro`?"),
        (["--ldm-budget", "64KB"], "48KiB"),
        (["-p", "n"], "NAME=VALUE"),
        (["-p", "n=3.5"], "NAME=VALUE"),
        (["-p", "n=2147483648"], "fits 32 bits"),
        (["--typical", "n"], "--typical n: write NAME=VALUE"),
        (["--array", "A"], "--array A=n,m"),
        (["--array", "A=n,,m"], "--array A=n,m"),
        (["-k", "frist"], "did you mean `first`?"),
    ],
)
def test_a_wrong_option(
    project: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MANIFEST.replace("  - b.c\n", "")
    project.write_text(text)
    assert app.run(["query", str(project), *options]) == Exit.USER_ERROR
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.out == ""


def test_query_json(swbuild: Run, project: Path) -> None:
    done = swbuild("query", project.name, "--machine", "sw26010-pro")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["version"], answer["machine"], answer["manifest"]) == (1, "sw26010-pro", "sunway.yaml")
    first, second = answer["sources"]
    assert (first["name"], first["host"], first["slave"]) == ("a", "a.host.c", "a.slave.c")
    assert (first["header"], first["report"]) == ("a.sw.h", "a.report.json")
    assert [region["name"] for region in first["regions"]] == ["first", "second"]
    assert second["regions"] is None


def test_query_lines(swbuild: Run, project: Path) -> None:
    done = swbuild("query", project.name, "--format", "lines")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert lines[0][:-1] == ["a", "a.c", "a.host.c", "a.slave.c", "a.sw.h", "a.report.json"]
    assert len(lines[0][-1]) == 32
    assert [line[0] for line in lines] == ["a", "b"]


def test_inputs_are_one_manifest_or_c_files(swbuild: Run, project: Path) -> None:
    assert swbuild("query", "a.c", "b.c", "-D", "N=3", "-I", ".").returncode == 0
    done = swbuild("query", project.name, "a.c")
    assert (done.returncode, "one manifest or several C files" in done.stderr) == (2, True)


@pytest.mark.parametrize("name", ["missing.yaml", "missing.c"])
def test_a_missing_input(swbuild: Run, name: str) -> None:
    done = swbuild("query", name)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{name}: error[SW108]: ")


def test_an_internal_error_is_called_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from swbuild.cli.commands import schema

    def broken(args: object) -> int:
        raise RuntimeError("boom")

    monkeypatch.setattr(schema, "run", broken)
    assert app.run(["schema"]) == Exit.INTERNAL
    text = capsys.readouterr().err
    assert "internal error: RuntimeError: boom" in text
    assert "SWBUILD_DEBUG=1" in text
    assert "Traceback" not in text
    assert app.run(["--debug", "schema"]) == Exit.INTERNAL
    assert "Traceback" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error() -> None:
    code = f"{sys.executable} -m swbuild schema | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["{", "0"]
    assert done.stderr == ""


def test_schema_prints_what_is_committed(swbuild: Run) -> None:
    root = Path(__file__).parents[2]
    assert swbuild("schema").stdout == (root / "swbuild/manifest/swbuild.schema.json").read_text(
        encoding="utf-8"
    )
    assert swbuild("schema", "--reference").stdout == (root / "docs/manifest.md").read_text(encoding="utf-8")


def test_the_page_of_the_command_line_is_fresh() -> None:
    from swbuild.cli.reference import reference_text

    page = Path(__file__).parents[2] / "docs" / "cli.md"
    assert page.read_text(encoding="utf-8") == reference_text(), "run 'swbuild schema --update'"


def test_explain_codes(swbuild: Run) -> None:
    done = swbuild("explain", "SW106", "sw102")
    assert done.returncode == 0
    assert "SW106: A word that YAML 1.1" in done.stdout
    assert "SW102: " in done.stdout
    assert "about C sources" in swbuild("explain", "SW299").stdout
    assert swbuild("explain", "SW099").returncode == 2


def test_every_code_of_manifest_and_command_line_is_explained() -> None:
    root = Path(__file__).parents[2] / "swbuild"
    texts = [
        path.read_text(encoding="utf-8")
        for part in ("manifest", "cli", "pipeline")
        for path in (root / part).rglob("*.py")
    ]
    used = set(re.findall(r'"(SW1[0-9]{2})"', "".join(texts)))
    assert used == {code for code in catalogue() if code.startswith("SW1")}


def test_explained_codes_exist() -> None:
    root = Path(__file__).parents[2] / "swbuild"
    files = [path for suffix in ("py", "c", "h") for path in root.rglob(f"*.{suffix}")]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    assert [code for code in catalogue() if code not in text] == []


def test_every_paragraph_of_the_catalogue_explains_a_code_of_its_own() -> None:
    text = (Path(__file__).parents[2] / "swbuild" / "cli" / "codes.txt").read_text(encoding="utf-8")
    assert re.findall(r"^SW\d{3}", text, re.MULTILINE) == list(catalogue())


def test_the_page_of_diagnostics_is_fresh() -> None:
    page = Path(__file__).parents[2] / "docs" / "diagnostics.md"
    assert page.read_text(encoding="utf-8") == page_text(), "run 'swbuild schema --update'"


def test_doctor(swbuild: Run) -> None:
    done = swbuild("doctor")
    assert done.returncode == 0, done.stdout
    assert "emulator sw26010-pro" in done.stdout
    report = json.loads(swbuild("doctor", "--json").stdout)
    assert {"packages", "programs", "targets"} == set(report)
    assert all(item["there"] for items in report.values() for item in items if item["needed"])


def test_doctor_says_what_is_missing(swbuild: Run, tmp_path: Path) -> None:
    done = swbuild("doctor", PATH=str(tmp_path))
    assert done.returncode == Exit.INFRASTRUCTURE
    assert any(line.split()[:2] == ["gcc", "MISSING"] for line in done.stdout.splitlines())
