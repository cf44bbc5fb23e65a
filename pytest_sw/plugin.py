"""The hooks.  pytest loads this module in every session: heavy parts are imported where they are needed."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_sw.options import add_options
from pytest_sw.touched import is_touched

__all__: list[str] = []

_PATTERNS: pytest.StashKey[Sequence[str]] = pytest.StashKey()

_MARKERS = (
    "sunway(target=None, timeout=None, dma=None, checked=None): where and how this test's kernels run",
    "sw_feature(*names): what the machine must have (simd, rma, register-communication)",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    config.stash[_PATTERNS] = tuple(config.getini("sw_kernels"))
    if config.stash[_PATTERNS]:
        from pytest_sw.discovery import add_manifests

        add_manifests(config, config.stash[_PATTERNS])
    from pytest_sw.options import read_settings

    settings = read_settings(config)
    if settings.json or settings.html or settings.annotations or settings.baseline or config.stash[_PATTERNS]:
        from pytest_sw.reporting import Reporter

        config.pluginmanager.register(Reporter(config, settings), "sunway-reporter")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix not in (".yaml", ".yml"):
        return None
    from pytest_sw.discovery import is_wanted

    if not is_wanted(file_path, parent.session, parent.config.stash[_PATTERNS]):
        return None
    from pytest_sw.collect import SwManifest

    return SwManifest.from_parent(parent, path=file_path)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "sw_target" in metafunc.fixturenames:
        from pytest_sw.targeting import parametrize

        parametrize(metafunc)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if is_touched(item):
        from pytest_sw.records import attach

        attach(item, report, call.excinfo.value if call.excinfo else None)
    return report


@pytest.fixture
def sw_target(request: pytest.FixtureRequest) -> Any:
    """The target of this test, of the type :class:`pytest_sw.api.TargetHandle`."""
    from pytest_sw.api import target_handle

    return target_handle(request)


@pytest.fixture
def sw_kernel(request: pytest.FixtureRequest, sw_target: Any) -> Any:
    """A function from a manifest and a kernel's name to a :class:`pytest_sw.api.Kernel`."""
    from pytest_sw.api import kernel_factory

    return kernel_factory(request, sw_target)


@pytest.fixture
def sw_run(request: pytest.FixtureRequest, sw_target: Any) -> Any:
    """A function that starts an executable on the target and returns how it ended."""
    from pytest_sw.api import program_runner

    return program_runner(request, sw_target)


@pytest.fixture
def sw_compare(request: pytest.FixtureRequest) -> Any:
    """A function that compares two arrays and fails with a report of where and how they differ."""
    from pytest_sw.api import comparison

    return comparison(request)
