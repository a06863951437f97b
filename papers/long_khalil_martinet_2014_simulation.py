"""The simulation of Long, Khalil & Martinet 2014, Fig. 3: inverse and direct model in a loop.

A path of fifth-order polynomials asks for V̇ᵈ(t). The inverse model finds Γ at the simulated state, the
direct model takes Γ at the same state, and what comes out is integrated:

    Γ = inverse(V̇ᵈ; p, R, V, qe, q̇e),   (V̇, q̈e) = direct(Γ; p, R, V, qe, q̇e)

so that V̇ = V̇ᵈ whatever the state, and the plate obeys the zero dynamics M_z q̈e + D q̇e + K qe = ….
Work of the actuators less what the plate's damping takes, ∫ (Γ·q̇ − q̇eᵀ D q̇e) dt, is integrated too.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import gough
from gough.data.paper_motions import paper_motion
from gough.errors import ConvergenceError, Failure
from gough.mechanics import programs
from gough.show.reproduction import Progress, quiet

Array = NDArray[np.float64]
MOTION = "long-khalil-martinet-2014/poses"
OFFSET = 1e-6
"""Error of the initial position that is let grow, m."""
CROSS = np.array(
    [
        [[0.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]],
        [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 0.0]],
        [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ]
)
"""CROSS @ ω is ω̂ with ω̂ u = ω × u."""


class Part(NamedTuple):
    """A part of the path: V̇ᵈ = s̈(t) (Δp, θ), s = 10τ³ − 15τ⁴ + 6τ⁵, τ = (t − start)/(stop − start)."""

    start: float
    stop: float
    move: Array
    """Δp and rotation vector θ, (6,); zero where the robot rests."""

    def asked(self, t: float) -> Array:
        """V̇ᵈ (6,)."""
        T = self.stop - self.start
        u = (t - self.start) / T
        return (60 * u - 180 * u**2 + 120 * u**3) / T**2 * self.move


def path() -> list[Part]:
    """Rest, moves through several poses, rest: the trajectory of the catalogue, part by part."""
    trajectory: Any = paper_motion(MOTION)
    poses, now = trajectory.poses, 0.0
    parts = []
    for i, rest in enumerate(np.broadcast_to(trajectory.rests, len(poses))):
        if rest:
            parts.append(Part(now, now + rest, np.zeros(6)))
            now += rest
        if i + 1 < len(poses):
            turn = Rotation.from_matrix(poses.rotation[i + 1] @ poses.rotation[i].T).as_rotvec()
            move = np.concatenate([poses.position[i + 1] - poses.position[i], turn])
            length = np.broadcast_to(trajectory.durations, len(poses) - 1)[i]
            parts.append(Part(now, now + length, move))
            now += length
    return parts


class Loop:
    """Fig. 3: states y = (p, R row by row, v, ω, qe, q̇e, work) and their rates, batch first.

    A row of y, (n, copies · size), holds the robot of the loop and further copies of it, which get
    the forces that the first one asks for: they are driven open loop.
    """

    def __init__(self, robot: gough.Robot, copies: int = 1) -> None:
        assert robot.description.modal is not None
        self.robot, self.modes, self.copies = robot, robot.modes, copies
        self.size = 19 + 2 * robot.modes
        self.damping = robot.description.modal.damping
        self.nothing = {
            "elastic_acceleration": np.zeros((1, robot.modes)),
            "wrench": np.zeros((1, 6)),
        }
        self.still = np.zeros((1, 3))

    def start(self, motion: gough.Motion) -> Array:
        """y at rest in a pose with its deflection."""
        still = np.zeros(6)
        elastic = motion.elastic if motion.modes else np.zeros(self.modes)
        rest = [motion.position, motion.rotation.ravel(), still, elastic, np.zeros(self.modes), [0]]
        return np.concatenate(rest)

    def fields(self, y: Array) -> dict[str, Array]:
        """The parts of states y (n, size) by name."""
        N = self.modes
        return self.nothing | {
            "position": y[:, :3],
            "rotation": y[:, 3:12].reshape(-1, 3, 3),
            "velocity": y[:, 12:15],
            "angular_velocity": y[:, 15:18],
            "elastic": y[:, 18 : 18 + N],
            "elastic_velocity": y[:, 18 + N : 18 + 2 * N],
        }

    def inverse(self, fields: dict[str, Array], asked: Array) -> Mapping[str, Array]:
        """Γ and powers for V̇ᵈ (6,) at n states."""
        push = {
            "acceleration": asked[np.newaxis, :3],
            "angular_acceleration": asked[np.newaxis, 3:],
        }
        return self.run(programs.inverse_dynamics, fields | push)

    def direct(self, fields: dict[str, Array], forces: Array) -> Mapping[str, Array]:
        """V̇ and q̈e under Γ at n states."""
        still = {"acceleration": self.still, "angular_acceleration": self.still}
        return self.run(programs.direct_dynamics, fields | still | {"forces": forces})

    def run(self, program: Any, fields: dict[str, Array]) -> Mapping[str, Array]:
        """A program at n states, all of them healthy."""
        found = self.robot.executor(program, len(fields["position"]), fields)
        if not found["margin"].min() > 0:
            raise ConvergenceError([Failure((), None, "the simulation left the robot's workspace")])
        return found

    def rates(self, y: Array, asked: Array) -> Array:
        """ẏ, of the shape of y."""
        every = y.reshape(-1, self.size)
        fields = self.fields(every)
        found = self.inverse(
            fields if self.copies == 1 else self.fields(every[:: self.copies]), asked
        )
        reached = self.direct(fields, np.repeat(found["forces"], self.copies, axis=0))
        rate = fields["elastic_velocity"]
        gained = np.repeat(found["power"].sum(axis=1), self.copies)
        lost = ((rate @ self.damping) * rate).sum(axis=1)
        turning = (CROSS @ fields["angular_velocity"][:, np.newaxis, :, np.newaxis])[..., 0]
        rates = [
            fields["velocity"],
            (turning @ fields["rotation"]).reshape(-1, 9),
            reached["linear"],
            reached["angular"],
            rate,
            reached["elastic"],
            (gained - lost)[:, np.newaxis],
        ]
        return np.concatenate(rates, axis=1).reshape(y.shape)

    def slopes(self, y: Array, asked: Array) -> Array:
        """∂ẏ/∂y of one row by central differences, all of them in one batch."""
        steps = 1e-7 * np.maximum(np.abs(y), 1e-2)
        near = self.rates(np.concatenate([y + np.diag(steps), y - np.diag(steps)]), asked)
        return np.asarray(((near[: len(y)] - near[len(y) :]) / (2 * steps)[:, np.newaxis]).T)

    def motion(self, t: Array, y: Array) -> gough.Motion:
        """States as a motion; rotations made orthogonal to the last digit."""
        fields = self.fields(y)
        names = ("velocity", "angular_velocity", "elastic", "elastic_velocity")
        return gough.Motion(
            fields["position"],
            Rotation.from_matrix(fields["rotation"]),
            time=t,
            **{name: fields[name] for name in names},
        )


class Run(NamedTuple):
    """A simulation."""

    motion: gough.Motion
    """The simulated states, V̇ᵈ as their acceleration."""
    forces: Array
    """Γ of the inverse model, (n, 6), N."""
    reached: Array
    """V̇ of the direct model, (n, 6)."""
    work: Array
    """∫ (Γ·q̇ − q̇eᵀ D q̇e) dt, (n,), J."""
    evaluations: int
    seconds: float

    @property
    def time(self) -> Array:
        """(n,), s."""
        return np.asarray(self.motion.time)


def march(
    loop: Loop, y: Array, times: Array, tolerance: float, notice: Callable[[float], None]
) -> Array:
    """Rows y at times, the first of which is 0; `notice` is told the time at each evaluation.

    Part by part, since V̇ᵈ has kinks where parts meet, by LSODA, which changes to backward
    differences, with the Jacobian of one batch, where the plate makes the loop stiff. `tolerance` is
    relative; the absolute one is a hundredth of it.
    """
    states = []
    for part in path():
        if part.start >= times[-1]:
            break
        stop = min(part.stop, times[-1])

        def rate(t: float, y: Array, part: Part = part) -> Array:
            notice(t)
            return loop.rates(y, part.asked(t))

        found = solve_ivp(
            rate,
            (part.start, stop),
            y,
            method="LSODA",
            t_eval=np.append(times[(times >= part.start) & (times < stop)], stop),
            jac=lambda t, y, part=part: loop.slopes(y, part.asked(t)),
            rtol=tolerance,
            atol=1e-2 * tolerance,
        )
        if not found.success:
            raise ConvergenceError([Failure((), None, f"simulation: {found.message}")])
        y = found.y[:, -1]
        states.append(found.y.T[:-1])
    return np.concatenate([*states, y[np.newaxis]])


def simulate(
    robot: gough.Robot,
    start: gough.Motion,
    tolerance: float = 1e-8,
    stop: float = 4.5,
    samples: int = 901,
    progress: Progress = quiet,
) -> Run:
    """The closed loop of Fig. 3 from a pose at rest until `stop`, s."""
    loop, times, count = Loop(robot), np.linspace(0.0, stop, samples), 0

    def notice(t: float) -> None:
        nonlocal count
        count += 1
        if count % 500 == 0:
            progress(f"{robot.modes} modes, tolerance {tolerance:g}: {t:.2f} of {stop:.2f} s")

    begun = time.perf_counter()
    states = march(loop, loop.start(start), times, tolerance, notice)
    seconds = time.perf_counter() - begun
    desired = paper_motion(MOTION)(times)
    motion = loop.motion(times, states).replace(
        acceleration=desired.acceleration, angular_acceleration=desired.angular_acceleration
    )
    forces = robot.inverse_dynamics(motion).forces
    reached = robot.direct_dynamics(motion, forces)
    accelerations = np.concatenate([reached.linear, reached.angular], axis=1)
    return Run(motion, forces, accelerations, states[:, -1], count, seconds)


def imbalance(robot: gough.Robot, run: Run) -> float:
    """Largest energy that work and damping do not explain, over the largest change of energy."""
    energy = robot.energy(run.motion)
    stored = energy.kinetic + energy.potential
    return float(np.abs(stored - stored[0] - run.work).max() / np.ptp(stored))


class Growth(NamedTuple):
    """Two copies of the robot under the same forces, one of them OFFSET away at the start."""

    time: Array
    distance: Array
    """Of the platform frames, (n,), m."""
    rate: float
    """Fastest growth of small motions at home, 1/s, with the forces as they are."""


def open_loop(robot: gough.Robot, stop: float = 2.0, samples: int = 201) -> Growth:
    """Γ(t) of the closed loop applied to a second robot that starts OFFSET away along x."""
    loop, times = Loop(robot, copies=2), np.linspace(0.0, stop, samples)
    start = np.tile(loop.start(robot.static_deflection(robot.home)), 2)
    start[loop.size] += OFFSET
    states = march(loop, start, times, 1e-9, lambda t: None)
    places = states.reshape(samples, 2, loop.size)[..., :3]
    free = robot.natural_frequencies(robot.home, "free").frequencies
    return Growth(
        times,
        np.linalg.norm(places[:, 1] - places[:, 0], axis=1),
        float(-2 * np.pi * free.min()),
    )


def with_body(robot: gough.Robot, **changes: Any) -> gough.Robot:
    """The robot with arrays of its flexible body replaced."""
    assert robot.description.modal is not None
    body = dataclasses.replace(robot.description.modal, **changes)
    return dataclasses.replace(robot, description=robot.description._replace(modal=body))


def muted(robot: gough.Robot, count: int) -> gough.Robot:
    """The robot with its first modes only.

    The others stay, but move no tip: of a free plate (s = β = 0) nothing then excites them. One
    compiled program so serves many numbers of modes.
    """
    body: Any = robot.description.modal
    felt = np.arange(body.modes) < count
    return with_body(
        robot, tip_shapes=body.tip_shapes * felt, tip_rotations=body.tip_rotations * felt
    )
