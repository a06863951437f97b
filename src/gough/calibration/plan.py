"""Poses to measure: chosen within the robot's limits so that they tell its geometry best.

Candidates are poses on rays from home, out to where a limit or the condition number stops them and on
the way there. With slopes K_i of candidate i over the noise, in the r combinations that can be told at
all, a set is D-optimal if det Σ K_iᵀ K_i is largest: poses are exchanged, one out and the best one in,
until none gains (Fedorov 1972). Then exchanges go on for the noise amplification index s_min²/s_max
(Nahvi & Hollerbach 1996) by which the set is judged, against the best of random sets of equal size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.calibration.calibration import free_unknowns
from gough.calibration.candidates import TURN, candidates
from gough.calibration.closing import Standing
from gough.calibration.frames import Frames
from gough.calibration.geometry import Geometry
from gough.calibration.measurements import COLUMNS, Noise, PoseMeasurements
from gough.calibration.residuals import Numbers, Problem
from gough.errors import InputError
from gough.model.model import Model
from gough.motion import Motion

WEAK = 1e-5
"""Slope along a combination, as a share of the steepest, below which no poses tell it."""
SWEEPS = 20
TRIED = 40
"""Poses that are tried in the place of another, for the index."""
RANDOM_SETS = 1000

Progress = Callable[[str, float], None]
"""Told the stage, and how much of all is done, 0 to 1."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Poses to measure."""

    poses: Motion
    """(n,), in an order with short ways between them."""
    index: float
    """Noise amplification index s_min²/s_max, of slopes per metre over 1 m of noise."""
    random: float
    """The best of that of random sets of as many poses."""
    rank: int
    """Combinations of unknowns that can be told."""
    unknowns: int
    assumed: tuple[str, ...]
    """What the robot file does not say."""

    @property
    def ratio(self) -> float:
        """How many times better than the best random set."""
        return self.index / self.random


def plan(
    robot: Model,
    count: int,
    *,
    known: Sequence[str] = (),
    fixed: Sequence[str] = (),
    seen: Sequence[str] = COLUMNS[:6],
    turn: float = TURN,
    seed: int = 0,
    progress: Progress | None = None,
) -> Plan:
    """Poses that tell the geometry best.

    Args:
        robot: as drawn.
        count: of poses, as many as it takes to tell all that can be told, or more.
        known: frames that are known, as in `calibrate`.
        fixed: geometry that is not looked for, as in `calibrate`.
        seen: what will be measured, out of x, y, z, rx, ry, rz.
        turn: largest turn from home about an axis, rad.
        seed: of the candidates.
        progress: is told how far it is.

    Example:
        >>> robot = gough.load("kim-ryu-2002")
        >>> plan(robot, 12, known=["tracker", "target"]).rank
        54

    """
    told = progress or (lambda stage, share: None)
    geometry = Geometry(robot)
    told("candidates", 0.0)
    poses, assumed, inner = candidates(robot, turn, seed)
    slopes, unknowns = _slopes(geometry, poses, known, fixed, seen)
    whole = slopes[inner].reshape(-1, slopes.shape[2])  # what ordinary poses tell
    _, values, vectors = np.linalg.svd(whole, full_matrices=False)
    kept = values > WEAK * values.max()
    parts = slopes @ vectors[kept].T
    rank = int(np.sum(kept))
    if count * slopes.shape[1] < rank:
        fewest = -(-rank // slopes.shape[1])
        raise InputError(
            f"{count} poses cannot tell {rank} combinations of numbers: {fewest} or more"
        )
    rng = np.random.default_rng(seed)
    chosen = _d_optimal(parts, _greedy(parts, count), told)
    chosen = _best_index(parts, chosen, told)
    told("random sets", 0.9)
    loose = np.flatnonzero(inner)
    random = max(_index(parts[rng.choice(loose, count, replace=False)]) for _ in range(RANDOM_SETS))
    order = _tour(poses, chosen, robot.length_scale)
    found = Motion(poses.position[order], poses.rotation[order])
    return Plan(found, _index(parts[chosen]), random, rank, unknowns, tuple(assumed))


def _slopes(
    geometry: Geometry,
    poses: Motion,
    known: Sequence[str],
    fixed: Sequence[str],
    seen: Sequence[str],
) -> tuple[Array, int]:
    """Slopes (n, numbers seen, free unknowns) per metre, angles times L, and how many are free."""
    robot = geometry.robot
    scale = robot.length_scale
    blank = np.full((len(poses.position), len(COLUMNS)), np.nan)
    for name in seen:
        if name not in COLUMNS[:6]:
            raise InputError(f"seen: {name!r} is none of {', '.join(COLUMNS[:6])}")
        blank[:, COLUMNS.index(name)] = 0.0
    q = robot.inverse_kinematics(poses).q
    measured = PoseMeasurements(q, blank, commanded=True, near=poses)
    frames = Frames.start(measured)
    free, sizes = free_unknowns(geometry, measured, frames, known, fixed)
    joints = robot.chains_of(poses)
    chains = np.broadcast_to(joints, (len(q), robot.mechanism.legs.coordinates))
    problem = Problem(geometry, measured, Noise(1.0, 1 / scale, 1.0, 0.0), "forward")
    standing = Standing(poses.position, poses.rotation, chains)
    middle = frames._replace(center=poses.position.mean(axis=0, keepdims=True))
    found = problem.weighed(Numbers(np.zeros(geometry.count), middle, standing))
    order = np.argsort(found.samples, kind="stable")
    slopes = (found.slopes * sizes)[order][:, free]
    return slopes.reshape(len(q), -1, slopes.shape[1]), int(np.sum(free))


def _greedy(parts: Array, count: int) -> list[int]:
    """Poses one after the other, each that adds most to det; from a little of all of them."""
    whole = np.einsum("nki,nkj->ij", parts, parts) / len(parts)
    information = 1e-6 * whole
    chosen: list[int] = []
    for _ in range(count):
        gain = _gains(parts, np.linalg.inv(information))
        gain[chosen] = -np.inf
        best = int(np.argmax(gain))
        chosen.append(best)
        information = information + parts[best].T @ parts[best]
    return chosen


def _gains(parts: Array, inverse: Array) -> Array:
    """log det(1 + K_i M⁻¹ K_iᵀ) of all candidates."""
    width = parts.shape[1]
    inner = np.eye(width) + (parts @ inverse) @ np.swapaxes(parts, 1, 2)
    return np.asarray(np.linalg.slogdet(inner)[1])


def _d_optimal(parts: Array, chosen: list[int], told: Progress) -> list[int]:
    """Exchanges that let log det grow, until none does."""
    chosen = list(chosen)
    for sweep in range(SWEEPS):
        told("D-optimal exchange", 0.1 + 0.4 * sweep / SWEEPS)
        changed = False
        for place, old in enumerate(chosen):
            rest = np.concatenate([parts[one] for one in chosen if one != old])
            information = rest.T @ rest
            information += (
                1e-12 * np.trace(information) / len(information) * np.eye(len(information))
            )
            gain = _gains(parts, np.linalg.inv(information))
            gain[[one for one in chosen if one != old]] = -np.inf
            best = int(np.argmax(gain))
            if gain[best] > gain[old] + 1e-6:
                chosen[place], changed = best, True
        if not changed:
            break
    return chosen


def _best_index(parts: Array, chosen: list[int], told: Progress) -> list[int]:
    """Exchanges that let s_min²/s_max grow, until none does."""
    chosen, best = list(chosen), _index(parts[chosen])
    for sweep in range(SWEEPS):
        told("exchange for the index", 0.5 + 0.4 * sweep / SWEEPS)
        changed = False
        for place in range(len(chosen)):
            information = _information(parts[[c for i, c in enumerate(chosen) if i != place]])
            values, vectors = np.linalg.eigh(information)
            weak = parts @ vectors[:, :3]
            gain = np.sum(weak**2 / (values[:3] + values[0] + 1e-12 * values[-1]), axis=(1, 2))
            gain[chosen] = -np.inf
            for other in np.argsort(-gain)[:TRIED]:
                now = _value(information + parts[other].T @ parts[other])
                if now > best * (1 + 1e-4):
                    chosen[place], best, changed = int(other), now, True
        if not changed:
            break
    return chosen


def _information(parts: Array) -> Array:
    return np.asarray(np.einsum("nki,nkj->ij", parts, parts))


def _value(information: Array) -> float:
    values = np.linalg.eigvalsh(information)
    return float(max(values[0], 0.0) / np.sqrt(values[-1]))


def _index(parts: Array) -> float:
    """s_min²/s_max of a set (n, numbers, combinations)."""
    return _value(_information(parts))


def _tour(poses: Motion, chosen: Sequence[int], scale: float) -> list[int]:
    """The poses in an order in which each is the nearest of those left, from the first."""
    left = list(chosen)
    order = [left.pop(0)]
    while left:
        here = order[-1]
        shift = np.linalg.norm(poses.position[left] - poses.position[here], axis=1)
        turned = poses.rotation[left] @ poses.rotation[here].T
        turn = Rotation.from_matrix(turned).magnitude()
        order.append(left.pop(int(np.argmin(shift + scale * turn))))
    return order
