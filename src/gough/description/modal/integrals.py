"""From nodes, masses and shapes to the numbers the equations use (`platforms.flexible`)."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from gough.base.arrays import Array
from gough.description.modal.body import ModalBody
from gough.mechanics.body import Body
from gough.mechanics.platforms.flexible import Couplings, FlexiblePlatform, Modes, ModeTables

NOTHING = 1e-14
"""Couplings below this share of √(m_jj m_kk) are rounding of sums over nodes: taken as 0."""

UNSEEN = 1e-10
"""Motion of a tip, in parts of the mode's largest, that is rounding of the shapes: taken as 0. Files of
finite elements have such noise in the plane of a flat plate, and all of it would be solved for."""


def rigid_part(body: ModalBody) -> Body:
    """The undeformed body about the platform frame's origin."""
    return Body(
        np.full((1, 1), body.mass),
        body.first_moment.reshape(3, 1, 1),
        body.inertia.reshape(3, 3, 1, 1),
    )


def flexible_platform(body: ModalBody) -> FlexiblePlatform:
    """What the modes add: Long, Khalil & Martinet 2014, after Eq. 34, and the visible coordinates."""
    mass, size = body.modal_mass, np.sqrt(np.diag(body.modal_mass))
    masses, shapes = body.masses, body.shapes
    first = np.einsum("n,nck->ck", masses, shapes)
    spread = np.einsum("n,nak,nb->abk", masses, shapes, body.positions)
    pairs = np.stack([(masses[:, np.newaxis] * shapes[:, a]).T @ shapes[:, b]
                      for a in range(3) for b in range(3)]).reshape(3, 3, *mass.shape)  # fmt: skip
    pairs = _rounded(pairs, size)
    crossed = np.stack(
        [pairs[2, 1] - pairs[1, 2], pairs[0, 2] - pairs[2, 0], pairs[1, 0] - pairs[0, 1]]
    )
    mass = _rounded(mass, size)
    tips, visible = _visible(body, mass)
    per_mass = _inverse(mass)
    tables = dict(
        tip_shapes=np.moveaxis(body.tip_shapes, 1, 0),
        tip_rotations=_optional(body.tip_rotations, body.tip_shapes.shape).swapaxes(0, 1),
        origin_shapes=_optional(body.origin_shapes, first.shape),
        origin_rotations=_optional(body.origin_rotations, first.shape),
        first_moments=first,
        second_moments=spread,
        visible=visible.T,
    )
    couplings = dict(
        mass=mass,
        per_mass=per_mass,
        stiffness=body.stiffness,
        damping=body.damping,
        second_moments=pairs,
        crossed=crossed,
    )
    modes = Modes(
        tips=tips[..., np.newaxis],
        visible_moments=(first @ visible)[..., np.newaxis],
        carried=(first @ per_mass @ first.T).reshape(3, 3, 1, 1),
        tables=ModeTables(**_with_samples(tables)),
        couplings=Couplings(**_with_samples(couplings)),
    )
    return FlexiblePlatform(rigid_part(body), modes)


def _with_samples(numbers: dict[str, Array]) -> dict[str, Array]:
    """The same with an axis for samples behind."""
    return {name: np.ascontiguousarray(one)[..., np.newaxis] for name, one in numbers.items()}


def _visible(body: ModalBody, mass: Array) -> tuple[Array, Array]:
    """F (3, legs, visible) and Z (modes, visible): Φ_t L⁻ᵀ = F Q1ᵀ, Z = L⁻ᵀ Q1, m_ee = L Lᵀ.

    Rows of Φ_t that are 0 or rounding (a plate does not move in its plane) see nothing; if all are (a
    plate pinned at its tips), one coordinate with F = 0 stands for those that are visible.
    """
    lower = np.linalg.cholesky(mass)
    rows = np.moveaxis(body.tip_shapes, 1, 0).reshape(-1, body.modes)
    largest = np.abs(body.shapes).max(axis=(0, 1), initial=0.0)  # of each mode, at any node
    seeing = np.any(np.abs(rows) > UNSEEN * largest, axis=1)
    seeing[0] |= not seeing.any()
    scaled = linalg.solve_triangular(lower, rows[seeing].T, lower=True)
    orthogonal, triangle = linalg.qr(scaled, mode="economic")
    tips = np.zeros((len(rows), orthogonal.shape[1]))
    tips[seeing] = np.triu(triangle).T
    visible = linalg.solve_triangular(lower.T, orthogonal, lower=False)
    return tips.reshape(3, -1, orthogonal.shape[1]), np.asarray(visible)


def _inverse(mass: Array) -> Array:
    if not np.any(mass - np.diag(np.diag(mass))):
        return np.diag(1 / np.diag(mass))
    inverse = linalg.cho_solve(linalg.cho_factor(mass), np.eye(len(mass)))
    return np.asarray((inverse + inverse.T) / 2)


def _rounded(pairs: Array, size: Array) -> Array:
    """Couplings without what is rounding alone, so that a plate's vanish for good."""
    return np.where(np.abs(pairs) < NOTHING * np.outer(size, size), 0.0, pairs)


def _optional(value: Array | None, shape: tuple[int, ...]) -> Array:
    return np.zeros(shape) if value is None else value
