"""The fastest speed profile of a stretch under linear conditions, by reachability analysis (TOPP-RA).

Over the cell i of a stretch, from σ_i to σ_{i+1}, the path's acceleration u_i = σ̈ is constant, so
x = σ̇² grows linearly, x_{i+1} = x_i + 2 (σ_{i+1} − σ_i) u_i, and conditions

    a u + b x + c ≤ 1        at every cell, x ≥ 0

allow x_i from which the end can be reached at rest (backward), of which the largest u is taken from the
start (forward). H. Pham, Q.-C. Pham: A new approach to time-optimal path parameterization based on
reachability analysis. IEEE Transactions on Robotics 34 (2018); solved by their `toppra`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy

from gough.base.arrays import Array
from gough.errors import MissingDataError

SCALES = ((10.0, 1e5), (30.0, 1e6), (3.0, 1e5), (0.01, 1.0))
"""Units of time, in rough durations of the path, and of what is allowed, to try: toppra has absolute
tolerances, which count for little where squared speeds and coefficients are large numbers."""


class Rows(NamedTuple):
    """Conditions a u + b x + c ≤ 1 in every cell, (cells, rows) each."""

    a: Array
    b: Array
    c: Array


class Impossible(NamedTuple):
    """Conditions that contradict each other."""

    cell: int
    row: int
    """One that cannot be kept there."""
    excess: float
    """By how much, at the least, in shares of what is allowed."""


def fastest(sigma: Array, rows: Rows) -> Array | Impossible:
    """x (cells + 1,) at knots σ (cells + 1,), from rest to rest."""
    try:
        import toppra
        import toppra.algorithm
    except ImportError:
        raise MissingDataError(
            "the fastest timing needs toppra: pip install 'gough[planning]'"
        ) from None
    length, time = float(sigma[-1] - sigma[0]), _time_scale(sigma, rows)
    s = (sigma - sigma[0]) / length
    s[-1] = 1.0
    for share, size in SCALES:
        scaled = _scaled(rows, length, share * time, size)
        given = _constraint(toppra, scaled, size)
        solver = toppra.algorithm.TOPPRA([given], _Line(), gridpoints=s, solver_wrapper="seidel")
        solver.compute_parameterization(0.0, 0.0, return_data=True)
        speed = solver.problem_data.sd_vec
        if speed is not None and np.all(np.isfinite(speed)):
            return np.asarray((speed * length / (share * time)) ** 2)
    sets = solver.compute_controllable_sets(0.0, 0.0) / SCALES[-1][0] ** 2
    return _conflict(s, _scaled(rows, length, time), sets)


def _scaled(rows: Rows, length: float, time: float, size: float = 1.0) -> Rows:
    """The same, in multiples of `size`, for a path of length 1 in units of time."""
    push, drift = size * length / time**2, size * (length / time) ** 2
    return Rows(rows.a * push, rows.b * drift, rows.c * size)


class _Line:
    """What toppra asks of a path: our rows know all else."""

    path_interval = (0.0, 1.0)
    dof = 1


def _constraint(toppra: Any, rows: Rows, size: float) -> Any:
    """Rows a u + b x + c ≤ `size` as toppra's; at the last knot no cell begins, nothing is asked."""

    class RowsConstraint(toppra.constraint.LinearConstraint):  # type: ignore[misc]
        """a u + b x + c = v, v ≤ size."""

        def __init__(self) -> None:
            super().__init__()
            self.identical = True
            self.dof = 1

        def compute_constraint_params(self, path: Any, gridpoints: Array, *rest: Any) -> Any:
            """What toppra asks for."""
            count = rows.a.shape[1]
            end = np.zeros((1, count))
            a, b = (np.concatenate([one, end]) for one in (rows.a, rows.b))
            c = np.concatenate([rows.c, end - size])
            return a, b, c, np.eye(count), np.full(count, size), None, None

    return RowsConstraint()


def _time_scale(sigma: Array, rows: Rows) -> float:
    """A duration such that x and u are of the order of 1, s: solvers have absolute tolerances."""
    length = float(sigma[-1] - sigma[0])
    room = np.maximum(1 - rows.c, 1e-3)
    with np.errstate(divide="ignore", invalid="ignore"):
        cruise = np.where(rows.b > 0, room / rows.b, np.inf).min(axis=1)
        push = np.where(rows.a != 0, room / np.abs(rows.a), np.inf).min(axis=1)
    times = [
        length / np.sqrt(np.median(cruise)) if np.isfinite(np.median(cruise)) else 0.0,
        2 * np.sqrt(length / np.median(push)) if np.isfinite(np.median(push)) else 0.0,
    ]
    return float(max(times)) or 1.0


def _conflict(s: Array, rows: Rows, sets: Array) -> Impossible:
    """The cell at which the way back from the end breaks off, and what contradicts there.

    The least t with a u + b x + c ≤ 1 + t and 0 ≤ x, the next x within what the end can be reached
    from: the row with the largest share of the price.
    """
    bad = np.flatnonzero(~np.isfinite(sets).all(axis=1))
    cell = min(int(bad.max(initial=0)), len(rows.a) - 1)
    low, high = np.nan_to_num(sets[cell + 1], nan=0.0)
    step = 2 * (s[cell + 1] - s[cell])
    own = np.column_stack([rows.a[cell], rows.b[cell], -np.ones(rows.a.shape[1])])
    reach = np.array([[step, 1.0, 0.0], [-step, -1.0, 0.0]])
    found = scipy.optimize.linprog(
        [0, 0, 1],
        A_ub=np.concatenate([own, reach]),
        b_ub=np.concatenate([1 - rows.c[cell], [high, -low]]),
        bounds=[(None, None), (0, None), (None, None)],
    )
    if found.status:
        return Impossible(cell, int(np.argmax(rows.c[cell])), np.nan)
    assert found.x is not None
    price = -found.ineqlin.marginals[: len(own)]
    return Impossible(cell, int(np.argmax(price)), float(found.x[2]))
