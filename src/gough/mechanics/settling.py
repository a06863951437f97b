"""States brought to where the robot can be: joints of chain legs closed, the platform as it is held.

What integrators leave is so small that one step takes it out. Samples on the last axis, SI units.
"""

from __future__ import annotations

import numpy as np

from gough.mechanics.driving import holding
from gough.mechanics.forward_program import joint_step
from gough.mechanics.leg import MovingLeg
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.mobility import turned_by
from gough.mechanics.platforms.platform import MovingPlatform
from gough.mechanics.state import State
from gough.mechanics.vectors import Components


def closed(mechanism: Mechanism, state: State) -> State:
    """The state with joints of chain legs one Newton step nearer to where the platform is."""
    if not mechanism.legs.coordinates:
        return state
    return state._replace(chains=joint_step(mechanism, state)["chains"])


def brought_back(
    mechanism: Mechanism, platform: MovingPlatform, legs: MovingLeg
) -> tuple[Components, Components, Components]:
    """Position, rotation and twist that are allowed, nearest to those of a state: (3,), (3, 3), (6,).

    The least correction, lengths over the length scale: x ← x − C⁺ᵀ gap, ξ ← P ξ. What integrators leave
    is so small that one step takes it out.
    """
    state, held = platform.state, holding(mechanism, platform, legs)
    if held is None:
        return state.position[:, 0], state.rotation[:, :, 0], state.twist
    scale = mechanism.scale()
    step = platform.world(held.least(held.gap) * scale)
    own = held.whole(held.free(platform.own(state.twist) / scale)) * scale
    return (
        state.position[:, 0] - step[:3],
        turned_by(-step[3:, np.newaxis], state.rotation)[:, :, 0],
        platform.world(own),
    )
