"""Fixtures of the build systems' common parts."""

from __future__ import annotations

from buildkit import installation

__all__ = ["installation"]
