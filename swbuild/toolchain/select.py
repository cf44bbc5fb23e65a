"""From a target, a machine and a site's overrides to the toolchain to build with."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping

from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.machine import DEFAULT_MACHINE, Flag, Tool, load
from swbuild.toolchain.model import Overrides, Role, Target, Toolchain
from swbuild.toolchain.table import HOST_TOOLS

__all__ = ["host_toolchain", "overrides_from_environment", "toolchain_for"]


def toolchain_for(target: Target, machine: str, overrides: Overrides | None = None) -> Toolchain:
    """Return the toolchain for ``target`` and ``machine``.

    For the emulator the directory of its stand-ins comes first on ``PATH`` (made on first use).
    """
    chosen = overrides or Overrides()
    if target is Target.HOST:
        return host_toolchain(machine, chosen)
    vendor = load(machine).tools
    tools = {role: _overridden(role, getattr(vendor, role.value), chosen) for role in Role}
    path = (_stand_ins(machine),) if target is Target.EMULATOR else ()
    libraries = vendor.libraries if chosen.libraries is None else chosen.libraries
    return Toolchain(target, machine, tools, libraries, path)


def host_toolchain(machine: str = DEFAULT_MACHINE, overrides: Overrides | None = None) -> Toolchain:
    """Return the plain compiler of this computer, as serial references use it."""
    chosen = overrides or Overrides()
    tools = {role: _overridden(role, tool, chosen) for role, tool in HOST_TOOLS.items()}
    return Toolchain(Target.HOST, machine, tools, ("-lm",))


def overrides_from_environment(environment: Mapping[str, str]) -> Overrides:
    """Return the overrides in the environment, ``ROLE`` being ``HOST``, ``SLAVE`` or ``LINK``.

    ``SWBUILD_ROLE_CC`` is the driver, ``SWBUILD_ROLE_FLAGS`` replaces its flags,
    ``SWBUILD_ROLE_EXTRA_FLAGS`` adds to them, ``SWBUILD_LIBRARIES`` replaces the libraries.
    """
    libraries = environment.get("SWBUILD_LIBRARIES")
    return Overrides(
        drivers={role: value for role in Role if (value := environment.get(f"SWBUILD_{role.name}_CC"))},
        flags=_flag_lists(environment, "FLAGS"),
        extra=_flag_lists(environment, "EXTRA_FLAGS"),
        libraries=None if libraries is None else tuple(shlex.split(libraries)),
    )


def _flag_lists(environment: Mapping[str, str], suffix: str) -> dict[Role, tuple[str, ...]]:
    found = {role: environment.get(f"SWBUILD_{role.name}_{suffix}") for role in Role}
    return {role: tuple(shlex.split(value)) for role, value in found.items() if value is not None}


def _overridden(role: Role, tool: Tool, overrides: Overrides) -> Tool:
    """Return ``tool`` with the site's driver and flags in place of the table's."""
    flags = tool.flags
    if role in overrides.flags:
        flags = tuple(Flag(text, "set by the site") for text in overrides.flags[role])
    flags += tuple(Flag(text, "added by the site") for text in overrides.extra.get(role, ()))
    return Tool(overrides.drivers.get(role, tool.driver), flags)


def _stand_ins(machine: str) -> str:
    from swbuild.emulator import toolchain_dir  # here: only this target needs the emulator

    try:
        return str(toolchain_dir(machine))
    except (OSError, subprocess.CalledProcessError) as error:
        what = f"the emulator cannot be built: {_reason(error)}"
        hint = "it needs gcc, ar and a writable cache directory: see `swbuild doctor`"
        raise SwbuildError(Diagnostic("SW404", what, Span("emulator"), hint)) from error


def _reason(error: OSError | subprocess.CalledProcessError) -> str:
    """Return what went wrong, in the failed program's own words where it has any."""
    if isinstance(error, OSError):
        return str(error)
    return f"'{shlex.join(error.cmd[:2])} ...' failed\n{error.stderr or ''}".rstrip()
