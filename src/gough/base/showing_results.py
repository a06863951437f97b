"""What results have in common: a picture of themselves, and a line that says what they hold."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from gough.base.showing import shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Showing:
    """A result (a dataclass) that draws itself, and says in a line what it holds."""

    __slots__ = ()

    def __repr__(self) -> str:
        parts = []
        for one in fields(self):  # type: ignore[arg-type]  # all that show themselves are dataclasses
            value = getattr(self, one.name) if one.repr else None
            if isinstance(value, np.ndarray):
                if value.size and not (value.dtype.kind == "f" and np.isnan(value).all()):
                    parts.append(f"{one.name} {value.shape}")
            elif isinstance(value, float):
                parts.append(f"{one.name} {value:.4g}")
            elif isinstance(value, bool | int | str):
                parts.append(f"{one.name} {value!r}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def plot(self) -> Figure:
        """A picture of the result.

        Returns:
            A matplotlib figure of its own.

        Example:
            >>> from gough.planning import retime
            >>> robot = gough.load("kim-ryu-2002")
            >>> circle = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=20).sample(61)
            >>> figure = retime(robot, circle, speed=0.5, cells=40).plot()

        """
        figure: Figure = shown(f"picture of {type(self).__name__}", self)
        return figure
