"""What people read of RUS legs."""

from __future__ import annotations

from gough.legs.rus.equations import RUS
from gough.legs.words import LegWords

WORDS = LegWords(
    joints=RUS.JOINTS,
    joint_units=("rad", "rad", "rad"),
    passive={"phi1": "$φ_1$", "phi2": "$φ_2$"},
    carried="link",
)
