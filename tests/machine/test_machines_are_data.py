"""No code knows a chip by name, or a mesh by its numbers: both are in the files of the machines."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from swbuild.machine import own_machines

ROOT = Path(__file__).resolve().parents[2]
NAME = re.compile(rf"(?<![\w-])({'|'.join(own_machines())})(?![\w-])")
#: Where the machine is that nobody has to name.
REGISTRY = ROOT / "swbuild" / "machine" / "registry.py"
#: Rooms in which a number of CPEs would be one of a mesh.  (The model of time repeats measurements of 64
#: CPEs, the front end and swbuild.sw64 speak of bits.)
ROOMS = (
    *("buildsys", "check", "cli", "codegen", "dump", "emulator/driver", "kernelir", "lowering", "machine"),
    *("manifest", "mapping", "memory", "pipeline", "planning", "toolchain", "transform"),
)
MESH_NUMBERS = {63, 64}


def _modules(*folders: Path) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


def _without_docs(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes but docstrings."""
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return (node for node in ast.walk(tree) if id(node) not in docs)


def names_of_machines(text: str) -> list[int]:
    """Return the lines on which ``text`` has a machine's name, in a string that is no docstring."""
    return [
        node.lineno
        for node in _without_docs(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.search(node.value)
    ]


def numbers_of_meshes(text: str) -> list[int]:
    """Return the lines on which ``text`` has the size or shape of a mesh.

    A number with a name (``_LINE = 64``, ``alignment: int = 64``) says what it is.
    """
    tree = ast.parse(text)
    named = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _says_what_it_is(node)
        for part in ast.walk(node.value)
    }
    return [node.lineno for node in ast.walk(tree) if id(node) not in named and _is_mesh(node)]


def _says_what_it_is(node: ast.Assign | ast.AnnAssign) -> bool:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    name = str(getattr(target, "id", ""))
    return name.isupper() or "alignment" in name


def _is_mesh(node: ast.AST) -> bool:
    if isinstance(node, ast.Tuple):
        return [getattr(item, "value", None) for item in node.elts] == [8, 8]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod):
        return "cpe" in ast.unparse(node.left) and getattr(node.right, "value", None) == 8
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value in MESH_NUMBERS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('x = "sw26010"', [1]),
        ('def f(m="sw26010-pro"): ...', [1]),
        ('print(f"on the sw26010 it is")', [1]),
        ('"""The sw26010."""\n\n\ndef f():\n    """As on the sw26010-pro."""', []),
        ('x = "stream_sw26010"', []),
    ],
)
def test_names_are_found(text: str, found: list[int]) -> None:
    assert names_of_machines(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(threads=(8, 8)): ...", [1]),
        ("if cpe < 64:\n    row = cpe // 8", [1, 2]),
        ("for k in range(64): ...", [1]),
        ("_LINE = 64\nx = y // 8", []),
        ("class A:\n    alignment: int = 64\n    cpes: int = 64", [3]),
    ],
)
def test_numbers_are_found(text: str, found: list[int]) -> None:
    assert sorted(numbers_of_meshes(text)) == found


def test_no_module_names_a_machine() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in _modules(ROOT / "swbuild", ROOT / "pytest_sw")
        for line in names_of_machines(path.read_text(encoding="utf-8"))
    }
    assert {place.split(":")[0] for place in found} == {str(REGISTRY.relative_to(ROOT))}, sorted(found)
    assert len(found) == 1


def test_no_module_has_the_numbers_of_a_mesh() -> None:
    modules = _modules(*(ROOT / "swbuild" / room for room in ROOMS), ROOT / "pytest_sw")
    modules += sorted((ROOT / "swbuild").glob("*.py"))
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in modules
        for line in numbers_of_meshes(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_the_runtime_takes_its_mesh_from_the_machine() -> None:
    for path in sorted((ROOT / "swbuild" / "emulator").glob("*/*.[ch]")):
        text = path.read_text(encoding="utf-8")
        assert not NAME.search(text) and not re.search(r"\b2601[01]\b", text), path
        assert not re.search(r"\b(pen|cpe|id|row|col)\)? *[/%<] *(8|64)\b|\b0x(ff)+ULL\b", text), path


def test_nothing_but_its_own_files_knows_the_third_chip() -> None:
    places = [ROOT / name for name in ("swbuild", "pytest_sw", "cmake", "meson")]
    for path in (path for place in places for path in place.rglob("*") if path.is_file()):
        assert not re.search(rb"\bterns?\b|\bternc\b|\bmesh_fetch\b", path.read_bytes()), path
