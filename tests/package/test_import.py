"""Importing swbuild must cost nothing: build back ends and pytest import it in every session."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("islpy", "yaml", "pycparser", "numpy", "rich", "argparse")


@pytest.mark.parametrize("module", ["swbuild", "swbuild.cli", "pytest_sw"])
def test_import_is_light(module: str) -> None:
    code = f"import sys, {module}; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_version_is_the_installed_one() -> None:
    from importlib.metadata import PackageNotFoundError, version

    import swbuild

    try:
        installed = version("swbuild")
    except PackageNotFoundError:
        pytest.skip("swbuild is used from its checkout")
    assert swbuild.__version__ == installed
