"""Elastic coordinates along a motion: forward, bounded, and for each output that is commanded."""

import contextlib

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import gough
from cases.errors import refusal, warning
from cases.robots import random_flexible, rough, with_body
from gough.data.paper_motions import paper_motion
from gough.errors import (
    ConvergenceError,
    Failure,
    InputError,
    NotFiniteError,
    ReachError,
    SingularError,
    ToleranceWarning,
    UnstableWarning,
)
from gough.model import elastic_search
from gough.model.between import Between
from gough.model.collocation import Conditions, sweep
from gough.model.zero_dynamics import ZeroDynamics
from gough.simulation import GivenForces
from gough.trajectories import RestToRest

pytestmark = [
    pytest.mark.filterwarnings("ignore::gough.errors.ImpossibleBodyWarning"),
    pytest.mark.filterwarnings("ignore::gough.errors.ModalBodyWarning"),
]


@pytest.fixture(scope="module")
def stiff(long):
    """Long's robot with a plate ten times as stiff, and less damped: it can stand."""
    return long.edited({"platform.plate.young": 2e11, "platform.plate.damping_ratio": 0.1})


def move(robot, turns=(0.0, 5.0), shift=(0.004, 0.002, 0.006), duration=0.1, rest=0.05):
    """From one turn about x, degrees, to the other."""
    poses = gough.Motion(
        robot.home.position + np.array([[0, 0, 0], shift]),
        Rotation.from_euler("x", np.array(turns)[:, np.newaxis], degrees=True),
    )
    return RestToRest(poses, duration, [rest, rest])


def agrees_with_inverse_dynamics(robot, motion, **how):
    """q̈e is what inverse dynamics solves for, to 1e-8 of its size."""
    found = robot.inverse_dynamics(motion, **how).elastic_acceleration
    assert_allclose(motion.elastic_acceleration, found, rtol=0, atol=1e-8 * np.abs(found).max())
    return robot.inverse_dynamics(motion, **how).forces


def integrated(robot, path, samples, tolerance):
    """qe and q̇e at samples by SciPy's LSODA on q̈e of inverse dynamics, from static deflection."""
    start = robot.static_deflection(path(0.0)).elastic
    modes = robot.modes

    def rate(t, x):
        here = path(t).replace(elastic=x[:modes], elastic_velocity=x[modes:])
        asked = robot.inverse_dynamics(here)
        return np.concatenate([x[modes:], asked.elastic_acceleration])

    span = (samples[0], samples[-1])
    x = np.concatenate([start, 0 * start])
    found = solve_ivp(rate, span, x, "LSODA", samples, rtol=tolerance, atol=1e-3 * tolerance)
    return found.y[:modes].T, found.y[modes:].T


def test_forward_it_is_what_an_integrator_finds(long):
    path = move(long, rest=0.01)
    motion = long.elastic_motion(path.sample(13))
    elastic, rate = integrated(long, path, motion.time, 1e-9)
    assert motion.way == "forward"
    assert motion.unstable == 0
    assert motion.residual < 1e-8
    assert_allclose(motion.elastic, elastic, rtol=0, atol=1e-6 * np.abs(elastic).max())
    assert_allclose(motion.elastic_velocity, rate, rtol=0, atol=1e-6 * np.abs(rate).max())
    agrees_with_inverse_dynamics(long, motion)
    given = path.sample(13)
    for name in ("position", "rotation", "velocity", "angular_acceleration", "time"):
        assert_array_equal(getattr(motion, name), getattr(given, name))


def test_wrench_and_friction_count(long):
    rubbing = rough(long, {"slider_viscous": 300.0, "universal_viscous": 2.0})
    path, push = move(long), np.array([100.0, -50, 200, 5, 10, -20])
    motion = rubbing.elastic_motion(path.sample(21), wrench=push)
    agrees_with_inverse_dynamics(rubbing, motion, wrench=push)
    start = rubbing.static_deflection(path.sample(21)[:1], push)
    assert_allclose(motion.elastic[0], start.elastic[0], atol=1e-12)
    smooth = rubbing.elastic_motion(path.sample(21), wrench=push, friction=False)
    plain = long.elastic_motion(path.sample(21), wrench=np.broadcast_to(push, (21, 6)))
    assert_allclose(smooth.elastic, plain.elastic, rtol=0, atol=1e-12)
    assert np.abs(motion.elastic - smooth.elastic).max() > 1e-4 * np.abs(smooth.elastic).max()


@pytest.mark.second_tier
def test_coulomb_friction_in_the_joints_counts(monkeypatch):
    """As an integrator finds it; where none is found, friction that jumps is told of."""
    robot, _, _ = random_flexible(np.random.default_rng(3), "PUS", 2, general=False)
    path = move(robot, duration=0.05, rest=0.01)
    rubs = {"universal_coulomb": 0.01, "spherical_coulomb": 0.02, "width": 0.02}
    robot = rough(robot, rubs)
    motion = robot.elastic_motion(path.sample(15))
    agrees_with_inverse_dynamics(robot, motion)
    elastic, _ = integrated(robot, path, motion.time, 1e-6)
    assert_allclose(motion.elastic, elastic, rtol=0, atol=1e-5 * np.abs(elastic).max())
    plain = robot.elastic_motion(path.sample(15), friction=False)
    assert np.abs(motion.elastic - plain.elastic).max() > 0.1 * np.abs(elastic).max()
    monkeypatch.setattr(elastic_search, "MOST_NEWTON_STEPS", 1)
    monkeypatch.setattr(ZeroDynamics, "jumps", True)
    with refusal(ConvergenceError, "legs.friction"):
        robot.elastic_motion(path.sample(15))


def test_compliant_drives_leave_the_modes_as_they_are(on_numpy):
    """The legs feel the force in the springs; what the rotors need beyond it `drive_forces` knows."""
    rigid, _, _ = random_flexible(np.random.default_rng(3), "PUS", 2, general=False)
    sprung = {"legs.rotor_mass": 5.0, "legs.drive": {"stiffness": 1e6}}
    soft = with_body(rigid.edited(sprung), rigid.description.modal)
    given = move(rigid, duration=0.05, rest=0.01).sample(8)
    motion, wanted = soft.elastic_motion(given), rigid.elastic_motion(given)
    assert_allclose(motion.elastic, wanted.elastic, rtol=0, atol=1e-12)
    found = soft.drive_forces(motion).elastic_acceleration
    assert_allclose(motion.elastic_acceleration, found, rtol=0, atol=1e-8 * np.abs(found).max())


def test_the_papers_path_takes_what_its_simulation_takes(long):
    """The loop of Fig. 3 from static deflection needs 5,148 N, the rigid robot 6,512 N."""
    states = paper_motion("long-khalil-martinet-2014/poses").sample(181)
    motion = long.elastic_motion(states)
    forces = agrees_with_inverse_dynamics(long, motion)
    assert np.abs(forces).max() == pytest.approx(5148, rel=1e-3)
    assert np.abs(long.rigid.inverse_dynamics(states).forces).max() == pytest.approx(6512, rel=1e-3)


def test_forces_depend_on_stiffness_and_tend_to_the_rigid_robots(long):
    states = move(long).sample(41)
    rigid = long.rigid.inverse_dynamics(states).forces
    apart = []
    for young in (2e10, 1e11, 1e12):
        robot = long.edited({"platform.plate.young": young})
        found = robot.inverse_dynamics(robot.elastic_motion(states)).forces
        apart.append(np.abs(found - rigid).max() / np.abs(rigid).max())
    assert apart[0] > 2 * apart[1] > 10 * apart[2]
    assert apart[2] < 0.05


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize(
    ("turns", "output", "growing"), [((-22.0, -20.0), "frame", 1), ((0.0, 5.0), "terminal", 3)]
)
def test_bounded_motions_are_followed_by_a_robot_under_their_forces(stiff, turns, output, growing):
    """Γ(t) applied open loop from the bounded motion's start; four times the samples, a tenth."""
    errors = []
    for samples in (101, 401):
        given = move(stiff, turns).sample(samples)
        motion = stiff.elastic_motion(given, output)
        assert motion.way == "bounded"
        assert motion.unstable == growing
        forces = CubicSpline(given.time, agrees_with_inverse_dynamics(stiff, motion))
        run = gough.simulate(
            stiff,
            GivenForces(forces),
            motion,
            start=motion[0],
            period=None,
            step=2e-5,
            record=given.time[1],
        )
        reached = stiff.terminal_motion(run.motion) if output == "terminal" else run.motion
        errors.append(np.abs(reached.position[:samples] - given.position).max())
    assert errors[1] < 0.1 * errors[0]
    assert errors[1] < 2e-5  # of a way of 7 mm


def test_bounded_motions_anticipate_and_forward_integration_leaves(stiff):
    path = move(stiff, (-22.0, -20.0))
    samples = path.sample(101)
    motion = stiff.elastic_motion(samples)
    rest = stiff.static_deflection(samples)
    size = np.abs(motion.elastic).max()
    before = samples.time < 0.05
    assert np.abs(motion.elastic - rest.elastic)[before][-1].max() > 1e-3 * size
    assert motion.unsettled[0] < 1e-9
    assert np.abs(motion.elastic).max() < 3 * np.abs(rest.elastic).max()
    left, _ = integrated(stiff, path, samples.time[samples.time < 0.07], 1e-6)
    assert np.abs(left[-1]).max() > 2 * size


def test_a_start_without_rest_is_warned_of(stiff):
    with warning(UnstableWarning, "motion"):
        motion = stiff.elastic_motion(move(stiff).sample(101)[40:], "terminal")
    assert motion.unsettled[0] > 1e-3


def test_where_no_bounded_motion_exists_an_error_says_why(stiff):
    with refusal(SingularError, "elastic", "motion", 1, 0):
        stiff.elastic_motion(move(stiff, (0.0, -20.0)).sample(41))
    with pytest.raises(ConvergenceError):
        stiff.elastic_motion(move(stiff, (-20.0, 0.0)).sample(41))


@pytest.mark.parametrize("output", ["terminal", "legs"])
def test_outputs_follow_the_command(stiff, output):
    given = move(stiff).sample(41)
    motion = stiff.elastic_motion(given, output)
    agrees_with_inverse_dynamics(stiff, motion)
    assert motion.output == output
    if output == "terminal":
        reached = stiff.terminal_motion(motion)
        names = ("position", "rotation", "velocity", "angular_velocity", "acceleration")
        pairs = [(getattr(reached, one), getattr(given, one)) for one in names]
        pairs.append((reached.angular_acceleration, given.angular_acceleration))
    else:
        reached, asked = stiff.inverse_kinematics(motion), stiff.inverse_kinematics(given)
        pairs = [(getattr(reached, one), getattr(asked, one)) for one in ("q", "qd", "qdd")]
        assert motion.way == "forward"
    for found, wanted in pairs:
        assert_allclose(found, wanted, rtol=0, atol=1e-11 * max(np.abs(wanted).max(), 1))


def test_legs_that_move_as_the_frame_needs_it_move_the_frame(long):
    """Commanding the legs of a motion gives it back, though the robot cannot stand by itself."""
    motion = long.elastic_motion(move(long, rest=0.75).sample(161))
    again = long.elastic_motion(motion, "legs")
    assert (motion.way, again.way) == ("forward", "bounded")
    assert again.unstable == 1
    assert_allclose(again.position, motion.position, rtol=0, atol=2e-6)
    with pytest.raises(ConvergenceError):
        long.elastic_motion(move(long).sample(41), "legs")


def test_terminal_motion_is_the_derivative_of_its_poses(long):
    """Twist and acceleration against central differences in time."""
    rng = np.random.default_rng(4)
    elastic, rate, acceleration = 0.05 * rng.normal(size=(3, long.modes))
    step, times = 1e-4, np.array([-1.0, 0.0, 1.0])[:, np.newaxis] * 1e-4
    spin = np.array([0.4, -0.7, 1.1])
    motion = gough.Motion(
        long.home.position + times * [0.3, 0.2, -0.1],
        Rotation.from_rotvec(times * spin),
        [0.3, 0.2, -0.1],
        spin,
        elastic=elastic + times * 20 * rate + times**2 / 2 * 50 * acceleration,
        elastic_velocity=20 * rate + times * 50 * acceleration,
        elastic_acceleration=50 * acceleration,
    )
    found = long.terminal_motion(motion)
    velocity = (found.position[2] - found.position[0]) / (2 * step)
    turned = Rotation.from_matrix(found.rotation[2] @ found.rotation[0].T).as_rotvec() / (2 * step)
    assert_allclose(found.velocity[1], velocity, rtol=0, atol=1e-6)
    assert_allclose(found.angular_velocity[1], turned, rtol=0, atol=1e-5)
    for name in ("velocity", "angular_velocity"):
        slope = (getattr(found, name)[2] - getattr(found, name)[0]) / (2 * step)
        wanted = getattr(found, name.replace("velocity", "acceleration"))[1]
        assert_allclose(wanted, slope, rtol=0, atol=1e-5 * np.abs(wanted).max())
    material = long.deformation(motion, "origin")
    assert_allclose(found.position, material.position, rtol=0, atol=1e-15)
    assert_allclose(found.velocity, material.velocity, rtol=0, atol=1e-12)


def test_zero_dynamics_of_three_outputs(long):
    """Of poses around home: a quarter, all, none are unstable; legs have poles of a real structure."""
    rng = np.random.default_rng(5)
    turns = Rotation.from_rotvec(rng.uniform(-0.5, 0.5, (200, 3)))
    cloud = gough.Motion(long.home.position + rng.uniform(-0.3, 0.3, (200, 3)), turns)
    parts = {}
    for output in ("frame", "terminal", "legs"):
        with contextlib.nullcontext() if output == "legs" else pytest.warns(UnstableWarning):
            health = long.elastic_health(cloud, output)
        parts[output] = 1 - np.mean(health.stable)
        if output == "legs":
            mass = health.zero_mass
            assert_allclose(mass, np.swapaxes(mass, -1, -2), rtol=0, atol=1e-9 * np.abs(mass).max())
    assert 0.15 < parts["frame"] < 0.35
    assert parts["terminal"] == 1
    assert parts["legs"] == 0


def test_batches_of_motions(long):
    one, other = move(long).sample(21), move(long, (0.0, -5.0)).sample(21)
    batch = gough.Motion.stack([one, other]).reshape(2, 1, 21)
    found = long.elastic_motion(batch)
    assert found.shape == (2, 1, 21)
    assert found.residual.shape == found.way.shape == (2, 1)
    assert found.unsettled.shape == (2, 1, 2)
    for given, place in ((one, (0, 0)), (other, (1, 0))):
        assert_array_equal(found.elastic[place], long.elastic_motion(given).elastic)
    assert type(found[0]) is gough.Motion
    assert found[0, 0, 3].elastic.shape == (10,)
    assert "integrated forward" in str(found)


def test_samples_without_an_answer(stiff):
    good, bad = move(stiff).sample(21), move(stiff, (0.0, -20.0)).sample(21)
    both = gough.Motion.stack([good, bad])
    with refusal(SingularError, "sample 1"):
        stiff.elastic_motion(both)
    found = stiff.elastic_motion(both, on_error="nan")
    assert list(found.way) == ["forward", "none"]
    assert np.isfinite(found.elastic[0]).all()
    assert np.isnan(found.elastic[1]).all()
    lost = good.replace(position=np.where(np.arange(21)[:, np.newaxis] == 4, np.nan, good.position))
    with refusal(NotFiniteError, "position", "sample 4"):
        stiff.elastic_motion(lost)


def test_wrong_questions_are_refused(long, kim):
    given = move(long).sample(21)
    for motion, message in (
        (long.home, r"two samples or more .* shape \(\) without time"),
        (given.replace(time=None), "without time"),
        (given[:1], "two samples or more"),
        (gough.Motion(np.zeros((20_001, 3)), time=np.arange(20_001.0)), "20000 at most"),
        (given.replace(time=-given.time), "times that increase"),
        (given.replace(velocity=0 * given.velocity), "velocities are not those of its positions"),
        (given.replace(angular_velocity=0 * given.velocity), "not those of its rotations"),
        (given.replace(elastic=np.zeros(3)), "3 elastic coordinates, the platform has 10 modes"),
        ("path", "needs a gough.Motion"),
    ):
        with pytest.raises(InputError, match=message):
            long.elastic_motion(motion)
    with refusal(InputError, "frame", "terminal", "legs", "tool"):
        long.elastic_motion(given, "tool")
    with refusal(InputError, "rigid", "platform"):
        kim.elastic_motion(given)
    with refusal(InputError, "rigid", "platform"):
        kim.terminal_motion(given)
    with refusal(InputError, "wrench", "shape"):
        long.elastic_motion(given, wrench=np.zeros(3))
    with refusal(InputError, "batch", "axes"):
        long.elastic_motion(given, wrench=np.zeros((7, 6)))
    seven, _, _ = random_flexible(np.random.default_rng(3), "PUS", 3, general=False, legs=7)
    with refusal(InputError, "legs", 7, 6):
        seven.elastic_motion(given, "legs")


def test_what_steps_do_not_resolve_is_told(long, monkeypatch):
    monkeypatch.setattr(elastic_search, "MOST_HALVINGS", 1)
    with warning(ToleranceWarning, 1, 2):
        motion = long.elastic_motion(move(long).sample(5))
    assert motion.residual > 1e-8


def test_a_search_that_strays_is_not_called_a_command_out_of_reach(long, monkeypatch):
    """What the command itself cannot do is told as it is; what an iterate cannot do, as not found."""
    pull, calls = ZeroDynamics.pull, []

    def failing(self, motion, wrench):
        calls.append(motion)
        if len(calls) == at:
            raise ReachError([Failure((7,), 2, "its tip is out of reach")])
        return pull(self, motion, wrench)

    monkeypatch.setattr(ZeroDynamics, "pull", failing)
    path = move(long).sample(5)
    at = 1
    with refusal(ReachError, "sample 1", "leg 2"):
        long.elastic_motion(path)
    calls.clear()
    at = 2
    with refusal(ConvergenceError, "elastic", "motion"):
        long.elastic_motion(path)


def test_between_samples_fifth_order_moves_are_exact(long):
    path = move(long)
    between = Between.of(path.sample(5))
    interval, part = np.repeat(np.arange(4), 25), np.tile(np.linspace(0, 1, 25), 4)
    found = between(interval, part)
    wanted = path(found.time)
    for name in ("position", "rotation", "velocity", "angular_velocity"):
        assert_allclose(getattr(found, name), getattr(wanted, name), rtol=0, atol=1e-13)
    assert_allclose(found.acceleration, wanted.acceleration, rtol=0, atol=1e-10)


def test_sweep_solves_both_ways_at_once():
    """Against one dense system, with directions that grow and decay by 10³⁰ over the steps."""
    rng = np.random.default_rng(2)
    steps, size = 60, 5
    basis = rng.normal(size=(size, size))
    change = basis @ np.diag([0.3, 0.5, 1.0, 2.0, 3.3]) @ np.linalg.inv(basis)
    change, offset = np.broadcast_to(change, (steps, size, size)), rng.normal(size=(steps, size))
    left = np.linalg.inv(basis)
    conditions = Conditions(left[:3], rng.normal(size=3), left[3:], rng.normal(size=2))
    found = sweep(change, offset, conditions)
    dense = np.zeros(((steps + 1) * size,) * 2)
    right = np.concatenate([conditions.start_value, *offset, conditions.end_value])
    dense[:3, :size], dense[-2:, -size:] = left[:3], left[3:]
    for k in range(steps):
        rows = slice(3 + k * size, 3 + (k + 1) * size)
        dense[rows, k * size : (k + 1) * size] = -change[k]
        dense[rows, (k + 1) * size : (k + 2) * size] = np.eye(size)
    wanted = np.linalg.solve(dense, right).reshape(steps + 1, size)
    assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
