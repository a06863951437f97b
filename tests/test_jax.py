"""JAX functions: the robot's answers, and derivatives that equal gough's."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gough
from cases.closeness import assert_near
from cases.errors import refusal
from cases.robots import random_flexible
from gough.engine.operations import OPERATIONS
from gough.engine.passes.lanes import in_lanes
from gough.errors import InputError, MissingDataError
from gough.exchange.jax import to_jax
from gough.exchange.programs import traced
from gough.mechanics.state import CHAINS, RIGID_FIELDS
from gough.motion import FIELDS
from test_operation_table import JUMPS, SLOPES, by_numpy, derivatives, plain, samples

jax = pytest.importorskip("jax", reason="jax is not installed (extra jax)")
pytestmark = [
    pytest.mark.usefixtures("on_numpy", "in_double"),
    pytest.mark.filterwarnings("ignore::gough.errors.ImpossibleBodyWarning"),
    pytest.mark.filterwarnings("ignore::gough.errors.ModalBodyWarning"),
]


@pytest.fixture
def in_double():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def state_of(robot, motion, fields=RIGID_FIELDS):
    state = {name: np.asarray(getattr(motion, name)) for name in fields}
    if robot.mechanism.legs.coordinates:
        state[CHAINS] = robot.chains_of(motion)
    return state


def hat(v):
    return np.cross(np.eye(3), v).T @ -np.eye(3)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_and_their_derivatives(name):
    operation = OPERATIONS[name]

    def slopes(given):
        def total(*arguments):
            return operation.jax(jax, *arguments).sum()

        return np.array(jax.grad(total, tuple(range(len(given))))(*given))

    given = samples(name)
    found = operation.jax(jax, *(jax.numpy.asarray(one) for one in given))
    assert_allclose(plain(found), plain(by_numpy(name, given)), rtol=1e-15, atol=1e-300)
    smooth = np.abs(given[:, np.abs(given).max(axis=0) < 1e10])
    smooth = np.array([SLOPES, np.roll(SLOPES, 1)])[: len(given)] if not smooth.all() else smooth
    smooth = np.abs(smooth) if name == "sqrt" else smooth
    assert_allclose(slopes(smooth), derivatives(name, smooth)[0], rtol=1e-14, atol=1e-15)
    if name in JUMPS:
        corner, expected = (np.array(one) for one in JUMPS[name])
        assert_array_equal(slopes(corner), expected)


def test_a_batch_of_forces_and_their_derivatives():
    robot = gough.load("kim-ryu-2002")
    rng = np.random.default_rng(3)
    motion = gough.Motion(
        robot.home.position + 0.05 * rng.normal(size=(4, 3)),
        np.broadcast_to(robot.home.rotation, (4, 3, 3)),
        *rng.normal(size=(4, 4, 3)),
    )
    wrench = rng.normal(size=(4, 6))
    state = state_of(robot, motion) | {"wrench": wrench}
    forces = robot.to_jax("inverse_dynamics")
    found = jax.jit(jax.vmap(forces))(state)
    assert_near(
        found["forces"], robot.inverse_dynamics(motion, wrench, friction=False).forces, 1e-13
    )
    assert (found["margin"] > 0).all()
    slopes = jax.jit(jax.vmap(jax.jacrev(lambda one: forces(one)["forces"])))(state)
    wanted = robot.inverse_dynamics_derivatives(motion, wrench, friction=False)
    turning = np.stack(
        [
            np.einsum("sqij,sij->sq", slopes["rotation"], hat(axis) @ state["rotation"])
            for axis in np.eye(3)
        ],
        axis=-1,
    )
    assert_near(np.concatenate([slopes["position"], turning], -1), wanted.pose, 1e-12)
    twist = np.concatenate([slopes["velocity"], slopes["angular_velocity"]], -1)
    assert_near(twist, wanted.twist, 1e-12)
    assert_near(slopes["wrench"], wanted.wrench, 1e-12)


@pytest.mark.second_tier
def test_chains_and_groups_of_legs():
    robot = gough.load("ferrandiz-3ups-rpu-2021")
    start = np.concatenate([robot.home.position, np.zeros(3)])
    names = ("x", "y", "z", "rx", "ry", "rz")
    u = start[[names.index(one) for one in robot.coordinates]] + 0.01
    motion = robot.motion(u, 0.2 * np.ones(4), np.ones(4))
    forces = np.arange(4.0)
    state = state_of(robot, motion) | {"forces": forces}
    change = np.array([1.0, -2.0, 0.5, 3.0])
    along = {name: np.zeros_like(value) for name, value in state.items()} | {"forces": change}
    found, slopes = jax.jvp(robot.to_jax("direct_dynamics"), (state,), (along,))
    wanted = robot.direct_dynamics(motion, forces, friction=False)
    assert_near(found["linear"], wanted.linear, 1e-12)
    exact = robot.direct_dynamics_derivatives(motion, forces, friction=False).forces[:3]
    assert_near(slopes["linear"], exact @ change, 1e-11)


@pytest.mark.second_tier
def test_flexible_platforms():
    robot, _, state = random_flexible(np.random.default_rng(4), "UPS", 3)
    motion = gough.Motion(**state)
    given = state_of(robot, motion, FIELDS)
    found = to_jax(robot, "inverse_dynamics")(given)
    wanted = robot.inverse_dynamics(motion, friction=False)
    assert_near(found["elastic_acceleration"], wanted.elastic_acceleration, 1e-11)
    assert_near(found["forces"], wanted.forces, 1e-11)
    mass = to_jax(robot, "mass_matrix")(given)["mass_matrix"]
    assert_near(mass, robot.mass_matrix(motion), 1e-12)
    for name, shape in (("jacobian", (6, 9)), ("bias", (9,))):
        assert jax.eval_shape(to_jax(robot, name), given)[name].shape == shape


def test_steps_do_every_operation_once_in_few_registers():
    program = traced(gough.load("kim-ryu-2002"), "inverse_dynamics")
    lanes = in_lanes(*program)
    width = lanes.targets.shape[1]
    busy = int((lanes.targets < lanes.registers - width).sum())
    assert busy <= sum(1 for step in program.program.body if step.operation in OPERATIONS)
    assert lanes.steps < busy / 8
    assert lanes.registers < busy / 4
    for row in lanes.targets:
        assert len(set(row)) == width


def test_with_loads_there_are_loads_caused():
    robot = gough.load("kim-ryu-2002")
    state = {"position": robot.home.position, "rotation": robot.home.rotation}
    function = robot.to_jax("inverse_dynamics", loads=True)
    found = jax.eval_shape(function, state | {"loads": np.full((3, 6), 50.0)})
    assert found["caused"].shape == (3, 6)


def test_what_cannot_be_asked_for(monkeypatch):
    robot = gough.load("kim-ryu-2002")
    forces = robot.to_jax("inverse_dynamics")
    pose = {"position": np.zeros(3), "rotation": np.eye(3)}
    with refusal(InputError, "inverse_dynamics"):
        forces({"position": np.zeros(3)})
    with refusal(InputError, "velocity", "velocty"):
        forces(pose | {"velocty": np.zeros(3)})
    with refusal(InputError, "position", "(2, 3)", "jax.vmap"):
        forces(pose | {"position": np.zeros((2, 3))})
    with refusal(InputError, "nothing"):
        robot.to_jax("nothing")
    jax.config.update("jax_enable_x64", False)
    with refusal(InputError, "precision", "single"):
        robot.to_jax("inverse_dynamics")

    def no_jax(name, *rest, imported=importlib.import_module):
        if name == "jax":
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(importlib, "import_module", no_jax)
    with refusal(MissingDataError, "gough[jax]"):
        robot.to_jax("inverse_dynamics")
