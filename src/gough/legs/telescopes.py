"""Telescopes: what formulations that know no other legs ask a kind of leg for."""

from __future__ import annotations

from typing import NamedTuple

from gough.mechanics.body import Body
from gough.mechanics.friction import Friction
from gough.mechanics.vectors import Components


class Telescopes(NamedTuple):
    """Legs as cylinder and rod on a universal joint, component axis first: (3, legs, 1); world, SI."""

    base: Components
    """Universal joint B."""
    axis: Components
    """Universal axis α fixed to the base, unit."""
    rotor_mass: Components
    """Drive inertia felt along q, (legs, 1), kg."""
    cross: Body
    """Frame 1, at B: z along α, x along the leg's direction n made perpendicular to α."""
    cylinder: Body
    """Frame 2, at B: y along −n, z along n×α."""
    rod: Body
    """Frame 3, at the tip: z along n, y along n×α."""
    friction: Friction
    """Coefficients (legs, 1) each."""
