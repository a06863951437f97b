"""A closed loop by Pinocchio: computed torque on the opened tree, integrated with quaternions.

Nothing of the library is used. The plant and the controller's model are robot-file dictionaries; both
are projected on the platform (`opened_tree`): M ξ̇ + b = Jᵀ Γ.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from .arrays import Array, Robot, State
from .opened_tree import FreePlatform, _followed, _joint_mass, opened_legs, tip_map


class ProjectedRobot:
    """M, b and J of a robot whose Pinocchio models are made once."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.legs = opened_legs(robot)

    def __call__(self, state: State) -> tuple[Array, Array, Array]:
        rest = {**state, "acceleration": np.zeros(3), "angular_acceleration": np.zeros(3)}
        platform = FreePlatform(self.robot, rest)
        mass, bias = platform.mass_matrix(), platform.load(np.zeros(3), np.zeros(3))
        rows = []
        for opened in self.legs:
            coordinates = _followed(opened, rest)
            rate = np.linalg.solve(opened.tip_jacobian(coordinates[0]), tip_map(opened.leg, rest))
            mass = mass + rate.T @ _joint_mass(opened, coordinates[0]) @ rate
            bias = bias + rate.T @ opened.load(*coordinates)
            rows.append(rate[opened.drive])
        return mass, bias, np.array(rows)


def computed_torque_run(
    plant: Robot,
    model: Robot,
    start: State,
    goal: Callable[[float], State],
    frequency: float,
    ratio: float,
    times: Array,
) -> tuple[Array, Array]:
    """Positions (n, 3) and rotations (n, 3, 3) at times (n,) of a computed torque loop.

    The controller acts without pause: a = a_r + 2ζw (ξ_r − ξ) + w² (p_r − p, 2 sin(φ/2) n).
    """
    machine, known = ProjectedRobot(plant), ProjectedRobot(model)

    def rate(time: float, y: Array) -> Array:
        quaternion = y[3:7] / np.linalg.norm(y[3:7])
        turned = Rotation.from_quat(quaternion)
        state = {
            "position": y[:3],
            "rotation": turned.as_matrix(),
            "velocity": y[7:10],
            "angular_velocity": y[10:13],
        }
        wanted = goal(time)
        left = (Rotation.from_matrix(wanted["rotation"]) * turned.inv()).as_rotvec()
        angle = np.linalg.norm(left)
        chord = left * (2 * np.sin(angle / 2) / angle if angle else 1.0)
        apart = np.concatenate([wanted["position"] - y[:3], chord])
        slower = np.concatenate([wanted["velocity"], wanted["angular_velocity"]]) - y[7:13]
        acceleration = np.concatenate([wanted["acceleration"], wanted["angular_acceleration"]])
        acceleration = acceleration + 2 * ratio * frequency * slower + frequency**2 * apart
        mass, bias, rows = known(state)
        forces = np.linalg.solve(rows.T, mass @ acceleration + bias)
        mass, bias, rows = machine(state)
        change = np.linalg.solve(mass, rows.T @ forces - bias)
        spin = Rotation.from_quat(quaternion)
        x, y_, z, w = spin.as_quat()
        ox, oy, oz = y[10:13]
        turning = 0.5 * np.array(
            [
                ox * w + oy * z - oz * y_,
                oy * w + oz * x - ox * z,
                oz * w + ox * y_ - oy * x,
                -ox * x - oy * y_ - oz * z,
            ]
        )
        return np.concatenate([y[7:10], turning, change])

    begin = np.concatenate(
        [
            start["position"],
            Rotation.from_matrix(start["rotation"]).as_quat(),
            start["velocity"],
            start["angular_velocity"],
        ]
    )
    span = (times[0], times[-1])
    found = solve_ivp(rate, span, begin, "DOP853", times, rtol=1e-7, atol=1e-9)
    quaternions = found.y[3:7].T
    return found.y[:3].T, Rotation.from_quat(quaternions).as_matrix()
