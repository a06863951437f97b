"""All that takes time, computed once."""

from __future__ import annotations

from typing import Any, NamedTuple

import gough
from gough.base.arrays import Array
from gough.motion import ELASTIC_FIELDS
from gough.show.reproduction import Progress

from .attachment import table_4
from .legs import least_cylinder
from .models import Agreement, agreement, elimination_error
from .modes import COUNTS, Convergence, convergence
from .plate import peers
from .printed import NAME
from .simulation import Growth, Run, open_loop, simulate
from .zero_dynamics import Health, health

TOLERANCES = (1e-8, 1e-10)
"""Relative tolerances at which the simulation is compared."""


class Results(NamedTuple):
    """What the claims are made of."""

    robot: gough.Robot
    calculix: Any
    """CalculiX's frequencies: `Beside` of papers/peers."""
    geometry: tuple[Array, float, float]
    runs: tuple[Run, ...]
    """At TOLERANCES."""
    rigid: Array
    held: Run
    """The first 0.4 s, from the static deflection."""
    zero: Run
    """The same from an undeformed plate."""
    growth: Growth
    fit: Convergence
    agreement: Agreement
    elimination: float
    health: Health
    cylinder: float
    """Least mass of a real cylinder with the base parameters of Table 3, kg."""


def compute(progress: Progress) -> Results:
    """Everything that takes time."""
    robot = gough.load(NAME)
    progress("plate")
    calculix = peers.beside("calculix", f"{NAME}/table-2")
    rest = robot.static_deflection(robot.home)
    runs = tuple(simulate(robot, rest, one, progress=progress) for one in TOLERANCES)
    fine = runs[-1]
    smooth = fine.motion.replace(**dict.fromkeys(ELASTIC_FIELDS))
    progress("started undeformed")
    held, zero = (simulate(robot, one, stop=0.4, samples=801) for one in (rest, robot.home))
    progress("open loop")
    growth = open_loop(robot)
    progress("zero dynamics")
    poles = health(robot)
    progress("plate of many modes")
    many = robot.edited({"platform.plate.modes": COUNTS[-1]})
    return Results(
        robot,
        calculix,
        table_4(robot),
        runs,
        robot.rigid.inverse_dynamics(smooth).forces,
        held,
        zero,
        growth,
        convergence(many, progress),
        agreement(robot, fine),
        elimination_error(robot, fine.motion[::30]),
        poles,
        least_cylinder(robot),
    )
