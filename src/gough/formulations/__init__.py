"""Inverse dynamics of PUS robots the way two papers get it: independent of `gough.mechanics.equation`.

`newton_euler`: Kim & Ryu 2002, free bodies with slender links, friction included.
`virtual_work`: Sinatra, Xi & Staicu 2009, recursive matrices and virtual velocities, no friction.
Both take what `Robot.inverse_dynamics` takes and return its `Actuation`.
"""

from __future__ import annotations

from . import newton_euler, virtual_work

__all__ = ["newton_euler", "virtual_work"]
