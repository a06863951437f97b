"""What the equation sees of a platform: one protocol for rigid and flexible ones.

Of a flexible platform's modes the legs feel their motion at the tips only, at most three numbers per
leg: the visible coordinates y1 (`gough.mechanics.platforms.flexible`). A rigid platform is the case in
which there are none. The platform writes its equation in axes of its own choice, so that little has to
be turned: a rigid one in the world's, a flexible one in those of its frame.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from gough.mechanics.body import Body
from gough.mechanics.state import State
from gough.mechanics.vectors import Components, cross, matrix


class Tips(NamedTuple):
    """The legs' tips P_i, world axes but for the arm."""

    arm: Components
    """r_i from the platform frame's origin, on the axes of the platform's equation, m."""
    position: Components
    velocity: Components
    bias: Components
    """c_i: the acceleration of the tip that is there without ξ̇, m/s²."""
    angular_velocity: Components
    """ω of the platform there, rad/s."""


class Terms(NamedTuple):
    """The platform's equation with the modes that no leg feels eliminated, on its own axes.

    mass x + mixed y1 + bias = wrench of the legs,  mixedᵀ x + y1 + visible_bias = Fᵀ f.
    """

    mass: Components
    """(6, 6, samples)."""
    mixed: Components
    """(6, visible, samples)."""
    bias: Components
    """(6, samples), what acts on the platform from outside deducted."""
    visible_bias: Components
    """(visible, samples)."""


class MovingPlatform(Protocol):
    """A platform in a state."""

    @property
    def state(self) -> State:
        """The state it is in."""

    @property
    def tips(self) -> Tips:
        """The legs' tips."""

    @property
    def visible(self) -> Components:
        """F (3, legs, visible, 1): acceleration of the tips with the visible coordinates, own axes."""

    def own(self, vector: Components) -> Components:
        """World vectors (3, n, samples) or wrenches (6, n or none, samples) on the equation's axes."""

    def world(self, vector: Components) -> Components:
        """The other way."""

    def own_tensor(self, tensor: Components) -> Components:
        """Symmetric world tensors (3, 3, legs, samples) on the axes of the platform's equation."""

    def elastic_at_tips(self) -> Components | None:
        """Φ_i q̈ of the state's own q̈ on own axes, (3, legs, samples); None of a rigid platform."""

    def tip_acceleration(self, elastic: Components | None = None) -> Components:
        """v̇_i, world axes; `elastic` is Φ_i q̈ on own axes, (3, legs, samples)."""

    def demand(self, wrench: Components, couples: Components) -> Components:
        """M x + b less what acts from outside, (6, samples) on own axes, for the state's own x.

        `wrench` (6, samples) acts at the frame's origin, `couples` (3, legs, samples) at the tips,
        against the platform; both in world axes.
        """

    def inertial(self) -> tuple[Components, Components]:
        """M ξ̇ + b of the platform alone: (6, samples) on own axes, and (modes, samples)."""

    def outside(self, wrench: Components, couples: Components) -> tuple[Components, Components]:
        """Wrench (6, samples), own axes, and modal force (modes, samples) of what acts from outside."""

    def terms(self, wrench: Components, couples: Components) -> Terms:
        """The equation under a wrench and under couples at the tips, as in `demand`."""

    def eliminated(self, pushed: Components, modal: Components) -> tuple[Components, Components]:
        """Of a bias (6, samples) and (modes, samples) what is left without the modes no leg feels.

        (6, samples), and (visible, samples) of the visible coordinates; own axes.
        """

    def springs(self) -> tuple[Components, Components]:
        """K q and D q̇, (modes, samples)."""

    def bias(self) -> tuple[Components, Components]:
        """b of the platform alone: (6, samples) on own axes, and (modes, samples)."""

    def modal_work(self, force: Components) -> Components:
        """Σ Φ_iᵀ f_i (modes, samples) of forces at the tips, own axes."""

    def mass(self) -> tuple[Components, Components]:
        """M_rr (6, 6, samples) and M_re (6, modes, samples) of the platform alone, own axes."""

    def world_rows(self, w: Components, holders: tuple[int, ...]) -> Components:
        """Rows (w_i, r_i×w_i) of q̇ = J (v, ω) as (6, actuators, samples), world axes."""

    def along_modes(self, direction: Components, holders: tuple[int, ...]) -> Components:
        """Φ_iᵀ w_i (actuators, modes, samples) of directions at the tips, own axes."""

    def carried(self, inertia: Components) -> Components:
        """Σ W_i A_i Φ_i (6, modes, samples) of the legs' inertia (3, 3, legs, samples), own axes."""

    def elastic_acceleration(
        self, x: Components, force: Components, wrench: Components, couples: Components
    ) -> Components:
        """q̈ (modes, samples) for x = (v̇, ω̇) (6, samples) and forces at the tips, both on own axes."""

    def modal_power(self, wrench: Components) -> Components:
        """φ·q̇ of a wrench (6, samples), world axes, W."""

    def damping_power(self) -> Components:
        """q̇ᵀ D q̇, W."""

    def energy(self, gravity: Components) -> tuple[Components, Components]:
        """Kinetic and potential energy, J, (samples,)."""


class Platform(Protocol):
    """The numbers of a platform."""

    @property
    def body(self) -> Body:
        """Mass, first moment and inertia about the frame's origin, undeformed."""

    @property
    def mode_count(self) -> int:
        """Number of modes; 0 if it is rigid."""

    def shapes_alone(self) -> Platform:
        """The platform without its undeformed body, stiffness and damping."""

    def whole_mass(
        self, mass_matrix: Components, mixed: Components, carried: Components
    ) -> Components:
        """M (n, 6 + modes, 6 + modes) from the outputs of `programs.mass_matrix`, samples in front."""

    def arms(self, points: Components, state: State) -> Components:
        """The tips from the frame's origin, (3, legs, samples), world axes."""

    def moving(self, points: Components, gravity: Components, state: State) -> MovingPlatform:
        """The platform in a state; `points` (3, legs, 1) are the tips' places on it."""


def jacobian_rows(tips: Tips, w: Components, holders: tuple[int, ...] | None = None) -> Components:
    """Rows (w_i, r_i×w_i + m_i) of q̇ = J ξ as (6, actuators, samples): Khalil & Guegan 2004, Eq. 13.

    w is (3, actuators, samples), or with moments m about the port's point (6, actuators, samples);
    `holders` are the legs that they belong to, by default one each.
    """
    arm = tips.arm
    if holders is not None and holders != tuple(range(arm.shape[1])):
        arm = arm[:, list(holders)]
    turning = cross(arm, w[:3])
    if len(w) == 6:
        turning = turning + w[3:]
    return np.concatenate(np.broadcast_arrays(w[:3], turning))


def gather(tips: Tips, force: Components) -> Components:
    """Σ W_i f_i (6, samples): forces at ports (3 or 6, legs, samples) as one wrench at the origin."""
    total: Components = jacobian_rows(tips, force).sum(axis=1)
    return total


def leg_mass_matrix(tips: Tips, inertia: Components) -> Components:
    """Σ W_i A_i W_iᵀ = Σ [A, −A r̂; r̂ A, −r̂ A r̂] (6, 6, samples).

    Khalil & Guegan 2004, Eq. 38, signs corrected. Of body ports A = [A, Gᵀ; G, B], which adds
    [0, Gᵀ; G, B + r̂ Gᵀ − G r̂].
    """
    linear = inertia[:3, :3]
    mixed = np.stack([cross(tips.arm, column) for column in np.swapaxes(linear, 0, 1)], axis=1)
    angular = np.stack([cross(tips.arm, row) for row in mixed])
    if len(inertia) == 6:
        coupled = inertia[3:, :3]
        bent = np.stack([cross(tips.arm, row) for row in coupled])  # −G r̂
        angular = angular + inertia[3:, 3:] + bent + np.swapaxes(bent, 0, 1)
        mixed = mixed + coupled
    total: Components = blocks(linear, mixed, angular).sum(axis=2)
    return total


def at_ports(inertia: Components, vector: Components) -> Components:
    """A v (3 or 6, legs, samples) of the legs' inertia; of a body port without a vector's turning."""
    total: Components = (inertia[:, : len(vector)] * vector).sum(axis=1)
    return total


def couple_wrench(couples: Components) -> Components:
    """Sum of couples (3, legs, samples) as a wrench (6, samples)."""
    total = couples.sum(axis=1)
    return np.concatenate([0 * total, total])


def blocks(linear: Components, mixed: Components, angular: Components) -> Components:
    """The symmetric [A, Gᵀ; G, B] (6, 6, ...); below its diagonal is all that is read."""
    left, right = [*linear, *mixed], [*np.swapaxes(mixed, 0, 1), *angular]
    lower = [[*a, *b] for a, b in zip(left, right, strict=True)]
    return matrix([[lower[max(i, j)][min(i, j)] for j in range(6)] for i in range(6)])
