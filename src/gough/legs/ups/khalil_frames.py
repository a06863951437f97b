"""The base frame and leg frames of Khalil & Guegan 2004: Fig. 2 and Table I."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.legs.ups.equations import UPS

SAME = 1e-9
"""Parts of the base's size, and sines, by which a robot may miss the paper's convention."""


def geometric_parameters(legs: UPS) -> Array | None:
    """γ_1i (rad), b_1i and d_1i (m) of Table I, (legs, 3); None where the axes are not as it has them.

    F_0 sits at B_1, x_0 along B_1B_2, the last B in its plane (x_0, y_0). Frame 1i comes from it by
    Rot(z, γ), Trans(z, b), Rot(x, −π/2), Trans(x, d): B_i = (d cos γ, d sin γ, b) and the first
    universal axis is z_1 = (−sin γ, cos γ, 0).
    """
    base, axis = legs.base[..., 0].T, legs.axis[..., 0].T
    x, far = base[1] - base[0], base[-1] - base[0]
    z = np.cross(x, far)
    size = float(np.abs(base - base[0]).max())
    if not np.linalg.norm(z) > SAME * size**2:
        return None
    frame = np.column_stack([one / np.linalg.norm(one) for one in (x, np.cross(z, x), z)])
    places, axes = (base - base[0]) @ frame, axis @ frame
    gamma = np.arctan2(-axes[:, 0], axes[:, 1])
    across = places[:, 1] * np.cos(gamma) - places[:, 0] * np.sin(gamma)
    if max(np.abs(axes[:, 2]).max(), np.abs(across).max() / size) > SAME:
        return None
    d = places[:, 0] * np.cos(gamma) + places[:, 1] * np.sin(gamma)
    return np.column_stack([gamma, places[:, 2], d]) + 0.0
