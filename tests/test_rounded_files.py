"""Over-constrained robots whose file has rounded numbers: their constraints agree to 1e-8 only."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gough
from cases.families import draw, random_states
from gough.model.own_coordinates import Solver

pytestmark = pytest.mark.usefixtures("on_numpy")
DIGITS = 8
COORDINATES = ("x", "y", "z", "rx", "ry", "rz")


def rounded(value: Any) -> Any:
    """A robot file with numbers of so many digits."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, DIGITS) if isinstance(value, float) else value


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("name", ["planar 3-RRR", "Exechon", "3-RRR wrist", "five-bar"])
def test_rounded_numbers_give_nearly_the_same_robot(name: str) -> None:
    table, oracle = draw(name, 0)
    exact, rough = gough.Robot.from_dict(table), gough.Robot.from_dict(rounded(table))
    assert rough.freedom.overconstrained
    assert rough.coordinates == exact.coordinates
    states = gough.Motion(**random_states(2, oracle, 2))
    wanted = exact.inverse_dynamics(states).forces
    size = np.abs(wanted).max()
    assert_allclose(rough.inverse_dynamics(states).forces, wanted, atol=1e-5 * size)
    # by its own coordinates, and back from those of its actuators
    chosen = [COORDINATES.index(one) for one in rough.coordinates]
    turn = Solver.of(exact).placed(states)[:, :6]
    motion = rough.motion(turn[:, chosen], np.ones(rough.mobility))
    assert_allclose(motion.position, states.position, atol=1e-6)
    assert_allclose(motion.rotation, states.rotation, atol=1e-6)
    assert np.isfinite(rough.inverse_dynamics(motion).forces).all()
    back = rough.forward_kinematics(rough.inverse_kinematics(motion).q, rough.home)
    assert_allclose(back.position, motion.position, atol=1e-11)
    assert_allclose(back.rotation, motion.rotation, atol=1e-11)


def test_coordinates_that_do_not_agree_are_no_posture() -> None:
    """Of a redundant robot: one actuator a tenth of a millimetre, or a milliradian, off."""
    table, _ = draw("planar 4-RRR", 0)
    robot = gough.Robot.from_dict(rounded(table))
    q = robot.inverse_kinematics(robot.home).q
    with pytest.raises(gough.errors.ConvergenceError):
        robot.forward_kinematics(q + np.array([0, 0, 0, 1e-3]), robot.home)
