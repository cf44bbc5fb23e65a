"""Scratch directories that others remove while they are looked through."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from swbuild import scratch


@pytest.mark.parametrize("times", [1, 2, 3])
def test_directories_that_vanish_meanwhile_are_none_of_ours(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has been found so many ``times`` may be gone when it is asked of once more."""
    left, gone = (tmp_path / f"{scratch.PREFIX}{name}" for name in ("left", "gone"))
    left.mkdir()
    gone.mkdir()
    asked = 0

    def counted(ask: Any) -> Any:
        def answered(path: Any, **keywords: Any) -> Any:
            nonlocal asked
            found = ask(path, **keywords)
            if path == str(gone):
                asked += 1
                if asked == times:
                    gone.rmdir()
            return found

        return answered

    for name in ("stat", "lstat"):
        monkeypatch.setattr(os, name, counted(getattr(os, name)))
    scratch.sweep(str(tmp_path))
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []
