"""Integrators on SE(3): SciPy's adaptive solvers with dense output, and Runge and Kutta's fixed steps.

All of them integrate the plant's numbers y, in which the rotation is Rodrigues' vector g from an anchor:
an ordinary differential equation without constraints. The anchor moves along, so g stays small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import integrate

from gough.base.arrays import Array
from gough.errors import ConvergenceError, Failure, SampleError
from gough.simulation.grid import stage_times
from gough.simulation.layout import GIBBS
from gough.simulation.plant import PlantState, Rates

SOLVERS: dict[str, Any] = {
    "DOP853": integrate.DOP853,
    "RK45": integrate.RK45,
    "Radau": integrate.Radau,
    "BDF": integrate.BDF,
    "LSODA": integrate.LSODA,
}
"""Explicit: DOP853, RK45. Stiff: Radau, BDF. LSODA changes between the two."""
IMPLICIT = ("Radau", "BDF")
"""Those that ask for the derivatives of ẏ."""
NUDGE = 1e-7
"""Differences for these derivatives, of y, or of 1 m, rad, m/s or N where y is less."""
FAR = 0.25
"""‖g‖ (half a turn's angle in rad) at which the anchor moves to where the platform is."""
SHRINK = 8.0
PATIENCE = 20
"""Steps without trouble after which steps may grow again."""
DRIFT = 1e-9
"""How far pose and joints, m and rad, may drift from what the robot allows, twists in m/s and rad/s."""
FINEST = 1e-9
"""Step, relative to the time to go, below which trouble is the end."""

RateOf = Callable[[float, PlantState, Array], Rates]
"""Rates at a time, of a state and its g (rows, 3)."""
Settle = Callable[[PlantState], PlantState]
"""The nearest states that the robot can be in."""


class Piece(NamedTuple):
    """A step that an adaptive solver has taken."""

    begin: float
    end: float
    at: Callable[[float], PlantState]
    """The state at a time within it."""


class FailedError(Exception):
    """There is no way on from a time."""

    def __init__(self, time: float, error: SampleError) -> None:
        super().__init__(str(error))
        self.time, self.error = time, error


def adaptive(
    rate_of: RateOf,
    state: PlantState,
    begin: float,
    end: float,
    method: str,
    tolerances: tuple[float, float],
    first_step: float | None = None,
    settle: Settle | None = None,
    longest: float | None = None,
) -> Iterator[Piece]:
    """Pieces of the solution from one time to another; `FailedError` where it cannot go on.

    Steps take at most `longest` s. A trial step out of reach is taken again with smaller ones, down
    to where the trouble begins. States are settled; where that moves one by more than DRIFT, the
    solver goes on from the settled one.
    """
    most = np.inf if longest is None else longest
    time, widest, calm, suggested = begin, most, 0, first_step
    relative, absolute = tolerances
    while time < end:
        anchor = state

        def rate(t: float, y: Array, anchor: PlantState = anchor) -> Array:
            now = anchor.at(y[np.newaxis])
            found = rate_of(t, now, y[np.newaxis, GIBBS])
            for error in found.troubles.values():
                raise error
            return np.asarray(found.rate[0])

        options: dict[str, Any] = {}
        if suggested is not None:
            options["first_step"] = min(suggested, end - time, widest)
        if method in IMPLICIT:
            options["jac"] = partial(_slopes, rate)
        attempted = end - time
        try:
            solver = SOLVERS[method](
                rate,
                time,
                anchor.numbers()[0],
                end,
                rtol=relative,
                atol=absolute,
                max_step=widest,
                **options,
            )
            while solver.status == "running":
                attempted = min(getattr(solver, "h_abs", end - time), widest, end - solver.t)
                message = solver.step()
                if solver.status == "failed":
                    failure = Failure((), None, f"{method} finds no step: {message}")
                    raise FailedError(time, ConvergenceError([failure]))
                dense = solver.dense_output()

                def at(t: float, dense: Any = dense, anchor: PlantState = anchor) -> PlantState:
                    found = anchor.at(dense(t)[np.newaxis])
                    return found if settle is None else settle(found)

                time, state = float(solver.t), anchor.at(solver.y[np.newaxis])
                drifted = False
                if settle is not None:
                    drifting, state = state, settle(state)
                    drifted = _apart(drifting, state) > DRIFT
                suggested = float(solver.step_size)
                yield Piece(float(solver.t_old), time, at)
                calm += 1
                if calm > PATIENCE and widest < most:
                    widest, calm = min(widest * SHRINK, most), 0
                    break
                if drifted or np.linalg.norm(solver.y[GIBBS]) > FAR:
                    suggested = getattr(solver, "h_abs", suggested)
                    break
        except SampleError as error:
            widest, calm = max(attempted, 1e-300) / SHRINK, 0
            suggested = widest
            if widest < FINEST * (end - begin):
                raise FailedError(time, error) from None


def _slopes(rate: Callable[[float, Array], Array], time: float, y: Array) -> Array:
    """∂ẏ/∂y (n, n) by differences that are large beside the rounding of ẏ.

    SciPy's own are relative to y, which has zeros at rest: there they tell nothing but rounding.
    """
    steps = NUDGE * np.maximum(1.0, np.abs(y))
    here = rate(time, y)
    columns = [(rate(time, y + move) - here) / move.max() for move in np.diag(steps)]
    return np.stack(columns, axis=-1)


def _apart(one: PlantState, other: PlantState) -> float:
    names = ("position", "rotation", "velocity", "angular_velocity", "chains")
    pairs = ((getattr(one, name), getattr(other, name)) for name in names)
    return max(float(np.abs(a - b).max(initial=0.0)) for a, b in pairs)


def runge_kutta(
    rate_of: RateOf, state: PlantState, time: float, step: float
) -> tuple[PlantState, Rates]:
    """One step of the classical fourth-order method, all rows at once, and the rates at its start.

    k1 … k4 at the start, twice the middle, the end; y ← y + h (k1 + 2 k2 + 2 k3 + k4)/6. Times of the
    stages are within the step, so that what jumps at its ends does so outside.
    """
    begin = state.numbers()
    times = stage_times(np.array(time), np.array(step))
    first = rate_of(float(times[0]), state, begin[:, GIBBS])
    found, total = first, first.rate
    for part, moment, weight in ((0.5, 1, 2.0), (0.5, 1, 2.0), (1.0, 2, 1.0)):
        y = begin + part * step * found.rate
        found = rate_of(float(times[moment]), state.at(y), y[:, GIBBS])
        first.troubles.update({k: v for k, v in found.troubles.items() if k not in first.troubles})
        total = total + weight * found.rate
    return state.at(begin + step / 6 * total), first
