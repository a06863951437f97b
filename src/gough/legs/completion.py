"""Real legs with the same base parameters: whether a leg's numbers, which may be grouped, can be built.

Papers print grouped parameters. Entry by entry no body may have them, yet a leg of real bodies may move
in the same way: of the standard parameters X of a leg only G X is felt. With N the null space of G, all
legs that feel the same are X + N z, and one of them is real where all its bodies' pseudo-inertias
P_b = ∫ [x; 1][x; 1]ᵀ dm are positive semidefinite. So

    minimise t  such that  P_b(X + N z) + t 1 ≥ 0 for all bodies,   Σ tr P_b ≤ bound

in units of the leg's own mass and size, by Newton's method on −log det; a leg is real where t ≤ 0. The
mass at the tip stays, so that the platform does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import null_space

from gough.base.arrays import Array
from gough.errors import InputError
from gough.legs.bodies import STANDARD_PARAMETERS, from_standard, pseudo_inertias
from gough.legs.parameters import LegParameters

TEN = len(STANDARD_PARAMETERS)
BOUND = 1e3
"""Most mass and second moments of a real leg, over those of the leg as it is given."""
ROUNDED = 1e-6
"""t up to which numbers count as rounded, in units of the leg's mass and size."""
STEPS = 60


def completable(parameters: LegParameters[Any], legs: Any) -> Array:
    """(legs,) booleans: real bodies with the same base parameters exist; False without closed form."""
    try:
        groupings = [parameters.opened(legs, leg) for leg in range(legs.count)]
    except InputError:
        return np.zeros(legs.count, dtype=bool)
    tens = np.stack([ten_parameters(body) for body in legs.named_bodies().values()], axis=1)
    found: dict[bytes, bool] = {}
    answers = []
    for own, grouping in zip(tens, groupings, strict=True):
        felt = grouping.rows[:, : own.size]
        key = own.tobytes() + felt.tobytes()
        if key not in found:
            found[key] = completion(own, null_space(felt)) is not None
        answers.append(found[key])
    return np.array(answers)


def completion(bodies: Array, free: Array) -> Array | None:
    """Ten parameters (bodies, 10) of real bodies among `bodies` + `free` z, None if there are none."""
    if not np.any(bodies):
        return bodies
    scale = _scale(bodies)
    start = (bodies / scale).ravel()
    columns = free / np.tile(scale, len(bodies))[:, np.newaxis]
    columns = columns / np.linalg.norm(columns, axis=0)
    base = _pseudo(start.reshape(-1, TEN))
    slopes = np.stack([_pseudo(one.reshape(-1, TEN)) for one in columns.T])  # (z, bodies, 4, 4)
    size = float(np.abs(base).max())
    bound = BOUND * max(size, 1.0)
    z, t = np.zeros(len(slopes)), 8.0 * size
    sharpness = 1.0
    for _ in range(STEPS):
        z, t = _centred(base, slopes, z, t, sharpness, bound)
        real = start + columns @ z
        if t < 0 or _least(base, slopes, z) > -ROUNDED:
            return np.asarray(real.reshape(-1, TEN) * scale)
        if 1 / sharpness < ROUNDED / 100:
            return None
        sharpness *= 4
    return None


def _centred(
    base: Array, slopes: Array, z: Array, t: float, sharpness: float, bound: float
) -> tuple[Array, float]:
    """Newton on sharpness t − Σ log det (P_b + t 1) − log(bound − Σ tr P_b), from a feasible point."""
    traces = np.trace(slopes, axis1=-2, axis2=-1).sum(axis=-1)
    unit = np.eye(4)
    every = np.concatenate([slopes, np.broadcast_to(unit, (1, *base.shape))])

    def value(z: Array, t: float) -> float:
        blocks = base + np.tensordot(z, slopes, 1) + t * unit
        room = bound - float(np.trace(blocks - t * unit, axis1=-2, axis2=-1).sum())
        if room <= 0 or np.linalg.eigvalsh(blocks)[..., 0].min() <= 0:
            return np.inf
        return float(sharpness * t - np.linalg.slogdet(blocks)[1].sum() - np.log(room))

    for _ in range(20):
        blocks = base + np.tensordot(z, slopes, 1) + t * unit
        inverse = np.linalg.inv(blocks)
        turned = inverse @ every  # (z and t, bodies, 4, 4)
        gradient = -np.trace(turned, axis1=-2, axis2=-1).sum(axis=-1)
        gradient[-1] += sharpness
        hessian = np.einsum("ibjk,lbkj->il", turned, turned)
        room = bound - float(np.trace(blocks - t * unit, axis1=-2, axis2=-1).sum())
        gradient[:-1] += traces / room
        hessian[:-1, :-1] += np.outer(traces, traces) / room**2
        step = -np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        decrease = -float(gradient @ step)
        if decrease < 1e-8:
            break
        length, now = 1.0, value(z, t)
        while value(z + length * step[:-1], t + length * step[-1]) > now - 0.2 * length * decrease:
            length /= 2
            if length < 1e-10:
                return z, t
        z, t = z + length * step[:-1], t + length * float(step[-1])
    return z, t


def _least(base: Array, slopes: Array, z: Array) -> float:
    """Least eigenvalue of all bodies' pseudo-inertias."""
    return float(np.linalg.eigvalsh(base + np.tensordot(z, slopes, 1))[..., 0].min())


def ten_parameters(body: Any) -> Array:
    """XX XY XZ YY YZ ZZ MX MY MZ M of a body, (legs, 10)."""
    tensor = body.inertia[..., 0]
    upper = [tensor[i, j] for i, j in zip(*np.triu_indices(3), strict=True)]
    return np.stack([*upper, *body.first_moment[..., 0], body.mass[:, 0]], axis=-1)


def _scale(bodies: Array) -> Array:
    """(10,): units in which masses, first moments and tensors are about 1."""
    mass = max(float(np.abs(bodies[:, 9]).max()), float(np.abs(bodies).max()) * 1e-9)
    length = max(
        float(np.abs(bodies[:, 6:9]).max()) / mass,
        float(np.sqrt(np.abs(bodies[:, :6]).max() / mass)),
        1e-9,
    )
    return np.array([mass * length**2] * 6 + [mass * length] * 3 + [mass])


def _pseudo(bodies: Array) -> Array:
    """Pseudo-inertias (bodies, 4, 4) of ten parameters (bodies, 10)."""
    return pseudo_inertias(*from_standard(*bodies.T))
