"""The plate while the actuators move its frame as asked: M_z q̈e + D q̇e + K qe = 0."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import gough
from gough.base.arrays import Array
from gough.data.paper_motions import paper_motion
from gough.errors import UnstableWarning

from .path import MOTION

POSES = 1000


class Health(NamedTuple):
    """Zero dynamics: at home, along the path, and far from both."""

    home: float
    """Slowest pole at home, 1/s."""
    along: float
    """Slowest pole along the path, 1/s."""
    angles: Array
    """Turns of the platform at home about x, degrees."""
    poles: Array
    """The pole farthest to the right at each of them, 1/s."""
    determinant: Array
    """det J_sys⁻ᵀ there, over that at home."""
    crossing: float
    """Where it changes its sign, degrees; the one such angle."""
    condition: float
    """Condition number of J_p there: it is regular."""
    unstable: float
    """Part of random poses, within 0.3 m and 0.5 rad of home on each axis, that is unstable."""


def health(robot: gough.Robot) -> Health:
    """Poles of M_z q̈e + D q̇e + K qe = 0."""
    rng = np.random.default_rng(5)
    angles = np.linspace(-30.0, 30.0, 241)
    turned = gough.Motion(robot.home.position, Rotation.from_euler("x", angles[:, None], True))
    shifts = rng.uniform(-0.3, 0.3, (POSES, 3))
    turns = Rotation.from_rotvec(rng.uniform(-0.5, 0.5, (POSES, 3)))
    cloud = gough.Motion(robot.home.position + shifts, turns)
    moving = paper_motion(MOTION).sample(46)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)
        home, along, tilted, random = (
            robot.elastic_health(one) for one in (robot.home, moving, turned, cloud)
        )
    slowest = tilted.poles.real.max(axis=-1)
    determinant = _determinant(robot, angles)
    (change,) = np.flatnonzero(np.diff(np.sign(determinant)))
    crossing = brentq(
        lambda angle: float(_determinant(robot, np.array([angle]))[0]), *angles[change : change + 2]
    )
    there = gough.Motion(robot.home.position, Rotation.from_euler("x", crossing, True))
    return Health(
        float(home.poles.real.max()),
        float(along.poles.real.max()),
        angles,
        slowest,
        determinant,
        float(crossing),
        float(robot.rigid.condition_number(there)),
        float(np.mean(~random.stable)),
    )


def _determinant(robot: gough.Robot, angles: Array) -> Array:
    """det J_sys⁻ᵀ at home turned about x by angles (n,), degrees, over that at home."""
    turned = gough.Motion(
        robot.home.position,
        Rotation.from_euler("x", np.append(angles, 0.0)[:, None], True),
        elastic=np.zeros((len(angles) + 1, robot.modes)),
    )
    found = np.linalg.det(robot.condensed(turned).sharing)
    return np.asarray(found[:-1] / found[-1])
