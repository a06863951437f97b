"""How simulations end: out of reach, singular, sticking, interrupted, refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gough
from cases.errors import refusal
from cases.simulations import robot_of
from gough.errors import InputError
from gough.simulation import (
    Actuators,
    ComputedTorque,
    GivenForces,
    GravityPD,
    LegPD,
    Push,
    Sensors,
    paper_loop,
)
from gough.simulation.events import NEAR_SINGULAR


@pytest.mark.second_tier_from(1)
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
        ({"duration": 1.0, "actuators": Actuators(lag=1e-6)}, "lag"),
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
    with refusal(InputError, "stiffness"):
        gough.simulate(robot, LegPD([1.0, 2.0]), robot.home, 0.1)
    with refusal(InputError, "reference"):
        gough.simulate(robot, law, "circle", 0.1)
    with refusal(InputError, "controller"):
        gough.simulate(robot, 3.0, robot.home, 0.1)


def test_what_makes_no_sense_is_refused():
    with refusal(InputError, 0.1, 0.05):
        Push([1, 0, 0, 0, 0, 0], 0.1, 0.05)
    robot = gough.load("kim-ryu-2002")
    several = robot.variants({"platform.mass": [8.0, 9.0]})
    with refusal(InputError, "robot", "Variants"):
        gough.simulate(robot, ComputedTorque(40.0, model=several), robot.home, 0.01)
