"""What people read of UPS legs."""

from __future__ import annotations

from gough.legs.ups.equations import UPS
from gough.legs.words import FRICTION_UNITS, LegWords

WORDS = LegWords(
    joints=UPS.JOINTS,
    joint_units=("rad", "rad", "m"),
    passive={"q1": "$q_1$", "q2": "$q_2$"},
    carried="cylinder",
    friction_units={**FRICTION_UNITS, "slider_coulomb": "N"},
)
