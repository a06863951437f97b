"""Simulations against theory: energy, order of convergence, designed poles, an independent engine."""

from __future__ import annotations

import numpy as np
import pytest
import xarray
from scipy.spatial.transform import Rotation

import gough
from cases.common import each_kind
from cases.errors import refusal
from cases.simulations import dictionary, in_python, offset, path, robot_of
from gough.errors import InputError
from gough.simulation import (
    ComputedTorque,
    FeedForward,
    GivenForces,
    GravityPD,
    LegPD,
    paper_loop,
)

# --- energy and convergence ---------------------------------------------------------------------


@pytest.mark.second_tier_from(1)
@each_kind
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


@pytest.mark.second_tier_from(2)
@each_kind
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


@pytest.mark.second_tier_from(2)
@each_kind
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


@each_kind
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
    with refusal(InputError, "shape"):
        gough.simulate(robot, lambda measured, reference: np.zeros(3), robot.home, 0.01)


@pytest.mark.second_tier_from(1)
@each_kind
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


# --- results ------------------------------------------------------------------------------------


def test_dataset_is_labelled_and_comes_back_from_netcdf(tmp_path):
    robot = robot_of("UPS")
    found = gough.simulate(
        robot, ComputedTorque(30.0), path(robot), 0.05, start=offset(robot), friction=False
    )
    data = found.dataset
    assert data["force"].dims == ("time", "actuator")
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
