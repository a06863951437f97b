"""Every posture: all real poses of the platform for given leg coordinates.

With its actuators locked a robot is a platform on rods, and six rods of general geometry admit 40 poses,
most of them complex. `method="complete"` follows all 40 from a general platform whose solutions are
known (`gough.analysis.start_system`) to the one in hand, so no isolated posture is missed;
`method="quick"` runs Newton from random poses and estimates what it has not seen. Either way each
posture is polished to machine precision and tested by Krawczyk's interval method.

The forty solutions are those of rods that hold a free platform. Chains that are all planar or all
spherical have few solutions, which the legs' quadrics tell (`gough.analysis.leg_quadrics`): they are
"complete", too. Of other chains, and of rods on platforms that are held, there is the random search
alone (`gough.analysis.pose_search`): what it finds is there, there may be others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from gough.analysis import (
    continuum,
    endgame,
    homotopy,
    leg_quadrics,
    multistart,
    pose_search,
)
from gough.analysis.certificate import apart, certify, not_real
from gough.analysis.continuum import is_continuum, rank_lost, real_continuum
from gough.analysis.multistart import Coverage
from gough.analysis.start_system import (
    SOLUTIONS,
    geometry_of,
    line_between,
    separation,
    start_system,
)
from gough.analysis.study import made_real, quadrics, reality, rounding, to_pose, to_study
from gough.base.arrays import LARGEST, Array
from gough.description.architecture import random_rods, weakest
from gough.description.rods import UNFRAMED, RodFrame, Rods, framed
from gough.errors import (
    ConvergenceError,
    Failure,
    InputError,
    NotFiniteError,
    ReachError,
    SampleError,
    SingularError,
)
from gough.mechanics.leg import Driven
from gough.model import forward
from gough.model.batch import OnError, check_on_error, last_axis
from gough.model.model import Model
from gough.motion import Motion

Method = Literal["complete", "quick"]
WAYPOINTS = (None, 0.5 + 0.35j, 0.45 - 0.4j, 0.6 + 0.55j)
"""Detours of s through the complex plane, tried in turn until no path is lost and none doubled."""
NEARLY_REAL = 1e-6
"""Sine of the angle between z and its conjugate below which a solution is tried as a real one."""
NEARLY_REAL_SINGULAR = 1e-4
"""The same of a singular solution, which is known less exactly."""
AT_SINGULARITY = 1e-9
"""Residual, of rods about 1 long, of a singular posture."""
FARTHEST = 1e4
"""Times its usual size: what is beyond is no coordinate of the robot, and too large to be solved for."""
DOUBLED = 1e-7
"""Separation below which two paths ended in one simple solution: one of them jumped."""
CONTINUUM = (
    "the postures are a continuum: with its actuators locked here the platform can still move"
)


NOT_ALL = (
    "the equations of the legs do not tell all postures apart: some are singular, or the platform "
    "can move with its actuators locked; method 'quick' searches"
)


@dataclass(frozen=True)
class Postures:
    """All postures for one set of leg coordinates, and how sure that is."""

    motion: Motion
    """The postures (k,) on the robot file's branch, at rest, sorted by z, y, x, then rotation."""
    certified: Array
    """(k,) whether an interval test proves an isolated real posture within `radius` of each."""
    radius: Array
    """(k,) bound of that proof on the error of unit Study coordinates; inf where there is none."""
    other_branch: Motion
    """Postures (j,) with the same locked actuators in which some leg is on its other branch: a PUS
    leg's link leans the other way along its rail, or an RUS leg's crank is bent the other way. They are
    as real as the others, but inverse kinematics on the file's branch finds another q there."""
    other_certified: Array
    """(j,) as `certified`."""
    other_legs: Array
    """(j, legs) which legs are on their other branch."""
    continuum: Motion
    """Some poses (n,) of a continuum on the file's branch: the platform moves, actuators locked."""
    method: Method
    complex_count: int | None
    """Complete: isolated simple solutions, complex ones included; of rods 40 in general, of a planar
    3-RRR 6, of a spherical one 8, of a five-bar 2."""
    at_infinity: int
    """Complete: paths that left all poses (x·x → 0), as many do on special (symmetric) geometries."""
    singular: int
    """Complete: paths that ended in a finite singular solution, real or complex."""
    proven: bool
    """Complete: 40 solutions are proven to be there and different, so these are all the real ones."""
    coverage: Coverage | None
    """Quick: what the random search has seen, of rods, other branch included."""
    by_quadrics: bool = False
    """Complete: they are those of planar or spherical chains, from the quadrics of their legs."""

    @property
    def every(self) -> Motion:
        """All postures (k + j,) with the actuators locked: those of the file's branch first."""
        if not len(self.other_branch):
            return self.motion
        return Motion.concatenate([self.motion, self.other_branch])


def postures(
    robot: Model, q: ArrayLike, *, method: Method | None = None, seed: int = 0
) -> Postures:
    """All real poses with actuated coordinates q (actuators,), as many actuators as freedoms or more.

    `method` is by default "complete" of rods that hold a free platform and of planar and spherical
    robots of chains, and "quick", a search, of any other robot. Of more than six legs six are
    solved and the rest filters. A flexible platform counts as undeformed.
    `seed` is that of the random starts of "quick". Postures that are no isolated points are in
    `continuum`; a geometry that has no others raises `SingularError`. Lengths that two legs cannot have
    together have no postures.
    """
    if method is not None and (not isinstance(method, str) or method not in ("complete", "quick")):
        raise InputError(f"method is 'complete' or 'quick', not {method!r}")
    coordinates = _coordinates(robot, q)
    other = _no_rods(robot)
    if other is not None:
        group = leg_quadrics.displacements(robot)
        if method == "complete" and group is None:
            raise InputError(
                f"{robot.name}: method 'complete' knows the forty postures of rods that hold a free "
                f"platform, and those of planar or spherical chains; {other}: method 'quick' searches"
            )
        if method != "quick" and group is not None:
            whole = _by_quadrics(robot, coordinates, group, seed)
            if whole is not None:
                return whole
            if method == "complete":
                raise ConvergenceError([Failure((), None, NOT_ALL)])
        return _searched(robot, coordinates, seed)
    method = method or "complete"
    anchor, length = forward.rods(robot, coordinates)
    if np.any(length <= 0):
        leg = int(np.argmin(length))
        reason = f"its length in q is {length[leg]:.6g} m (limit 0)"
        raise ReachError([Failure((), leg + 1, reason)])
    rods = Rods(anchor, robot.description.platform_points[..., 0].T, length)
    if not _possible(rods):
        none = Motion(np.zeros((0, 3)))
        empty = np.zeros(0)
        known = None if method == "complete" else multistart.coverage(0, np.zeros(0, np.intp))
        legs = np.zeros((0, robot.leg_count), dtype=bool)
        proof = empty > 0, empty, none, empty > 0, legs, none
        return Postures(none, *proof, method, None, 0, 0, method == "complete", known)
    chosen = _six(rods)
    six = Rods(rods.anchor[chosen], rods.point[chosen], rods.length[chosen])
    small, frame = framed(six)
    finish = _Finish(robot, coordinates, small, frame)
    return finish.quick(rods, seed) if method == "quick" else finish.complete()


def _no_rods(robot: Model) -> str | None:
    """Why a robot with locked actuators is no platform on rods that moves freely; None if it is."""
    for group in robot.description.groups:
        if not isinstance(group.legs, Driven):
            return f"legs of kind {group.kind.name} are no rods"
    if robot.mobility < 6:
        return f"this one moves in {robot.mobility} directions"
    return None


def _searched(robot: Model, q: Array, seed: int) -> Postures:
    """The postures that a random search meets."""
    return _of_search(robot, q, pose_search.search(robot, q, seed), None)


def _by_quadrics(
    robot: Model, q: Array, group: leg_quadrics.Plane | leg_quadrics.Centre, seed: int
) -> Postures | None:
    """All postures of a planar or spherical robot; None where they are not told apart."""
    whole = leg_quadrics.solutions(robot, q, group)
    found = None if whole is None else pose_search.polished(robot, q, whole, seed)
    if whole is None or found is None:
        return None
    return _of_search(robot, q, found, whole.complex_count)


def _of_search(
    robot: Model, q: Array, found: pose_search.Search, complex_count: int | None
) -> Postures:
    """Postures of chains, which no interval test proves; `complex_count` if they are all."""
    mine = ~found.other_branch
    motion = Motion(found.position[mine], found.rotation[mine])
    robot.remember(motion, found.chains[mine])
    other = Motion(found.position[~mine], found.rotation[~mine])
    robot.remember(other, found.chains[~mine])
    count = len(motion)
    return Postures(
        motion,
        np.zeros(count, dtype=bool),
        np.full(count, np.inf),
        other,
        np.zeros(len(other), dtype=bool),
        _other_legs(robot, other, q),
        Motion(np.zeros((0, 3))),
        "quick" if complex_count is None else "complete",
        complex_count,
        0,
        0,
        False,
        found.coverage,
        complex_count is not None,
    )


def _other_legs(robot: Model, poses: Motion, q: Array) -> Array:
    """Which legs (k, legs) are at poses (k,) on another branch than the robot file's."""
    points = robot.description.platform_points[..., 0].T
    tip = poses.position[:, np.newaxis] + points @ np.swapaxes(poses.rotation, -1, -2)
    whole = np.broadcast_to(q[:, np.newaxis], (len(q), len(poses)))
    lean = robot.mechanism.legs.astray(whole, np.moveaxis(tip, -1, 0).swapaxes(1, 2))
    return np.asarray(np.broadcast_to(lean, (robot.leg_count, len(poses))).T > 0)


def assembly_modes(
    robot: Model, q: ArrayLike, *, method: Method | None = None, on_error: OnError = "raise"
) -> Motion:
    """The postures alone; see `gough.Robot.assembly_modes`."""
    check_on_error(on_error)
    try:
        found = postures(robot, q, method=method)
        if found.continuum.shape[0]:
            raise SingularError([Failure((), None, _where(found.continuum[0]))])
        modes = found.every
        if robot.mechanism.legs.coordinates and len(found.other_branch):
            parts = found.motion, found.other_branch
            robot.remember(modes, np.concatenate([robot.chains_of(one) for one in parts]))
        return modes
    except SampleError:
        if on_error == "raise":
            raise
        return Motion(np.full((1, 3), np.nan), np.full((1, 3, 3), np.nan))


def _where(pose: Motion) -> str:
    place = ", ".join(f"{x:.4g}" for x in pose.position)
    return (
        f"{CONTINUUM} (self-motion), for one at position {place} m; "
        "gough.analysis.postures.postures tells the isolated ones"
    )


def _coordinates(robot: Model, q: ArrayLike) -> Array:
    count = robot.actuator_count
    if count < robot.mobility:
        raise InputError(
            f"{robot.name} has {robot.leg_count} legs with {count} actuators and moves in "
            f"{robot.mobility} directions: with its actuators locked it still moves, so its postures "
            "are a continuum; needs as many actuators (six legs of a hexapod)"
        )
    coordinates = last_axis("q", q, count)
    if coordinates.ndim != 1:
        raise InputError(f"q has shape {coordinates.shape}, needs ({count},): one set of postures")
    bad = ~(np.abs(coordinates) < LARGEST)
    if bad.any():
        worst = int(np.argmax(bad))
        leg = robot.actuators[worst].leg
        raise NotFiniteError([Failure((), leg + 1, f"q is {coordinates[worst]}, not finite")])
    usual = np.maximum(robot.coordinate_sizes, robot.length_scale)
    worst = int(np.argmax(np.abs(coordinates) / usual))
    if abs(coordinates[worst]) > FARTHEST * usual[worst]:
        reason = f"q is {coordinates[worst]:g}, over {FARTHEST:g} times what it is about home"
        raise ReachError([Failure((), robot.actuators[worst].leg + 1, reason)])
    return coordinates


def _possible(rods: Rods) -> bool:
    """Whether any two rods can be joined: |l_i − l_j| ≤ ‖A_i − A_j‖ + ‖b_i − b_j‖ ≤ …."""
    base = np.linalg.norm(rods.anchor[:, np.newaxis] - rods.anchor, axis=-1)
    top = np.linalg.norm(rods.point[:, np.newaxis] - rods.point, axis=-1)
    longer = np.abs(rods.length[:, np.newaxis] - rods.length) <= (base + top) * (1 + 1e-12)
    across = rods.length[:, np.newaxis] + rods.length >= np.abs(base - top) * (1 - 1e-12)
    return bool(np.all(longer & across))


def _six(rods: Rods) -> list[int]:
    """The six rods that hold the platform best at random poses; refuses a platform none can hold."""
    rows = random_rods(rods)
    chosen = list(range(len(rods.length)))
    held = weakest(rows)
    while len(chosen) > 6:  # leave out the one that is missed least
        left = [[leg for leg in chosen if leg != out] for out in chosen]
        margins = [weakest(rows[:, legs]) for legs in left]
        chosen, held = left[int(np.argmax(margins))], max(margins)
    if held < 1e-10:
        raise SingularError(
            [Failure((), None, f"architecturally singular geometry: {CONTINUUM}, in every pose")]
        )
    return chosen


class _Finish:
    """From solutions of the rods to postures of the robot."""

    def __init__(self, robot: Model, q: Array, rods: Rods, frame: RodFrame) -> None:
        self.robot, self.q, self.rods, self.frame = robot, q, rods, frame
        geometry = geometry_of(rods)
        self.quadrics = quadrics(*geometry)
        self.uncertainty = rounding(rods, frame)
        self.geometry = geometry

    def complete(self) -> Postures:
        ends = self._all_ends()
        regular = _different(ends.z[ends.outcome == endgame.REGULAR])
        singular = ends.z[ends.outcome == endgame.SINGULAR]
        real = reality(regular) < NEARLY_REAL
        isolated, moving = self._isolated(singular)
        candidates = np.concatenate([regular[real], isolated])
        found = self._polish(*to_pose(made_real(candidates), self.frame))
        proven = False
        if len(regular) == SOLUTIONS:
            proven = self._proven(regular, real, found)
        return self._result(
            found,
            moving,
            "complete",
            complex_count=len(regular),
            at_infinity=int(np.sum(ends.outcome == endgame.NO_POSE)),
            singular=len(singular),
            proven=proven,
        )

    def quick(self, rods: Rods, seed: int) -> Postures:
        whole = Rods(
            (rods.anchor - self.frame.base) / self.frame.scale,
            (rods.point - self.frame.platform) / self.frame.scale,
            rods.length / self.frame.scale,
        )
        position, rotation, coverage = multistart.search(whole, seed)
        z = to_study(position, rotation, UNFRAMED)
        moving = rank_lost(whole, position, rotation)
        if coverage.found <= multistart.MOST_POSTURES:  # singular ones may be isolated all the same
            moving[moving] = [is_continuum(self.quadrics, one) for one in z[moving]]
        found = self._polish(*to_pose(z[~moving], self.frame))
        # Newton without damping may miss postures that are nowhere isolated
        some = (
            z[moving] if len(z) else to_study(*real_continuum(self.rods, self.quadrics), UNFRAMED)
        )
        return self._result(found, self._mine(some), "quick", coverage=coverage)

    def _mine(self, z: Array) -> Motion:
        """Poses of real Study coordinates (n, 8) that are on the robot file's branch."""
        poses = Motion(*to_pose(z, self.frame))
        legs = self.robot.inverse_kinematics(poses, on_error="nan")
        with np.errstate(invalid="ignore"):
            met = np.abs(legs.q - self.q).max(axis=1, initial=0.0) < 1e-6 * self.frame.scale
        return poses[np.flatnonzero(met)[: continuum.EXAMPLES]]

    def _all_ends(self) -> endgame.Ends:
        """Ends of all 40 paths; tried again on other ways where one is lost or two fell together."""
        start, solutions = start_system()
        line = line_between(start, self.geometry)
        for attempt, waypoint in enumerate(WAYPOINTS):
            tight = homotopy.PREDICTED * 0.1**attempt
            z, arrived, at = solutions, np.ones(SOLUTIONS, dtype=bool), 0.0 + 0.0j
            for corner in (waypoint, 1 - endgame.CLOSE):
                if corner is not None:
                    z, ok = homotopy.track(line, z, at, corner, tight)
                    arrived, at = arrived & ok, corner
            ends = endgame.ends(line, z, arrived)
            lost = int(np.sum(ends.outcome == endgame.LOST))
            simple = ends.z[ends.outcome == endgame.REGULAR]
            doubled = separation(simple) < DOUBLED
            if not lost and not doubled.any():
                return ends
        # near a special geometry solutions crowd where there are no poses; those need not be told apart
        if not lost and np.all(endgame.no_pose(simple[doubled])):
            return ends
        reason = (
            f"of {SOLUTIONS} solution paths {lost} were lost and {int(doubled.sum())} ended together; "
            "postures may be missing"
        )
        raise ConvergenceError([Failure((), None, reason)])

    def _isolated(self, singular: Array) -> tuple[Array, Motion]:
        """Nearly real ones among isolated singular ends, and real poses of the continua among them."""
        moving = np.array([is_continuum(self.quadrics, z) for z in singular], dtype=bool)
        some = np.zeros((0, 8))
        if moving.any():
            some = to_study(*real_continuum(self.rods, self.quadrics), UNFRAMED)
        still = singular[~moving]
        return still[reality(still) < NEARLY_REAL_SINGULAR], self._mine(some)

    def _polish(self, position: Array, rotation: Array) -> forward.Solution:
        """Newton in pose space on all legs; one of each posture, sorted."""
        q = np.broadcast_to(self.q, (len(position), len(self.q)))
        found = forward.solve(self.robot, q, Motion(position, rotation))
        # where the Jacobian is singular Newton stops short of its own limit
        met = (found.status == forward.SINGULAR) & (
            found.residual < AT_SINGULARITY * self.frame.scale
        )
        good = (
            np.isin(found.status, (forward.CONVERGED, forward.OTHER_BRANCH, forward.UNTOLD)) | met
        )
        index = np.flatnonzero(good)
        scaled = found.position[good] / self.frame.scale
        flat = np.concatenate([scaled, found.rotation[good].reshape(-1, 9)], axis=1)
        first, _ = multistart.distinct(flat)
        keys = np.round(flat[first], 9) + 0.0
        order = np.lexsort([*keys[:, 3:].T[::-1], keys[:, 0], keys[:, 1], keys[:, 2]])
        index = index[first[order]]
        return forward.Solution(
            **{name: getattr(found, name)[index] for name in forward.Solution.__dataclass_fields__}
        )

    def _study(self, found: forward.Solution) -> Array:
        return to_study(found.position, found.rotation, self.frame)

    def _proven(self, regular: Array, real: Array, found: forward.Solution) -> bool:
        """Whether 40 different solutions are proven, as many of them real as were found."""
        if self.robot.leg_count > 6 or int(real.sum()) != len(found.status):
            return False
        z = np.concatenate([self._study(found), regular[~real]])
        test = certify(self.quadrics, self.uncertainty, z)
        imaginary = not_real(z[len(found.status) :], test.radius[len(found.status) :])
        return bool(test.proven.all() and apart(z, test.radius).all() and imaginary.all())

    def _result(
        self,
        found: forward.Solution,
        moving: Motion,
        method: Method,
        complex_count: int | None = None,
        at_infinity: int = 0,
        singular: int = 0,
        proven: bool = False,
        coverage: Coverage | None = None,
    ) -> Postures:
        z = self._study(found)
        test = certify(self.quadrics, self.uncertainty, z)
        certified = test.proven & apart(z, test.radius)
        mine = found.status != forward.OTHER_BRANCH
        other = Motion(found.position[~mine], found.rotation[~mine])
        return Postures(
            Motion(found.position[mine], found.rotation[mine]),
            certified[mine],
            test.radius[mine],
            other,
            certified[~mine],
            _other_legs(self.robot, other, self.q),
            moving,
            method,
            complex_count,
            at_infinity,
            singular,
            proven,
            coverage,
        )


def _different(z: Array) -> Array:
    """One of each group of unit vectors (n, 8) that are nearer than DOUBLED in projective space."""
    kept: list[Array] = []
    for one in z:
        if all(np.linalg.norm(one - (other.conj() @ one) * other) > DOUBLED for other in kept):
            kept.append(one)
    return np.array(kept).reshape(-1, 8)
