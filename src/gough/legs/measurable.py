"""Numbers of a leg's geometry that poses and coordinates can tell: what a calibration corrects."""

from __future__ import annotations

from typing import Literal, NamedTuple

Form = Literal["point", "direction", "turn", "length", "angle"]


class GeometricKey(NamedTuple):
    """A key under [legs] that says where the parts of a leg are."""

    key: str
    """Behind the group's own: "base", "joints.2.point"."""
    form: Form
    """A point has three freedoms, a direction the two across it, a turn the one about `across`; a
    length (m) and an angle (rad) are numbers."""
    across: str = ""
    """Of a turn: the key of the direction that it stays perpendicular to."""
