"""Vector algebra on components: the component axis comes first, all others broadcast behind it.

The same lines run on floats (3,), on batches (3, legs, samples) and on arrays of symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Component-first array of floats or of traced symbols.
Components = np.ndarray[Any, Any]


def stacked(*parts: Any) -> Components:
    """Broadcast against each other and put behind each other along a new first axis.

    As np.stack of np.broadcast_arrays, which take three times as long on a few numbers.
    """
    arrays = [np.asarray(part) for part in parts]
    shape = np.broadcast(*{array.shape: array for array in arrays}.values()).shape
    found = np.empty((len(arrays), *shape), np.result_type(*arrays))
    for i, array in enumerate(arrays):
        found[i, ...] = array
    return found


def dot(a: Components, b: Components) -> Components:
    """a·b."""
    product: Components = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return product


def cross(a: Components, b: Components) -> Components:
    """a×b."""
    return stacked(
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def norm(a: Components) -> Components:
    """‖a‖."""
    length: Components = np.sqrt(dot(a, a))
    return length


def matvec(matrix: Components, a: Components) -> Components:
    """M a, with the matrix as (3, 3, ...), row axis first."""
    return stacked(*(dot(row, a) for row in matrix))


def transposed_matvec(matrix: Components, a: Components) -> Components:
    """Mᵀ a: the components of a world vector in the frame whose axes are the columns of M."""
    product: Components = matrix[0] * a[0] + matrix[1] * a[1] + matrix[2] * a[2]
    return product


def matrix(rows: list[list[Components]]) -> Components:
    """Entries row by row, broadcast against each other, as (rows, columns, ...)."""
    entries = stacked(*(entry for row in rows for entry in row))
    return entries.reshape(len(rows), len(rows[0]), *entries.shape[1:])


def symmetric(isotropic: Components, *pairs: tuple[Components, Components]) -> Components:
    """λ 1 + Σ (a⊗b + b⊗a) as (3, 3, ...)."""

    def entry(i: int, j: int) -> Components:
        half = sum(a[i] * b[j] for a, b in pairs)
        other = half if i == j else sum(b[i] * a[j] for a, b in pairs)
        total: Components = half + other
        return isotropic + total if i == j else total

    lower = {(i, j): entry(i, j) for i in range(3) for j in range(i + 1)}
    return matrix([[lower[max(i, j), min(i, j)] for j in range(3)] for i in range(3)])


def _on_numbers_and_symbols(numeric: Callable[..., Any], method: str) -> Callable[..., Any]:
    """A NumPy function that on arrays of symbols calls the symbols' method instead."""

    def on_symbols(first: Any, *rest: Any) -> Any:
        return getattr(first, method)(*rest)

    def function(first: Any, *rest: Any) -> Any:
        if np.asarray(first).dtype != object:
            return numeric(first, *rest)
        return np.frompyfunc(on_symbols, 1 + len(rest), 1)(first, *rest)

    return function


copysign = _on_numbers_and_symbols(np.copysign, "copysign")
minimum = _on_numbers_and_symbols(np.minimum, "minimum")
maximum = _on_numbers_and_symbols(np.maximum, "maximum")
waist = _on_numbers_and_symbols(lambda x: x, "waist")
waist.__doc__ = (
    "The same, marked for the engine as the few numbers on which all that follows depends."
)
or_one = _on_numbers_and_symbols(lambda x: x + (x == 0), "or_one")
or_one.__doc__ = "1 where x = 0, else x: a safe divisor of what is 0 there."
