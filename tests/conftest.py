"""Options and marks of the whole suite."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from objects import keep_in

from swbuild.collecting import collect_rarely

_HERE = Path(__file__).parent

#: Whatever tests generate, be it in processes of their own, is verified after every pass of the generator.
os.environ["SWBUILD_VERIFY"] = "1"

collect_rarely()

#: What `pytest -m quick` runs: of every area the part that fails first when something breaks.
_QUICK = (
    "buildsys/test_cache.py",
    "buildsys/test_pages.py::test_files_are_shown_as_they_are",
    "check/test_compare.py",
    "check/test_results.py",
    "check/test_session.py",
    "check/test_stored.py",
    "check/test_text.py",
    "cli/test_command_line.py",
    "cli/test_light.py",
    "cli/test_wrong_words.py",
    "cmake/test_features.py::test_two_manifests_and_two_programs",
    "codegen/test_golden.py",
    "emulator/test_compilers.py",
    "emulator/test_install.py",
    "examples/test_loops.py",
    "frontend/test_errors.py",
    "frontend/test_model.py",
    "fuzz/test_bad_inputs.py",
    "generator/test_names.py",
    "generator/test_reductions.py",
    "machine/",
    "manifest/",
    "meson/test_meson.py::test_on_the_emulator",
    "model/test_replay.py",
    "model/test_requests.py",
    "package/test_codes.py",
    "package/test_docs.py::test_links_lead_somewhere",
    "package/test_docs.py::test_commands_and_options_exist",
    "package/test_import.py",
    "package/test_style.py",
    "package/test_tables.py",
    "pytest_sw/test_options.py",
    "sw64/test_blocks.py",
    "sw64/test_pipeline.py",
    "sw64/test_syntax.py",
    "toolchain/",
)


@pytest.fixture(autouse=True, scope="session")
def _shared_objects(tmp_path_factory: pytest.TempPathFactory) -> None:
    keep_in(tmp_path_factory.mktemp("objects"))


@pytest.fixture(autouse=True, scope="session")
def _compiled_modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have the Python processes that tests start compile the modules that they import once for all.

    Many import swbuild from its sources; where Python is told to write nothing beside them, what it compiles
    goes into a folder of this run.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "bytecode"
    with pytest.MonkeyPatch.context() as patch:
        if "PYTHONDONTWRITEBYTECODE" in os.environ:
            patch.delenv("PYTHONDONTWRITEBYTECODE")
            patch.setenv("PYTHONPYCACHEPREFIX", str(folder))
        yield


@pytest.fixture(autouse=True, scope="session")
def _verified_models() -> Iterator[None]:
    """Have the verifier look at every model that a test's own process makes."""
    from swbuild.frontend import modeller
    from swbuild.frontend.request import RefusedRegion
    from swbuild.frontend.verifying import statement_faults

    model_region = modeller.model_region

    def verified(*arguments: Any) -> Any:
        found = model_region(*arguments)
        if not isinstance(found, RefusedRegion):
            assert not statement_faults(found[0])
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modeller, "model_region", verified)
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the expected files from what is generated now"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        name = f"{item.path.relative_to(_HERE).as_posix()}::{item.name.partition('[')[0]}"
        if name.startswith(_QUICK) and not item.get_closest_marker("matrix"):
            item.add_marker(pytest.mark.quick)
