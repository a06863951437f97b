"""Joints that can move while the platform rests: a leg that has such hangs as it likes."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.legs.chain.equations import Chain

NOTHING = 1e-6
"""Singular values under this part of the largest are zero."""
TAKES_PART = 1e-3
"""A joint moves along if its rate is over this part of the largest."""


def idle_joints(chain: Chain) -> list[tuple[int, ...]]:
    """Of each leg the elementary joints whose rates u ≠ 0 leave the port where it is, J u = 0."""
    return [_idle(chain, leg) for leg in range(chain.port.shape[1])]


def _idle(chain: Chain, leg: int) -> tuple[int, ...]:
    arms = [(chain.port - point)[:, leg, 0] for point in chain.points]
    if not arms:
        return ()
    size = max(map(float, np.linalg.norm(arms, axis=1))) or 1.0
    columns = [_columns(chain, joint, leg, arm / size) for joint, arm in enumerate(arms)]
    _, sizes, turned = np.linalg.svd(np.concatenate(columns, axis=1))
    rank = int(np.sum(sizes > NOTHING * sizes[0]))
    loose = turned[rank:]  # (0 or more, rates)
    ends = np.cumsum([one.shape[1] for one in columns])[:-1]
    rates = np.array([np.linalg.norm(one) for one in np.split(loose, ends, axis=1)])
    return tuple(int(i) for i in np.flatnonzero(rates > TAKES_PART * max(rates.max(), 1e-300)))


def _columns(chain: Chain, joint: int, leg: int, arm: Array) -> Array:
    """The port's twist by a joint's rates at home (3 or 6, rates), lengths over the leg's own length l.

    (a×arm, a), arm = (c_port − c)/l, of turning about a, (a, 0) of sliding along it; of a point v alone.
    A spherical joint turns about all three axes.
    """
    axes = np.eye(3) if chain.joints[joint] == "spherical" else chain.axes[joint][:, leg].T
    if chain.joints[joint] == "prismatic":
        twists = np.concatenate([axes, np.zeros((1, 3))], axis=1)
    else:
        twists = np.concatenate([np.cross(axes, arm), axes], axis=1)
    return np.asarray(twists[:, : 6 if chain.body_port else 3].T)
