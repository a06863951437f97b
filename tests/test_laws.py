"""Laws: each is written once and runs over robots, rigid and flexible, free and held, and batch shapes.

Answers of models against oracles, against each other and against finite differences; derivatives
against finite differences, complex steps, an energy model and identities.
"""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

import gough
from cases.closeness import assert_near
from cases.common import SHAPES, each_kind
from cases.derivatives import (
    ALL,
    FLEXIBLE_NAMES,
    HELD_NAMES,
    MODELS,
    PLATE,
    RIGID_NAMES,
    Case,
    FlexibleCase,
    case,
    moved,
)
from cases.errors import refusal
from cases.families import FAMILIES, conditioning, draw, random_states
from cases.families.parts import with_friction
from gough import Motion, Robot
from gough.analysis.stiffness import stiffness
from gough.engine.run.compiled import CompiledExecutor
from gough.engine.run.execute import NumPyExecutor
from gough.errors import InputError, NotFiniteError, ReachError, SingularError
from gough.mechanics import programs
from gough.model import derivative_programs, derivatives
from gough.model.derivative_programs import COORDINATES
from gough.model.execution import fields_of, numpy_executor, robot_numbers, trace
from gough.parameters import regressor
from oracles.arrays import Array, State
from oracles.flexible_energy import FlexibleEnergy, cayley
from oracles.parallel import ParallelOracle
from oracles.random_robot import one_state, random_motion, random_robot

pytestmark = [
    pytest.mark.usefixtures("on_numpy"),
    pytest.mark.filterwarnings("ignore::gough.errors.ModalBodyWarning"),
    pytest.mark.filterwarnings("ignore:.*Swig.*:DeprecationWarning"),
]
COUNT = 3
STEP = 1e-6
FIRST = {
    "UPS",
    "RUS, smooth friction",
    "PUS, 8 legs",
    "PUS, smooth friction",
    "flexible UPS, plate",
    "flexible PUS, smooth friction",
    PLATE,
    "3-RPS",
    "planar 4-RRR",
    "6-UPS + SPR, friction",
    "3-UPS + 3-PUS",
}
"""Robots of derivatives in the first tier; the others are in the second."""


def over(*names: str, first: set[str] = FIRST) -> pytest.MarkDecorator:
    """A law for robots of these names, in the first tier for `first`."""
    second = pytest.mark.second_tier
    return pytest.mark.parametrize(
        "name", [pytest.param(one, marks=[] if one in first else second) for one in names]
    )


each_robot = over(*ALL)
each_model = pytest.mark.parametrize("model", MODELS)
each_family = pytest.mark.parametrize("name", FAMILIES)
FREE = (*RIGID_NAMES, *FLEXIBLE_NAMES)
SQUARE = [one for one in FREE if "legs" not in one]
"""As many actuators as directions."""


# Families against their oracle: within 1e-10 times the condition number of the state


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


family = cache(Sample)
"""A sample of a family and seed, made once a session; oracles keep what they have said."""


def acceleration(state: State) -> Array:
    """(v̇, ω̇)."""
    return np.concatenate([state["acceleration"], state["angular_acceleration"]], axis=-1)


@each_family
def test_freedoms_and_joints(name: str) -> None:
    sample = family(name, 0)
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
    sample = family(name, 1)
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
    sample = family(name, 1)
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
    sample = family(name, 0)
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
    sample = family(name, 0)
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
    sample = family(name, 4, True)
    forces = sample.forces()
    found = sample.robot.inverse_dynamics(sample.motion, sample.wrench)
    assert_near(found.forces, forces, 10 * sample.within)
    moved = sample.robot.direct_dynamics(sample.motion, forces, sample.wrench)
    both = np.concatenate([moved.linear, moved.angular], axis=-1)
    assert_near(both, acceleration(sample.batch), 10 * sample.within)


# Derivatives of every robot


@each_model
@each_robot
def test_derivatives_follow_finite_differences(name, model):
    one = case(name)
    slopes = one.slopes(model)
    for change, expected in one.lines(model):
        found = sum(getattr(slopes, key) @ value for key, value in change.items())
        assert_near(found, expected, 1e-6)


@each_robot
def test_linearization_follows_direct_dynamics(name):
    """A and B in x = (pose, qe; twist, q̇e), of the directions in which the platform moves."""
    one = case(name)
    rows, modes = list(one.rows), one.modes
    A, B = one.robot.linearize(one.motion, one.forces, one.wrench, one.friction)
    size = len(rows) + modes
    assert A.shape == (2 * size, 2 * size)
    assert B.shape == (2 * size, one.robot.actuator_count)
    moving = [*rows, *range(6, 6 + modes)]
    for change, expected in one.lines("direct"):
        if "forces" in change:
            assert_near(B[size:] @ change["forces"], expected[moving], 1e-6)
        if {"forces", "wrench"} & change.keys():
            continue
        count = expected.shape[1]
        pose, twist = (change.get(key, np.zeros((6, count))) for key in ("pose", "twist"))
        none = np.zeros((modes, count))
        elastic, rate = (change.get(key, none) for key in ("elastic", "elastic_velocity"))
        turning = np.cross(one.motion.angular_velocity, pose[3:].T).T
        faster = np.concatenate([twist[:3], twist[3:] + turning])
        state = np.concatenate([pose[rows], elastic, twist[rows], rate])
        assert_near(A @ state, np.concatenate([faster[rows], rate, expected[moving]]), 1e-6)
    assert_allclose(B[:size], 0, atol=0)
    assert_near(B[size:], one.slopes("direct").forces[moving], 1e-10)


PRODUCTS = (
    "UPS", "PUS, 8 legs", "PUS, smooth friction", "flexible UPS", "flexible PUS, smooth friction",
    "3-RPS", "planar 4-RRR", "6-UPS + SPR, friction",
)  # fmt: skip


@each_model
@over(*PRODUCTS, first=FIRST - {"PUS, 8 legs"})
def test_products_with_vectors_are_those_of_the_matrices(name, model):
    one, rng = case(name), np.random.default_rng(1)
    slopes = {key: getattr(one.slopes(model), key) for key in one.inputs(model)}
    changes = {key: rng.normal(size=slope.shape[-1]) for key, slope in slopes.items()}
    if name in HELD_NAMES:  # changes count by their allowed part
        ((allowed, _), *_) = one.lines(model)
        changes |= {key: value[:, 0] for key, value in allowed.items()}
    weights = rng.normal(size=slopes["pose"].shape[-2])
    change = one.call("jvp", model, changes)
    expected = sum(slope @ changes[key] for key, slope in slopes.items())
    assert_near(change, expected, 1e-10)
    backward = one.call("vjp", model, weights)
    for key, slope in slopes.items():
        assert_near(getattr(backward, key), weights @ slope, 1e-10)
        if name in HELD_NAMES and key in COORDINATES:
            assert np.linalg.matrix_rank(slope, 1e-9 * np.abs(slope).max()) <= one.robot.mobility
    pulled = sum(getattr(backward, key) @ changes[key] for key in slopes)
    assert_allclose(weights @ change, pulled, rtol=1e-8)


@over(*SQUARE)
def test_direct_derivatives_undo_inverse_ones(name):
    """Γ(x, ẍ(x, Γ)) = Γ: ∂Γ/∂x + ∂Γ/∂ẍ ∂ẍ/∂x = 0, ∂Γ/∂ẍ ∂ẍ/∂Γ = 1, with friction too."""
    one = case(name)
    forces = one.robot.inverse_dynamics(one.motion, one.wrench).forces
    inverse, direct = one.slopes("inverse"), one.call("derivatives", "direct", forces=forces)
    for key in inverse_inputs(one):
        through = inverse.acceleration @ getattr(direct, key)[:6] + getattr(inverse, key)
        expected = np.concatenate([np.zeros((6, through.shape[1])), getattr(direct, key)[6:]])
        size = np.abs(getattr(inverse, key)).max()
        assert_allclose(through, expected, rtol=0, atol=1e-9 * size)
    assert_near((inverse.acceleration @ direct.forces[:6])[:6], np.eye(6), 1e-9)


def inverse_inputs(one):
    return [key for key in one.inputs("inverse") if key != "acceleration"]


@over(*[name for name in FREE if "friction" not in name or name.endswith("UPS, friction")])
def test_known_matrices(name):
    """∂Γ/∂ξ̇ = (Jᵀ)⁺ M, ∂Γ/∂wrench = −(Jᵀ)⁺, ∂ξ̇/∂Γ = M⁻¹ Jᵀ, ∂ξ̇/∂wrench = M⁻¹, friction left out."""
    one = case(name)
    smooth = {} if "friction" not in name else {"friction": False}
    jacobian, mass = one.robot.jacobian(one.motion), one.robot.mass_matrix(one.motion)
    direct = one.slopes("direct", **smooth)
    assert_near(direct.forces, np.linalg.solve(mass, jacobian.T), 1e-10)
    if not one.modes:
        share = np.linalg.pinv(jacobian.T)
        inverse = one.slopes("inverse", **smooth)
        assert_near(inverse.acceleration, share @ mass, 1e-11)
        assert_near(inverse.wrench, -share, 1e-11)
        assert_near(direct.wrench, np.linalg.inv(mass), 1e-11)


def complex_step(function, robot, fields, direction):
    """Im f(x + i h x')/h of a traced function for h → 0: exact to rounding, solves included."""
    size = 1e-30

    def sign(x):
        return np.copysign(1.0, x.real)

    operations = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "neg": lambda a: -a,
        "sqrt": np.sqrt,
        "abs": lambda a: a * sign(a),
        "copysign": lambda a, b: a * sign(a) * sign(b),
        "min": lambda a, b: a if a.real < b.real else b,
        "max": lambda a, b: a if a.real > b.real else b,
        "or_one": lambda a: a if a else a + 1,
    }
    inputs = {n: np.shape(v) for n, v in fields.items() if n not in robot_fields(fields)}
    program = trace(function, robot.mechanism, inputs)
    hoisted = robot_numbers(program, robot.mechanism)
    table = {n: np.ravel(v).astype(complex) for n, v in fields.items()} | {"hoisted": hoisted}
    for name, value in direction.items():
        table[name] = table[name] + 1j * size * np.ravel(value)

    def run():
        values = []
        for step in program.body:
            if step.operation == "constant":
                values.append(np.complex128(step.leaf))
            elif step.operation == "input":
                values.append(np.complex128(table[step.leaf[0]][step.leaf[1]]))
            else:
                values.append(operations[step.operation](*(values[a] for a in step.arguments)))
        return {
            name: np.array([values[place] for place in output.places])
            for name, output in program.outputs.items()
        }

    found = run()
    if "loads" in fields:
        for _ in range(25):  # the loads and their change converge together
            table["loads"] = found["caused"]
            found = run()
    return {name: value.imag / size for name, value in found.items()}


def robot_fields(fields):
    return {field for pair in COORDINATES.values() for field in pair} & set(fields)


@each_model
@over("UPS", "PUS, 8 legs", "PUS, smooth friction", first={"UPS", "PUS, smooth friction"})
def test_derivatives_follow_complex_steps(name, model):
    """Exact to rounding."""
    one = case(name)
    robot, rng = one.robot, np.random.default_rng(1)
    changes = {key: rng.normal(size=6) for key in one.inputs(model)}
    fields = {field: getattr(one.motion, field) for pair in COORDINATES.values() for field in pair}
    fields["wrench"] = one.wrench
    direction = {"wrench": changes["wrench"]}
    if model == "direct":
        changes["forces"] = rng.normal(size=robot.leg_count)
        fields["forces"], direction["forces"] = one.forces, changes["forces"]
    if not robot.mechanism.legs.friction.none:
        fields["loads"] = np.zeros((3, robot.leg_count))
    for key, (linear, angular) in COORDINATES.items():
        if key in changes:
            direction[linear], direction[angular] = changes[key][:3], changes[key][3:]
    turn = np.cross(changes["pose"][3:], one.motion.rotation.T).T
    direction["rotation"] = turn
    function = programs.inverse_dynamics if model == "inverse" else programs.direct_dynamics
    found = complex_step(function, robot, fields, direction)
    parts = ("forces",) if model == "inverse" else ("linear", "angular")
    expected = np.concatenate([found[part] for part in parts])
    slopes = one.slopes(model)
    product = sum(getattr(slopes, key) @ change for key, change in changes.items())
    assert_near(product, expected, 1e-11)


@pytest.mark.parametrize("near_singular", [False, True])
@each_kind
@pytest.mark.parametrize("seed", range(2))
def test_random_robots(seed, kind, near_singular):
    """The gradient of a weighted sum of forces, against finite differences."""
    rng = np.random.default_rng([seed, near_singular])
    data = random_robot(rng, kind, near_singular=near_singular)
    robot, motion = Robot.from_dict(data), Motion(**random_motion(rng, data))
    robot.__dict__["executor"] = numpy_executor(robot.mechanism)
    weights, wrench = rng.normal(size=6), 50 * rng.normal(size=6)
    found = derivatives.inverse_dynamics_vjp(robot, motion, weights, wrench)
    condition = robot.condition_number(motion)
    step = STEP / np.sqrt(condition)
    steps = step * np.concatenate([np.eye(6), -np.eye(6)])
    batch = Motion.stack([motion] * len(steps))
    for key in COORDINATES:
        forces = robot.inverse_dynamics(moved(batch, key, steps), wrench).forces @ weights
        ahead, behind = np.split(forces, 2)
        limit = 1e-6 * max(1.0, condition / 100)
        assert_near(getattr(found, key), (ahead - behind) / (2 * step), limit)


def energy_slopes(one, forces, rate):
    """∂(M ξ̇ + b − Jᵀ Γ − (f, m, φ)) of the energy model by all it depends on, by machine."""
    oracle, modes = FlexibleEnergy(one.table, one.body), one.modes
    sizes = {"pose": 6, "elastic": modes, "twist": 6, "elastic_velocity": modes, "wrench": 6}
    sizes |= {"acceleration": 6, "elastic_acceleration": modes, "forces": len(forces)}
    given = {name: ca.MX.sym(name, size) for name, size in sizes.items()}
    turned = cayley(given["pose"][3:]) @ ca.DM(one.state["rotation"])
    found = oracle._model(
        x=ca.vertcat(given["pose"][:3], ca.DM.zeros(3), given["elastic"]),
        rate=ca.vertcat(given["twist"], given["elastic_velocity"]),
        R0=turned,
    )
    modal = ca.DM(oracle.origin_shapes).T @ (turned.T @ given["wrench"][:3])
    modal += ca.DM(oracle.origin_rotations).T @ (turned.T @ given["wrench"][3:])
    left = (
        found["mass"] @ ca.vertcat(given["acceleration"], given["elastic_acceleration"])
        + found["bias"]
        - found["jacobian"].T @ given["forces"]
        - ca.vertcat(given["wrench"], modal)
    )
    symbols = list(given.values())
    by = ca.Function("slopes", symbols, [left, *(ca.jacobian(left, by) for by in symbols)])
    state = one.state
    values = {
        "pose": [*state["position"], 0, 0, 0],
        "elastic": state["elastic"],
        "twist": [*state["velocity"], *state["angular_velocity"]],
        "elastic_velocity": state["elastic_velocity"],
        "wrench": one.wrench,
        "acceleration": rate[:6],
        "elastic_acceleration": rate[6:],
        "forces": forces,
    }
    left, *slopes = (part.full() for part in by(*values.values()))
    assert_near(left[:, 0], np.zeros(len(left)), 1e-6)
    return dict(zip(given, slopes, strict=True))


@over("flexible UPS", "flexible PUS", "flexible UPS, plate")
def test_derivatives_are_those_of_the_energy_model(name):
    """dΓ, dq̈e and dξ̇ from derivatives of an energy model that CasADi differentiates: exact."""
    one = case(name)
    found = one.robot.inverse_dynamics(one.motion, one.wrench)
    rate = [one.motion.acceleration, one.motion.angular_acceleration, found.elastic_acceleration]
    slopes = energy_slopes(one, found.forces, np.concatenate(rate))
    solved = np.concatenate([slopes["forces"], slopes["elastic_acceleration"]], axis=1)
    inverse = one.slopes("inverse")
    for key in one.inputs("inverse"):
        assert_near(getattr(inverse, key), -np.linalg.solve(solved, slopes[key]), 1e-9)
    direct = one.call("derivatives", "direct", forces=found.forces)
    solved = np.concatenate([slopes["acceleration"], slopes["elastic_acceleration"]], axis=1)
    for key in one.inputs("direct"):
        assert_near(getattr(direct, key), -np.linalg.solve(solved, slopes[key]), 1e-9)


# Batches, engines, errors


SHAPED = ("UPS", "PUS, smooth friction", "flexible PUS, smooth friction", "3-RPS")


@each_model
@pytest.mark.parametrize("shape", SHAPES)
@over(*SHAPED)
def test_batches_of_derivatives_are_their_samples(name, shape, model):
    one = case(name, shape)
    slopes = one.slopes(model)
    rows = one.robot.actuator_count + one.modes if model == "inverse" else 6 + one.modes
    for key in one.inputs(model):
        assert getattr(slopes, key).shape == (*shape, rows, one.width(key))
    change = one.call("jvp", model, {"wrench": np.ones(6)})
    assert_near(change, slopes.wrench.sum(axis=-1), 1e-10)
    backward = one.call("vjp", model, np.ones(rows))
    assert_near(backward.wrench, slopes.wrench.sum(axis=-2), 1e-10)
    for index in list(np.ndindex(*shape))[-1:]:
        parts = {key: getattr(one, key)[index] for key in ("motion", "forces", "wrench")}
        single = one.call("derivatives", model, **parts)
        for key in one.inputs(model):
            assert_near(getattr(single, key), getattr(slopes, key)[index], 1e-10)


@pytest.mark.parametrize("shape", SHAPES)
@over(*SHAPED)
def test_batches_of_matrices(name, shape):
    one = case(name, shape)
    size = len(one.rows) + one.modes
    A, B = one.robot.linearize(one.motion)
    assert A.shape == (*shape, 2 * size, 2 * size)
    assert B.shape == (*shape, 2 * size, one.robot.actuator_count)
    if name == "UPS":
        assert regressor.regressor(one.robot, one.motion).shape == (*shape, 6, 196)


def test_inputs_broadcast():
    one = case("UPS")
    wrenches = np.stack([one.wrench, 0 * one.wrench])
    found = derivatives.inverse_dynamics_derivatives(one.robot, one.motion, wrenches)
    assert_near(found.pose[0], one.slopes("inverse").pose, 1e-12)
    changes = {"pose": np.eye(6)[:, np.newaxis]}
    change = derivatives.inverse_dynamics_jvp(one.robot, one.motion, changes, wrenches)
    assert_near(np.moveaxis(change, 0, -1), found.pose, 1e-11)


@each_model
@over("UPS", "flexible UPS", "flexible PUS, 8 legs", first={"UPS", "flexible UPS"})
def test_compiled_derivatives_are_those_of_numpy(name, model):
    kind = Case if name == "UPS" else FlexibleCase
    compiled, plain = (
        kind(name.removeprefix("flexible "), (), engine)
        for engine in (CompiledExecutor, NumPyExecutor)
    )
    for key in plain.inputs(model):
        found, expected = (getattr(one.slopes(model), key) for one in (compiled, plain))
        assert_near(found, expected, 1e-10)
    if name == "UPS" and model == "inverse":
        found, expected = (regressor.regressor(one.robot, one.motion) for one in (compiled, plain))
        assert_near(found, expected, 1e-12)


def test_friction_without_llvm():
    one = Case("UPS, friction", (5,))
    fields = {field: getattr(one.motion, field) for pair in COORDINATES.values() for field in pair}
    fields["forces"] = one.forces
    for key, shape in {
        "wrench": (6,),
        "loads": (3, 6),
        "weights": (30,),
        "multipliers": (6,),
    }.items():
        fields[key] = one.rng.uniform(1.0, 2.0, (5, *shape))
    machine = one.robot.mechanism
    found, expected = (
        engine(machine, fields_of(machine))(derivative_programs.balance_reverse, 5, fields)
        for engine in (CompiledExecutor, NumPyExecutor)
    )
    assert set(found) == {*COORDINATES, "forces", "wrench", "loads", "multipliers"}
    for key, value in expected.items():
        assert_near(found[key], value, 1e-12)


@pytest.mark.parametrize(
    ("name", "field"), [("UPS", "position"), ("flexible UPS", "elastic_velocity")]
)
def test_bad_samples_are_named(name, field):
    one = case(name, (3,))
    robot, motion = one.robot, one.motion
    values = np.array(np.broadcast_to(getattr(motion, field), (3, one.modes or 3)))
    values[1] = np.nan
    motion = motion.replace(**{field: values})
    with pytest.raises(NotFiniteError, match=f"sample 1: {field} is not finite"):
        robot.linearize(motion)
    with refusal(InputError, "forces"):
        derivatives.inverse_dynamics_jvp(robot, one.motion, {"forces": np.zeros(6)})
    with refusal(InputError, "acceleration"):
        one.call("jvp", "direct", {"acceleration": np.zeros(6)})
    with refusal(InputError, "pose_change"):
        derivatives.inverse_dynamics_jvp(robot, one.motion, {"pose": np.zeros(5)})
    A, _ = robot.linearize(motion, on_error="nan")
    found = derivatives.inverse_dynamics_derivatives(robot, motion, on_error="nan")
    for value in (A, found.pose, found.acceleration, found.wrench):
        assert np.isfinite(value).all(axis=(-2, -1)).tolist() == [True, False, True]
        assert np.isnan(value[1]).all()
    weights = np.ones((3, 6 + one.modes))
    weights[2] = np.nan
    with refusal(NotFiniteError, "weights", "sample 2"):
        derivatives.inverse_dynamics_vjp(robot, one.motion, weights)


def test_bad_samples_of_regressors_and_poses_out_of_reach_are_named():
    one = case("UPS", (3,))
    position = one.motion.position.copy()
    position[1] = np.nan
    motion = one.motion.replace(position=position)
    with refusal(NotFiniteError, "position", "sample 1"):
        regressor.regressor(one.robot, motion)
    found = regressor.regressor(one.robot, motion, on_error="nan")
    assert np.isfinite(found).all(axis=(-2, -1)).tolist() == [True, False, True]
    far = case("PUS").motion.replace(position=[0.0, 0.0, 100.0])
    with pytest.raises(ReachError):
        derivatives.linearize(case("PUS").robot, far)


@over("UPS, friction", "flexible UPS, friction", first={"UPS, friction", "flexible UPS, friction"})
def test_friction_that_jumps_has_no_derivative_at_rest(name):
    one = case(name)
    elastic = one.motion.elastic if one.modes else None
    rest = Motion(one.motion.position, one.motion.rotation, elastic=elastic)
    with refusal(SingularError, "leg 1"):
        one.robot.linearize(rest)
    assert np.isnan(one.robot.linearize(rest, on_error="nan").A).all()
    assert np.isfinite(one.robot.linearize(rest, friction=False).A).all()
    if one.modes:
        rest = rest.replace(elastic_velocity=one.motion.elastic_velocity)
        assert np.isfinite(one.robot.linearize(rest).A).all()


def test_smooth_friction_has_a_derivative_at_rest():
    one = case("PUS, smooth friction")
    rest = Motion(one.motion.position, one.motion.rotation)
    assert np.isfinite(one.robot.linearize(rest).A).all()


def test_friction_that_jumps_in_a_joint_of_a_chain_has_no_derivative_at_rest() -> None:
    table, _ = draw("3-RPS", 0)
    joints = [{**joint, "coulomb": 0.0, "width": 0.0} for joint in table["legs"]["joints"][:-1]]
    joints[0]["coulomb"] = 1.0
    table = {**table, "legs": {**table["legs"], "joints": [*joints, table["legs"]["joints"][-1]]}}
    robot = Robot.from_dict(table)
    with pytest.raises(SingularError):
        robot.linearize(robot.home)
    assert np.isfinite(robot.linearize(robot.home, friction=False).A).all()


def test_a_held_platform_has_frequencies_of_its_modes():
    """A Delta with a plate: M q̈ = −K q on what the drives leave free."""
    robot = case(PLATE).robot
    rest = robot.static_deflection(robot.home)
    forces = robot.inverse_dynamics(rest, friction=False).forces
    direct = robot.linearize(rest, forces, friction=False).A[7:, :7]
    moving = [0, 1, 2, 6, 7, 8, 9]
    mass, J = robot.mass_matrix(rest)[np.ix_(moving, moving)], robot.jacobian(rest)[:, moving]
    loose = linalg.null_space(J)
    squares = linalg.eigvals(-loose.T @ mass @ direct @ loose, loose.T @ mass @ loose).real
    hertz = np.sqrt(np.sort(squares)) / (2 * np.pi)
    assert_allclose(robot.natural_frequencies(rest).frequencies, hertz, rtol=1e-5)
    assert hertz[0] > 90
    sag = stiffness(robot, rest, 1e5)
    assert sag.held == 3
    assert np.all(sag.principal()[0] < stiffness(robot.rigid, robot.home, 1e5).principal()[0])
