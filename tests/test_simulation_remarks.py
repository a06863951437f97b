"""What a simulation says of itself: drives at their limits, energy, why it ended."""

from __future__ import annotations

import numpy as np
import pytest

import gough
from cases.robots import random_flexible
from cases.simulations import offset, robot_of
from gough.errors import UnstableWarning
from gough.simulation import Actuators, ComputedTorque, GivenForces, GravityPD, LegPD, Sensors


def test_drives_at_their_limits_are_said():
    """A command of 30 N where drives give 20 N, all the time."""
    robot = robot_of("UPS")
    run = gough.simulate(
        robot, GivenForces(np.full(6, 30.0)), robot.home, 0.005, actuators=Actuators(force=20.0),
        friction=False,
    )  # fmt: skip
    assert np.all(run.forces == 20.0)
    assert "commanded more than its drive can give for 100 % of the time" in str(run)


def test_an_unstable_loop_is_said_where_it_ends():
    """Damping so strong that a held command turns the motion round ever faster: D T/m over 2."""
    robot = robot_of("UPS")
    mass = 1 / np.diag(
        robot.jacobian(robot.home)
        @ np.linalg.solve(robot.mass_matrix(robot.home), robot.jacobian(robot.home).T)
    )
    start = offset(robot, (1e-3, 0, 0), (0, 0, 0))
    run = gough.simulate(
        robot, LegPD(0.0, 20 * mass.max() / 1e-3), robot.home, 1.0, start=start, friction=False
    )
    assert run.partial
    assert "loop is unstable" in run.stops[0].reason
    assert "millimetres" not in str(run)


def test_steps_that_are_too_long_are_said():
    """Springs of 1e7 N/m and steps of 10 ms, chosen so: rk4 is stable up to 2.8 of 1/ω."""
    robot = robot_of("UPS")
    start = offset(robot, (1e-4, 0, 0), (0, 0, 0))
    given = {"start": start, "friction": False, "period": None}
    run = gough.simulate(robot, LegPD(1e7, 1e3), robot.home, 0.1, step=1e-2, **given)
    assert "steps of 0.01 s are too long" in str(run)
    fine = gough.simulate(robot, LegPD(1e7, 1e3), robot.home, 0.1, record=1e-2, **given)
    assert not fine.partial
    assert "too long" not in str(fine)


@pytest.mark.filterwarnings("ignore::gough.errors.ModalBodyWarning")
def test_unstable_zero_dynamics_are_named():
    """Computed torque on a body whose modes run away: as fast as the simulation shows it."""
    robot, _, _ = random_flexible(np.random.default_rng(0), "UPS", 4)
    with pytest.warns(UnstableWarning):
        assert not robot.elastic_health(robot.home).stable
    rest = robot.static_deflection(robot.home)
    start = offset(robot, (1e-12, 0, 0), (0, 0, 0)).replace(elastic=rest.elastic)
    run = gough.simulate(robot, ComputedTorque(20.0), robot.home, 0.2, start=start, friction=False)
    assert "elastic zero dynamics are unstable" in str(run)
    # the pair of poles that dominates at the end, by Prony's method on every fourth sample
    x = (run.motion.elastic - rest.elastic)[-80::4]
    before = np.stack([x[:-2].ravel(), x[1:-1].ravel()], axis=1)
    last, ahead = np.linalg.lstsq(before, x[2:].ravel(), rcond=None)[0]
    rate = np.log(np.abs(np.roots([1, -ahead, -last])).max()) / 4e-3
    assert rate == pytest.approx(run.accuracy.growth, rel=1e-3)


def test_readings_that_are_exact_need_no_filter():
    with pytest.raises(gough.errors.InputError, match="rate_filter"):
        Sensors(rate_filter=1e-3)


def test_rows_of_a_batch_keep_their_errors():
    robot = robot_of("UPS")
    starts = gough.Motion(robot.home.position + 1e-3 * np.eye(3), robot.home.rotation)
    run = gough.simulate(
        robot,
        LegPD(1e6, 1e2),
        robot.home,
        0.05,
        start=starts,
        friction=False,
        period=None,
        step=2e-3,
    )
    assert run.accuracy.position.shape == (3,)
    assert run.row(1).accuracy.position[0] == run.accuracy.position[1] > 0


@pytest.mark.parametrize(
    ("name", "damping"),
    [("alikoc-delta-2023", 2800.0), ("shyam-heliostat-2017", 5e4), ("shah-3rrr-2012", 1350.0)],
)
def test_the_growth_of_platforms_that_are_held_is_what_they_do(name, damping):
    """Damping over what a held command stands: rates grow, sample by sample, as the eigenvalue says."""
    robot = gough.load(name)
    u = dict(zip(("x", "y", "z", "rx", "ry", "rz"), [*robot.home.position, 0, 0, 0], strict=True))
    own = np.array([u[one] for one in robot.coordinates])
    start = robot.motion(own, 1e-12 * np.arange(1, len(own) + 1))
    run = gough.simulate(
        robot, GravityPD(0.0, damping), robot.home, 0.061, start=start, friction=False
    )
    size = np.linalg.norm(run.legs()["qd"], axis=-1)
    rate = np.log(size[60] / size[40]) / 0.02
    assert rate > 100
    assert rate == pytest.approx(run.accuracy.growth, rel=1e-3)
