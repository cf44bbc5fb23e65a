"""Every pitfall that an emulator can see: its little program, and the diagnostic that it must give.

The head of a program says all: ``// row 3, machine sw26010, mode checked, expect SW661 exit 86``.  The
guilty line is marked HERE; where a diagnostic must name a second place, that is marked THERE.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from emulator_programs import Outcome, build, compile_role, launch

HEAD = re.compile(
    r"// row (?P<row>\w+), machine (?P<machine>\S+), mode (?P<modes>[\w: ]+), "
    r"expect (?P<code>\S+) exit (?P<exit>-?\d+)"
)
FOLDER = Path(__file__).parent / "pitfalls"
TEXTS = {
    "not-volatile": "is not volatile",
    "msimd": "Please use -msimd option",
    "multiple-definition": "multiple definition",
}


def head(path: Path) -> re.Match[str]:
    found = HEAD.match(path.read_text())
    assert found, f"{path.name}: no head line"
    return found


def marked(path: Path, mark: str) -> int:
    """Return the number of the line with the mark, 0 without one."""
    lines = path.read_text().splitlines()
    return next((k + 1 for k, text in enumerate(lines) if f"/* {mark} */" in text), 0)


def settings(path: Path) -> dict[str, str]:
    found = re.search(r"^// environment (\w+)=(\S+)$", path.read_text(), re.MULTILINE)
    return {found[1]: found[2]} if found else {}


def runs() -> list[tuple[str, str]]:
    found = []
    for path in sorted(FOLDER.glob("*.c")):
        found += [
            (path.name, mode) for mode in head(path)["modes"].split() if mode not in ("compile", "link")
        ]
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {}


def folder_of(name: str, built: dict[str, Path], factory: pytest.TempPathFactory) -> Path:
    """Build a program once for all its modes."""
    if name not in built:
        folder = factory.mktemp(name.replace(".", "_"))
        done = build(head(FOLDER / name)["machine"], FOLDER / name, folder)
        assert done.status == 0, done.err
        built[name] = folder
    return built[name]


@pytest.mark.parametrize(("name", "mode"), runs())
def test_diagnosed(
    name: str, mode: str, built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = FOLDER / name
    expected = head(path)
    done = launch(expected["machine"], folder_of(name, built, tmp_path_factory), mode, **settings(path))
    assert f"[{expected['code']}]" in done.err, done
    assert done.status == int(expected["exit"]), done
    check_places(path, expected["code"], done)


def check_places(path: Path, code: str, done: Outcome) -> None:
    """The message of that code is at the line HERE (for a hang: one of the places), and names THERE."""
    here, there = marked(path, "HERE"), marked(path, "THERE")
    message = next(line for line in done.err.splitlines() if f"[{code}]" in line)
    text = done.err if code == "SW640" else message.split("error[")[0]
    if here:  # OR: where checked mode sees it, on entry to a function
        lines = [here, marked(path, "OR") or here]
        assert any(f"{path.name}:{line}" in text for line in lines), done.err
    if there:
        assert f"{path.name}:{there}" in message, done.err


@pytest.mark.parametrize(
    "name", [p.name for p in sorted(FOLDER.glob("*.c")) if head(p)["modes"] == "compile"]
)
def test_diagnosed_by_the_compiler(name: str, tmp_path: Path) -> None:
    path = FOLDER / name
    expected = head(path)
    done = compile_role(expected["machine"], "slave", path, tmp_path / "slave.o", ["-O1", "-std=gnu99"])
    assert TEXTS[expected["code"]] in done.err
    assert f"{name}:{marked(path, 'HERE')}:" in done.err
    assert done.status == int(expected["exit"])


@pytest.mark.parametrize("name", [p.name for p in sorted(FOLDER.glob("*.c")) if head(p)["modes"] == "link"])
def test_diagnosed_by_the_linker(name: str, tmp_path: Path) -> None:
    expected = head(FOLDER / name)
    done = build(expected["machine"], FOLDER / name, tmp_path)
    assert TEXTS.get(expected["code"], f"[{expected['code']}]") in done.err
    assert done.status == int(expected["exit"])
    assert not (tmp_path / "app").exists()


def test_most_rows_have_a_program() -> None:
    rows = {head(path)["row"] for path in FOLDER.glob("*.c")}
    visible = {str(k) for k in (*range(1, 13), 14, *range(16, 30), 36)} - {"15"}
    assert visible | {"19b"} <= rows
