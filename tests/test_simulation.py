"""Simulations against theory: energy, order of convergence, designed poles, an independent engine."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
import xarray
from scipy.spatial.transform import Rotation

import gough
from gough.errors import InputError
from gough.simulation import (
    Actuators,
    ComputedTorque,
    FeedForward,
    GivenForces,
    GravityPD,
    LegPD,
    Push,
    Sensors,
    Shake,
    compiled,
    paper_loop,
)
from gough.simulation.events import NEAR_SINGULAR
from gough.trajectories import RestToRest
from oracles.random_robot import random_robot

KINDS = ("UPS", "PUS")


@functools.cache
def dictionary(kind, friction=False, width=None):
    return random_robot(np.random.default_rng(5), kind, friction=friction, width=width)


@functools.cache
def robot_of(kind, friction=False, width=None):
    return gough.Robot.from_dict(dictionary(kind, friction, width))


def path(robot, duration=0.5):
    home = robot.home
    turned = Rotation.from_rotvec([0.03, -0.02, 0.05]).as_matrix() @ home.rotation
    end = gough.Motion(home.position + np.array([0.03, -0.02, 0.02]), turned)
    return RestToRest(
        gough.Motion.stack([gough.Motion(home.position, home.rotation), end]), duration
    )


def offset(robot, shift=(0.002, -0.001, 0.0015), turn=(0.004, 0.002, -0.003)):
    home = robot.home
    rotation = Rotation.from_rotvec(turn).as_matrix() @ home.rotation
    return gough.Motion(home.position + np.array(shift), rotation)


def in_python(monkeypatch):
    monkeypatch.setattr(compiled, "possible", lambda scenario: False)


# --- energy and convergence ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_platform_on_springs_keeps_its_energy(kind):
    """Γ = −k (q − q0), no friction, 10 s: T + U + ½ k Σ (q − q0)² stays to 1e-9."""
    robot, stiffness = robot_of(kind), 4e3
    springs = LegPD(stiffness)
    result = gough.simulate(
        robot, springs, robot.home, 10.0, start=offset(robot, (0.01, 0.02, 0.01)), friction=False,
        period=None, record=0.05, integrator="DOP853", rtol=1e-11, atol=1e-12,
    )  # fmt: skip
    assert not result.partial
    q0 = robot.inverse_kinematics(robot.home).q
    springy = 0.5 * stiffness * np.sum((result.legs()["q"] - q0) ** 2, axis=-1)
    audit = result.energy_audit()
    total = audit["kinetic_energy"] + audit["potential_energy"] + springy
    exchanged = np.ptp(audit["kinetic_energy"])
    assert exchanged > 0.1
    assert np.ptp(total) < 1e-9 * exchanged
    assert np.abs(audit["energy_residual"]).max() < 1e-9 * exchanged


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inside", [True, False])
def test_fixed_steps_converge_with_the_fourth_order(kind, inside, monkeypatch):
    if not inside:
        in_python(monkeypatch)
    robot = robot_of(kind)
    springs = LegPD(1e5, 50.0)
    given = {"start": offset(robot, (0.01, 0.02, 0.01)), "friction": False, "period": None}
    exact = gough.simulate(
        robot, springs, robot.home, 0.2, integrator="DOP853", rtol=1e-12, atol=1e-14, **given
    )
    errors = []
    for step in (2e-3, 1e-3, 5e-4):
        found = gough.simulate(robot, springs, robot.home, 0.2, step=step, **given)
        errors.append(np.abs(found.motion.position[-1] - exact.motion.position[-1]).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 4) < 0.4), (errors, orders)


def test_rotations_do_not_drift():
    robot = robot_of("UPS")
    found = gough.simulate(robot, ComputedTorque(30.0), path(robot, 5.0), friction=False)
    rotation = found.motion.rotation
    wrong = np.swapaxes(rotation, -1, -2) @ rotation - np.eye(3)
    assert np.abs(wrong).max() < 5e-15


# --- controllers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("space", ["platform", "legs"])
def test_computed_torque_has_the_designed_poles(kind, space):
    """With the true model e = e0 (1 + w t) exp(−w t), and 1e-6 m and better at the end."""
    robot, w = robot_of(kind), 40.0
    move, start = path(robot), offset(robot)
    found = gough.simulate(
        robot, ComputedTorque(w, space=space), move, start=start, friction=False, period=None,
        integrator="DOP853", record=0.01, rtol=1e-8,
    )  # fmt: skip
    decay = ((1 + w * found.time) * np.exp(-w * found.time))[:, None]
    if space == "platform":
        error = found.reference.position - found.motion.position
    else:
        error = robot.inverse_kinematics(found.reference).q - found.legs()["q"]
    np.testing.assert_allclose(error, error[0] * decay, rtol=0, atol=2e-9)
    apart, turn = found.tracking_errors()
    assert np.abs(apart[-1]).max() < 1e-6
    assert np.abs(turn[-1]).max() < 1e-6


def test_sampled_computed_torque_tracks_from_an_offset():
    robot = robot_of("PUS")
    found = gough.simulate(
        robot, ComputedTorque(40.0), path(robot), 1.0, start=offset(robot), friction=False
    )
    assert np.abs(found.tracking_errors()[0][-1]).max() < 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_mass_leaves_the_error_that_theory_says(kind):
    """At rest M̂ K e + b̂ = b, so e = (M̂ K)⁻¹ (b − b̂) with the model's M̂ and b̂."""
    robot, w = robot_of(kind), 25.0
    mass = dictionary(kind)["platform"]["mass"]
    model = robot.edited({"platform.mass": 1.2 * mass})
    found = gough.simulate(robot, ComputedTorque(w, model=model), robot.home, 1.5, friction=False)
    last = found.motion[-1]
    still = gough.Motion(last.position, last.rotation)
    expected = np.linalg.solve(
        w**2 * model.mass_matrix(still), robot.bias(still) - model.bias(still)
    )
    apart, turn = found.tracking_errors()
    size = np.abs(expected[:3]).max()
    assert size > 1e-4
    np.testing.assert_allclose(apart[-1], expected[:3], rtol=0, atol=1e-6 * size)
    chord = 2 * np.sin(np.linalg.norm(turn[-1]) / 2) * turn[-1] / np.linalg.norm(turn[-1])
    np.testing.assert_allclose(chord, expected[3:], rtol=0, atol=1e-5 * np.abs(expected[3:]).max())


def test_gravity_compensation_holds_without_error_and_plain_pd_sags():
    robot = robot_of("UPS")
    runs = [
        gough.simulate(robot, law, robot.home, 2.0, start=offset(robot), friction=False)
        for law in (GravityPD(2e4, 2e3), LegPD(2e4, 2e3))
    ]
    held, sagging = (np.abs(run.tracking_errors()[0][-1]).max() for run in runs)
    assert held < 1e-5
    still = gough.Motion(runs[1].motion.position[-1], runs[1].motion.rotation[-1])
    q = robot.inverse_kinematics(gough.Motion(robot.home.position, robot.home.rotation)).q
    balance = 2e4 * (q - robot.inverse_kinematics(still).q)
    np.testing.assert_allclose(
        balance, robot.inverse_dynamics(still, friction=False).forces, rtol=1e-4
    )
    assert sagging > 1e-3


def test_given_forces_and_feed_forward_open_loop_agree():
    robot = robot_of("UPS")
    move = path(robot)

    def forces(times):
        return robot.inverse_dynamics(move(times), friction=False).forces

    open_loop = gough.simulate(robot, FeedForward(0.0, friction=False), move, 0.2, friction=False)
    given = gough.simulate(robot, GivenForces(forces), move, 0.2, friction=False)
    np.testing.assert_array_equal(open_loop.motion.position, given.motion.position)
    assert np.abs(open_loop.tracking_errors()[0]).max() < 1e-3


def test_paper_loop_gives_the_reference_acceleration():
    robot = robot_of("UPS")
    found = gough.simulate(
        robot, paper_loop(), path(robot), friction=False, period=None, integrator="DOP853"
    )
    assert np.abs(found.tracking_errors()[0]).max() < 1e-8


def test_a_function_of_the_users():
    robot = robot_of("UPS")
    seen = []

    def hold(measured, reference):
        seen.append(measured.time)
        q = robot.inverse_kinematics(reference).q
        return 1e5 * (q - measured.q) - 2e3 * measured.qd

    found = gough.simulate(robot, hold, robot.home, 0.02, friction=False)
    same = gough.simulate(robot, LegPD(1e5, 2e3), robot.home, 0.02, friction=False)
    np.testing.assert_allclose(found.motion.position, same.motion.position, rtol=0, atol=1e-12)
    assert seen == pytest.approx(np.arange(20) * 1e-3)
    with pytest.raises(InputError, match="shape"):
        gough.simulate(robot, lambda measured, reference: np.zeros(3), robot.home, 0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_pinocchio_simulates_the_same(kind):
    """The whole closed loop on the opened tree: 1e-6 over 2 s, with a model 10 % too heavy."""
    pytest.importorskip("pinocchio")
    from oracles.closed_loop import computed_torque_run

    plant = dictionary(kind)
    heavy = {**plant, "platform": {**plant["platform"], "mass": 1.1 * plant["platform"]["mass"]}}
    robot, model = robot_of(kind), gough.Robot.from_dict(heavy)
    move, start = path(robot, 2.0), offset(robot)
    times = np.linspace(0, 2, 21)
    fields = ("position", "rotation", "velocity", "angular_velocity")
    fields += ("acceleration", "angular_acceleration")

    def goal(time):
        motion = move(time)
        return {name: getattr(motion, name) for name in fields}

    begin = {name: getattr(start, name) for name in fields}
    position, rotation = computed_torque_run(plant, heavy, begin, goal, 15.0, 0.7, times)
    law = ComputedTorque(15.0, 0.7, model=model)
    given = {"start": start, "friction": False, "period": None, "record": 0.1}
    for options in ({"integrator": "DOP853"}, {"step": 1e-3}):
        found = gough.simulate(robot, law, move, **given, **options)
        assert np.abs(found.motion.position - position).max() < 1e-6
        assert np.abs(found.motion.rotation - rotation).max() < 1e-6
    apart = move(times).position - position
    assert np.abs(apart[10:]).max() > 1e-4  # the wrong model is seen: nothing here is trivial


# --- the two loops ------------------------------------------------------------------------------

LOOPS = {
    "plain": {},
    "wrench": {"wrench": [Push([50, 0, -30, 2, 1, 0], 0.004, 0.02), Shake([9, 9, 9, 1, 1, 1], 40)]},
    "drives": {"actuators": Actuators(force=400.0, speed=0.05, lag=2e-3)},
    "sensors": {
        "sensors": Sensors(
            resolution=1e-6, rate_resolution=1e-5, noise=2e-6, rate_noise=1e-4, delay=2e-3, seed=3
        )
    },
    "slow controller": {"period": 4e-3, "step": 1e-3},
    "no pause": {"period": None},
    "no pause, lag": {"period": None, "actuators": Actuators(lag=5e-3)},
    "delay": {"sensors": Sensors(delay=3e-3)},
}
LAWS = {
    "platform": ComputedTorque(40.0),
    "legs": ComputedTorque(40.0, 0.8, space="legs"),
    "pd": LegPD(2e5, 2e3),
    "gravity": GravityPD(2e5, 2e3),
    "feed forward": FeedForward(2e5, 2e3),
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("law", ["platform", "gravity"])
def test_engine_and_python_loops_agree(loop, law, monkeypatch):
    robot = robot_of("PUS")
    starts = gough.Motion.stack([offset(robot), offset(robot, (0, 0, 0), (0, 0, 0))])
    given = {"start": starts, "duration": 0.03, "friction": False, **LOOPS[loop]}
    fast = gough.simulate(robot, LAWS[law], path(robot), **given)
    in_python(monkeypatch)
    slow = gough.simulate(robot, LAWS[law], path(robot), **given)
    assert fast.motion.shape == slow.motion.shape
    for name in ("position", "rotation", "velocity", "angular_velocity"):
        mine, other = getattr(fast.motion, name), getattr(slow.motion, name)
        np.testing.assert_allclose(mine, other, rtol=0, atol=1e-9, err_msg=name)
    size = np.abs(slow.command).max()
    np.testing.assert_allclose(fast.command, slow.command, rtol=0, atol=1e-7 * size)
    np.testing.assert_allclose(fast.forces, slow.forces, rtol=0, atol=1e-7 * size)
    np.testing.assert_allclose(fast.works, slow.works, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("law", LAWS)
def test_laws_with_smooth_friction_in_both_loops(kind, law, monkeypatch):
    robot = robot_of(kind, friction=True, width=0.05)
    fast = gough.simulate(robot, LAWS[law], path(robot), 0.01)
    in_python(monkeypatch)
    slow = gough.simulate(robot, LAWS[law], path(robot), 0.01)
    np.testing.assert_allclose(fast.motion.velocity, slow.motion.velocity, rtol=0, atol=1e-10)
    np.testing.assert_allclose(fast.works, slow.works, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_energy_audit_closes_with_friction_wrench_and_drives(kind):
    robot = robot_of(kind, friction=True, width=0.05)
    found = gough.simulate(
        robot, ComputedTorque(30.0), path(robot), wrench=[Shake([80, 40, 60, 5, 5, 5], 3.0)],
        actuators=Actuators(lag=2e-3),
    )  # fmt: skip
    audit = found.energy_audit()
    assert audit["loss"][-1] > 0.1
    assert np.all(np.diff(audit["loss"]) > -1e-9)
    assert np.abs(audit["wrench_work"]).max() > 0.1
    size = np.abs(audit["actuator_work"]).max() + audit["loss"][-1]
    assert np.abs(audit["energy_residual"]).max() < 1e-7 * size


# --- drives and sensors -----------------------------------------------------------------------


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


@pytest.mark.parametrize("shape", [(), (1,), (3, 1, 2), (0,)])
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


# --- ends ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["rk4", "DOP853"])
def test_out_of_reach_stops_with_time_leg_and_reason(integrator):
    robot = robot_of("PUS")
    pull = GivenForces(np.zeros(6))
    given = {"wrench": [0, 0, 9000, 0, 0, 0], "friction": False, "integrator": integrator}
    given |= {"stop_on": (), "period": None, "record": 1e-3}
    found = gough.simulate(robot, pull, robot.home, 2.0, **given)
    assert found.partial
    stop = found.stops[0]
    assert stop.leg in range(1, 7)
    assert "reach" in stop.reason or "perpendicular" in stop.reason or "rail" in stop.reason
    assert 0 < stop.time < 1
    assert found.time[-1] <= stop.time + 1e-9
    assert found.time[-1] > stop.time - 2e-3
    assert np.all(np.isfinite(found.motion.position))
    assert f"leg {stop.leg}" in str(found)


def test_a_batch_goes_on_without_those_that_stop():
    robot = robot_of("PUS")
    wrench = np.zeros((3, 6))
    wrench[1, 2] = 9000
    law = GivenForces(robot.inverse_dynamics(robot.home, friction=False).forces)
    found = gough.simulate(robot, law, robot.home, 0.3, wrench=wrench, friction=False)
    assert list(found.stops) == [1]
    assert len(found.time) == 301
    assert np.all(np.isfinite(found.motion.position[[0, 2]]))
    gone = found.time > found.stops[1].time + 1e-9
    assert np.all(np.isnan(found.motion.position[1, gone]))
    assert np.all(np.isfinite(found.motion.position[1, ~gone]))


@pytest.mark.parametrize("integrator", ["rk4", "DOP853"])
def test_singularity_stops(integrator):
    """Turned about z a hexapod becomes singular; a torque takes it there."""
    lower, upper = (
        np.deg2rad(one) for one in ([-10, 10, 110, 130, 230, 250], [-50, 50, 70, 170, 190, 290])
    )
    base, tips = (np.stack([np.cos(a), np.sin(a), 0 * a], axis=1) for a in (lower, upper))
    body = {"mass": 1.0, "inertia": np.diag([0.1, 0.1, 0.1]).tolist()}
    robot = gough.Robot.from_dict(
        {
            "format": 1, "name": "ring", "home": {"position": [0, 0, 1]}, "gravity": [0, 0, 0],
            "legs": {
                "kind": "UPS", "base": base.tolist(), "platform": (0.5 * tips).tolist(),
                "cross": {"mass": 0.0}, "cylinder": body, "rod": body,
            },
            "platform": {"mass": 10.0, "inertia": np.diag([1.0, 1.0, 2.0]).tolist()},
        }
    )  # fmt: skip
    start = gough.Motion([0.02, 0.03, 1], Rotation.from_rotvec([0.05, 0.02, 1.2]))
    push = [0, 0, 0, 0, 0, 20]
    found = gough.simulate(
        robot, paper_loop(), start, 5.0, start=start, wrench=push, integrator=integrator,
        friction=False, period=None, record=1e-2, step=1e-3 if integrator == "rk4" else None,
    )  # fmt: skip
    assert found.partial
    stop = found.stops[0]
    assert "singular" in stop.reason
    last = found.motion[-1]
    scale = np.array([1.0] * 3 + [robot.length_scale] * 3)
    assert 1 / np.linalg.cond(robot.jacobian(last) / scale) < 50 * NEAR_SINGULAR
    assert any(event.kind == "singularity" for event in found.events)


def test_stroke_is_an_event_and_stops_if_asked():
    robot = robot_of("UPS")
    law = GivenForces(robot.inverse_dynamics(robot.home, friction=False).forces + 300)
    given = {"friction": False}
    for integrator in ("rk4", "DOP853"):
        found = gough.simulate(
            robot, law, robot.home, 0.6, stop_on=("stroke",), integrator=integrator, **given
        )
        assert found.partial
        stop = found.stops[0]
        limits = robot.description.limits
        q = found.legs()["q"][-1, stop.leg - 1]
        assert q == pytest.approx(limits.longest[stop.leg - 1], abs=0.02)
        assert "stroke" in stop.reason
    goes_on = gough.simulate(robot, law, robot.home, 0.6, stop_on=(), **given)
    assert [event.kind for event in goes_on.events][:1] == ["stroke"]


def test_sharp_friction_turns_back_and_sticks():
    robot = gough.load("kim-ryu-2002")
    start = gough.Motion(robot.home.position, velocity=[0.02, 0, 0])
    found = gough.simulate(
        robot, GravityPD(3e4, 3e2), robot.home, 0.2, start=start, period=None, integrator="RK45",
        rtol=1e-6, atol=1e-8, record=1e-3,
    )  # fmt: skip
    assert found.partial
    assert "width" in found.stops[0].reason
    assert found.stops[0].leg is not None
    assert [event.kind for event in found.events][-1] == "reversal"


def test_interrupted_runs_keep_what_they_have():
    robot = robot_of("UPS")

    def stop(part):
        if part > 0.3:
            raise KeyboardInterrupt

    for integrator, duration in (("rk4", 8.0), ("DOP853", 0.05)):
        found = gough.simulate(
            robot, ComputedTorque(20.0), robot.home, duration, progress=stop, friction=False,
            integrator=integrator,
        )  # fmt: skip
        assert found.partial
        assert found.stops[0].reason == "interrupted"
        assert 0.2 * duration < found.time[-1] < 0.9 * duration
        assert np.all(np.isfinite(found.motion.position))
        assert found.dataset.attrs["partial"] == 1


def test_nonsense_is_refused():
    robot = robot_of("UPS")
    law = ComputedTorque(10.0)
    wrong = [
        ({"duration": -1.0}, "duration"),
        ({}, "duration"),
        ({"duration": 1.0, "period": 1e-3, "step": 3e-4}, "whole number"),
        ({"duration": 1.0, "integrator": "DOP85"}, "DOP853"),
        ({"duration": 1.0, "record": 1.5e-3}, "record"),
        ({"duration": 1.0, "sensors": Sensors(delay=1.5e-3)}, "delay"),
        ({"duration": 1.0, "sensors": Sensors(noise=1e-6), "period": None}, "period"),
        ({"duration": 1.0, "actuators": Actuators(lag=1e-4)}, "lag"),
        ({"duration": 1.0, "actuators": Actuators(force=[1.0, 2.0])}, "force"),
        ({"duration": 1.0, "stop_on": ("reversal",)}, "stop_on"),
        ({"duration": 1.0, "wrench": np.zeros(5)}, "wrench"),
        ({"duration": 1.0, "wrench": np.zeros((2, 6)), "seeds": [1, 2, 3]}, "batch"),
        ({"duration": 1e6}, "steps"),
        ({"duration": 1.0, "rtol": 0.0}, "rtol"),
        ({"duration": 10.0, "seeds": np.arange(10_000)}, "GB"),
    ]
    for options, culprit in wrong:
        with pytest.raises(InputError, match=culprit):
            gough.simulate(robot, law, robot.home, **options)
    far = gough.Motion(robot_of("PUS").home.position + np.array([0, 0, 5]))
    with pytest.raises(gough.errors.ReachError):
        gough.simulate(robot_of("PUS"), law, far, 0.1)
    for make in (
        lambda: Actuators(force=-1),
        lambda: Actuators(lag=float("nan")),
        lambda: Sensors(noise=-1),
        lambda: Sensors(seed=1.5),
        lambda: ComputedTorque(10.0, space="joint"),
    ):
        with pytest.raises(InputError):
            make()
    with pytest.raises(InputError, match="stiffness"):
        gough.simulate(robot, LegPD([1.0, 2.0]), robot.home, 0.1)
    with pytest.raises(InputError, match="reference"):
        gough.simulate(robot, law, "circle", 0.1)
    with pytest.raises(InputError, match="controller"):
        gough.simulate(robot, 3.0, robot.home, 0.1)


# --- results ------------------------------------------------------------------------------------


def test_dataset_is_labelled_and_comes_back_from_netcdf(tmp_path):
    robot = robot_of("UPS")
    found = gough.simulate(
        robot, ComputedTorque(30.0), path(robot), 0.05, start=offset(robot), friction=False
    )
    data = found.dataset
    assert data["force"].dims == ("time", "leg")
    assert data["force"].attrs["units"] == "N"
    assert data["position"].dims == ("time", "axis")
    for name in data.data_vars:
        assert "long_name" in data[name].attrs
    np.testing.assert_allclose(
        data["power"], data["force"].values * data["q_rate"].values, rtol=1e-12
    )
    turn = Rotation.from_rotvec(data["rotation_error"].values)
    np.testing.assert_allclose(
        (turn.as_matrix() @ found.motion.rotation), found.reference.rotation, rtol=0, atol=1e-12
    )
    found.save(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc", engine="scipy", decode_times=False) as back:
        for name in data.variables:
            np.testing.assert_array_equal(back[name].values, data[name].values)
        assert back.attrs["partial"] == 0
    found.save(tmp_path / "run.csv")
    header = (tmp_path / "run.csv").read_text().split("\n", 1)[0]
    assert "force1 [N]" in header


def test_everything_runs_without_a_compiler(monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = gough.Robot.from_dict(dictionary("UPS"))
    found = gough.simulate(plain, ComputedTorque(30.0), path(plain), 0.01, friction=False)
    monkeypatch.delenv("GOUGH_ENGINE")
    robot = robot_of("UPS")
    fast = gough.simulate(robot, ComputedTorque(30.0), path(robot), 0.01, friction=False)
    np.testing.assert_allclose(found.motion.position, fast.motion.position, rtol=0, atol=1e-12)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(InputError, match=r"starts at 0\.1 s cannot end at 0\.05 s"):
        Push([1, 0, 0, 0, 0, 0], 0.1, 0.05)
    robot = gough.load("kim-ryu-2002")
    several = robot.variants({"platform.mass": [8.0, 9.0]})
    with pytest.raises(InputError, match="a robot, not Variants"):
        gough.simulate(robot, ComputedTorque(40.0, model=several), robot.home, 0.01)
