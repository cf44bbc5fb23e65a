"""The example kernels and every size that they must be right at."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from swbuild.machine import load, machine_names

__all__ = ["COMBINATIONS", "EXAMPLES", "LEAST", "MANIFEST", "PARAMETERS", "STENCILS", "sizes_of"]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "polybench"
MANIFEST = EXAMPLES / "sunway.yaml"

#: Thread grids that leave CPEs idle.
_SMALLER = ((1, 1), (3, 5), (1, 29), (16, 1))

#: Every machine with the thread grids of all its CPEs, and with some smaller ones.
COMBINATIONS = tuple(
    (machine, shape) for machine in machine_names() for shape in (*load(machine).thread_shapes, *_SMALLER)
)

#: Parameters of each region, with the sizes that PolyBench calls MINI and SMALL.
PARAMETERS: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "gemm": {"ni": (20, 60), "nj": (25, 70), "nk": (30, 80)},
    "gemver": {"n": (40, 120)},
    "gesummv": {"n": (30, 90)},
    "symm": {"m": (20, 60), "n": (30, 80)},
    "syrk": {"m": (20, 60), "n": (30, 80)},
    "syr2k": {"m": (20, 60), "n": (30, 80)},
    "trmm": {"m": (20, 60), "n": (30, 80)},
    "two_mm": {"ni": (16, 40), "nj": (18, 50), "nk": (22, 70), "nl": (24, 80)},
    "three_mm": {"ni": (16, 40), "nj": (18, 50), "nk": (20, 60), "nl": (22, 70), "nm": (24, 80)},
    "atax": {"m": (38, 116), "n": (42, 124)},
    "bicg": {"m": (38, 116), "n": (42, 124)},
    "doitgen": {"nq": (8, 20), "nr": (10, 25), "np": (12, 30)},
    "mvt": {"n": (40, 120)},
    "jacobi_2d": {"steps": (20, 40), "n": (30, 90)},
    "heat_3d": {"steps": (20, 40), "n": (10, 20)},
    "cholesky": {"n": (40, 120)},
    "durbin": {"n": (40, 120)},
    "gramschmidt": {"m": (20, 60), "n": (30, 80)},
    "lu": {"n": (40, 120)},
    "ludcmp": {"n": (40, 120)},
    "trisolv": {"n": (40, 120)},
    "correlation": {"m": (28, 80), "n": (32, 100)},
    "covariance": {"m": (28, 80), "n": (32, 100)},
    "adi": {"steps": (20, 40), "n": (20, 60)},
    "deriche": {"w": (64, 192), "h": (64, 128)},
    "fdtd_2d": {"steps": (20, 40), "nx": (20, 60), "ny": (30, 80)},
    "floyd_warshall": {"n": (60, 180)},
    "jacobi_1d": {"steps": (20, 40), "n": (30, 120)},
    "nussinov": {"n": (60, 180)},
    "seidel_2d": {"steps": (20, 40), "n": (40, 120)},
}

#: Sizes of loops that start a kernel in each iteration: the time steps, and the rows of doitgen.
_REPEATED = {"steps": 4, "nr": 7, "nq": 5}

#: Where a kernel starts once for each pair of nodes, sizes go no further.
_LARGEST = {"floyd_warshall": 33}

#: Regions in tiles over time whose sweeps cover different points leave smaller sizes to the serial loops.
LEAST: Mapping[str, Mapping[str, int]] = {"fdtd_2d": {"nx": 3, "ny": 3}}

STENCILS = ("jacobi_2d", "heat_3d", "fdtd_2d")

_EQUAL = (1, 2, 7, 31, 32, 33, 64, 65)
_PRIMES = (
    (2, 3, 5, 7, 11),
    (37, 31, 29, 41, 43),
    (61, 71, 67, 73, 59),
    (5, 67, 31, 3, 37),
    (67, 3, 61, 29, 2),
)


def sizes_of(region: str, full: bool = False) -> tuple[dict[str, int], ...]:
    """Return the sizes for a region: equal ones, unequal primes, MINI and SMALL.

    Unless ``full``, loops around kernels that only repeat what is inside them make few iterations, and sizes
    stay where a check does not take long.
    """
    named = PARAMETERS[region]
    equal = [dict.fromkeys(named, base) for base in _EQUAL]
    primes = [dict(zip(named, row, strict=False)) for row in _PRIMES]
    presets = [{name: pair[i] for name, pair in named.items()} for i in (0, 1)]
    if not full:
        equal, primes, presets = (
            [_shortened(sizes, _LARGEST.get(region)) for sizes in group] for group in (equal, primes, presets)
        )
    return (*equal, *primes, *presets)


def _shortened(sizes: dict[str, int], largest: int | None) -> dict[str, int]:
    limit = {name: min(_REPEATED.get(name, value), largest or value) for name, value in sizes.items()}
    return {name: min(value, limit[name]) for name, value in sizes.items()}
