"""Links on sliders: what formulations that know no other legs ask a kind of leg for."""

from __future__ import annotations

from typing import NamedTuple

from gough.mechanics.body import Body
from gough.mechanics.friction import Friction
from gough.mechanics.vectors import Components


class SlidingLinks(NamedTuple):
    """Legs as links of fixed length on sliders, component axis first: (3, legs, 1); world, SI units."""

    origin: Components
    """Universal joint at q = 0."""
    rail: Components
    """Unit vector a of growing q."""
    length: Components
    """Link length l, (legs, 1)."""
    sign: Components
    """Branch of q = a·d + sign √…, (legs, 1)."""
    axis: Components
    """Universal axis α fixed to the slider, unit."""
    reference: Components
    """Zero of φ1, unit, perpendicular to α."""
    rotor_mass: Components
    """Drive inertia felt along q, (legs, 1), kg."""
    slider: Body
    """Axes of the world."""
    cross: Body
    """z along α, x along the link's direction n made perpendicular to α."""
    link: Body
    """z along n, y along n×α."""
    friction: Friction
    """Coefficients (legs, 1) each."""
