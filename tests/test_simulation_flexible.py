"""Platforms that bend under control: Long, Khalil & Martinet's robot."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
from scipy.linalg import expm

import gough
from gough.errors import InputError
from gough.paper_motions import paper_motion
from gough.simulation import (
    ComputedTorque,
    FeedForward,
    GivenForces,
    Sensors,
    Shake,
    linear_model,
    paper_loop,
)

STEP = 2e-4
"""Resolves the fastest of the ten modes."""


@functools.cache
def long_robot():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the paper's leg bodies are not real
        return gough.load("long-khalil-martinet-2014")


def rested():
    robot = long_robot()
    return robot.static_deflection(robot.home)


def test_rest_forces_are_unchanged_at_the_start_and_the_platform_stays():
    """Starting from the static deflection there is no spike."""
    robot, move = long_robot(), paper_motion("long-khalil-martinet-2014/poses")
    found = gough.simulate(robot, paper_loop(), move, 0.05, period=STEP, record=5e-3)
    held = robot.inverse_dynamics(robot.static_deflection(move(0.0))).forces
    np.testing.assert_allclose(
        found.forces, np.broadcast_to(held, found.forces.shape), rtol=0, atol=1e-6 * abs(held).max()
    )
    assert np.abs(found.tracking_errors()[0]).max() < 1e-12
    assert found.motion.modes == 10
    assert found.dataset["elastic"].dims == ("time", "mode")


def test_open_loop_runs_away_as_the_linear_model_says():
    """Constant holding forces: the nonlinear simulation against exp(A t), unstable pole included."""
    robot, rest = long_robot(), rested()
    model = linear_model(robot)
    assert model.modes().poles.real.max() > 1.0
    shift = np.array([1e-6, 2e-6, 1e-6])
    start = gough.Motion(rest.position + shift, rest.rotation, elastic=rest.elastic)
    found = gough.simulate(
        robot, GivenForces(model.forces), robot.home, 0.2, start=start, step=STEP, period=STEP,
        record=0.05,
    )  # fmt: skip
    x = np.zeros(len(model.A))
    x[:3] = shift
    for moment, position, bent in zip(
        found.time, found.motion.position, found.motion.elastic, strict=True
    ):
        expected = expm(moment * model.A) @ x
        np.testing.assert_allclose(position - rest.position, expected[:3], rtol=0, atol=2e-10)
        np.testing.assert_allclose(bent - rest.elastic, expected[6:16], rtol=0, atol=2e-9)


def test_closed_loop_comes_back_and_a_rigid_model_pays():
    """The flexible model has the designed poles; the rigid one is off by its ignorance of bending."""
    robot, rest, w = long_robot(), rested(), 30.0
    shift = np.array([1e-4, 0, 1e-4])
    start = gough.Motion(rest.position + shift, rest.rotation, elastic=rest.elastic)
    given = {"start": start, "duration": 0.2, "step": STEP, "period": STEP, "record": 0.01}
    flexible = gough.simulate(robot, ComputedTorque(w), robot.home, **given)
    rigid = gough.simulate(robot, ComputedTorque(w, model=robot.rigid), robot.home, **given)
    decay = ((1 + w * flexible.time) * np.exp(-w * flexible.time))[:, None]
    np.testing.assert_allclose(
        flexible.tracking_errors()[0], -shift * decay, rtol=0, atol=0.02 * 1e-4
    )
    errors = [np.abs(run.tracking_errors()[0][-1]).max() for run in (flexible, rigid)]
    assert errors[0] < 2e-6
    assert errors[1] > 5 * errors[0]


def test_energy_audit_with_modal_damping_and_a_shaken_platform():
    robot = long_robot()
    found = gough.simulate(
        robot, FeedForward(2e6, 2e3), robot.home, 0.05, step=1e-4, period=1e-4,
        wrench=[Shake([200, 0, 300, 10, 0, 0], 40.0)], record=1e-3,
    )  # fmt: skip
    audit = found.energy_audit()
    size = np.ptp(audit["kinetic_energy"]) + np.abs(audit["wrench_work"]).max()
    assert audit["loss"][-1] > 1e-4 * size
    assert np.all(np.diff(audit["loss"]) > -1e-12)
    assert np.abs(audit["energy_residual"]).max() < 1e-6 * size


def test_sensors_on_a_platform_that_bends():
    robot, rest = long_robot(), rested()
    seen = []

    def law(measured, reference):
        seen.append((measured.q[0].copy(), measured.motion.position[0].copy()))
        return model_forces

    model_forces = robot.inverse_dynamics(rest).forces
    gough.simulate(robot, law, robot.home, 2e-3, sensors=Sensors(resolution=1e-5), step=5e-4)
    q, position = seen[0]
    np.testing.assert_allclose(q / 1e-5, np.rint(q / 1e-5), rtol=0, atol=1e-6)
    near = gough.Motion(rest.position, rest.rotation, elastic=rest.elastic)
    np.testing.assert_allclose(
        position, robot.forward_kinematics(q, near).position, rtol=0, atol=1e-8
    )


def test_models_that_do_not_fit_are_refused():
    robot = long_robot()
    with pytest.raises(InputError, match="modes"):
        gough.simulate(robot.rigid, ComputedTorque(10.0, model=robot), robot.home, 0.01)
    with pytest.raises(InputError, match="rigid model"):
        gough.simulate(robot, ComputedTorque(10.0, space="legs"), robot.home, 0.01)
