"""Controllers that learn, estimate and damp: adaptive control, observer, feedback on the legs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gough
from cases.errors import refusal
from gough.errors import InputError
from gough.mechanics.state import CHAINS
from gough.parameters.base import base_parameters
from gough.parameters.consistency import changes
from gough.parameters.regressor import columns, standard_parameters
from gough.simulation import (
    AdaptiveControl,
    ComputedTorque,
    ForceFeedback,
    LegTuned,
    ObservedTorque,
    Sensors,
    StableInversion,
    VelocityFeedback,
)
from gough.simulation.config import read_config
from gough.simulation.controllers import Measured
from gough.simulation.damping import felt_masses
from gough.simulation.real_bodies import RealBodies, condition, pseudo_inertia
from gough.simulation.sensors import Reading
from gough.trajectories import RestToRest


@pytest.fixture(scope="module")
def orthoglide() -> gough.Robot:
    """Three actuators, three directions."""
    return gough.load("chablat-orthoglide-2003").edited({"legs.friction": {}})


def wrong(robot: gough.Robot) -> gough.Robot:
    """The same robot with every body 30 % too heavy or too light."""
    names, standard = columns(robot), standard_parameters(robot)
    rng, factors = np.random.default_rng(0), np.ones(len(standard))
    for place, one in enumerate(names):
        if one.name.endswith(" XX"):
            factors[place : place + 10] = 1 + 0.3 * rng.choice([-1, 1])
    return robot.edited(changes(robot, tuple(one.name for one in names), standard * factors))


def rich(robot: gough.Robot, duration: float) -> gough.Motion:
    """A motion that shows the masses."""
    t = np.arange(0, duration + 1e-9, 0.005)
    u = np.zeros((len(t), robot.mobility))
    for k, phase in ((2.0, 0.0), (3.3, 1.0), (5.1, 2.0)):
        angle = 2 * np.pi * k * t[:, np.newaxis] + phase * np.arange(1, robot.mobility + 1)
        u += 0.03 / k * (np.sin(angle) - np.sin(angle[0]))
    grown = np.minimum(t / 0.2, 1)[:, np.newaxis]
    u *= grown**3 * (10 - 15 * grown + 6 * grown**2)
    return gough.Motion.from_samples(t, robot.home.position + u, robot.home.rotation)


def test_regressor_of_a_separate_reference_rate(orthoglide: gough.Robot) -> None:
    """Y is W where both rates are one; Ṁ − 2 C is skew: sᵀ (Y(q̇, s) − ½ Ṁ s …) = 0."""
    robot = orthoglide
    learner = AdaptiveControl(10.0).learner(robot)
    rng = np.random.default_rng(2)

    def measured(pose: gough.Motion) -> Measured:
        one = pose.reshape(1)
        q = robot.inverse_kinematics(one).q
        fields = (one.position, one.rotation, one.velocity, one.angular_velocity)
        none = np.zeros((1, 0))
        return Measured(0.0, Reading(q, 0 * q, *fields), none, none, none)

    home = measured(robot.home)
    rate, other = rng.normal(size=(2, 1, 3))
    zero = np.zeros((1, 3))

    def separate(rate: np.ndarray, reference: np.ndarray, faster: np.ndarray) -> np.ndarray:
        asked = [((rate + reference) / 2, faster), ((rate - reference) / 2, zero), (zero, zero)]
        first, second, still = learner.regressors(home, asked)
        return np.asarray(first - second + still)

    (plain,) = learner.regressors(home, [(rate, other)])
    assert np.allclose(separate(rate, rate, other), plain, rtol=0, atol=1e-9 * np.abs(plain).max())
    X = learner.standard

    def mass_times(pose: gough.Motion, s: np.ndarray) -> np.ndarray:
        push, still = learner.regressors(measured(pose), [(zero, s), (zero, zero)])
        return np.asarray((push - still) @ X)

    coriolis = (separate(rate, other, zero) - learner.regressors(home, [(zero, zero)])[0]) @ X
    step = 1e-5
    twist = np.linalg.solve(robot.jacobian(robot.home)[:, :3], rate[0])
    apart = [
        mass_times(gough.Motion(robot.home.position + h * twist, robot.home.rotation), other)
        for h in (step, -step)
    ]
    changing = (apart[0] - apart[1]) / (2 * step)
    skew = float(other[0] @ (changing - 2 * coriolis)[0])
    assert abs(skew) < 1e-6 * np.abs(coriolis).max()


@pytest.mark.second_tier
def test_adaptive_control_learns_wrong_masses(orthoglide: gough.Robot) -> None:
    """30 % wrong masses: a tenth of the error of fixed computed torque; base parameters converge."""
    robot, model = orthoglide, wrong(orthoglide)
    path = rich(robot, 0.6)
    fixed = gough.simulate(robot, ComputedTorque(30.0, model=model), path)
    learning = gough.simulate(robot, AdaptiveControl(30.0, model=model), path)
    half = len(path.time) * 5 // 2
    errors = [np.sqrt(np.mean(run.tracking_errors()[0][half:] ** 2)) for run in (fixed, learning)]
    assert errors[1] < errors[0] / 10
    base = base_parameters(robot)
    off = (learning.memory["parameters"] - standard_parameters(robot)) @ base.grouping.T
    widths = np.sqrt(base.grouping**2 @ AdaptiveControl(30.0).learner(model).widths ** 2)
    off = off[:, widths > 0] / widths[widths > 0]
    assert np.linalg.norm(off[-1]) < 0.2 * np.linalg.norm(off[0])
    audit = learning.energy_audit()
    assert np.abs(audit["energy_residual"]).max() < 1e-6 * np.abs(audit["kinetic_energy"]).max()
    noisy = Sensors(resolution=1e-6, rate_resolution=1e-4, noise=1e-6, rate_noise=2e-4)
    shaken = gough.simulate(robot, AdaptiveControl(30.0, model=model), path, 0.3, sensors=noisy)
    assert np.sqrt(np.mean(shaken.tracking_errors()[0][150:] ** 2)) < errors[0] / 5


def test_bodies_stay_real() -> None:
    """A projection to real bodies moves by the least in the metric, and leaves real ones alone."""
    rng = np.random.default_rng(1)
    points, masses = rng.normal(size=(5, 3)), rng.uniform(0.5, 1, 5)
    outer = np.einsum("p,pi,pj->ij", masses, points, points)
    inertia = np.trace(outer) * np.eye(3) - outer
    real = np.concatenate([inertia[np.triu_indices(3)], masses @ points, [masses.sum()]])
    bodies = RealBodies(np.arange(10)[np.newaxis], np.zeros(0, dtype=np.intp), 0.5)
    P = np.eye(10)[np.newaxis]
    assert np.array_equal(bodies.projected(real[np.newaxis], P)[0], real)
    unreal = real - 3.0 * condition(np.array([1.0, 0, 0, 0]), 0.5)
    assert np.linalg.eigvalsh(pseudo_inertia(unreal, 0.5))[0] < -0.1
    back = bodies.projected(unreal[np.newaxis], P)[0]
    assert np.linalg.eigvalsh(pseudo_inertia(back, 0.5))[0] > -1e-3
    assert np.linalg.norm(back - real) < np.linalg.norm(unreal - real)
    u = rng.normal(size=4)
    assert np.isclose(u @ pseudo_inertia(real, 0.5) @ u, condition(u, 0.5) @ real)


@pytest.fixture(scope="module")
def flexible() -> tuple[gough.Robot, gough.Motion]:
    """Long, Khalil & Martinet's robot, and a move of it."""
    with warnings.catch_warnings(action="ignore"):
        robot = gough.load("long-khalil-martinet-2014")
    poses = gough.Motion(
        robot.home.position + np.array([[0, 0, 0], [0.02, 0.01, 0.03]]),
        Rotation.from_euler("x", np.array([[0.0], [5.0]]), degrees=True),
    )
    return robot, RestToRest(poses, 0.2, [0.02, 0.03]).sample(101)


@pytest.mark.second_tier
def test_observer_is_as_good_as_the_truth(flexible: tuple[gough.Robot, gough.Motion]) -> None:
    """Encoders of 1 µm at 1 kHz: the loop on the estimate within twice that on true q_e."""
    robot, path = flexible
    encoders = Sensors(resolution=1e-6)
    options: dict[str, Any] = {"sensors": encoders, "step": 5e-4}
    truth = gough.simulate(robot, ComputedTorque(30.0), path, **options)
    seen = gough.simulate(robot, ObservedTorque(30.0), path, **options)
    errors = [np.sqrt(np.mean(run.tracking_errors()[0] ** 2)) for run in (truth, seen)]
    assert errors[1] < 2 * errors[0]
    off = seen.memory["estimated_elastic"][1:-1] - seen.motion.elastic[:-2]
    assert robot.modal is not None
    assert np.abs(np.einsum("pck,tk->tpc", robot.modal.tip_shapes, off)).max() < 2e-5
    felt = Sensors(resolution=1e-6, acceleration_noise=0.01)
    law = ObservedTorque(30.0, accelerometer=0.01)
    shaken = gough.simulate(robot, law, path, 0.05, sensors=felt)
    assert not shaken.partial


@pytest.mark.second_tier_from(1)
def test_laws_on_legs_run_in_both_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Force and velocity feedback and stable inversion: compiled as in Python, of a rigid robot too."""
    robot = gough.load("chablat-orthoglide-2003")
    path = rich(robot, 0.1)
    laws: list[Any] = [
        ForceFeedback(60.0, 0.7, damped=100.0),
        VelocityFeedback(60.0),
        StableInversion(60.0),
    ]
    inside = [gough.simulate(robot, law, path, 0.02) for law in laws]
    monkeypatch.setattr("gough.simulation.compiled.possible", lambda scenario: False)
    for law, run in zip(laws, inside, strict=True):
        again = gough.simulate(robot, law, path, 0.02)
        assert np.allclose(again.motion.position, run.motion.position, rtol=0, atol=1e-13)
        assert np.allclose(again.command, run.command, rtol=0, atol=1e-8)
    assert np.allclose(inside[0].memory["yielded"][0], 0.0)
    assert np.all(felt_masses(robot, robot.home) > 0)


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (lambda: AdaptiveControl(0.0), ("frequency",)),
        (lambda: AdaptiveControl(10.0, 0.5), ("ratio",)),
        (lambda: AdaptiveControl(10.0, doubt=0.0), ("doubt",)),
        (lambda: AdaptiveControl(10.0, doubt=1e160), ("doubt",)),
        (lambda: AdaptiveControl(10.0, doubt=1e-300), ("doubt",)),
        (lambda: ObservedTorque(10.0, encoder=0.0), ("encoder",)),
        (lambda: ObservedTorque(10.0, encoder=1e160), ("encoder",)),
        (lambda: ObservedTorque(10.0, disturbance=1e160), ("disturbance",)),
        (lambda: ObservedTorque(10.0, accelerometer=1e-200), ("accelerometer",)),
        (lambda: ForceFeedback(10.0, 0.7), ("damped",)),
        (lambda: LegTuned(-1.0), ("frequency",)),
    ],
)
def test_numbers_that_cannot_be_meant(law: Any, words: str) -> None:
    """One line that names the number."""
    with refusal(InputError, *words):
        law()


def test_what_cannot_be_controlled_is_refused(
    orthoglide: gough.Robot, flexible: tuple[gough.Robot, gough.Motion]
) -> None:
    """A flexible platform is not learnt; a memory needs samples."""
    with refusal(InputError, "flexible", "platform"):
        gough.simulate(flexible[0], AdaptiveControl(10.0), flexible[1])
    with refusal(InputError, "period"):
        gough.simulate(orthoglide, AdaptiveControl(10.0), orthoglide.home, 0.1, period=None)
    with refusal(InputError, "patience", "period", 1e-09):
        gough.simulate(orthoglide, AdaptiveControl(10.0, patience=1e-9), orthoglide.home, 0.01)
    assert CHAINS in AdaptiveControl(10.0).remembered(orthoglide, orthoglide.home.reshape(1), 1e-3)


def test_an_observer_without_gains_is_refused(on_numpy: None) -> None:
    """Riccati's equation has no finite solution where encoders tell next to nothing."""
    robot = gough.load("kim-ryu-2002")
    blind = ObservedTorque(10.0, encoder=1e12, disturbance=1e-12)
    with refusal(InputError, "period", 1e12, 0.001):
        gough.simulate(robot, blind, robot.home, 0.01)


def test_parameters_beyond_numbers_are_left_for_the_forces_to_tell(orthoglide: gough.Robot) -> None:
    """No eigenvalues of what is not finite; the other rows are projected as ever."""
    X = np.tile(standard_parameters(orthoglide), (2, 1))
    bodies = RealBodies.of(orthoglide, X[0], False)
    X[0], X[1, -1] = np.inf, -1.0
    found = bodies.projected(X, np.tile(np.eye(len(X[0])), (2, 1, 1)))
    np.testing.assert_array_equal(found[0], X[0])
    assert found[1, -1] > -1.0


@pytest.mark.parametrize(
    "controller",
    [
        'kind = "adaptive"\nfrequency = 20.0\ndoubt = 0.3\nmodel_changes = {"platform.mass" = 2.0}',
        'kind = "observer"\nfrequency = 20.0\nencoder = 1e-6',
        'kind = "stable inversion"\nfrequency = 20.0\nratio = 0.7\noutput = "terminal"',
        'kind = "velocity feedback"\nfrequency = 20.0',
        'kind = "force feedback"\nfrequency = 20.0\ndamped = 60.0',
    ],
)
def test_simulation_files_have_them(tmp_path: Any, controller: str) -> None:
    """Each kind with its own keys."""
    file = tmp_path / "run.toml"
    file.write_text(
        'robot = "chablat-orthoglide-2003"\nduration = 0.01\n[motion]\nhold = true\n'
        f"[controller]\n{controller}\n",
        "utf-8",
    )
    setup = read_config(file)
    assert type(setup.controller).__name__ != "ComputedTorque"
