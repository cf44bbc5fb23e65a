"""Compilers, their flags per role and machine, and launchers: who builds what, and who starts it."""

from __future__ import annotations

from swbuild.machine import Flag, Tool
from swbuild.toolchain.build import (
    CompileStep,
    compile_object,
    link,
    link_failure,
    require_driver,
    undefined_symbols,
)
from swbuild.toolchain.launch import LAUNCHERS, Job, Launcher, launcher_for, launcher_from_template
from swbuild.toolchain.model import Overrides, Role, Target, Toolchain
from swbuild.toolchain.process import Completed, run
from swbuild.toolchain.select import host_toolchain, overrides_from_environment, toolchain_for

__all__ = [
    "LAUNCHERS",
    "CompileStep",
    "Completed",
    "Flag",
    "Job",
    "Launcher",
    "Overrides",
    "Role",
    "Target",
    "Tool",
    "Toolchain",
    "compile_object",
    "host_toolchain",
    "launcher_for",
    "launcher_from_template",
    "link",
    "link_failure",
    "overrides_from_environment",
    "require_driver",
    "run",
    "toolchain_for",
    "undefined_symbols",
]
