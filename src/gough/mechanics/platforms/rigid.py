"""Rigid platform: velocity coordinates ξ = (v, ω) of its frame, in world axes.

Component-first arrays: (3, 1, samples) for the platform, (3, legs, samples) for the tips.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gough.mechanics.body import Body, force, spinning, turning_moment
from gough.mechanics.platforms.platform import Terms, Tips, blocks, couple_wrench, jacobian_rows
from gough.mechanics.state import NO_MODES, State
from gough.mechanics.vectors import (
    Components,
    cross,
    dot,
    matrix,
    matvec,
    symmetric,
    transposed_matvec,
)


@dataclass(frozen=True)
class RigidPlatform:
    """A body."""

    body: Body

    @property
    def mode_count(self) -> int:
        """None."""
        return 0

    def shapes_alone(self) -> RigidPlatform:
        """Nothing."""
        return RigidPlatform(Body(*(0 * part for part in self.body)))

    def whole_mass(
        self, mass_matrix: Components, mixed: Components, carried: Components
    ) -> Components:
        """M as it is."""
        return mass_matrix

    def arms(self, points: Components, state: State) -> Components:
        """R P_i."""
        return matvec(state.rotation, points)

    def moving(self, points: Components, gravity: Components, state: State) -> MovingRigidPlatform:
        """The platform in a state."""
        return MovingRigidPlatform(self.body, gravity, state, tips(points, state))


@dataclass(frozen=True)
class MovingRigidPlatform:
    """A rigid platform in a state; its own axes are the world's."""

    body: Body
    gravity: Components
    state: State
    tips: Tips

    @property
    def visible(self) -> Components:
        """None."""
        return np.zeros((3, self.tips.arm.shape[1], 0, 1))

    def own(self, vector: Components) -> Components:
        """World axes they are."""
        return vector

    def world(self, vector: Components) -> Components:
        """World axes they are."""
        return vector

    def own_tensor(self, tensor: Components) -> Components:
        """World axes they are."""
        return tensor

    def elastic_at_tips(self) -> Components | None:
        """None."""
        return None

    def tip_acceleration(self, elastic: Components | None = None) -> Components:
        """v̇_i = v̇ + ω̇×r_i + c_i = v̇ + U r_i with the platform's acceleration field U."""
        spin = spinning(self.tips.angular_velocity, self.state.angular_acceleration)
        result: Components = self.state.acceleration + matvec(spin.field, self.tips.arm)
        return result

    def demand(self, wrench: Components, couples: Components) -> Components:
        """M ξ̇ + b less wrench and couples, (6, samples)."""
        total: Components = self.inertial()[0] - wrench + couple_wrench(couples)
        return total

    def outside(self, wrench: Components, couples: Components) -> tuple[Components, Components]:
        """The wrench less the couples; no modes."""
        return wrench - couple_wrench(couples), NO_MODES

    def inertial(self) -> tuple[Components, Components]:
        """M ξ̇ + b (6, samples); no modes.

        Khalil & Guegan 2004, Eq. 24; I ω̇ + ω×(I ω) on the platform's axes, the rest on the world's.
        """
        body, state, rotation = self.body, self.state, self.state.rotation
        felt = state.acceleration - self.gravity
        first_moment = matvec(rotation, body.first_moment)
        spin = spinning(state.angular_velocity, state.angular_acceleration)
        pushed = force(body.mass, first_moment, spin, felt)
        turning = turning_moment(
            body.inertia,
            transposed_matvec(rotation, state.angular_velocity),
            transposed_matvec(rotation, state.angular_acceleration),
        )
        turned = matvec(rotation, turning) + cross(first_moment, felt)
        return np.concatenate(np.broadcast_arrays(pushed, turned))[:, 0], NO_MODES

    def terms(self, wrench: Components, couples: Components) -> Terms:
        """M and b about the frame's origin (Khalil & Guegan 2004, Eqs. 29 and 37, corrected)."""
        mass, mixed = self.mass()
        bias, nothing = self.bias()
        return Terms(mass, mixed, bias - wrench + couple_wrench(couples), nothing)

    def eliminated(self, pushed: Components, modal: Components) -> tuple[Components, Components]:
        """All of it; no modes."""
        return pushed, NO_MODES

    def springs(self) -> tuple[Components, Components]:
        """None."""
        return NO_MODES, NO_MODES

    def bias(self) -> tuple[Components, Components]:
        """b (6, samples): ω×(ω×S) − M g and ω×(I ω) − S×g; no modes."""
        here, omega = in_world(self.body, self.state.rotation), self.state.angular_velocity
        pushed = cross(omega, cross(omega, here.first_moment)) - here.mass * self.gravity
        turned = cross(omega, matvec(here.inertia, omega)) - cross(here.first_moment, self.gravity)
        return np.concatenate(np.broadcast_arrays(pushed, turned))[:, 0], NO_MODES

    def mass(self) -> tuple[Components, Components]:
        """M (6, 6, samples); no modes."""
        return on_own_axes(in_world(self.body, self.state.rotation)), np.zeros((6, 0, 1))

    def world_rows(self, w: Components, holders: tuple[int, ...]) -> Components:
        """Rows of q̇ = J (v, ω), world axes."""
        return jacobian_rows(self.tips, w, holders)

    def along_modes(self, direction: Components, holders: tuple[int, ...]) -> Components:
        """None."""
        return np.zeros((direction.shape[1], 0, 1))

    def carried(self, inertia: Components) -> Components:
        """None."""
        return np.zeros((6, 0, 1))

    def modal_work(self, force: Components) -> Components:
        """None."""
        return NO_MODES

    def elastic_acceleration(
        self, x: Components, force: Components, wrench: Components, couples: Components
    ) -> Components:
        """None."""
        return NO_MODES

    def modal_power(self, wrench: Components) -> Components:
        """None."""
        return np.zeros(1)

    def damping_power(self) -> Components:
        """None."""
        return np.zeros(1)

    def energy(self, gravity: Components) -> tuple[Components, Components]:
        """½ M v² + v·(ω×S) + ½ ω·I ω and −g·(M p + S), J, (samples,)."""
        state = self.state
        here, v, omega = in_world(self.body, state.rotation), state.velocity, state.angular_velocity
        kinetic = (
            here.mass * dot(v, v) / 2
            + dot(v, cross(omega, here.first_moment))
            + dot(omega, matvec(here.inertia, omega)) / 2
        )
        moment = here.mass * state.position + here.first_moment
        return kinetic[0], -dot(gravity, moment)[0]


def tips(points: Components, state: State) -> Tips:
    """Motion of the tips: P_i = p + r_i, v_i = v + ω×r_i, c_i = ω×(ω×r_i).

    Khalil & Guegan 2004, Eqs. 5–7.
    """
    arm = matvec(state.rotation, points)
    omega = state.angular_velocity
    turning = cross(omega, arm)
    bias = cross(omega, turning)
    return Tips(arm, state.position + arm, state.velocity + turning, bias, omega)


def in_world(body: Body, rotation: Components) -> Body:
    """The platform on world axes: R S and R I Rᵀ (Khalil & Guegan 2004, Eqs. 25 and 28).

    I = xx 1 + y⊗u + u⊗y + z⊗t + t⊗z, u = (xy, ½ (yy − xx), yz), t = (xz, 0, ½ (zz − xx)).
    """
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
    u = matvec(rotation, np.stack([xy, 0.5 * (yy - xx), yz]))
    t = matvec(rotation, np.stack([xz, 0 * xz, 0.5 * (zz - xx)]))
    inertia = symmetric(xx, (rotation[:, 1], u), (rotation[:, 2], t))
    return Body(body.mass, matvec(rotation, body.first_moment), inertia)


def on_own_axes(body: Body) -> Components:
    """M (6, 6, samples) = [M 1, −M̂S; M̂S, I] of a body on the axes its tensors are given on."""
    x, y, z = body.first_moment
    zero = 0 * x
    mass = matrix([[one * body.mass + zero for one in row] for row in np.eye(3)])
    arm = matrix([[zero, -z, y], [z, zero, -x], [-y, x, zero]])
    return blocks(mass, arm, body.inertia)[:, :, 0]
