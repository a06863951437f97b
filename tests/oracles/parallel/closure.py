"""Loops closed: where all joints are, what the platform may do, and its coordinates.

Velocity coordinates η = (θ̇ of all legs, ξ), ξ = (v, ω) of the platform in world axes. A leg's tip
and the platform's point (or frame) coincide, and `mobility` takes directions N from the platform:

    G η = 0:     tip velocity(θ̇) − W ξ = 0  (3 or 6 rows a leg, world axes),   Nᵀ ξ = 0

What is left of a leg's rows where its joints cannot follow, C ξ = 0, is the left null space of its
own columns of G. Mobility m = 6 − rank of all C and N with lengths over L and unit rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pinocchio as pin
from scipy.special import zeta

from ..arrays import Array, Robot, State, cross
from .tree import Tree

NAMES = ("x", "y", "z", "rx", "ry", "rz")
ZERO = 1e-6
"""Singular values below this part of the largest are zero (the contract's)."""


@dataclass
class Posture:
    """A configuration of the whole tree, Pinocchio's q, with everything that needs it alone."""

    configuration: Array
    pose: pin.SE3


class Loops:
    """The closed loops of a robot."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.tree = Tree(robot)
        self.model, self.data = self.tree.model, self.tree.data
        self.taken = mobility_directions(robot, self.tree.home)
        points = np.array([leg.point for leg in self.tree.legs])
        spread = np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1)))
        self.length_scale = float(spread) if spread > 0 else 1.0
        self.unit_twist = np.repeat([self.length_scale, 1.0], 3)
        self.anchored = self.tree.chains or len(self.taken) > 0
        self.mobility = 6
        if self.anchored:
            home = self.home_posture
            if np.max(np.abs(self.closure(home))) > 1e-9:
                raise ValueError("legs do not close at home")
            self.mobility = 6 - rank(self.limits(home))

    @cached_property
    def home_posture(self) -> Posture:
        """The robot as it stands at home."""
        assert self.tree.home is not None
        configuration = pin.neutral(self.model)
        return self.closed_legs(self.placed(configuration, self.tree.home))

    def placed(self, configuration: Array, pose: pin.SE3) -> Posture:
        """The legs as they are and the platform elsewhere."""
        configuration = configuration.copy()
        start = self.model.idx_qs[self.tree.platform]
        configuration[start : start + 7] = pin.SE3ToXYZQUAT(pose)
        return Posture(configuration, pin.SE3(pose))

    def closed_legs(self, posture: Posture) -> Posture:
        """Legs of kind UPS, PUS, RUS where the platform is, as their q is defined."""
        configuration = posture.configuration.copy()
        for leg in self.tree.legs:
            if leg.closed is not None:
                joints = leg.closed.joints_at(posture.pose.act(leg.point))
                configuration[[self.model.idx_qs[j] for j in leg.joints]] = joints
        return Posture(configuration, posture.pose)

    def moved(self, posture: Posture, step: Array) -> Posture:
        """The posture after a small step of (θ, ξ)."""
        body = self.to_pinocchio(posture) @ step
        configuration = pin.integrate(self.model, posture.configuration, body)
        start = self.model.idx_qs[self.tree.platform]
        return Posture(configuration, pin.XYZQUATToSE3(configuration[start : start + 7]))

    def to_pinocchio(self, posture: Posture) -> Array:
        """X with ν = X η: Pinocchio's free-flyer turns with the platform."""
        x = np.eye(self.model.nv)
        turned = posture.pose.rotation.T
        for start in (self.moving[0], self.moving[3]):
            x[start : start + 3, start : start + 3] = turned
        return x

    @cached_property
    def moving(self) -> list[int]:
        """The platform's velocity columns."""
        start = self.model.idx_vs[self.tree.platform]
        return list(range(start, start + 6))

    def closure(self, posture: Posture) -> Array:
        """What is open: tip less platform (m, rad), then what mobility forbids (m, rad)."""
        pin.framesForwardKinematics(self.model, self.data, posture.configuration)
        errors = []
        for leg in self.tree.legs:
            tip, held = self.data.oMf[leg.tip], self.data.oMf[leg.held]
            errors.append(tip.translation - held.translation)
            if leg.port == 6:
                errors.append(pin.log3(tip.rotation @ held.rotation.T))
        return np.concatenate([*errors, self.astray(posture.pose)])

    def astray(self, pose: pin.SE3) -> Array:
        """How far the pose is off what `mobility` allows; its derivative there is Nᵀ ξ."""
        if not len(self.taken):
            return np.zeros(0)
        assert self.tree.home is not None
        turn = pose.rotation @ self.tree.home.rotation.T
        axis = self.tree.home.rotation[:, 2]
        if len(self.taken) == 3 and np.all(self.taken[:, :3] == 0):
            rotation = pin.log3(turn)
        else:
            rotation = cross(axis, turn @ axis)  # its derivative is ω less its part along axis
        return self.taken @ np.concatenate(
            [pose.translation - self.tree.home.translation, rotation]
        )

    def rows(self, posture: Posture) -> Array:
        """G (rows, nv) of η."""
        pin.computeJointJacobians(self.model, self.data, posture.configuration)
        pin.updateFramePlacements(self.model, self.data)
        frame, x = pin.LOCAL_WORLD_ALIGNED, self.to_pinocchio(posture)
        parts = [
            (
                pin.getFrameJacobian(self.model, self.data, leg.tip, frame)
                - pin.getFrameJacobian(self.model, self.data, leg.held, frame)
            )[: leg.port]
            @ x
            for leg in self.tree.legs
        ]
        forbidden = np.zeros((len(self.taken), self.model.nv))
        forbidden[:, self.moving] = self.taken
        return np.vstack([*parts, forbidden])

    def drift(self, posture: Posture, rates: Array) -> Array:
        """Ġ η: what the rows' left-hand side G η̇ must cancel."""
        frame = pin.LOCAL_WORLD_ALIGNED
        body = self.to_pinocchio(posture) @ rates
        pin.forwardKinematics(
            self.model, self.data, posture.configuration, body, self.convective(body)
        )
        pin.updateFramePlacements(self.model, self.data)
        parts = [np.zeros(0)]
        for leg in self.tree.legs:
            tip, held = (
                pin.getFrameClassicalAcceleration(self.model, self.data, number, frame).vector
                for number in (leg.tip, leg.held)
            )
            parts.append((tip - held)[: leg.port])
        return np.concatenate([*parts, np.zeros(len(self.taken))])

    def convective(self, body: Array) -> Array:
        """ν̇ for η̇ = 0: the free-flyer's axes turn."""
        result = np.zeros(self.model.nv)
        v, omega = body[self.moving[:3]], body[self.moving[3:]]
        result[self.moving[:3]] = -cross(omega, v)
        return result

    def blocks(self, posture: Posture) -> list[tuple[Array, Array]]:
        """Each leg's rows: its own columns, and the platform's."""
        rows, first, found = self.rows(posture), 0, []
        for leg in self.tree.legs:
            own = rows[first : first + leg.port]
            found.append((own[:, leg.columns], own[:, self.moving]))
            first += leg.port
        return found

    def limits(self, posture: Posture) -> Array:
        """C and N (rows, 6) on (v/L, ω), unit rows: directions that the platform cannot take."""
        parts = [self.taken * self.unit_twist]
        for number, (own, platform) in enumerate(self.blocks(posture)):
            scale = np.repeat([1 / self.length_scale, 1.0], 3)[: len(own)]
            left, sizes, _ = np.linalg.svd(scale[:, None] * own)
            follows = int(np.sum(sizes > ZERO * sizes[0])) if sizes.size else 0
            if follows < own.shape[1]:
                raise ValueError(f"leg {number + 1} can move while its port rests")
            parts.append((left[:, follows:].T * scale) @ platform * self.unit_twist)
        rows = np.vstack(parts)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def allowed(self, posture: Posture) -> Array:
        """B (6, m): twists that the platform can take, orthonormal in (v/L, ω)."""
        rows = self.limits(posture)
        if not len(rows):
            return np.diag(self.unit_twist)
        _, sizes, right = np.linalg.svd(rows)
        held = 6 - self.mobility
        sizes = np.append(sizes, np.zeros(6))
        if (held and sizes[held - 1] <= 1e-4 * sizes[0]) or sizes[held] > 1e-6 * sizes[0]:
            raise ValueError(f"not {self.mobility} freedoms here: {sizes[:6]}")
        return self.unit_twist[:, None] * right[held:].T

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """The platform's m coordinates."""
        if self.mobility == 6:
            return NAMES
        given = self.robot["platform"].get("coordinates")
        if given:
            return tuple(given)
        basis = self.allowed(self.home_posture) / self.unit_twist[:, None]
        choices = list(combinations(range(6), self.mobility))
        sizes = np.array([abs(np.linalg.det(basis[list(rows)])) for rows in choices])
        best = choices[int(np.argmax(sizes > sizes.max() - ZERO))]
        return tuple(NAMES[i] for i in best)

    @property
    def chosen(self) -> list[int]:
        """Which of x y z rx ry rz are the coordinates."""
        return [NAMES.index(name) for name in self.coordinates]

    def read(self, pose: pin.SE3) -> Array:
        """All six of x y z rx ry rz."""
        assert self.tree.home is not None
        turn = pin.log3(pose.rotation @ self.tree.home.rotation.T)
        return np.concatenate([pose.translation, turn])

    def posture(self, u: Array, step: float = 0.05) -> Posture:
        """The robot with these coordinates, continued along the straight line from home."""
        posture = self.home_posture
        start = self.read(posture.pose)[self.chosen]
        steps = int(np.ceil(np.max(np.abs(u - start), initial=0.0) / step)) + 1
        for part in np.arange(1, steps + 1) / steps:
            posture = self.solved(posture, start + part * (u - start))
        return self.closed_legs(posture)

    def solved(self, posture: Posture, u: Array) -> Posture:
        """Newton's method on all joints and the pose together."""
        for _ in range(30):
            error = np.concatenate(
                [self.closure(posture), self.read(posture.pose)[self.chosen] - u]
            )
            if np.max(np.abs(error)) < 3e-14:
                break
            matrix = np.vstack([self.rows(posture), self.readings(posture.pose)])
            step = np.linalg.lstsq(matrix, -error, rcond=1e-9)[0]
            posture = self.moved(posture, step)
            if np.max(np.abs(step)) < 1e-15:
                break
        if np.max(np.abs(self.closure(posture))) > 1e-12:
            raise ValueError("the loops do not close")
        return posture

    def readings(self, pose: pin.SE3) -> Array:
        """(m, nv): rates of the coordinates are this times η."""
        full = np.zeros((6, self.model.nv))
        full[:3, self.moving[:3]] = np.eye(3)
        full[3:, self.moving[3:]] = rotation_vector_rates(self.read(pose)[3:])
        return full[self.chosen]

    def at(self, state: State) -> Posture:
        """The robot with its platform at a given pose."""
        pose = pin.SE3(np.asarray(state["rotation"]), np.asarray(state["position"]))
        if not self.tree.chains:
            return self.closed_legs(self.placed(pin.neutral(self.model), pose))
        found = self.posture(self.read(pose)[self.chosen])
        if np.linalg.norm(pin.log6(found.pose.actInv(pose)).vector) > 1e-6:
            raise ValueError("the robot cannot be there")
        return self.following(self.closed_legs(self.placed(found.configuration, pose)))

    def following(self, posture: Posture) -> Posture:
        """The legs' joints made to fit a pose that stays as it is."""
        for _ in range(10):
            error, step, first = self.closure(posture), np.zeros(self.model.nv), 0
            for leg, (own, _) in zip(self.tree.legs, self.blocks(posture), strict=True):
                open_by = error[first : first + leg.port]
                if leg.columns:
                    step[leg.columns] = np.linalg.lstsq(own, -open_by, rcond=None)[0]
                first += leg.port
            kept = posture.pose
            posture = self.placed(self.moved(posture, step).configuration, kept)
            if np.max(np.abs(step), initial=0.0) < 1e-15:
                break
        return posture


def rank(rows: Array) -> int:
    """How many singular values are above 1e-6 of the largest."""
    if not len(rows):
        return 0
    sizes = np.linalg.svd(rows, compute_uv=False)
    return int(np.sum(sizes > ZERO * sizes[0]))


def mobility_directions(robot: Robot, home: pin.SE3 | None) -> Array:
    """Nᵀ (rows, 6) on (v, ω), world axes: what the robot file takes from the platform."""
    name = robot.get("platform", {}).get("mobility")
    if name is None:
        return np.zeros((0, 6))
    if home is None:
        raise ValueError("mobility needs home")
    x, y, z = home.rotation.T
    nothing = np.zeros(3)
    about_xy = [np.concatenate([nothing, x]), np.concatenate([nothing, y])]
    return {
        "translation": np.hstack([np.zeros((3, 3)), np.eye(3)]),
        "rotation": np.hstack([np.eye(3), np.zeros((3, 3))]),
        "planar": np.array([np.concatenate([z, nothing]), *about_xy]),
        "schoenflies": np.array(about_xy),
    }[name]


WEIGHTS = 2 * zeta(2 * np.arange(1, 40)) / (2 * np.pi) ** (2 * np.arange(1, 40))


def rotation_vector_rates(phi: Array) -> Array:
    """A with φ̇ = A ω, world axes: I − [φ]/2 + c [φ]², c = Σ 2 ζ(2k)/(2π)^{2k} ‖φ‖^{2k−2}."""
    k = np.arange(len(WEIGHTS))
    c = float(np.sum(WEIGHTS * (phi @ phi) ** k))
    hat = pin.skew(phi)
    return np.eye(3) - hat / 2 + c * hat @ hat


def rotation_vector_drift(phi: Array, omega: Array) -> Array:
    """Ȧ ω, so that φ̈ = A ω̇ + Ȧ ω."""
    phi_dot = rotation_vector_rates(phi) @ omega
    k = np.arange(len(WEIGHTS))
    square = phi @ phi
    c = float(np.sum(WEIGHTS * square**k))
    slope = float(np.sum(WEIGHTS[1:] * k[1:] * square ** (k[1:] - 1)))
    hat, rate = pin.skew(phi), pin.skew(phi_dot)
    change = -rate / 2 + c * (rate @ hat + hat @ rate) + 2 * (phi @ phi_dot) * slope * hat @ hat
    return change @ omega
