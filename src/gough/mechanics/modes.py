"""Sums over the modes of a flexible platform.

Mode arrays have the mode axis second to last, samples last: (..., modes, samples), a robot's own
numbers (..., modes, 1) and, for pairs of modes, (..., modes, modes, 1). Traced, the mode axis has length
one and stands for all modes: what is done to it becomes one loop, however many there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gough.mechanics.vectors import Components


def over_modes(a: Components, b: Components) -> Components:
    """Σ_k a_k b_k, (..., samples)."""
    if a.dtype == object or b.dtype == object:
        return np.asarray(_summed((a * b)[..., 0, :]))
    total: Components = np.einsum("...ks,...ks->...s", a, b)
    return total


def coupled(matrix: Components, values: Components) -> Components:
    """Σ_j C_kj x_j, (..., modes, samples)."""
    if matrix.dtype == object or values.dtype == object:
        return np.asarray(_coupled(matrix[..., 0, :], values))
    if matrix.shape[-1] == 1:
        return np.asarray(matrix[..., 0] @ values)
    product: Components = np.einsum("...kjs,...js->...ks", matrix, values)
    return product


def _call(method: str, count: int) -> Any:
    return np.frompyfunc(lambda first, *rest: getattr(first, method)(*rest), count, 1)


_summed = _call("over_modes", 1)
_coupled = _call("coupled_with", 2)
