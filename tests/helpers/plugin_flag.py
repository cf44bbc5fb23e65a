"""How a pytest in a subprocess gets the plugin: by entry point where it is installed, else by name."""

from __future__ import annotations

from importlib.metadata import entry_points

__all__ = ["PLUGIN_FLAG"]

_INSTALLED = any(entry.value == "pytest_sw.plugin" for entry in entry_points(group="pytest11"))

#: What to put into ``addopts``.
PLUGIN_FLAG = "" if _INSTALLED else "-p pytest_sw.plugin"
