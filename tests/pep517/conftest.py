"""Fixtures of the tests of Python packages with kernels."""

from __future__ import annotations

from buildkit import installation
from cmakekit import configured

__all__ = ["configured", "installation"]
