"""What the toolchain speaks of: roles, targets, a site's overrides and what comes of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from swbuild.classes import dataclass
from swbuild.machine import Tool

__all__ = ["Overrides", "Role", "Target", "Toolchain"]


class Role(Enum):
    """The three things a Sunway compiler driver is called for."""

    HOST = "host"
    SLAVE = "slave"
    LINK = "link"


class Target(Enum):
    """Where the executable is to run.

    ``emulator`` and ``node`` build with the machine's own drivers (stand-ins or the vendor's);
    ``host`` is the plain compiler of this computer, for serial references.
    """

    EMULATOR = "emulator"
    NODE = "node"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class Overrides:
    """A site's own drivers and flags, by role.

    ``flags`` and ``libraries`` replace the table's, ``extra`` comes after the table's flags.
    """

    drivers: Mapping[Role, str] = field(default_factory=dict)
    flags: Mapping[Role, tuple[str, ...]] = field(default_factory=dict)
    extra: Mapping[Role, tuple[str, ...]] = field(default_factory=dict)
    libraries: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Everything that is needed to build for one target and machine.

    ``path`` holds directories that come first on ``PATH`` when a tool or a program is run.
    ``libraries`` come last on the link line, ``settings`` are variables for all that is run.
    """

    target: Target
    machine: str
    tools: Mapping[Role, Tool]
    libraries: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment for running the tools and what they build.

        Settings of emulated runs that the caller's environment happens to hold have no say in it.
        """
        environment = {**_without_run_settings(os.environ), **self.settings, **(extra or {})}
        environment["PATH"] = os.pathsep.join([*self.path, environment.get("PATH", os.defpath)])
        return environment

    @property
    def hybrid(self) -> bool:
        """Whether executables have CPE code."""
        return self.target is not Target.HOST


def _without_run_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what would change an emulated run, or where it leaves its figures."""
    kept = {f"SWBUILD_EMU_{name}" for name in ("CC", "CXX", "RUNTIME", "VERBOSE")}  # how to build
    settings = ("SWBUILD_EMU_", "SWCHK_")
    return {k: v for k, v in environment.items() if k in kept or not k.startswith(settings)}
