"""Limits along a stretch as conditions on its speed and acceleration.

Forces are linear in u = σ̈ and x = σ̇² but for friction, which is not (√x where it is viscous, and what
depends on loads); power is Γ q̇. So are the conditions, about a profile (u, x) that is known from the
pass before:

    force             ±Γ/limit ≤ 1,    Γ = Γ_u u + Γ_x x + Γ_0 + friction, the last linearised
    power             ±Γ q′/limit ≤ 1/√x, the right side by its tangent, which lies below it
    platform          ‖d(v)/dt‖ ≤ limit, by tangents of that circle: eight and the one of the pass before
    speeds            x ≤ the least (limit/rate by σ)²
"""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.planning.course import Bead, Stretch
from gough.planning.demands import Demands
from gough.planning.reachability import Rows

WITHIN = (1e-5, 1 - 1e-5)
"""Where a cell is looked at for conditions at its ends, as shares of it: not at knots themselves, where
friction may turn round. Conditions are on x at the knots, and nowhere between: where they limit x alone
and could be met by a steep u instead, fastest profiles would zigzag from knot to knot."""
STEP = 1e-2
"""Relative step of differences that give the slopes of friction."""
SLOW = 1e-6
"""Share of the largest x below which conditions are not linearised: √x is upright at 0."""
CORNERS = 8

Triple = tuple[Array, Array, Array]


class Conditions:
    """Rows of a stretch with knots s (cells + 1,)."""

    def __init__(self, demands: Demands, stretch: Stretch, s: Array) -> None:
        self.demands, self.stretch = demands, stretch
        self.s, self.sigma = s, stretch.along(s)
        cells, many = len(s) - 1, len(WITHIN)
        at = s[:-1, np.newaxis] + np.diff(s)[:, np.newaxis] * WITHIN
        self.bead = Bead.of(stretch, at.ravel())
        self.ahead = np.stack([np.zeros(cells), np.diff(self.sigma)], axis=1)
        """σ of each point from its cell's beginning (cells, points), m."""
        self.shape = (cells, many)
        one, none = np.ones(cells * many), np.zeros(cells * many)
        robot = demands.robot
        self.drift = self.bead.moving(robot, one, none)
        """The motion at σ̇ = 1, σ̈ = 0."""
        self.speeds = demands.speed_shares(self.drift)
        self.dynamic = bool(demands.strong.size or demands.powerful.size)
        if self.dynamic:
            self.rates = robot.inverse_kinematics(self.drift).qd
            rest = self._forces(none, none, False)
            self.linear = (
                self._forces(none, one, False) - rest,
                self._forces(one, none, False) - rest,
                rest,
            )
            """Γ_u, Γ_x, Γ_0."""
            self.jumps = self._jumps() if demands.friction else None
        push = self.bead.moving(robot, none, one)
        self.pushed = demands.accelerations(push), demands.accelerations(self.drift)
        self.owner = self._owners()

    def profile(self, x: Array, u: Array) -> tuple[Array, Array]:
        """x and u (points,) where conditions are set, of a profile x (cells + 1,), u (cells,)."""
        at = (x[:-1, np.newaxis] + 2 * self.ahead * u[:, np.newaxis]).ravel()
        return np.maximum(at, 1e-12 * max(float(x.max()), 1e-12)), np.repeat(u, self.shape[1])

    def shares(self, x: Array, u: Array) -> Array:
        """(cells, points, bounds) of a profile, where conditions are set."""
        at, push = self.profile(x, u)
        motion = self.bead.moving(self.demands.robot, np.sqrt(at), push)
        return self.demands.shares(motion).reshape(*self.shape, -1)

    def _forces(self, x: Array, u: Array, friction: bool) -> Array:
        motion = self.bead.moving(self.demands.robot, np.sqrt(x), u)
        return self.demands.robot.inverse_dynamics(motion, self.demands.wrench, friction).forces

    def _jumps(self) -> Array:
        """By how much forces jump (2, points, actuators) at either end of a point's cell, up and down.

        Where an actuator turns round, Coulomb friction changes its sign, and nothing that moves can
        change its acceleration at the same instant. Forces before such a knot are within limits with
        the friction behind it too, and the other way round.
        """
        x = np.full(len(self.bead.w), SLOW) / np.maximum(np.max(self.rates**2, axis=1), 1e-12)
        dry = self._forces(x, 0 * x, True) - self._forces(x, 0 * x, False)
        dry = dry.reshape(*self.shape, -1)
        rates = self.rates.reshape(*self.shape, -1)
        turns = rates[:-1, 1] * rates[1:, 0] < 0
        rise = np.where(turns, dry[1:, 0] - dry[:-1, 1], 0.0)
        none = np.zeros_like(dry[:1, 0])
        behind, before = np.concatenate([rise, none]), np.concatenate([none, -rise])
        up = np.maximum(np.maximum(behind, before), 0.0)
        down = np.maximum(np.maximum(-behind, -before), 0.0)
        return np.repeat(np.stack([up, down]), self.shape[1], axis=1)

    @property
    def turning(self) -> Array:
        """Cells (cells,) at an end of which an actuator turns round."""
        if not self.dynamic or self.jumps is None:
            return np.zeros(self.shape[0], dtype=bool)
        return np.asarray(self.jumps.reshape(2, *self.shape, -1).any(axis=(0, 2, 3)))

    def _owners(self) -> Array:
        """Which of the bounds each row is of, (cells, rows)."""
        demands, points = self.demands, len(self.bead.w)
        found = []
        if demands.speeds:
            found.append(np.argmax(self.speeds, axis=1)[:, np.newaxis])
        many = np.ones((points, 1), dtype=int)
        first = demands.speeds
        for count, copies in (
            (demands.strong.size, 2),
            (demands.powerful.size, 2),
            (len(demands.second), CORNERS + 1),
        ):
            own = np.arange(first, first + count)
            found.append(many * (np.tile(own, 2) if copies == 2 else np.repeat(own, copies)))
            first += count
        return self._by_cell(np.concatenate(found, axis=1))

    def _by_cell(self, values: Array) -> Array:
        """(points, k) as (cells, points of a cell · k)."""
        return values.reshape(self.shape[0], -1)

    def rows(self, x: Array, u: Array, tighter: Array) -> Rows:
        """Conditions about a profile x (cells + 1,), u (cells,).

        `tighter` (cells, bounds) is taken from what is allowed.
        """
        if self.demands.speeds:  # of which only the one that allows least has a row
            tighter = tighter.copy()
            own = tighter[:, : self.demands.speeds]
            most = own.max(axis=1, keepdims=True)
            own[:] = most * (2 - most)  # rows of speeds are squares of shares
        x_at, u_at = self.profile(x, u)
        x_at = np.maximum(x_at, SLOW * float(x_at.max()))
        parts: list[Triple] = []
        if self.demands.speeds:
            most = np.max(self.speeds**2, axis=1, keepdims=True)
            parts.append((np.zeros_like(most), most, np.zeros_like(most)))
        if self.dynamic:
            parts += self._loads(x_at, u_at)
        for push, drift in zip(*self.pushed, strict=True):
            parts.append(self._circle(push, drift, x_at, u_at))
        gu, gx, g0 = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
        ahead = self.ahead.reshape(-1, 1)
        a, b, c = (self._by_cell(one) for one in (gu + 2 * ahead * gx, gx, g0))
        return Rows(a, b, c + np.take_along_axis(tighter, self.owner, axis=1))

    def _loads(self, x: Array, u: Array) -> list[Triple]:
        """Rows of forces and powers: slopes by u and x, and the rest."""
        demands, along, speed = self.demands, u[:, np.newaxis], x[:, np.newaxis]
        smooth = self._load_rows(self.linear, speed)
        if not demands.friction:
            return smooth
        push, drift, rest = self.linear
        linear = push * along + drift * speed + rest
        rubbing = self._forces(x, u, True) - linear
        dx, du = STEP * x, STEP * np.maximum(np.abs(u), np.abs(u).mean() + 1e-12)
        by_x = self._forces(x + dx, u, True) - linear - drift * dx[:, np.newaxis] - rubbing
        by_u = self._forces(x, u + du, True) - linear - push * du[:, np.newaxis] - rubbing
        by_x, by_u = by_x / dx[:, np.newaxis], by_u / du[:, np.newaxis]
        rest = rest + rubbing - by_u * along - by_x * speed
        found = self._load_rows((push + by_u, drift + by_x, rest), speed)
        for rough, even in zip(found, smooth, strict=True):  # at the very ends it stands, without
            for end in (0, -1):
                at = (u[end], x[end], 1.0)
                more = [(b - a)[end] * one for a, b, one in zip(rough, even, at, strict=True)]
                worse = np.sum(more, axis=0) > 0
                for a, b in zip(rough, even, strict=True):
                    a[end] = np.where(worse, b[end], a[end])
        if demands.strong.size and self.jumps is not None:
            allowed = demands.limits.force[demands.strong]
            up, down = (one[:, demands.strong] / allowed for one in self.jumps)
            gu, gx, g0 = found[0]
            found[0] = gu, gx, g0 + np.concatenate([up, down], axis=1)
        return found

    def _load_rows(self, load: Triple, speed: Array) -> list[Triple]:
        """Rows of forces Γ_u u + Γ_x x + Γ_0, and of their powers about x (points, 1)."""
        demands = self.demands
        found = []
        which, limit = demands.strong, demands.limits.force[demands.strong]
        if which.size:
            own = [part[:, which] / limit for part in load]
            found.append(_both(*own))
        which, limit = demands.powerful, demands.limits.power[demands.powerful]
        if which.size:
            factor = np.sqrt(speed) * self.rates[:, which] / limit
            own = [part[:, which] * factor for part in load]
            gu, gx, g0 = _both(*own)
            # √x₀/√x ≥ 1 − (x − x₀)/(2 x₀)
            found.append((gu, gx + 0.5 / speed, g0 - 0.5))
        return found

    def _circle(self, push: Array, drift: Array, x: Array, u: Array) -> Triple:
        """Tangents of ‖push u + drift x‖ ≤ 1 (points, corners + 1)."""
        now = push * u[:, np.newaxis] + drift * x[:, np.newaxis]
        first = _unit(push)
        second = drift - np.sum(drift * first, axis=1, keepdims=True) * first
        second = _unit(second)
        angles = 2 * np.pi * np.arange(CORNERS) / CORNERS
        normals = [np.cos(angle) * first + np.sin(angle) * second for angle in angles]
        normals.append(_unit(now))
        gu, gx = (
            np.stack([np.sum(one * normal, axis=1) for normal in normals], axis=1)
            for one in (push, drift)
        )
        return gu, gx, np.zeros_like(gu)


def _both(gu: Array, gx: Array, g0: Array) -> Triple:
    """Upper and lower limit."""
    pair = [np.concatenate([one, -one], axis=1) for one in (gu, gx, g0)]
    return pair[0], pair[1], pair[2]


def _unit(vectors: Array) -> Array:
    size = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(size > 0, size, 1.0))
