"""The oracle of any parallel robot, on random robots of every family: identities that can fail,
and the models that are known by other means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space

import gough
from cases.closeness import assert_close
from cases.families import FAMILIES, conditioning, draw, random_state, random_states
from cases.families.parts import with_friction
from cases.families.planar import frictionless, with_spherical_ends
from oracles import free_bodies
from oracles.arrays import Array, State
from oracles.legs import KINDS
from oracles.parallel import ParallelOracle
from oracles.parallel.as_chains import as_chains, with_universal_ends
from oracles.random_robot import random_motion, random_robot
from oracles.robot_parts import gravity, read_platform

each_family = pytest.mark.parametrize("name", FAMILIES)
each_closed_form = pytest.mark.parametrize("kind", ["UPS", "PUS", "RUS"])
SEEDS = range(2)
CLOSED_FORM = (
    "rotary Delta", "linear Delta", "Orthoglide", "Tricept", "rotary wrist", "4-RUS schoenflies",
    "3-UPS + 3-PUS", "3-UPS + S", "2-UPS + U", "6-UPS + SPU", "6-UPS + SPR",
)  # fmt: skip
"""Families with legs of kind UPS, PUS or RUS that no other oracle knows."""


def sample(name: str, seed: int) -> tuple[ParallelOracle, State, Array]:
    """A robot of a family, a state and a wrench."""
    rng = np.random.default_rng(seed)
    oracle = draw(name, seed)[1]
    return oracle, random_state(rng, oracle), 20 * rng.normal(size=6)


def acceleration(state: State) -> Array:
    """(v̇, ω̇)."""
    return np.concatenate([state["acceleration"], state["angular_acceleration"]])


def twist(state: State) -> Array:
    """(v, ω)."""
    return np.concatenate([state["velocity"], state["angular_velocity"]])


@pytest.mark.second_tier_from(8)
@each_family
def test_families_have_their_freedoms(name: str) -> None:
    family = FAMILIES[name]
    for seed in SEEDS:
        oracle, state, wrench = sample(name, seed)
        assert oracle.mobility == family.mobility
        assert len(oracle.coordinates) == family.mobility
        assert len(oracle.joints(state).q) == family.actuators
        assert conditioning(oracle, state) > 1e-3
        unique = oracle.reactions(state, wrench).unique
        assert np.all(unique) == family.unique


@pytest.mark.second_tier_from(8)
@each_family
@pytest.mark.parametrize("seed", SEEDS)
def test_direct_undoes_inverse(name: str, seed: int) -> None:
    oracle, state, wrench = sample(name, seed)
    assert oracle.joints(state).misfit < 1e-11
    forces = oracle.inverse_dynamics(state, wrench)
    found = np.concatenate(oracle.direct_dynamics(state, forces, wrench))
    assert_close(found, acceleration(state), 1e-10)
    if len(forces) == oracle.mobility:
        pushed = forces + 1.0
        moved = np.concatenate(oracle.direct_dynamics(state, pushed, wrench))
        moving = {**state, "acceleration": moved[:3], "angular_acceleration": moved[3:]}
        assert_close(oracle.inverse_dynamics(moving, wrench), pushed, 1e-10)


@pytest.mark.second_tier_from(8)
@each_family
@pytest.mark.parametrize("seed", SEEDS)
def test_motion_rates_and_power_by_finite_differences(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    oracle, m, step = draw(name, seed)[1], FAMILIES[name].mobility, 1e-4
    start = oracle.read(oracle.home_posture.pose)[oracle.chosen] + rng.uniform(-0.05, 0.05, m)
    ud, udd, wrench = rng.normal(size=m), 2 * rng.normal(size=m), 20 * rng.normal(size=6)

    def at(time: float) -> State:
        return oracle.motion(start + ud * time + udd * time**2 / 2, ud + udd * time, udd)

    before, now, after = at(-step), at(0.0), at(step)
    assert_close((twist(after) - twist(before)) / (2 * step), acceleration(now), 3e-6)
    moved = (after["position"] - before["position"]) / (2 * step)
    turned = (after["rotation"] - before["rotation"]) / (2 * step) @ now["rotation"].T
    swept = np.array([turned[2, 1], turned[0, 2], turned[1, 0]])
    assert_close(np.concatenate([moved, swept]), twist(now), 3e-6)

    legs = [oracle.joints(state) for state in (before, now, after)]
    assert_close((legs[2].q - legs[0].q) / (2 * step), legs[1].qd, 3e-6)
    assert_close((legs[2].qd - legs[0].qd) / (2 * step), legs[1].qdd, 3e-6)
    energy = [sum(oracle.energies(state)) for state in (before, after)]
    given = oracle.inverse_dynamics(now, wrench) @ legs[1].qd + wrench @ twist(now)
    kept = (energy[1] - energy[0]) / (2 * step) + oracle.friction_power(now, wrench)
    assert given == pytest.approx(kept, rel=1e-5, abs=1e-4)


@pytest.mark.second_tier_from(8)
@each_family
@pytest.mark.parametrize("seed", SEEDS)
def test_reactions_move_the_platform_and_are_the_least(name: str, seed: int) -> None:
    """Newton and Euler of the platform alone; where reactions are not unique the least ones have
    nothing of those that cancel each other."""
    oracle, state, wrench = sample(name, seed)
    found = oracle.reactions(state, wrench)
    body, turn, omega = read_platform(oracle.robot), state["rotation"], state["angular_velocity"]
    first, tensor = turn @ body.first_moment, turn @ body.inertia @ turn.T
    a, alpha = state["acceleration"] - gravity(oracle.robot), state["angular_acceleration"]
    force = body.mass * a + np.cross(alpha, first) + np.cross(omega, np.cross(omega, first))
    moment = np.cross(first, a) + tensor @ alpha + np.cross(omega, tensor @ omega)
    arms = np.array([turn @ leg.point for leg in oracle.tree.legs])
    pushed = found.forces.sum(axis=0) + found.constraint[:3] + wrench[:3]
    turned = np.cross(arms, found.forces).sum(axis=0) + np.nansum(found.moments, axis=0)
    turned += found.constraint[3:] + wrench[3:]
    size = np.max(np.abs(found.forces)) + np.max(np.abs(wrench))
    np.testing.assert_allclose(pushed, force, atol=1e-10 * size)
    np.testing.assert_allclose(turned, moment, atol=1e-10 * size)

    rows = oracle.rows(oracle.at(state))
    scale, stacked = [], []
    for leg, f, t in zip(oracle.tree.legs, found.forces, found.moments, strict=True):
        scale += [1.0] * 3 + [oracle.length_scale] * (leg.port - 3)
        stacked += [*f, *t][: leg.port]
    constraint = oracle.taken @ found.constraint
    turns = np.any(oracle.taken[:, 3:] != 0, axis=1)
    weights = np.append(scale, np.where(turns, oracle.length_scale, 1.0))
    cancelling = null_space(rows.T * weights, rcond=1e-9)
    least = np.append(stacked, -constraint) / weights  # rows hold the legs' with the other sign
    assert (cancelling.shape[1] == 0) == FAMILIES[name].unique
    np.testing.assert_allclose(cancelling.T @ least, 0, atol=1e-9 * size)


@pytest.mark.second_tier_from(2)
@each_closed_form
@pytest.mark.parametrize("legs", [6, 8])
@pytest.mark.parametrize("width", [None, 0.3])
def test_friction_and_joints_are_those_of_free_bodies(
    kind: str, legs: int, width: float | None
) -> None:
    rng = np.random.default_rng(legs)
    robot = random_robot(rng, kind, legs=legs, friction=True, width=width)
    state, wrench = random_motion(rng, robot), 50 * rng.normal(size=6)
    oracle = ParallelOracle(robot)
    bodies = free_bodies.inverse_dynamics(robot, state, wrench)
    assert_close(oracle.inverse_dynamics(state, wrench), bodies.forces, 1e-11)
    found, carried = oracle.reactions(state, wrench), KINDS[kind].passive[1]
    assert_close(found.forces, bodies.spherical, 1e-11)
    joints = np.array(found.joints)[:, carried]
    assert_close(joints[:, :3], bodies.universal, 1e-11)
    assert_close(joints[:, 3:], bodies.universal_moment, 1e-11)
    taken = oracle.friction_power(state, wrench)
    assert taken == pytest.approx(np.sum(bodies.dissipation), rel=1e-11)


@pytest.mark.second_tier_from(2)
@pytest.mark.parametrize("width", [None, 0.3])
@pytest.mark.parametrize("name", CLOSED_FORM)
def test_friction_with_mobility_and_chains(name: str, width: float | None) -> None:
    """Direct undoes inverse, and the power that friction takes is what the loads make."""
    smooth, state, wrench = sample(name, 0)
    rng = np.random.default_rng(0)
    oracle = ParallelOracle(with_friction(rng, smooth.robot, width))
    forces = oracle.inverse_dynamics(state, wrench)
    found = np.concatenate(oracle.direct_dynamics(state, forces, wrench))
    assert_close(found, acceleration(state), 1e-10)
    more = (forces - smooth.inverse_dynamics(state, wrench, friction=False)) @ smooth.joints(
        state
    ).qd
    assert more == pytest.approx(oracle.friction_power(state, wrench), rel=1e-9)
    assert more > 0


def assert_same(one: ParallelOracle, other: ParallelOracle, state: State, wrench: Array) -> None:
    """Two descriptions of one robot agree."""
    a, b = one.joints(state), other.joints(state)
    assert_close(a.q, b.q, 1e-11)
    assert_close(a.qd, b.qd, 1e-10)
    assert_close(a.qdd, b.qdd, 1e-10)
    forces = one.inverse_dynamics(state, wrench)
    assert_close(forces, other.inverse_dynamics(state, wrench), 1e-10)
    moved = (np.concatenate(o.direct_dynamics(state, forces + 1, wrench)) for o in (one, other))
    assert_close(*moved, 1e-9)
    assert one.energies(state) == pytest.approx(other.energies(state), rel=1e-11)


@each_closed_form
@pytest.mark.parametrize("legs", [6, 8])
def test_hexapods_as_chains(kind: str, legs: int) -> None:
    rng = np.random.default_rng(legs)
    robot = random_robot(rng, kind, legs=legs)
    state, wrench = random_motion(rng, robot), 50 * rng.normal(size=6)
    closed, opened = ParallelOracle(robot), ParallelOracle(as_chains(robot, rng))
    assert_same(closed, opened, state, wrench)
    forces = [oracle.reactions(state, wrench).forces for oracle in (closed, opened)]
    assert_close(*forces, 1e-10)
    for a, b in zip(closed.unconstrained(state), opened.unconstrained(state), strict=True):
        assert_close(a, b, 1e-10)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "name", ["rotary Delta", "linear Delta", "Orthoglide", "rotary wrist", "4-RUS schoenflies"]
)
def test_mobility_with_chains(name: str, seed: int) -> None:
    closed, state, wrench = sample(name, seed)
    chains = ParallelOracle(as_chains(closed.robot, np.random.default_rng(seed)))
    assert_same(closed, chains, state, wrench)
    one, other = (oracle.reactions(state, wrench) for oracle in (closed, chains))
    assert_close(one.forces, other.forces, 1e-9)
    assert_close(one.constraint, other.constraint, 1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_delta_of_universal_joints(seed: int) -> None:
    """Couples that the Delta's mobility gives come from the legs of a 3-RUU."""
    closed, state, wrench = sample("rotary Delta", seed)
    chains = ParallelOracle(with_universal_ends(as_chains(closed.robot)))
    assert_same(closed, chains, state, wrench)
    arms = np.array([state["rotation"] @ leg.point for leg in closed.tree.legs])
    total = []
    for oracle in (closed, chains):
        found = oracle.reactions(state, wrench)
        couple = np.cross(arms, found.forces).sum(axis=0) + found.constraint[3:]
        total.append(couple + np.nansum(found.moments, axis=0))
    assert_close(*total, 1e-10)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["planar 3-RRR", "planar 4-RRR"])
def test_planar_robots_with_spherical_joints(name: str, seed: int) -> None:
    oracle, state, wrench = sample(name, seed)
    plain = frictionless(oracle.robot)
    revolute, spherical = ParallelOracle(plain), ParallelOracle(with_spherical_ends(plain))
    assert_same(revolute, spherical, state, wrench)


@each_closed_form
@pytest.mark.parametrize("legs", [6, 8])
@pytest.mark.usefixtures("on_numpy")
def test_library_agrees(kind: str, legs: int) -> None:
    rng = np.random.default_rng(legs)
    table = random_robot(rng, kind, legs=legs)
    state, wrench = random_motion(rng, table), 50 * rng.normal(size=6)
    robot, oracle, motion = (
        gough.Robot.from_dict(table),
        ParallelOracle(table),
        gough.Motion(**state),
    )
    kinematics, joints = robot.inverse_kinematics(motion), oracle.joints(state)
    for key in ("q", "qd", "qdd"):
        assert_close(getattr(kinematics, key), getattr(joints, key), 1e-11)
    forces = oracle.inverse_dynamics(state, wrench)
    assert_close(robot.inverse_dynamics(motion, wrench).forces, forces, 1e-9)
    assert_close(
        robot.reactions(motion, wrench).spherical, oracle.reactions(state, wrench).forces, 1e-9
    )
    found = robot.direct_dynamics(motion, forces + 1.0, wrench)
    linear, angular = oracle.direct_dynamics(state, forces + 1.0, wrench)
    assert_close(found.linear, linear, 1e-9)
    assert_close(found.angular, angular, 1e-9)
    mass, bias = oracle.unconstrained(state)
    assert_close(robot.mass_matrix(motion), mass, 1e-11)
    assert_close(robot.bias(motion), bias, 1e-11)


def test_states_come_in_batches() -> None:
    oracle = draw("3-RPS", 0)[1]
    states = random_states(0, oracle, 3)
    assert states["rotation"].shape == (3, 3, 3)
    assert not np.allclose(states["position"][0], states["position"][1])
