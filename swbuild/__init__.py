"""swbuild: from plain C loop nests to kernels for Sunway core groups, built, emulated and checked.

Importing the package costs nothing: every part is imported where it is used.
"""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
