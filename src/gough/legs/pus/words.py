"""What people read of PUS legs."""

from __future__ import annotations

from gough.legs.pus.equations import PUS
from gough.legs.words import LegWords

WORDS = LegWords(
    joints=PUS.JOINTS,
    joint_units=("m", "rad", "rad"),
    passive={"phi1": "$φ_1$", "phi2": "$φ_2$"},
    carried="link",
)
