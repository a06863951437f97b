"""What measurements cannot tell, in words: combinations of unknowns along which nothing seen changes.

Moving base and trackers together changes nothing, nor does moving the platform's frame with what the
targets are in: where these frames are unknown, so are these common motions. A leg whose numbers can
change together is found by itself: a platform that never turns shows only sums of a leg's numbers. The
rest is named by the keys that have a part in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.base.words import counted
from gough.calibration.calibration import Calibration
from gough.calibration.frames import COORDINATES
from gough.calibration.ranks import LITTLE, largest_turn, leg_ranks, turned

SAME = 1e-3
"""Part of a combination that may lie in what is told."""
SHARE = 0.05
"""Part of a combination from which a key is named."""
TURNS = 10.0
"""Degrees: turns that are advised."""


class Untold(NamedTuple):
    """Combinations of unknowns that are not told."""

    text: str
    size: int
    """How many."""


def untold(found: Calibration) -> list[Untold]:
    """All that cannot be told, in words."""
    lost = found.spectrum.vectors[:, ~found.spectrum.told]
    named: list[Untold] = []
    explained = np.zeros((len(lost), 0))
    if not lost.shape[1]:
        return named
    for what, moves in _common_motions(found).items():
        words = []
        for name, move in moves.items():
            vector = _completed(lost, found.free, move)
            if vector is None:
                continue
            grown = _grown(explained, vector[:, np.newaxis])
            if grown.shape[1] > explained.shape[1]:
                explained = grown
                words.append(name)
        if words:
            named.append(Untold(f"{_motion(words)} of {what} together", len(words)))
    texts: dict[str, list[int]] = {}
    counts: dict[str, int] = {}
    for leg in range(found.geometry.robot.leg_count):
        own = _supported(lost, np.array([one.leg for one in found.names])[found.free] == leg)
        grown = _grown(explained, own)
        more = grown.shape[1] - explained.shape[1]
        if more:
            explained = grown
            text = f"{counted(more, 'combination')} of {_keys(found, own)}"
            texts.setdefault(text, []).append(leg + 1)
            counts[text] = counts.get(text, 0) + more
    for text, legs in texts.items():
        every = len(legs) == found.geometry.robot.leg_count
        who = "each leg" if every else f"leg{'s' * (len(legs) > 1)} {', '.join(map(str, legs))}"
        named.append(Untold(f"of {who} {text}", counts[text]))
    rest = lost - explained @ (explained.T @ lost)
    left = lost.shape[1] - explained.shape[1]
    if left > 0:
        basis = np.linalg.svd(rest, full_matrices=False)[0][:, :left]
        named.append(Untold(f"{counted(left, 'combination')} of {_keys(found, basis)}", left))
    return named


def _motion(names: list[str]) -> str:
    """Shifts and turns in words, from coordinates that change."""
    shifts = [name for name in names if len(name) == 1]
    turns = [name[1] for name in names if len(name) == 2]
    parts = [f"a shift along {_listed(shifts)}"] if shifts else []
    parts += [f"a turn about {_listed(turns)}"] if turns else []
    return " and ".join(parts)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " * (len(names) > 1) + names[-1]


def _common_motions(found: Calibration) -> dict[str, dict[str, Array]]:
    """Changes of the frames' unknowns, in metres, when base or platform move with them."""
    frames, sizes = found.numbers.frames, _frame_sizes(found)
    trackers, targets = frames.counts
    base, platform = dict[str, Array](), dict[str, Array]()
    for k, name in enumerate(COORDINATES):
        axis = np.eye(3)[k % 3]
        move = np.zeros((trackers + targets, 6))
        for i in range(trackers):
            turned = frames.tracker_rotation[i]
            if k < 3:
                move[i, :3] = -turned @ axis
            else:
                move[i, 3:] = -turned @ axis
                arm = frames.tracker_position[i] - frames.center[i]
                move[i, :3] = np.cross(turned @ axis, arm)
        base[name] = move.ravel() / sizes
        move = np.zeros((trackers + targets, 6))
        for i in range(targets):
            if k < 3:
                move[trackers + i, :3] = -axis
            else:
                move[trackers + i, :3] = -np.cross(axis, frames.target_position[i])
                move[trackers + i, 3:] = -axis
        platform[name] = move.ravel() / sizes
    whose = "base and tracker" + "s" * (trackers > 1)
    what = "platform and target" + "s" * (targets > 1)
    return {whose: base, what: platform}


def _frame_sizes(found: Calibration) -> Array:
    per_length = 1 / found.geometry.robot.length_scale
    return np.tile([1.0] * 3 + [per_length] * 3, sum(found.numbers.frames.counts))


def _completed(lost: Array, free: Array, move: Array) -> Array | None:
    """The combination that is not told with this change of the frames; None if there is none."""
    frames = np.flatnonzero(free)
    geometric = len(free) - len(move)
    rows = frames >= geometric
    wanted = move[free[geometric:]]
    if not np.any(wanted):
        return None
    part, *_ = np.linalg.lstsq(lost[rows], wanted, rcond=SAME)
    missed = np.linalg.norm(lost[rows] @ part - wanted)
    if missed > SAME * np.linalg.norm(wanted):
        return None
    vector = lost @ part
    return np.asarray(vector / np.linalg.norm(vector))


def _supported(lost: Array, own: Array) -> Array:
    """Combinations that are not told and that have unknowns `own` alone, (unknowns, n)."""
    _, values, vectors = np.linalg.svd(lost[~own], full_matrices=True)
    small = np.concatenate([values, np.zeros(len(vectors) - len(values))]) < SAME
    return np.asarray(lost @ vectors[small].T)


def _grown(known: Array, more: Array) -> Array:
    """An orthonormal basis of both."""
    if not more.shape[1]:
        return known
    left, values, _ = np.linalg.svd(np.concatenate([known, more], axis=1), full_matrices=False)
    return np.asarray(left[:, values > 10 * SAME])


def _keys(found: Calibration, vectors: Array) -> str:
    """Keys that have a part in combinations."""
    share: dict[str, float] = {}
    names = np.array([one.name for one in found.names])[found.free]
    for one, weight in zip(names, np.sum(vectors**2, axis=1), strict=True):
        key = str(one).split("[")[0]
        share[key] = share.get(key, 0.0) + float(weight)
    whole = sum(share.values())
    keys = [key for key, part in share.items() if part > SHARE * whole]
    return _listed(keys) if keys else "nothing"


def advice(found: Calibration) -> list[str]:
    """What to measure so that more is told."""
    said = []
    robot = found.geometry.robot
    rows, unknowns = len(found.residuals), int(np.sum(found.free))
    if rows < unknowns:
        said.append(
            f"{counted(rows, 'number')} measured for {counted(unknowns, 'unknown')}: measure more poses"
        )
    if all(rank == count for rank, count in found.per_leg):
        return said
    widest = float(np.degrees(largest_turn(found.numbers.poses)))
    if widest > LITTLE or robot.mobility < 6:
        return said
    looked = found.free[: found.geometry.count]
    then = leg_ranks(found.geometry, turned(found.geometry, found.numbers.poses, TURNS), looked)
    worst = min(found.per_leg, key=lambda one: one[0] - one[1])
    after = min(then, key=lambda one: one[0] - one[1])
    said.append(
        f"the platform turned by {widest:.2g}° at most: shifts alone tell {worst[0]} of {worst[1]} "
        f"unknowns of a leg; poses turned by ±{TURNS:g}° about x, y and z tell {after[0]} of {after[1]}"
    )
    return said
