"""Simulations of robots with held platforms, chains, groups of legs, several actuators per leg."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gough
from cases.closeness import assert_near
from cases.errors import refusal
from cases.families import draw
from gough.errors import ConstraintError, FileError, InputError
from gough.motion import Motion
from gough.simulation import (
    Actuators,
    ComputedTorque,
    FeedForward,
    GivenForces,
    GravityPD,
    LegPD,
    Sensors,
    compiled,
    linear_model,
)
from gough.simulation.config import read_config
from oracles.arrays import Array
from oracles.parallel import ParallelOracle
from oracles.parallel.dynamics import twist_of, twist_rate_of

DURATION = 0.5


def robot_of(name: str) -> gough.Robot:
    """A robot of a family."""
    return gough.Robot.from_dict(draw(name, 0)[0])


compiled_robot = cache(robot_of)
"""The same for tests of the engine, each compiled once."""


def home_coordinates(oracle: ParallelOracle) -> Array:
    """u at home."""
    return np.asarray(oracle.read(oracle.home_posture.pose)[oracle.chosen])


def oracle_end(oracle: ParallelOracle, u: Array, ud: Array, forces: Array) -> dict[str, Array]:
    """Where the oracle's accelerations lead under constant forces, by SciPy in the coordinates u."""
    m = len(u)

    def rate(_: float, y: Array) -> Array:
        state = oracle.motion(y[:m], y[m:])
        wanted = np.concatenate(oracle.direct_dynamics(state, forces)) - twist_rate_of(state)
        moves = np.array([twist_of(oracle.motion(y[:m], unit)) for unit in np.eye(m)]).T
        return np.concatenate([y[m:], np.linalg.lstsq(moves, wanted, rcond=None)[0]])

    start = np.concatenate([u, ud])
    y = solve_ivp(rate, (0, DURATION), start, method="DOP853", rtol=1e-8, atol=1e-9).y[:, -1]
    return oracle.motion(y[:m], y[m:])


@contextmanager
def in_python() -> Iterator[None]:
    """Simulations step by step in Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "possible", lambda scenario: False)
        yield


@pytest.mark.second_tier_from(1)
@pytest.mark.usefixtures("on_numpy")
@pytest.mark.parametrize("name", ["rotary Delta", "3-RPS", "Tricept", "planar 3-RRR"])
def test_free_motion_is_the_oracles(name: str) -> None:
    """Half a second of motion under constant forces, chains with friction in their joints."""
    table, oracle = draw(name, 0)
    robot = gough.Robot.from_dict(table)
    u, ud = home_coordinates(oracle), 0.1 * np.random.default_rng(5).normal(size=robot.mobility)
    start = robot.motion(u, ud)
    forces = robot.inverse_dynamics(robot.motion(u), friction=False).forces
    found = gough.simulate(
        robot,
        GivenForces(forces),
        Motion(start.position, start.rotation),
        DURATION,
        start=start,
        period=None,
        record=0.1,
        integrator="DOP853",
    )
    assert not found.stops
    for key, value in oracle_end(oracle, u, ud, forces).items():
        if not key.endswith("acceleration"):
            assert_near(getattr(found.motion[-1], key), value, 1e-6)
    audit = found.energy_audit()
    assert np.abs(audit["energy_residual"]).max() < 1e-9 * audit["kinetic_energy"].max()
    robot.inverse_kinematics(found.motion)  # no pose or twist that the platform cannot have


def swing(robot: gough.Robot, oracle: ParallelOracle) -> Motion:
    """There and back in 0.06 s, in the robot's own coordinates."""
    time = np.linspace(0, 0.06, 61)
    w, size = 2 * np.pi / 0.06, 0.002 * np.ones(robot.mobility)
    u, ud, udd = (
        value[:, np.newaxis] * size
        for value in (1 - np.cos(w * time), w * np.sin(w * time), w * w * np.cos(w * time))
    )
    return robot.motion(home_coordinates(oracle) + u, ud, udd, time=time)


LAWS = {
    "computed torque": ComputedTorque(80.0),
    "computed torque of q": ComputedTorque(80.0, space="legs"),
    "pd": LegPD(2e4, 2e2),
    "gravity pd": GravityPD(2e4, 2e2),
    "feed forward": FeedForward(2e4, 2e2),
}


@pytest.mark.second_tier_from(2)
@pytest.mark.parametrize("law", LAWS)
def test_controllers_in_both_loops(law: str) -> None:
    """A 3-RPS of chains follows a motion of its own, in the engine as in Python."""
    robot, (_, oracle) = compiled_robot("3-RPS"), draw("3-RPS", 0)
    path = swing(robot, oracle)
    fast = gough.simulate(robot, LAWS[law], path)
    with in_python():
        slow = gough.simulate(robot, LAWS[law], path)
    assert_near(fast.motion.position, slow.motion.position, 1e-12)
    assert_near(fast.forces, slow.forces, 1e-10)
    apart, turn = fast.tracking_errors()
    if "pd" not in law:
        assert np.abs(apart).max() < 3e-4
        assert np.abs(turn).max() < 1e-3
    audit = fast.energy_audit()
    assert np.abs(audit["energy_residual"]).max() < 1e-7 * audit["kinetic_energy"].max()


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize(
    "options",
    [
        {"sensors": Sensors(noise=1e-6, rate_noise=1e-5, resolution=1e-7, delay=1e-3)},
        {"actuators": Actuators(lag=2e-3, force=1e3, speed=5.0), "period": None},
    ],
    ids=["sensors", "lag, without pause"],
)
def test_sensors_drives_and_another_model(options: dict[str, object]) -> None:
    robot, (table, oracle) = compiled_robot("3-RPS"), draw("3-RPS", 0)
    heavier = robot.edited({"platform.mass": 1.2 * table["platform"]["mass"]})
    u = home_coordinates(oracle)
    asked = {"start": robot.motion(u + 1e-3), "duration": 0.04, **options}
    law = ComputedTorque(80.0, model=heavier)
    fast = gough.simulate(robot, law, robot.motion(u), **asked)
    with in_python():
        slow = gough.simulate(robot, law, robot.motion(u), **asked)
    assert not fast.stops
    assert_near(fast.motion.position, slow.motion.position, 1e-12)
    assert_near(fast.forces, slow.forces, 1e-9)
    assert np.abs(fast.tracking_errors()[0][-1]).max() < 4e-4


def test_computed_torque_of_a_delta_is_its_linear_error_equation() -> None:
    """ë + 2w ė + w² e = 0 along what the platform can do, and the rotation stays home's."""
    robot, (_, oracle) = compiled_robot("rotary Delta"), draw("rotary Delta", 0)
    u, w = home_coordinates(oracle), 30.0
    start = robot.motion(u + np.array([1e-3, -2e-3, 1.5e-3]))
    law = ComputedTorque(w)
    found = gough.simulate(
        robot, law, robot.motion(u), 0.1, start=start, period=None, friction=False
    )
    wanted = (1 + w * found.time) * np.exp(-w * found.time)
    apart = found.tracking_errors()[0]
    assert_near(apart, wanted[:, np.newaxis] * apart[0], 1e-7)
    assert_near(found.motion.rotation, np.broadcast_to(robot.home.rotation, (101, 3, 3)), 1e-14)


@pytest.mark.usefixtures("on_numpy")
def test_several_actuators_per_leg_and_their_strokes() -> None:
    """Events name the leg and the actuator, in radians."""
    robot, (table, _) = robot_of("3-RRRS"), draw("3-RRRS", 0)
    q = robot.inverse_kinematics(robot.home).q
    joints = [dict(joint) for joint in table["legs"]["joints"]]
    second = [i for i, joint in enumerate(joints) if joint.get("actuated")][1]
    joints[second]["stroke"] = [[-9.0, 9.0], [-9.0, 9.0], [-9.0, float(q[5]) + 1e-3]]
    limited = gough.Robot.from_dict({**table, "legs": {**table["legs"], "joints": joints}})
    goal = q + np.array([0, 0, 0, 0, 0, 0.01])
    law = LegPD(3e3, 30.0)
    pose = limited.forward_kinematics(goal, limited.home)
    found = gough.simulate(
        limited,
        law,
        Motion(pose.position, pose.rotation),
        0.05,
        start=limited.home,
        stop_on=("stroke",),
        period=2e-3,
    )
    (stop,) = found.stops.values()
    assert stop.leg == 3
    assert "actuator 6: its stroke is at its end" in stop.reason
    assert "rad, the largest" in stop.reason


@pytest.mark.usefixtures("on_numpy")
def test_what_cannot_be_simulated_is_refused() -> None:
    robot = robot_of("3-RPS")
    home = robot.home
    off = Motion(home.position + np.array([0.01, 0, 0]), home.rotation)
    with pytest.raises(ConstraintError):
        gough.simulate(robot, GivenForces(np.zeros(3)), home, 0.01, start=off)
    with pytest.raises(ConstraintError):
        gough.simulate(robot, ComputedTorque(10.0), off, 0.01, start=home)
    with refusal(InputError, 3):
        gough.simulate(robot, ComputedTorque(10.0, model=robot_of("3-RRRS")), home, 0.01)
    with refusal(InputError, "(..., 3)"):
        gough.simulate(robot, GivenForces(np.zeros(6)), home, 0.01)


@pytest.mark.usefixtures("on_numpy")
@pytest.mark.parametrize("name", ["3-RPS", "Tricept"])
def test_linear_model_of_a_held_platform(name: str) -> None:
    """That of `linearize`; a base that accelerates is felt as gravity is, but by rotors."""
    robot = robot_of(name)
    found = linear_model(robot)
    near = robot.linearize(robot.home, friction=False)
    assert_near(found.A, near.A, 1e-9)
    assert_near(found.inputs["forces"], near.B, 1e-9)
    m = robot.mobility
    assert found.modes().shapes.shape[0] == 6
    assert found.A.shape == (2 * m, 2 * m)
    light = robot.edited({"gravity": [0.0, 0.0, 0.0]})
    pull = robot.bias(robot.home) - light.bias(robot.home)
    mass = found.directions.T @ robot.mass_matrix(robot.home) @ found.directions
    gravity = robot.mechanism.gravity[:, 0, 0]
    dragged = -mass @ found.inputs["base"][m:]
    assert_near(-dragged @ gravity, found.directions.T @ pull, 1e-9)
    assert_near(found.transmissibility([0.0])[0][:3, :3], np.eye(3), 1e-9)


FILE = """
robot = "alikoc-delta-2023"
duration = 0.02
[motion]
hold = true
[start]
{start}
[controller]
{law}
"""
TORQUE = """kind = "computed torque"
frequency = 40.0"""


@pytest.mark.usefixtures("on_numpy")
def test_simulation_files_of_a_delta(tmp_path: Path) -> None:
    path = tmp_path / "delta.toml"
    path.write_text(FILE.format(start="shift = [0.005, -0.003, 0.004]", law=TORQUE))
    setup = read_config(path)
    start = setup.options["start"]
    assert_near(start.position - setup.robot.home.position, [0.005, -0.003, 0.004], 1e-12)
    mistakes = {
        "along x, y, z": FILE.format(start="turn = [0.0, 0.0, 0.1]", law=TORQUE),
        "needs 1 or 3": FILE.format(start="", law='kind = "given forces"\nforces = [1.0, 2.0]'),
    }
    for reason, text in mistakes.items():
        path.write_text(text)
        with pytest.raises(FileError, match=f"delta.toml: .*{reason}"):
            read_config(path)
