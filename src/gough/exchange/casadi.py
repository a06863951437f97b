"""A robot's programs as CasADi functions, for optimisers and other integrators."""

from __future__ import annotations

from typing import Any

from gough.engine.emit import casadi
from gough.exchange.programs import by_columns, traced
from gough.model.model import Model


def to_casadi(robot: Model, name: str, *, loads: bool = False) -> Any:
    """A program as a `casadi.Function` of SX symbols (extra `casadi`).

    Inputs are the state's fields position (3), rotation (3, 3), velocity, angular_velocity,
    acceleration, angular_acceleration, of a flexible robot elastic, elastic_velocity,
    elastic_acceleration (N), of chain legs chains, their joint coordinates near which they are
    (`robot.chains_of`; the program `close_joints` steps towards them), then wrench (6), forces
    (actuators), preload (actuators; of redundant robots) as the program has them; outputs have the
    names of the robot's answers, and `margin`, which is > 0 where the answer is good. There is no
    friction unless `loads` adds the input loads (3, legs): ‖F_A‖, ‖F_B‖ and |u·N| + |v·N| of each leg,
    and the output caused (3, legs), equal to loads where friction agrees with the loads it depends on.
    """
    casadi.require()
    robot.need_rigid_drives("CasADi")
    program, *numbers = traced(robot, name, loads)
    if by_columns(robot, name):
        product = casadi.function(program, "mass_times", *numbers)
        return casadi.columns(product, name, ("along", "elastic_along"), ("momentum", "elastic"))
    function = casadi.function(program, name, *numbers)
    if robot.modes and name in ("jacobian", "bias"):
        return casadi.joined(function, name, "elastic")
    return function
