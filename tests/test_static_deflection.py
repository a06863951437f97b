"""Where a flexible platform comes to rest: under wrenches, under growing loads, with many legs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import gough
from cases.derivatives import FlexibleCase
from cases.robots import random_flexible
from gough.errors import ConvergenceError
from gough.model.deflection import static_deflection

pytestmark = [pytest.mark.filterwarnings("ignore::gough.errors.ModalBodyWarning")]


def test_static_deflection_carries_the_wrench():
    rng = np.random.default_rng(8)
    robot, oracle, state = random_flexible(rng, "PUS", 4)
    rest = gough.Motion(state["position"], state["rotation"])
    wrench = np.array([[0.0] * 6, [300.0, -200, 500, 20, 30, -10]])
    settled = robot.static_deflection(rest, wrench)
    assert settled.elastic.shape == (2, 4)
    act = robot.inverse_dynamics(settled, wrench)
    for i in range(2):
        here = oracle.at({"position": state["position"], "rotation": state["rotation"],
                          "velocity": np.zeros(3), "angular_velocity": np.zeros(3),
                          "elastic": settled.elastic[i], "elastic_velocity": np.zeros(4)})  # fmt: skip
        left = here.bias() - here.jacobian().T @ act.forces[i] - here.external(wrench[i])
        assert_allclose(left, 0, atol=1e-9 * np.abs(here.bias()).max())
    assert robot.rigid.static_deflection(rest).modes == 0


TILTED = [
    ([0.188, 0.235, 1.172], [-0.657, 0.257, 0.1]),
    ([0.108, 0.32, 1.212], [-0.522, -0.264, 0.403]),
]


@pytest.mark.parametrize(("place", "turn"), TILTED)
def test_static_deflection_grows_with_the_load(place, turn):
    long, shares = gough.load("long-khalil-martinet-2014"), np.linspace(0.025, 1, 40)
    many = long.variants({"gravity": np.outer(shares, [0, 0, -9.81])})
    settled = static_deflection(many, gough.Motion(place, Rotation.from_rotvec(turn)))
    steps = np.abs(np.diff(settled.elastic, axis=0)).max(axis=1)
    assert np.all(steps < 1.1 * np.abs(settled.elastic[0]).max())  # no other rest, and none missing
    pull = many.inverse_dynamics(settled).elastic_acceleration
    assert_allclose(pull, 0, atol=1e-9)


def test_static_deflection_says_under_which_load_a_platform_gives_way():
    long = gough.load("long-khalil-martinet-2014")
    pose = gough.Motion([0.639, 0.447, 0.752], Rotation.from_rotvec([-0.222, 0.234, 0.143]))
    with pytest.raises(ConvergenceError):
        long.static_deflection(pose)
    lighter = long.edited({"gravity": [0, 0, -0.005 * 9.81]})
    assert np.isfinite(lighter.static_deflection(pose).elastic).all()


def test_static_deflection_of_a_redundant_robot_is_at_rest():
    case = FlexibleCase("PUS, 8 legs")
    settled = case.robot.static_deflection(case.robot.home)
    pull = case.robot.inverse_dynamics(settled, friction=False).elastic_acceleration
    assert_allclose(pull, 0, atol=1e-9)
    assert np.abs(settled.elastic).max() > 0
