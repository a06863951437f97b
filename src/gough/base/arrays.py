"""Arrays of numbers, or of symbols under tracing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def unit(vectors: Array) -> Array:
    """Vectors (..., 3) of length 1; those of length 0 stay."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length == 0, 1.0, length))


def condition(matrices: Array) -> Array:
    """2-norm condition number (...) of matrices (..., rows, columns); NaN where one is not finite."""
    finite = np.asarray(np.isfinite(matrices).all(axis=(-2, -1)))
    known: Array = np.where(finite[..., np.newaxis, np.newaxis], matrices, 0.0)
    values = np.linalg.svd(known.astype(np.float64), compute_uv=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = values[..., 0] / values[..., -1]
    return np.asarray(np.where(finite, worst, np.nan))
