"""Postures of any robot by chance: Newton from many random poses, joints of chains anywhere.

No count of solutions is known for chains in general and for platforms that legs or mobility hold: what
is found is there, what is missing nobody knows. Where all poses are known, the joints at them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.analysis.leg_quadrics import Solutions
from gough.analysis.multistart import SAME, SEEN_ENOUGH, Coverage, coverage, distinct
from gough.base.arrays import Array
from gough.model import chains, forward
from gough.model.model import Model
from gough.motion import Motion

STARTS, MOST_WAVES = 500, 8
"""Starts a wave, and waves at most."""
TRIES = 40
"""Joints of chains that are tried a wave at a pose that is known."""
MET = (forward.CONVERGED, forward.OTHER_BRANCH)
"""What Newton says of a posture."""
MOST_POSTURES = 200
"""More than these are not isolated; the search ends."""


class Search(NamedTuple):
    """Postures (k,) that were met, sorted, and how sure it is that there are no others."""

    position: Array
    rotation: Array
    chains: Array
    other_branch: Array
    """(k,) whether a leg with a closed form is on another branch than the robot file's."""
    coverage: Coverage | None
    """None where all are known."""


def search(robot: Model, q: Array, seed: int) -> Search:
    """Postures with actuated coordinates q (actuators,); ends once each was met often enough."""
    rng = np.random.default_rng(seed)
    size = max(robot.leg_size, robot.length_scale)
    known = np.zeros((0, 12 + robot.mechanism.legs.coordinates + 1))
    counts = np.zeros(0, dtype=np.intp)
    waves = 0
    for waves in range(1, MOST_WAVES + 1):
        every = np.concatenate([known, _met(robot, q, size, _starts(robot, q, size, rng))])
        index, met = distinct(every[:, :12])
        met[: len(known)] += counts - 1
        known, counts = every[index], met
        if len(known) > MOST_POSTURES or (waves > 1 and np.all(counts >= SEEN_ENOUGH)):
            break
    return _search(known, size, coverage(waves * STARTS, counts))


def polished(robot: Model, q: Array, all_poses: Solutions, seed: int) -> Search | None:
    """The postures at all poses that there are for q; None if one that is real is not met.

    The joints of the chains that belong to a pose are searched: their starts are anywhere.
    """
    rng = np.random.default_rng(seed)
    size = max(robot.leg_size, robot.length_scale)
    known = np.zeros((0, 12 + robot.mechanism.legs.coordinates + 1))
    wanted = np.concatenate([all_poses.position / size, all_poses.rotation.reshape(-1, 9)], axis=1)
    missing = np.arange(len(wanted))
    for _ in range(MOST_WAVES):
        if not missing.size:
            break
        every = np.repeat(missing, TRIES)
        poses = Motion(all_poses.position[every], all_poses.rotation[every])
        joints = robot.mechanism.legs.scattered(np.tile(q[:, np.newaxis], len(every)), size, rng).T
        near = _with_joints(robot, poses, joints)
        # at singular poses, which Newton tells to half the digits
        known = np.concatenate([known, _met(robot, q, size, near, (*MET, forward.UNTOLD))])
        known = known[distinct(known[:, :12])[0]]
        apart = np.linalg.norm(known[:, np.newaxis, :12] - wanted[missing], axis=-1)
        missing = missing[apart.min(axis=0, initial=np.inf) > SAME]
    strange = np.linalg.norm(known[:, np.newaxis, :12] - wanted, axis=-1).min(
        axis=1, initial=np.inf
    )
    if all_poses.real[missing].any():
        return None
    return _search(known[strange <= SAME], size, None)


def _met(
    robot: Model, q: Array, size: float, guess: Motion, enough: tuple[int, ...] = MET
) -> Array:
    """Rows of postures that Newton meets: position, rotation, joints of chains, other branch."""
    found = forward.solve(robot, np.tile(q, (len(guess), 1)), guess)
    good = np.isin(found.status, enough)
    other = (found.status == forward.OTHER_BRANCH)[:, np.newaxis]
    parts = [found.position / size, found.rotation.reshape(-1, 9), found.chains, other]
    return np.concatenate(parts, axis=1)[good]


def _search(known: Array, size: float, seen: Coverage | None) -> Search:
    """Postures in rows, sorted."""
    keys = np.round(known[:, :12], 9) + 0.0
    known = known[np.lexsort([*keys[:, 3:].T[::-1], keys[:, 0], keys[:, 1], keys[:, 2]])]
    rotation = known[:, 3:12].reshape(-1, 3, 3)
    return Search(size * known[:, :3], rotation, known[:, 12:-1], known[:, -1] > 0, seen)


def _with_joints(robot: Model, poses: Motion, joints: Array) -> Motion:
    """Poses (n,) whose chains follow them from joints (n, K), where they can."""
    still = np.zeros((len(poses), robot.modes))
    places = chains.Poses(poses.position, poses.rotation, robot.which(), still)
    near = chains.close(robot.executor, places, np.ascontiguousarray(joints))
    return robot.remember(poses, near)


def _starts(robot: Model, q: Array, size: float, rng: np.random.Generator) -> Motion:
    """Random poses about home: half of them along what it can do there, the others anywhere.

    What `mobility` takes from the platform is kept in all of them. Joints of chains are scattered, and
    then, where they can, follow the pose, whatever the actuators then read.
    """
    home, free = robot.home, robot.freedom.directions
    share = np.minimum(rng.uniform(0, 2, (STARTS, 1)), 1.0)
    shift = size * rng.normal(size=(STARTS, 3))
    vector = rng.uniform(-np.pi, np.pi, (STARTS, 3))
    along = np.concatenate([shift / size, vector], axis=1) @ free @ free.T
    bound = (
        np.arange(STARTS) % 2 == 0 if robot.mechanism.mobility is None else np.full(STARTS, True)
    )
    shift[bound], vector[bound] = size * along[bound, :3], along[bound, 3:]
    turn = Rotation.from_rotvec(share * vector).as_matrix() @ home.rotation
    guess = Motion(home.position + share * shift, turn)
    legs = robot.mechanism.legs
    if legs.coordinates:
        joints = legs.scattered(np.tile(q[:, np.newaxis], STARTS), size, rng).T
        third = np.arange(STARTS) % 3 == 0  # some of them near home's branch
        joints[third] = legs.at_home() + share[third] * (joints[third] - legs.at_home())
        guess = _with_joints(robot, guess, joints)
    return guess
