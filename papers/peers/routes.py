"""The same forces by several routes, as a table; none shares an equation of motion with gough."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import gough
from gough.base.arrays import Array
from gough.show.reproduction import NumberTable, number

from . import motions
from .programs import PROGRAMS
from .results import Beside, beside

Route = Callable[[gough.Robot, gough.Motion], Array]
BY = {
    "casadi": "Lagrange: energies of all bodies, differentiated",
    "pinocchio": "opened legs (RNEA), closed by projection",
}


class Routes:
    """Motions along which forces are found in several ways, and how far they are from gough's."""

    def __init__(self, cases: Mapping[str, str], own: Mapping[str, Route]) -> None:
        """Cases by the heading of their column; routes of a script of ours by their name."""
        self.cases = dict(cases)
        self.gough: dict[str, Array] = {}
        self.differences: dict[str, list[float]] = {name: [] for name in own}
        self.found: dict[str, dict[str, Beside]] = {}
        for heading, case in cases.items():
            robot, motion = motions.robot(case), motions.motion(case)
            forces = robot.inverse_dynamics(motion, friction=False).forces
            self.gough[heading] = forces
            for name, route in own.items():
                self.differences[name].append(float(np.abs(route(robot, motion) - forces).max()))
            for name in BY:
                if case in PROGRAMS[name].cases:
                    self.found.setdefault(name, {})[heading] = beside(name, case)

    def worst(self) -> float:
        """Largest difference of any route over the largest force of its motion."""
        largest = {heading: float(np.abs(one).max()) for heading, one in self.gough.items()}
        own = [
            off / size
            for row in self.differences.values()
            for off, size in zip(row, largest.values(), strict=True)
        ]
        others = [
            self._off(one, at) / largest[at]
            for row in self.found.values()
            for at, one in row.items()
        ]
        return max(own + others)

    def _off(self, one: Beside, heading: str) -> float:
        return float(np.abs(one.values - self.gough[heading]).max())

    def table(self, caption: str) -> NumberTable:
        """Routes and their largest differences, N; below, the largest force of each motion."""
        rows = [
            [name, "script of this project", *(number(off) for off in offs)]
            for name, offs in self.differences.items()
        ]
        origins = []
        for name, row in self.found.items():
            cells = [number(self._off(row[at], at)) if at in row else "–" for at in self.cases]
            first = next(iter(row.values()))
            rows.append([BY[name], first.label, *cells])
            worst = max((one for one in row.values()), key=lambda one: one.anew or 0.0)
            origins.append(worst.origin("N"))
        sizes = [f"{np.abs(one).max():.1f}" for one in self.gough.values()]
        rows.append(["largest force, N", "gough", *sizes])
        return NumberTable(
            f"{caption} Differences from gough's forces, N, the largest over legs and time. "
            + ". ".join(origins)
            + ".",
            ("route", "computed by", *self.cases),
            rows,
        )
