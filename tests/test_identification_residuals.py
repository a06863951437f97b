"""What a model lacks shows in the residuals, and parameters that it spoils are not called good."""

from dataclasses import replace

import numpy as np
import pytest

import gough
from cases.logged_hexapod import hexapod
from gough.data.logs import simulated_log
from gough.parameters.identification import identify
from gough.parameters.known import summary

pytestmark = pytest.mark.usefixtures("on_numpy")
OFFSETS = np.array([8.0, 0, -5, 0, 0, 6])
"""Of force sensors, N."""


@pytest.fixture(scope="module")
def logged():
    """The drawing, the log of a machine with viscous and Coulomb friction, and its rates, m/s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GOUGH_ENGINE", "numpy")
        machine, drawing = (
            hexapod(scale).edited(
                {"legs.friction.slider_viscous": 50.0, "legs.friction.slider_coulomb": 10.0}
            )
            for scale in (1.0, 1.3)
        )
        size = np.array([0.05] * 3 + [0.15] * 3)[:, np.newaxis]
        coefficients = size * np.random.default_rng(1).normal(size=(2, 6, 4))
        series = gough.trajectories.Fourier(machine.home, *coefficients, period=4.0)
        motion = series(np.arange(1001) / 50)
        log = simulated_log(machine, motion, rng=np.random.default_rng(0))
        return drawing, log, machine.inverse_kinematics(motion).qd


def test_a_model_that_lacks_nothing(logged):
    drawing, log, _ = logged
    found = identify(drawing, log, equal_legs=True)
    assert found.unmodelled == ()
    assert "biased" not in found.verdicts
    assert not any("--equal-legs" in one for one in summary(found))


def test_offsets_of_force_sensors(logged):
    drawing, log, _ = logged
    wrong = replace(log, forces=log.forces + OFFSETS)
    found = identify(drawing, wrong, equal_legs=True)
    assert any(one.startswith("offsets of force sensors") for one in found.unmodelled)
    assert found.verdicts.count("biased") > 3
    assert any("--offsets" in line for line in summary(found))
    better = identify(drawing, wrong, equal_legs=True, offsets=True)
    assert better.unmodelled == ()
    assert np.abs((better.offsets - OFFSETS) / better.offset_deviations).max() < 4
    assert better.offset_deviations.max() < 4


def test_friction_that_falls_with_speed(logged):
    drawing, log, qd = logged
    stribeck = 20 * np.sign(qd) * np.exp(-np.abs(qd) / 0.05)
    found = identify(drawing, replace(log, forces=log.forces + stribeck), equal_legs=True)
    assert any(one.startswith("friction that falls with speed") for one in found.unmodelled)
    assert found.verdicts.count("biased") > 3


def test_a_sensor_that_is_louder_than_the_others(logged):
    drawing, log, _ = logged
    forces = np.array(log.forces)
    forces[:, 3] += 5 * np.std(forces[:, 3]) * np.random.default_rng(5).normal(size=len(forces))
    found = identify(drawing, replace(log, forces=forces), equal_legs=True)
    assert any(one.startswith("noise of actuator 4") for one in found.unmodelled)


def test_equal_legs_are_suggested_first(logged):
    drawing, log, _ = logged
    assert "--equal-legs" in summary(identify(drawing, log))[1]
