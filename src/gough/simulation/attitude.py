"""Rotations while they are integrated: local coordinates without trigonometry, and errors between two.

Within a step the rotation is R = C(g) R_start with Rodrigues' (Gibbs') vector g = tan(φ/2) n in world
axes. With Ṙ = ω × R this is exact, rational and orthogonal by construction:

    C(g) = 1 + 2 (g^ + g^ g^)/(1 + g·g),    ġ = ½ (ω + ω×g + (ω·g) g)

It is singular at φ = π alone; steps begin at g = 0 and stay far from there. Component axis first, so the
same lines run on batches and on traced symbols.
"""

from __future__ import annotations

import numpy as np

from gough.mechanics.vectors import Components, cross, dot, matrix


def turned(gibbs: Components, rotation: Components) -> Components:
    """C(g) R (3, 3, ...), column by column: r + 2 (g×r + g×(g×r))/(1 + g·g)."""
    factor = 2 / (1 + dot(gibbs, gibbs))
    columns = []
    for k in range(3):
        column = rotation[:, k]
        across = cross(gibbs, column)
        columns.append(column + factor * (across + cross(gibbs, across)))
    return np.stack(columns, axis=1)


def turned_rows(gibbs: Components, rotation: Components) -> Components:
    """`orthonormal(turned(g, R))` of rows (n, 3) and (n, 3, 3): few calls of NumPy for few rows."""
    hat = np.zeros((len(gibbs), 3, 3))
    hat[:, 2, 1], hat[:, 0, 2], hat[:, 1, 0] = gibbs.T
    hat -= np.swapaxes(hat, 1, 2)
    factor = 2 / (1 + np.sum(gibbs * gibbs, axis=1))
    found = rotation + factor[:, np.newaxis, np.newaxis] * ((hat + hat @ hat) @ rotation)
    result: Components = 1.5 * found - 0.5 * (found @ (np.swapaxes(found, 1, 2) @ found))
    return result


def gibbs_rate(gibbs: Components, angular_velocity: Components) -> Components:
    """ġ = ½ (ω + ω×g + (ω·g) g) for Ṙ = ω × R, R = C(g) R_start."""
    turning = angular_velocity + cross(angular_velocity, gibbs)
    rate: Components = 0.5 * (turning + dot(angular_velocity, gibbs) * gibbs)
    return rate


def orthonormal(rotation: Components) -> Components:
    """R − ½ R (RᵀR − 1): the nearest rotation up to the square of the error in R."""
    rows = [
        [0.5 * ((3.0 if i == j else 0.0) - dot(rotation[:, i], rotation[:, j])) for j in range(3)]
        for i in range(3)
    ]
    entries = [
        [sum(rotation[i, k] * rows[k][j] for k in range(3)) for j in range(3)] for i in range(3)
    ]
    return matrix(entries)


def rotation_error(wanted: Components, rotation: Components) -> Components:
    """2 sin(φ/2) n of the turn φ about n from R to R_wanted, world axes.

    The rotation vector up to the third order in φ, yet bounded and growing up to half a turn: with
    E = R_wanted Rᵀ it is vee(E − Eᵀ)/√(1 + tr E).
    """
    twice_sine = cross(rotation[:, 0], wanted[:, 0])
    trace = dot(rotation[:, 0], wanted[:, 0])
    for k in (1, 2):
        twice_sine = twice_sine + cross(rotation[:, k], wanted[:, k])
        trace = trace + dot(rotation[:, k], wanted[:, k])
    error: Components = twice_sine / np.sqrt(1 + trace)
    return error
