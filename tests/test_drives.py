"""Drives, sensors and batches of simulations."""

from __future__ import annotations

import numpy as np
import pytest

import gough
from cases.common import each_shape
from cases.simulations import dictionary, offset, path, robot_of
from gough.simulation import (
    Actuators,
    ComputedTorque,
    GivenForces,
    LegPD,
    Sensors,
)


@pytest.mark.second_tier
def test_saturation_and_lag_of_the_drives():
    robot = robot_of("UPS")
    law = ComputedTorque(60.0)
    start = offset(robot, (0.02, 0, 0))
    drives = Actuators(force=150.0, lag=5e-3)
    found = gough.simulate(robot, law, robot.home, 0.05, start=start, actuators=drives)
    assert np.abs(found.forces).max() <= 150.0 + 1e-9
    assert found.saturation().max() > 0.1
    assert found.dataset["saturated"].values.max() == 1
    # lag: Γ(t + h) = c + (Γ(t) − c) exp(−h/lag) for a held command c
    held = np.clip(found.command, -150, 150)
    expected = held[:-1] + (found.forces[:-1] - held[:-1]) * np.exp(-1e-3 / 5e-3)
    np.testing.assert_allclose(found.forces[1:], expected, rtol=0, atol=1e-3)


def test_no_drive_pushes_beyond_its_speed():
    robot = robot_of("PUS")
    forces = 3000.0 * np.array([1, -1, 1, -1, 1, -1])
    free, limited = (
        gough.simulate(robot, GivenForces(forces), robot.home, 0.05, friction=False, actuators=one)
        for one in (Actuators(), Actuators(speed=0.3))
    )
    forward = limited.legs()["qd"] * np.sign(limited.forces)
    assert (free.legs()["qd"] * np.sign(forces)).max() > 0.5
    driving = np.abs(limited.forces) > 1e-9
    assert forward[driving].max() < 0.3 + 1e-6


def test_readings_are_rounded_noisy_and_late():
    robot = robot_of("UPS")
    seen = []

    def law(measured, reference):
        seen.append((measured.time, measured.q[0].copy(), measured.motion.position[0].copy()))
        return robot.inverse_dynamics(robot.home, friction=False).forces

    start = gough.Motion(robot.home.position, robot.home.rotation, velocity=[0.05, 0, 0])
    given = {"start": start, "friction": False}
    coarse = Sensors(resolution=1e-5, delay=2e-3)
    found = gough.simulate(robot, law, robot.home, 0.02, sensors=coarse, **given)
    q = np.array([one[1] for one in seen])
    np.testing.assert_allclose(q / 1e-5, np.rint(q / 1e-5), rtol=0, atol=1e-6)
    true = found.legs()["q"]
    np.testing.assert_allclose(q[:3], np.repeat(q[:1], 3, axis=0), rtol=0, atol=0)
    np.testing.assert_allclose(q[2:], true[:18], rtol=0, atol=0.51e-5)
    # the measured pose is that of the measured legs
    pose = robot.forward_kinematics(q[10], robot.home)
    np.testing.assert_allclose(seen[10][2], pose.position, rtol=0, atol=1e-8)
    seen.clear()
    gough.simulate(robot, law, robot.home, 0.3, sensors=Sensors(noise=1e-5, seed=1), **given)
    again = gough.simulate(
        robot, law, robot.home, 0.3, sensors=Sensors(noise=1e-5, seed=1), **given
    )
    q = np.array([one[1] for one in seen]).reshape(2, 300, 6)
    np.testing.assert_array_equal(q[0], q[1])
    assert np.std(q[0] - again.legs()["q"][:300]) == pytest.approx(1e-5, rel=0.1)


def test_seeds_of_a_batch_are_those_of_single_runs():
    robot = robot_of("UPS")
    noisy = Sensors(noise=1e-5, rate_noise=1e-3, seed=7)
    given = {"duration": 0.02, "friction": False, "sensors": noisy}
    law = LegPD(1e5, 2e3)
    many = gough.simulate(robot, law, robot.home, seeds=[4, 9, 4], **given)
    one = gough.simulate(robot, law, robot.home, seeds=9, **given)
    np.testing.assert_allclose(many.motion.position[1], one.motion.position, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(many.motion.position[0], many.motion.position[2])
    assert np.abs(many.motion.position[0] - many.motion.position[1]).max() > 1e-9


# --- batches ----------------------------------------------------------------------------------


@pytest.mark.second_tier_from(2)
@each_shape
@pytest.mark.parametrize("integrator", ["rk4", "DOP853"])
def test_batch_shapes(shape, integrator):
    robot = robot_of("UPS")
    shifts = np.random.default_rng(1).uniform(-1e-3, 1e-3, (*shape, 3))
    start = gough.Motion(robot.home.position + shifts, robot.home.rotation)
    law = ComputedTorque(30.0)
    given = {"friction": False, "integrator": integrator}
    found = gough.simulate(robot, law, path(robot), 0.005, start=start, **given)
    assert found.motion.shape == (*shape, 6)
    assert found.forces.shape == (*shape, 6, 6)
    assert found.shape == shape
    if shape == (3, 1, 2):
        one = gough.simulate(robot, law, path(robot), 0.005, start=start[2, 0, 1], **given)
        row = found.row(5)
        np.testing.assert_allclose(row.motion.position, one.motion.position, rtol=0, atol=1e-14)
        assert found.dataset["force"].dims[:3] == ("simulation_0", "simulation_1", "simulation_2")


def test_variants_of_a_robot_in_one_call():
    robot = robot_of("UPS")
    mass = dictionary("UPS")["platform"]["mass"]
    robots = [robot, robot.edited({"platform.mass": 2 * mass}), robot]
    law = ComputedTorque(20.0, model=robot)
    found = gough.simulate(robots, law, robot.home, 0.05, friction=False)
    alone = gough.simulate(robots[1], law, robot.home, 0.05, friction=False)
    np.testing.assert_allclose(found.motion.position[1], alone.motion.position, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(found.motion.position[0], found.motion.position[2])
    audit = found.energy_audit()
    assert np.abs(audit["energy_residual"]).max() < 1e-9
    assert audit["potential_energy"][1, 0] != audit["potential_energy"][0, 0]


def test_references_one_a_simulation():
    robot = robot_of("UPS")
    moves = [path(robot, 0.2), path(robot, 0.4)]
    found = gough.simulate(robot, ComputedTorque(30.0), moves, friction=False)
    assert found.time[-1] == pytest.approx(0.2)
    alone = gough.simulate(robot, ComputedTorque(30.0), moves[1], 0.2, friction=False)
    np.testing.assert_allclose(found.motion.position[1], alone.motion.position, rtol=0, atol=1e-14)
