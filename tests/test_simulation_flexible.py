"""Platforms that bend under control: Long, Khalil & Martinet's robot."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
from scipy import signal
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import gough
from cases.common import each_shape
from cases.errors import refusal
from gough.data.paper_motions import paper_motion
from gough.errors import InputError, UnstableWarning
from gough.simulation import (
    Actuators,
    ComputedTorque,
    FeedForward,
    GivenForces,
    GravityPD,
    Sensors,
    Shake,
    compiled,
    linear_model,
    paper_loop,
    stepwise,
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
    with refusal(InputError, "modes"):
        gough.simulate(robot.rigid, ComputedTorque(10.0, model=robot), robot.home, 0.01)
    with refusal(InputError, "rigid", "model"):
        gough.simulate(robot, ComputedTorque(10.0, space="legs"), robot.home, 0.01)


# --- the compiled loop ----------------------------------------------------------------------------

LOOPS = {
    "paper's loop": (paper_loop(), {"period": STEP}),
    "rigid model, slower than the steps": (None, {"period": 5 * STEP, "step": STEP}),
    "without pause, shaken": (
        ComputedTorque(30.0),
        {"period": None, "step": STEP, "wrench": [Shake([200, 0, 300, 10, 0, 0], 40.0)]},
    ),
    "lagging drives, noise": (
        GravityPD(2e6, 2e3),
        {"period": STEP, "actuators": Actuators(lag=2e-3), "sensors": Sensors(noise=1e-7)},
    ),
}


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("name", LOOPS)
def test_engine_and_python_loops_agree_on_platforms_that_bend(name, monkeypatch):
    robot, rest = long_robot(), rested()
    law, options = LOOPS[name]
    law = law or ComputedTorque(30.0, model=robot.rigid)
    shifts = np.array([[1e-4, 0, 1e-4], [0, 2e-4, 0]])
    elastic = np.tile(rest.elastic, (2, 1))
    start = gough.Motion(rest.position + shifts, rest.rotation, elastic=elastic)
    given = {"start": start, "duration": 0.004, **options}
    fast = gough.simulate(robot, law, robot.home, **given)
    with monkeypatch.context() as patch:
        patch.setattr(compiled, "possible", lambda scenario: False)
        slow = gough.simulate(robot, law, robot.home, **given)
    for field in ("position", "rotation", "velocity", "elastic", "elastic_velocity"):
        mine, other = getattr(fast.motion, field), getattr(slow.motion, field)
        np.testing.assert_allclose(mine, other, rtol=0, atol=1e-11 * max(1.0, abs(other).max()))
    size = abs(slow.forces).max()
    np.testing.assert_allclose(fast.forces, slow.forces, rtol=0, atol=1e-11 * size)
    np.testing.assert_allclose(fast.works, slow.works, rtol=0, atol=1e-10 * abs(slow.works).max())


def test_the_compiled_loop_is_used_for_platforms_that_bend(monkeypatch):
    monkeypatch.setattr(stepwise, "run_fixed", lambda *given: pytest.fail("stepped in Python"))
    robot = long_robot()
    found = gough.simulate(robot, paper_loop(), robot.home, 0.01, period=STEP)
    assert not found.partial


@pytest.mark.second_tier_from(2)
@each_shape
def test_batches_of_platforms_that_bend_and_their_deflections(shape):
    robot, rest = long_robot(), rested()
    shifts = np.random.default_rng(1).uniform(-1e-4, 1e-4, (*shape, 3))
    start = gough.Motion(
        rest.position + shifts, rest.rotation, elastic=rest.elastic + np.zeros((*shape, 10))
    )
    found = gough.simulate(robot, paper_loop(), robot.home, 0.002, start=start, period=STEP)
    assert found.motion.elastic.shape == (*shape, 11, 10)
    bent = found.deflection()
    assert bent.shape == (*shape, 11, 6, 3)
    if shape:
        assert found.deflection("origin").shape == (*shape, 11, 1, 3)
        assert found.deflection([3]).shape == (*shape, 11, 1, 3)
        return
    np.testing.assert_array_equal(bent, robot.deformation(found.motion).displacement)
    nodes = robot.deformation(found.motion, "nodes").displacement[..., [3, 0], :]
    np.testing.assert_allclose(found.deflection([3, 0]), nodes, rtol=0, atol=1e-18)
    data = found.dataset["tip_deflection"]
    assert data.dims == ("time", "leg", "platform_axis")
    assert data.attrs["units"] == "m"
    np.testing.assert_array_equal(data, bent)
    for wrong in ("middle", [-1], [10**6], [0.5], [[0]]):
        with pytest.raises(InputError, match="at"):
            found.deflection(wrong)


# --- linear models --------------------------------------------------------------------------------


def test_linear_model_has_the_natural_frequencies():
    """The undamped part against `natural_frequencies`, springs in the legs; 1e-9 of the largest."""
    robot, stiffness = long_robot(), 2e7
    model = linear_model(robot, stiffness=stiffness)
    squares = np.linalg.eigvals(-model.A[16:, :16]).real
    found = np.sort(np.sign(squares) * np.sqrt(abs(squares))) / (2 * np.pi)
    with pytest.warns(UnstableWarning):
        expected = robot.natural_frequencies(robot.home, stiffness).frequencies
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * abs(expected).max())
    modes = model.modes()
    assert len(modes.frequency) >= 16
    assert modes.shapes.shape[0] == 16


def test_linearization_is_the_linear_model_at_rest_and_follows_a_step_in_motion():
    robot, rest = long_robot(), rested()
    model = linear_model(robot)
    A, B = robot.linearize(rest)
    np.testing.assert_allclose(A, model.A, rtol=0, atol=1e-8 * abs(model.A).max())
    np.testing.assert_allclose(B, model.inputs["forces"], rtol=0, atol=1e-9 * abs(B).max())
    # moving, with forces that do not hold it: the derivative of ξ̇ along a small change
    rng = np.random.default_rng(3)
    moving = gough.Motion(
        rest.position, rest.rotation, [0.1, -0.2, 0.1], [0.2, 0.1, -0.1],
        elastic=rest.elastic, elastic_velocity=1e-2 * rng.normal(size=10),
    )  # fmt: skip
    forces = robot.inverse_dynamics(rest).forces + 10.0
    A, B = robot.linearize(gough.Motion.stack([rest, moving]), np.stack([forces, forces]))
    change = 1e-4 * rng.normal(size=32)
    push = rng.normal(size=6)

    def rate(size):
        x = size * change
        there = gough.Motion(
            moving.position + x[:3],
            Rotation.from_rotvec(x[3:6]).as_matrix() @ moving.rotation,
            moving.velocity + x[16:19],
            moving.angular_velocity + x[19:22],
            elastic=moving.elastic + x[6:16],
            elastic_velocity=moving.elastic_velocity + x[22:],
        )
        found = robot.direct_dynamics(there, forces + size * push)
        return np.concatenate([found.linear, found.angular, found.elastic])

    slope = (rate(0.1) - rate(-0.1)) / 0.2
    expected = A[1, 16:] @ change + B[1, 16:] @ push
    np.testing.assert_allclose(slope, expected, rtol=0, atol=1e-6 * abs(slope).max())
    np.testing.assert_array_equal(A[:, :16, 16:], np.stack([np.eye(16)] * 2))


def test_a_shaken_platform_answers_as_the_linear_model_does():
    """Wrench → platform: the simulation against the linear system's answer to the same shaking."""
    robot, stiffness, damping, hertz = long_robot(), 2e7, 2e5, 12.0
    model = linear_model(robot, stiffness=stiffness, damping=damping)
    system = model.state_space("wrench", output_point="frame")  # which tracking errors are of
    push = np.array([2.0, 0, 3.0, 0.1, 0, 0])
    found = gough.simulate(
        robot, FeedForward(stiffness, damping), robot.home, 0.3, step=STEP, period=None,
        wrench=[Shake(push, hertz)],
    )  # fmt: skip
    shaken = np.sin(2 * np.pi * hertz * found.time)[:, np.newaxis] * push
    _, expected, _ = signal.lsim(system, shaken, found.time)
    moved = -np.concatenate(found.tracking_errors(), axis=-1)
    for part in (slice(0, 3), slice(3, 6)):
        size = abs(expected[:, part]).max()
        np.testing.assert_allclose(moved[:, part], expected[:, part], rtol=0, atol=2e-3 * size)
