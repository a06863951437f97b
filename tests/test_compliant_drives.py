"""Compliant drives: a spring between an actuator's rotor and q, against MuJoCo and against itself."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import gough
from cases.errors import refusal
from gough.analysis.stiffness import stiffness
from gough.errors import FileError, InputError
from gough.parameters.regressor import regressor
from gough.simulation import GivenForces, LegPD, Sensors, linear_model
from gough.trajectories import RestToRest

TOP = np.array(
    [[0.2 * np.cos(a), 0.2 * np.sin(a), 0.0] for a in np.radians([5, 115, 125, 235, 245, 355])]
)
BASE = np.array(
    [[0.4 * np.cos(a), 0.4 * np.sin(a), 0.0] for a in np.radians([45, 75, 165, 195, 285, 315])]
)
ROTOR, STIFF, DAMP = 3.0, 4e4, 60.0


def hexapod(**drive: Any) -> gough.Robot:
    """Legs without mass, so that a platform on springs and dampers is all there is."""
    empty: dict[str, Any] = {"cross": {}, "cylinder": {}, "rod": {}}
    legs = {"kind": "UPS", "base": BASE.tolist(), "platform": TOP.tolist(), "rotor_mass": ROTOR}
    platform = {
        "mass": 12.0,
        "center_of_mass": [0.01, -0.02, 0.05],
        "inertia": [[0.3, 0.01, 0], [0.01, 0.25, 0], [0, 0, 0.4]],
    }
    data = {
        "format": 1,
        "name": "sprung",
        "home": {"position": [0.0, 0.0, 0.5]},
        "legs": legs | empty | ({"drive": drive} if drive else {}),
        "platform": platform,
    }
    return gough.Robot.from_dict(data)


def forces_over_time(robot: gough.Robot) -> Any:
    """Forces (n, 6) that hold the robot, and shake it."""
    hold = robot.inverse_dynamics(robot.home).forces
    phases = np.arange(6.0)

    def given(times: np.ndarray) -> np.ndarray:
        t = np.asarray(times)[:, np.newaxis]
        return hold + 20.0 * np.sin(30.0 * t + phases) - 20.0 * np.sin(phases)

    return given


@pytest.mark.second_tier_from(1)
def test_mujoco_with_explicit_springs_finds_the_same() -> None:
    """MuJoCo has the platform, tendons as legs and sliding rotors; the springs are written out here."""
    mujoco = pytest.importorskip("mujoco")
    robot = hexapod(stiffness=STIFF, damping=DAMP)
    given, h, steps = forces_over_time(robot), 2e-4, 500
    simulation = gough.simulate(
        robot, GivenForces(given), robot.home, steps * h, period=None, step=h, record=10 * h
    )
    sites = "".join(
        f'<site name="b{i}" pos="{p[0]} {p[1]} {p[2]}"/>' for i, p in enumerate(BASE.tolist())
    )
    tips = "".join(
        f'<site name="p{i}" pos="{p[0]} {p[1]} {p[2]}"/>' for i, p in enumerate(TOP.tolist())
    )
    rotors = "".join(
        f'<body pos="0 {2 + i} 0"><joint name="r{i}" type="slide" axis="1 0 0"/>'
        f'<inertial pos="0 0 0" mass="{ROTOR}" diaginertia="1 1 1"/></body>'
        for i in range(6)
    )
    tendons = "".join(
        f'<spatial name="t{i}"><site site="b{i}"/><site site="p{i}"/></spatial>' for i in range(6)
    )
    motors = "".join(f'<motor tendon="t{i}"/>' for i in range(6))
    motors += "".join(f'<motor joint="r{i}"/>' for i in range(6))
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{h}" integrator="RK4" gravity="0 0 -9.81"/><worldbody>{sites}'
        f'<body pos="0 0 0.5"><freejoint/><inertial pos="0.01 -0.02 0.05" mass="12" '
        f'fullinertia="0.3 0.25 0.4 0.01 0 0"/>{tips}</body>{rotors}</worldbody>'
        f"<tendon>{tendons}</tendon><actuator>{motors}</actuator></mujoco>"
    )
    data = mujoco.MjData(model)
    first = robot.inverse_kinematics(robot.home).q
    data.qpos[7:] = robot.inverse_dynamics(robot.home).forces / STIFF  # θ less the length at home

    def pull(model: Any, data: Any) -> None:
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        stretch = data.qpos[7:] + first - data.ten_length
        force = STIFF * stretch + DAMP * (data.qvel[6:] - data.ten_velocity)
        data.ctrl[:6], data.ctrl[6:] = force, given(np.array([data.time]))[0] - force

    places, rates = [data.qpos[:3].copy()], [data.qvel[6:].copy()]
    mujoco.set_mjcb_control(pull)
    try:
        for step in range(steps):
            mujoco.mj_step(model, data)
            if (step + 1) % 10 == 0:
                places.append(data.qpos[:3].copy())
                rates.append(data.qvel[6:].copy())
    finally:
        mujoco.set_mjcb_control(None)
    moved = np.abs(simulation.motion.position - robot.home.position).max()
    assert moved > 1e-3
    assert np.abs(simulation.motion.position - places).max() < 1e-6 * moved
    turning = simulation.motors[:, 6:]
    assert np.abs(turning - rates).max() < 1e-6 * np.abs(turning).max()


def test_energy_is_accounted_for_and_both_loops_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rotors, springs and their dampers are in the audit; encoders may be on the rotors."""
    robot = hexapod(stiffness=STIFF, damping=DAMP)
    goal = gough.Motion(robot.home.position + np.array([0.01, 0.0, 0.01]))
    options: dict[str, Any] = {"start": robot.home, "step": 2e-4, "period": 1e-3}
    options["sensors"] = Sensors(on_motors=True)
    law = LegPD(3e4, 600.0)
    whole = gough.simulate(robot, law, goal, 0.1, **options)
    audit = whole.energy_audit()
    assert audit["loss"][-1] > 1e-3
    assert np.abs(audit["energy_residual"]).max() < 1e-5 * np.abs(audit["actuator_work"]).max()
    monkeypatch.setattr("gough.simulation.compiled.possible", lambda scenario: False)
    stepped = gough.simulate(robot, law, goal, 0.02, **options)
    count = len(stepped.time)
    assert np.allclose(stepped.motion.position, whole.motion.position[:count], atol=1e-13)
    assert np.allclose(stepped.motors, whole.motors[:count], atol=1e-12)


def test_forces_before_compliant_drives_make_the_motion() -> None:
    """Γ of `drive_forces` applied open loop: the platform goes where it should, rotors before it."""
    robot = hexapod(stiffness=STIFF, damping=DAMP)
    poses = gough.Motion(robot.home.position + np.array([[0, 0, 0], [0.02, 0.01, 0.03]]))
    path = RestToRest(poses, 0.15, [0.02, 0.02])
    samples = path.sample(381)
    found = robot.drive_forces(samples)
    table = CubicSpline(samples.time, found.forces)
    run = gough.simulate(robot, GivenForces(table), path, period=None, step=2e-4)
    moved = np.abs(poses.position[1] - poses.position[0]).max()
    assert np.abs(run.tracking_errors()[0]).max() < 1e-4 * moved
    rigid = gough.simulate(robot.stiff, GivenForces(table), path, period=None, step=2e-4)
    assert np.abs(rigid.tracking_errors()[0]).max() > 1e-2 * moved
    work = np.trapezoid(found.power.sum(axis=1), samples.time)
    assert np.isclose(work, run.works[-1, 0], rtol=1e-3)


def test_rigid_limit() -> None:
    """Frequencies tend to those of rigid drives as 1/k; locked rotors leave the springs alone."""
    rigid = hexapod()
    wanted = rigid.natural_frequencies(rigid.home, 1e5).frequencies
    off = []
    for k in (1e8, 1e9):
        soft = hexapod(stiffness=k)
        found = soft.natural_frequencies(soft.home, 1e5).frequencies[:6]
        off.append(np.abs(found / wanted - 1).max())
    assert off[0] < 2e-3
    assert off[1] < 0.11 * off[0]
    soft = hexapod(stiffness=STIFF)
    bare = soft.edited({"legs.rotor_mass": 0.0}).stiff
    locked = soft.natural_frequencies(soft.home).frequencies
    assert np.allclose(locked, bare.natural_frequencies(bare.home, STIFF).frequencies, rtol=1e-12)
    free = soft.natural_frequencies(soft.home, "free").frequencies
    assert len(free) == 12
    light = hexapod(stiffness=STIFF).edited({"legs.rotor_mass": 0.0})
    series = light.natural_frequencies(light.home, STIFF).frequencies
    assert np.allclose(series, locked / np.sqrt(2), rtol=1e-2)


def test_stiffness_has_drives_in_series() -> None:
    """1/k = 1/k_actuator + 1/k_drive."""
    soft = hexapod(stiffness=STIFF)
    assert np.allclose(stiffness(soft, soft.home).along, STIFF)
    assert np.allclose(stiffness(soft, soft.home, STIFF).along, STIFF / 2)
    with refusal(InputError, "infinitely", "stiff"):
        stiffness(hexapod(), soft.home)


@pytest.mark.parametrize(
    ("task", "ask"),
    [
        ("inverse_dynamics", lambda r, m: r.inverse_dynamics(m)),
        ("direct_dynamics", lambda r, m: r.direct_dynamics(m, np.zeros(6))),
        ("condensed", lambda r, m: r.condensed(m)),
        ("energy", lambda r, m: r.energy(m)),
        ("variants", lambda r, m: r.variants({"platform.mass": [1.0, 2.0]})),
        ("regressor", lambda r, m: regressor(r, m)),
        ("linear_model", lambda r, m: linear_model(r)),
    ],
)
def test_what_knows_rigid_drives_only_says_so(task: str, ask: Any) -> None:
    """A rotor that does not move with q is refused by name, with the way out."""
    robot = hexapod(stiffness=STIFF)
    moving = gough.Motion([0.0, 0.0, 0.5], velocity=[0.1, 0.0, 0.0])
    with pytest.raises(InputError, match=rf"{task}.*robot\.stiff"):
        ask(robot, moving)
    assert not robot.stiff.drives.compliant
    assert np.allclose(
        robot.inverse_dynamics(robot.home).forces, robot.stiff.inverse_dynamics(robot.home).forces
    )


def test_files_and_steps_that_cannot_be_meant_are_refused() -> None:
    """Negative stiffness, damping of a rigid drive, a spring without rotor, steps too long for it."""
    for drive, words in (
        ({"stiffness": -1.0}, "must be positive"),
        ({"damping": 1.0}, "damping without stiffness"),
        ({"stiffness": [1.0, 2.0]}, "values for 2 legs"),
    ):
        with pytest.raises(FileError, match=words):
            hexapod(**drive)
    soft = hexapod(stiffness=9e11)
    with refusal(InputError, "steps"):
        gough.simulate(soft, LegPD(1e4), soft.home, 0.1)
    light = soft.edited({"legs.rotor_mass": 0.0})
    with refusal(InputError, "rotor"):
        gough.simulate(light, LegPD(1e4), light.home, 0.1)


def test_chain_joints_have_drives_too() -> None:
    """`drive` of an actuated joint; of another it is refused."""
    with warnings.catch_warnings(action="ignore"):
        robot = gough.load("shah-3rrr-2012")
    where, group = next(iter(robot.file.leg_groups.items()))
    joint = next(i for i, one in enumerate(group.joints) if np.any(one.actuated))
    soft = robot.edited({f"{where}.joints.{joint}.drive.stiffness": 100.0})
    assert np.allclose(soft.drives.stiffness, 100.0)
    with refusal(FileError, "actuated"):
        robot.edited({f"{where}.joints.{joint + 1}.drive.stiffness": 100.0})
