"""How exactly a robot stands where it was sent: errors of legs, joints and mounting, at the tool.

With unit legs n_i, arms r_i and slopes c_i (`gough.analysis.singularities`), small errors move the
platform by ξ = (δp, δθ):

    n_i·(δp + δθ×r_i) = ε_i:   G ξ = ε,     ε_i = c_i δq_i − n_i·R δb_i + what is off in the leg

δq leg coordinate, δb platform joint; what else can be off in a leg, its kind knows
(`gough.legs.tolerances`). Errors are independent with standard deviations σ, the same along every axis,
so the variance of ε_i is c_i² σ_q² + σ_b² + that of the leg's own errors, and cov ξ = G⁻¹ var(ε) G⁻ᵀ.
A base mounted askew, by a displacement and a rotation φ about the world's origin, adds
(δp, δθ) = (δt + φ×p, φ); the tool adds its own error. `sampled` gets the same from the exact model.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from scipy.spatial.transform import Rotation

from gough.analysis.singularities import lines, matrix
from gough.base.arrays import Array, condition, wrapped
from gough.errors import ConvergenceError, Failure, InputError, SingularError
from gough.legs.geometry import Stance
from gough.legs.register import KINDS
from gough.legs.tolerances import around
from gough.mechanics.solves import WORST_CONDITION
from gough.model.batch import OnError
from gough.model.model import Model
from gough.motion import Motion, need_motion
from gough.variants import Variants

MOST_STEPS, SETTLED = 12, 1e-12
"""Newton steps to a sample's pose, and the error of a leg, in length scales, at which it is found."""
MOST_SAMPLES = 5_000_000
WIDEST = 1000.0
"""m or rad: largest standard deviation of an error of build."""
OF_LEGS = ("base", "link", "rail", "crank", "motor_axis")
"""Tolerances of which the kind of leg knows what they do."""


@dataclass(frozen=True)
class Tolerances:
    """Standard deviations of a robot's errors, each independent, the same along every axis."""

    leg: float = 0.0
    """Leg coordinate q, m, or rad of a rotary actuator: its zero and reading."""
    base: float = 0.0
    """Joint on the base, the rail's origin or the motor, m a coordinate."""
    platform: float = 0.0
    """Joint on the platform, m a coordinate."""
    link: float = 0.0
    """Length of a link that does not change with q (PUS, RUS), m."""
    rail: float = 0.0
    """Direction of a rail (PUS), rad about each of two axes."""
    crank: float = 0.0
    """Length of a crank (RUS), m."""
    motor_axis: float = 0.0
    """Direction of a motor's axis (RUS), rad about each of two axes."""
    mounting: float = 0.0
    """Place of the base in the world, m a coordinate."""
    mounting_angle: float = 0.0
    """Orientation of the base, rad an axis, about the world's origin."""
    tool: float = 0.0
    """Tool point in the platform, m a coordinate."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(value, int | float | np.number) or not 0 <= value <= WIDEST:
                raise InputError(f"tolerance {item.name} is {value!r}, needs 0 to {WIDEST:g}"[:120])


@dataclass(frozen=True)
class Accuracy:
    """Spread of the pose and of the tool, of the batch shape (...) of the motion; world axes."""

    pose: Array
    """Covariance (..., 6, 6) of (δp, δθ) of the platform frame: m², m rad, rad²."""
    tool: Array
    """Covariance (..., 3, 3) of the tool point, m²."""
    shares: dict[str, Array]
    """Covariance (..., 3, 3) of the tool point from each of the tolerances alone, by name."""

    @property
    def tool_error(self) -> Array:
        """(...) m: root mean square of the tool's distance from where it should be."""
        return np.asarray(np.sqrt(np.trace(self.tool, axis1=-2, axis2=-1)))

    @property
    def turn_error(self) -> Array:
        """(...) rad: root mean square of the platform's rotation from what it should be."""
        return np.asarray(np.sqrt(np.trace(self.pose[..., 3:, 3:], axis1=-2, axis2=-1)))


@dataclass(frozen=True)
class Sampled:
    """Errors of random robots, each with its own joints, legs and mounting."""

    pose: Array
    """(..., samples, 6) of (δp, δθ)."""
    tool: Array
    """(..., samples, 3) m."""

    @property
    def pose_covariance(self) -> Array:
        """(..., 6, 6) about zero."""
        return _covariance(self.pose)

    @property
    def tool_covariance(self) -> Array:
        """(..., 3, 3) about zero."""
        return _covariance(self.tool)

    @property
    def tool_error(self) -> Array:
        """(...) m, root mean square."""
        return np.asarray(np.sqrt(np.mean(np.sum(self.tool**2, axis=-1), axis=-1)))


def accuracy(
    robot: Model, motion: Motion, tolerances: Tolerances, *, on_error: OnError = "raise"
) -> Accuracy:
    """First-order spread of pose and tool at every pose of a motion; six legs.

    A flexible platform counts as undeformed.
    """
    need_motion(motion)
    _six(robot, tolerances)
    poses = Motion(motion.position, motion.rotation)
    q = robot.rigid.inverse_kinematics(
        poses, on_error=on_error
    ).q  # names what is wrong with a pose
    count = int(np.prod(motion.shape))
    position = motion.position.reshape(count, 3)
    rotation = motion.rotation.reshape(count, 3, 3)
    q = q.reshape(count, robot.leg_count)
    found = lines(robot, position, rotation)
    inverse = _inverse(matrix(found, robot.length_scale), motion.shape, on_error)
    inverse[:, 3:] /= robot.length_scale
    arm = rotation @ robot.description.tool
    to_tool = np.concatenate([np.broadcast_to(np.eye(3), (count, 3, 3)), _turned(arm)], axis=-1)
    slope, given = found.slope, tolerances
    stance = Stance(found.direction, slope, found.sine, found.lever)
    variance = {"leg": slope**2, "platform": np.ones_like(slope)}
    variance |= robot.leg_kind.tolerances.variance(robot.description.legs, q, stance)
    none = np.zeros_like(slope)
    spread = {
        name: _through(inverse, getattr(given, name) ** 2 * variance.get(name, none))
        for name in ("leg", "platform", *OF_LEGS)
    }
    still = np.tile(np.eye(6), (count, 1, 1))
    spread["mounting"] = _through(still, np.tile([given.mounting**2] * 3 + [0.0] * 3, (count, 1)))
    still[:, :3, 3:] = _turned(position)
    askew = np.tile([0.0] * 3 + [given.mounting_angle**2] * 3, (count, 1))
    spread["mounting_angle"] = _through(still, askew)
    shares = {
        name: to_tool @ covariance @ np.swapaxes(to_tool, 1, 2)
        for name, covariance in spread.items()
    }
    shares["tool"] = np.tile(given.tool**2 * np.eye(3), (count, 1, 1))
    shape = motion.shape
    return Accuracy(
        np.sum(list(spread.values()), axis=0).reshape(*shape, 6, 6),
        np.sum(list(shares.values()), axis=0).reshape(*shape, 3, 3),
        {name: covariance.reshape(*shape, 3, 3) for name, covariance in shares.items()},
    )


def sampled(
    robot: Model, motion: Motion, tolerances: Tolerances, samples: int = 10_000, seed: int = 0
) -> Sampled:
    """Monte Carlo: random robots, sent to the nominal robot's leg coordinates, stand where they stand.

    Normal errors; every sample is solved by Newton's method on the exact model (`Robot.variants`).
    """
    accuracy(robot, motion, tolerances)  # names what is wrong with a pose
    total = int(np.prod(motion.shape)) * samples
    if samples < 1 or total > MOST_SAMPLES:
        raise InputError(f"{samples} samples of {motion.shape} poses: needs 1 to {MOST_SAMPLES:,}")
    rng = np.random.default_rng(seed)
    rigid, count = robot.rigid, robot.leg_count
    points = robot.description.platform_points[..., 0].T
    changes = {"legs.platform": around(points, tolerances.platform, samples, rng)}
    deviation = {name: getattr(tolerances, name) for name in OF_LEGS}
    kind = robot.leg_kind
    changes |= kind.tolerances.built(robot.description.legs, deviation, samples, rng)
    many = Variants.of(rigid, changes)
    nominal = Motion(motion.position[..., np.newaxis, :], motion.rotation[..., np.newaxis, :, :])
    wanted = rigid.inverse_kinematics(nominal).q + tolerances.leg * rng.normal(
        size=(samples, count)
    )
    shape = wanted.shape[:-1]
    position = np.broadcast_to(nominal.position, (*shape, 3))
    rotation = np.broadcast_to(nominal.rotation, (*shape, 3, 3))
    for _ in range(MOST_STEPS):
        here = Motion(position, rotation)
        missing = wanted - many.inverse_kinematics(here).q
        if robot.leg_kind.units.turns:
            missing = wrapped(missing)
        if np.abs(missing).max(initial=0.0) < SETTLED * robot.length_scale:
            break
        step = np.linalg.solve(many.jacobian(here), missing[..., np.newaxis])[..., 0]
        position = position + step[..., :3]
        rotation = _exponential(step[..., 3:]) @ rotation
    else:
        off = np.abs(missing).max(axis=-1)
        worst = np.unravel_index(int(np.argmax(off)), off.shape)
        reason = (
            f"a random robot was not brought to its pose: leg error {off[worst]:.2g} "
            f"{robot.leg_kind.units.q}"
        )
        raise ConvergenceError([Failure(tuple(int(i) for i in worst), None, reason)])
    askew = _exponential(tolerances.mounting_angle * rng.normal(size=(samples, 3)))
    placed = tolerances.mounting * rng.normal(size=(samples, 3))
    position = (askew @ position[..., np.newaxis])[..., 0] + placed
    rotation = askew @ rotation
    tool = around(robot.description.tool, tolerances.tool, samples, rng)
    at = position + (rotation @ tool[..., np.newaxis])[..., 0]
    should = nominal.position + nominal.rotation @ robot.description.tool
    turned = rotation @ np.swapaxes(nominal.rotation, -1, -2)
    vector = Rotation.from_matrix(turned.reshape(-1, 3, 3)).as_rotvec().reshape(*shape, 3)
    return Sampled(np.concatenate([position - nominal.position, vector], axis=-1), at - should)


def _six(robot: Model, tolerances: Tolerances) -> None:
    if robot.mobility < 6 or len(robot.description.groups) > 1:
        kinds = " + ".join(group.kind.name for group in robot.description.groups)
        raise InputError(
            f"accuracy: {robot.name} ({kinds}, {robot.mobility} freedoms): errors are "
            f"known of six legs of "
            "one kind that hold a free platform; vary the numbers of its file instead (robot.variants)"
        )
    if robot.leg_count != 6:
        raise InputError(
            f"{robot.name} has {robot.leg_count} legs: the errors of six legs give a pose, no others"
        )
    known = robot.leg_kind.tolerances.names
    strange = [name for name in OF_LEGS if getattr(tolerances, name) and name not in known]
    if strange:
        name = strange[0]
        others = [kind.name for kind in KINDS.values() if name in kind.tolerances.names]
        raise InputError(
            f"tolerance {name} is one of {' or '.join(others)} legs; {robot.name} has {robot.kind} legs"
        )


def _inverse(matrices: Array, shape: tuple[int, ...], on_error: OnError) -> Array:
    """Inverses of G (n, 6, 6); singular poses raise, or are NaN."""
    worst = condition(matrices)
    bad = ~(worst < WORST_CONDITION)
    lost = np.flatnonzero(bad & ~np.isnan(worst))
    if len(lost) and on_error == "raise":
        raise SingularError(
            [
                Failure(
                    tuple(int(i) for i in np.unravel_index(row, shape)) if shape else (),
                    None,
                    f"singular pose: condition number {worst[row]:.2g}, limit {WORST_CONDITION:g}",
                )
                for row in lost
            ]
        )
    safe = np.where(bad[:, np.newaxis, np.newaxis], np.eye(6), matrices)
    return np.where(bad[:, np.newaxis, np.newaxis], np.nan, np.linalg.inv(safe))


def _through(mapping: Array, variance: Array) -> Array:
    """B diag(variance) Bᵀ (n, 6, 6)."""
    return np.asarray((mapping * variance[:, np.newaxis]) @ np.swapaxes(mapping, 1, 2))


def _turned(arm: Array) -> Array:
    """−[r]× (n, 3, 3): δθ ↦ δθ × r."""
    return np.asarray(np.cross(np.eye(3), arm[:, np.newaxis]).swapaxes(1, 2))


def _exponential(vector: Array) -> Array:
    flat = Rotation.from_rotvec(vector.reshape(-1, 3)).as_matrix()
    return np.asarray(flat.reshape(*vector.shape, 3))


def _covariance(errors: Array) -> Array:
    return np.asarray(np.swapaxes(errors, -1, -2) @ errors / errors.shape[-2])
