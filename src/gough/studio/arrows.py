"""Forces as arrows with their sizes beside them: slim, so that they are no parts of the robot."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import to_rgb

from gough.base.arrays import Array
from gough.show.solids import bar, cone, turns_from_z


def arrow_vectors(force: Array, strongest: float, longest: float) -> Array:
    """Arrows (..., 3) of forces (..., 3): `longest` (m) for the strongest (N).

    Forces beyond the strongest get at most 1.5 times that length.
    """
    part = force / (strongest or 1.0)
    size = np.linalg.norm(part, axis=-1, keepdims=True)
    return longest * part * np.minimum(1.0, 1.5 / np.where(size == 0, 1.0, size))


def rgb(color: str) -> tuple[int, int, int]:
    """A colour by its name as three numbers up to 255."""
    red, green, blue = (round(255 * part) for part in to_rgb(color))
    return red, green, blue


class Arrow:
    """An arrow whose place and direction reach the page as fast as the bodies'."""

    def __init__(self, scene: Any, name: str, color: str, size: float) -> None:
        self._head_length = 0.035 * size
        shaft, head = bar(0.0035 * size, 1.0), cone(0.0105 * size, self._head_length)
        self._frame = scene.add_frame(name, show_axes=False)
        plain = {"color": rgb(color), "cast_shadow": False, "receive_shadow": False}
        self._shaft, self._head = (
            scene.add_mesh_simple(f"{name}/{part}", mesh.vertices, mesh.faces, **plain)
            for part, mesh in (("shaft", shaft), ("head", head))
        )
        self._label = scene.add_label(
            f"{name}/label", "", font_size_mode="screen", font_screen_scale=0.75,
            anchor="center-center",
        )  # fmt: skip
        self._length = 1.0
        self.visible = False

    @property
    def visible(self) -> bool:
        """It is drawn."""
        return self._seen

    @visible.setter
    def visible(self, seen: bool) -> None:
        self._seen = self._frame.visible = seen

    def point(self, start: Array, vector: Array, newtons: float) -> None:
        """Draw the arrow from a place (3,) along a vector (3,) of its length; N are written at it."""
        length = float(np.linalg.norm(vector))
        self.visible = length > 0.2 * self._head_length
        if not self.visible:
            return
        shaft = max(length - self._head_length, 1e-6)
        self._frame.position, self._frame.wxyz = start, turns_from_z(vector / length)
        self._head.position = (0.0, 0.0, shaft)
        if abs(shaft - self._length) > 0.01 * self._length:
            self._length = shaft
            self._shaft.scale = (1.0, 1.0, shaft)
            self._label.position = (0.0, 0.0, length + self._head_length)
        text = said(newtons)
        if text != self._label.text:
            self._label.text = text


def said(newtons: float) -> str:
    """A force in few digits: 45.5 N, 1.92 kN."""
    if newtons >= 1e3:
        return f"{newtons / 1e3:.3g} kN" if newtons < 1e6 else f"{newtons / 1e6:.3g} MN"
    return f"{newtons:.3g} N"
