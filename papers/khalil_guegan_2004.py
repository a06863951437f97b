"""Khalil & Guegan 2004: closed forms of the Gough-Stewart robot's inverse and direct dynamics.

The legs are opened at their spherical joints P_i. With H_i the inverse dynamics of an opened leg,
J_i its Jacobian (tip velocity = J_i q̇_i), A_i and h_i the parts of H_i = A_i q̈_i + h_i, and
L_i the arm of P_i, all in world axes (hat: cross-product matrix):

    H_xi = J_i⁻ᵀ H_i,   A_xi = J_i⁻ᵀ A_i J_i⁻¹,   h_xi = J_i⁻ᵀ h_i                       (22, 34)
    J_p⁻¹ = rows [a_3iᵀ, (L̂_i a_3i)ᵀ]                                                        (13)
    Γ = J_pᵀ (F_p + Σ [I; L̂_i] H_xi)                                                     (31, 32)
    H_xi = A_xi [I, −L̂_i] V̇ + A_xi (ω×(ω×L_i) − J̇_i q̇_i) + h_xi           (34, sign corrected)
    A_robot V̇ = J_p⁻ᵀ Γ − h_robot                                          (35, signs corrected)
    A_robot = Σ [A_xi, −A_xi L̂_i; L̂_i A_xi, −L̂_i A_xi L̂_i] + [M I, −M̂S; M̂S, I_p]   (36, corrected)
    h_robot = Σ [I; L̂_i] (A_xi (ω×(ω×L_i) − J̇_i q̇_i) + h_xi)
              + [ω×(ω×MS); ω×(I_p ω)] − [M I; M̂S] g                               (37, corrected)

This script works the legs out in joint coordinates, in the paper's link frames, and shares no
equation with the library it is compared with. The arms L_i run from the platform frame's origin,
which in the paper is P_1.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import gough
from gough.data.paper_motions import paper_motion
from gough.errors import ImpossibleBodyWarning
from gough.show import plots
from gough.show.reproduction import (
    Claim,
    Figure,
    Progress,
    Reproduction,
    leg_panels,
    number,
    run_script,
)

Array = NDArray[np.float64]
NAME = "khalil-guegan-2004"
SOURCE = (
    "W. Khalil, S. Guegan: Inverse and direct dynamic modeling of Gough-Stewart robots. "
    "IEEE Transactions on Robotics and Automation 20 (2004) 754-762"
)
ROBOT = "long-khalil-martinet-2014"
STATES = 12
POSES = 10_000


def hat(r: Array) -> Array:
    """r̂ with r̂ u = r × u."""
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


class Link(NamedTuple):
    """A link's ten inertial parameters: M, MS and the tensor about its frame's origin."""

    M: float
    MS: Array
    I: Array  # noqa: E741


class Leg:
    """An opened leg in the frames of Table I: q1 about z1, q2 about z2, q3 along z3."""

    def __init__(self, robot: gough.Robot, i: int) -> None:
        parts: Any = robot.description.legs
        bodies = (parts.cross, parts.cylinder, parts.rod)
        self.links = [
            Link(float(b.mass[i, 0]), b.first_moment[:, i, 0], b.inertia[:, :, i, 0])
            for b in bodies
        ]
        self.rotor = float(parts.rotor_mass[i, 0])
        axis, reference = parts.axis[:, i, 0], parts.reference[:, i, 0]
        self.base = np.column_stack([reference, np.cross(axis, reference), axis])

    def frames(self, q: Array) -> list[Array]:
        """Rotations from frames 1, 2, 3 to the world."""
        turn = [Rotation.from_euler("z", angle).as_matrix() for angle in q[:2]]
        quarter = Rotation.from_euler("x", 0.5 * np.pi).as_matrix()
        first = self.base @ turn[0]
        second = first @ quarter @ turn[1]
        return [first, second, second @ quarter]

    def jacobian(self, q: Array) -> Array:
        """J_i of Eq. 15, turned into world axes by Eq. 17."""
        s, q3 = np.sin(q[1]), q[2]
        own = np.array([[0.0, q3, 0.0], [-q3 * s, 0.0, 0.0], [0.0, 0.0, 1.0]])
        return np.asarray(self.frames(q)[2] @ own)

    def rates(self, q: Array, qd: Array, qdd: Array) -> list[tuple[Array, ...]]:
        """ω, ω̇, and velocity and acceleration of the frame's origin, for links 1, 2, 3."""
        z1, z2, z3 = (frame[:, 2] for frame in self.frames(q))
        w1, a1 = qd[0] * z1, qdd[0] * z1
        w2, a2 = w1 + qd[1] * z2, a1 + qdd[1] * z2 + np.cross(w1, qd[1] * z2)
        spin = np.cross(w2, z3)
        velocity = qd[2] * z3 + q[2] * spin
        acceleration = qdd[2] * z3 + 2 * qd[2] * spin
        acceleration += q[2] * (np.cross(a2, z3) + np.cross(w2, spin))
        still = np.zeros(3)
        return [(w1, a1, still, still), (w2, a2, still, still), (w2, a2, velocity, acceleration)]

    def dynamics(self, q: Array, qd: Array, qdd: Array, g: Array) -> Array:
        """H_i(q, q̇, q̈) of Eq. 20: torques and force in the three joints of the opened leg."""
        frames = self.frames(q)
        forces, moments = [], []
        for link, frame, rate in zip(self.links, frames, self.rates(q, qd, qdd), strict=True):
            w, wd, _, acceleration = rate
            MS, inertia, a = frame @ link.MS, frame @ link.I @ frame.T, acceleration - g
            forces.append(link.M * a + np.cross(wd, MS) + np.cross(w, np.cross(w, MS)))
            moments.append(inertia @ wd + np.cross(w, inertia @ w) + np.cross(MS, a))
        z1, z2, z3 = (frame[:, 2] for frame in frames)
        at_base = moments[1] + moments[2] + np.cross(q[2] * z3, forces[2])
        torques = [z1 @ (moments[0] + at_base), z2 @ at_base]
        return np.array([*torques, z3 @ forces[2] + self.rotor * qdd[2]])

    def energy(self, q: Array, qd: Array) -> float:
        """Kinetic energy of the links, Eq. 68, and of the rotor, J."""
        total = 0.5 * self.rotor * qd[2] ** 2
        for link, frame, rate in zip(
            self.links, self.frames(q), self.rates(q, qd, np.zeros(3)), strict=True
        ):
            w, _, v, _ = (frame.T @ one for one in rate)
            total += 0.5 * (w @ link.I @ w + link.M * v @ v + 2 * link.MS @ np.cross(v, w))
        return float(total)


class ClosedForms(NamedTuple):
    """Eqs. 31 to 38 at one state; `printed` forms as they stand in the paper."""

    inverse_jacobian: Array
    inertia: Array
    bias: Array
    forces: Array
    leg_wrench: Array
    printed_inertia: Array
    printed_bias: Array
    leg_energy: float
    tip_energy: float


def closed_forms(robot: gough.Robot, state: gough.Motion) -> ClosedForms:
    """The robot from its legs, literally by the paper's equations."""
    g, platform = robot.description.gravity, robot.description.platform
    R, omega = state.rotation, state.angular_velocity
    M, MS = float(platform.mass[0, 0]), R @ platform.first_moment[:, 0, 0]
    tensor = R @ platform.inertia[:, :, 0, 0] @ R.T
    unit, zero = np.eye(3), np.zeros(3)
    inertia = np.block([[M * unit, -hat(MS)], [hat(MS), tensor]])
    printed_inertia = np.block([[M * unit, -hat(MS)], [hat(MS).T, tensor]])
    turning = np.concatenate(
        [np.cross(omega, np.cross(omega, MS)), np.cross(omega, tensor @ omega)]
    )
    bias = turning - np.concatenate([M * g, hat(MS) @ g])
    printed_bias = turning - np.concatenate([M * g, hat(MS).T @ g])
    acceleration = np.concatenate([state.acceleration, state.angular_acceleration])
    wrench = inertia @ acceleration + bias  # F_p of Eq. 24
    leg_wrench, rows, energies = np.zeros(6), [], []
    joints = robot.inverse_kinematics(state).joints
    for i in range(6):
        leg, q = Leg(robot, i), joints[i]
        L = R @ robot.description.platform_points[:, i, 0]
        inverse = np.linalg.inv(leg.jacobian(q))
        v = state.velocity + np.cross(omega, L)
        centripetal = np.cross(omega, np.cross(omega, L))
        vd = state.acceleration + np.cross(state.angular_acceleration, L) + centripetal
        qd = inverse @ v
        drift = leg.rates(q, qd, zero)[2][3]  # J̇ q̇
        A = np.column_stack([leg.dynamics(q, zero, column, zero) for column in unit])
        Ax, hx = inverse.T @ A @ inverse, inverse.T @ leg.dynamics(q, qd, zero, g)
        Hx = inverse.T @ leg.dynamics(q, qd, inverse @ (vd - drift), g)
        up, load = np.vstack([unit, hat(L)]), Ax @ (centripetal - drift) + hx
        inertia += np.block([[Ax, -Ax @ hat(L)], [hat(L) @ Ax, -hat(L) @ Ax @ hat(L)]])
        printed_inertia += np.block([[Ax, -Ax @ hat(L)], [hat(L).T @ Ax, -hat(L).T @ Ax @ hat(L)]])
        bias, printed_bias = bias + up @ load, printed_bias + up @ load
        leg_wrench += up @ Hx
        a3 = leg.frames(q)[2][:, 2]
        rows.append(np.concatenate([a3, hat(L) @ a3]))
        energies.append([leg.energy(q, qd), 0.5 * v @ Ax @ v])
    inverse_jacobian = np.array(rows)
    forces = np.linalg.solve(inverse_jacobian.T, wrench + leg_wrench)
    leg_energy, tip_energy = np.sum(energies, axis=0)
    return ClosedForms(
        inverse_jacobian, inertia, bias, forces, leg_wrench,
        printed_inertia, printed_bias, float(leg_energy), float(tip_energy),
    )  # fmt: skip


def general_robot(seed: int = 4) -> dict[str, Any]:
    """A random Gough-Stewart robot file: general links, platform frame as in the paper's Fig. 2.

    The frame's origin is P_1, x_p points to P_2 and P_6 lies in the (x_p, y_p) plane.
    """
    rng = np.random.default_rng(seed)
    i = np.arange(6)

    def ring(radius: float, pairing: float) -> Array:
        angle = np.pi * i / 3 + pairing * (-1.0) ** i
        points = radius * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(6)])
        return points + rng.uniform(-0.05, 0.05, (6, 3))

    def body(mass: float, size: float) -> dict[str, float]:
        center, spread = rng.uniform(-size, size, 3), rng.normal(size=(3, 3)) * size / 2
        second = mass * (spread @ spread.T + np.outer(center, center))
        tensor = np.trace(second) * np.eye(3) - second
        names = {"XX": (0, 0), "XY": (0, 1), "XZ": (0, 2), "YY": (1, 1), "YZ": (1, 2), "ZZ": (2, 2)}
        values = {name: tensor[place] for name, place in names.items()}
        return values | dict(zip(("MX", "MY", "MZ", "M"), (*mass * center, mass), strict=True))

    base, upper = ring(1.0, 0.4), ring(0.5, -0.4) + np.array([0.0, 0.0, 1.0])
    x = upper[1] - upper[0]
    z = np.cross(x, upper[5] - upper[0])
    frame = np.column_stack([one / np.linalg.norm(one) for one in (x, np.cross(z, x), z)])
    platform = (upper - upper[0]) @ frame
    platform[np.abs(platform) < 1e-15] = 0.0
    axis = np.cross(rng.normal(size=(6, 3)), upper - base) + 0.3 * rng.normal(size=(6, 3))
    legs: dict[str, Any] = {
        "kind": "UPS", "base": base, "platform": platform, "axis": axis,
        "rotor_mass": rng.uniform(1, 5, 6),
    }  # fmt: skip
    for name, mass in (("cross", 1.0), ("cylinder", 4.0), ("rod", 2.0)):
        legs[name] = [body(mass * rng.uniform(0.5, 1.5), 0.2) for _ in i]
    turn = Rotation.from_matrix(frame).as_rotvec()
    home = {"position": upper[0], "rotation_vector": turn}
    return {
        "format": 1, "name": "general 6-UPS", "home": home, "legs": legs,
        "platform": body(12.0, 0.2),
    }  # fmt: skip


def random_states(robot: gough.Robot, count: int, seed: int = 1) -> gough.Motion:
    """States near home: ±0.1 m, ±0.2 rad, rates and accelerations of order 1."""
    rng = np.random.default_rng(seed)
    turn = Rotation.from_rotvec(rng.uniform(-0.2, 0.2, (count, 3)))
    home = robot.home
    rotation = turn * Rotation.from_matrix(home.rotation)
    position = home.position + rng.uniform(-0.1, 0.1, (count, 3))
    return gough.Motion(position, rotation, *rng.normal(size=(4, count, 3)))


def error(found: Array, right: Array) -> float:
    """Largest difference over the largest number."""
    return float(np.max(np.abs(found - right)) / np.max(np.abs(right)))


def without_legs(robot: gough.Robot) -> gough.Robot:
    """The same robot with legs and rotors of no mass."""
    empty: dict[str, Any] = {f"legs.{name}": {} for name in ("cross", "cylinder", "rod")}
    return robot.edited(empty | {"legs.rotor_mass": 0.0})


def compare(robot: gough.Robot, states: gough.Motion) -> dict[str, float]:
    """Largest errors of the closed forms, corrected and as printed, against the library."""
    mass, bias = robot.mass_matrix(states), robot.bias(states)
    forces = robot.inverse_dynamics(states, friction=False).forces
    jacobian, bare = robot.jacobian(states), without_legs(robot)
    worst: dict[str, float] = {}
    least, printed_least = np.inf, np.inf
    for k in range(len(states)):
        form = closed_forms(robot, states[k])
        pushed = bare.inverse_dynamics(states[k], wrench=-form.leg_wrench).forces
        found = {
            "jacobian": error(form.inverse_jacobian, jacobian[k]),
            "inertia": error(form.inertia, mass[k]),
            "bias": error(form.bias, bias[k]),
            "forces": error(form.forces, forces[k]),
            "equivalent force": error(pushed, forces[k]),
            "energy": abs(form.tip_energy / form.leg_energy - 1),
            "printed inertia": error(form.printed_inertia, mass[k]),
            "printed bias": error(form.printed_bias, bias[k]),
            "asymmetry": error(form.inertia, form.inertia.T),
            "printed asymmetry": error(form.printed_inertia, form.printed_inertia.T),
        }
        worst = {name: max(value, worst.get(name, 0.0)) for name, value in found.items()}
        least = min(least, np.linalg.eigvalsh(form.inertia)[0])
        symmetric = 0.5 * (form.printed_inertia + form.printed_inertia.T)
        printed_least = min(printed_least, np.linalg.eigvalsh(symmetric)[0])
    back = robot.direct_dynamics(states, forces, friction=False)
    return worst | {
        "least eigenvalue": float(least),
        "printed least eigenvalue": float(printed_least),
        "identity": max(
            error(back.linear, states.acceleration),
            error(back.angular, states.angular_acceleration),
        ),
    }


def release(robot: gough.Robot) -> tuple[float, float]:
    """Vertical acceleration at home without actuator forces: Eq. 35 corrected and as printed."""
    form = closed_forms(robot, robot.home)
    corrected = np.linalg.solve(form.inertia, -form.bias)[2]
    printed = np.linalg.solve(form.inertia, form.bias)[2]
    return float(corrected), float(printed)


FIRST_LEG = {
    "XX": 2,
    "XY": 3,
    "XZ": 3,
    "YY": 3,
    "YZ": 3,
    "ZZ": 2,
    "MX": 3,
    "MY": 2,
    "MZ": 3,
    "M": 1,
}
"""Where the sums of Eqs. 57 to 66 start in print."""


def regrouped(data: dict[str, Any], printed: bool) -> gough.Robot:
    """The rods' masses M_3i moved to the platform: Eqs. 57 to 66."""
    rods, points = data["legs"]["rod"], data["legs"]["platform"]
    platform = dict(data["platform"])
    for i, (rod, (x, y, z)) in enumerate(zip(rods, points, strict=True), start=1):
        added = {
            "XX": y * y + z * z, "XY": -x * y, "XZ": -x * z, "YY": x * x + z * z, "YZ": -y * z,
            "ZZ": x * x + y * y, "MX": x, "MY": y, "MZ": z, "M": 1.0,
        }  # fmt: skip
        for name, per_mass in added.items():
            if not printed or i >= FIRST_LEG[name]:
                platform[name] += per_mass * rod["M"]
    legs = data["legs"] | {"rod": [rod | {"M": 0.0} for rod in rods]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleBodyWarning)
        return gough.Robot.from_dict(data | {"legs": legs, "platform": platform})


def eliminate(matrices: Array, right: Array) -> Array:
    """Gaussian elimination in fixed order, without pivoting, of (n, 6, 6) systems."""
    A, b = matrices.copy(), right.copy()
    with np.errstate(all="ignore"):
        for k in range(6):
            for i in range(k + 1, 6):
                ratio = A[:, i, k] / A[:, k, k]
                A[:, i] -= ratio[:, None] * A[:, k]
                b[:, i] -= ratio * b[:, k]
        x = np.zeros_like(b)
        for k in reversed(range(6)):
            known = np.einsum("nj,nj->n", A[:, k, k + 1 :], x[:, k + 1 :])
            x[:, k] = (b[:, k] - known) / A[:, k, k]
    return x


def solve_losses(robot: gough.Robot, poses: gough.Motion, seed: int = 2) -> tuple[Array, Array]:
    """Relative loss in Γ of J_p⁻ᵀ Γ = F: unpivoted elimination, and the library's orthogonal solve.

    Γ is random and F = J_p⁻ᵀ Γ rounded once; moments are about P_1, as in the paper. Where
    elimination divides by zero the loss is infinite. A robot at rest without gravity is the library's
    way to solve J_p⁻ᵀ Γ = F alone.
    """
    wanted = np.random.default_rng(seed).normal(size=(len(poses), 6))
    transposed = robot.jacobian(poses).swapaxes(1, 2)
    right = np.einsum("nij,nj->ni", transposed.astype(np.longdouble), wanted).astype(np.float64)
    resting = robot.edited({"gravity": [0.0, 0.0, 0.0]})
    stable = resting.inverse_dynamics(poses, wrench=-right, friction=False).forces
    arm = poses.rotation @ robot.description.platform_points[:, 0, 0]
    about = transposed.copy()
    about[:, 3:] -= np.cross(arm[:, None], transposed[:, :3].swapaxes(1, 2)).swapaxes(1, 2)
    moment = np.einsum("nij,nj->ni", about[:, 3:].astype(np.longdouble), wanted).astype(np.float64)
    plain = eliminate(about, np.concatenate([right[:, :3], moment], axis=1))
    largest = np.abs(wanted).max(axis=1)
    lost, kept = (np.abs(one - wanted).max(axis=1) / largest for one in (plain, stable))
    return np.where(np.isfinite(lost), lost, np.inf), kept


def turned_poses(robot: gough.Robot, angle: Array, seed: int = 3) -> gough.Motion:
    """Random positions within ±0.2 m of home, turned by `angle` about random axes."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=(len(angle), 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    position = robot.home.position + rng.uniform(-0.2, 0.2, (len(angle), 3))
    return gough.Motion(position, Rotation.from_rotvec(axis * angle[:, None]))


def loss_figure(robot: gough.Robot) -> Figure:
    """Loss over how far the platform is turned."""
    angle = np.geomspace(1e-16, 0.1, POSES)
    poses = turned_poses(robot, angle)
    lost, kept = solve_losses(robot, poses)
    bins = [np.asarray(part) for part in np.array_split(np.arange(POSES), 50)]
    middle = [np.exp(np.log(angle[part]).mean()) for part in bins]
    finite = np.where(np.isfinite(lost), lost, np.nan)
    with matplotlib.rc_context(plots.STYLE):
        picture = Picture(figsize=(7.5, 3.6), layout="constrained")
        axes = picture.subplots()
        for values, color, label in (
            (finite, plots.VERMILION, "elimination without pivoting"),
            (kept, plots.BLUE, "gough (Householder QR)"),
        ):
            worst, usual = (
                [pick(values[part]) for part in bins] for pick in (np.nanmax, np.nanmedian)
            )
            axes.loglog(middle, worst, color=color, label=f"{label}: worst")
            axes.loglog(middle, usual, color=color, linestyle="--", label=f"{label}: median")
        axes.set(
            xlabel="turn of the platform [rad]", ylabel="relative loss in Γ", ylim=(1e-17, 1e3)
        )
        axes.set_xticks(10.0 ** np.arange(-15, 0, 2))
        picture.legend(loc="outside lower center", ncols=2)
    caption = (
        "Relative loss in the actuator forces when J_p⁻ᵀ Γ = F is solved, over how far the platform is "
        f"turned from level: {POSES} random poses within 0.2 m of home, in 50 bins. Condition numbers "
        f"are below {np.ceil(robot.condition_number(poses).max()):.0f}: no pose is near singular."
    )
    return Figure("solve-loss", caption, picture)


def matrix_figure(robot: gough.Robot) -> Figure:
    """A_robot, and what is wrong with it as printed."""
    form = closed_forms(robot, random_states(robot, 1)[0])
    scale = np.diag([1.0] * 3 + [1 / robot.length_scale] * 3)
    right, printed = (scale @ one @ scale for one in (form.inertia, form.printed_inertia))
    shown = (("corrected", right), ("as printed", printed), ("difference", printed - right))
    limit = max(float(np.abs(one).max()) for _, one in shown)
    names = ["x", "y", "z", "θx", "θy", "θz"]
    with matplotlib.rc_context(plots.STYLE | {"axes.grid": False}):
        picture = Picture(figsize=(7.5, 2.9), layout="constrained")
        row = picture.subplots(1, 3)
        for axes, (title, matrix) in zip(row, shown, strict=True):
            image = axes.imshow(matrix, cmap="RdBu_r", vmin=-limit, vmax=limit)
            axes.set_title(title, fontsize=10)
            axes.set_xticks(range(6), names)
            axes.set_yticks(range(6), names)
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
        picture.colorbar(image, ax=row, label="kg", shrink=0.85)
    caption = (
        "A_robot of Eq. 36 for the general robot at a random pose; rotations scaled by the platform's "
        "size, so that all entries are in kg. As printed (L̂ᵀ and M̂Sᵀ for L̂ and M̂S) the moment rows have "
        "the wrong sign."
    )
    return Figure("inertia-matrix", caption, picture)


class Share(NamedTuple):
    """Actuator forces along a rest-to-rest motion, and what the legs ask for, N."""

    time: Array
    total: Array
    inertia: Array
    """Inertia of legs and rotors, Coriolis and centrifugal terms included."""
    legs: Array
    """All the legs ask for: the same and their weight."""


def leg_share(robot: gough.Robot) -> Share:
    """Forces by cause along the motion of Long, Khalil & Martinet 2014, Section 6.2."""
    motion = paper_motion(f"{ROBOT}/poses").sample(451)
    parts = robot.contributions(motion, friction=False)
    bare = without_legs(robot).inverse_dynamics(motion, friction=False).forces
    time = np.asarray(motion.time)
    return Share(time, parts.total, parts.leg_inertia + parts.leg_coriolis, parts.total - bare)


def rms(values: Array) -> float:
    """Root of the mean square over legs and time."""
    return float(np.sqrt(np.mean(values**2)))


def share_figure(share: Share) -> Figure:
    """Total, legs, leg inertia."""
    panels = [
        ("(a) total", share.total, "force [N]"),
        ("(b) legs: weight and inertia", share.legs, "force [N]"),
        ("(c) legs: inertia alone", share.inertia, "force [N]"),
    ]
    caption = (
        "Actuator forces of the robot of Long, Khalil & Martinet 2014 on a rest-to-rest motion from "
        "home through two poses and back, and the parts that its legs and rotors ask for."
    )
    labels = [f"leg {i}" for i in range(1, 7)]
    return Figure("leg-inertia", caption, leg_panels(share.time, panels, labels))


def reproduce(progress: Progress) -> Reproduction:
    """Everything: claims, figures, notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleBodyWarning)
        robot = gough.load(ROBOT).rigid
        data = general_robot()
        general = gough.Robot.from_dict(data)
        progress("closed forms")
        found = [compare(one, random_states(one, STATES)) for one in (robot, general)]
        progress("regrouped masses")
        states = random_states(general, STATES)
        forces = general.inverse_dynamics(states).forces
        grouped = [
            error(regrouped(data, printed).inverse_dynamics(states).forces, forces)
            for printed in (False, True)
        ]
        progress("solves without pivoting")
        level = solve_losses(robot, turned_poses(robot, np.zeros(POSES)))
        turned = solve_losses(robot, turned_poses(robot, np.full(POSES, 0.1)))
        progress("leg inertia")
        share = leg_share(robot)
        progress("figures")
        figures = [
            Figure(
                "robot", "The robot of Long, Khalil & Martinet 2014 at home.", plots.draw(robot)
            ),
            matrix_figure(general),
            share_figure(share),
            loss_figure(robot),
        ]
        fall = release(robot)
    claims = _form_claims(found[0], found[1], fall, grouped) + _number_claims(share, level, turned)
    return Reproduction(
        NAME,
        "Khalil & Guegan 2004: closed-form dynamics of Gough-Stewart robots",
        SOURCE,
        claims,
        figures,
        NOTES,
    )


def _form_claims(
    long: dict[str, float],
    general: dict[str, float],
    fall: tuple[float, float],
    grouped: list[float],
) -> list[Claim]:
    def both(name: str) -> str:
        return number(max(long[name], general[name]))

    def printed(name: str) -> str:
        return f"{long[f'printed {name}']:.0%} and {general[f'printed {name}']:.0%}"

    return [
        Claim(
            "Eqs. 31 and 32 are the inverse dynamic model in closed form.",
            "Γ = J_pᵀ (F_p + F_leg)",
            f"equal to gough's forces within {both('forces')} on Long's robot and on a general one",
            "agrees",
            f"{STATES} random states each; legs by a recursion in the paper's link frames",
        ),
        Claim(
            "A_robot of Eq. 36 is the inertia of platform and legs.",
            "lower blocks with L̂ᵀ and M̂Sᵀ",
            f"with L̂ and M̂S it equals gough's mass matrix within {both('inertia')}; as printed it "
            f"is off by {printed('inertia')} of the largest entry",
            "paper wrong",
            "drop both transposes; Eq. 29 has M̂S right",
        ),
        Claim(
            "A_robot is symmetric and positive definite.",
            "symmetric, positive definite",
            f"corrected: symmetric within {both('asymmetry')}, least eigenvalues "
            f"{long['least eigenvalue']:.1f} and {general['least eigenvalue']:.1f}; as printed: "
            f"asymmetry {printed('asymmetry')}, least eigenvalues of the symmetric part "
            f"{number(long['printed least eigenvalue'], '.1f')} and "
            f"{number(general['printed least eigenvalue'], '.1f')}",
            "agrees",
            "once corrected; even with the link tensors of Long's Table 3, which no body can have",
        ),
        Claim(
            "h_robot of Eq. 37 holds the Coriolis, centrifugal and gravity effects.",
            "gravity moment M̂Sᵀ g",
            f"with M̂S g it equals gough's bias within {both('bias')}; as printed it is off by "
            f"{general['printed bias']:.0%} on the general robot",
            "paper wrong",
            "Eq. 24 has M̂S g right; Long's platform has MS = 0 and does not show it",
        ),
        Claim(
            "Eqs. 34 and 35 give the acceleration.",
            "A V̇ = −J_p⁻ᵀ Γ + h",
            f"Long's robot, released at home, would rise with {fall[1]:.2f} m/s²; with the signs "
            f"turned it falls: {number(fall[0], '.2f')} m/s²",
            "paper wrong",
            "A V̇ = J_p⁻ᵀ Γ − h, and H_x = +A_x …",
        ),
        Claim(
            "A leg is equivalent to a 3×3 mass matrix A_x at P_i (Fig. 5, Eq. 38).",
            "equivalent spatial inertia",
            f"½ Σ v_iᵀ A_xi v_i equals the links' and rotors' kinetic energy within {both('energy')}",
            "agrees",
            "energy summed link by link, Eq. 68",
        ),
        Claim(
            "A leg acts on the platform as the force −H_xi at P_i (Fig. 4).",
            "equivalent external force",
            f"massless legs and these forces give the same Γ within {both('equivalent force')}",
            "agrees",
        ),
        Claim(
            "Eq. 35 inverts Eq. 31.",
            "direct and inverse model",
            f"direct(inverse(V̇)) = V̇ within {both('identity')}",
            "agrees",
        ),
        Claim(
            "The rods' masses M_3i act as if suspended at the P_i (Eqs. 57 to 66).",
            "sums for YY and MX start at i = 3",
            f"summed over all legs, forces change by {number(grouped[0])}; as printed by "
            f"{grouped[1]:.0%}",
            "paper wrong",
            "with x_p along P₁P₂ it is L₂,₂ that is zero, not L₁,₂: start at i = 2",
        ),
    ]


def _number_claims(
    share: Share, level: tuple[Array, Array], turned: tuple[Array, Array]
) -> list[Claim]:
    largest = np.abs(share.total).max()
    infinite = np.isinf(level[0])
    return [
        Claim(
            "The models take all dynamic parameters of the links into account.",
            "all links",
            f"rest to rest: inertia of the legs up to {np.abs(share.inertia).max():.0f} N of "
            f"{largest:.0f} N ({rms(share.inertia) / rms(share.total):.0%} rms), with their weight "
            f"up to {np.abs(share.legs).max():.0f} N ({rms(share.legs) / rms(share.total):.0%} rms)",
            "agrees",
            "on this robot the legs are no small correction",
        ),
        Claim(
            "J_p should be regular in the reachable space; the model solves with it.",
            "does not say how",
            f"level platform, {len(level[0])} positions within 0.2 m of home: elimination without "
            f"pivoting loses {np.median(level[0]):.0%} in the median and divides by zero in "
            f"{infinite.mean():.0%}; turned by 0.1 rad it loses at most {number(turned[0].max())}; "
            f"gough's orthogonal solve at most {number(max(level[1].max(), turned[1].max()))}",
            "not checkable",
            "fixed-order code needs pivoting: J_p is regular in all these poses, but y of B₁ to B₄ is "
            "a linear function of y of P₁ to P₄, so the leading 4×4 block is singular",
        ),
    ]


NOTES = (
    "The paper has no numerical example. Robots here: that of Long, Khalil & Martinet 2014 with a rigid "
    "platform and a random general one, whose platform frame is placed as in the paper's Fig. 2.",
    "Arms L_i run from the platform frame's origin, which need not be P₁; the equations are the same.",
    "The rotor's mass along q₃ is added to the third joint's inertia.",
    "J̇ lost its dot in Eqs. 34 and 37 and in the notes below Eq. 37; ω×(ω×MS) takes the vector MS; "
    "the moment of the centrifugal force is L̂ A_x (…), without transpose.",
    "“As printed” is as in a scan of the paper, which may have lost or added a transpose or a dot.",
)

if __name__ == "__main__":
    run_script(NAME, reproduce)
