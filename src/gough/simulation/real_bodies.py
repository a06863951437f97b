"""Bodies that matter can make: their pseudo-inertia matrices have no negative eigenvalues.

L = ∫ [x; 1][x; 1]ᵀ dm = [½ tr(I) 1 − I, MS; MSᵀ, M] is linear in a body's ten standard parameters, and
positive semidefinite exactly for real bodies (Wensing, Kim & Slotine 2018). Frames are scaled so that
L's entries are of one size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gough.base.arrays import Array
from gough.model.model import Model
from gough.parameters.layout import TEN, Layout

SWEEPS = 8
"""Rounds of projections, one per body and negative eigenvalue, until bodies are real."""
REAL = 1e-9
"""A negative eigenvalue so small, of the matrix' trace, is rounding."""


@dataclass(frozen=True, eq=False)
class RealBodies:
    """The bodies of a robot among its parameters, and those parameters that are never negative."""

    places: Array
    """(bodies, 10): where the parameters of each are. Bodies that are not real to begin with, base
    parameters in a body's clothes, are left alone."""
    bounded: Array
    """Places of rotors and friction."""
    length: float
    """m, in which bodies are measured."""

    @classmethod
    def of(cls, robot: Model, standard: Array, friction: bool) -> RealBodies:
        """The bodies of a robot with these parameters."""
        layout = Layout.of(robot.mechanism.legs, friction)
        every = [own.bodies.reshape(-1, TEN) for own in layout.places()]
        platform = np.arange(layout.of_platform.start, layout.of_platform.stop)[np.newaxis]
        places = np.concatenate([*every, platform]).astype(np.intp)
        length = robot.length_scale
        least = np.linalg.eigvalsh(pseudo_inertia(standard[places], length))[:, 0]
        size = np.abs(standard[places]).sum(axis=1)
        bounded = [np.arange(one.start, one.stop) for one in (layout.of_rotors, layout.of_friction)]
        real = (least >= -REAL * size) & (size > 0)
        return cls(places[real], np.concatenate(bounded).astype(np.intp), length)

    def projected(self, X: Array, P: Array) -> Array:
        """X (rows, parameters) nearest in the metric of P⁻¹ with real bodies, by half-spaces.

        Where aᵀ X < 0 of a condition aᵀ X ≥ 0, X ← X − P a (aᵀ X)/(aᵀ P a), in turn. What has grown
        beyond numbers stays: its forces end the simulation.
        """
        X = X.copy()
        for row in np.flatnonzero(np.isfinite(X).all(axis=1)):
            spread = P[row]
            for _ in range(SWEEPS):
                cuts = self._cuts(X[row])
                if not cuts:
                    break
                for a in cuts:
                    value = float(a @ X[row])
                    along = spread @ a
                    reach = float(a @ along)
                    if value < 0 and reach > 0:
                        X[row] -= along * (value / reach)
        return X

    def _cuts(self, X: Array) -> list[Array]:
        """Conditions a (parameters,) that X breaks."""
        found = []
        for place in self.bounded[X[self.bounded] < 0]:
            a = np.zeros(len(X))
            a[place] = 1.0
            found.append(a)
        matrices = pseudo_inertia(X[self.places], self.length)
        values, vectors = np.linalg.eigh(matrices)
        limit = -REAL * np.abs(np.trace(matrices, axis1=1, axis2=2))
        for body, which in np.argwhere(values < limit[:, np.newaxis]):
            a = np.zeros(len(X))
            a[self.places[body]] = condition(vectors[body, :, which], self.length)
            found.append(a)
        return found


def pseudo_inertia(ten: Array, length: float) -> Array:
    """L (..., 4, 4) of standard parameters (..., 10), lengths over `length`, kg."""
    xx, xy, xz, yy, yz, zz, mx, my, mz, mass = np.moveaxis(ten, -1, 0)
    area = length**2
    rows = [
        [(yy + zz - xx) / (2 * area), -xy / area, -xz / area, mx / length],
        [-xy / area, (xx + zz - yy) / (2 * area), -yz / area, my / length],
        [-xz / area, -yz / area, (xx + yy - zz) / (2 * area), mz / length],
        [mx / length, my / length, mz / length, mass],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def condition(u: Array, length: float) -> Array:
    """a (10,) of uᵀ L u = aᵀ X for a body's standard parameters X and u (4,)."""
    x, y, z, one = u
    inertia = [-x * x + y * y + z * z, x * x - y * y + z * z, x * x + y * y - z * z]
    xx, yy, zz = (value / (2 * length**2) for value in inertia)
    xy, xz, yz = (-2 * value / length**2 for value in (x * y, x * z, y * z))
    moments = [2 * value * one / length for value in (x, y, z)]
    return np.array([xx, xy, xz, yy, yz, zz, *moments, one * one])
