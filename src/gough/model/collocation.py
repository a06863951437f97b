"""q̈ = f(t, q, q̇) over time by Gauss collocation, as one system: from the start, or from both ends.

In a step of length h from (q₀, q̇₀) the accelerations a_j at the Gauss points c_j are unknown, with

    q̇_j = q̇₀ + h Σ A_jl a_l,    q_j = q₀ + h c_j q̇₀ + h² Σ (A²)_jl a_l,    a_j = f(t_j, q_j, q̇_j)

Gauss points keep what grows growing and what decays decaying, in both directions of time. Newton's
method linearises all steps at once, x₁ = Φ x₀ + g of each; `sweep` then solves for all x together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from gough.base.arrays import Array

STAGES = 4
"""Gauss points in a step; the ends of steps are exact to the power 2 · STAGES of their length."""
CHUNK = 512
"""Steps whose equations are solved together."""


class Tableau(NamedTuple):
    """Gauss collocation on a step from 0 to 1."""

    nodes: Array
    """c (s,)."""
    rates: Array
    """A (s, s)."""
    weights: Array
    """b (s,)."""


def gauss(stages: int = STAGES) -> Tableau:
    """Points, and integrals of the polynomials that are 1 at one of them and 0 at the others."""
    roots, weights = np.polynomial.legendre.leggauss(stages)
    nodes = (roots + 1) / 2
    powers = np.arange(stages)
    integrals = nodes[:, np.newaxis] ** (powers + 1) / (powers + 1)
    rates = np.linalg.solve(np.vander(nodes, increasing=True).T, integrals.T).T
    return Tableau(nodes, rates, weights / 2)


TABLEAU = gauss()


def between_nodes(places: Array) -> Array:
    """(m, s): the polynomial through values at the Gauss points, at places 0 to 1 (m,)."""
    fit = np.linalg.inv(np.vander(TABLEAU.nodes, increasing=True))
    return np.asarray(np.vander(places, len(TABLEAU.nodes), increasing=True) @ fit)


class Conditions(NamedTuple):
    """C₀ x(start) = c₀ and C₁ x(end) = c₁ on x = (q, q̇), as many rows together as x has numbers."""

    start: Array
    start_value: Array
    end: Array
    end_value: Array


class Course(NamedTuple):
    """q and q̇ at the ends of steps, and the accelerations within them."""

    state: Array
    """x = (q, q̇), (steps + 1, 2 N)."""
    acceleration: Array
    """(steps, s, N)."""

    def stages(self, step: Array) -> tuple[Array, Array]:
        """q and q̇ at the Gauss points, (steps, s, N), of steps (steps,) long."""
        modes = self.state.shape[1] // 2
        q, v = self.state[:-1, np.newaxis, :modes], self.state[:-1, np.newaxis, modes:]
        h = step[:, np.newaxis, np.newaxis]
        c, A, _ = TABLEAU
        risen = np.einsum("jl,klm->kjm", A, self.acceleration)
        sunk = np.einsum("jl,klm->kjm", A @ A, self.acceleration)
        return q + h * c[:, np.newaxis] * v + h**2 * sunk, v + h * risen

    def ends(self, step: Array) -> Array:
        """x at the ends of the steps as the accelerations give it, (steps, 2 N)."""
        modes = self.state.shape[1] // 2
        q, v = self.state[:-1, :modes], self.state[:-1, modes:]
        h = step[:, np.newaxis]
        _, A, b = TABLEAU
        risen = np.einsum("l,klm->km", b, self.acceleration)
        sunk = np.einsum("l,klm->km", b @ A, self.acceleration)
        return np.concatenate([q + h * v + h**2 * sunk, v + h * risen], axis=1)


SlopesOf = Callable[[slice], tuple[Array, Array, Array]]
"""∂f/∂q, ∂f/∂q̇ and S at the Gauss points of some steps, (some, s, N, N) each; see `improve`."""


def improve(
    course: Course, step: Array, missing: Array, slopes: SlopesOf, conditions: Conditions
) -> Course:
    """A step of Newton's method.

    Where f is told by E(t, q, q̇, a) = a, S = 1 − ∂E/∂a, `missing` (steps, s, N) is E − a: S (f − a).
    """
    count, modes = len(step), missing.shape[-1]
    change = np.empty((count, 2 * modes, 2 * modes))
    offset = np.empty((count, 2 * modes))
    own = np.empty_like(course.acceleration)
    follow = np.empty((*own.shape, 2 * modes))
    for first in range(0, count, CHUNK):
        some = slice(first, first + CHUNK)
        solved = _within(step[some], missing[some], *slopes(some))
        own[some], follow[some] = solved[..., 0], solved[..., 1:]
    h = step[:, np.newaxis]
    _, A, b = TABLEAU
    gap = course.ends(step) - course.state[1:]
    offset[:, :modes] = h**2 * np.einsum("l,klm->km", b @ A, own) + gap[:, :modes]
    offset[:, modes:] = h * np.einsum("l,klm->km", b, own) + gap[:, modes:]
    h = h[..., np.newaxis]
    change[:, :modes] = h**2 * np.einsum("l,klmx->kmx", b @ A, follow)
    change[:, modes:] = h * np.einsum("l,klmx->kmx", b, follow)
    change += np.eye(2 * modes)
    change[:, :modes, modes:] += h * np.eye(modes)
    begun = conditions.start_value - conditions.start @ course.state[0]
    ended = conditions.end_value - conditions.end @ course.state[-1]
    moved = sweep(change, offset, conditions._replace(start_value=begun, end_value=ended))
    grown = own + np.einsum("klmx,kx->klm", follow, moved[:-1])
    return Course(course.state + moved, course.acceleration + grown)


def _within(step: Array, missing: Array, by_q: Array, by_rate: Array, share: Array) -> Array:
    """δa (steps, s, N, 1 + 2 N) of linearised steps: own part, and by the start's (δq, δq̇)."""
    count, stages, modes = missing.shape
    c, A, _ = TABLEAU
    h = step[:, np.newaxis, np.newaxis, np.newaxis]
    wide = h[..., np.newaxis]
    # rows (stage j, mode), columns (stage l, mode)
    felt = wide**2 * (A @ A)[:, np.newaxis, :, np.newaxis] * by_q[:, :, :, np.newaxis]
    felt = felt + wide * A[:, np.newaxis, :, np.newaxis] * by_rate[:, :, :, np.newaxis]
    size = stages * modes
    matrix = np.eye(size) - felt.reshape(count, size, size)
    from_rate = h * c[:, np.newaxis, np.newaxis] * by_q + by_rate
    short = np.linalg.solve(share, missing[..., np.newaxis])
    right = np.concatenate([short, by_q, from_rate], axis=-1)
    found = np.linalg.solve(matrix, right.reshape(count, size, 1 + 2 * modes))
    return np.asarray(found.reshape(count, stages, modes, 1 + 2 * modes))


def sweep(change: Array, offset: Array, conditions: Conditions) -> Array:
    """x (steps + 1, n) with x_{k+1} = Φ_k x_k + g_k and conditions at both ends.

    Forwards, C_k x_k = c_k is carried along: x_k = C_kᵀ c_k + Z_k y with Z_k across C_k, Φ_k Z_k = Q R,
    and C_{k+1} is across Q. Backwards, y = R⁻¹ Qᵀ (x_{k+1} − Φ_k C_kᵀ c_k − g_k). What decays is so
    integrated forwards and what grows backwards. Without conditions at the end all of it goes forwards.
    """
    count, size = len(change), change.shape[1]
    free = len(conditions.end)
    x = np.empty((count + 1, size))
    if not free:
        x[0] = np.linalg.solve(conditions.start, conditions.start_value)
        for k in range(count):
            x[k + 1] = change[k] @ x[k] + offset[k]
        return x
    basis, triangle = np.linalg.qr(conditions.start.T, mode="complete")
    fixed, loose = basis[:, : size - free], basis[:, size - free :]
    value = linalg.solve_triangular(triangle[: size - free], conditions.start_value, trans=1)
    base = np.empty((count + 1, size))
    across = np.empty((count + 1, size, free))
    grown = np.empty((count, free, free))
    base[0], across[0] = fixed @ value, loose
    for k in range(count):
        reached = change[k] @ base[k] + offset[k]
        basis, triangle = np.linalg.qr(change[k] @ across[k])
        across[k + 1], grown[k] = basis, triangle
        base[k + 1] = reached - basis @ (basis.T @ reached)
    y = np.linalg.solve(
        conditions.end @ across[-1], conditions.end_value - conditions.end @ base[-1]
    )
    x[-1] = base[-1] + across[-1] @ y
    for k in range(count - 1, -1, -1):
        ahead = x[k + 1] - change[k] @ base[k] - offset[k]
        y = linalg.solve_triangular(grown[k], across[k + 1].T @ ahead)
        x[k] = base[k] + across[k] @ y
    return x
