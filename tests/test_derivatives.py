"""Derivatives against complex steps, finite differences and identities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cases.closeness import assert_near
from cases.common import each_kind, each_shape
from cases.derivatives import MODELS, ROBOTS, Case, moved
from gough import Motion, Robot
from gough.engine.run.compiled import CompiledExecutor
from gough.engine.run.execute import NumPyExecutor
from gough.errors import InputError, NotFiniteError, ReachError, SingularError
from gough.mechanics import programs
from gough.model import derivative_programs, derivatives
from gough.model.derivative_programs import COORDINATES
from gough.model.execution import fields_of, numpy_executor, robot_numbers, trace
from gough.parameters import regressor
from oracles.random_robot import random_motion, random_robot

BY = {
    "inverse": ("pose", "twist", "acceleration", "wrench"),
    "direct": ("pose", "twist", "forces", "wrench"),
}
STEP = 1e-6


each_robot = pytest.mark.parametrize("name", ROBOTS)
each_model = pytest.mark.parametrize("model", MODELS)


# The models


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
@pytest.mark.parametrize("name", ["UPS", "PUS, 8 legs", "PUS, smooth friction"])
def test_derivatives_follow_complex_steps(cases, name, model):
    case = cases[name]
    robot, rng = case.robot, np.random.default_rng(1)
    changes = {key: rng.normal(size=6) for key in BY[model]}
    fields = {field: getattr(case.motion, field) for pair in COORDINATES.values() for field in pair}
    fields["wrench"] = case.wrench
    direction = {"wrench": changes["wrench"]}
    if model == "direct":
        changes["forces"] = rng.normal(size=robot.leg_count)
        fields["forces"], direction["forces"] = case.forces, changes["forces"]
    if not robot.mechanism.legs.friction.none:
        fields["loads"] = np.zeros((3, robot.leg_count))
    for key, (linear, angular) in COORDINATES.items():
        if key in changes:
            direction[linear], direction[angular] = changes[key][:3], changes[key][3:]
    turn = np.cross(changes["pose"][3:], case.motion.rotation.T).T
    direction["rotation"] = turn
    function = programs.inverse_dynamics if model == "inverse" else programs.direct_dynamics
    found = complex_step(function, robot, fields, direction)
    parts = ("forces",) if model == "inverse" else ("linear", "angular")
    expected = np.concatenate([found[part] for part in parts])
    slopes = case.slopes(model)
    product = sum(getattr(slopes, key) @ change for key, change in changes.items())
    assert_near(product, expected, 1e-11)


@each_model
@each_robot
def test_derivatives_follow_finite_differences(cases, name, model):
    case = cases[name]
    for key in BY[model]:
        slope = getattr(case.slopes(model), key)
        steps = STEP * np.concatenate([np.eye(slope.shape[-1]), -np.eye(slope.shape[-1])])
        motion, forces, wrench = Motion.stack([case.motion] * len(steps)), case.forces, case.wrench
        if key in COORDINATES:
            motion = moved(motion, key, steps)
        elif key == "forces":
            forces = forces + steps
        else:
            wrench = wrench + steps
        answers = case.answer(model, motion, forces, wrench)
        ahead, behind = np.split(answers, 2)
        assert_near(slope, ((ahead - behind) / (2 * STEP)).T, 1e-6)


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


@each_model
@pytest.mark.parametrize("name", ["UPS", "PUS, 8 legs", "PUS, smooth friction"])
def test_products_with_vectors_are_those_of_the_matrices(cases, name, model):
    case = cases[name]
    slopes = {key: getattr(case.slopes(model), key) for key in BY[model]}
    changes = {key: case.rng.normal(size=slope.shape[-1]) for key, slope in slopes.items()}
    weights = case.rng.normal(size=slopes["pose"].shape[-2])
    change = case.call("jvp", model, changes)
    assert_near(change, sum(slope @ changes[key] for key, slope in slopes.items()), 1e-11)
    backward = case.call("vjp", model, weights)
    for key, slope in slopes.items():
        assert_near(getattr(backward, key), weights @ slope, 1e-11)
    total = sum(getattr(backward, key) @ changes[key] for key in slopes)
    assert_allclose(weights @ change, total, rtol=1e-9)
    alone = case.call("jvp", model, {"twist": changes["twist"]})
    assert_near(alone, slopes["twist"] @ changes["twist"], 1e-11)


@pytest.mark.parametrize("name", ["UPS", "PUS", "PUS, 8 legs"])
def test_known_matrices(cases, name):
    """∂Γ/∂ξ̇ = (Jᵀ)⁺ M, ∂Γ/∂wrench = −(Jᵀ)⁺, ∂ξ̇/∂Γ = M⁻¹ Jᵀ, ∂ξ̇/∂wrench = M⁻¹."""
    case = cases[name]
    jacobian, mass = case.robot.jacobian(case.motion), case.robot.mass_matrix(case.motion)
    share = np.linalg.pinv(jacobian.T)
    inverse, direct = case.slopes("inverse"), case.slopes("direct")
    assert_near(inverse.acceleration, share @ mass, 1e-11)
    assert_near(inverse.wrench, -share, 1e-11)
    assert_near(direct.forces, np.linalg.solve(mass, jacobian.T), 1e-11)
    assert_near(direct.wrench, np.linalg.inv(mass), 1e-11)


@pytest.mark.parametrize("name", ["UPS", "PUS", "UPS, friction", "PUS, smooth friction"])
def test_direct_derivatives_undo_inverse_ones(cases, name):
    """Γ(x, ξ̇(x, Γ)) = Γ: ∂Γ/∂x + ∂Γ/∂ξ̇ ∂ξ̇/∂x = 0 and ∂Γ/∂ξ̇ ∂ξ̇/∂Γ = 1, with friction too."""
    case = cases[name]
    forces = case.robot.inverse_dynamics(case.motion, case.wrench).forces
    inverse = case.slopes("inverse")
    direct = case.call("derivatives", "direct", forces=forces)
    for key in ("pose", "twist", "wrench"):
        assert_near(inverse.acceleration @ getattr(direct, key), -getattr(inverse, key), 1e-9)
    assert_near(inverse.acceleration @ direct.forces, np.eye(6), 1e-10)


def test_friction_may_be_left_out(cases):
    rubbing, smooth = cases["UPS, friction"], Case("UPS, friction")
    found = rubbing.call("derivatives", "inverse", friction=False)
    jacobian = smooth.robot.jacobian(smooth.motion)
    assert_near(found.wrench, -np.linalg.inv(jacobian.T), 1e-11)
    mass = smooth.robot.mass_matrix(smooth.motion)
    assert_near(found.acceleration, np.linalg.solve(jacobian.T, mass), 1e-11)


# Batches, engines, errors


@pytest.mark.parametrize(
    ("name", "model"), [("UPS", "inverse"), ("UPS", "direct"), ("PUS, smooth friction", "inverse")]
)
@each_shape
def test_batches(name, shape, model):
    case = Case(name, shape)
    slopes = case.slopes(model)
    legs = case.robot.leg_count
    rows = legs if model == "inverse" else 6
    for key in BY[model]:
        width = legs if key == "forces" else 6
        assert getattr(slopes, key).shape == (*shape, rows, width)
    change = case.call("jvp", model, {"pose": np.ones(6)})
    assert change.shape == (*shape, rows)
    assert_near(change, slopes.pose.sum(axis=-1), 1e-11)
    backward = case.call("vjp", model, np.ones(rows))
    assert_near(backward.twist, slopes.twist.sum(axis=-2), 1e-11)
    for index in list(np.ndindex(*shape))[-1:]:
        single = case.call(
            "derivatives",
            model,
            motion=case.motion[index],
            forces=case.forces[index],
            wrench=case.wrench[index],
        )
        assert_near(single.pose, slopes.pose[index], 1e-11)


@each_shape
def test_batches_of_matrices(shape):
    case = Case("UPS", shape)
    A, B = derivatives.linearize(case.robot, case.motion)
    assert A.shape == (*shape, 12, 12)
    assert B.shape == (*shape, 12, 6)
    assert regressor.regressor(case.robot, case.motion).shape == (*shape, 6, 196)


def test_inputs_broadcast(cases):
    case = cases["UPS"]
    wrenches = np.stack([case.wrench, 0 * case.wrench])
    found = derivatives.inverse_dynamics_derivatives(case.robot, case.motion, wrenches)
    assert_near(found.pose[0], case.slopes("inverse").pose, 1e-12)
    changes = {"pose": np.eye(6)[:, np.newaxis]}
    change = derivatives.inverse_dynamics_jvp(case.robot, case.motion, changes, wrenches)
    assert_near(np.moveaxis(change, 0, -1), found.pose, 1e-11)


def test_without_llvm(monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    compiled, plain = Case("UPS", (5,)), Case("UPS", (5,))
    del plain.robot.__dict__["executor"]
    assert isinstance(plain.robot.executor, NumPyExecutor)
    assert isinstance(compiled.robot.executor, CompiledExecutor)
    for model in MODELS:
        for key in BY[model]:
            found, expected = (getattr(one.slopes(model), key) for one in (compiled, plain))
            assert_near(found, expected, 1e-11)
    found, expected = (regressor.regressor(one.robot, one.motion) for one in (compiled, plain))
    assert_near(found, expected, 1e-12)


def test_friction_without_llvm():
    case = Case("UPS, friction", (5,))
    fields = {field: getattr(case.motion, field) for pair in COORDINATES.values() for field in pair}
    fields["forces"] = case.forces
    for key, shape in {
        "wrench": (6,),
        "loads": (3, 6),
        "weights": (30,),
        "multipliers": (6,),
    }.items():
        fields[key] = case.rng.uniform(1.0, 2.0, (5, *shape))
    machine = case.robot.mechanism
    found, expected = (
        engine(machine, fields_of(machine))(derivative_programs.balance_reverse, 5, fields)
        for engine in (CompiledExecutor, NumPyExecutor)
    )
    assert set(found) == {*COORDINATES, "forces", "wrench", "loads", "multipliers"}
    for key, value in expected.items():
        assert_near(found[key], value, 1e-12)


def test_bad_samples_are_named(cases):
    case = Case("UPS", (3,))
    robot = case.robot
    position = case.motion.position.copy()
    position[1] = np.nan
    motion = case.motion.replace(position=position)
    for call in (derivatives.linearize, regressor.regressor):
        with pytest.raises(NotFiniteError, match="sample 1: position is not finite"):
            call(robot, motion)
    A, _ = derivatives.linearize(robot, motion, on_error="nan")
    W = regressor.regressor(robot, motion, on_error="nan")
    found = derivatives.inverse_dynamics_derivatives(robot, motion, on_error="nan")
    for value in (A, W, found.pose, found.acceleration, found.wrench):
        good = np.isfinite(value).all(axis=(-2, -1))
        assert good.tolist() == [True, False, True]
        assert np.isnan(value[1]).all()
    with pytest.raises(NotFiniteError, match="sample 2: weights is not finite"):
        derivatives.inverse_dynamics_vjp(robot, case.motion, [[1.0] * 6, [1.0] * 6, [np.nan] * 6])
    far = cases["PUS"].motion.replace(position=[0.0, 0.0, 100.0])
    with pytest.raises(ReachError):
        derivatives.linearize(cases["PUS"].robot, far)
    with pytest.raises(InputError, match="no change of 'forces'"):
        derivatives.inverse_dynamics_jvp(robot, case.motion, {"forces": np.zeros(6)})
    with pytest.raises(InputError, match="pose_change has shape"):
        derivatives.inverse_dynamics_jvp(robot, case.motion, {"pose": np.zeros(5)})


def test_friction_that_jumps_has_no_derivative_at_rest(cases):
    case = cases["UPS, friction"]
    rest = Motion(case.motion.position, case.motion.rotation)
    with pytest.raises(SingularError, match="leg 1: friction without width has no derivative"):
        derivatives.linearize(case.robot, rest)
    assert np.isnan(derivatives.linearize(case.robot, rest, on_error="nan").A).all()
    assert np.isfinite(derivatives.linearize(case.robot, rest, friction=False).A).all()
    smooth = cases["PUS, smooth friction"]
    rest = Motion(smooth.motion.position, smooth.motion.rotation)
    assert np.isfinite(derivatives.linearize(smooth.robot, rest).A).all()
