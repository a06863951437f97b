"""How many operations the models take, beside Khalil & Guegan 2004, Table IV.

Counted on the traced program of one state, parameters symbolic: additions, multiplications, divisions
and square roots; negations are free. Work on parameters alone is done once a robot and not counted.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.mechanics import elastic
from gough.mechanics import equation as dynamics
from gough.mechanics.equation import Mechanism, State
from gough.mechanics.platforms import rigid
from gough.model.execution import trace
from gough.robot import Robot

PAPER = {("inverse", 52): 2078, ("inverse", 88): 2282, ("direct", 52): 2943}
"""Khalil & Guegan 2004, Table IV and Section VII: 788 + 1290, 908 + 1374, 1120 + 1823 operations."""

NO_WRENCH = np.zeros((6, 1))


class Count(NamedTuple):
    """Operations of one model for one robot."""

    kinematics: int
    """Tips and legs: coordinates, rates, accelerations."""
    dynamics: int
    """Loads or inertias of legs and platform, gathered at the platform, and the Jacobian."""
    solve: int
    """The 6×6 system."""
    kinds: Counter[str]
    """All of them by kind."""

    @property
    def total(self) -> int:
        """All stages."""
        return self.kinematics + self.dynamics + self.solve


def count(robot: Robot, model: str, solver: str = "qr") -> Count:
    """Operations of a robot's "inverse" or "direct" model, by stage.

    The inverse model's solver is "qr", which gough uses, or "lu", the fixed-order elimination of
    the paper's count, which is not accurate everywhere. The direct model's is L D Lᵀ.
    """
    inputs = {"forces": (robot.leg_count,)} if model == "direct" else {}
    stages = _direct if model == "direct" else _inverse
    if robot.modes:
        stages = _bending

    def until(stage: str) -> Counter[str]:
        def so_far(mechanism: Mechanism, state: State, **given: Array) -> dict[str, Array]:
            return stages(mechanism, state, solver, **given)[stage]

        return trace(so_far, robot.mechanism, inputs).tally()

    kinds = until("solved")
    sums = [sum(until(stage).values()) for stage in ("moving", "gathered")]
    total = sum(kinds.values())
    return Count(sums[0], sums[1] - sums[0], total - sums[1], kinds)


def _inverse(mechanism: Mechanism, state: State, solver: str) -> dict[str, dict[str, Array]]:
    tips, legs = dynamics.moving(mechanism, state)
    load = mechanism.equations.load(mechanism.legs, legs, mechanism.gravity)
    wanted = dynamics.platform_demand(mechanism, state) + rigid.gather(tips, load.sideways)
    rows = rigid.jacobian_rows(tips, legs.w)
    found = dynamics.inverse(mechanism, state, NO_WRENCH, solver=solver)
    return {
        "moving": {"w": legs.w, "omega": legs.spin.omega, "omega_dot": legs.spin.omega_dot},
        "gathered": {"wanted": wanted, "along": load.along, "rows": rows},
        "solved": {"forces": found.forces},
    }


def _direct(
    mechanism: Mechanism, state: State, solver: str, forces: Array
) -> dict[str, dict[str, Array]]:
    _, legs = dynamics.coasting(mechanism, state)
    found = dynamics.direct(mechanism, state, forces, NO_WRENCH)
    matrix = dynamics.mass_matrix(mechanism, state)
    return {
        "moving": {"w": legs.w, "omega": legs.spin.omega, "omega_dot": legs.spin.omega_dot},
        "gathered": {"matrix": matrix, "right": found.driving},
        "solved": {"acceleration": found.acceleration},
    }


def _bending(
    mechanism: Mechanism, state: State, solver: str, forces: Array | None = None
) -> dict[str, dict[str, Array]]:
    """The same of a flexible platform, modes times the work a mode included."""
    tips, local = elastic.place(mechanism, state)
    legs = elastic.legs_at(mechanism, tips, tips.velocity if forces is None else 0 * tips.velocity)
    felt = elastic.feel(mechanism, state, local, legs)
    terms = elastic.platform(mechanism, state, NO_WRENCH, 0 * legs.direction)[2]
    if forces is None:
        inverse = elastic.inverse(mechanism, state, NO_WRENCH)
        solved = {"forces": inverse.forces, "elastic": inverse.elastic}
    else:
        direct = elastic.direct(mechanism, state, forces, NO_WRENCH)
        solved = {"acceleration": direct.acceleration, "elastic": direct.elastic}
    return {
        "moving": {"w": legs.w, "omega": legs.spin.omega, "omega_dot": legs.spin.omega_dot},
        "gathered": {"felt": felt.softness, "crossed": felt.mixed, **terms._asdict()},
        "solved": {name: value for name, value in solved.items() if value is not None},
    }


def paper_robot(parameters: int) -> Robot:
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
    return Robot.from_dict(
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
