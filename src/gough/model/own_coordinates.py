"""Motions from a robot's own coordinates: m numbers say where the platform is, the rest is solved.

x = (p, ρ) with ρ the rotation vector of R R_homeᵀ, world axes; m of its components are given, u. What
holds the platform, Cᵀ (v, ω) = 0 with ω = J(ρ) ρ̇, fixes the others by Newton, their rates and second
derivatives by the same matrix: with Cx = (C_v, Jᵀ C_ω) split into given and dependent components

    Cx_dᵀ δx_d = −gap,    Cx_dᵀ ẋ_d = −Cx_uᵀ u̇,    Cx_dᵀ ẍ_d = second − C_ωᵀ J̇ ρ̇ − Cx_uᵀ ü

Without a guess the dependent components and the joints of chains are continued from home along a
straight line in u, with time from sample to sample, with a guess from there. Poses without u are reached
along the same lines: what their joints are does not depend on how the motion was made.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.base.arrays import MOST_TURN, Array, given_numbers
from gough.base.rotations import exponential, turning
from gough.errors import (
    Failure,
    InputError,
    NotFiniteError,
    ReachError,
)
from gough.mechanics.forward_program import constraints
from gough.mechanics.programs import OFF
from gough.mechanics.state import CHAINS, ELASTIC_FIELDS
from gough.model.batch import OnError, Rows, Trouble, check_on_error, last_axis, settle
from gough.model.chains import (
    AT_REST,
    EXPLAINED,
    LONGEST,
    LOST_BETWEEN,
    MOST_STRIDES,
    SHRINKS,
    SMALL,
    STRIDE,
    LostWay,
    Poses,
    StraightLine,
    along,
    follow,
    lost_troubles,
    past,
    within,
)
from gough.model.described import DescribedModel
from gough.model.freedom import COORDINATES
from gough.model.walk import continued, walk
from gough.motion import Motion

MOST_STEPS = 40
PATIENCE = 8
"""Steps in which Newton has to halve the gap: where it does not, there is nothing to find."""
CLOSED = 1e-12
"""Gap, in length scales and rad, below which a pose is found."""
LARGEST = 0.3
"""Longest Newton step of a dependent component, rad and length scales."""
NEARBY = 0.1
"""How far from home, rad and length scales, it is seen whether dependent coordinates change."""
TOO_FAR = f"a rotation vector beyond {MOST_TURN:g} rad from home"


class NewtonStep(NamedTuple):
    """A step of Newton's for n solutions."""

    solution: Array
    """(n, 6 + K) after it."""
    good: Array
    """(n,) it could be made."""
    longest: Array
    """(n,) of the dependent coordinates, length scales and rad, before it was cut to `LARGEST`."""
    off: Array
    """(n,) gap before it, length scales."""
    missed: Array
    """(n,) of the joints, rad or length scales."""


@dataclass(frozen=True, eq=False)
class Solver:
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
        chains = np.broadcast_to(
            self.robot.chains_of(guess), (*guess.shape, self.robot.mechanism.legs.coordinates)
        )
        return np.concatenate([self.coordinates(guess), chains], axis=-1)

    def coordinates(self, poses: Motion | Poses) -> Array:
        """x (..., 6) of poses: place, and rotation vector from home."""
        turned = poses.rotation @ self.robot.home.rotation.T
        sound = np.isfinite(turned).all((-1, -2))
        safe = np.where(sound[..., np.newaxis, np.newaxis], turned, np.eye(3)).reshape(-1, 3, 3)
        turn = Rotation.from_matrix(safe).as_rotvec().reshape(poses.position.shape)
        turn = np.where(sound[..., np.newaxis], turn, np.nan)
        return np.concatenate([poses.position, turn], axis=-1)

    def pose(self, x: Array) -> tuple[Array, Array]:
        """Positions (n, 3) and rotations (n, 3, 3) of x (n, 6)."""
        return x[:, :3], Rotation.from_rotvec(x[:, 3:]).as_matrix() @ self.robot.home.rotation

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
        rows = np.swapaxes(columns, -1, -2)
        angular = size * rows[..., 3:] @ turning(turn)
        return np.concatenate([size * rows[..., :3], angular], axis=-1)

    def step(self, solution: Array) -> NewtonStep:
        """Newton's step from solutions (n, 6 + K) towards what holds the platform."""
        out = self.asked(solution)
        good = np.asarray(np.isfinite(out["columns"]).all((1, 2)) & np.isfinite(out["gap"]).all(1))
        found = solution.copy()
        if "chains" in out:
            found[:, 6:] = np.where(good[:, np.newaxis], out["chains"], solution[:, 6:])
        rows = self.held(np.where(good[:, None, None], out["columns"], 0.0), solution[:, 3:6])
        step = np.zeros((len(solution), 6))
        gap = np.where(good[:, np.newaxis], out["gap"], 0.0)
        step[:, self.dependent] = -least(rows[..., self.dependent], gap)
        longest = np.abs(step).max(axis=1, initial=0.0)
        step *= (LARGEST / np.maximum(longest, LARGEST))[:, np.newaxis]
        found[:, :6] += step * self.units
        off = np.abs(gap).max(axis=1, initial=0.0) / self.robot.length_scale
        return NewtonStep(found, good, longest, np.asarray(off), out["missed"])

    def close(self, u: Array, near: Array) -> Array:
        """Solutions (n, 6 + K) with coordinates u (n, m); NaN where Newton finds none."""
        found = near.copy()
        found[:, self.given] = u
        active = np.flatnonzero(np.isfinite(found).all(axis=1))
        met = np.zeros(len(found), dtype=bool)
        before = np.full(len(found), np.inf)  # gaps PATIENCE steps ago
        for made in range(MOST_STEPS):
            if not active.size or not self.needed:
                met[active] = True
                break
            step = self.step(found[active])
            found[active] = step.solution
            # more constraints than they can take agree only as well as the file's numbers do
            limit = OFF if self.robot.freedom.overconstrained else CLOSED
            done = (
                step.good & (step.longest <= CLOSED) & (step.off <= limit) & (step.missed <= 1e-7)
            )
            met[active[done]] = True
            going = step.good & ~done
            if made % PATIENCE == 0:
                going &= step.off + step.missed < 0.5 * before[active]
                before[active] = step.off + step.missed
            active = active[going]
        found[~met] = np.nan
        return found

    @property
    def needed(self) -> bool:
        """Something is left to solve."""
        return bool(self.dependent) or self.robot.mechanism.legs.coordinates > 0

    @cached_property
    def straight(self) -> bool:
        """Dependent coordinates always stay as at home: lines in u are straight lines of poses."""
        if not self.dependent:
            return True
        home = self.at_home()
        way = np.sin(np.arange(1.0, 3 * len(self.given) + 1)).reshape(3, -1)  # any three directions
        found = self.close(
            home[self.given] + NEARBY * way * self.units[self.given], np.tile(home, (3, 1))
        )
        moved = (found[:, self.dependent] - home[self.dependent]) / self.units[self.dependent]
        return bool(np.all(np.abs(moved) <= OFF))

    def follow(self, start: Array, u: Array, near: Array) -> Array:
        """Solutions (n, 6 + K) at u, continued from those at `start` along lines; NaN where lost."""
        if self.straight:
            line = CoordinateLine(self, start, u)
            found = np.concatenate([line.x(u), near[:, 6:]], axis=1)
            if near.shape[1] > 6:
                found[:, 6:] = follow(self.robot.executor, line, near[:, 6:])
            return self.close(u, found)
        found, share = self._along(start, u, near)
        return self.close(
            u, np.where(within(share, self._strides(start, u))[:, np.newaxis], found, np.nan)
        )

    def lost(self, u: Array) -> LostWay:
        """How far the straight lines from home to u can be followed."""
        home = np.tile(self.at_home(), (len(u), 1))
        start = home[:, self.given]
        strides = self._strides(start, u)
        if self.straight:
            line = CoordinateLine(self, start, u)
            joints, share = along(self.robot.executor, line, home[:, 6:])
            ahead = line.at(np.arange(len(u)), past(share, strides))
            return LostWay(share, ahead, joints)
        found, share = self._along(start, u, home)
        found[:, self.given] = start + past(share, strides)[:, np.newaxis] * (u - start)
        elastic = np.zeros((len(u), self.robot.modes))
        return LostWay(share, Poses(*self.pose(found[:, :6]), {}, elastic), found[:, 6:])

    def _along(self, start: Array, u: Array, near: Array) -> tuple[Array, Array]:
        def attempt(rows: Array, share: Array, known: Array) -> tuple[Array, Array]:
            """Three steps of Newton, of which the last must be the shortest by far."""
            found = known.copy()
            found[:, self.given] = start[rows] + share[:, np.newaxis] * (u - start)[rows]
            lengths = []
            for _ in range(3):
                step = self.step(found)
                found = step.solution
                lengths.append(np.where(step.good, np.maximum(step.longest, step.missed), np.nan))
            first, second, third = lengths
            shrinks = third <= np.maximum(SHRINKS * np.minimum(first, second), SMALL)
            return found, np.asarray(shrinks & (first <= LONGEST) & (second <= LONGEST))

        return continued(attempt, self._strides(start, u), near)

    def _strides(self, start: Array, u: Array) -> Array:
        return np.asarray(np.minimum(np.ceil(self.apart(u, start)), MOST_STRIDES))

    def follow_poses(self, start: Poses, end: Poses, near: Array, from_home: Array) -> Array:
        """Joint coordinates (n, K) at poses; a `gough.model.chains.Follow`.

        Poses between two that the platform can take are no poses that it can take: all but short ways go
        along the straight line in u. From home it must end near the pose that is asked for; between
        samples, which are known to follow each other, poses moved straight do where it does not.
        """
        run, size = self.robot.executor, self.robot.leg_size
        found = near.copy()
        far = np.flatnonzero(StraightLine(start, end, size).strides() > 1)
        if far.size:
            here, there = start.at(far), end.at(far)
            begin = np.concatenate([self.coordinates(here), near[far]], axis=1)
            u = self.coordinates(there)[:, self.given]
            solution, share = self._along(begin[:, self.given], u, begin)
            position, rotation = self.pose(solution[:, :6])
            reached = Poses(position, rotation, here.which, here.elastic)
            arrived = within(share, self._strides(begin[:, self.given], u))
            arrived &= (
                StraightLine(reached, there, size).strides() <= 1
            )  # else another pose with this u
            found[far] = np.where(arrived[:, np.newaxis], solution[:, 6:], near[far])
            found[far[~arrived & from_home[far]]] = np.nan
            position, rotation = start.position.copy(), start.rotation.copy()
            position[far[arrived]], rotation[far[arrived]] = (
                reached.position[arrived],
                reached.rotation[arrived],
            )
            start = Poses(position, rotation, start.which, start.elastic)
        return follow(run, StraightLine(start, end, size), found)

    def apart(self, u: Array, start: Array) -> Array:
        """In strides, (n,); 0 where it is not finite."""
        unit = np.where(np.array(self.given) < 3, self.robot.leg_size, 1.0)
        far = np.abs((u - start) / unit).max(axis=-1, initial=0.0) / STRIDE
        return np.asarray(np.nan_to_num(far, posinf=0.0))


class CoordinateLine(NamedTuple):
    """Poses along straight lines in u (n, m), dependent coordinates as at home; a `chains.Line`."""

    solver: Solver
    start: Array
    u: Array

    @property
    def end(self) -> Poses:
        """Where the lines end."""
        return self._poses(self.u)

    def strides(self) -> Array:
        """Lengths of the lines, (n,)."""
        return self.solver.apart(self.u, self.start)

    def at(self, rows: Array, share: Array) -> Poses:
        """Poses of some rows at shares (k,) of their lines."""
        start = self.start[rows]
        return self._poses(start + share[:, np.newaxis] * (self.u[rows] - start))

    def x(self, u: Array) -> Array:
        """x (k, 6) at coordinates u (k, m)."""
        x = np.tile(self.solver.at_home()[:6], (len(u), 1))
        x[:, self.solver.given] = u
        return x

    def _poses(self, u: Array) -> Poses:
        elastic = np.zeros((len(u), self.solver.robot.modes))
        return Poses(*self.solver.pose(self.x(u)), {}, elastic)


class TimedCoordinates(NamedTuple):
    """Coordinates u (1 + steps, rows, m) in time, home first; a `gough.model.walk.Path`."""

    solver: Solver
    u: Array

    def apart(self, base: Array, start: int, count: int) -> Array:
        """In strides."""
        far = self.solver.apart(self.u[start + 1 : start + 1 + count], self._bases(base))
        return np.asarray(far.max(axis=0))

    def settle(self, base: Array, start: int, count: int, near: Array) -> Array:
        """Along straight lines, all from the rows' bases."""
        flat = self.u[start + 1 : start + 1 + count].reshape(-1, self.u.shape[-1])
        here, every = (np.tile(one, (count, 1)) for one in (self._bases(base), near))
        return self.solver.follow(here, flat, every).reshape(count, *near.shape)

    def _bases(self, base: Array) -> Array:
        return np.asarray(self.u[base + 1, np.arange(self.u.shape[1])])


def own_motion(
    solver: Solver,
    u: ArrayLike,
    ud: ArrayLike | None,
    udd: ArrayLike | None,
    time: ArrayLike | None,
    guess: Motion | None,
    on_error: OnError,
) -> Motion:
    """The motion with these coordinates; see `gough.model.model.Model.motion`."""
    check_on_error(on_error)
    robot, count = solver.robot, len(solver.given)
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
    line = "the guess" if guess is not None else ("the sample before" if moment is not None else "")
    _refuse(solver, inputs, flat, shape, on_error, line)
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
    home = solver.at_home()
    flat = u.reshape(-1, count)
    if not solver.needed:
        return solver.close(flat, np.tile(home, (len(flat), 1))).reshape(*shape, width)
    if guess is not None:
        near = np.broadcast_to(solver.placed(guess), (*shape, width)).reshape(-1, width)
        begin = solver.close(near[:, solver.given], near)
        return solver.follow(near[:, solver.given], flat, begin).reshape(*shape, width)
    steps = np.moveaxis(u, -2, 0).reshape(shape[-1], -1, count) if timed else flat[np.newaxis]
    begin = np.tile(home, (steps.shape[1], 1))
    path = np.concatenate([begin[np.newaxis, :, solver.given], steps])
    found = walk(TimedCoordinates(solver, path), begin, len(steps))
    if not timed:
        return found.reshape(*shape, width)
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
    solver: Solver,
    inputs: Array,
    solution: Array,
    shape: tuple[int, ...],
    on_error: OnError,
    line: str,
) -> None:
    """Raise for samples without a solution; `line` says along which way they were looked for."""
    failed = np.asarray(~np.isfinite(solution).all(axis=1))
    if on_error == "nan" or not failed.any():
        return
    strange = ~np.isfinite(inputs).all(axis=1)
    rows = np.flatnonzero(strange if strange.any() else failed)
    if strange.any():
        troubles = [Trouble(int(row), None, NotFiniteError, "u is not finite") for row in rows]
    elif line:
        reason = LOST_BETWEEN.format(line)
        troubles = [Trouble(int(row), None, ReachError, reason) for row in rows]
    else:
        count = len(solver.given)
        way = solver.lost(inputs[rows[:EXPLAINED], :count])
        names = ", ".join(solver.robot.coordinates)
        troubles = lost_troubles(solver.robot.mechanism, names, way, rows)
    empty = Rows(shape, len(failed), {})
    settle(empty, {}, troubles, "raise")
