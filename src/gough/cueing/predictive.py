"""Cueing by optimisation: within the legs' limits, what is felt as near to the vehicle as can be.

The platform's own coordinates u (displacements from home) have constant third derivatives j between
knots. About home, with twists (V, W) per rate of each coordinate, the head feels

    f = V ü + (W u) × g,      ω = W u̇

and the filters of `gough.cueing.vestibular` follow exactly. Over a window that looks ahead

    min Σ ‖(sensed − sensed in the vehicle)/thresholds‖² + small multiples of ‖u/L‖² and ‖j‖²

subject to, at every knot and for every actuator, with slopes Q = ∂q/∂u, D = ∂Γ/∂ü of the true model
along the last solution (real-time iteration: M. Diehl et al., SIAM J. Control Optim. 43, 2005),

    q̄ + Q (u − ū) within the stroke,   |Q u̇| ≤ speed,   |Γ̄ + D (ü − ǖ)| ≤ force,   all less a margin,

and at rest at the window's end, so that the next window can do at least as well. A quadratic program,
solved by Clarabel; the first part of each window is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag, expm

from gough.base.arrays import Array
from gough.cueing.limiting import Displacements, gravity_of, limited, own_home
from gough.cueing.vehicle import Vehicle
from gough.cueing.vestibular import CANALS, OTOLITHS, THRESHOLDS, sensed, state_space
from gough.errors import InputError, MissingDataError
from gough.legs.reading import Limits
from gough.model.model import Model

RETURN, SMOOTH = 1e-3, 1e-2
"""Weights of (u/L)² and of (j/(L s⁻³))² beside thresholds²."""
SLACK = 1e3
"""Weight of what exceeds a limit, in shares of it, beside the largest error² of standing still."""
TRUST = 0.2
"""How far a window may go from the trajectory it is linearised about: length scales and rad."""
FIRST = 4
"""Passes over the first window, which is linearised about home."""
MARGINS = (0.97, 0.93, 0.85)
"""Shares of the limits that are planned with, in turn, until the true model keeps them all."""


@dataclass(frozen=True)
class Predictive:
    """Optimised cueing."""

    preview: float = 20.0
    """How far it looks ahead, s."""
    kept: float = 2.0
    """How much of each window is kept, s."""
    knot: float = 0.2
    """Between changes of the third derivative, s."""

    def __post_init__(self) -> None:
        """Refuse windows that cannot be."""
        if not 0 < self.knot <= self.kept <= self.preview <= 1000 * self.knot:
            raise InputError(
                f"preview {self.preview} s, kept {self.kept} s, knot {self.knot} s: needs 0 < knot ≤ "
                "kept ≤ preview ≤ 1000 knots"
            )

    def cue(self, robot: Model, vehicle: Vehicle, limits: Limits) -> Displacements:
        """Displacements (n, m) at the vehicle's times that keep limits but for linearisation.

        Planned with ever larger margins until the true model keeps all limits.
        """
        found = None
        for margin in MARGINS:
            found = _Windows(self, robot, vehicle, limits, margin).solve()
            if limited(robot, found, limits)[1] == 1.0:
                break
        assert found is not None
        return found


class _Slopes(NamedTuple):
    """The true model along a trajectory (k knots): q (k, a), Q (k, a, m), Γ (k, a), D (k, a, m)."""

    q: Array
    Q: Array
    force: Array
    D: Array


class _Windows:
    """The record, window by window."""

    def __init__(
        self, asked: Predictive, robot: Model, vehicle: Vehicle, limits: Limits, margin: float
    ) -> None:
        self.asked, self.robot, self.vehicle = asked, robot, vehicle
        self.limits, self.margin = limits, margin
        self.count = max(round(asked.preview / asked.knot), 4)
        self.m = robot.mobility
        self.home = own_home(robot)
        turns = np.array([name.startswith("r") for name in robot.coordinates])
        self.scales = np.where(turns, 1.0, robot.length_scale)
        self.A, self.B, self.C = self._discrete()
        self.size = len(self.A)
        knots = np.arange(0.0, vehicle.duration + asked.knot, asked.knot)
        gravity = gravity_of(robot)
        wanted = sensed(vehicle.specific_force(gravity), vehicle.rates, vehicle.step)
        self.knots = knots
        self.wanted = np.stack([np.interp(knots, vehicle.time, one) for one in wanted.T], axis=1)
        largest = np.max(np.sum((self.wanted / THRESHOLDS) ** 2, axis=1), initial=0.0)
        self.weight = 1 / (1.0 + float(largest))
        self.solver = _solver()

    def _discrete(self) -> tuple[Array, Array, Array]:
        """x⁺ = A x + B j with x = (u, u̇, ü, organs), and what is sensed, C x, in thresholds."""
        m, robot = self.m, self.robot
        at_home = robot.motion(np.broadcast_to(self.home, (m, m)), np.eye(m), np.zeros((m, m)))
        V, W = at_home.velocity.T, at_home.angular_velocity.T
        fall = np.cross(W.T, gravity_of(robot)).T
        ears, canals = state_space(OTOLITHS), state_space(CANALS)
        n = 3 * m + 12
        A, B, C = np.zeros((n, n)), np.zeros((n, m)), np.zeros((6, n))
        u, ud, udd = (slice(i * m, (i + 1) * m) for i in range(3))
        A[u, ud], A[ud, udd], B[udd] = np.eye(m), np.eye(m), np.eye(m)
        f, w = slice(3 * m, 3 * m + 6), slice(3 * m + 6, n)
        A[f, f], A[w, w] = block_diag(*[ears.A] * 3), block_diag(*[canals.A] * 3)
        into_ears, into_canals = block_diag(*[ears.B] * 3), block_diag(*[canals.B] * 3)
        A[f, udd], A[f, u], A[w, ud] = into_ears @ V, into_ears @ fall, into_canals @ W
        C[:3, f], C[3:, w] = block_diag(*[ears.C] * 3), block_diag(*[canals.C] * 3)
        C[3:, ud] = canals.D[0, 0] * W
        C /= THRESHOLDS[:, np.newaxis]
        whole = np.zeros((n + m, n + m))
        whole[:n, :n], whole[:n, n:] = A, B
        step = expm(whole * self.asked.knot)
        return step[:n, :n], step[:n, n:], C

    def solve(self) -> Displacements:
        """All windows in turn."""
        keep = round(self.asked.kept / self.asked.knot)
        state = np.zeros(self.size)
        guess, jerks = np.zeros((self.count, self.size)), np.zeros((self.count, self.m))
        pieces: list[Array] = []
        states = [state[np.newaxis]]
        begin = 0
        while begin < len(self.knots) - 1:
            for _ in range(FIRST if begin == 0 else 1):
                guess, jerks = self._window(begin, state, guess, jerks)
            pieces.append(jerks[:keep])
            states.append(guess[:keep])
            state = guess[keep - 1]
            rest = np.repeat(guess[-1:], keep, axis=0)
            guess = np.concatenate([guess[keep:], rest])
            jerks = np.concatenate([jerks[keep:], np.zeros((keep, self.m))])
            begin += keep
        return self._sampled(np.concatenate(states), np.concatenate(pieces))

    def _window(self, begin: int, state: Array, guess: Array, jerks: Array) -> tuple[Array, Array]:
        """States (count, n) at the knots after `begin` and third derivatives (count, m).

        Those of the guess, which ends at rest, where no better ones are found.
        """
        N, n, m = self.count, self.size, self.m
        variables = N * n + N * m + N
        P, linear = self._cost(begin)
        ahead = sparse.kron(sparse.eye(N), sparse.eye(n)) - sparse.kron(
            sparse.eye(N, k=-1), sparse.csc_matrix(self.A)
        )
        moved = -sparse.kron(sparse.eye(N), sparse.csc_matrix(self.B))
        dynamics = sparse.hstack([ahead, moved, sparse.csc_matrix((N * n, N))])
        start = np.zeros(N * n)
        start[:n] = self.A @ state
        ends = sparse.csc_matrix(
            (np.ones(2 * m), (np.arange(2 * m), (N - 1) * n + m + np.arange(2 * m))),
            shape=(2 * m, variables),
        )
        rows, bounds = self._inequalities(guess)
        matrix = sparse.vstack([dynamics, ends, rows]).tocsc()
        matrix.eliminate_zeros()
        right = np.concatenate([start, np.zeros(2 * m), bounds])
        solver = self.solver
        cones = [solver.ZeroConeT(N * n + 2 * m), solver.NonnegativeConeT(len(bounds))]
        settings = solver.DefaultSettings()
        settings.verbose = False
        found = solver.DefaultSolver(P, linear, matrix, right, cones, settings).solve()
        if found.status not in (solver.SolverStatus.Solved, solver.SolverStatus.AlmostSolved):
            return guess, jerks
        z = np.asarray(found.x)
        return z[: N * n].reshape(N, n), z[N * n : N * (n + m)].reshape(N, m)

    def _cost(self, begin: int) -> tuple[Any, Array]:
        """P (upper triangle) and the linear part."""
        N, m = self.count, self.m
        inside = np.arange(begin + 1, begin + 1 + N)
        there = inside < len(self.knots)
        wanted = self.wanted[np.minimum(inside, len(self.knots) - 1)] / THRESHOLDS
        per, weight = 1 / self.scales, self.weight
        back = np.zeros((self.size, self.size))
        back[:m, :m] = np.diag(weight * RETURN * per**2)
        feel = weight * self.C.T @ self.C
        blocks = [feel * seen + back for seen in there]
        blocks += [sparse.diags(np.tile(weight * SMOOTH * per**2, N)), sparse.csc_matrix((N, N))]
        linear = np.concatenate(
            [
                -weight * (wanted * there[:, np.newaxis] @ self.C).ravel(),
                np.zeros(N * m),
                np.full(N, SLACK),
            ]
        )
        P = sparse.triu(sparse.block_diag(blocks, format="csc"), format="csc")
        P.eliminate_zeros()
        return P, linear

    def _inequalities(self, guess: Array) -> tuple[Any, Array]:
        """Rows and bounds: rows z ≤ bounds; shares of what each limit allows."""
        N, n, m = self.count, self.size, self.m
        u, ud, udd = guess[:, :m], guess[:, m : 2 * m], guess[:, 2 * m : 3 * m]
        slopes = self._slopes(u, ud, udd)
        limits = self.limits
        middle, half = (
            (limits.longest + limits.shortest) / 2,
            (limits.longest - limits.shortest) / 2,
        )
        stroke = slopes.Q / half[:, np.newaxis]
        stands = (slopes.q - middle) / half - np.einsum("kam,km->ka", stroke, u)
        speed = slopes.Q / limits.speed[:, np.newaxis]
        force = slopes.D / limits.force[:, np.newaxis]
        pushes = slopes.force / limits.force - np.einsum("kam,km->ka", force, udd)
        a = stroke.shape[1]
        near = 1 / (TRUST * self.scales)
        rows = np.zeros((N, 3 * a + m, n))
        rows[:, :a, :m], rows[:, a : 2 * a, m : 2 * m] = stroke, speed
        rows[:, 2 * a : 3 * a, 2 * m : 3 * m] = force
        rows[:, 3 * a :, :m] = np.diag(near)
        offset = np.concatenate([stands, np.zeros((N, a)), pushes, -near * u], axis=1)
        states = sparse.block_diag(list(rows), format="csc")
        still = sparse.csc_matrix((N * (3 * a + m), N * m))
        slack = -sparse.kron(sparse.eye(N), np.ones((3 * a + m, 1)))
        above = sparse.hstack([states, still, slack])
        below = sparse.hstack([-states, still, slack])
        positive = sparse.hstack([sparse.csc_matrix((N, N * (n + m))), -sparse.eye(N)])
        bounds = np.concatenate(
            [self.margin - offset.ravel(), self.margin + offset.ravel(), np.zeros(N)]
        )
        return sparse.vstack([above, below, positive]), bounds

    def _slopes(self, u: Array, ud: Array, udd: Array) -> _Slopes:
        """Where the legs are, what they push with, and slopes of both: rates are linear in u̇, Γ in ü."""
        robot, m = self.robot, self.m
        unit = np.broadcast_to(np.eye(m)[:, np.newaxis], (m, *u.shape))
        still = np.zeros_like(unit)
        place = np.broadcast_to(self.home + u, unit.shape)
        moving = robot.motion(place, unit, still)
        legs = robot.inverse_kinematics(moving)
        here = robot.motion(self.home + u, ud, udd)
        force = robot.inverse_dynamics(here).forces
        pushed = robot.motion(place, np.broadcast_to(ud, unit.shape), udd + unit)
        D = robot.inverse_dynamics(pushed).forces - force
        return _Slopes(legs.q[0], np.moveaxis(legs.qd, 0, -1), force, np.moveaxis(D, 0, -1))

    def _sampled(self, states: Array, jerks: Array) -> Displacements:
        """At the vehicle's times: cubics between knots."""
        m, t = self.m, self.vehicle.time
        piece = np.minimum((t / self.asked.knot).astype(int), len(jerks) - 1)
        s = (t - piece * self.asked.knot)[:, np.newaxis]
        u, ud, udd = (states[piece, i * m : (i + 1) * m] for i in range(3))
        j = jerks[piece]
        return Displacements(
            t,
            u + ud * s + udd * s**2 / 2 + j * s**3 / 6,
            ud + udd * s + j * s**2 / 2,
            udd + j * s,
        )


def _solver() -> Any:
    try:
        return import_module("clarabel")
    except ImportError:
        raise MissingDataError(
            "optimised cueing needs clarabel: pip install 'gough[cueing]'"
        ) from None
