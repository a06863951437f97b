"""What of a flexible robot is commanded: its floating frame, its terminal frame or its legs.

Six actuators make six numbers follow. Which six decides what the modes do meanwhile: with x = (v̇, ω̇)
of the floating frame and q̈e of the modes, a command fixes

    x = x₀(t, qe, q̇e) + P q̈e,      (δp, δθ) = P δqe

and the modes obey what is left of the equation of motion. P = 0 where the floating frame itself is
commanded. The terminal frame is the material at the frame's origin, at p + R Φ₀ qe, turned to
R exp((Φ_r qe)×), Φ₀ and Φ_r the body's `origin_shapes` and `origin_rotations`: P = −R (Φ₀, Φ_r) where
the platform is undeformed. Legs follow where J_p x + J_e q̈e + J̇ ξ = q̈: P = −J_p⁻¹ J_e.
World axes, SI units.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np

from gough.base.arrays import Array
from gough.base.rotations import exponential
from gough.errors import InputError
from gough.model import forward
from gough.model.calls import ModelCalls
from gough.model.described import DescribedModel
from gough.motion import Motion

Output = Literal["frame", "terminal", "legs"]


class Commanded(Protocol):
    """A command (n,), and the motion of the floating frame that it implies."""

    def motion(self, elastic: Array, rate: Array, acceleration: Array) -> Motion:
        """The motion of the floating frame while the modes do so, (..., n, N) each."""

    def following(self, motion: Motion) -> Array:
        """P (n, 6, N) at a motion (n,) that obeys the command."""


class Following(NamedTuple):
    """How pose (δp, δθ), twist and acceleration of the frame follow the modes, (n, 6, N) each."""

    pose_by_elastic: Array
    twist_by_elastic: Array
    acceleration_by_elastic: Array
    twist_by_velocity: Array
    acceleration_by_velocity: Array


def frame_slopes(commanded: Commanded, motion: Motion, probe: Array) -> Following:
    """Of a motion (n,) with modes, by central differences of `probe` (N,) in the elastic coordinates.

    The frame's acceleration is a polynomial of second degree in q̇e: differences by these are exact.
    """
    state = [motion.elastic, motion.elastic_velocity, motion.elastic_acceleration]

    def slopes(which: int, steps: Array) -> tuple[Array, Array, Array]:
        changed = [
            [
                one + sign * np.diag(steps)[:, np.newaxis] if i == which else one
                for i, one in enumerate(state)
            ]
            for sign in (1.0, -1.0)
        ]
        ahead, behind = (commanded.motion(*one) for one in changed)
        turned = ahead.rotation @ np.swapaxes(behind.rotation, -1, -2)
        skew = (turned - np.swapaxes(turned, -1, -2)) / 2
        turn = np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)
        pairs = [
            (ahead.position - behind.position, turn),
            (ahead.velocity - behind.velocity, ahead.angular_velocity - behind.angular_velocity),
            (
                ahead.acceleration - behind.acceleration,
                ahead.angular_acceleration - behind.angular_acceleration,
            ),
        ]
        width = 2 * steps[:, np.newaxis, np.newaxis]
        shape = (len(steps), *motion.shape, 6)
        pose, twist, acceleration = (
            np.moveaxis(np.broadcast_to(np.concatenate(pair, axis=-1) / width, shape), 0, -1)
            for pair in pairs
        )
        return pose, twist, acceleration

    pose, twist, acceleration = slopes(0, probe)
    _, twist_by_velocity, acceleration_by_velocity = slopes(1, 1e3 * probe)
    return Following(pose, twist, acceleration, twist_by_velocity, acceleration_by_velocity)


class FrameCommand:
    """The floating frame moves as commanded."""

    def __init__(self, robot: DescribedModel, command: Motion) -> None:
        self.command = command

    def motion(self, elastic: Array, rate: Array, acceleration: Array) -> Motion:
        """The command itself."""
        return with_modes(self.command, elastic, rate, acceleration)

    def following(self, motion: Motion) -> Array:
        """It follows the command, not the modes."""
        return np.zeros((*motion.shape, 6, motion.modes))


class TerminalCommand:
    """The material at the platform frame's origin moves as commanded.

    R = R_t exp(−θ×), p = p_t − R d with d = Φ₀ qe, θ = Φ_r qe, and their derivatives.
    """

    def __init__(self, robot: DescribedModel, command: Motion) -> None:
        self.command = command
        self.shapes, self.rotations = origin_shapes(robot)

    def motion(self, elastic: Array, rate: Array, acceleration: Array) -> Motion:
        """The frame that carries the terminal frame along the command."""
        told = self.command
        d, dd, ddd = (one @ self.shapes.T for one in (elastic, rate, acceleration))
        turn, spin, grow = exponential(
            *(one @ self.rotations.T for one in (elastic, rate, acceleration))
        )
        R = told.rotation @ np.swapaxes(turn, -1, -2)
        d, dd, ddd, spin, grow = (_turned(R, one) for one in (d, dd, ddd, spin, grow))
        omega = told.angular_velocity - spin
        alpha = told.angular_acceleration - np.cross(omega, spin) - grow
        swept = np.cross(omega, d)
        lost = np.cross(alpha, d) + np.cross(omega, swept) + 2 * np.cross(omega, dd) + ddd
        frame = Motion(
            told.position - d,
            _orthonormal(R),
            told.velocity - swept - dd,
            omega,
            told.acceleration - lost,
            alpha,
            time=told.time,
        )
        return with_modes(frame, elastic, rate, acceleration)

    def following(self, motion: Motion) -> Array:
        """ω̇ = −R B(θ) Φ_r q̈e, ω = B θ̇ of a rotation vector; v̇ = −ω̇ × R d − R Φ₀ q̈e."""
        theta = (motion.elastic @ self.rotations.T)[..., np.newaxis, :]
        spun = exponential(
            theta, np.broadcast_to(self.rotations.T, (*motion.shape, motion.modes, 3))
        )[1]
        turned = -motion.rotation @ np.swapaxes(spun, -1, -2)
        arm = _turned(motion.rotation, motion.elastic @ self.shapes.T)[..., np.newaxis]
        moved = -motion.rotation @ self.shapes - np.cross(turned, arm, axis=-2)
        return np.concatenate([moved, turned], axis=-2)


class LegCommand:
    """The legs move as they do along the command, undeformed where that has no modes; six legs."""

    def __init__(self, robot: DescribedModel, command: Motion) -> None:
        if not robot.actuator_count == robot.mobility == 6:
            raise InputError(
                f"{robot.name} has {robot.actuator_count} actuators for {robot.mobility} directions: "
                "output='legs' needs six for six, else legs and modes are not free of each other"
            )
        self.robot, self.command = robot, command
        legs = robot.inverse_kinematics(command)
        self.q, self.qd, self.qdd = legs.q, legs.qd, legs.qdd

    def motion(self, elastic: Array, rate: Array, acceleration: Array) -> Motion:
        """The frame where the legs hold the deflected platform; J_p (v, ω) = q̇ − J_e q̇e and so on."""
        robot = self.robot
        guess = Motion(self.command.position, self.command.rotation, elastic=elastic)
        pose = forward.solve(robot, self.q, guess).motion("raise")
        J = robot.jacobian(pose)
        twist = _solved(J, self.qd - _turned(J[..., 6:], rate))
        moving = pose.replace(
            velocity=twist[..., :3],
            angular_velocity=twist[..., 3:],
            elastic_velocity=rate,
            elastic_acceleration=acceleration,
            time=self.command.time,
        )
        x = _solved(J, self.qdd - robot.inverse_kinematics(moving).qdd)
        return moving.replace(acceleration=x[..., :3], angular_acceleration=x[..., 3:])

    def following(self, motion: Motion) -> Array:
        """−J_p⁻¹ J_e."""
        J = self.robot.jacobian(motion)
        return np.asarray(-np.linalg.solve(J[..., :6], J[..., 6:]))


OUTPUTS: dict[Output, Callable[[DescribedModel, Motion], Commanded]] = {
    "frame": FrameCommand,
    "terminal": TerminalCommand,
    "legs": LegCommand,
}


def command_of(output: Output) -> Callable[[DescribedModel, Motion], Commanded]:
    """The kind of command by its name."""
    if not isinstance(output, str) or output not in OUTPUTS:
        names = ", ".join(map(repr, get_args(Output)))
        raise InputError(f"output is one of {names}, not {output!r}")
    return OUTPUTS[output]


def terminal_motion(robot: DescribedModel, motion: Motion) -> Motion:
    """Pose, twist and acceleration of the material at the platform frame's origin.

    p_t = p + R Φ₀ qe, R_t = R exp((Φ_r qe)×), and their derivatives; without `origin_rotations` it
    does not turn against the frame.
    """
    shapes, rotations = origin_shapes(robot)
    robot.elastic_inputs(motion)
    if not motion.modes:
        return motion
    fields = motion.elastic, motion.elastic_velocity, motion.elastic_acceleration
    R, omega = motion.rotation, motion.angular_velocity
    d, dd, ddd = (_turned(R, one @ shapes.T) for one in fields)
    turn, spin, grow = exponential(*(one @ rotations.T for one in fields))
    spin, grow = _turned(R, spin), _turned(R, grow)
    swept = np.cross(omega, d)
    alpha = motion.angular_acceleration
    gained = np.cross(alpha, d) + np.cross(omega, swept) + 2 * np.cross(omega, dd) + ddd
    return Motion(
        motion.position + d,
        _orthonormal(R @ turn),
        motion.velocity + swept + dd,
        omega + spin,
        motion.acceleration + gained,
        alpha + np.cross(omega, spin) + grow,
        time=motion.time,
    )


def origin_shapes(robot: ModelCalls) -> tuple[Array, Array]:
    """Φ₀ and Φ_r, (3, N) each, of the body at the platform frame's origin."""
    body = robot.modal
    if body is None:
        raise InputError(f"{robot.name} has a rigid platform: its frame is its terminal frame")
    if body.origin_shapes is None:
        raise InputError(
            f"{robot.name}: {body.name} has no origin_shapes: nothing says how the material at the "
            "platform frame's origin, where a wrench acts and a tool is fixed, moves with the modes. "
            "Write origin_shapes and origin_rotations into the .npz, or place the frame on the body"
        )
    turning = body.origin_rotations
    return body.origin_shapes, np.zeros((3, robot.modes)) if turning is None else turning


def with_modes(motion: Motion, elastic: Array, rate: Array, acceleration: Array) -> Motion:
    """A motion with these elastic coordinates, rates and accelerations."""
    return motion.replace(elastic=elastic, elastic_velocity=rate, elastic_acceleration=acceleration)


def _turned(matrix: Array, vector: Array) -> Array:
    return np.asarray(np.einsum("...ij,...j->...i", matrix, vector))


def _solved(jacobian: Array, right: Array) -> Array:
    return np.asarray(np.linalg.solve(jacobian[..., :6], right[..., np.newaxis])[..., 0])


def _orthonormal(R: Array) -> Array:
    """R without the rounding of products of rotations."""
    return np.asarray(1.5 * R - 0.5 * R @ (np.swapaxes(R, -1, -2) @ R))
