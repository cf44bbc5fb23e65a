"""The modules beside the tests are importable."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def stand_ins() -> str:
    """The directory of the emulator's tools, which play the node's."""
    from swbuild.emulator import toolchain_dir

    return str(toolchain_dir("sw26010"))


@pytest.fixture(scope="session")
def acting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of ten kernels that misbehave on demand, the same one for all workers."""
    from acting import make_project

    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))[:12]
    return make_project(tmp_path_factory.getbasetemp().parent / f"acting-{run}", 10)
