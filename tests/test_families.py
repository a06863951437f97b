"""Robots of every family against the oracle: kinematics, forces, accelerations, reactions, energies.

Within 1e-10 times the condition number of the state.
"""

from __future__ import annotations

import numpy as np
import pytest

import gough
from cases.closeness import assert_near
from cases.families import FAMILIES, conditioning, draw, random_states
from cases.families.parts import with_friction
from oracles.arrays import Array, State
from oracles.parallel import ParallelOracle
from oracles.random_robot import one_state

pytestmark = pytest.mark.usefixtures("on_numpy")
each_family = pytest.mark.parametrize("name", FAMILIES)
COUNT = 3


class Sample:
    """A robot of a family with its oracle, a batch of states and a wrench."""

    def __init__(self, name: str, seed: int, rough: bool = False) -> None:
        rng = np.random.default_rng(seed)
        table, self.oracle = draw(name, seed)
        self.batch = random_states(seed, self.oracle, COUNT)
        if rough:
            table = with_friction(rng, table)
            self.oracle = ParallelOracle(table)
        self.robot = gough.Robot.from_dict(table)
        self.motion = gough.Motion(**self.batch)
        self.states = [one_state(self.batch, i) for i in range(COUNT)]
        self.wrench = 20 * rng.normal(size=6)
        worst = min(conditioning(self.oracle, state) for state in self.states)
        self.within = 1e-10 / worst

    def forces(self) -> Array:
        """The oracle's Γ (states, actuators)."""
        found = [self.oracle.inverse_dynamics(state, self.wrench) for state in self.states]
        return np.array(found)


def acceleration(state: State) -> Array:
    """(v̇, ω̇)."""
    return np.concatenate([state["acceleration"], state["angular_acceleration"]], axis=-1)


@each_family
def test_freedoms_and_joints(name: str) -> None:
    sample = Sample(name, 0)
    assert sample.robot.mobility == sample.oracle.mobility
    assert tuple(sample.robot.coordinates) == sample.oracle.coordinates
    assert sample.robot.actuator_count == FAMILIES[name].actuators
    found = sample.robot.inverse_kinematics(sample.motion)
    wanted = [sample.oracle.joints(state) for state in sample.states]
    for key in ("q", "qd", "qdd"):
        expected = [getattr(joints, key) for joints in wanted]
        assert_near(getattr(found, key), expected, sample.within)


@each_family
def test_coordinates_give_the_motion(name: str) -> None:
    robot, oracle = draw(name, 0)
    rng = np.random.default_rng(0)
    m = oracle.mobility
    u = oracle.read(oracle.home_posture.pose)[oracle.chosen] + rng.uniform(-0.08, 0.08, (COUNT, m))
    ud, udd = rng.normal(size=(COUNT, m)), 2 * rng.normal(size=(COUNT, m))
    found = gough.Robot.from_dict(robot).motion(u, ud, udd)
    wanted = [oracle.motion(*row) for row in zip(u, ud, udd, strict=True)]
    for key in wanted[0]:
        assert_near(getattr(found, key), [state[key] for state in wanted], 1e-9)


@each_family
def test_forces_and_accelerations(name: str) -> None:
    sample = Sample(name, 1)
    robot, motion, forces = sample.robot, sample.motion, sample.forces()
    found = robot.inverse_dynamics(motion, sample.wrench)
    assert_near(found.forces, forces, sample.within)
    rates = np.array([sample.oracle.joints(state).qd for state in sample.states])
    assert_near(found.power, forces * rates, sample.within)
    moved = robot.direct_dynamics(motion, forces, sample.wrench)
    both = np.concatenate([moved.linear, moved.angular], axis=-1)
    assert_near(both, acceleration(sample.batch), sample.within)


@each_family
def test_reactions(name: str) -> None:
    sample = Sample(name, 2)
    found = sample.robot.reactions(sample.motion, sample.wrench)
    wanted = [sample.oracle.reactions(state, sample.wrench) for state in sample.states]
    assert_near(found.spherical, [one.forces for one in wanted], sample.within)
    for i, one in enumerate(wanted):
        for number, leg in enumerate(sample.oracle.tree.legs):
            if leg.closed is not None:
                continue
            moment = np.nan_to_num(one.moments[number])
            assert_near(found.platform_moment[i, number], moment, sample.within)
            rows = one.joints[number]
            assert_near(found.joint_force[i, number, : len(rows)], rows[:, :3], sample.within)
            assert_near(found.joint_moment[i, number, : len(rows)], rows[:, 3:], sample.within)
    assert_near(found.constraint, [one.constraint for one in wanted], sample.within)
    np.testing.assert_array_equal(found.unique, [one.unique for one in wanted])


@each_family
def test_mass_matrix_bias_jacobian_and_energies(name: str) -> None:
    """Where the platform can move: with chains the rest is not part of the contract."""
    sample = Sample(name, 3)
    robot, motion, oracle = sample.robot, sample.motion, sample.oracle
    mass, bias, jacobian = robot.mass_matrix(motion), robot.bias(motion), robot.jacobian(motion)
    energy = robot.energy(motion)
    for i, state in enumerate(sample.states):
        allowed, expected = oracle.mass_matrix(state)
        assert_near(allowed.T @ mass[i] @ allowed, expected, sample.within)
        load = mass[i] @ acceleration(state) + bias[i]
        assert_near(allowed.T @ load, oracle.projected_load(state)[1], sample.within)
        assert_near(jacobian[i] @ allowed, oracle.jacobian(state)[1], sample.within)
        both = [energy.kinetic[i], energy.potential[i]]
        assert_near(both, oracle.energies(state), sample.within)


@pytest.mark.parametrize("name", ["3-RPS", "rotary Delta", "planar 4-RRR", "6-UPS + SPR", "3-RRRS"])
def test_condition_number_on_the_allowed_twists(name: str) -> None:
    sample = Sample(name, 3)
    robot = sample.robot
    found = robot.condition_number(sample.motion)
    for i, state in enumerate(sample.states):
        allowed, rates = sample.oracle.jacobian(state)  # J B, B some basis
        scaled = allowed * np.repeat([1.0, robot.length_scale], 3)[:, np.newaxis]
        unit = np.linalg.inv(np.linalg.qr(scaled)[1])
        sizes = np.linalg.svd(rates @ unit, compute_uv=False)
        assert_near(found[i], sizes[0] / sizes[-1], sample.within)


@pytest.mark.parametrize(
    "name",
    [
        "rotary Delta",
        "linear Delta",
        "Orthoglide",
        "Tricept",
        "rotary wrist",
        "4-RUS schoenflies",
        "3-UPS + 3-PUS",
        "6-UPS + SPR",
    ],
)
def test_friction_of_loads(name: str) -> None:
    sample = Sample(name, 4, rough=True)
    forces = sample.forces()
    found = sample.robot.inverse_dynamics(sample.motion, sample.wrench)
    assert_near(found.forces, forces, 10 * sample.within)
    moved = sample.robot.direct_dynamics(sample.motion, forces, sample.wrench)
    both = np.concatenate([moved.linear, moved.angular], axis=-1)
    assert_near(both, acceleration(sample.batch), 10 * sample.within)
