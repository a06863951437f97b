"""RUS: a crank on a motor, a universal joint, a link, a spherical joint."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ..arrays import Array, cross, leg_value, oblique, unit
from .leg import BodyMotion, Joints, Leg, Reach, Swing
from .pus import HALF_TURN_ABOUT_Z


class RUS:
    """The crank's frame sits at the motor, x along the crank, z along its axis; cross and link as
    PUS, at the crank's end. Axis and reference are given at q = 0 and turn with the crank."""

    name = "RUS"
    bodies = ("crank", "cross", "link")
    drive, passive = 0, (1, 2)
    rubbed, guided, rotary = 0, False, True
    most_coulomb = 15.0
    rotor = "rotor_inertia"

    def random_geometry(
        self, rng: np.random.Generator, lower: Array, spans: Array, near_singular: bool
    ) -> tuple[dict[str, Any], Array]:
        legs = len(lower)
        sizes = np.linalg.norm(spans, axis=1)
        directions = spans / sizes[:, np.newaxis]
        sides = rng.choice([-1.0, 1.0], legs)
        # the crank's end moves along t, of which n·t has the sign that the branch says
        along = [s * oblique(rng, n, 0.85, 0.98) for s, n in zip(sides, directions, strict=True)]
        axes = np.array([oblique(rng, t, 0.0, 1e-9) for t in along])
        if near_singular:
            sides[-1], along[-1], axes[-1] = sides[0], along[0], axes[0]
        axes = np.array([unit(a - t * (t @ a)) for a, t in zip(axes, along, strict=True)])
        cranks = np.cross(along, axes)
        radii = rng.uniform(0.6, 0.9, legs)
        if near_singular:
            radii[-1] = radii[0]
        q = rng.uniform(-0.5, 0.5, legs)
        zero = Rotation.from_rotvec(-q[:, np.newaxis] * axes).apply(cranks)
        tilt = rng.uniform(-0.5, 0.5, (legs, 1)) * axes
        table = {
            "motor": (lower - radii[:, np.newaxis] * cranks).tolist(),
            "motor_axis": (rng.uniform(0.5, 2, (legs, 1)) * axes).tolist(),
            "crank_zero": (rng.uniform(0.5, 2, (legs, 1)) * (zero + tilt)).tolist(),
            "crank_length": radii.tolist(),
            "length": sizes.tolist(),
            "branch": ["minus" if s > 0 else "plus" for s in sides],
        }
        return table, q

    def read(self, table: dict[str, Any], i: int) -> tuple[Array, Array, float, float]:
        name = table.get("branch", "minus")
        branch = -1.0 if (name if isinstance(name, str) else name[i]) == "minus" else 1.0
        axis = unit(leg_value(table["motor_axis"], i, 1))
        length = float(leg_value(table["length"], i, 0))
        return leg_value(table["motor"], i, 1), axis, length, branch

    def read_crank(self, table: dict[str, Any], i: int, rail: Array) -> tuple[float, Array]:
        """Its length and where it points at q = 0."""
        zero = leg_value(table["crank_zero"], i, 1)
        return float(leg_value(table["crank_length"], i, 0)), unit(zero - rail * (rail @ zero))

    def default_axis(self, leg: Leg) -> Array:
        return leg.rail

    def default_reference(self, leg: Leg, axis: Array) -> Array:
        return leg.crank_zero

    def q(self, leg: Leg, tip: Array) -> float:
        d, r = tip - leg.origin, leg.crank_length
        d1, d2 = d @ leg.crank_zero, d @ cross(leg.rail, leg.crank_zero)
        argument = (d @ d + r**2 - leg.length**2) / (2 * r * np.hypot(d1, d2))
        q = np.arctan2(d2, d1) + leg.branch * np.arccos(argument)
        return float(np.pi - (np.pi - q) % (2 * np.pi))  # in (−π, π]

    def turned(self, leg: Leg, q: float, vector: Array) -> Array:
        """A vector of the crank at q."""
        return Rotation.from_rotvec(q * leg.rail).apply(vector)

    def universal_axes(self, leg: Leg, q: float) -> tuple[Array, Array]:
        """First axis and reference at q."""
        return self.turned(leg, q, leg.axis), self.turned(leg, q, leg.reference)

    def carrier(self, leg: Leg, qd: float, qdd: float) -> tuple[Array, Array]:
        """Angular velocity and acceleration of what carries the universal joint."""
        return qd * leg.rail, qdd * leg.rail

    def anchor(self, leg: Leg, tip: Array) -> Array:
        return leg.origin + leg.crank_length * self.turned(leg, self.q(leg, tip), leg.crank_zero)

    def reach(self, leg: Leg, tip: Array, velocity: Array, acceleration: Array) -> Reach:
        q = self.q(leg, tip)
        arm = leg.crank_length * self.turned(leg, q, leg.crank_zero)
        sideways = cross(leg.rail, arm)
        anchor = leg.origin + arm
        n = unit(tip - anchor)
        qd = float(n @ velocity / (n @ sideways))
        n_dot = (velocity - qd * sideways) / leg.length
        # v̇ = q̈ a×r − q̇² r + l n̈ and n·n̈ = −ṅ·ṅ
        known = acceleration + qd**2 * arm
        qdd = float((n @ known + leg.length * (n_dot @ n_dot)) / (n @ sideways))
        pushed = qdd * sideways - qd**2 * arm
        n_ddot = (acceleration - pushed) / leg.length
        return Reach(anchor, pushed, n, n_dot, n_ddot, q, qd, qdd)

    def joints(
        self, leg: Leg, reach: Reach, swing: Swing, tip: Array, acceleration: Array
    ) -> Joints:
        y, z, omega, alpha, n = swing.y, swing.z, swing.omega, swing.alpha, reach.n
        along_link = np.column_stack([cross(-y, n), -y, n])
        u = self.turned(leg, reach.q, leg.crank_zero)
        crank = np.column_stack([u, cross(leg.rail, u), leg.rail])
        turning, turned = self.carrier(leg, reach.qd, reach.qdd)
        seen, seen_rate = omega - turning, alpha - turned - cross(turning, omega - turning)
        pushed, nothing = reach.anchor_acceleration, np.zeros(3)
        return Joints(
            self.coordinates(reach.q, swing.first_angle, swing.axis_to_link),
            np.array([reach.qd, seen @ z, seen @ y]),
            np.array([reach.qdd, seen_rate @ z, seen_rate @ y]),
            np.array([leg.rail, z, y]),
            (
                BodyMotion(leg.origin, crank, nothing, turning, turned),
                swing.cross,
                BodyMotion(reach.anchor, along_link, pushed, omega, alpha),
            ),
        )

    def coordinates(self, q: float, first_angle: float, axis_to_link: float) -> Array:
        return np.array([q, first_angle, axis_to_link])

    def guide_load(self, leg: Leg, guide: Array) -> float:
        return 0.0

    def coulomb_load(self, at_guide: float) -> float:
        return 1.0

    def tree(self, pin: Any, leg: Leg, base_axes: Array) -> tuple[list[tuple[Any, Any]], Array]:
        crank = np.column_stack([leg.crank_zero, cross(leg.rail, leg.crank_zero), leg.rail])
        joints = [
            (pin.JointModelRZ(), pin.SE3(crank, leg.origin)),
            (
                pin.JointModelRZ(),
                pin.SE3(crank.T @ base_axes, np.array([leg.crank_length, 0.0, 0.0])),
            ),
            # φ2 turns about the cross's y, which is the link's −y
            (
                pin.JointModelRevoluteUnaligned(np.array([0.0, -1.0, 0.0])),
                pin.SE3(HALF_TURN_ABOUT_Z, np.zeros(3)),
            ),
        ]
        return joints, np.array([0.0, 0.0, leg.length])

    def frames(self, ca: Any, leg: Leg, tip: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        """Crank at the motor; cross z = axis, x = n made perpendicular to it; link z = n, y along
        n × axis; both at the crank's end."""
        e1, a, r = ca.DM(leg.crank_zero), ca.DM(leg.rail), leg.crank_length
        e2 = ca.cross(a, e1)
        d = tip - leg.origin
        d1, d2 = ca.dot(d, e1), ca.dot(d, e2)
        argument = (ca.dot(d, d) + r**2 - leg.length**2) / (2 * r * ca.sqrt(d1**2 + d2**2))
        q = ca.atan2(d2, d1) + leg.branch * ca.acos(argument)
        u = ca.cos(q) * e1 + ca.sin(q) * e2
        t = ca.cross(a, u)
        crank = ca.horzcat(u, t, a)
        home = ca.horzcat(e1, e2, a)
        axis = crank @ (home.T @ ca.DM(leg.axis))
        joint = leg.origin + r * u
        n = (tip - joint) / leg.length
        cosine, sine = ca.dot(axis, n), ca.norm_2(ca.cross(axis, n))
        x = (n - cosine * axis) / sine
        side = ca.cross(n, axis) / sine
        link = ca.horzcat(ca.cross(side, n), side, n)
        cross_axes = ca.horzcat(x, ca.cross(axis, x), axis)
        return q, [(ca.DM(leg.origin) + 0 * tip, crank), (joint, cross_axes), (joint, link)]
