"""Where which number is in y, what a simulation integrates: p, g, v, ω, works; drives; modes.

g is Rodrigues' vector of the rotation from an anchor (`gough.simulation.attitude`); the works are those
of the actuators, of the wrench and of friction, J. Behind them come the forces of lagging drives
(legs,), the elastic coordinates and their rates.
"""

from __future__ import annotations

POSITION = slice(0, 3)
GIBBS = slice(3, 6)
VELOCITY = slice(6, 9)
ANGULAR_VELOCITY = slice(9, 12)
WORKS = slice(12, 15)
RIGID = WORKS.stop
"""Numbers before the drives'."""
BEHIND = slice(RIGID, None)
"""Drives and modes; of rates that go without modes, the drives."""
