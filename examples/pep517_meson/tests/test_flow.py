"""The kernel against the same formula in NumPy."""

import heat
import numpy as np
import pytest


def reference(grid, k, steps):
    old = grid.copy()
    for _ in range(steps):
        new = old.copy()
        neighbours = old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]
        new[1:-1, 1:-1] += k * (neighbours - 4 * old[1:-1, 1:-1])
        old = new
    return old


@pytest.mark.parametrize("shape", [(3, 3), (20, 33), (120, 85)])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_flow(shape, steps):
    grid = np.random.default_rng(1).random(shape)
    np.testing.assert_allclose(heat.flow(grid, 0.1, steps), reference(grid, 0.1, steps), rtol=1e-13)


def test_a_grid_of_one_dimension():
    with pytest.raises(ValueError, match="two dimensions"):
        heat.flow(np.zeros(3), 0.1, 1)
