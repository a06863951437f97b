"""Poses as points of Study's quadric, on which the length of a rod is one more quadric.

A pose is a point z = (x, y) of projective 7-space on Study's quadric x·y = 0, x ≠ 0: x the rotation's
quaternion (scalar first), y = ½ t x with t the translation. With N = x·x the sphere condition of a rod
of length l from A to the platform's b is N (‖R b + t − A‖² − l²) = 0, a quadric (after Husty 1996, in
world axes):

    4 y·y + c N + 4 b·vec(x̄ y) − 4 A·vec(y x̄) − 2 Aᵀ (N R) b = 0,      c = ‖A‖² + ‖b‖² − l².

Six rods and Study's quadric are seven quadrics, which meet in 40 points with x ≠ 0 if the geometry is
general (Lazard 1993; Ronga & Vust 1995; Wampler 1996).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.description.rods import RodFrame, Rods

UNIT_ROUNDING = float(np.finfo(np.float64).eps) / 2


def _matrices(shape: tuple[int, ...], form: Callable[[Array], Array]) -> Array:
    """Symmetric matrices (*shape, 8, 8) of quadratic forms, by polarisation; exact, all small."""
    basis = np.eye(8)
    found = np.zeros((*shape, 8, 8))
    for i in range(8):
        for j in range(8):
            both = form(basis[i] + basis[j]) - form(basis[i]) - form(basis[j])
            found[..., i, j] = both / 2
    return found


def _body_translation(z: Array) -> Array:
    """vec(x̄ y) = ½ N Rᵀ t."""
    x, y = z[:4], z[4:]
    return np.asarray(x[0] * y[1:] - y[0] * x[1:] - np.cross(x[1:], y[1:]))


def _translation(z: Array) -> Array:
    """vec(y x̄) = ½ N t."""
    x, y = z[:4], z[4:]
    return np.asarray(x[0] * y[1:] - y[0] * x[1:] + np.cross(x[1:], y[1:]))


def _turned(z: Array) -> Array:
    """N R of a quaternion x that need not be unit."""
    w, v = z[0], z[1:4]
    skew = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.asarray((w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * skew)


NORM = np.diag([1.0] * 4 + [0.0] * 4)
DUAL_NORM = np.diag([0.0] * 4 + [1.0] * 4)
STUDY = _matrices((), lambda z: np.asarray(z[:4] @ z[4:]))
BODY_TRANSLATION = _matrices((3,), _body_translation)
TRANSLATION = _matrices((3,), _translation)
TURNED = _matrices((3, 3), _turned)


def quadrics(anchor: Array, point: Array, constant: Array) -> Array:
    """Symmetric matrices (rods + 1, 8, 8) of zᵀ Q z = 0: the rods', then Study's quadric.

    Real or complex; `anchor`, `point` (rods, 3), `constant` (rods,) as in the module's equation.
    """
    rods = (
        4 * DUAL_NORM
        + constant[:, np.newaxis, np.newaxis] * NORM
        + 4 * np.tensordot(point, BODY_TRANSLATION, 1)
        - 4 * np.tensordot(anchor, TRANSLATION, 1)
        - 2 * np.einsum("rj,rk,jkmn->rmn", anchor, point, TURNED)
    )
    return np.concatenate([rods, STUDY[np.newaxis]])


def rounding(rods: Rods, frame: RodFrame) -> Array:
    """Bounds (rods + 1, 8, 8) on how far rounding may have moved each entry of `quadrics`.

    Each entry is a sum of at most a dozen products of numbers that were themselves rounded a few times;
    (1 + u)^64 − 1 times the same sum of absolute values, shifts of origin included, covers it.
    """
    anchor = np.abs(rods.anchor) + 2 * np.abs(frame.base) / frame.scale
    point = np.abs(rods.point) + 2 * np.abs(frame.platform) / frame.scale
    constant = np.sum(anchor**2 + point**2, axis=1) + rods.length**2
    sizes = (
        constant[:, np.newaxis, np.newaxis] * NORM
        + 4 * np.tensordot(point, np.abs(BODY_TRANSLATION), 1)
        + 4 * np.tensordot(anchor, np.abs(TRANSLATION), 1)
        + 2 * np.einsum("rj,rk,jkmn->rmn", anchor, point, np.abs(TURNED))
    )
    return np.concatenate([64.1 * UNIT_ROUNDING * sizes, np.zeros((1, 8, 8))])


def to_study(position: Array, rotation: Array, frame: RodFrame) -> Array:
    """Study coordinates (..., 8) of unit norm, of poses in the original frames."""
    flat = rotation.reshape(-1, 3, 3)
    x = Rotation.from_matrix(flat).as_quat(scalar_first=True)
    shift = position.reshape(-1, 3) + flat @ frame.platform - frame.base
    t = shift / frame.scale
    scalar = -np.sum(t * x[:, 1:], axis=1, keepdims=True)
    y = np.concatenate([scalar, x[:, :1] * t + np.cross(t, x[:, 1:])], axis=1) / 2
    z = np.concatenate([x, y], axis=1)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    return np.asarray(z.reshape(*position.shape[:-1], 8))


def to_pose(z: Array, frame: RodFrame) -> tuple[Array, Array]:
    """Positions (n, 3) m and rotations (n, 3, 3) of real Study coordinates (n, 8)."""
    x, y = z[:, :4], z[:, 4:]
    turn = Rotation.from_quat(x, scalar_first=True).as_matrix()
    norm = np.sum(x * x, axis=1, keepdims=True)
    along = x[:, :1] * y[:, 1:] - y[:, :1] * x[:, 1:] + np.cross(x[:, 1:], y[:, 1:])
    t = 2 * frame.scale * along / norm
    return t + frame.base - turn @ frame.platform, turn


def reality(z: Array) -> Array:
    """Sine of the angle between unit z (n, k) and its conjugate: 0 for a real point."""
    mirrored = z.conj()
    inner = np.sum(mirrored * mirrored, axis=1, keepdims=True)
    return np.asarray(np.linalg.norm(mirrored - inner * z, axis=1))


def made_real(z: Array) -> Array:
    """Real unit representatives of nearly real points (n, k)."""
    largest = np.argmax(np.abs(z), axis=1)
    phase = np.take_along_axis(z, largest[:, np.newaxis], axis=1)
    turned = (z * (phase.conj() / np.abs(phase))).real
    return np.asarray(turned / np.linalg.norm(turned, axis=1, keepdims=True))
