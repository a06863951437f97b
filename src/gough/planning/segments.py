"""Pieces of a path by their length σ, with exact derivatives: straight moves, arcs, splines, blends.

A piece moves a pivot point b of the platform (platform frame) along a curve c(σ) while the platform
turns, R = exp(θ(σ)×) R₀; its origin is at p = c − R b. With ω = R′Rᵀ and arm r = R b

    p′ = c′ − ω × r,    p″ = c″ − ω′ × r − ω × (ω × r)

σ is √(‖dc‖² + (L dθ)²), so pieces follow each other at the same pace.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.base.pose_spline import PoseSpline
from gough.base.rotations import exponential
from gough.motion import Motion
from gough.trajectories import State

MISSED = 3 / 8
"""How far a blend misses its corner at most, in lengths of each piece that it takes."""


class Segment(ABC):
    """A piece of a path from σ = 0 to `length`."""

    length: float

    @abstractmethod
    def state(self, sigma: Array) -> State:
        """Pose and rates by σ (n,), world axes."""

    def motion(self, sigma: Array) -> Motion:
        """The same as a motion."""
        return Motion(*self.state(sigma))

    def end(self) -> Motion:
        """The last pose, batch shape ()."""
        last = self.motion(np.array([self.length]))[0]
        return Motion(last.position, last.rotation)


def about_pivot(pivot: Array, curve: tuple[Array, Array, Array], turned: State) -> State:
    """The origin's state, of a pivot that moves as `curve` (c, c′, c″) and a rotation's state."""
    _, rotation, _, omega, _, alpha = turned
    arm = rotation @ pivot
    position, velocity, acceleration = curve
    swung = np.cross(omega, arm)
    return (
        position - arm,
        rotation,
        velocity - swung,
        omega,
        acceleration - np.cross(alpha, arm) - np.cross(omega, swung),
        alpha,
    )


def _turning(start: Array, turn: Array, share: Array, length: float) -> State:
    """R = exp(turn σ/length) R₀ and its rates; positions are zeros."""
    none = np.zeros((len(share), 3))
    rotation = exponential(share[:, np.newaxis] * turn)[0] @ start
    return none, rotation, none, none + turn / length, none, none


@dataclass(frozen=True, eq=False)
class Straight(Segment):
    """The pivot goes straight by `shift` (m, world) while the platform turns by `turn` (rad, world)."""

    start: Motion
    shift: Array
    turn: Array
    pivot: Array
    length: float

    def state(self, sigma: Array) -> State:
        """Pose and rates by σ."""
        share = sigma / self.length
        first = self.start.position + self.start.rotation @ self.pivot
        place = first + share[:, np.newaxis] * self.shift
        still = np.zeros_like(place)
        turned = _turning(self.start.rotation, self.turn, share, self.length)
        return about_pivot(self.pivot, (place, still + self.shift / self.length, still), turned)


@dataclass(frozen=True, eq=False)
class Arc(Segment):
    """The pivot goes round `center` (m, world) by `angle` (rad) about `axis`, the platform turns."""

    start: Motion
    center: Array
    axis: Array
    angle: float
    turn: Array
    pivot: Array
    length: float

    def state(self, sigma: Array) -> State:
        """Pose and rates by σ."""
        share = sigma / self.length
        rate = self.angle / self.length
        spoke = self.start.position + self.start.rotation @ self.pivot - self.center
        swung = exponential((share * self.angle)[:, np.newaxis] * self.axis)[0] @ spoke
        along = rate * np.cross(self.axis, swung)
        curve = self.center + swung, along, rate * np.cross(self.axis, along)
        turned = _turning(self.start.rotation, self.turn, share, self.length)
        return about_pivot(self.pivot, curve, turned)


@dataclass(frozen=True, eq=False)
class Curve(Segment):
    """Smoothly through poses, at lengths that are those of the straight moves between them."""

    spline: PoseSpline
    length: float

    def state(self, sigma: Array) -> State:
        """Pose and rates by σ."""
        return self.spline(sigma)


@dataclass(frozen=True, eq=False)
class Cut(Segment):
    """A piece without something of its ends."""

    whole: Segment
    begin: float
    length: float

    def state(self, sigma: Array) -> State:
        """Pose and rates by σ."""
        return self.whole.state(self.begin + sigma)


@dataclass(frozen=True, eq=False)
class Blend(Segment):
    """From one piece into the next past their common corner, both moving at once.

    The last δ of one piece and the first δ of the next overlap: with τ = σ/2δ, f(τ) = 2δ (τ³ − τ⁴/2),

        p = p₁(ℓ₁ − f(1 − τ)) + p₂(f(τ)) − p_corner,    R = R₂ R_cornerᵀ R₁

    which joins both with continuous second derivatives and misses the corner by 3/8 δ at most.
    """

    one: Segment
    two: Segment
    taken: float
    """δ, m."""

    @property
    def length(self) -> float:  # type: ignore[override]
        """2 δ."""
        return 2 * self.taken

    def state(self, sigma: Array) -> State:
        """Pose and rates by σ."""
        size, tau = 2 * self.taken, sigma / (2 * self.taken)
        ends = []
        for piece, share, sign in ((self.one, 1 - tau, -1.0), (self.two, tau, 1.0)):
            way = size * (share**3 - share**4 / 2)
            rate = 3 * share**2 - 2 * share**3  # by σ, to the corner counted backwards
            bend = sign * (6 * share - 6 * share**2) / size
            at = piece.length - way if sign < 0 else way
            ends.append(_chained(piece.state(at), rate, bend))
        corner = self.two.motion(np.zeros(1))[0]
        p1, R1, v1, w1, a1, b1 = ends[0]
        p2, R2, v2, w2, a2, b2 = ends[1]
        carried = R2 @ corner.rotation.T
        w1, b1 = (np.einsum("nij,nj->ni", carried, one) for one in (w1, b1))
        omega_dot = b2 + b1 + np.cross(w2, w1)
        return p1 + p2 - corner.position, carried @ R1, v1 + v2, w1 + w2, a1 + a2, omega_dot


def _chained(state: State, rate: Array, bend: Array) -> State:
    """A state by another parameter, of which its own has the rate (n,) and second derivative (n,)."""
    p, R, v, w, a, b = state
    first, second = rate[:, np.newaxis], bend[:, np.newaxis]
    return p, R, v * first, w * first, a * first**2 + v * second, b * first**2 + w * second


def length_of_move(shift: Array, turn: Array, scale: float) -> Array:
    """√(‖shift‖² + (L ‖turn‖)²) of shifts and turns (..., 3), m."""
    sizes = (np.linalg.norm(one, axis=-1) for one in (shift, scale * turn))
    return np.asarray(np.hypot(*sizes))


def turn_between(start: Array, end: Array) -> Array:
    """The shortest turn (..., 3) from one rotation to another, world axes."""
    return np.asarray(Rotation.from_matrix(end @ np.swapaxes(start, -1, -2)).as_rotvec())
