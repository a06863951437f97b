"""Legs and platform at the poses of a motion, on plain NumPy: singular poses are answered too.

What models refuse analyses have to look at: how near a pose is to a singularity, which joint is past
its stroke, in which directions the platform is held and in which it is driven.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.mechanics.driving import unheld
from gough.mechanics.equation import coasting
from gough.mechanics.leg import MovingLeg
from gough.mechanics.platforms.platform import MovingPlatform
from gough.mechanics.state import CHAINS, ELASTIC_FIELDS, state_of
from gough.model import batch
from gough.model.allowed import Allowed
from gough.model.asking import Askable
from gough.motion import Motion


class Standing(NamedTuple):
    """Platform and legs at n samples, without accelerations; arrays have the samples last."""

    platform: MovingPlatform
    legs: MovingLeg
    held: Array
    """Cᵀ (n, k, 6): rows of what legs and mobility forbid, Cᵀ (v, L ω) = 0, world axes."""
    gap: Array
    """(n, k), m: by how much the pose is off along each."""
    second: Array
    """(n, k), m/s²: what Cᵀ (v̇, L ω̇) must be."""


def standing(robot: Askable, motion: Motion) -> Standing:
    """The robot at the samples of a motion, in rows; a motion without elastic ones is undeformed."""
    given = {**robot.members(), **robot.elastic_inputs(motion)}
    if robot.mechanism.legs.coordinates:
        given[CHAINS] = robot.chains_of(motion), (robot.mechanism.legs.coordinates,)
    rows = batch.lay_out(motion, given)
    fields = {
        name: np.moveaxis(np.broadcast_to(value, (rows.rows, *value.shape[1:])), 0, -1)
        for name, value in rows.fields.items()
        if name not in robot.members()
    }
    if robot.modes:
        fields |= {name: fields[name] for name in ELASTIC_FIELDS}
    mechanism = robot.asked(rows.shape)
    with np.errstate(all="ignore"):
        platform, legs = coasting(mechanism, state_of(fields))
        found = unheld(mechanism, platform, legs)
        if found is None:
            none = np.zeros((rows.rows, 0))
            return Standing(platform, legs, np.zeros((rows.rows, 0, 6)), none, none)
        columns = platform.world(found.columns)
    shape = (rows.rows, columns.shape[1])
    held = np.broadcast_to(np.moveaxis(columns, -1, 0).swapaxes(1, 2), (*shape, 6))
    gap, second = (np.broadcast_to(one.T, shape) for one in (found.gap, found.second))
    return Standing(platform, legs, held, gap, second)


def free_directions(robot: Askable, motion: Motion) -> Array:
    """Z (..., 6, m): what the platform can do, orthonormal for (v, L ω); the identity where all."""
    shape = np.broadcast_shapes(motion.shape, *(one.shape for one in robot.which().values()))
    if robot.mobility == 6:
        return np.broadcast_to(np.eye(6), (*shape, 6, 6))
    elastic = motion.elastic if motion.modes else None
    rest = Motion(motion.position, motion.rotation, elastic=elastic)
    if robot.mechanism.legs.coordinates:
        robot.remember(rest, robot.chains_of(motion))
    held = standing(robot, rest).held
    free = Allowed.of(np.swapaxes(held, 1, 2), robot.mobility, 1.0).directions
    free[~np.isfinite(held).all(axis=(1, 2))] = np.nan
    return free.reshape(*shape, 6, robot.mobility)
