"""Projects set up, built and run by Meson."""

from __future__ import annotations

from buildkit import installation
from cmakekit import configured
from mesonkit import meson

__all__ = ["configured", "installation", "meson"]
