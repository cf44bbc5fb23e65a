"""``python -m swbuild``."""

from __future__ import annotations

import sys

from swbuild.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    sys.exit(main())
