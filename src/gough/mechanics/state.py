"""A state as the equations see it, on components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gough.mechanics.vectors import Components

NO_MODES = np.zeros((0, 1))


class State(NamedTuple):
    """States on components: vectors (3, 1, samples), rotation (3, 3, 1, samples).

    Of a flexible platform also its elastic coordinates, (modes, samples); of chain legs the joint
    coordinates near which theirs are (`gough.legs.chain`).
    """

    position: Components
    rotation: Components
    velocity: Components
    angular_velocity: Components
    acceleration: Components
    angular_acceleration: Components
    elastic: Components = NO_MODES
    elastic_velocity: Components = NO_MODES
    elastic_acceleration: Components = NO_MODES
    chains: Components = np.zeros((0, 1))

    @property
    def twist(self) -> Components:
        """(v, ω), (6, samples), world axes."""
        return np.concatenate([self.velocity, self.angular_velocity])[:, 0]

    @property
    def twist_rate(self) -> Components:
        """(v̇, ω̇), (6, samples), world axes."""
        return np.concatenate([self.acceleration, self.angular_acceleration])[:, 0]

    def accelerated(self, twist_rate: Components) -> State:
        """The same state with (v̇, ω̇) (6, samples), world axes."""
        return self._replace(
            acceleration=twist_rate[:3, np.newaxis], angular_acceleration=twist_rate[3:, np.newaxis]
        )

    def coasting(self) -> State:
        """The same state with v̇ = ω̇ = 0."""
        zero = 0 * self.velocity
        return self._replace(acceleration=zero, angular_acceleration=zero)


RIGID_FIELDS = State._fields[:6]
ELASTIC_FIELDS = State._fields[6:9]
CHAINS = State._fields[9]
RIGID_SHAPES: dict[str, tuple[int, ...]] = {
    name: (3, 3) if name == "rotation" else (3,) for name in RIGID_FIELDS
}
PER_MODE = "elastic"
"""How names of fields and inputs begin that have one number per mode."""


def shapes(modes: int, chains: int = 0) -> dict[str, tuple[int, ...]]:
    """Shape of one state's part in each of its fields; `chains` joint coordinates of chain legs."""
    elastic = dict.fromkeys(ELASTIC_FIELDS, (modes,)) if modes else {}
    joints = {CHAINS: (chains,)} if chains else {}
    return RIGID_SHAPES | elastic | joints


def state_of(arrays: Mapping[str, Components]) -> State:
    """The state from arrays (*shape, samples) by name; without elastic ones that of a rigid platform."""
    rigid = (np.expand_dims(arrays[name], -2) for name in RIGID_FIELDS)
    others = {name: arrays[name] for name in (*ELASTIC_FIELDS, CHAINS) if name in arrays}
    return State(*rigid, **others)
