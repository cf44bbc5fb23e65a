"""The same project by every way in which CMake can find the package."""

from __future__ import annotations

import pytest
from cmakekit import ROUTES, Configure


@pytest.mark.parametrize("route", ROUTES)
def test_a_project_builds_and_runs(configured: Configure, route: str) -> None:
    build = configured("c_host", route=route)
    build.build()
    assert build.run("app") == "sum correct\n"
    assert "no work to do" in build.build()
