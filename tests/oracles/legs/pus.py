"""PUS: a driven slider on a rail, a universal joint, a link, a spherical joint."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array, cross, leg_value, oblique, unit
from .leg import BodyMotion, Joints, Leg, Reach, Swing

HALF_TURN_ABOUT_Z = np.diag([-1.0, -1.0, 1.0])


class PUS:
    """Frames sit at the universal joint: slider world axes; cross z = axis; link z = n, y along
    n × axis. q = a·d ∓ √((a·d)² − d·d + length²), d = P − rail origin."""

    name = "PUS"
    bodies = ("slider", "cross", "link")
    drive, passive = 0, (1, 2)
    rubbed, guided = 0, True
    rotary, rotor = False, "rotor_mass"
    most_coulomb = 0.15

    def random_geometry(
        self, rng: np.random.Generator, lower: Array, spans: Array, near_singular: bool
    ) -> tuple[dict[str, Any], Array]:
        legs = len(lower)
        lengths = np.linalg.norm(spans, axis=1)
        directions = spans / lengths[:, np.newaxis]
        sides = rng.choice([-1.0, 1.0], legs)
        rails = [s * oblique(rng, n, 0.6, 0.95) for s, n in zip(sides, directions, strict=True)]
        if near_singular:
            sides[-1], rails[-1] = sides[0], rails[0]
        at_home = rng.uniform(-0.5, 0.5, legs)
        table = {
            "rail_origin": (lower - at_home[:, None] * np.array(rails)).tolist(),
            "rail_direction": [(rng.uniform(0.5, 2) * a).tolist() for a in rails],
            "length": lengths.tolist(),
            "branch": ["minus" if s > 0 else "plus" for s in sides],
        }
        return table, at_home

    def read(self, table: dict[str, Any], i: int) -> tuple[Array, Array, float, float]:
        name = table.get("branch", "minus")
        branch = -1.0 if (name if isinstance(name, str) else name[i]) == "minus" else 1.0
        rail = unit(leg_value(table["rail_direction"], i, 1))
        length = float(leg_value(table["length"], i, 0))
        return leg_value(table["rail_origin"], i, 1), rail, length, branch

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
        d = tip - leg.origin
        along = leg.rail @ d
        return float(along + leg.branch * np.sqrt(along**2 - d @ d + leg.length**2))

    def anchor(self, leg: Leg, tip: Array) -> Array:
        return leg.origin + self.q(leg, tip) * leg.rail

    def reach(self, leg: Leg, tip: Array, velocity: Array, acceleration: Array) -> Reach:
        q = self.q(leg, tip)
        anchor = leg.origin + q * leg.rail
        n = unit(tip - anchor)
        qd = float(n @ velocity / (n @ leg.rail))
        n_dot = (velocity - qd * leg.rail) / leg.length
        qdd = float((n @ acceleration + leg.length * (n_dot @ n_dot)) / (n @ leg.rail))
        pushed = qdd * leg.rail
        n_ddot = (acceleration - pushed) / leg.length
        return Reach(anchor, pushed, n, n_dot, n_ddot, q, qd, qdd)

    def joints(
        self, leg: Leg, reach: Reach, swing: Swing, tip: Array, acceleration: Array
    ) -> Joints:
        y, z, omega, alpha, n = swing.y, swing.z, swing.omega, swing.alpha, reach.n
        along_link = np.column_stack([cross(-y, n), -y, n])
        pushed, nothing = reach.anchor_acceleration, np.zeros(3)
        return Joints(
            self.coordinates(reach.q, swing.first_angle, swing.axis_to_link),
            np.array([reach.qd, omega @ z, omega @ y]),
            np.array([reach.qdd, alpha @ z, alpha @ y]),
            np.array([leg.rail, z, y]),
            (
                BodyMotion(reach.anchor, np.eye(3), pushed, nothing, nothing),
                swing.cross,
                BodyMotion(reach.anchor, along_link, pushed, omega, alpha),
            ),
        )

    def coordinates(self, q: float, first_angle: float, axis_to_link: float) -> Array:
        return np.array([q, first_angle, axis_to_link])

    def guide_load(self, leg: Leg, guide: Array) -> float:
        u = leg.axis - leg.rail * (leg.rail @ leg.axis)
        u = leg.reference if np.linalg.norm(cross(leg.rail, leg.axis)) < 1e-9 else unit(u)
        return float(abs(u @ guide) + abs(cross(leg.rail, u) @ guide))

    def coulomb_load(self, at_guide: float) -> float:
        return at_guide

    def tree(self, pin: Any, leg: Leg, base_axes: Array) -> tuple[list[tuple[Any, Any]], Array]:
        joints = [
            (pin.JointModelPrismaticUnaligned(leg.rail), pin.SE3(np.eye(3), leg.origin)),
            (pin.JointModelRZ(), pin.SE3(base_axes, np.zeros(3))),
            # φ2 turns about the cross's y, which is the link's −y
            (
                pin.JointModelRevoluteUnaligned(np.array([0.0, -1.0, 0.0])),
                pin.SE3(HALF_TURN_ABOUT_Z, np.zeros(3)),
            ),
        ]
        return joints, np.array([0.0, 0.0, leg.length])

    def frames(self, ca: Any, leg: Leg, tip: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        """Slider world axes; cross z = axis, x = n made perpendicular to it; link z = n, y along
        n × axis."""
        axis = ca.DM(leg.axis)
        d = tip - leg.origin
        along = ca.dot(leg.rail, d)
        q = along + leg.branch * ca.sqrt(along**2 - ca.dot(d, d) + leg.length**2)
        joint = leg.origin + q * leg.rail
        n = (tip - joint) / leg.length
        cosine, sine = ca.dot(axis, n), ca.norm_2(ca.cross(axis, n))
        x = (n - cosine * axis) / sine
        side = ca.cross(n, axis) / sine
        link = ca.horzcat(ca.cross(side, n), side, n)
        cross_axes = ca.horzcat(x, ca.cross(axis, x), axis)
        return q, [(joint, ca.SX.eye(3)), (joint, cross_axes), (joint, link)]
