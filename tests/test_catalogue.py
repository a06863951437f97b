"""Robots of the catalogue: at home as their sources say, with the numbers that are printed there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation

import gough
from cases.closeness import assert_near
from cases.common import few_states, impossible_bodies
from cases.families import any_state, conditioning
from gough import Motion
from oracles.parallel import ParallelOracle

pytestmark = few_states
ALL = ("x", "y", "z", "rx", "ry", "rz")
FREEDOMS = {
    "alikoc-delta-2023": (3, ("x", "y", "z")),
    "chablat-orthoglide-2003": (3, ("x", "y", "z")),
    "dietmaier-1998": (6, ALL),
    "ferrandiz-3ups-rpu-2021": (4, ("x", "z", "ry", "rz")),
    "kim-ryu-2002": (6, ALL),
    "long-khalil-martinet-2014": (6, ALL),
    "plaza-hexaglide-2019": (6, ALL),
    "pollen-reachy-mini-2025": (6, ALL),
    "shah-3rrr-2012": (3, ("x", "y", "rz")),
    "shyam-heliostat-2017": (3, ("z", "rx", "ry")),
    "sinatra-xi-staicu-2009": (6, ALL),
    "zoppi-exechon-2010": (3, ("x", "y", "z")),
}
"""Legs, and what the platform can do."""
ADDED = [name for name in FREEDOMS if name.split("-")[0] not in "dietmaier kim long sinatra"]
each_added = pytest.mark.parametrize("name", ADDED)


def at_home(robot):
    return Motion(robot.home.position, robot.home.rotation)


@impossible_bodies
@pytest.mark.parametrize("name", FREEDOMS)
def test_every_robot_can_do_what_it_should(name):
    robot = gough.load(name)
    assert (robot.leg_count, robot.coordinates) == FREEDOMS[name]
    assert robot.mobility == robot.actuator_count == len(robot.coordinates)


def test_the_documentation_lists_them():
    page = (Path(__file__).parents[1] / "docs" / "catalogue.md").read_text("utf-8")
    listed = re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)
    assert sorted(listed) == gough.catalogue() == sorted(FREEDOMS)


@each_added
def test_home_closes_within_the_strokes(name):
    robot = gough.load(name)
    home = at_home(robot)
    q = robot.inverse_kinematics(home).q
    assert np.all((robot.limits.shortest < q) & (q < robot.limits.longest))
    found = robot.forward_kinematics(q, home)
    assert_allclose(found.position, home.position, atol=1e-12)
    assert_allclose(found.rotation, home.rotation, atol=1e-12)


@each_added
def test_they_are_held_at_home_and_fall_without(name):
    """Σ Γ J̄ carries the weight: standing still, direct dynamics of the forces is rest."""
    robot = gough.load(name)
    home = at_home(robot)
    forces = robot.inverse_dynamics(home).forces
    held = robot.direct_dynamics(home, forces)
    fallen = robot.direct_dynamics(home, 0 * forces)
    size = np.abs(np.r_[fallen.linear, fallen.angular]).max()
    assert size > 0.1
    assert np.abs(np.r_[held.linear, held.angular]).max() < 1e-12 * size


@each_added
def test_they_agree_with_the_oracle(name):
    """Some centimetres from home, moving, pushed: joints, forces and accelerations."""
    robot = gough.load(name)
    data = tomllib.loads(robot.text)
    oracle, rng = ParallelOracle(data), np.random.default_rng(0)
    for _ in range(3):
        state, wrench = any_state(rng, oracle, 0.2), rng.normal(size=6)
        within = 1e-10 / conditioning(oracle, state)
        motion, joints = Motion(**state), oracle.joints(state)
        found = robot.inverse_kinematics(motion)
        for key in ("q", "qd", "qdd"):
            assert_near(getattr(found, key), getattr(joints, key), within)
        forces = oracle.inverse_dynamics(state, wrench)
        assert_near(robot.inverse_dynamics(motion, wrench).forces, forces, within)
        moved = robot.direct_dynamics(motion, forces, wrench)
        assert_near(moved.linear, state["acceleration"], within)
        assert_near(moved.angular, state["angular_acceleration"], within)


def test_delta_carries_its_weight():
    """With the arms level each motor holds arm, pin, half a link and its share of the rest."""
    robot = gough.load("alikoc-delta-2023")
    share = (2.916 + 3 * 0.226) / 3 + 1.05 / 2
    torque = 9.81 * (3.47 * 0.17224 + 0.42 * (0.226 + 1.05 / 2 + share))
    assert_allclose(robot.inverse_dynamics(at_home(robot)).forces, -torque, rtol=1e-12)
    total = robot.description.legs.rotor.ravel()[0] + 0.208218  # arm and pin about the motor
    assert_allclose(total, 55**2 * 2.07e-4 + 0.208218, rtol=1e-12)


def test_orthoglide_is_isotropic_and_reaches_its_cube():
    """Chablat and Wenger: L = 310.58 mm, strokes of 257 mm, amplification 1/2 to 2 in the cube."""
    robot = gough.load("chablat-orthoglide-2003")
    assert_allclose(robot.jacobian(at_home(robot))[:, :3], np.eye(3), atol=1e-15)
    q = robot.inverse_kinematics(at_home(robot)).q
    assert_allclose(q, 0.31058, atol=5e-6)
    assert_allclose(robot.limits.longest - robot.limits.shortest, 0.257, atol=5e-5)
    far, near = q[0] / np.sqrt([6, 18])
    assert_allclose(far + near, 0.2, rtol=1e-12)
    corners = np.stack(np.meshgrid(*[[-far, near]] * 3), -1).reshape(-1, 3)
    reached = robot.inverse_kinematics(Motion(corners)).q
    room = 1e-12
    assert np.all(reached >= robot.limits.shortest - room)
    assert np.all(reached <= robot.limits.longest + room)
    amplified = 1 / np.linalg.svd(robot.jacobian(Motion(corners))[..., :3], compute_uv=False)
    assert_allclose([amplified.min(), amplified.max()], [0.5, 2], rtol=1e-12)


def test_exechon_gives_table_2():
    """S = (0.02, 0.7, 1.02): s_α .9661, c_α .2584, s_β −.5476, c_β .8367, h 1.403 and the strokes."""
    wrist = np.array([0.2828, 0, -0.2])

    def pose(alpha, beta, height):
        """The source's Eq. 7: axes k_2, k_5, e_h, and O_P with d_B = 0.3455."""
        (sa, sb), (ca, cb) = np.sin([alpha, beta]), np.cos([alpha, beta])
        along = 0.3455 * ca * cb + height
        rotation = np.array([[sa, -sb * ca, -cb * ca], [0, cb, -sb], [ca, sb * sa, cb * sa]])
        across = 0.3455 * ca - along * cb
        return np.array([ca * across, -along * sb, -sa * across]), rotation

    def missed(parameters):
        position, rotation = pose(*parameters)
        return position + rotation @ wrist - [0.02, 0.7, 1.02]

    parameters = fsolve(missed, [np.arcsin(0.9661), np.arcsin(-0.5476), 1.403], xtol=1e-14)
    printed = [0.9661, 0.2584, -0.5476, 0.8367, 1.403]
    sines, cosines = np.sin(parameters[:2]), np.cos(parameters[:2])
    assert_allclose([*np.stack([sines, cosines]).T.ravel(), parameters[2]], printed, atol=5.1e-4)
    robot = gough.load("zoppi-exechon-2010")
    legs = robot.inverse_kinematics(Motion(*pose(*parameters)))
    assert_allclose(legs.q, [1.633, 0.9122, 1.492], atol=5e-4)  # A, C, B


@pytest.mark.parametrize(
    ("pose", "lengths", "gravity"),
    [
        ([0.15, 0.68, 0, 0],
         [0.72449983, 0.78032059, 0.69306678, 0.68],
         [-7.42041285, -15.12343363, 5.48671048, 160.39028135]),
        ([0.0692, 0.632, 0.0787, -0.1358],
         [0.67900340, 0.70817750, 0.68429563, 0.63714413],
         [7.68331861, 5.59403630, -33.91566097, 167.77264329]),
        ([0.1, 0.7, 0.2, 0.1],
         [0.78770119, 0.73334403, 0.71099189, 0.70178344],
         [-0.33046307, 4.33656833, -14.21227624, 154.47514630]),
    ],
)  # fmt: skip
def test_3ups_rpu_gives_the_gravity_terms_of_its_controller(pose, lengths, gravity):
    """What InverseKinematics and QGravFunction of the source give at (x, z, θ, ψ)."""
    robot = gough.load("ferrandiz-3ups-rpu-2021")
    x, z, theta, psi = pose
    motion = Motion([x, 0, z], Rotation.from_euler("YZ", [theta, psi]).as_matrix())
    assert_allclose(robot.inverse_kinematics(motion).q, lengths, atol=5.1e-9)
    assert_allclose(robot.inverse_dynamics(motion).forces, gravity, atol=5.1e-9)


def test_the_hexaglide_hangs_at_the_height_of_its_source():
    robot = gough.load("plaza-hexaglide-2019")
    home = at_home(robot)
    assert_allclose(robot.description.legs.rail_origin[2, :, 0], 0.911673660239781, atol=1e-12)
    weight = 9.81 * (6.697 + 6 * (2.9369 + 2.867))
    assert_allclose(robot.inverse_dynamics(home).forces, weight / 6, rtol=1e-12)


def test_reachy_minis_cranks_stand_alike():
    """At the pose that the source calls initial; their signs alternate."""
    robot = gough.load("pollen-reachy-mini-2025")
    q = robot.inverse_kinematics(at_home(robot)).q
    assert_allclose(q, 0.62654 * np.array([1, -1, 1, -1, 1, -1]), atol=5e-6)
    total = robot.description.platform.mass.item()
    assert_allclose(total, 0.259259 + 2 * 0.0105926, rtol=1e-12)


def test_the_heliostat_bears_its_mirror():
    """Level, each actuator carries a third of mirror, frame and its rod along itself."""
    robot = gough.load("shyam-heliostat-2017")
    forces = robot.inverse_dynamics(at_home(robot)).forces
    assert_allclose(forces, forces[0], rtol=1e-12)
    assert 9.81 * (60 / 3 + 3) <= forces[0] < 1500


@impossible_bodies
def test_a_robot_in_a_notebook_is_one_line():
    assert repr(gough.load("kim-ryu-2002")) == "Robot('kim-ryu-2002', 6 PUS legs)"
    assert repr(gough.load("alikoc-delta-2023")).endswith("3 RUS legs, 3 freedoms)")
    assert repr(gough.load("long-khalil-martinet-2014")).endswith("6 UPS legs, 10 modes)")
