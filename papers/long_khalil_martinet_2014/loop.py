"""The loop of Fig. 3: inverse and direct model of the plate and its legs.

A path of fifth-order polynomials asks for V̇ᵈ(t). The inverse model finds Γ at the simulated state, the
direct model takes Γ at the same state, and what comes out is integrated:

    Γ = inverse(V̇ᵈ; p, R, V, qe, q̇e),   (V̇, q̈e) = direct(Γ; p, R, V, qe, q̇e)

so that V̇ = V̇ᵈ whatever the state, and the plate obeys the zero dynamics M_z q̈e + D q̇e + K qe = ….
Work of the actuators less what the plate's damping takes, ∫ (Γ·q̇ − q̇eᵀ D q̇e) dt, is integrated too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import gough
from gough.base.arrays import Array
from gough.errors import ConvergenceError, Failure
from gough.mechanics import programs

from .path import Part, path

CROSS = np.array(
    [
        [[0.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]],
        [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 0.0]],
        [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ]
)
"""CROSS @ ω is ω̂ with ω̂ u = ω × u."""


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
