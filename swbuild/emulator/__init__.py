"""The emulated Sunway node: compilers, launchers and run-time of the real interface, on any Linux machine.

``toolchain_dir(machine)`` is the directory of stand-ins to put first on ``PATH``; everything else follows
from the commands that a Sunway user types anyway.
"""

from swbuild.emulator.install import environment, toolchain_dir

__all__ = ["environment", "toolchain_dir"]
