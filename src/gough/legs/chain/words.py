"""What people read of chains."""

from __future__ import annotations

from gough.legs.words import LegWords

WORDS = LegWords(
    joints=(),
    joint_units=(),
    passive={},
    carried="body",
    friction_units={"viscous": "N s/m or N m s/rad", "coulomb": "N or N m"},
    body_key="joints.{place}.body",
)
