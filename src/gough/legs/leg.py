"""What gough knows of a kind of leg besides its equations; `gough.legs.register` has the kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gough.legs.beams import Beams
from gough.legs.geometry import LegGeometry
from gough.legs.keys import LegGroupTable
from gough.legs.measurable import GeometricKey
from gough.legs.parameters import LegParameters
from gough.legs.reading import LegReader
from gough.legs.serial import Recognised, SerialLeg
from gough.legs.shape import LegShape
from gough.legs.sliding_links import SlidingLinks
from gough.legs.telescopes import Telescopes
from gough.legs.tolerances import LegTolerances
from gough.legs.tree import LegTree
from gough.legs.units import LINEAR, LegUnits
from gough.legs.words import LegWords
from gough.mechanics.leg import Leg


@dataclass(frozen=True, kw_only=True)
class LegKind:
    """A kind of leg. Nothing outside `gough.legs` asks which one it is."""

    name: str
    """As in `kind = "…"` of a robot file: letters for the joints from base to platform."""
    summary: str
    """What it is, for a reader."""
    numbers: type[Leg]
    """The class of its numbers, with its equations."""
    keys: type[LegGroupTable]
    """Its keys under [legs]."""
    place: str
    """The key that has one point per leg where the leg stands on the ground."""
    read: Callable[[Any], Leg]
    """Its numbers from these keys, taken from its `reader`."""
    geometry: LegGeometry[Any]
    """Where its parts are."""
    parameters: LegParameters[Any]
    """Which of its inertial and friction parameters are felt, and how."""
    tolerances: LegTolerances[Any]
    """What is off in it as it was built."""
    shape: LegShape[Any]
    """What it looks like."""
    words: LegWords
    """What people read of it."""
    units: LegUnits = LINEAR
    """Of q and Γ."""
    reader: type[LegReader] = LegReader
    """Takes values from the table for `read`, and knows what of them is no number of the equations."""
    recognise: Callable[[SerialLeg], Recognised | None] | None = None
    """A leg that is given joint by joint, if it is of this kind; else None."""
    any_leg: bool = False
    """Every serial leg is of this kind: it is asked after the others."""
    tree: LegTree[Any] | None = None
    """Its bodies and joints for other programs; without them it cannot be written for those."""
    measurable: Callable[[Any], tuple[GeometricKey, ...]] = lambda table: ()
    """Its geometry as a calibration corrects it, from its keys; none by default."""
    zeroed: bool = True
    """These keys also say where q is 0; else an encoder's zero is a number of its own."""
    beams: Callable[[Any, Any], Beams | None] = lambda reader, legs: None
    """Its members that bend, from its `reader` and its numbers; None where the file has none."""
    sliding_links: Callable[[Any], SlidingLinks] | None = None
    """Its numbers as those of links on sliders, if it is one: for papers that know no other legs."""
    telescopes: Callable[[Any], Telescopes] | None = None
    """Its numbers as those of telescopes, if it is one: likewise."""
