"""Where which number is in y, what a simulation integrates: p, g, v, ω, works; drives; chains; modes.

g is Rodrigues' vector of the rotation from an anchor (`gough.simulation.attitude`); the works are those
of the actuators, of the wrench and of friction, J. Behind them come the forces of lagging drives
(actuators,), the joint coordinates of chain legs, of compliant drives the springs' elongations and the
rotors' rates (2 actuators,), the elastic coordinates and their rates.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

POSITION = slice(0, 3)
GIBBS = slice(3, 6)
VELOCITY = slice(6, 9)
ANGULAR_VELOCITY = slice(9, 12)
WORKS = slice(12, 15)
RIGID = WORKS.stop
"""Numbers before the drives'."""


class Places(NamedTuple):
    """Where numbers behind the rigid platform's are."""

    drives: slice
    chains: slice
    motors: slice
    elastic: slice
    elastic_velocity: slice


def behind(drives: int, chains: int, motors: int = 0, modes: int = 0) -> Places:
    """Places of so many drives, joints of chains, numbers of motors, elastic coordinates and rates."""
    edges = [RIGID]
    for count in (drives, chains, motors, modes, modes):
        edges.append(edges[-1] + count)
    return Places(*(slice(*pair) for pair in pairwise(edges)))
