"""What the pages say is true: snippets run, links lead somewhere, options exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from swbuild.cli.app import build_parser
from swbuild.cli.command import COMMANDS
from swbuild.manifest import load_text

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
IDS = [page.name for page in PAGES]


def _blocks(page: Path, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", ["architecture.md", "internals.md"])
def test_modules_exist(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:\w+/)*\w+\.(?:py|c))`", text))
    known = {path.relative_to(ROOT).parts for path in ROOT.glob("*/**/*") if path.suffix in (".py", ".c")}
    ends = {parts[k:] for parts in known for k in range(len(parts))}
    assert len(named) > 20
    assert [name for name in sorted(named) if tuple(name.split("/")) not in ends] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_commands_and_options_exist(page: Path) -> None:
    known = {command.name for command in COMMANDS}
    lines = [
        line for block in _blocks(page, "console") for line in block.splitlines() if line.startswith("$ ")
    ]
    for call in re.findall(r"\bswbuild +([a-z]+)([^&|#)\n]*)", "\n".join(lines)):
        name, rest = call
        assert name in known, call
        help_text = _help(name)
        for option in re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", rest.split(" ./")[0]):
            assert option in help_text, call


def _help(name: str) -> str:
    parser = build_parser(name)
    return next(
        choice.format_help()
        for action in parser._actions
        if isinstance(action.choices, dict)
        for command, choice in action.choices.items()
        if command == name
    )


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_manifests_are_good(page: Path) -> None:
    for block in _blocks(page, "yaml"):
        if block.startswith("version:"):
            load_text(block, page.name)


def _shell(script: str, directory: Path) -> subprocess.CompletedProcess[str]:
    tools = directory / "tools"
    tools.mkdir(exist_ok=True)
    tool = tools / "swbuild"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m swbuild "$@"\n')
    tool.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-ec", script], cwd=directory, env=environment, capture_output=True, text=True, check=False
    )


def test_the_readme_shows_what_explain_says(tmp_path: Path) -> None:
    readme = ROOT / "README.md"
    (tmp_path / "gemm.c").write_text(_blocks(readme, "c")[0])
    block = next(block for block in _blocks(readme, "console") if block.startswith("$ swbuild explain"))
    done = _shell("swbuild explain gemm.c", tmp_path)
    assert done.stdout == block.split("\n", 1)[1]


def test_the_readme_shows_parts_of_a_slave_file(tmp_path: Path) -> None:
    source, shown = _blocks(ROOT / "README.md", "c")[:2]
    (tmp_path / "gemm.c").write_text(source)
    assert _shell("swbuild generate gemm.c", tmp_path).returncode == 0
    slave = (tmp_path / "gemm.slave.c").read_text()
    parts = [part.strip("\n") for part in re.split(r"^ *…$", shown, flags=re.MULTILINE)]
    assert len(parts) > 3 and "" not in parts
    assert [part for part in parts if part not in slave] == []


def test_the_readme_shows_real_mistakes(tmp_path: Path) -> None:
    block = next(block for block in _blocks(ROOT / "README.md", "console") if "error[" in block)
    shown = block.split("\n", 1)[1]
    manifest = "version: 1\nsources:\n  - file: gemm.c\n    regions:\n      gemm:\n"
    (tmp_path / "sunway.yaml").write_text(
        f"{manifest}        thread: [8, 8]\n        tile: 64\n        fusion: on\n"
    )
    done = _shell("swbuild check sunway.yaml", tmp_path)
    assert (done.returncode, done.stderr) == (2, shown)


@pytest.mark.slow
def test_getting_started_works(tmp_path: Path) -> None:
    """Everything of the page that is about the example runs as it stands."""
    page = ROOT / "docs" / "getting-started.md"
    (tmp_path / "relax.c").write_text(_blocks(page, "c")[0])
    manifest = next(block for block in _blocks(page, "yaml") if block.startswith("version:"))
    (tmp_path / "sunway.yaml").write_text(manifest.replace("100, 1000", "100"))
    (tmp_path / "main.c").write_text(_blocks(page, "c")[1])
    commands = [line[2:] for block in _blocks(page, "console") for line in block.splitlines()]
    script = "\n".join(line for line in commands if re.search(r"relax|app|emulator|sunway\.yaml|main", line))
    script = script.replace("swbuild init relax.c > sunway.yaml", "swbuild init relax.c > new.yaml")
    done = _shell(script.replace("n=1000", "n=100"), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("sum 79202.0")
