"""UPS: a universal joint on the base, a driven cylinder and rod, a spherical joint."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array, cross, leg_value
from .leg import BodyMotion, Joints, Leg, Reach, Swing

QUARTER_TURN_ABOUT_X = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


class UPS:
    """Frames are the papers' 1, 2, 3: z1 = axis, z2 = −y1, z3 along the leg; q = ‖P − B‖."""

    name = "UPS"
    bodies = ("cross", "cylinder", "rod")
    drive, passive = 2, (0, 1)
    rubbed, guided = None, False
    rotary, rotor = False, "rotor_mass"
    most_coulomb = 15.0

    def random_geometry(
        self, rng: np.random.Generator, lower: Array, spans: Array, near_singular: bool
    ) -> tuple[dict[str, Any], Array]:
        return {"base": lower.tolist()}, np.linalg.norm(spans, axis=1)

    def read(self, table: dict[str, Any], i: int) -> tuple[Array, Array, float, float]:
        return leg_value(table["base"], i, 1), np.zeros(3), 0.0, 0.0

    def read_crank(self, table: dict[str, Any], i: int, rail: Array) -> tuple[float, Array]:
        return 0.0, np.zeros(3)

    def default_axis(self, leg: Leg) -> Array | None:
        return None

    def default_reference(self, leg: Leg, axis: Array) -> Array:
        return np.eye(3)[np.argmin(np.abs(axis))]

    def universal_axes(self, leg: Leg, q: float) -> tuple[Array, Array]:
        return leg.axis, leg.reference

    def carrier(self, leg: Leg, qd: float, qdd: float) -> tuple[Array, Array]:
        return np.zeros(3), np.zeros(3)

    def q(self, leg: Leg, tip: Array) -> float:
        return float(np.linalg.norm(tip - leg.origin))

    def anchor(self, leg: Leg, tip: Array) -> Array:
        return leg.origin

    def reach(self, leg: Leg, tip: Array, velocity: Array, acceleration: Array) -> Reach:
        length = np.linalg.norm(tip - leg.origin)
        n = (tip - leg.origin) / length
        rate = n @ velocity
        n_dot = (velocity - rate * n) / length
        rate_rate = n @ acceleration + length * (n_dot @ n_dot)
        n_ddot = (acceleration - rate_rate * n - 2 * rate * n_dot) / length
        q = (float(length), float(rate), float(rate_rate))
        return Reach(leg.origin, np.zeros(3), n, n_dot, n_ddot, *q)

    def joints(
        self, leg: Leg, reach: Reach, swing: Swing, tip: Array, acceleration: Array
    ) -> Joints:
        y, z, omega, alpha, n = swing.y, swing.z, swing.omega, swing.alpha, reach.n
        across_leg = np.column_stack([cross(-y, n), -n, -y])
        along_leg = np.column_stack([cross(-y, n), -y, n])
        return Joints(
            self.coordinates(reach.q, swing.first_angle, swing.axis_to_link),
            np.array([omega @ z, -omega @ y, reach.qd]),
            np.array([alpha @ z, -alpha @ y, reach.qdd]),
            np.array([z, -y, n]),
            (
                swing.cross,
                BodyMotion(reach.anchor, across_leg, np.zeros(3), omega, alpha),
                BodyMotion(tip, along_leg, acceleration, omega, alpha),
            ),
        )

    def coordinates(self, q: float, first_angle: float, axis_to_link: float) -> Array:
        return np.array([first_angle, np.pi - axis_to_link, q])

    def guide_load(self, leg: Leg, guide: Array) -> float:
        return 0.0

    def coulomb_load(self, at_guide: float) -> float:
        return 1.0

    def tree(self, pin: Any, leg: Leg, base_axes: Array) -> tuple[list[tuple[Any, Any]], Array]:
        quarter_turn = pin.SE3(QUARTER_TURN_ABOUT_X, np.zeros(3))
        joints = [
            (pin.JointModelRZ(), pin.SE3(base_axes, leg.origin)),
            (pin.JointModelRZ(), quarter_turn),
            (pin.JointModelPZ(), quarter_turn),
        ]
        return joints, np.zeros(3)

    def frames(self, ca: Any, leg: Leg, tip: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        """z1 = axis, x1 = n made perpendicular to it; z2 = −y1; x3 = x2 = cos q2 x1 + sin q2 z1 with
        cos q2 = −axis·n, q2 in (0, π); z3 = n."""
        axis, joint = ca.DM(leg.axis), ca.DM(leg.origin)
        q = ca.norm_2(tip - leg.origin)
        n = (tip - joint) / q
        cosine, sine = ca.dot(axis, n), ca.norm_2(ca.cross(axis, n))
        x = (n - cosine * axis) / sine
        y = ca.cross(axis, x)
        x2 = -cosine * x + sine * axis
        cylinder = ca.horzcat(x2, ca.cross(-y, x2), -y)
        rod = ca.horzcat(x2, ca.cross(n, x2), n)
        fixed = joint + 0 * tip
        return q, [(fixed, ca.horzcat(x, y, axis)), (fixed, cylinder), (tip, rod)]
