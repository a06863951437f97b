"""The regressor and the linearised robot."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from cases.closeness import assert_near
from cases.derivatives import Case, moved
from gough.model import derivatives
from gough.model.execution import numpy_executor
from gough.parameters import regressor

# Linearisation


@pytest.mark.parametrize("name", ["UPS", "PUS, 8 legs", "PUS, smooth friction"])
def test_linearized_robot_follows_a_simulated_step(cases, name):
    """Rates of the deviations from a motion that turns, against steps forward and back in time."""
    case = cases[name]
    robot, motion = case.robot, case.motion
    A, B = derivatives.linearize(robot, motion, case.forces, case.wrench)
    size, time = 1e-5, 1e-4

    def stepped(start, forces, h):
        found = robot.direct_dynamics(start, forces, case.wrench)
        turn = start.angular_velocity * h + found.angular * h**2 / 2
        return (
            start.position + start.velocity * h + found.linear * h**2 / 2,
            Rotation.from_rotvec(turn).as_matrix() @ start.rotation,
            start.velocity + found.linear * h,
            start.angular_velocity + found.angular * h,
        )

    def deviation(change, push, h):
        ends = []
        for sign in (1, -1):
            start = moved(motion, "pose", sign * size * change[:6])
            start = moved(start, "twist", sign * size * change[6:])
            ends.append(stepped(start, case.forces + sign * size * push, h))
        (p, R, v, w), (p2, R2, v2, w2) = ends
        turn = Rotation.from_matrix(R @ R2.T).as_rotvec()
        return np.concatenate([p - p2, turn, v - v2, w - w2]) / (2 * size)

    for _ in range(3):
        change = case.rng.normal(size=12)
        push = 100 * case.rng.normal(size=robot.leg_count)
        rate = (deviation(change, push, time) - deviation(change, push, -time)) / (2 * time)
        assert_near(A @ change + B @ push, rate, 1e-5)


def test_linearization_at_the_motions_own_acceleration(cases):
    case = cases["UPS"]
    forces = case.robot.inverse_dynamics(case.motion).forces
    found, given = (
        derivatives.linearize(case.robot, case.motion),
        derivatives.linearize(case.robot, case.motion, forces),
    )
    for one, other in zip(found, given, strict=True):
        assert_near(one, other, 1e-12)
    omega = case.motion.angular_velocity
    assert_allclose(found.A[3:6, 3:6] @ [1.0, 2.0, 3.0], np.cross(omega, [1.0, 2.0, 3.0]))
    assert_allclose(found.A[:6, 6:], np.eye(6))
    assert not found.A[:3, :6].any()
    assert not found.B[:6].any()


# The regressor


@pytest.mark.parametrize("name", ["UPS", "PUS", "PUS, 8 legs", "UPS, friction"])
def test_regressor_times_parameters_is_the_forces(name):
    case = Case(name, shape=(4,))
    found = regressor.regressor(case.robot, case.motion)
    standard = regressor.standard_parameters(case.robot)
    assert found.shape == (4, case.robot.leg_count, len(standard))
    forces = case.robot.inverse_dynamics(case.motion, friction=False).forces
    assert_near(found @ standard, forces, 1e-11)


def test_regressor_does_not_depend_on_the_masses(cases):
    robot = cases["UPS"].robot
    lighter = robot.edited({"platform.mass": 1.0, "legs.rotor_mass": 0.0})
    lighter.__dict__["executor"] = numpy_executor(lighter.mechanism)
    found = [regressor.regressor(one, cases["UPS"].motion) for one in (robot, lighter)]
    assert_near(found[1], found[0], 1e-12)


def test_parameters_have_names(cases):
    robot = cases["PUS"].robot
    named = dict(
        zip(regressor.parameter_names(robot), regressor.standard_parameters(robot), strict=True)
    )
    assert len(named) == 6 * 30 + 6 + 10
    assert named["platform M"] == robot.mechanism.platform.body.mass.item()
    assert named["leg 2 link XY"] == robot.mechanism.legs.link.inertia[0, 1, 1, 0]
    assert named["leg 6 slider MZ"] == robot.mechanism.legs.slider.first_moment[2, 5, 0]
    assert named["leg 3 rotor_mass"] == robot.mechanism.legs.rotor[2, 0]


def test_a_general_hexapod_has_88_base_parameters():
    """Khalil & Guegan 2004: 88 of the 190 parameters of 6 UPS legs and platform, without rotors."""
    case = Case("UPS", shape=(40,))
    found = regressor.regressor(case.robot, case.motion)
    named = zip(regressor.parameter_names(case.robot), np.moveaxis(found, -1, 0), strict=True)
    columns = [column.ravel() for name, column in named if not name.endswith("rotor_mass")]
    assert len(columns) == 190
    used = np.stack([one / np.linalg.norm(one) for one in columns if one.any()])
    sizes = np.linalg.svd(used, compute_uv=False)
    assert sizes[87] > 1e10 * sizes[88]
