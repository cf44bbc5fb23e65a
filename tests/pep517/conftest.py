"""Fixtures of the tests of Python packages with kernels."""

from __future__ import annotations

from buildkit import installation

__all__ = ["installation"]
