"""The robot with a flexible platform by Lagrange's equations, its energies differentiated.

Coordinates x = (p, θ, qe): the floating frame's origin, a rotation chart R = C(θ) R0 about the
current R0, the modal coordinates. C is Cayley's, orthogonal and the exponential to second order,
C(θ) = 1 + θ× + ½ θ×θ× + O(θ³). With ω× = Ṙ Rᵀ it gives ω = θ̇ + ½ θ×θ̇ + O(θ²), so at θ = 0, where
everything is evaluated, ω = θ̇ and ω̇ = θ̈ + ½ θ̇×θ̇ = θ̈: there ẋ is ξ = (v, ω, q̇e) and ẍ is ξ̇, world
axes, and the dual of θ is a moment in world axes.

    platform  nodes at p + R (r_k + Φ_k qe):  T = ½ Σ m_k |ẋ_k|²,  U = −Σ m_k g·x_k + ½ qeᵀ K qe
    legs      functions of the tip P_i = p + R (P_i + Φ_tip,i qe) and its velocity
    damping   Rayleigh's function F = ½ q̇eᵀ D q̇e

    d/dt ∂T/∂ẋ − ∂T/∂x + ∂U/∂x + ∂F/∂ẋ = Σ Γ_i ∂q_i/∂x + (f, m, φ),  that is  M ξ̇ + b = Jᵀ Γ + (f, m, φ)

with the modal force φ = origin_shapesᵀ Rᵀ f + origin_rotationsᵀ Rᵀ m of a wrench (f, m). A rigid
body of the legs with mass m, first moment s and inertia I about its frame's origin o has, without
any angular velocity, T = ½ m |ȯ|² + ȯ·Ṙ s + ½ tr(Ṙ Σ Ṙᵀ), Σ = ∫ r rᵀ dm = ½ tr(I) 1 − I.
No mass integrals, no elimination, no friction. ONE state; SI units.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.random import Generator
from scipy.linalg import null_space

from .arrays import Array, Robot, State
from .legs import Body, Leg
from .robot_parts import gravity, read_legs

Modal = dict[str, Array]  # the arrays of a modal body's .npz file


def cayley(theta: Any) -> Any:
    """The rotation C(θ) = 1 + θ× + ½ θ×θ× + O(θ³), θ in rad."""
    c = theta / 2
    square = ca.dot(c, c)
    return ((1 - square) * ca.DM.eye(3) + 2 * ca.skew(c) + 2 * c @ c.T) / (1 + square)


def derivative(function: Any, x: Any, rate: Any) -> Any:
    """Time derivative of a function of x that moves at the given rate."""
    return ca.jtimes(function, x, rate)


def body_energies(body: Body, origin: Any, axes: Any, tip: Any, speed: Any, g: Array) -> Any:
    """Kinetic and gravity potential energy of a body whose frame follows the tip, J."""
    v = derivative(origin, tip, speed)
    turning = ca.reshape(derivative(ca.vec(axes), tip, speed), 3, 3)
    spread = np.trace(body.inertia) / 2 * np.eye(3) - body.inertia
    kinetic = body.mass / 2 * ca.dot(v, v) + ca.dot(v, turning @ body.first_moment)
    kinetic += ca.trace(turning @ spread @ turning.T) / 2
    return kinetic, -ca.dot(g, body.mass * origin + axes @ body.first_moment)


class LegEnergy:
    """A leg as functions of its tip's position P and velocity.

    energies: q, T (rotor included), U. lagrange, also of the tip's acceleration: ∂q/∂P and
    d/dt ∂T/∂Ṗ − ∂T/∂P + ∂U/∂P, the load of the leg that is cut free at its tip.
    """

    def __init__(self, leg: Leg, g: Array) -> None:
        tip, speed, rate = (ca.SX.sym(name, 3) for name in ("P", "v", "a"))
        q, frames = leg.kind.frames(ca, leg, tip)
        kinetic, potential = leg.rotor_mass / 2 * derivative(q, tip, speed) ** 2, ca.SX(0)
        for body, (origin, axes) in zip(leg.bodies, frames, strict=True):
            moving, weight = body_energies(body, origin, axes, tip, speed, g)
            kinetic, potential = kinetic + moving, potential + weight
        momentum = ca.gradient(kinetic, speed)
        load = derivative(momentum, tip, speed) + derivative(momentum, speed, rate)
        load -= ca.gradient(kinetic - potential, tip)
        self.energies = ca.Function("leg", [tip, speed], [q, kinetic, potential])
        self.lagrange = ca.Function("load", [tip, speed, rate], [ca.gradient(q, tip), load])


class FlexibleEnergy:
    """The equations of one robot with a modal body for a platform; `at` gives them in a state.

    robot: the robot file's dictionary; its platform's masses and points are not read.
    modal: the arrays of the .npz file, any N from 0.
    """

    def __init__(self, robot: Robot, modal: Modal) -> None:
        self.robot, self.modal = robot, modal
        self.modes = modal["shapes"].shape[2]
        self.stiffness = _square(modal["stiffness"])
        self.damping = _square(modal["damping"])
        nothing = np.zeros((3, self.modes))
        self.origin_shapes = modal.get("origin_shapes", nothing)
        self.origin_rotations = modal.get("origin_rotations", nothing)

    @cached_property
    def legs(self) -> list[LegEnergy]:
        """Every leg, cut free at its tip."""
        return [LegEnergy(leg, gravity(self.robot)) for leg in read_legs(self.robot)]

    @cached_property
    def _model(self) -> ca.Function:
        """All that `at` gives, as functions of coordinates x, their rates and the rotation R0."""
        g, modal, size = gravity(self.robot), self.modal, 6 + self.modes
        x, rate, R0 = ca.MX.sym("x", size), ca.MX.sym("rate", size), ca.MX.sym("R0", 3, 3)
        p, R, elastic = x[:3], cayley(x[3:6]) @ R0, x[6:]

        def points(positions: Array, shapes: Array) -> Any:
            """(3, n) of p + R (r_k + Φ_k qe)."""
            count = len(positions)
            moved = positions.reshape(-1) + ca.DM(shapes.reshape(3 * count, self.modes)) @ elastic
            return ca.repmat(p, 1, count) + R @ ca.reshape(moved, 3, count)

        masses = ca.DM(modal["masses"])
        nodes = points(modal["positions"], modal["shapes"])
        speeds = derivative(nodes, x, rate)
        kinetic = ca.dot(masses, ca.sum1(speeds**2).T) / 2
        potential = -ca.dot(g, nodes @ masses) + ca.bilin(self.stiffness, elastic, elastic) / 2
        rayleigh = ca.bilin(self.damping, rate[6:], rate[6:]) / 2

        tips = points(modal["tip_positions"], modal["tip_shapes"])
        tip_speeds = derivative(tips, x, rate)
        q = []
        for i, leg in enumerate(self.legs):
            coordinate, moving, weight = leg.energies(tips[:, i], tip_speeds[:, i])
            q.append(coordinate)
            kinetic, potential = kinetic + moving, potential + weight
        drives = ca.vertcat(*q)

        momentum = ca.gradient(kinetic, rate)
        bias = derivative(momentum, x, rate) - ca.gradient(kinetic - potential, x)
        outputs = {
            "mass": ca.jacobian(momentum, rate),
            "bias": bias + ca.gradient(rayleigh, rate),
            "jacobian": ca.jacobian(drives, x),
            "q": drives,
            "drive_bias": derivative(derivative(drives, x, rate), x, rate),
            "tips": tips,
            "tip_speeds": tip_speeds,
            "tip_jacobian": ca.jacobian(ca.vec(tips), x),
            "tip_bias": derivative(tip_speeds, x, rate),
            "kinetic": kinetic,
            "potential": potential,
            "dissipation": 2 * rayleigh,
        }
        return ca.Function(
            "robot", [x, rate, R0], list(outputs.values()), ["x", "rate", "R0"], list(outputs)
        )

    def at(self, state: State) -> StateEquations:
        """The equations in one state: position, rotation, velocity, angular_velocity, and elastic,
        elastic_velocity (N,), zero where missing."""
        rest = np.zeros(self.modes)
        x = np.concatenate([state["position"], np.zeros(3), state.get("elastic", rest)])
        rate = np.concatenate(
            [state["velocity"], state["angular_velocity"], state.get("elastic_velocity", rest)]
        )
        found = self._model(x=x, rate=rate, R0=state["rotation"])
        values = {name: value.full() for name, value in found.items()}
        return StateEquations(self, rate, np.asarray(state["rotation"]), values)


@dataclass(frozen=True)
class StateEquations:
    """M ξ̇ + b = Jᵀ Γ + (f, m, φ) in one state, ξ = (v, ω, q̇e)."""

    model: FlexibleEnergy
    rate: Array
    rotation: Array
    values: dict[str, Array] = field(repr=False)

    def mass_matrix(self) -> Array:
        """M (6+N, 6+N) of the whole robot."""
        return self.values["mass"]

    def bias(self) -> Array:
        """b (6+N,), K qe + D q̇e and gravity included."""
        return self.values["bias"][:, 0]

    def jacobian(self) -> Array:
        """J (legs, 6+N): q̇ = J ξ."""
        return self.values["jacobian"]

    def q(self) -> Array:
        """Actuated coordinates (legs,), m."""
        return self.values["q"][:, 0]

    def drive_acceleration(self, rate: Array) -> Array:
        """q̈ (legs,) for ξ̇ = rate (6+N,)."""
        return self.jacobian() @ rate + self.values["drive_bias"][:, 0]

    def kinetic(self) -> float:
        """Kinetic energy, rotors included, J."""
        return float(self.values["kinetic"][0, 0])

    def potential(self) -> float:
        """Gravity's −g·Σ m r and the elastic energy, J."""
        return float(self.values["potential"][0, 0])

    def dissipation(self) -> float:
        """Power q̇eᵀ D q̇e the damping takes, W."""
        return float(self.values["dissipation"][0, 0])

    def external(self, wrench: Array | None) -> Array:
        """(f, m, φ) (6+N,) of a wrench (f, m) at the platform frame's origin, world axes."""
        wrench = np.zeros(6) if wrench is None else np.asarray(wrench)
        force, moment = self.rotation.T @ wrench[:3], self.rotation.T @ wrench[3:]
        model = self.model
        modal = model.origin_shapes.T @ force + model.origin_rotations.T @ moment
        return np.concatenate([wrench, modal])

    def direct(self, forces: Array, wrench: Array | None = None) -> tuple[Array, Array, Array]:
        """v̇, ω̇, q̈e for actuator forces Γ (legs,)."""
        load = self.jacobian().T @ forces + self.external(wrench) - self.bias()
        rate = np.linalg.solve(self.mass_matrix(), load)
        return rate[:3], rate[3:6], rate[6:]

    def inverse(
        self, acceleration: Array, angular_acceleration: Array, wrench: Array | None = None
    ) -> tuple[Array, Array]:
        """Γ and q̈e for v̇ and ω̇: [Jᵀ, −M_e] (Γ, q̈e) = M_r (v̇, ω̇) + b − (f, m, φ).

        Over six legs: the least ‖Γ‖.
        """
        mass, legs = self.mass_matrix(), len(self.jacobian())
        given = np.concatenate([acceleration, angular_acceleration])
        matrix = np.hstack([self.jacobian().T, -mass[:, 6:]])
        right = mass[:, :6] @ given + self.bias() - self.external(wrench)
        if legs == 6:
            solution = np.linalg.solve(matrix, right)
        else:
            solution = np.linalg.lstsq(matrix, right)[0]
            free = null_space(matrix)  # what may be added without a change on the right
            solution -= free @ np.linalg.lstsq(free[:legs], solution[:legs])[0]
        return solution[:legs], solution[legs:]

    def condensed(self) -> tuple[Array, Array, Array]:
        """A (6, 6), c (6,), T (6, legs) of A (v̇, ω̇) + c = T Γ + (f, m) − M_re M_ee⁻¹ φ."""
        mass, bias, jacobian = self.mass_matrix(), self.bias(), self.jacobian()
        through = np.linalg.solve(mass[6:, 6:], mass[6:, :6]).T  # M_re M_ee⁻¹
        return (
            mass[:6, :6] - through @ mass[6:, :6],
            bias[:6] - through @ bias[6:],
            jacobian[:, :6].T - through @ jacobian[:, 6:].T,
        )

    def reactions(self, forces: Array, rate: Array) -> Array:
        """Forces (legs, 3) of the legs on the platform at the spherical joints, world axes.

        Each leg's own Lagrange equations in its free tip's coordinates, for Γ and ξ̇ = rate:
        f = ∂q/∂P Γ − (d/dt ∂T/∂Ṗ − ∂T/∂P + ∂U/∂P).
        """
        values, found = self.values, []
        rates = (values["tip_jacobian"] @ rate).reshape(-1, 3).T + values["tip_bias"]
        for i, leg in enumerate(self.model.legs):
            slope, load = leg.lagrange(
                values["tips"][:, i], values["tip_speeds"][:, i], rates[:, i]
            )
            found.append(slope.full()[:, 0] * forces[i] - load.full()[:, 0])
        return np.array(found)


def _square(coefficients: Array) -> Array:
    """Stiffness or damping as a matrix; a vector is its diagonal."""
    coefficients = np.asarray(coefficients, dtype=float)
    return np.diag(coefficients) if coefficients.ndim == 1 else coefficients


def nodes_as_rigid_table(modal: Modal) -> dict[str, Any]:
    """The undeformed nodes as a robot file's `[platform]` table."""
    masses, positions = modal["masses"], modal["positions"]
    mass = masses.sum()
    center = masses @ positions / mass
    arms = positions - center
    spread = (masses[:, None] * arms).T @ arms
    inertia = np.trace(spread) * np.eye(3) - spread
    return {"mass": float(mass), "center_of_mass": center.tolist(), "inertia": inertia.tolist()}


def random_modal_body(
    rng: Generator, tips: Array, modes: int, *, general: bool = True, nodes: int | None = None
) -> Modal:
    """Arrays of a random modal body of 30 to 60 nodal masses, about 15 kg, 1 m across.

    tips: (legs, 3), the robot's platform points. general: waves in space displace every node in
    all directions; some rigid motion is left among the shapes; modal mass, stiffness and damping
    are full. Otherwise a plate z = 0 that moves along z: mass-normalised shapes with no rigid
    motion among them, stiffness and damping vectors. Tips and origin follow the same shapes.
    Natural frequencies of (m_ee, K) 5 to 80 Hz, damping about 1 %.
    """
    nodes = int(rng.integers(30, 61)) if nodes is None else nodes
    positions = rng.uniform(-0.55, 0.55, (nodes, 3)) * [1, 1, 0.3 if general else 0]
    masses = rng.uniform(0.1, 0.6, nodes)
    waves = 3 * rng.normal(size=(modes, 3)) * [1, 1, general]
    phases = rng.uniform(0, 2 * np.pi, modes)
    sideways = rng.normal(size=(modes, 3)) if general else np.tile([0.0, 0.0, 1.0], (modes, 1))

    def wave_shapes(points: Array) -> Array:
        """(n, 3, N): a_j sin(k_j·r + c_j)."""
        return sideways.T * np.sin(points @ waves.T + phases)[:, None, :]

    def wave_rotations(points: Array) -> Array:
        """(n, 3, N): half the curl, ½ k_j × a_j cos(k_j·r + c_j); of a plate all of it."""
        curl = np.cross(waves, sideways).T * np.cos(points @ waves.T + phases)[:, None, :]
        return curl / 2 if general else curl

    # the nearest rigid motions (6, N), and their removal: all but enough to matter is taken out,
    # as shapes close to rigid motions would leave hardly any inertia to an accelerating frame
    weights = np.sqrt(masses)[:, None, None]
    rigid = (weights * _rigid_motions(positions)).reshape(3 * nodes, 6)
    waving = (weights * wave_shapes(positions)).reshape(3 * nodes, modes)
    removed = (0.8 if general else 1.0) * np.linalg.lstsq(rigid, waving)[0]
    left = waving - rigid @ removed
    if general:
        mapping = np.diag(rng.uniform(0.5, 2, modes) / np.linalg.norm(left, axis=0))
    else:
        mapping = np.linalg.inv(np.linalg.qr(left)[1])

    def shapes(points: Array) -> Array:
        found = (wave_shapes(points) - _rigid_motions(points) @ removed) @ mapping
        return found if general else found * [[0], [0], [1]]

    def rotations(points: Array) -> Array:
        return (wave_rotations(points) - removed[3:]) @ mapping

    angular = 2 * np.pi * np.sort(rng.uniform(5, 80, modes))
    stiffness, damping = angular**2, 0.02 * angular
    if general:
        turn = np.linalg.qr(rng.normal(size=(modes, modes)))[0]
        factor = np.linalg.cholesky(mapping @ left.T @ left @ mapping) @ turn
        stiffness = factor @ np.diag(stiffness) @ factor.T
        mixing = rng.normal(size=(modes, modes)) / 2  # damping that modes do not decouple
        damping = factor @ (np.diag(damping) + mixing @ mixing.T) @ factor.T
        stiffness, damping = (stiffness + stiffness.T) / 2, (damping + damping.T) / 2
    tips, origin = np.asarray(tips, dtype=float), np.zeros((1, 3))
    return {
        "positions": positions,
        "masses": masses,
        "shapes": shapes(positions),
        "rotations": rotations(positions),
        "stiffness": stiffness,
        "damping": damping,
        "tip_positions": tips,
        "tip_shapes": shapes(tips),
        "tip_rotations": rotations(tips),
        "origin_shapes": shapes(origin)[0],
        "origin_rotations": rotations(origin)[0],
    }


def random_elastic(rng: Generator, modal: Modal) -> State:
    """elastic and elastic_velocity (N,) that move the nodes by up to 0.01 m and 0.5 m/s."""
    modes = modal["shapes"].shape[2]

    def coordinates(largest: float) -> Array:
        found = rng.normal(size=modes)
        moved = np.linalg.norm(modal["shapes"] @ found, axis=1)
        return found * largest / np.max(moved, initial=1e-300) if modes else found

    return {"elastic": coordinates(0.01), "elastic_velocity": coordinates(0.5)}


def _rigid_motions(points: Array) -> Array:
    """(n, 3, 6): displacements d + θ × r for the six unit steps of (d, θ)."""
    turned = np.cross(np.eye(3), points[:, None, :]).transpose(0, 2, 1)
    return np.concatenate([np.broadcast_to(np.eye(3), turned.shape), turned], axis=2)
