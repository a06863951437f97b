"""How near numbers have to be."""

import numpy as np
from numpy.testing import assert_allclose
from numpy.typing import ArrayLike


def assert_close(actual: ArrayLike, expected: ArrayLike, relative: float) -> None:
    """Close relative to the largest expected number."""
    assert_allclose(actual, expected, rtol=0, atol=relative * np.max(np.abs(expected)))


def assert_near(actual: ArrayLike, expected: ArrayLike, relative: float) -> None:
    """Close relative to the largest expected number, of 1e-3 at least."""
    size = max(1e-3, np.max(np.abs(expected), initial=0.0))
    assert_allclose(actual, expected, rtol=0, atol=relative * size)
