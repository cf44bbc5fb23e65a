"""Data flow one way: a module imports what stands below it, and nothing imports in a circle."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: From the bottom to the top; what stands in one line does not know of its neighbours there, but for those
#: of the first line.
LAYERS = (
    (
        *("classes", "collecting", "diagnostics", "endings", "files", "islnumbers", "names", "scratch"),
        *("signals", "tables", "timings"),
    ),
    ("expressions", "machine"),
    ("options", "sw64"),
    ("emulator", "frontend"),
    ("manifest", "polyhedral", "toolchain"),
    ("workers",),
    ("transform", "mapping"),
    ("memory",),
    ("kernelir",),
    ("planning",),
    ("lowering",),
    ("codegen",),
    ("attempt",),
    ("region",),
    ("compilation",),
    ("generate",),
    ("check", "dump"),
    ("bench", "pipeline"),
    ("buildsys",),
    ("cli",),
    ("__main__", "pytest_sw"),
)

#: What is below and still none of its business: the generator and the emulated machine are worlds apart.
GENERATOR = (
    *("expressions", "frontend", "polyhedral", "transform", "mapping", "memory", "planning", "kernelir"),
    *("lowering", "codegen", "attempt", "region", "compilation", "generate"),
)
STRANGERS: dict[str, tuple[str, ...]] = dict.fromkeys(
    GENERATOR, ("emulator", "manifest", "sw64", "toolchain")
)
STRANGERS |= {name: (*STRANGERS[name], "machine") for name in ("polyhedral", "transform")}
STRANGERS |= {"emulator": ("expressions",), "toolchain": ("expressions",)}

Graph = dict[str, set[str]]


def imports(root: Path) -> Graph:
    """Return what each module of ours under ``root`` imports of ours, anywhere in its text.

    Imports for annotations alone (``if TYPE_CHECKING``) count: who needs a name to say what it takes,
    knows of it.
    """
    paths = [path for top in ("swbuild", "pytest_sw") for path in (root / top).rglob("*.py")]
    modules = {_module(root, path): path for path in paths}
    return {name: _imported(name, path, modules) - {name} for name, path in modules.items()}


def _module(root: Path, path: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(name: str, path: Path, modules: dict[str, Path]) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(name, path, node)
            within = {alias.name: f"{base}.{alias.name}" for alias in node.names}
            found |= {inner if inner in modules else base for inner in within.values()}
    return found & modules.keys()


def _absolute(name: str, path: Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    package = package[: len(package) - node.level + 1]
    return ".".join([*package, *filter(None, [node.module])])


def part(module: str) -> str:
    """Return what stands in ``LAYERS`` for ``module``; nothing for ``swbuild``, which holds the version."""
    names = module.split(".")
    return "pytest_sw" if names[0] == "pytest_sw" else (names[1] if len(names) > 1 else "")


def against_the_stream(graph: Graph) -> list[str]:
    """Return the imports of ``graph`` that lead up, aside or to strangers."""
    heights = {name: height for height, layer in enumerate(LAYERS) for name in layer}
    wrong = []
    for module, others in sorted(graph.items()):
        for here, there, other in ((part(module), part(other), other) for other in sorted(others)):
            if not there or here == there:
                continue
            below = heights[there] < max(heights[here], 1)
            if not below or there in STRANGERS.get(here, ()):
                wrong.append(f"{module} imports {other}")
    return wrong


def circle(graph: Graph) -> list[str]:
    """Return modules that import each other in turn, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.fixture(scope="module")
def graph() -> Graph:
    return imports(ROOT)


def test_each_package_stands_somewhere(graph: Graph) -> None:
    assert {part(module) for module in graph} - {""} == {name for layer in LAYERS for name in layer}


def test_imports_lead_down(graph: Graph) -> None:
    assert against_the_stream(graph) == []


def test_nothing_imports_in_a_circle(graph: Graph) -> None:
    assert circle(graph) == []


def test_the_map_names_what_is_there() -> None:
    """Every path in the page on the architecture exists."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:swbuild|tests|pytest_sw|cmake|meson)/[\w./-]*)`", text)
    assert len(named) > 40
    assert [name for name in named if not (ROOT / name).exists()] == []


CODE = {
    "swbuild/memory/plan.py": "from swbuild.planning import placing",
    "swbuild/planning/placing.py": "def f():\n    from swbuild.memory.plan import plan",
    "swbuild/planning/late.py": "if TYPE_CHECKING:\n    import swbuild.cli.app",
    "swbuild/cli/app.py": "from ..kernelir import device\nfrom . import summary",
    "swbuild/cli/summary.py": "from .app import main",
    "swbuild/kernelir/device.py": "import swbuild.emulator.trace",
    "swbuild/emulator/trace.py": "from swbuild import __version__, options",
    "swbuild/options.py": "from swbuild.diagnostics import Span",
    "swbuild/diagnostics.py": "",
    "swbuild/__init__.py": "",
}


@pytest.fixture
def faulty(tmp_path: Path) -> Graph:
    for name, text in CODE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return imports(tmp_path)


def test_wrong_imports_are_found(faulty: Graph) -> None:
    assert against_the_stream(faulty) == [
        "swbuild.kernelir.device imports swbuild.emulator.trace",
        "swbuild.memory.plan imports swbuild.planning.placing",
        "swbuild.planning.late imports swbuild.cli.app",
    ]


@pytest.mark.parametrize("top", ["cli", "memory"])
def test_circles_are_found(faulty: Graph, top: str) -> None:
    other = {"cli": "memory", "memory": "cli"}[top]
    apart = {name: found for name, found in faulty.items() if part(name) != other}
    assert any(part(name) == top for name in circle(apart))
