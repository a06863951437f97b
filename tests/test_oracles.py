"""The oracles agree with each other, with finite differences and with the balance of power."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cases.closeness import assert_close
from cases.common import LEG_KINDS, each_kind
from oracles import free_bodies, friction_laws, opened_tree
from oracles.arrays import Array, Robot, State
from oracles.free_bodies import Solution
from oracles.legs import KINDS
from oracles.opened_tree import TreeReactions
from oracles.random_robot import one_state, random_motion, random_robot, toml_text
from oracles.robot_parts import read_body, read_legs
from oracles.vector_kinematics import leg_motion

SEEDS = range(4)
pytestmark = pytest.mark.filterwarnings("error")


def sample(seed: int, kind: str, **options: object) -> tuple[Robot, State, Array]:
    """A robot, one state and a wrench on the platform."""
    rng = np.random.default_rng([seed, LEG_KINDS.index(kind)])
    robot = random_robot(rng, kind, **options)
    return robot, random_motion(rng, robot, ()), 50 * rng.normal(size=6)


def test_every_kind_of_leg_has_its_oracles() -> None:
    assert {name: kind.name for name, kind in KINDS.items()} == {name: name for name in LEG_KINDS}


def later(state: State, time: float) -> State:
    """The state after a short time at constant accelerations, to second order in the pose."""
    alpha, omega = state["angular_acceleration"], state["angular_velocity"]
    turn = Rotation.from_rotvec(omega * time + alpha * time**2 / 2).as_matrix()
    return {
        **state,
        "position": state["position"]
        + state["velocity"] * time
        + state["acceleration"] * time**2 / 2,
        "rotation": turn @ state["rotation"],
        "velocity": state["velocity"] + state["acceleration"] * time,
        "angular_velocity": omega + alpha * time,
    }


def assert_reactions_agree(tree: TreeReactions, bodies: Solution) -> None:
    """All joints of both oracles carry the same."""
    assert_close(tree.spherical, bodies.spherical, 1e-11)
    assert_close(tree.universal, bodies.universal, 1e-11)
    assert_close(tree.universal_moment, bodies.universal_moment, 1e-11)
    if bodies.contact_force is not None:
        assert_close(tree.slide_force, bodies.contact_force, 1e-11)
        assert_close(tree.slide_moment, bodies.contact_moment, 1e-11)
    if bodies.guide is not None:
        assert_close(tree.slide_force, bodies.guide, 1e-11)
        assert_close(tree.slide_moment, bodies.guide_moment, 1e-11)


@each_kind
@pytest.mark.parametrize("seed", SEEDS)
def test_pinocchio_and_vector_kinematics_agree(seed: int, kind: str) -> None:
    robot, state, _ = sample(seed, kind)
    tree = opened_tree.leg_coordinates(robot, state)
    vectors = [leg_motion(leg, state) for leg in read_legs(robot)]
    assert_close(tree.joints, np.array([leg.joints for leg in vectors]), 1e-13)
    assert_close(tree.rates, np.array([leg.rates for leg in vectors]), 1e-12)
    assert_close(tree.accelerations, np.array([leg.accelerations for leg in vectors]), 1e-12)
    assert_close(tree.direction, np.array([leg.direction for leg in vectors]), 1e-13)
    omega = np.array([leg.link_angular_velocity for leg in vectors])
    alpha = np.array([leg.link_angular_acceleration for leg in vectors])
    assert_close(tree.link_angular_velocity, omega, 1e-12)
    assert_close(tree.link_angular_acceleration, alpha, 1e-12)


@each_kind
@pytest.mark.parametrize("seed", SEEDS)
def test_body_frames_are_pinocchios(seed: int, kind: str) -> None:
    robot, state, _ = sample(seed, kind)
    for opened in opened_tree.opened_legs(robot):
        vectors = leg_motion(opened.leg, state)
        opened.tip_position(vectors.joints)
        for k, body in enumerate(vectors.bodies):
            np.testing.assert_allclose(opened.data.oMi[k + 1].rotation, body.rotation, atol=1e-13)
            np.testing.assert_allclose(opened.data.oMi[k + 1].translation, body.origin, atol=1e-13)


@each_kind
def test_rates_are_derivatives(kind: str) -> None:
    robot, state, _ = sample(0, kind)
    step = 1e-5
    before, now, after = (
        opened_tree.leg_coordinates(robot, later(state, t)) for t in (-step, 0.0, step)
    )
    assert_close((after.joints - before.joints) / (2 * step), now.rates, 1e-8)
    assert_close((after.rates - before.rates) / (2 * step), now.accelerations, 1e-8)
    turned = (after.link_angular_velocity - before.link_angular_velocity) / (2 * step)
    assert_close(turned, now.link_angular_acceleration, 1e-8)
    swept = np.cross(now.link_angular_velocity, now.direction)
    assert_close((after.direction - before.direction) / (2 * step), swept, 1e-8)
    twist = np.concatenate([state["velocity"], state["angular_velocity"]])
    assert_close(opened_tree.jacobian(robot, state) @ twist, now.qd, 1e-12)


@pytest.mark.parametrize("legs", [6, 8])
@each_kind
@pytest.mark.parametrize("seed", SEEDS)
def test_forces_and_reactions_agree(seed: int, kind: str, legs: int) -> None:
    robot, state, wrench = sample(seed, kind, legs=legs)
    tree = opened_tree.reactions(robot, state, wrench)
    bodies = free_bodies.inverse_dynamics(robot, state, wrench, friction=False)
    assert bodies.residual < 1e-12
    assert_close(opened_tree.inverse_dynamics(robot, state, wrench), bodies.forces, 1e-11)
    assert_reactions_agree(tree, bodies)


@pytest.mark.parametrize("legs", [6, 8])
@pytest.mark.parametrize("width", [None, 0.3])
@each_kind
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_given_the_friction_both_agree(
    seed: int, kind: str, width: float | None, legs: int
) -> None:
    robot, state, wrench = sample(seed, kind, friction=True, width=width, legs=legs)
    bodies = free_bodies.inverse_dynamics(robot, state, wrench)
    assert bodies.mismatch < 1e-13
    assert bodies.residual < 1e-12
    assert np.all(bodies.dissipation > 0)
    forces = opened_tree.inverse_dynamics(robot, state, wrench, bodies.loads)
    tree = opened_tree.reactions(robot, state, wrench, bodies.loads)
    assert_close(forces, bodies.forces, 1e-11)
    assert_reactions_agree(tree, bodies)


@each_kind
@pytest.mark.parametrize("seed", SEEDS)
def test_direct_undoes_inverse(seed: int, kind: str) -> None:
    robot, state, wrench = sample(seed, kind, friction=True)
    forces = opened_tree.inverse_dynamics(robot, state, wrench)
    wanted = np.concatenate([state["acceleration"], state["angular_acceleration"]])
    found = np.concatenate(opened_tree.direct_dynamics(robot, state, forces, wrench))
    assert_close(found, wanted, 1e-10)
    for friction in (False, True):
        inverse = free_bodies.inverse_dynamics(robot, state, wrench, friction)
        direct = free_bodies.direct_dynamics(robot, state, inverse.forces, wrench, friction)
        assert_close(np.concatenate([direct.linear, direct.angular]), wanted, 1e-10)
        assert_close(direct.spherical, inverse.spherical, 1e-10)


@each_kind
@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix(seed: int, kind: str) -> None:
    robot, state, wrench = sample(seed, kind)
    mass, bias = opened_tree.mass_matrix_and_bias(robot, state)
    np.testing.assert_allclose(mass, mass.T, rtol=0, atol=1e-12 * np.max(mass))
    assert np.all(np.linalg.eigvalsh(mass) > 0)
    twist = np.concatenate([state["velocity"], state["angular_velocity"]])
    assert twist @ mass @ twist / 2 == pytest.approx(opened_tree.energies(robot, state)[0], 1e-12)
    rate = np.concatenate([state["acceleration"], state["angular_acceleration"]])
    forces = free_bodies.inverse_dynamics(robot, state, wrench, friction=False).forces
    pushed = opened_tree.jacobian(robot, state).T @ forces + wrench
    assert_close(mass @ rate + bias, pushed, 1e-11)


@pytest.mark.parametrize("friction", [False, True])
@each_kind
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_power_balance(seed: int, kind: str, friction: bool) -> None:
    robot, state, wrench = sample(seed, kind, friction=True)
    solution = free_bodies.inverse_dynamics(robot, state, wrench, friction)
    step = 3e-5
    before, after = (sum(opened_tree.energies(robot, later(state, t))) for t in (-step, step))
    stored = (after - before) / (2 * step)
    qd = opened_tree.leg_coordinates(robot, state).qd
    twist = np.concatenate([state["velocity"], state["angular_velocity"]])
    supplied = solution.forces @ qd + wrench @ twist
    largest = np.max(np.abs(solution.forces * qd))
    assert supplied == pytest.approx(
        stored + np.sum(solution.dissipation), rel=0, abs=1e-6 * largest
    )


@each_kind
def test_no_friction_at_rest(kind: str) -> None:
    robot, state, wrench = sample(0, kind, friction=True)
    state["velocity"], state["angular_velocity"] = np.zeros(3), np.zeros(3)
    smooth = free_bodies.inverse_dynamics(robot, state, wrench, friction=False)
    rubbing = free_bodies.inverse_dynamics(robot, state, wrench, friction=True)
    np.testing.assert_array_equal(smooth.forces, rubbing.forces)


@each_kind
def test_near_singular_robots(kind: str) -> None:
    robot, state, wrench = sample(0, kind, near_singular=True)
    assert np.linalg.cond(opened_tree.jacobian(robot, state)) > 1e3
    forces = opened_tree.inverse_dynamics(robot, state, wrench)
    bodies = free_bodies.inverse_dynamics(robot, state, wrench, friction=False)
    assert_close(forces, bodies.forces, 1e-9)


@each_kind
def test_random_robots_are_complete_and_real(kind: str) -> None:
    robot, _, _ = sample(0, kind, friction=True, width=0.01)
    assert tomllib.loads(toml_text(robot)) == robot
    for i in range(6):
        for name in KINDS[kind].bodies:
            body = read_body(robot["legs"][name], i)
            center = body.first_moment / body.mass
            steiner = body.mass * (center @ center * np.eye(3) - np.outer(center, center))
            central = body.inertia - steiner
            spread = np.trace(central) / 2 * np.eye(3) - central
            assert np.all(np.linalg.eigvalsh(spread) > 0)


@each_kind
def test_slender_legs_do_not_feel_their_spin(kind: str) -> None:
    robot, state, wrench = sample(0, kind, axial=False)
    solution = free_bodies.inverse_dynamics(robot, state, wrench, friction=False)
    assert_close(opened_tree.inverse_dynamics(robot, state, wrench), solution.forces, 1e-11)
    direction = opened_tree.leg_coordinates(robot, state).direction
    np.testing.assert_allclose(solution.universal_moment, 0 * direction, atol=1e-10)


@each_kind
def test_states_are_near_home(kind: str) -> None:
    rng = np.random.default_rng(7)
    robot = random_robot(rng, kind)
    motion = random_motion(rng, robot, (3, 2))
    assert motion["rotation"].shape == (3, 2, 3, 3)
    for index in np.ndindex(3, 2):
        condition = np.linalg.cond(opened_tree.jacobian(robot, one_state(motion, index)))
        assert condition < 50


@each_kind
def test_default_axes(kind: str) -> None:
    robot, state, wrench = sample(0, kind)
    del robot["legs"]["axis"], robot["legs"]["reference"], robot["gravity"]
    rotation = Rotation.from_rotvec(robot["home"]["rotation_vector"]).as_matrix()
    home = {**state, "position": np.array(robot["home"]["position"]), "rotation": rotation}
    for leg in read_legs(robot):
        moving = leg_motion(leg, home)
        if kind == "RUS":  # the motor's axis, and the crank at q = 0
            np.testing.assert_array_equal(leg.axis, leg.rail)
            np.testing.assert_allclose(leg.reference, leg.crank_zero, atol=1e-15)
            continue
        np.testing.assert_allclose([leg.axis[2], leg.axis @ moving.direction], 0, atol=1e-15)
        second = KINDS[kind].passive[1]
        assert moving.joints[second] == pytest.approx(np.pi / 2, abs=1e-14)
        # the world axis least along a horizontal axis is z
        np.testing.assert_allclose(leg.reference, [0, 0, 1], atol=1e-15)
    forces = opened_tree.inverse_dynamics(robot, state, wrench)
    bodies = free_bodies.inverse_dynamics(robot, state, wrench)
    assert_close(forces, bodies.forces, 1e-11)


def test_friction_laws_in_numbers() -> None:
    turning = np.array([0.0, 0.0, 2.0])
    couple = friction_laws.joint_couple(0.1, 0.02, 100.0, turning, 0.0)
    np.testing.assert_allclose(couple, [0, 0, -0.1 * 2 - 0.02 * 100], rtol=1e-15)
    couple = friction_laws.joint_couple(0.1, 0.02, 100.0, turning, 1.5)
    np.testing.assert_allclose(couple, [0, 0, -0.1 * 2 - 0.02 * 100 * 2 / 2.5], rtol=1e-15)
    assert not np.any(friction_laws.joint_couple(0.1, 0.02, 100.0, np.zeros(3), 0.0))

    terms = {"slider_viscous": 10.0, "slider_coulomb": 0.2, "screw_torque": 0.03}
    terms |= {"screw_lead": 0.01, "width": 0.0}
    screw = 2 * np.pi * 3
    ups, pus, rus = (
        read_legs(random_robot(np.random.default_rng(0), kind))[0] for kind in ("UPS", "PUS", "RUS")
    )
    motor = {"motor_viscous": 10.0, "motor_coulomb": 0.2, "width": 0.0}
    assert friction_laws.drive_friction(rus, motor, -0.5, 0.0) == pytest.approx(5 + 0.2)
    drive = friction_laws.drive_friction
    assert drive(ups, terms, -0.5, 0.0) == pytest.approx(5 + 0.2 + screw)
    assert drive(pus, terms, -0.5, 70.0) == pytest.approx(5 + 0.2 * 70 + screw)
    assert drive(pus, terms, 0.0, 70.0) == 0
    smooth = {**terms, "width": 1.2}
    assert drive(pus, smooth, 0.5, 70.0) == pytest.approx(-5 - (14 + screw) * 5 / 13)

    rail, oblique = np.array([1.0, 0.0, 0.0]), np.array([0.6, 0.0, 0.8])
    normal = np.array([0.0, -3.0, 4.0])
    pus = replace(pus, rail=rail, axis=oblique)
    assert friction_laws.guide_load(pus, normal) == pytest.approx(7)
    reference = np.array([0.0, -0.6, 0.8])
    pus = replace(pus, rail=rail, axis=-rail, reference=reference)
    assert friction_laws.guide_load(pus, normal) == pytest.approx(5)
