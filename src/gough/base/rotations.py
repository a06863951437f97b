"""Rotations with their rates: Euler angles and rotation vectors, one state or a batch.

Both functions return R, ω and ω̇ with x_world = R x_platform and Ṙ = ω × R: angular velocity (rad/s)
and angular acceleration (rad/s²) are in world axes. Leading axes are the batch and broadcast;
rates that are left out are zero. NaN in gives NaN out.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array, given_numbers, refuse_turns
from gough.errors import FileError, InputError

UNIT_LENGTH = 1e-6
"""How far the length of a file's quaternion may be from 1, besides what its last digit explains."""
DECIMALS = (3, 4, 5, 6)
"""Decimals of rounded quaternions: fewer make rotations of 0.5°."""
LARGE_COMPONENT = 0.1
"""Of quaternions, from which components tell the last digit: small ones may have more decimals."""

Sequence = Literal[
    "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "XYX", "XZX", "YXY", "YZY", "ZXZ", "ZYZ"
]

CONVENTIONS: dict[str, tuple[Sequence, tuple[int, int, int]]] = {
    "kim-ryu-2002": ("YXZ", (1, 0, 2)),
    "sinatra-xi-staicu-2009": ("XYZ", (0, 1, 2)),
}
"""Euler angles of the papers: the intrinsic sequence, and the order in which it takes the angles.

- kim-ryu-2002: R = R_Y(θ) R_X(Ψ) R_Z(φ), angles in the order [Ψ, θ, φ] (Kim & Ryu 2002, Eq. 1; the
  matrices there are right, the subscripts of their product have Ψ and θ exchanged).
- sinatra-xi-staicu-2009: R = R_x(α1) R_y(α2) R_z(α3), angles in the order [α1, α2, α3] (Sinatra, Xi
  & Staicu 2009, Eqs. 4, 5; the R = R3 R2 R1 there takes world to platform axes and is our Rᵀ).
"""

_SERIES_BELOW = 4.0
"""φ² below which the power series replace the closed forms that cancel."""
_TERMS = range(14)
_A = [(-1.0) ** k / factorial(2 * k + 1) for k in _TERMS]
_B = [(-1.0) ** k / factorial(2 * k + 2) for k in _TERMS]
_C = [(-1.0) ** k / factorial(2 * k + 3) for k in _TERMS]
_B1 = [2 * k * _B[k] for k in _TERMS[1:]]
_C1 = [2 * k * _C[k] for k in _TERMS[1:]]


def convention(name: str) -> tuple[Sequence, tuple[int, int, int]]:
    """The intrinsic sequence of a named convention, and the order in which it takes the angles.

    `name` is a key of `CONVENTIONS` or the sequence itself: three capital letters as in
    `scipy.spatial.transform.Rotation.from_euler`, no letter twice in a row ("ZYX", "ZXZ").
    """
    if name in CONVENTIONS:
        return CONVENTIONS[name]
    if name in get_args(Sequence):
        return cast(Sequence, name), (0, 1, 2)
    raise InputError(
        f"no Euler angles {name!r}: give one of {', '.join(CONVENTIONS)}, or an intrinsic sequence "
        "of three capital letters, none twice in a row, such as 'ZYX'"
    )


def euler(
    sequence: str,
    angles: ArrayLike,
    rates: ArrayLike | None = None,
    accelerations: ArrayLike | None = None,
) -> tuple[Array, Array, Array]:
    """R, ω, ω̇ from three Euler angles (..., 3) in rad, their rates and accelerations.

    With R = R_1 R_2 R_3 and u_j the world direction of axis j, carried along by the rotations
    before it,

        ω = Σ q̇_j u_j,    ω̇ = Σ q̈_j u_j + ω_{j-1} × q̇_j u_j,    ω_j = q̇_1 u_1 + … + q̇_j u_j.

    `sequence` names one of `CONVENTIONS` or an intrinsic sequence ("YXZ"); the angles come in the
    order of the convention or the sequence. For "kim-ryu-2002" this is Kim & Ryu 2002, Eqs. 1-3
    with the dots that Eq. 3 lost, for "sinatra-xi-staicu-2009" Sinatra, Xi & Staicu 2009, Eq. 9.
    """
    letters, order = convention(sequence)
    q, qd, qdd = _same_shape(angles=angles, rates=rates, accelerations=accelerations)
    refuse_turns("angles", q)
    rotation: Array = np.broadcast_to(np.eye(3), (*q.shape[:-1], 3, 3))
    omega, omega_dot = np.zeros_like(q), np.zeros_like(q)
    for letter, j in zip(letters, order, strict=True):
        axis = "XYZ".index(letter)
        u = rotation[..., :, axis]
        spin = qd[..., j, None] * u
        omega_dot = omega_dot + qdd[..., j, None] * u + np.cross(omega, spin)
        omega = omega + spin
        rotation = rotation @ _about(axis, q[..., j])
    return rotation, omega, omega_dot


def euler_angles(sequence: str, rotation: ArrayLike) -> Array:
    """Euler angles (..., 3) in rad of rotation matrices (..., 3, 3): the inverse of `euler`.

    The middle angle is in [0, π] for sequences such as "ZXZ", in [−π/2, π/2] for the others. At the
    ends of that interval, where the two other axes align, scipy warns and one of them is zero.
    """
    letters, order = convention(sequence)
    matrices = given_numbers("rotation", rotation)
    if matrices.shape[-2:] != (3, 3):
        raise InputError(f"rotation has shape {matrices.shape}, needs (..., 3, 3)")
    angles = np.empty(matrices.shape[:-1])
    if matrices.size:
        turned = Rotation.from_matrix(matrices.reshape(-1, 3, 3))
        angles[..., list(order)] = turned.as_euler(letters).reshape(angles.shape)
    return angles


def exponential(
    vector: ArrayLike,
    rate: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
) -> tuple[Array, Array, Array]:
    """R, ω, ω̇ from a rotation vector θ (..., 3) in rad, θ̇ and θ̈: R = exp(θ×).

    With φ = ‖θ‖, a = sin φ/φ, b = (1 − cos φ)/φ², c = (φ − sin φ)/φ³ (Rodrigues)

        R = cos φ I + a θ× + b θ θᵀ
        ω = a θ̇ + b θ×θ̇ + c (θ·θ̇) θ
        ω̇ = a θ̈ + b θ×θ̈ + c (θ·θ̈) θ + c (θ̇·θ̇) θ
            + (θ·θ̇) (a₁ θ̇ + b₁ θ×θ̇ + c₁ (θ·θ̇) θ + c θ̇)

    where a₁ = (da/dφ)/φ = c − b, b₁ = (a − 2b)/φ², c₁ = (b − 3c)/φ². All are smooth at φ = 0 and
    taken from their power series for φ < 2, so nothing cancels.
    """
    v, vd, vdd = _same_shape(vector=vector, rate=rate, acceleration=acceleration)
    refuse_turns("vector", v)
    squared = np.sum(v * v, axis=-1)
    a, b, c, b1, c1 = (part[..., None] for part in _coefficients(squared))
    rotation = b[..., None] * v[..., :, None] * v[..., None, :]
    rotation = rotation + np.cos(np.sqrt(squared))[..., None, None] * np.eye(3)
    rotation = rotation + a[..., None] * np.cross(v[..., None, :], np.eye(3)).swapaxes(-1, -2)
    p = np.sum(v * vd, axis=-1, keepdims=True)
    s = np.sum(v * vdd, axis=-1, keepdims=True) + np.sum(vd * vd, axis=-1, keepdims=True)
    turn = np.cross(v, vd)
    omega = a * vd + b * turn + c * p * v
    omega_dot = a * vdd + b * np.cross(v, vdd) + c * s * v
    omega_dot += p * ((2 * c - b) * vd + b1 * turn + c1 * p * v)
    return rotation, omega, omega_dot


def turning(vector: Array) -> Array:
    """Return J (..., 3, 3) of ω = J θ̇ for rotation vectors θ (..., 3): a I + b θ× + c θ θᵀ.

    a, b and c are those of `exponential`.
    """
    a, b, c = (
        part[..., np.newaxis, np.newaxis]
        for part in _coefficients(np.sum(vector * vector, axis=-1))[:3]
    )
    x, y, z = np.moveaxis(vector, -1, 0)
    o = np.zeros_like(x)
    rows = ((o, -z, y), (z, o, -x), (-y, x, o))
    cross = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    along = vector[..., :, np.newaxis] * vector[..., np.newaxis, :]
    return np.asarray(a * np.eye(3) + b * cross + c * along)


def continuous_quaternions(rotation: Array) -> Array:
    """Return unit quaternions (n, 4) of rotations (n, 3, 3), each with the sign nearest the last.

    The scalar comes last, as in SciPy.
    """
    turn = Rotation.from_matrix(rotation).as_quat()
    turn[1:] *= np.cumprod(np.where(np.sum(turn[1:] * turn[:-1], axis=-1) < 0, -1.0, 1.0))[:, None]
    return np.asarray(turn)


def unit_quaternions(quaternions: Array, where: Callable[[int], str]) -> Array:
    """Return quaternions (n, 4) of a file, w first, divided by their lengths.

    Their lengths may be off by what rounding to their last digit explains (half of it in every
    component), of digits down to the third decimal, and by 1e-6.

    Raises:
        FileError: another length than 1, with the place of the sample.

    """
    lengths = np.linalg.norm(quaternions, axis=-1)
    large = quaternions[np.abs(quaternions) >= LARGE_COMPONENT]
    exact = (d for d in DECIMALS if np.abs(np.round(large, d) - large).max(initial=0.0) < 1e-12)
    half = 0.5 * 10.0 ** -next(exact, np.inf)
    allowed = UNIT_LENGTH + half * np.abs(quaternions).sum(axis=-1) + 2 * half**2
    wrong = np.flatnonzero(np.abs(lengths - 1) > allowed)
    if wrong.size:
        row = int(wrong[0])
        raise FileError(
            f"{where(row)}: the quaternion has length {lengths[row]:.9g}, not 1, and its digits explain "
            f"{allowed[row]:.2g}; divide it by its length if it is that of a rotation"
        )
    return np.asarray(quaternions / lengths[..., np.newaxis])


def quaternion_product(one: Array, other: Array) -> Array:
    """Return the product of quaternions (..., 4) of any length, the scalar last."""
    v, w = one[..., :3], one[..., 3:]
    u, c = other[..., :3], other[..., 3:]
    vector = (w * u + c * v) + np.cross(v, u)
    return np.concatenate([vector, w * c - np.sum(v * u, axis=-1, keepdims=True)], axis=-1)


def conjugate(quaternion: Array) -> Array:
    """Return the conjugates of quaternions (..., 4), the scalar last."""
    return np.asarray(quaternion * [-1.0, -1.0, -1.0, 1.0])


def _coefficients(squared: Array) -> tuple[Array, Array, Array, Array, Array]:
    """a, b, c, b₁, c₁ of `exponential` at φ²."""
    small = squared < _SERIES_BELOW
    x = np.where(small, squared, 0.0)
    y = np.where(small, _SERIES_BELOW, squared)
    phi = np.sqrt(y)
    a = np.sin(phi) / phi
    b = 2.0 * np.sin(phi / 2) ** 2 / y
    c = (1.0 - a) / y
    closed = (a, b, c, (a - 2 * b) / y, (b - 3 * c) / y)
    series = (np.polynomial.polynomial.polyval(x, part) for part in (_A, _B, _C, _B1, _C1))
    a, b, c, b1, c1 = (np.where(small, *pair) for pair in zip(series, closed, strict=True))
    return a, b, c, b1, c1


def _about(axis: int, angle: Array) -> Array:
    """Rotation matrices about a coordinate axis."""
    rotation = np.zeros((*angle.shape, 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    rotation[..., axis, axis] = 1.0
    rotation[..., i, i] = rotation[..., j, j] = np.cos(angle)
    rotation[..., j, i] = np.sin(angle)
    rotation[..., i, j] = -rotation[..., j, i]
    return rotation


def _same_shape(**values: ArrayLike | None) -> list[Array]:
    """Arrays of vectors broadcast against each other; None counts as zero."""
    arrays: dict[str, Array] = {}
    for name, value in values.items():
        array = given_numbers(name, np.zeros(3) if value is None else value)
        if array.shape[-1:] != (3,):
            raise InputError(f"{name} has shape {array.shape}, needs (..., 3)")
        arrays[name] = array
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InputError(f"batch axes do not fit each other: {shapes}") from None
