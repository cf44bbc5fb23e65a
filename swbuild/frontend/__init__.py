"""The C front end: from a file with ``#pragma scop`` regions to :class:`~swbuild.frontend.scop.Scop` values.

Importing this package is cheap: islpy and pycparser are loaded when a name is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swbuild.frontend.reader import read_source
    from swbuild.frontend.request import CppOptions, RefusedRegion, RegionRequest, SourceModel

__all__ = ["CppOptions", "RefusedRegion", "RegionRequest", "SourceModel", "read_source"]


def __getattr__(name: str) -> Any:
    if name == "read_source":
        from swbuild.frontend.reader import read_source

        return read_source
    if name in __all__:
        from swbuild.frontend import request

        return getattr(request, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
