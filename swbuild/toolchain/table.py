"""The compiler of this computer, and how it is called for serial references."""

from __future__ import annotations

from collections.abc import Mapping

from swbuild.machine import Flag, Tool
from swbuild.toolchain.model import Role

__all__ = ["HOST_TOOLS"]

_REFERENCE = (
    Flag("-std=gnu99", "the language of the sources"),
    Flag("-O2", "optimise, value-preserving"),
    Flag("-ffp-contract=off", "round every operation, as the source says"),
    Flag("-fwrapv", "integers that overflow wrap, as on the emulator"),
)

#: The serial reference: the computer's own compiler, no value-changing optimisation.
HOST_TOOLS: Mapping[Role, Tool] = {
    Role.HOST: Tool("gcc", _REFERENCE),
    Role.SLAVE: Tool("gcc", _REFERENCE),
    Role.LINK: Tool("gcc"),
}
