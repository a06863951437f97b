"""Inverse dynamics by three classical routes: independent of `gough.mechanics.equation`.

`newton_euler`: free bodies; PUS legs by Kim & Ryu 2002, slender links, friction included; UPS legs
without friction.
`virtual_work`: virtual velocities; PUS legs by Sinatra, Xi & Staicu 2009, recursive matrices; UPS legs.
`lagrange`: energies of all bodies, differentiated by CasADi (extra `casadi`); PUS and UPS legs.
All take what `Robot.inverse_dynamics` takes and return its `Actuation`.
"""

from __future__ import annotations

from . import lagrange, newton_euler, virtual_work

__all__ = ["lagrange", "newton_euler", "virtual_work"]
