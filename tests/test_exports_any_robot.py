"""Generated C and CasADi of robots with chains, groups of legs and mobility."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import gough
from cases.closeness import assert_near
from cases.errors import refusal
from gough.exchange.casadi import to_casadi
from gough.mechanics.state import CHAINS, RIGID_FIELDS

ROBOTS = ["alikoc-delta-2023", "shyam-heliostat-2017", "ferrandiz-3ups-rpu-2021"]
each_robot = pytest.mark.parametrize("name", ROBOTS)
pytestmark = pytest.mark.usefixtures("on_numpy")


@pytest.mark.second_tier_from(1)
@each_robot
@pytest.mark.skipif(shutil.which("make") is None, reason="no make on this machine")
def test_c_agrees_with_gough(name, tmp_path):
    folder = gough.load(name).export_c(tmp_path / "c")
    ran = subprocess.run(["make", "-s", "test"], cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    closing = "close_joints " in ran.stdout
    assert closing == (gough.load(name).mechanism.legs.coordinates > 0)


@each_robot
def test_casadi_agrees_with_gough(name):
    pytest.importorskip("casadi")
    robot = gough.load(name)
    rates = 0.1 * np.ones(robot.mobility)
    start = np.concatenate([robot.home.position, np.zeros(3)])
    names = ("x", "y", "z", "rx", "ry", "rz")
    u = start[[names.index(one) for one in robot.coordinates]] + 0.01
    motion = robot.motion(u, rates, rates)
    state = {field: getattr(motion, field) for field in RIGID_FIELDS}
    if robot.mechanism.legs.coordinates:
        state[CHAINS] = robot.chains_of(motion)
    wrench = np.arange(6.0)
    found = to_casadi(robot, "inverse_dynamics").call({**state, "wrench": wrench})
    assert float(found["margin"]) > 0
    wanted = robot.inverse_dynamics(motion, wrench, friction=False).forces
    assert_near(np.array(found["forces"])[:, 0], wanted, 1e-12)


def test_casadi_has_outputs_of_more_than_two_axes():
    pytest.importorskip("casadi")
    robot = gough.load("shyam-heliostat-2017")
    state = {field: getattr(robot.home, field) for field in RIGID_FIELDS}
    state[CHAINS] = robot.chains_of(robot.home)
    found = to_casadi(robot, "reactions").call(state)
    wanted = robot.reactions(robot.home, friction=False).spherical
    assert_near(np.array(found["spherical"]), wanted, 1e-12)
    assert found["joint_force"].shape == (found["joint_force"].numel() // 3, 3)


def test_only_chains_have_joints_to_close():
    with refusal(gough.errors.InputError, "chain", "legs"):
        to_casadi(gough.load("alikoc-delta-2023"), "close_joints")
