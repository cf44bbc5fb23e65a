"""Python tests and targets: the ``sunway`` and ``sw_feature`` marks, and a test for each target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_sw.options import TARGETS, is_mode
from pytest_sw.workbench import workbench
from swbuild.machine import FEATURES

__all__ = ["feature_names", "mark_arguments", "parametrize"]


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Let the test run once for each target of the session that its mark allows."""
    settings = workbench(metafunc.config).settings
    allowed = mark_arguments(metafunc.definition).get("target")
    targets = [name for name in settings.target if allowed is None or name in allowed]
    if targets:
        metafunc.parametrize("sw_target", targets, indirect=True)
        return
    reason = f"is for {', '.join(allowed or ())}, and the session runs on {', '.join(settings.target)}"
    absent = pytest.param(settings.target[0], marks=pytest.mark.skip(reason=reason))
    metafunc.parametrize("sw_target", [absent], indirect=True)


def mark_arguments(item: pytest.Item) -> dict[str, Any]:
    """Return the arguments of the test's ``sunway`` marks, the closest winning; complain about bad ones."""
    found: dict[str, Any] = {}
    for mark in reversed(list(item.iter_markers("sunway"))):
        if mark.args:
            raise pytest.UsageError(f"{item.nodeid}: sunway takes keywords only, not {mark.args!r}")
        for name, value in mark.kwargs.items():
            found[name] = _argument(item, name, value)
    return found


def feature_names(item: pytest.Item) -> list[str]:
    """Return what the test's ``sw_feature`` marks ask for."""
    names = [name for mark in item.iter_markers("sw_feature") for name in mark.args]
    unknown = [name for name in names if name not in FEATURES]
    if unknown:
        known = ", ".join(FEATURES)
        raise pytest.UsageError(f"{item.nodeid}: sw_feature({unknown[0]!r}): none of {known}")
    return names


def _argument(item: pytest.Item, name: str, value: Any) -> Any:
    """Return a checked argument of the mark."""
    if name == "target":
        targets = _words(value)
        if targets and all(word in TARGETS for word in targets):
            return targets
    elif name == "dma":
        modes = _words(value)
        if modes and all(is_mode(mode) for mode in modes):
            return modes
    elif (name == "timeout" and isinstance(value, (int, float)) and value > 0) or (
        name == "checked" and isinstance(value, bool)
    ):
        return value
    elif name not in ("timeout", "checked"):
        raise pytest.UsageError(
            f"{item.nodeid}: sunway has no argument {name!r}: target, timeout, dma or checked"
        )
    raise pytest.UsageError(f"{item.nodeid}: sunway({name}={value!r}): not a {name} that makes sense")


def _words(value: Any) -> Sequence[str]:
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(","))
    return tuple(value) if isinstance(value, (list, tuple)) else ()
