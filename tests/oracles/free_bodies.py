"""The robot in maximal coordinates: Newton-Euler of every body, every joint reaction unknown.

A leg is a chain of bodies k = 1, 2, 3 whose frames sit at O_k; joint k exerts the force f_k and the
couple c_k (about O_k) on body k, the spherical joint the force f_4 on the platform at O_4 = P:

    f_k − f_{k+1}                                   = m (a − g) + α × s + ω × (ω × s)
    c_k − c_{k+1} − (O_{k+1} − O_k) × f_{k+1} + τ_k = s × (a − g) + I α + ω × I ω

with mass m, first moment s and inertia I about O_k in world axes and friction couples τ_k. Two
rows say that the universal joint has no couple about its axes, c·axis = 0; one is the rotor's, felt
along the driven axis: Γ + F − f·axis = m_r q̈ with the friction force F (c in place of f where the
drive turns). The platform adds six
rows. In all, with x the reactions, ξ̇ = (v̇, ω̇) and r friction and wrench:

    E x + G Γ + r = D ξ̇ + b,        solved for (x, Γ) or for (x, ξ̇).

Friction depends on the magnitudes of the reactions: the solution is repeated until they agree.
Rotor and friction along q act between cylinder and rod (UPS), rail and slider (PUS). The
spherical friction couple acts on the UPS leg's rod. ONE state; SI units, world axes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lu_factor, lu_solve, qr, solve_triangular
from scipy.optimize import root

from .arrays import Array, Robot, State, cross
from .friction_laws import FrictionLoads, coefficients, drive_friction, guide_load, joint_couple
from .legs.leg import Body, BodyMotion
from .robot_parts import gravity, read_legs, read_platform
from .vector_kinematics import LegMotion, leg_motion

FORCE = (0, 6, 12, 18)  # columns of f_1 … f_4 among a leg's 21 reactions
COUPLE = (3, 9, 15)
REACTIONS = 21
ROWS = 21  # a leg's equations: 18 of its bodies, two passive axes, the drive
TOLERANCE = 1e-12  # of the friction loads among themselves, over the largest
Friction = tuple[FrictionLoads, float]  # the loads and by how much they disagree


@dataclass(frozen=True)
class Solution:
    """Everything that acts in the robot; (legs, 3) each, world axes, unless said otherwise.

    forces: Γ (legs,). linear, angular: v̇ and ω̇ of the platform (3,).
    spherical: force of the leg on the platform. universal: force of the cross on the body it
    carries. universal_moment: couple of the cross on that body about the joint's centre.
    guide, guide_moment (PUS, else None): force, normal to the rail, and couple about the universal
    joint's centre, of the rail on the slider.
    contact_force, contact_moment (UPS, else None): force, normal to the leg, and couple about P,
    of the cylinder on the rod.
    loads: the friction acting. dissipation: power it takes (legs,), W.
    residual: of the equations, over the largest term. mismatch: of the friction loads, over the
    largest one.
    """

    forces: Array
    linear: Array
    angular: Array
    spherical: Array
    universal: Array
    universal_moment: Array
    guide: Array | None
    guide_moment: Array | None
    contact_force: Array | None
    contact_moment: Array | None
    loads: FrictionLoads
    dissipation: Array
    residual: float
    mismatch: float


def inertia_wrench(body: Body, motion: BodyMotion, g: Array) -> Array:
    """Force and moment about the frame's origin (6,) that the body's motion takes beside weight."""
    first = motion.rotation @ body.first_moment
    tensor = motion.rotation @ body.inertia @ motion.rotation.T
    a = motion.acceleration - g
    omega, alpha = motion.angular_velocity, motion.angular_acceleration
    force = body.mass * a + cross(alpha, first) + cross(omega, cross(omega, first))
    moment = cross(first, a) + tensor @ alpha + cross(omega, tensor @ omega)
    return np.concatenate([force, moment])


def cross_matrix(r: Array) -> Array:
    """r× with r× u = r × u."""
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


class FreeBodies:
    """The equations E x + G Γ + r = D ξ̇ + b of one state; r is wrench and friction."""

    def __init__(self, robot: Robot, motion: State, wrench: Array | None) -> None:
        self.robot, self.motion = robot, motion
        self.legs = read_legs(robot)
        self.count = len(self.legs)
        self.coefficients = [coefficients(robot, i) for i in range(self.count)]
        # the load is affine in the platform's acceleration: six unit steps give its columns
        self.b = self._inertial_rows(np.zeros(6))
        self.D = np.column_stack([self._inertial_rows(step) - self.b for step in np.eye(6)])
        self.wrench_rows = np.zeros(len(self.b))
        self.wrench_rows[-6:] = np.zeros(6) if wrench is None else wrench
        self.leg_motions = self._leg_motions(np.zeros(6))
        self.E, self.G = self._reaction_rows()

    def _leg_motions(self, rate: Array) -> list[LegMotion]:
        state = {**self.motion, "acceleration": rate[:3], "angular_acceleration": rate[3:]}
        return [leg_motion(leg, state) for leg in self.legs]

    def _inertial_rows(self, rate: Array) -> Array:
        """What the bodies' and rotors' motion takes, row by row, for ξ̇ = rate."""
        g = gravity(self.robot)
        rows = []
        for leg, moving in zip(self.legs, self._leg_motions(rate), strict=True):
            rows += [
                inertia_wrench(body, motion, g)
                for body, motion in zip(leg.bodies, moving.bodies, strict=True)
            ]
            rows.append(np.array([0.0, 0.0, leg.rotor_mass * moving.qdd]))
        state = self.motion
        platform = BodyMotion(
            state["position"], state["rotation"], rate[:3], state["angular_velocity"], rate[3:]
        )
        rows.append(inertia_wrench(read_platform(self.robot), platform, g))
        return np.concatenate(rows)

    def _reaction_rows(self) -> tuple[Array, Array]:
        """E and G: every joint acts on the body behind it and back on the body before it."""
        size = ROWS * self.count + 6
        E, G = np.zeros((size, REACTIONS * self.count)), np.zeros((size, self.count))
        eye = np.eye(3)
        for i, (leg, moving) in enumerate(zip(self.legs, self.leg_motions, strict=True)):
            block = E[ROWS * i : ROWS * (i + 1), REACTIONS * i : REACTIONS * (i + 1)]
            points = [body.origin for body in moving.bodies] + [moving.tip]
            for k in range(3):
                force, moment = slice(6 * k, 6 * k + 3), slice(6 * k + 3, 6 * k + 6)
                after = slice(FORCE[k + 1], FORCE[k + 1] + 3)
                block[force, FORCE[k] : FORCE[k] + 3] = eye
                block[force, after] = -eye
                block[moment, COUPLE[k] : COUPLE[k] + 3] = eye
                block[moment, after] = -cross_matrix(points[k + 1] - points[k])
                if k < 2:
                    block[moment, COUPLE[k + 1] : COUPLE[k + 1] + 3] = -eye
            for row, joint in zip((18, 19), leg.kind.passive, strict=True):
                block[row, COUPLE[joint] : COUPLE[joint] + 3] = moving.axes[joint]
            drive = leg.kind.drive
            felt = COUPLE[drive] if leg.kind.rotary else FORCE[drive]
            block[20, felt : felt + 3] = -moving.axes[drive]
            G[ROWS * i + 20, i] = 1.0
            on_platform = slice(REACTIONS * i + FORCE[3], REACTIONS * i + FORCE[3] + 3)
            E[-6:-3, on_platform] = eye
            E[-3:, on_platform] = cross_matrix(moving.tip - self.motion["position"])
        return E, G

    def friction_loads(self, magnitudes: Array) -> FrictionLoads:
        """Friction for the load magnitudes (legs, 3): ‖F_A‖, ‖F_B‖, |u·N| + |v·N|."""
        along_q, universal, spherical = [], [], []
        for leg, moving, c, (at_a, at_b, at_guide) in zip(
            self.legs, self.leg_motions, self.coefficients, magnitudes, strict=True
        ):
            omega = moving.joint_rate
            relative = moving.link_angular_velocity - self.motion["angular_velocity"]
            width = c["width"]
            along_q.append(drive_friction(leg, c, moving.qd, at_guide))
            universal.append(
                joint_couple(c["universal_viscous"], c["universal_coulomb"], at_a, omega, width)
            )
            spherical.append(
                joint_couple(c["spherical_viscous"], c["spherical_coulomb"], at_b, relative, width)
            )
        return FrictionLoads(np.array(along_q), np.array(universal), np.array(spherical))

    def friction_rows(self, loads: FrictionLoads) -> Array:
        """Where the friction loads stand among the rows."""
        rows = np.zeros(len(self.b))
        for i, leg in enumerate(self.legs):
            moments = rows[ROWS * i : ROWS * i + 18].reshape(3, 2, 3)[:, 1]
            moments[leg.kind.passive[1]] += loads.universal[i]
            if leg.kind.rubbed is not None:
                moments[leg.kind.rubbed] -= loads.universal[i]
            moments[2] += loads.spherical[i]
            rows[ROWS * i + 20] = loads.along_q[i]
            rows[-3:] -= loads.spherical[i]
        return rows

    def magnitudes(self, x: Array) -> Array:
        """The load magnitudes (legs, 3) of the reactions x."""
        rows = []
        for leg, own in zip(self.legs, x.reshape(-1, REACTIONS), strict=True):
            universal = FORCE[leg.kind.passive[1]]
            rows.append(
                [
                    np.linalg.norm(own[universal : universal + 3]),
                    np.linalg.norm(own[FORCE[3] :]),
                    guide_load(leg, own[:3]),
                ]
            )
        return np.array(rows)

    def solution(self, x: Array, forces: Array, rate: Array, friction: Friction) -> Solution:
        """The reactions by name."""
        loads, mismatch = friction
        kind = self.legs[0].kind
        own = x.reshape(-1, REACTIONS)
        force = [own[:, column : column + 3] for column in FORCE]
        couple = [own[:, column : column + 3] for column in COUPLE]
        drive, carried = kind.drive, kind.passive[1]
        along = np.array([moving.axes[drive] for moving in self.leg_motions])
        normal = force[drive] - along * np.sum(along * force[drive], axis=1, keepdims=True)
        taken = self.D @ rate + self.b
        given = self.E @ x + self.G @ forces + self.wrench_rows + self.friction_rows(loads)
        omega = np.array([moving.link_angular_velocity for moving in self.leg_motions])
        qd = np.array([moving.qd for moving in self.leg_motions])
        relative = omega - self.motion["angular_velocity"]
        power = loads.along_q * qd
        seen = np.array([moving.joint_rate for moving in self.leg_motions])
        power = power + np.sum(loads.universal * seen + loads.spherical * relative, axis=1)
        return Solution(
            forces=forces,
            linear=rate[:3],
            angular=rate[3:],
            spherical=force[3],
            universal=force[carried],
            universal_moment=couple[carried],
            guide=normal if kind.guided else None,
            guide_moment=couple[drive] if kind.guided else None,
            contact_force=normal if drive == 2 else None,
            contact_moment=couple[drive] if drive == 2 else None,
            loads=loads,
            dissipation=-power,
            residual=float(np.max(np.abs(given - taken)) / max(1.0, np.max(np.abs(x)))),
            mismatch=mismatch,
        )


def inverse_dynamics(
    robot: Robot, motion: State, wrench: Array | None = None, friction: bool = True
) -> Solution:
    """Actuator forces and reactions for the motion's accelerations.

    wrench (6,): force and moment on the platform at its frame's origin. Over six legs: the least
    ‖Γ‖, friction held fixed.
    """
    bodies = FreeBodies(robot, motion, wrench)
    if bodies.count < 6:
        raise ValueError("fewer than six legs cannot move a platform at will")
    rate = np.concatenate([motion["acceleration"], motion["angular_acceleration"]])
    solve = _least_tail(np.hstack([bodies.E, bodies.G]), bodies.count)
    y, friction_found = _consistent(bodies, solve, bodies.D @ rate + bodies.b, friction)
    return bodies.solution(y[: -bodies.count], y[-bodies.count :], rate, friction_found)


def direct_dynamics(
    robot: Robot,
    motion: State,
    forces: Array,
    wrench: Array | None = None,
    friction: bool = True,
) -> Solution:
    """Platform acceleration and reactions for actuator forces (legs,), N; the motion's
    accelerations are ignored."""
    bodies = FreeBodies(robot, motion, wrench)
    solve = _least_tail(np.hstack([bodies.E, -bodies.D]), 6)
    y, friction_found = _consistent(bodies, solve, bodies.b - bodies.G @ forces, friction)
    return bodies.solution(y[:-6], np.asarray(forces, dtype=float), y[-6:], friction_found)


def _least_tail(matrix: Array, tail: int) -> Callable[[Array], Array]:
    """Solver of matrix y = rhs; where y is not unique, the one whose last entries are least."""
    rows, columns = matrix.shape
    if rows == columns:
        factors = lu_factor(matrix)
        return lambda rhs: lu_solve(factors, rhs)
    basis, triangle = qr(matrix.T)  # matrix (basis z) = triangleᵀ z
    free = basis[:, rows:]
    reduce = free @ np.linalg.pinv(free[-tail:])

    def solve(rhs: Array) -> Array:
        y = basis[:, :rows] @ solve_triangular(triangle[:rows], rhs, trans="T")
        return y - reduce @ y[-tail:]

    return solve


def _consistent(
    bodies: FreeBodies, solve: Callable[[Array], Array], rhs: Array, friction: bool
) -> tuple[Array, Friction]:
    """Unknowns y and friction that agree with each other, the reactions leading y."""
    shape = (bodies.count, 3)
    known = rhs - bodies.wrench_rows

    def unknowns(magnitudes: Array) -> Array:
        return solve(known - bodies.friction_rows(bodies.friction_loads(magnitudes)))

    def found(magnitudes: Array) -> Array:
        return bodies.magnitudes(unknowns(magnitudes)[: REACTIONS * bodies.count])

    if not friction:
        nothing = FrictionLoads(np.zeros(bodies.count), np.zeros(shape), np.zeros(shape))
        return solve(known), (nothing, 0.0)

    def disagreement(old: Array, new: Array) -> float:
        return float(np.max(np.abs(new - old)) / max(1.0, np.max(new)))

    first = found(np.zeros(shape))
    old, new = np.zeros(shape), first
    for _ in range(200):
        if disagreement(old, new) < 1e-14 or np.max(new) > 1e6 * np.max(first):
            break
        old, new = new, found(new)
    if disagreement(old, new) > TOLERANCE:
        newton = root(lambda s: found(s.reshape(shape)).ravel() - s, first.ravel(), tol=1e-14)
        old = newton.x.reshape(shape)
        new = found(old)
    mismatch = disagreement(old, new)
    if mismatch > TOLERANCE:
        raise ArithmeticError(f"friction loads disagree by {mismatch:.1e}")
    return unknowns(old), (bodies.friction_loads(old), mismatch)
