"""Which parameters of a RUS leg are felt.

The rules by which they group (`gough.legs.rus.moving.grouped`) depend on the crank's length and on the
universal axis of each leg, so there is no table of symbols that holds for all: `base_parameters` finds
the groups by numbers. Of an open leg 8 + 7 + 7 … are felt: link XX − ZZ, XY, XZ, YY, YZ, MX, MZ, the
cross's XX − YY, XY, XZ, YZ, ZZ, MX, MY, the crank's ZZ, MX, MY; the rotor is felt as the crank's ZZ is.
"""

from __future__ import annotations

from typing import ClassVar

from gough.legs.parameters import LegParameters
from gough.legs.rus.equations import RUS


class RUSParameters(LegParameters[RUS]):
    """The parameters of RUS legs, without a closed form."""

    kind: ClassVar[str] = "RUS"
    rotor: ClassVar[str] = "rotor_inertia"
