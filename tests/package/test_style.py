"""Rules that all modules keep."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted([*(ROOT / "swbuild").rglob("*.py"), *(ROOT / "pytest_sw").rglob("*.py")])


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "a module says what it is for"
    names = [target.id for node in tree.body for target in _targets(node) if isinstance(target, ast.Name)]
    offers = any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in tree.body)
    script = "if __name__ ==" in text or "sys.exit(" in text.rstrip().splitlines()[-1]
    assert "__all__" in names or script or not offers, "a module names what it offers"
    assert len(text.splitlines()) <= 700
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.end_lineno is not None:
            assert node.end_lineno - node.lineno < 80, f"{node.name} is too long"


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) else []


def test_the_text_speaks_of_the_project_alone() -> None:
    """No absolute paths of somebody's machine in what is shipped."""
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        for sign in ("/root/", "/home/", "/tmp/"):
            assert sign not in text, f"{path}: {sign}"
