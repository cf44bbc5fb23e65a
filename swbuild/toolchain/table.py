"""Drivers and flags per machine and role, as public Makefiles and the vendor's manuals show them."""

from __future__ import annotations

from collections.abc import Mapping

from swbuild.options import Machine
from swbuild.toolchain.model import Flag, Role, Tool

__all__ = ["HOST_TOOLS", "LIBRARIES", "MACHINE_TOOLS"]

_GNU99 = Flag("-std=gnu99", "C99 with the GNU extensions that the emitted code may use")
_OPTIMISE = Flag("-O2", "optimise")

#: The Open64-based driver takes its roles without the ``m``.
_SW26010: Mapping[Role, Tool] = {
    Role.HOST: Tool("sw5cc", (Flag("-host", "code for the management core"), _GNU99, _OPTIMISE)),
    Role.SLAVE: Tool(
        "sw5cc",
        (
            Flag("-slave", "code for the compute cores"),
            Flag("-msimd", "vector types, and arrays aligned for them"),
            _GNU99,
            _OPTIMISE,
        ),
    ),
    Role.LINK: Tool("sw5cc", (Flag("-hybrid", "link both kinds of objects"),)),
}

#: The GCC-based driver of the newer machine.
_SW26010_PRO: Mapping[Role, Tool] = {
    Role.HOST: Tool(
        "swgcc",
        (
            Flag("-mhost", "code for the management core"),
            Flag("-mieee", "IEEE arithmetic with denormals on the management core"),
            _GNU99,
            _OPTIMISE,
        ),
    ),
    Role.SLAVE: Tool(
        "swgcc",
        (
            Flag("-mslave", "code for the compute cores"),
            Flag("-msimd", "vector types; the DMA macros refuse to compile without it"),
            Flag("-mieee", "IEEE arithmetic"),
            Flag("-ffp-contract=off", "no fused multiply-add: the reference rounds twice", verified=False),
            _GNU99,
            _OPTIMISE,
        ),
    ),
    Role.LINK: Tool("swgcc", (Flag("-mhybrid", "link both kinds of objects"),)),
}

MACHINE_TOOLS: Mapping[Machine, Mapping[Role, Tool]] = {
    Machine.SW26010: _SW26010,
    Machine.SW26010_PRO: _SW26010_PRO,
}

#: Libraries behind the objects: the compute cores have a mathematical library of their own.
LIBRARIES: Mapping[Machine, tuple[str, ...]] = {
    Machine.SW26010: ("-lm_slave", "-lm"),
    Machine.SW26010_PRO: ("-lm_slave", "-lm"),
}

_REFERENCE = (
    Flag("-std=gnu99", "the language of the sources"),
    Flag("-O2", "optimise, value-preserving"),
    Flag("-ffp-contract=off", "round every operation, as the source says"),
)

#: The serial reference: the computer's own compiler, no value-changing optimisation.
HOST_TOOLS: Mapping[Role, Tool] = {
    Role.HOST: Tool("gcc", _REFERENCE),
    Role.SLAVE: Tool("gcc", _REFERENCE),
    Role.LINK: Tool("gcc"),
}
