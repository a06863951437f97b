"""A path between its samples: limits of poses and singularities over whole pieces of it.

A piece |δ| ≤ h about s moves the tip of each leg as t + t′ δ + e with ‖e‖ ≤ B h²/2, B being twice the
largest ‖t″‖ at its ends and its middle (on lines and turns ‖t″‖ is the same all over). With that, reach,
strokes and joint angles have the bounds of `gough.analysis.margins`. On a piece without a singularity,

    σ_min(G) at its middle > 2 (‖G(end) − G(middle)‖ + ‖G(middle) − G(beginning)‖)

G being the matrix of `gough.analysis.locus` in units of the length scale: singular values change no more
than the matrix does. Pieces that are not settled are halved. Of those left at the end, 10⁻⁹ of a path
long, limits are touched and not exceeded; a singularity is met.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gough.analysis.locus import square
from gough.analysis.margins import Conditions
from gough.analysis.pose_boxes import Boxes
from gough.base.arrays import Array
from gough.errors import InputError
from gough.legs.reach import TipBoxes
from gough.model.model import Model
from gough.motion import Motion
from gough.planning.course import Stretch

PIECES, HALVINGS = 256, 24
"""Into which a stretch is cut, and how often each may be halved."""
BETWEEN = 2.0
"""How much larger second derivatives, and ways of G, may be than they are where they are looked at."""

Judge = Callable[[Array, Array], tuple[Array, Array]]


def exceeding(robot: Model, stretch: Stretch) -> Array:
    """Places s (k,) where reach, a stroke or a joint's angle is exceeded, between any samples.

    Of robots whose legs have no such bounds (chains, groups of legs) none are found.
    """
    try:
        conditions = Conditions(robot)
        conditions.labels  # noqa: B018 - asks the legs for their bounds
    except InputError:
        return np.zeros(0)

    def judge(middle: Array, half: Array) -> tuple[Array, Array]:
        margins = conditions(_boxes(robot, stretch, middle, half))
        doubt = margins.swing(np.stack([half, 0 * half, 0 * half], axis=1)) + margins.rest
        return np.all(margins.value >= doubt, axis=1), np.any(margins.value < -margins.rest, axis=1)

    return _searched(stretch, judge)[0]


def singular(robot: Model, stretch: Stretch) -> Array:
    """Places s (k,) beside which the path goes through or touches a parallel singularity."""

    def judge(middle: Array, half: Array) -> tuple[Array, Array]:
        before, here, after = (
            square(robot, _poses(robot, stretch, middle + i * half), robot.length_scale)
            for i in (-1, 0, 1)
        )
        way = np.linalg.norm(after - here, axis=(1, 2)) + np.linalg.norm(here - before, axis=(1, 2))
        known = np.isfinite(way)
        here = np.where(known[:, np.newaxis, np.newaxis], here, 0.0)
        least = np.linalg.svd(here, compute_uv=False)[:, -1]
        return ~known | (least > BETWEEN * way), np.zeros(len(half), dtype=bool)

    return _searched(stretch, judge)[1]


def _searched(stretch: Stretch, judge: Judge) -> tuple[Array, Array]:
    """Middles s (k,) of the first pieces that a judge calls bad, and of those never called fine."""
    edges = np.linspace(stretch.first, stretch.last, PIECES + 1)
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    for _ in range(HALVINGS):
        fine, bad = judge(middle, half)
        if bad.any():
            return middle[bad], np.zeros(0)
        middle, half = middle[~fine], half[~fine] / 2
        middle = (middle[:, np.newaxis] + half[:, np.newaxis] * [-1, 1]).ravel()
        half = np.repeat(half, 2)
        if not middle.size:
            break
    return np.zeros(0), middle


def _poses(robot: Model, stretch: Stretch, s: Array) -> Motion:
    """The path's states at s (n,) in any order."""
    order = np.argsort(s, kind="stable")
    back = np.argsort(order, kind="stable")
    found = stretch.guide.state(np.clip(s[order], stretch.first, stretch.last))
    poses = found[back]
    if robot.mechanism.legs.coordinates:
        robot.remember(poses, robot.chains_of(found)[back])
    return poses


def _boxes(robot: Model, stretch: Stretch, middle: Array, half: Array) -> Boxes:
    """Pieces as boxes of poses whose first coordinate is s; the other two stand still."""
    points = robot.description.platform_points[..., 0].T
    looked = [_poses(robot, stretch, middle + i * half) for i in (-1, 0, 1)]
    here = looked[1]
    arms = [points @ np.swapaxes(one.rotation, -1, -2) for one in looked]
    bends = []
    for one, arm in zip(looked, arms, strict=True):
        spin, spin_up = (
            part[:, np.newaxis] for part in (one.angular_velocity, one.angular_acceleration)
        )
        second = np.cross(spin_up, arm) + np.cross(spin, np.cross(spin, arm))
        bends.append(np.linalg.norm(one.acceleration[:, np.newaxis] + second, axis=-1))
    bend = BETWEEN * np.max(bends, axis=0)
    first = here.velocity[:, np.newaxis] + np.cross(here.angular_velocity[:, np.newaxis], arms[1])
    rest = bend * half[:, np.newaxis] ** 2 / 2
    reach = np.linalg.norm(first, axis=-1) * half[:, np.newaxis] + rest
    zero = np.zeros_like(half)
    slope = np.zeros((*first.shape, 3))
    slope[..., 0] = first
    tips = TipBoxes(
        np.stack([half, zero, zero], axis=1), here.position[:, np.newaxis] + arms[1], slope, rest,
        reach,
    )  # fmt: skip
    # ‖R″ b‖ ≤ (‖ω‖² + ‖ω̇‖) ‖b‖
    turn = np.max(
        [
            np.sum(one.angular_velocity**2, axis=1)
            + np.linalg.norm(one.angular_acceleration, axis=1)
            for one in looked
        ],
        axis=0,
    )
    turn_slope = np.zeros((len(half), 3, 3))
    turn_slope[..., 0] = here.angular_velocity
    return Boxes(tips, here.rotation, half * np.sqrt(BETWEEN * turn), turn_slope)
