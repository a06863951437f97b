"""A robot's programs as JAX functions, for learning and optimisation on many states at once."""

from __future__ import annotations

from gough.engine.emit import jax
from gough.engine.emit.jax import Pure
from gough.exchange.programs import by_columns, traced
from gough.mechanics.state import CHAINS
from gough.model.model import Model

POSE = ("position", "rotation", CHAINS)
"""What has no zero that could stand for it."""


def to_jax(robot: Model, name: str, *, loads: bool = False) -> Pure:
    """A program as a pure function of one state, for `jax.jit`, `jax.vmap`, `jax.grad` (extra `jax`).

    It takes a dictionary with the fields that `gough.exchange.casadi.to_casadi` lists, in gough's shapes
    and without batch axes; position, rotation and of chain legs chains must be there, the others are
    zero if they are not. It returns a dictionary with the robot's answers and `margin`, which is > 0
    where the answer is good: nothing is raised on bad numbers. There is no friction unless `loads` adds
    the input loads and the output caused, as there. JAX must compute in double precision,
    when the function is made and at each trace.
    """
    jax.require()
    robot.need_rigid_drives("JAX")
    program, *numbers = traced(robot, name, loads)
    function = jax.function(program, name, *numbers, needed=POSE)
    if by_columns(robot, name):
        sizes = {"along": 6, "elastic_along": robot.modes}
        return jax.columns(function, name, sizes, ("momentum", "elastic"))
    if robot.modes and name in ("jacobian", "bias"):
        return jax.joined(function, name, "elastic")
    return function
