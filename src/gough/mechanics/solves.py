"""Solves of small linear systems, accurate wherever the robot is not singular.

Householder QR on components: no branches and no pivoting, yet backward stable. A fixed-order
elimination, in contrast, loses up to 3.7 % on Long's robot.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np

from gough.mechanics.vectors import Components, copysign, maximum, minimum, or_one, stacked

WORST_CONDITION = 1e10
"""Condition number from which a configuration counts as singular."""


class Factors(NamedTuple):
    """J = Q R of a (rows, columns, ...) matrix with at least as many rows as columns."""

    reflectors: tuple[tuple[tuple[Components, ...], Components], ...]
    """Householder vectors v and weights β: H = 1 − β v vᵀ."""
    triangle: tuple[tuple[Components, ...], ...]
    """R above its diagonal: row k holds R_kj for j > k."""
    per_diagonal: tuple[Components, ...]
    """1/R_kk."""
    health: Components
    """Smallest over largest |R_kk|: the reciprocal condition number is not larger."""
    floor: Components
    """½ Π |R_kk|/‖J_k‖: that of J with unit columns is not smaller (`floor_of`)."""


def factor(matrix: Components, scale: Components | None = None) -> Factors:
    """Householder QR: H_n … H_1 J = R, one square root and one division a column.

    `scale` (columns, 1) makes the columns comparable where they are not; only the health depends on it.

    v = x − R_kk e1 with R_kk = −sign(x1) ‖x‖, β = 1/(‖x‖ (‖x‖ + |x1|)).
    """
    work = [list(row) for row in matrix]
    rows, width = len(work), len(work[0])
    whole = [sum(row[k] * row[k] for row in work) for k in range(width)]
    left = []
    reflectors, triangle, per_diagonal, sizes = [], [], [], []
    for k in range(width):
        column = [work[i][k] for i in range(k, rows)]
        square = sum(x * x for x in column)
        size = np.sqrt(square)
        left.append(square)
        signed = copysign(size, column[0])
        lead = column[0] + signed
        # where x = 0 there is nothing to reflect: β is then multiplied by zeros
        weight = 1 / or_one(signed * lead)
        v = (lead, *column[1:])
        for j in range(k + 1, width):
            others = [work[k + i][j] for i in range(rows - k)]
            projection = weight * sum(a * b for a, b in zip(v, others, strict=True))
            for i in range(rows - k):
                work[k + i][j] = others[i] - v[i] * projection
        reflectors.append((v, weight))
        triangle.append(tuple(work[k][k + 1 :]))
        per_diagonal.append(-lead * weight)
        sizes.append(size if scale is None else size * scale[k])
    health = reduce(minimum, sizes) / reduce(maximum, sizes)
    floor = np.sqrt(floor_of(left, whole))
    return Factors(tuple(reflectors), tuple(triangle), tuple(per_diagonal), health, floor)


def floor_of(left: list[Components], whole: list[Components]) -> Components:
    """¼ Π left/whole, a floor under the reciprocal condition number of a positive definite matrix.

    `whole` is its diagonal, `left` what elimination leaves of it. Scaled to a diagonal of ones its
    determinant is Π left/whole, and κ < 4/det: Guggenheimer, Edelman & Johnson 1995, whose κ < 2/|det J|
    for unit columns is the same of JᵀJ. The ratio of what is left, in contrast, does not see what was
    lost by subtraction.
    """
    product: Components = np.full(1, 0.25)
    for i in range(0, len(left), 6):  # by sixes: one division each, and none overflows
        product = product * (_product(left[i : i + 6]) / or_one(_product(whole[i : i + 6])))
    return product


def _product(factors: list[Components]) -> Components:
    product: Components = reduce(np.multiply, factors)
    return product


def least_norm(factors: Factors, right: Components) -> Components:
    """The x of least ‖x‖ with Jᵀ x = right: x = Q R⁻ᵀ right."""
    width = len(factors.per_diagonal)
    y: list[Components] = []
    for k in range(width):
        rest = right[k]
        for i in range(k):
            rest = rest - factors.triangle[i][k - i - 1] * y[i]
        y.append(rest * factors.per_diagonal[k])
    rows = len(factors.reflectors[0][0])
    return reflected_back(factors, [*y, *(0 * y[0] for _ in range(rows - width))])


def reflected(factors: Factors, right: Components) -> Components:
    """Qᵀ right = H_n … H_1 right, (rows, ...)."""
    rest = list(right)
    for k, (v, weight) in enumerate(factors.reflectors):
        projection = weight * sum(a * b for a, b in zip(v, rest[k:], strict=True))
        for i, entry in enumerate(v):
            rest[k + i] = rest[k + i] - entry * projection
    return stacked(*rest)


def reflected_back(factors: Factors, left: Components | list[Components]) -> Components:
    """Q left = H_1 … H_n left, (rows, ...)."""
    x = list(left)
    for k in reversed(range(len(factors.reflectors))):
        v, weight = factors.reflectors[k]
        projection = weight * sum(a * b for a, b in zip(v, x[k:], strict=True))
        for i, entry in enumerate(v):
            x[k + i] = x[k + i] - entry * projection
    return stacked(*x)


def complement(factors: Factors) -> Components:
    """Orthonormal vectors (rows, rows − columns, ...) that J's columns are orthogonal to."""
    rows, width = len(factors.reflectors[0][0]), len(factors.per_diagonal)
    like = 0 * factors.per_diagonal[0]
    units = np.eye(rows)[:, width:]
    found = [reflected_back(factors, [one + like for one in unit]) for unit in units.T]
    return np.stack(found, axis=1)


def least_squares(factors: Factors, right: Components) -> Components:
    """The x of least ‖J x − right‖: R x = the first rows of Qᵀ right."""
    width = len(factors.per_diagonal)
    x = list(reflected(factors, right)[:width])
    for k in reversed(range(width)):
        for j, entry in enumerate(factors.triangle[k], start=k + 1):
            x[k] = x[k] - entry * x[j]
        x[k] = x[k] * factors.per_diagonal[k]
    return np.stack(x)


class Triangles(NamedTuple):
    """Jᵀ = L U of a square J."""

    lower: tuple[tuple[Components, ...], ...]
    """L below its diagonal of ones: row k holds L_kj for j < k."""
    upper: tuple[tuple[Components, ...], ...]
    """U above its diagonal: row k holds U_kj for j > k."""
    per_diagonal: tuple[Components, ...]
    """1/U_kk."""
    floor: Components
    """½ Π |U_kk|/‖J_k‖, as of `Factors`."""


def eliminate(matrix: Components) -> Triangles:
    """Gauss's elimination of Jᵀ in fixed order, for counting operations as the papers do.

    Less than half the work of `factor`, but without pivoting it is not stable: it loses up to 3.7 %
    on Long's robot. `matrix` is J, as for `factor`.
    """
    upper = [list(column) for column in np.swapaxes(matrix, 0, 1)]
    size = len(upper)
    whole = [sum(entry * entry for entry in row) for row in upper]
    lower: list[list[Components]] = [[] for _ in range(size)]
    per_diagonal, left = [], []
    for k in range(size):
        per_diagonal.append(1 / upper[k][k])
        left.append(upper[k][k] * upper[k][k])
        for i in range(k + 1, size):
            ratio = upper[i][k] * per_diagonal[k]
            lower[i].append(ratio)
            for j in range(k + 1, size):
                upper[i][j] = upper[i][j] - ratio * upper[k][j]
    floor = np.sqrt(floor_of(left, whole))
    above = tuple(tuple(row[k + 1 :]) for k, row in enumerate(upper))
    return Triangles(tuple(map(tuple, lower)), above, tuple(per_diagonal), floor)


def substitute(triangles: Triangles, right: Components) -> Components:
    """The x with Jᵀ x = L U x = right."""
    x = list(right)
    for k, row in enumerate(triangles.lower):
        for j, entry in enumerate(row):
            x[k] = x[k] - entry * x[j]
    for k in reversed(range(len(x))):
        for j, entry in enumerate(triangles.upper[k], start=k + 1):
            x[k] = x[k] - entry * x[j]
        x[k] = x[k] * triangles.per_diagonal[k]
    return np.stack(x)


class Roots(NamedTuple):
    """M = L D Lᵀ of a symmetric matrix."""

    lower: tuple[tuple[Components, ...], ...]
    """L below its diagonal of ones: row k holds L_kj for j < k."""
    per_diagonal: tuple[Components, ...]
    """1/D_k."""
    floor: Components
    """¼ Π D_k/M_kk: of M with a diagonal of ones the reciprocal condition number is not smaller."""


def factor_symmetric(matrix: Components) -> Roots:
    """L D Lᵀ of a positive definite (n, n, ...) matrix, half the work of any other."""
    lower: list[tuple[Components, ...]] = []
    per_diagonal: list[Components] = []
    left, whole = [], []
    for k in range(len(matrix)):
        raw: list[Components] = []  # L_kj D_j
        for j in range(k):
            entry = matrix[k][j]
            for i in range(j):
                entry = entry - raw[i] * lower[j][i]
            raw.append(entry)
        row = tuple(entry * per_diagonal[j] for j, entry in enumerate(raw))
        diagonal = matrix[k][k]
        for one, entry in zip(row, raw, strict=True):
            diagonal = diagonal - one * entry
        lower.append(row)
        per_diagonal.append(1 / diagonal)
        left.append(diagonal)
        whole.append(matrix[k][k])
    return Roots(tuple(lower), tuple(per_diagonal), floor_of(left, whole))


def solve_symmetric(roots: Roots, right: Components) -> Components:
    """The x with L D Lᵀ x = right."""
    x = list(right)
    for k, row in enumerate(roots.lower):
        for j, entry in enumerate(row):
            x[k] = x[k] - entry * x[j]
    x = [value * per for value, per in zip(x, roots.per_diagonal, strict=True)]
    for k in reversed(range(len(x))):
        for j in range(k):
            x[j] = x[j] - roots.lower[k][j] * x[k]
    return np.stack(x)
