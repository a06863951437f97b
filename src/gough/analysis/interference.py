"""How near legs come to each other: distances between the legs as straight segments.

A leg is the segment from its universal to its spherical joint: UPS from B to P, PUS the link
(`gough.model.forward.rods`). With a radius r a leg is a capsule, and two legs are clear of each other
where their distance is over 2 r.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from gough.base.arrays import Array
from gough.model.batch import OnError
from gough.model.forward import rods
from gough.model.model import Model
from gough.motion import Motion


def pairs(robot: Model) -> list[tuple[int, int]]:
    """All pairs of legs, counted from 0, in the order of `leg_distances`."""
    return list(combinations(range(robot.leg_count), 2))


def leg_distances(robot: Model, motion: Motion, *, on_error: OnError = "raise") -> Array:
    """Distances (..., pairs), m, between the axes of every two legs, in the order of `pairs`.

    A flexible platform counts as undeformed.
    """
    legs = robot.inverse_kinematics(Motion(motion.position, motion.rotation), on_error=on_error)
    points = robot.description.platform_points[..., 0].T
    tip = motion.position[..., np.newaxis, :] + points @ np.swapaxes(motion.rotation, -1, -2)
    return pair_distances(robot, rods(robot, legs.q)[0], tip)


def pair_distances(robot: Model, anchor: Array, tip: Array) -> Array:
    """Distances (..., pairs) of legs from anchors (..., legs, 3) to tips (..., legs, 3)."""
    first, second = ([pair[side] for pair in pairs(robot)] for side in (0, 1))
    return segment_distance(
        anchor[..., first, :], tip[..., first, :], anchor[..., second, :], tip[..., second, :]
    )


def segment_distance(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Distance (...) between the segments ab and cd, ends (..., 3)."""
    s, t = nearest(a, b, c, d)
    across = a + s[..., np.newaxis] * (b - a) - c - t[..., np.newaxis] * (d - c)
    return np.asarray(np.linalg.norm(across, axis=-1))


@np.errstate(invalid="ignore", divide="ignore")
def nearest(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    """Shares (...) along the segments ab and cd of the points nearest to each other.

    The nearest of: each end and its foot on the other segment, and the feet of the common
    perpendicular of the two lines where they lie on both segments.
    """
    u, v, w = b - a, d - c, a - c
    uu, uv, vv = np.sum(u * u, -1), np.sum(u * v, -1), np.sum(v * v, -1)
    uw, vw = np.sum(u * w, -1), np.sum(v * w, -1)
    long_u, long_v = np.where(uu > 0, uu, 1.0), np.where(vv > 0, vv, 1.0)
    zero, one = np.zeros_like(uv), np.ones_like(uv)
    normal = uu * vv - uv * uv  # 0 where they are parallel: then an end is nearest
    s, t = (uv * vw - vv * uw) / normal, (uu * vw - uv * uw) / normal
    between = (s > 0) & (s < 1) & (t > 0) & (t < 1)
    shares = [
        (zero, np.clip(vw / long_v, 0.0, 1.0)),
        (one, np.clip((vw + uv) / long_v, 0.0, 1.0)),
        (np.clip(-uw / long_u, 0.0, 1.0), zero),
        (np.clip((uv - uw) / long_u, 0.0, 1.0), one),
        (np.where(between, s, 0.0), np.where(between, t, vw * 0.0)),
    ]
    along_u, along_v = (
        np.stack([pair[0] for pair in shares]),
        np.stack([pair[1] for pair in shares]),
    )
    gap = w + along_u[..., np.newaxis] * u - along_v[..., np.newaxis] * v
    best = np.argmin(np.sum(gap * gap, axis=-1), axis=0)[np.newaxis]
    return (
        np.take_along_axis(along_u, best, axis=0)[0],
        np.take_along_axis(along_v, best, axis=0)[0],
    )
