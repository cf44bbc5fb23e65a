"""Which files are manifests to collect."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

import pytest

__all__ = ["add_manifests", "is_wanted"]

#: Names that are taken for manifests when such a file is given on the command line itself.
_CONVENTIONAL = ("sunway.yaml", "sunway.yml", "*.sunway.yaml", "*.sunway.yml")


def is_wanted(path: Path, session: pytest.Session, patterns: Sequence[str]) -> bool:
    """Return whether ``path`` is named in the configuration, or on the command line by its usual name."""
    relative = Path(os.path.relpath(path, session.config.rootpath)).as_posix()
    if any(fnmatch(relative, os.path.normpath(pattern)) for pattern in patterns):
        return True
    return session.isinitpath(path) and any(fnmatch(path.name, name) for name in _CONVENTIONAL)


def add_manifests(config: pytest.Config, patterns: Sequence[str]) -> None:
    """Let a plain ``pytest`` visit the manifests that lie outside its test directories.

    Raise ``UsageError`` for a file that is named in the configuration but does not exist.
    """
    found: list[Path] = []
    for pattern in patterns:
        matches = sorted(config.rootpath.glob(pattern))
        if not matches and not any(sign in pattern for sign in "*?["):
            raise pytest.UsageError(f"sw_kernels: there is no file {pattern} in {config.rootpath}")
        found += matches
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    roots = [
        Path(config.invocation_params.dir, argument.split("::")[0]).resolve() for argument in config.args
    ]
    for path in found:
        if not any(path == root or root in path.parents for root in roots):
            config.args.append(str(path))
