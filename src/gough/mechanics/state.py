"""A state as the equations see it, on components."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.mechanics.vectors import Components

NO_MODES = np.zeros((0, 1))


class State(NamedTuple):
    """States on components: vectors (3, 1, samples), rotation (3, 3, 1, samples).

    Of a flexible platform also its elastic coordinates, (modes, samples).
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
ELASTIC_FIELDS = State._fields[6:]
