"""Derivatives and linearisation of robots with held platforms, chains, groups, redundant actuators.

Along motions that the robots can make (`robot.motion`), against finite differences.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gough
from cases.closeness import assert_near
from cases.families import draw
from cases.families.parts import with_friction
from gough.errors import SingularError
from gough.model import derivatives
from gough.model.freedom import COORDINATES
from oracles.arrays import Array

pytestmark = pytest.mark.usefixtures("on_numpy")
FAMILIES = (
    "rotary Delta",
    "3-RPS",
    "Tricept",
    "planar 3-RRR",
    "planar 4-RRR",
    "3-RRRS",
    "6-UPS + SPR",
    "3-UPS + 3-PUS",
)
STEP = 1e-5
each_family = pytest.mark.parametrize("name", FAMILIES)


class Line:
    """A robot of a family at a motion, and at two beside it, along a line of its own coordinates."""

    def __init__(self, name: str, friction: bool = False) -> None:
        rng = np.random.default_rng(3)
        table, oracle = draw(name, 0)
        self.robot = gough.Robot.from_dict(with_friction(rng, table, 0.2) if friction else table)
        m = self.robot.mobility
        place = oracle.read(oracle.home_posture.pose)[oracle.chosen] + rng.uniform(-0.05, 0.05, m)
        rates, changes = rng.normal(size=(2, m)) * [[1], [2]], rng.normal(size=(3, m))
        steps = np.array([0, STEP, -STEP])[:, np.newaxis]
        given = zip((place, *rates), changes, strict=True)
        self.motion = self.robot.motion(*(value + steps * change for value, change in given))
        self.wrench = 10 * rng.normal(size=6)
        self.friction = friction

    def slope(self, values: Array) -> Array:
        """Along the line."""
        return (values[1] - values[2]) / (2 * STEP)

    def along(self) -> tuple[Array, Array, Array]:
        """How pose, twist and acceleration change, (6,) each."""
        motion = self.motion
        turn = Rotation.from_matrix(motion.rotation[1] @ motion.rotation[2].T).as_rotvec()
        pose = np.concatenate([self.slope(motion.position), turn / (2 * STEP)])
        pairs = (
            (motion.velocity, motion.angular_velocity),
            (motion.acceleration, motion.angular_acceleration),
        )
        twist, rate = (np.concatenate([self.slope(a), self.slope(b)]) for a, b in pairs)
        return pose, twist, rate


@pytest.mark.parametrize("friction", [False, True])
@each_family
def test_inverse_dynamics_along_allowed_motions(name: str, friction: bool) -> None:
    line = Line(name, friction)
    forces = line.robot.inverse_dynamics(line.motion, line.wrench, friction).forces
    found = derivatives.inverse_dynamics_derivatives(
        line.robot, line.motion[0], line.wrench, friction
    )
    pose, twist, rate = line.along()
    change = found.pose @ pose + found.twist @ twist + found.acceleration @ rate
    assert_near(change, line.slope(forces), 3e-7)
    changes = {"pose": pose, "twist": twist, "acceleration": rate}
    product = derivatives.inverse_dynamics_jvp(
        line.robot, line.motion[0], changes, line.wrench, friction
    )
    assert_near(product, change, 1e-10)


@pytest.mark.parametrize("friction", [False, True])
@each_family
def test_direct_dynamics_and_linearize_along_allowed_motions(name: str, friction: bool) -> None:
    line = Line(name, friction)
    robot, motion = line.robot, line.motion
    forces = robot.inverse_dynamics(motion[0], line.wrench, friction).forces
    found = robot.direct_dynamics(motion, forces, line.wrench, friction)
    expected = line.slope(np.concatenate([found.linear, found.angular], axis=-1))
    slopes = derivatives.direct_dynamics_derivatives(
        robot, motion[0], forces, line.wrench, friction
    )
    pose, twist, _ = line.along()
    assert_near(slopes.pose @ pose + slopes.twist @ twist, expected, 3e-7)
    push = np.random.default_rng(0).normal(size=robot.actuator_count)
    both = forces + np.array([[1e-3], [-1e-3]]) * push
    pushed = robot.direct_dynamics(motion[0], both, line.wrench, friction)
    change = np.concatenate([pushed.linear, pushed.angular], axis=-1)
    assert_near(slopes.forces @ push, (change[0] - change[1]) / 2e-3, 1e-6)
    near = robot.linearize(motion[0], forces, line.wrench, friction)
    chosen = [COORDINATES.index(name) for name in robot.coordinates]
    rows = [*chosen, *(6 + row for row in chosen)]
    turning = np.cross(motion.angular_velocity[0], pose[3:])
    moved = np.concatenate([twist[:3], twist[3:] + turning, expected])
    assert near.A.shape == (2 * robot.mobility,) * 2
    assert_near(near.A @ np.concatenate([pose, twist])[rows], moved[rows], 3e-7)
    assert_near(near.B[robot.mobility :], slopes.forces[chosen], 1e-10)


@pytest.mark.parametrize("name", ["3-RPS", "planar 4-RRR"])
def test_weights_and_what_is_not_allowed(name: str) -> None:
    """Reverse products are those of the matrices; changes count by their allowed part."""
    line = Line(name)
    robot, motion = line.robot, line.motion[0]
    found = derivatives.inverse_dynamics_derivatives(robot, motion, line.wrench)
    weights = np.random.default_rng(1).normal(size=robot.actuator_count)
    product = derivatives.inverse_dynamics_vjp(robot, motion, weights, line.wrench)
    for key in ("pose", "twist", "acceleration", "wrench"):
        assert_near(getattr(product, key), weights @ getattr(found, key), 1e-10)
        if key != "wrench":
            assert np.linalg.matrix_rank(getattr(found, key), 1e-9) <= robot.mobility


def test_friction_that_jumps_in_a_joint_of_a_chain_has_no_derivative_at_rest() -> None:
    table, _ = draw("3-RPS", 0)
    joints = [{**joint, "coulomb": 0.0, "width": 0.0} for joint in table["legs"]["joints"][:-1]]
    joints[0]["coulomb"] = 1.0
    table = {**table, "legs": {**table["legs"], "joints": [*joints, table["legs"]["joints"][-1]]}}
    robot = gough.Robot.from_dict(table)
    with pytest.raises(SingularError, match="stands still"):
        robot.linearize(robot.home)
    assert np.isfinite(robot.linearize(robot.home, friction=False).A).all()
