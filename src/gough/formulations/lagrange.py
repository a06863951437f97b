"""Inverse dynamics by Lagrange's equations: energies of all bodies, differentiated by CasADi.

Coordinates are u = (p, s): the platform frame's origin and R = C(s) R_0 with Cayley's C, about each
pose anew, so that s = 0, ṡ = ω, s̈ = ω̇ there. A body with the frame H(u) = [R_b, o_b; 0, 1] and the
pseudo-inertia Σ = ∫ [x; 1][x; 1]ᵀ dm has

    T = ½ tr(Ḣ Σ Ḣᵀ),   U = −gᵀ H Σ e_4,   and a drive ½ I q̇²

Only positions are written down; velocities are CasADi's derivatives of them. With L = ΣT − ΣU

    d/dt ∂L/∂u̇ − ∂L/∂u = (∂q/∂u)ᵀ Γ + wrench

PUS and UPS legs with any bodies; no friction. World axes, SI units. Needs the extra `casadi`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.engine.emit import casadi
from gough.errors import ReachError
from gough.formulations import parts as robot_parts
from gough.formulations import samples
from gough.formulations.parts import LEGS, BodyParts, Parts, TelescopicParts
from gough.formulations.samples import FormulationTrouble, Pose, matvec, transposed
from gough.model.batch import OnError
from gough.model.model import Model
from gough.motion import Motion
from gough.results import Actuation

Stance = tuple[Any, list[tuple[Any, Any, BodyParts]], float]
"""A leg's q, and of each body: its axes (3, 3), its origin and its parameters; the drive's inertia."""


def inverse_dynamics(
    robot: Model,
    motion: Motion,
    wrench: ArrayLike | None = None,
    friction: bool = False,
    *,
    on_error: OnError = "raise",
) -> Actuation:
    """Actuator forces and powers, as `Robot.inverse_dynamics(…, friction=False)`."""
    parts = robot_parts.read(robot)
    if friction:
        robot_parts.need_no_friction(parts, "Lagrange's equations as they are here")
    balance = _balance(casadi.require(), parts)
    scale = np.array([1.0] * 3 + [parts.scale] * 3)

    def model(pose: Pose) -> tuple[dict[str, Array], list[FormulationTrouble]]:
        twist = np.concatenate([pose.velocity, pose.angular_velocity], axis=-1)
        rate = np.concatenate([pose.acceleration, pose.angular_acceleration], axis=-1)
        columns = [pose.position, transposed(pose.rotation).reshape(-1, 9), twist, rate]
        if len(twist):
            asked, rows = (
                np.array(one).T for one in balance.map(len(twist))(*(c.T for c in columns))
            )
        else:
            asked, rows = np.zeros((0, 6)), np.zeros((0, 6 * LEGS))
        jacobian = transposed(rows.reshape(-1, 6, LEGS))
        wanted = asked - np.concatenate([pose.force, pose.moment], axis=-1)
        condition, matrices = samples.guarded(transposed(jacobian / scale))
        forces = np.linalg.solve(matrices, (wanted / scale)[..., np.newaxis])[..., 0]
        lost = np.asarray(~np.isfinite(jacobian).all(axis=-1)).T
        values = {
            "forces": forces,
            "rates": matvec(jacobian, twist),
            "residual": np.zeros(len(forces)),
        }
        trouble = FormulationTrouble(lost, ReachError, lambda place: "its tip is out of reach")
        return values, [trouble, samples.pose_trouble(condition)]

    return samples.actuation(samples.run(model, motion, wrench, on_error))


def _balance(ca: Any, parts: Parts | TelescopicParts) -> Any:
    """d/dt ∂L/∂u̇ − ∂L/∂u and ∂q/∂u as a CasADi function of p, R_0, (v, ω) and (v̇, ω̇)."""
    u, ud, udd = (ca.SX.sym(name, 6) for name in ("u", "ud", "udd"))
    start, place = ca.SX.sym("R", 3, 3), ca.SX.sym("p", 3)
    hat = ca.skew(u[3:])
    turn = ca.SX.eye(3) + (hat + hat @ hat / 2) / (1 + ca.dot(u[3:], u[3:]) / 4)
    R = turn @ start
    lagrangian = _lagrangian(ca, R, u[:3], parts.platform, parts.gravity, u, ud)
    coordinates = []
    for leg in range(LEGS):
        tip = u[:3] + R @ ca.DM(parts.points[leg])
        if isinstance(parts, Parts):
            q, bodies, rotor = _on_slider(ca, parts, leg, tip)
        else:
            q, bodies, rotor = _telescope(ca, parts, leg, tip)
        for axes, origin, body in bodies:
            lagrangian += _lagrangian(ca, axes, origin, body, parts.gravity, u, ud)
        lagrangian += rotor * (ca.jtimes(q, u, ud)) ** 2 / 2
        coordinates.append(q)
    momentum = ca.gradient(lagrangian, ud)
    asked = ca.jtimes(momentum, u, ud) + ca.jtimes(momentum, ud, udd) - ca.gradient(lagrangian, u)
    rows = ca.jacobian(ca.vertcat(*coordinates), u)
    here = ca.vertcat(place, ca.SX.zeros(3))
    inside = ca.Function("inside", [u, start, ud, udd], [asked, ca.vec(rows)])
    flat = ca.SX.sym("Rt", 9)
    found = inside(here, ca.reshape(flat, 3, 3), ud, udd)
    return ca.Function("balance", [place, flat, ud, udd], list(found))


def _lagrangian(
    ca: Any, axes: Any, origin: Any, body: BodyParts, gravity: Array, u: Any, ud: Any
) -> Any:
    """T − U of a body."""
    frame = ca.horzcat(axes, origin)
    pseudo = np.zeros((4, 4))
    pseudo[:3, :3] = np.trace(body.inertia) / 2 * np.eye(3) - body.inertia
    pseudo[:3, 3] = pseudo[3, :3] = body.first_moment
    pseudo[3, 3] = body.mass
    sigma = ca.sparsify(ca.DM(pseudo))
    rate = ca.reshape(ca.jtimes(ca.vec(frame), u, ud), 3, 4)
    kinetic = ca.trace(rate @ sigma @ rate.T) / 2
    return kinetic + ca.dot(ca.DM(gravity), frame @ sigma[:, 3])


def _on_slider(ca: Any, parts: Parts, leg: int, tip: Any) -> Stance:
    """A PUS leg: q = a·d ∓ √((a·d)² − d·d + l²), d = P − rail_origin; frames of docs/frames.md."""
    a, length = ca.DM(parts.rail[leg]), parts.length[leg]
    d = tip - ca.DM(parts.origin[leg])
    along = ca.dot(a, d)
    q = along + parts.sign[leg] * ca.sqrt(along**2 - ca.dot(d, d) + length**2)
    joint = ca.DM(parts.origin[leg]) + q * a
    n = (tip - joint) / length
    axis, side = _sides(ca, parts.axis[leg], n)
    cross_axes = ca.horzcat(ca.cross(side, axis), side, axis)
    link_axes = ca.horzcat(ca.cross(-side, n), -side, n)
    bodies = [
        (ca.SX.eye(3), joint, _one(parts.slider, leg)),
        (cross_axes, joint, _one(parts.cross, leg)),
        (link_axes, joint, _one(parts.link, leg)),
    ]
    return q, bodies, float(parts.rotor_mass[leg])


def _telescope(ca: Any, parts: TelescopicParts, leg: int, tip: Any) -> Stance:
    """A UPS leg: q = ‖P − B‖; frames of docs/frames.md."""
    base = ca.DM(parts.base[leg])
    q = ca.norm_2(tip - base)
    n = (tip - base) / q
    axis, side = _sides(ca, parts.axis[leg], n)
    x = ca.cross(-side, n)
    bodies = [
        (ca.horzcat(ca.cross(side, axis), side, axis), base, _one(parts.cross, leg)),
        (ca.horzcat(x, -n, -side), base, _one(parts.cylinder, leg)),
        (ca.horzcat(x, -side, n), tip, _one(parts.rod, leg)),
    ]
    return q, bodies, float(parts.rotor_mass[leg])


def _sides(ca: Any, axis: Array, n: Any) -> tuple[Any, Any]:
    """The universal joint's axes: α, and α×n/‖α×n‖."""
    alpha = ca.DM(axis)
    across = ca.cross(alpha, n)
    return alpha, across / ca.norm_2(across)


def _one(bodies: BodyParts, leg: int) -> BodyParts:
    """The body of one leg."""
    return BodyParts(*(field[leg] for field in bodies))
