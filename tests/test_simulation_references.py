"""What a simulation is asked to follow: rates of samples, and times that do not start at 0."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gough
from cases.simulations import robot_of
from gough.base.hermite import Hermite, PoseHermite, vector_rates
from gough.errors import InputError
from gough.simulation import ComputedTorque, GivenForces, Push

TURN, SWING = 2 * np.pi * 1.0, np.array([0.03, -0.02, 0.015])


def swing(time, home, begin=0.0):
    """p = home + A sin(w t), turned by 0.1 sin(w t) about a fixed axis: all rates by hand."""
    t = np.asarray(time) - begin
    s, c = np.sin(TURN * t), np.cos(TURN * t)
    axis = np.array([0.6, 0.0, 0.8])
    turn = Rotation.from_rotvec(0.1 * s[:, None] * axis).as_matrix() @ home.rotation
    return gough.Motion(
        home.position + SWING * s[:, None], turn, TURN * SWING * c[:, None],
        0.1 * TURN * c[:, None] * axis, -(TURN**2) * SWING * s[:, None],
        -0.1 * TURN**2 * s[:, None] * axis, time=time,
    )  # fmt: skip


def test_quintic_pieces_have_the_rates_that_are_given():
    """x = t⁵ − 2 t³ + t, which a quintic polynomial is, from its values at uneven times."""
    times = np.array([0.0, 0.3, 0.35, 1.0])
    poly = np.polynomial.Polynomial([0, 1, 0, -2, 0, 1])
    parts = [poly(times), poly.deriv()(times), poly.deriv(2)(times)]
    path = Hermite(times, *(one[:, None] for one in parts))
    fine = np.linspace(0, 1, 41)
    for order in range(3):
        found = path(fine, order)[:, 0]
        exact = poly.deriv(order)(fine) if order else poly(fine)
        np.testing.assert_allclose(found, exact, atol=1e-12)


def test_rates_of_rotation_vectors_are_those_of_the_angular_velocity():
    """θ(t) = a + b t + c t², integrated by SciPy from Ṙ = ω× R, gives ω and ω̇ by differences."""
    a, b, c = np.random.default_rng(3).normal(0, 0.8, (3, 3))

    def turn(t):
        return Rotation.from_rotvec(a + b * t + c * t * t)

    h = 1e-4
    ahead, behind = (turn(h) * turn(0).inv()).as_rotvec(), (turn(-h) * turn(0).inv()).as_rotvec()
    omega, omega_dot = (ahead - behind) / (2 * h), (ahead + behind) / h**2
    rate, acceleration = vector_rates(a, omega, omega_dot)
    np.testing.assert_allclose(rate, b, atol=1e-6)
    np.testing.assert_allclose(acceleration, 2 * c, atol=1e-5)


def test_poses_between_samples_turn_as_their_rates_say():
    """A steady turn by 2 rad about one axis from three samples: exact between them."""
    times, axis = np.array([2.0, 2.4, 3.0]), np.array([0.0, 0.6, 0.8])
    angle = 2 * (times - 2.0)
    turns = Rotation.from_rotvec(angle[:, None] * axis).as_matrix()
    zero, spin = np.zeros((3, 3)), np.tile(2 * axis, (3, 1))
    path = PoseHermite(times, zero, turns, zero, spin, zero, zero)
    at = np.linspace(2, 3, 11)
    found = path(at)
    exact = Rotation.from_rotvec(2 * (at - 2)[:, None] * axis).as_matrix()
    np.testing.assert_allclose(found[1], exact, atol=1e-13)
    np.testing.assert_allclose(found[3], np.tile(2 * axis, (11, 1)), atol=1e-12)


@pytest.mark.parametrize("begin", [0.0, 5.0])
def test_rates_of_a_sampled_motion_are_followed(begin):
    """Nine samples of two turns: poses alone miss the motion by its amplitude, with rates it is met."""
    robot = robot_of("UPS")
    time = begin + np.linspace(0, 1, 9)
    motion = swing(time, robot.home, begin)
    run = gough.simulate(
        robot, ComputedTorque(60.0), motion, friction=False, period=None, step=1e-3, record=5e-3
    )
    true = swing(run.time, robot.home, begin)
    apart = np.linalg.norm(run.motion.position - true.position, axis=-1).max()
    turned = Rotation.from_matrix(run.motion.rotation @ np.swapaxes(true.rotation, -1, -2))
    assert apart < 2e-6  # quintic pieces of a sine over an eighth of a turn: 1e-6 of 0.04 m
    assert turned.magnitude().max() < 4e-6
    asked = np.linalg.norm(run.reference.acceleration - true.acceleration, axis=-1)
    assert asked.max() < 2e-3 * np.linalg.norm(true.acceleration, axis=-1).max()


def test_velocities_alone_are_followed():
    robot = robot_of("UPS")
    motion = swing(np.linspace(0, 1, 41), robot.home)
    partly = gough.Motion(
        motion.position, motion.rotation, motion.velocity, motion.angular_velocity, time=motion.time
    )
    run = gough.simulate(robot, ComputedTorque(60.0), partly, friction=False, record=5e-3)
    true = swing(run.time, robot.home)
    assert np.abs(run.reference.acceleration - true.acceleration).max() < 1e-4
    assert np.abs(run.reference.angular_acceleration - true.angular_acceleration).max() < 1e-4


def test_rates_of_a_platform_that_is_held_are_followed():
    """A tripod's own coordinates and their rates at nine samples: their sine is met between them."""
    robot = gough.load("shyam-heliostat-2017")

    def own(time):
        s, c = np.sin(TURN * time)[:, None], np.cos(TURN * time)[:, None]
        swing = np.array([0.05, 0.08, -0.05])
        middle = np.array([2.0, 0.0, 0.0])
        return middle + swing * s, TURN * swing * c, -(TURN**2) * swing * s

    time = np.linspace(0, 1, 9)
    motion = robot.motion(*own(time), time=time)
    run = gough.simulate(robot, ComputedTorque(60.0), motion, 0.25, record=1e-2)
    true = robot.motion(own(run.time)[0])
    assert np.abs(run.reference.position - true.position).max() < 2e-6
    assert np.abs(run.reference.rotation - true.rotation).max() < 4e-6


def test_disturbances_count_from_the_start_of_the_motion():
    """v = F Δt/m of a platform on legs without mass that weigh nothing: 5 s late as at once."""
    robot = robot_of("UPS")
    hold = GivenForces(robot.inverse_dynamics(robot.home, friction=False).forces)
    push = Push([0, 0, 40.0, 0, 0, 0], 0.01, 0.02)
    still = gough.Motion(
        np.tile(robot.home.position, (6, 1)), robot.home.rotation, time=5 + np.linspace(0, 0.05, 6)
    )
    run = gough.simulate(robot, hold, still, wrench=push, friction=False)
    free = np.linalg.solve(robot.mass_matrix(robot.home), [0, 0, 40.0, 0, 0, 0])
    before, after = np.searchsorted(run.time, [5.0099, 5.0199])
    assert np.abs(run.motion.velocity[before]).max() < 1e-9
    np.testing.assert_allclose(run.motion.velocity[after + 1], 0.01 * free[:3], rtol=0.01)


def test_a_push_that_never_acts_is_refused():
    robot = robot_of("UPS")
    late = Push([1, 0, 0, 0, 0, 0], 0.3, 0.5)
    with pytest.raises(InputError, match=r"push from 0.3 to 0.5 s never acts.*0.1 s"):
        gough.simulate(robot, ComputedTorque(30.0), robot.home, 0.1, wrench=late)


def test_a_simulation_longer_than_its_motion_says_so():
    robot = robot_of("UPS")
    motion = swing(np.linspace(2, 2.5, 9), robot.home, 2.0)
    with pytest.raises(InputError, match=r"duration is 1 s.*reference ends 0.5 s"):
        gough.simulate(robot, ComputedTorque(30.0), motion, 1.0)


def test_the_reference_of_plain_poses_is_the_spline_as_before():
    """A polynomial of fifth degree through six poses: what SciPy's own interpolation gives."""
    robot = robot_of("UPS")
    time = np.linspace(0, 0.1, 6)
    height = np.polynomial.Polynomial([0, 0, 3.0, -20.0, 100.0, -50.0])
    poses = gough.Motion(
        robot.home.position + height(time)[:, None] * [0, 0, 1], robot.home.rotation, time=time
    )
    run = gough.simulate(robot, ComputedTorque(60.0), poses)
    exact = robot.home.position[2] + height(run.time)
    np.testing.assert_allclose(run.reference.position[:, 2], exact, atol=1e-12)
