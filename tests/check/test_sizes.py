"""Which sizes a check runs at."""

from __future__ import annotations

import pytest
from generation import EXAMPLES

from swbuild.check.sizes import complete_sizes
from swbuild.diagnostics import SwbuildError
from swbuild.frontend import CppOptions, read_source
from swbuild.frontend.scop import Scop


@pytest.fixture(scope="module")
def gemm() -> Scop:
    (scop,) = read_source(EXAMPLES / "gemm.c", CppOptions(), None).scops
    return scop


def test_sizes_left_out_are_filled_in(gemm: Scop) -> None:
    sizes = complete_sizes(gemm, {"ni": 5, "elsewhere": 9}, {})
    assert sizes["ni"] == 5
    assert set(sizes) == {"ni", "nj", "nk"}


def test_sizes_of_which_none_is_known_are_an_error(gemm: Scop) -> None:
    with pytest.raises(SwbuildError) as caught:
        complete_sizes(gemm, {"n": 30}, {})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "SW504"
    assert "ni, nj, nk" in diagnostic.message
