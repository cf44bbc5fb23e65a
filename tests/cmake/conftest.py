"""Little projects, configured, built and run for real."""

from __future__ import annotations

from buildkit import installation
from cmakekit import configured

__all__ = ["configured", "installation"]
