"""Which parameters of a RUS leg are felt.

The rules by which they group (`gough.legs.rus.moving.grouped`) depend on the crank's length and on the
universal axis of each leg, so there is no table of symbols that holds for all: `base_parameters` finds
the groups by numbers. Of an open leg 17 of 30 are felt: of the link all but M, MY and ∫ y² dm, which lie
on its joint's axis, 7; of the cross all but M, MZ and ∫ z² dm, 7; of the crank ZZ, MX, MY. The rotor is
felt as the crank's ZZ is. Closed, a mass at the tip is one on the platform: 16 per leg, and 10 of the
platform: 106.
"""

from __future__ import annotations

from typing import ClassVar

from gough.legs.parameters import LegParameters
from gough.legs.rus.equations import RUS


class RUSParameters(LegParameters[RUS]):
    """The parameters of RUS legs, without a closed form."""

    kind: ClassVar[str] = "RUS"
    rotor: ClassVar[str] = "rotor_inertia"
