"""Motions from a robot's own coordinates: m numbers say where the platform is, the rest is solved.

x = (p, ρ) with ρ the rotation vector of R R_homeᵀ, world axes; m of its components are given, u. What
holds the platform, Cᵀ (v, ω) = 0 with ω = J(ρ) ρ̇, fixes the others by Newton, their rates and second
derivatives by the same matrix: with Cx = (C_v, Jᵀ C_ω) split into given and dependent components

    Cx_dᵀ δx_d = −gap,    Cx_dᵀ ẋ_d = −Cx_uᵀ u̇,    Cx_dᵀ ẍ_d = second − C_ωᵀ J̇ ρ̇ − Cx_uᵀ ü

Without a guess the dependent components are continued from home along a straight line in u, with time
from sample to sample.
"""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.base.arrays import MOST_TURN, Array, given_numbers
from gough.base.rotations import exponential
from gough.errors import (
    ConvergenceError,
    Failure,
    InputError,
    NotFiniteError,
    ReachError,
    SampleError,
)
from gough.mechanics.forward_program import constraints
from gough.mechanics.programs import OFF
from gough.mechanics.state import CHAINS, ELASTIC_FIELDS
from gough.model.batch import OnError, check_on_error, last_axis
from gough.model.chains import AT_REST, LONGEST, SHRINKS, SMALL, STRIDE
from gough.model.described import DescribedModel
from gough.model.freedom import COORDINATES
from gough.model.walk import continued, walk
from gough.motion import Motion

MOST_STRIDES = 400
MOST_STEPS = 40
PATIENCE = 8
"""Steps in which Newton has to halve the gap: where it does not, there is nothing to find."""
CLOSED = 1e-12
"""Gap, in length scales and rad, below which a pose is found."""
LARGEST = 0.3
"""Longest Newton step of a dependent component, rad and length scales."""
TOO_FAR = f"a rotation vector beyond {MOST_TURN:g} rad from home"


class Solver(NamedTuple):
    """Newton for the dependent coordinates of a robot; a solution is (x, chains) in one row."""

    robot: DescribedModel
    given: list[int]
    dependent: list[int]

    @classmethod
    def of(cls, robot: DescribedModel) -> Solver:
        """For the robot's own coordinates."""
        given = [COORDINATES.index(name) for name in robot.coordinates]
        return cls(robot, given, [i for i in range(6) if i not in given])

    @property
    def units(self) -> Array:
        """What counts as 1 of each component of x, (6,)."""
        return np.repeat([self.robot.length_scale, 1.0], 3)

    def at_home(self) -> Array:
        """The solution at home, (6 + K,)."""
        start = np.concatenate([self.robot.home.position, np.zeros(3)])
        return np.concatenate([start, self.robot.mechanism.legs.at_home()])

    def placed(self, guess: Motion) -> Array:
        """Where a guess is, (..., 6 + K)."""
        turned = guess.rotation @ self.robot.home.rotation.T
        turn = Rotation.from_matrix(turned.reshape(-1, 3, 3)).as_rotvec()
        chains = np.broadcast_to(
            self.robot.chains_of(guess), (*guess.shape, self.robot.mechanism.legs.coordinates)
        )
        return np.concatenate([guess.position, turn.reshape(*guess.shape, 3), chains], axis=-1)

    def pose(self, x: Array) -> tuple[Array, Array]:
        """Positions (n, 3) and rotations (n, 3, 3) of x (n, 6)."""
        return x[:, :3], exponential(x[:, 3:])[0] @ self.robot.home.rotation

    def asked(self, solution: Array, **rates: Array) -> dict[str, Array]:
        """What holds the platform there: `mechanics.forward_program.constraints`."""
        robot = self.robot
        position, rotation = self.pose(solution[:, :6])
        fields = AT_REST | {"position": position, "rotation": rotation} | rates
        if robot.modes:
            fields |= dict.fromkeys(ELASTIC_FIELDS, np.zeros((1, robot.modes)))
        if robot.mechanism.legs.coordinates:
            fields[CHAINS] = np.ascontiguousarray(solution[:, 6:])
        return robot.executor(constraints, len(solution), fields)

    def held(self, columns: Array, turn: Array) -> Array:
        """Cxᵀ (n, k, 6) of scaled columns (n, 6, k), in units of x, at rotation vectors (n, 3)."""
        size = self.robot.length_scale
        jacobian = np.stack([exponential(turn, unit + 0 * turn)[1] for unit in np.eye(3)], axis=-1)
        rows = np.swapaxes(columns, -1, -2)
        angular = size * rows[..., 3:] @ jacobian
        return np.concatenate([size * rows[..., :3], angular], axis=-1)

    def close(self, u: Array, near: Array) -> Array:
        """Solutions (n, 6 + K) with coordinates u (n, m); NaN where Newton finds none."""
        found = near.copy()
        found[:, self.given] = u
        active = np.flatnonzero(np.isfinite(found).all(axis=1))
        met = np.zeros(len(found), dtype=bool)
        size = self.robot.length_scale
        before = np.full(len(found), np.inf)  # gaps PATIENCE steps ago
        for made in range(MOST_STEPS):
            if not active.size or not self.needed:
                met[active] = True
                break
            out = self.asked(found[active])
            good = np.asarray(
                np.isfinite(out["columns"]).all((1, 2)) & np.isfinite(out["gap"]).all(1)
            )
            if "chains" in out:
                found[active, 6:] = np.where(good[:, np.newaxis], out["chains"], found[active, 6:])
            rows = self.held(np.where(good[:, None, None], out["columns"], 0.0), found[active, 3:6])
            step = np.zeros((len(active), 6))
            gap = np.where(good[:, np.newaxis], out["gap"], 0.0)
            step[:, self.dependent] = -least(rows[..., self.dependent], gap)
            longest = np.abs(step).max(axis=1, initial=0.0)
            step *= (LARGEST / np.maximum(longest, LARGEST))[:, np.newaxis]
            found[active, :6] += step * self.units
            off = np.abs(gap).max(axis=1, initial=0.0) / size
            # more constraints than they can take agree only as well as the file's numbers do
            limit = OFF if self.robot.freedom.overconstrained else CLOSED
            done = good & (longest <= CLOSED) & (off <= limit) & (out["missed"] <= 1e-7)
            met[active[done]] = True
            going = good & ~done
            if made % PATIENCE == 0:
                going &= off + out["missed"] < 0.5 * before[active]
                before[active] = off + out["missed"]
            active = active[going]
        found[~met] = np.nan
        return found

    @property
    def needed(self) -> bool:
        """Something is left to solve."""
        return bool(self.dependent) or self.robot.mechanism.legs.coordinates > 0

    def follow(self, start: Array, u: Array, near: Array) -> Array:
        """Solutions (n, 6 + K) at u, continued from those at `start` along straight lines."""
        strides = np.minimum(np.ceil(self.apart(u, start)), MOST_STRIDES)

        def attempt(rows: Array, share: Array, known: Array) -> tuple[Array, Array]:
            """By Newton, which must not go far: of the joints one step must get most of the way."""
            found = self.close(start[rows] + share[:, np.newaxis] * (u - start)[rows], known)
            sure = np.isfinite(found).all(axis=1)
            away = np.abs(found - known)[:, :6] / np.repeat([self.robot.leg_size, 1.0], 3)
            sure &= away.max(axis=1) <= LONGEST
            if known.shape[1] > 6:
                there = np.concatenate(
                    [np.where(sure[:, np.newaxis], found, known)[:, :6], known[:, 6:]], axis=1
                )
                out = self.asked(there)
                left = np.abs(out["chains"] - found[:, 6:]).max(axis=1)
                gone = np.abs(out["chains"] - known[:, 6:]).max(axis=1)
                sure &= (out["missed"] <= LONGEST) & (left <= np.maximum(SHRINKS * gone, SMALL))
            return found, sure

        found = continued(attempt, strides, near)
        return self.close(u, found)

    def apart(self, u: Array, start: Array) -> Array:
        """In strides, (n,); 0 where it is not finite."""
        unit = np.where(np.array(self.given) < 3, self.robot.leg_size, 1.0)
        far = np.abs((u - start) / unit).max(axis=-1, initial=0.0) / STRIDE
        return np.asarray(np.nan_to_num(far, posinf=0.0))


class TimedCoordinates(NamedTuple):
    """Coordinates u (steps, rows, m) in time; a `gough.model.walk.Path`."""

    solver: Solver
    u: Array

    def apart(self, place: int, start: int, count: int) -> float:
        """In strides."""
        return float(
            self.solver.apart(self.u[start : start + count], self.u[place]).max(initial=0.0)
        )

    def settle(self, start: int, count: int, near: Array) -> Array:
        """Along straight lines, all from the step before."""
        flat = self.u[start : start + count].reshape(-1, self.u.shape[-1])
        here, every = (np.tile(one, (count, 1)) for one in (self.u[start - 1], near))
        return self.solver.follow(here, flat, every).reshape(count, *near.shape)

    def jump(self, place: int, near: Array) -> Array:
        """Along a straight line."""
        return self.solver.follow(self.u[place], self.u[place + 1], near)


def own_motion(
    robot: DescribedModel,
    u: ArrayLike,
    ud: ArrayLike | None,
    udd: ArrayLike | None,
    time: ArrayLike | None,
    guess: Motion | None,
    on_error: OnError,
) -> Motion:
    """The motion with these coordinates; see `gough.model.model.Model.motion`."""
    check_on_error(on_error)
    solver = Solver.of(robot)
    count = len(solver.given)
    place = last_axis("u", u, count)
    rate = np.zeros(count) if ud is None else last_axis("ud", ud, count)
    second = np.zeros(count) if udd is None else last_axis("udd", udd, count)
    moment = None if time is None else given_numbers("time", time)
    parts = {"u": place.shape[:-1], "ud": rate.shape[:-1], "udd": second.shape[:-1]}
    if moment is not None:
        parts["time"] = moment.shape
    if guess is not None:
        if not isinstance(guess, Motion):
            raise InputError(f"guess is a gough.Motion, not {type(guess).__name__}")
        parts["guess"] = guess.shape
    try:
        shape = np.broadcast_shapes(*parts.values())
    except ValueError:
        shapes = ", ".join(f"{name} {one}" for name, one in parts.items())
        raise InputError(f"the batch axes do not fit: {shapes}") from None
    place, rate, second = (np.broadcast_to(one, (*shape, count)) for one in (place, rate, second))
    place = _sensible(solver, place, on_error)
    solution = _solutions(solver, place, guess, timed=moment is not None and bool(shape))
    flat = solution.reshape(-1, solution.shape[-1])
    fields = _moved(solver, flat, rate.reshape(-1, count), second.reshape(-1, count))
    inputs = np.concatenate([place, rate, second], axis=-1).reshape(-1, 3 * count)
    _refuse(solver, inputs, flat, shape, on_error)
    arrays = {name: value.reshape(*shape, *value.shape[1:]) for name, value in fields.items()}
    motion = Motion(**arrays, time=moment)
    return robot.remember(motion, solution[..., 6:])


def _sensible(solver: Solver, u: Array, on_error: OnError) -> Array:
    """Coordinates (..., m), if their places can be the robot's; those that are not raise, or are NaN."""
    home = solver.robot.home.position
    places = np.broadcast_to(home, (*u.shape[:-1], 3)).copy()
    for column, given in enumerate(solver.given):
        if given < 3:
            places[..., given] = u[..., column]
    sound = solver.robot.sensible(Motion(places), on_error).position
    turned = u[..., np.asarray(solver.given) >= 3]
    beyond = ((np.abs(turned) > MOST_TURN) & np.isfinite(turned)).any(axis=-1)
    if beyond.any() and on_error == "raise":
        raise ReachError(
            [Failure(tuple(int(i) for i in place), None, TOO_FAR) for place in np.argwhere(beyond)]
        )
    lost = np.asarray(np.isnan(sound).any(axis=-1) | beyond)
    return np.where(lost[..., np.newaxis], np.nan, u)


def _solutions(solver: Solver, u: Array, guess: Motion | None, timed: bool) -> Array:
    """(..., 6 + K) of coordinates (..., m)."""
    shape, count = u.shape[:-1], u.shape[-1]
    width = len(solver.at_home())
    if not np.prod(shape):
        return np.zeros((*shape, width))
    if guess is not None or not solver.needed:
        known = solver.at_home() if guess is None else solver.placed(guess)
        near = np.broadcast_to(known, (*shape, width)).reshape(-1, width)
        return solver.close(u.reshape(-1, count), near).reshape(*shape, width)
    steps = (
        np.moveaxis(u, -2, 0).reshape(shape[-1], -1, count) if timed else u.reshape(1, -1, count)
    )
    rows = steps.shape[1]
    home = solver.at_home()
    begin = np.tile(home[solver.given], (rows, 1))
    first = solver.follow(begin, steps[0], np.tile(home, (rows, 1)))
    if not timed:
        return first.reshape(*shape, width)
    found = walk(TimedCoordinates(solver, steps), first, len(steps))
    return np.moveaxis(found.reshape(len(steps), *shape[:-1], width), 0, -2)


def _moved(solver: Solver, solution: Array, ud: Array, udd: Array) -> dict[str, Array]:
    """Pose, twist and acceleration (n, ...) of solutions (n, 6 + K)."""
    units = solver.units
    rate, second = np.zeros((len(solution), 6)), np.zeros((len(solution), 6))
    rate[:, solver.given], second[:, solver.given] = ud, udd
    turn = solution[:, 3:6]
    sound = np.asarray(np.isfinite(solution).all(axis=1))
    if solver.dependent and len(solution):
        safe = np.where(sound[:, np.newaxis], solution, solver.at_home())
        out = solver.asked(safe)
        rows = solver.held(out["columns"], safe[:, 3:6])

        def solved(right: Array) -> Array:
            return least(rows[..., solver.dependent], right) * units[solver.dependent]

        def known(values: Array) -> Array:
            return np.asarray((rows @ (values / units)[..., np.newaxis])[..., 0])

        rate[:, solver.dependent] = solved(-known(rate))
        omega, drift = exponential(safe[:, 3:6], rate[:, 3:], np.zeros((1, 3)))[1:]
        out = solver.asked(safe, velocity=rate[:, :3].copy(), angular_velocity=omega)
        columns = np.swapaxes(out["columns"], -1, -2)
        drifted = solver.robot.length_scale * (columns[..., 3:] @ drift[..., np.newaxis])[..., 0]
        second[:, solver.dependent] = solved(out["second"] - drifted - known(second))
    rotation, omega, omega_dot = exponential(turn, rate[:, 3:], second[:, 3:])
    return {
        "position": solution[:, :3],
        "rotation": rotation @ solver.robot.home.rotation,
        "velocity": np.where(sound[:, np.newaxis], rate[:, :3], np.nan),
        "angular_velocity": omega,
        "acceleration": np.where(sound[:, np.newaxis], second[:, :3], np.nan),
        "angular_acceleration": omega_dot,
    }


def least(rows: Array, right: Array) -> Array:
    """x (n, d) of least ‖A x − right‖, A (n, k, d) with k ≥ d."""
    column = right[..., np.newaxis]
    if rows.shape[-1] == rows.shape[-2]:
        with contextlib.suppress(np.linalg.LinAlgError):  # one of them is singular
            return np.asarray(np.linalg.solve(rows, column)[..., 0])
    return np.asarray((np.linalg.pinv(rows, rcond=1e-12) @ column)[..., 0])


def _refuse(
    solver: Solver, inputs: Array, solution: Array, shape: tuple[int, ...], on_error: OnError
) -> None:
    """Raise for samples without a solution."""
    failed = ~np.isfinite(solution).all(axis=1)
    if on_error == "nan" or not failed.any():
        return
    strange = ~np.isfinite(inputs).all(axis=1)
    kind: type[SampleError] = NotFiniteError if strange.any() else ConvergenceError
    names = ", ".join(solver.robot.coordinates)
    reason = (
        "u is not finite"
        if strange.any()
        else (
            f"no pose with these coordinates {names} was found from home: the platform does not get "
            "there, or only through a singularity"
        )
    )
    rows = np.flatnonzero(strange if strange.any() else failed)
    places = [np.unravel_index(row, shape) if shape else () for row in rows]
    raise kind([Failure(tuple(int(i) for i in one), None, reason) for one in places])
