"""How many operations the models take, beside Khalil & Guegan 2004, Table IV.

Counted on the traced program of one state, parameters symbolic: additions, multiplications, divisions
and square roots; negations are free. Work on parameters alone is done once a robot and not counted.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.engine.program import Program
from gough.mechanics import equation
from gough.mechanics.leg import MovingLeg
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.platforms.platform import MovingPlatform, gather
from gough.mechanics.state import State
from gough.model.execution import trace_stages
from gough.model.model import Model

PAPER = {("inverse", 52): 2078, ("inverse", 88): 2282, ("direct", 52): 2943}
"""Khalil & Guegan 2004, Table IV and Section VII: 788 + 1290, 908 + 1374, 1120 + 1823 operations."""

NO_WRENCH = np.zeros((6, 1))


class Count(NamedTuple):
    """Operations of one model for one robot, by stage and kind."""

    moving: Counter[str]
    """Kinematics: tips and legs, coordinates, rates, accelerations."""
    gathering: Counter[str]
    """Dynamics: loads or inertias of legs and platform, gathered at the platform, and the Jacobian."""
    solving: Counter[str]
    """The 6×6 system."""

    @property
    def kinematics(self) -> int:
        """Operations of kinematics."""
        return self.moving.total()

    @property
    def dynamics(self) -> int:
        """Operations of dynamics."""
        return self.gathering.total()

    @property
    def solve(self) -> int:
        """Operations of the 6×6 system."""
        return self.solving.total()

    @property
    def kinds(self) -> Counter[str]:
        """All of them by kind."""
        return self.moving + self.gathering + self.solving

    @property
    def total(self) -> int:
        """All stages."""
        return self.kinds.total()


def count(robot: Model, model: str, solver: str = "qr") -> Count:
    """Operations of a robot's "inverse" or "direct" model, by stage.

    The inverse model's solver is "qr", which gough uses, or "lu", the fixed-order elimination of
    the paper's count, which is not accurate everywhere. The direct model's is L D Lᵀ.
    """
    programs = stage_programs(robot, model, solver)
    moving, gathered, solved = (
        programs[stage].tally() for stage in ("moving", "gathered", "solved")
    )
    return Count(moving, _more(gathered, moving), _more(solved, gathered))


def _more(later: Counter[str], earlier: Counter[str]) -> Counter[str]:
    """What a stage adds; of a kind it may take less, where operations become other ones."""
    found = later.copy()
    found.subtract(earlier)
    return found


def stage_programs(robot: Model, model: str, solver: str = "qr") -> dict[str, Program]:
    """The programs of one state up to each stage: "moving", "gathered" and "solved"."""
    inputs = {"forces": (robot.actuator_count,)} if model == "direct" else {}
    stages = partial(_direct if model == "direct" else _inverse, solver=solver)
    return trace_stages(stages, robot.mechanism, inputs)


def _inverse(mechanism: Mechanism, state: State, *, solver: str) -> dict[str, dict[str, Array]]:
    platform, legs = equation.moving(mechanism, state)
    load = legs.load(mechanism.gravity)
    nothing = 0 * legs.direction
    asked = gather(platform.tips, platform.own(load.sideways))
    wanted = platform.demand(NO_WRENCH, nothing) + asked
    found = equation.inverse(mechanism, state, NO_WRENCH, solver=solver)
    gathered = {
        "wanted": wanted,
        "along": load.along,
        "rows": platform.world_rows(legs.w, legs.leg.holders),
    }
    if mechanism.platform.mode_count:
        gathered |= _felt(platform, legs)
    return {
        "moving": _turning(legs),
        "gathered": gathered,
        "solved": {"forces": found.forces, "elastic": found.elastic},
    }


def _direct(
    mechanism: Mechanism, state: State, forces: Array, *, solver: str
) -> dict[str, dict[str, Array]]:
    platform, legs = equation.coasting(mechanism, state)
    found = equation.direct(mechanism, state, forces, NO_WRENCH)
    gathered = {"matrix": equation.mass(mechanism, state)[0], "right": found.driving}
    if mechanism.platform.mode_count:
        gathered = _felt(platform, legs)
    return {
        "moving": _turning(legs),
        "gathered": gathered,
        "solved": {"acceleration": found.acceleration, "elastic": found.elastic},
    }


def _turning(legs: MovingLeg) -> dict[str, Array]:
    """What kinematics comes to."""
    omega, omega_dot = legs.rotation()
    return {"w": legs.w, "omega": omega, "omega_dot": omega_dot}


def _felt(platform: MovingPlatform, legs: MovingLeg) -> dict[str, Array]:
    """The equation of a flexible platform, what the legs add included."""
    terms = platform.terms(NO_WRENCH, 0 * legs.direction)
    felt = equation.feel(platform, terms, legs)
    return {"softness": felt.softness, "crossed": felt.crossed, **terms._asdict()}


def paper_robot(parameters: int) -> Model:
    """A general UPS robot in the paper's frames with its 52 essential or 88 base parameters.

    F_0 at B_1 with x_0 along B_1B_2 and B_6 in its plane, F_p likewise at P_1; first axes in the base
    plane, those of legs 1 and 2 along y_0 (Section II). The other numbers only need to be general.
    """
    turns = np.array([0.0, 0.0, 0.3, 0.5, 0.7, 0.9])
    axis = np.stack([-np.sin(turns), np.cos(turns), 0 * turns], axis=1)
    names = {
        52: {"cross": "ZZ", "cylinder": "XX ZZ MY", "rod": "MX MY MZ"},
        88: {"cross": "ZZ MX MY", "cylinder": "XX XY XZ YZ ZZ MX MY", "rod": "MX MY MZ"},
    }[parameters]
    legs: dict[str, Any] = {
        body: {key: 0.1 + 0.01 * i for i, key in enumerate(keys.split())}
        for body, keys in names.items()
    }
    platform = ["XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M"]
    return Model.from_dict(
        {
            "format": 1,
            "name": f"general UPS robot, {parameters} parameters",
            "legs": {
                "kind": "UPS",
                "base": [
                    [0, 0, 0], [0.5, 0, 0], [1.1, 0.3, 0.02],
                    [0.9, 0.95, 0.03], [0.1, 0.9, 0.05], [-0.4, 0.6, 0],
                ],
                "platform": [
                    [0, 0, 0], [0.4, 0, 0], [0.6, 0.3, 0.02],
                    [0.5, 0.55, 0.03], [0.1, 0.45, 0.05], [-0.2, 0.3, 0],
                ],
                "axis": axis,
                **legs,
            },
            "platform": {key: 0.2 + 0.01 * i for i, key in enumerate(platform)},
        }
    )  # fmt: skip
