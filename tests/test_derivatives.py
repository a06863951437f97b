"""Derivatives against complex steps, finite differences and identities; the regressor."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from gough import Motion, Robot
from gough.engine.graph import Graph
from gough.engine.passes.derivative import gradients, substitute, tangents
from gough.engine.program import Step
from gough.engine.run.compiled import CompiledExecutor
from gough.engine.run.evaluate import values_of
from gough.engine.run.execute import NumPyExecutor
from gough.errors import InputError, NotFiniteError, ReachError, SingularError
from gough.mechanics import programs
from gough.mechanics.solves import factor, least_norm
from gough.model import derivative_programs, derivatives
from gough.model.derivative_programs import COORDINATES
from gough.model.execution import fields_of, numpy_executor, robot_numbers, trace
from gough.parameters import regressor
from oracles.random_robot import random_motion, random_robot

SHAPES = [(), (1,), (3, 1, 2), (0,)]
MODELS = ("inverse", "direct")
BY = {
    "inverse": ("pose", "twist", "acceleration", "wrench"),
    "direct": ("pose", "twist", "forces", "wrench"),
}
SMOOTH = {"friction": True, "width": 0.2}
ROBOTS = {
    "UPS": ("UPS", 6, {}),
    "PUS": ("PUS", 6, {}),
    "PUS, 8 legs": ("PUS", 8, {}),
    "UPS, friction": ("UPS", 6, {"friction": True}),
    "PUS, smooth friction": ("PUS", 6, SMOOTH),
    "UPS, 7 legs, smooth friction": ("UPS", 7, SMOOTH),
}
COMPILED = ("UPS",)
"""Robots whose programs are compiled here; NumPy evaluates those of the others, which is faster."""
STEP = 1e-6


class Case:
    """A robot with a state, forces and a wrench; its derivatives when first asked for."""

    def __init__(self, name, shape=(), engine=None):
        kind, legs, options = ROBOTS[name]
        rng = np.random.default_rng([7, legs])
        data = random_robot(rng, kind, legs, **options)
        self.robot = Robot.from_dict(data)
        engine = engine or (CompiledExecutor if name in COMPILED else NumPyExecutor)
        self.robot.__dict__["executor"] = engine(
            self.robot.mechanism, fields_of(self.robot.mechanism)
        )
        self.motion = Motion(**random_motion(rng, data, shape))
        self.wrench = 50 * rng.normal(size=(*shape, 6))
        self.forces = 100 * rng.normal(size=(*shape, legs))
        self.rng, self.name = rng, name
        self._found = {}

    def call(self, what, model, *given, motion=None, forces=None, wrench=None, **options):
        """A function of the model, `what` its ending, at this case's state."""
        function = getattr(derivatives, f"{model}_dynamics_{what}")
        motion = self.motion if motion is None else motion
        first = () if model == "inverse" else (self.forces if forces is None else forces,)
        wrench = self.wrench if wrench is None else wrench
        return function(self.robot, motion, *first, *given, wrench=wrench, **options)

    def slopes(self, model):
        if model not in self._found:
            self._found[model] = self.call("derivatives", model)
        return self._found[model]

    def answer(self, model, motion, forces, wrench):
        if model == "inverse":
            return self.robot.inverse_dynamics(motion, wrench).forces
        found = self.robot.direct_dynamics(motion, forces, wrench)
        return np.concatenate([found.linear, found.angular], axis=-1)


@pytest.fixture(scope="module")
def cases():
    return {name: Case(name) for name in ROBOTS}


each_robot = pytest.mark.parametrize("name", ROBOTS)
each_model = pytest.mark.parametrize("model", MODELS)


def assert_close(actual, expected, relative):
    """Close relative to the largest expected number, of 1e-3 at least."""
    size = max(1e-3, np.max(np.abs(expected), initial=0))
    assert_allclose(actual, expected, rtol=0, atol=relative * size)


def moved(motion, name, change):
    """A motion with its pose, twist or acceleration changed by (..., 6)."""
    linear, angular = COORDINATES[name]
    turned = getattr(motion, angular) + change[..., 3:] if name != "pose" else None
    if name == "pose":
        turn = Rotation.from_rotvec(change[..., 3:].reshape(-1, 3)).as_matrix()
        turned = turn.reshape(*change.shape[:-1], 3, 3) @ motion.rotation
    fields = {linear: getattr(motion, linear) + change[..., :3], angular: turned}
    return motion.replace(**fields)


# The rules


def number(symbols, values):
    """What symbols of inputs ("x", i) are for values x."""
    graph = symbols.flat[0].graph
    steps = [
        Step(*one) for one in zip(graph.operations, graph.arguments, graph.leaves, strict=True)
    ]
    inputs = {leaf[0]: np.asarray(values, dtype=float) for o, _, leaf in steps if o == "input"}
    found = values_of(steps, inputs)
    return np.array([found[symbol.number] for symbol in symbols.flat]).reshape(symbols.shape)


def everything(x):
    """Each operation at least once, nowhere near a kink for x = (0.7, −1.3, 2.1)."""
    a, b, c = x
    outputs = np.empty(6, dtype=object)
    outputs[:] = [
        a * b - b / c + (-a),
        (a * a + b * b).sqrt() * c,
        a.arctan2(b) * a,
        a.copysign(b) * abs(b) + b.copysign(c),
        a.minimum(b) * c + a.maximum(c) * b,
        a / (b * b).or_one() + (a - a * 1.0).or_one(),
    ]
    return outputs


def test_forward_and_reverse_follow_finite_differences():
    graph = Graph()
    x = graph.inputs("x", (3,))
    y = everything(x)
    point = np.array([0.7, -1.3, 2.1])
    one = graph.constant(1.0)
    forward = np.stack([number(tangents(y, {s.number: one}), point) for s in x], axis=1)
    units = graph.constants(np.eye(len(y)))
    reverse = np.stack([number(gradients(y, unit, x), point) for unit in units])
    steps = [1e-6 * unit for unit in np.eye(3)]
    slope = [(number(y, point + step) - number(y, point - step)) / 2e-6 for step in steps]
    assert_allclose(forward, np.stack(slope, axis=1), atol=1e-9)
    assert_allclose(reverse, forward, rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize(
    ("function", "point", "slope"),
    [
        (lambda a, b: (a * a).sqrt(), (0.0, 0.0), (0, 0)),
        (lambda a, b: a / (a * a + b * b).sqrt().or_one(), (0.0, 0.0), (1, 0)),
        (lambda a, b: abs(a), (0.0, 0.0), (1, 0)),
        (lambda a, b: a.copysign(b), (2.0, -0.0), (-1, 0)),
        (lambda a, b: a.copysign(b), (-2.0, -3.0), (1, 0)),
        (lambda a, b: a.minimum(b), (1.0, 2.0), (1, 0)),
        (lambda a, b: a.maximum(b), (1.0, 2.0), (0, 1)),
        (lambda a, b: a.or_one(), (0.0, 0.0), (1, 0)),
    ],
)
def test_subgradients(function, point, slope):
    x = Graph().inputs("x", (2,))
    y = np.array([function(*x)])
    one = np.array([y[0].graph.constant(1.0)])
    assert_allclose(number(gradients(y, one, x), point), slope)
    change = [number(tangents(y, {s.number: one[0]}), point)[0] for s in x]
    assert_allclose(change, slope)


def test_a_tie_takes_one_of_the_two():
    x = Graph().inputs("x", (2,))
    for y in (x[0].minimum(x[1]), x[0].maximum(x[1])):
        one = np.array([y.graph.constant(1.0)])
        assert sorted(number(gradients(np.array([y]), one, x), (1.0, 1.0))) == [0, 1]


def test_stages_make_the_chain_rule():
    graph = Graph()
    x, held = graph.inputs("x", (2,)), graph.inputs("held", (1,))
    inner = np.array([x[0] * x[1]])
    outer = np.array([held[0] * held[0] + x[0]])
    one = graph.constants([1.0])
    slope = substitute(gradients(outer, one, held), held, inner)
    whole = gradients(outer, one, x) + slope * gradients(inner, one, x)
    assert_allclose(number(whole, (2.0, 3.0)), [1 + 2 * 6 * 3, 2 * 6 * 2])


def test_through_a_solve():
    """dx = −J⁻ᵀ dJᵀ x of Jᵀ x = b, through all of the Householder factorisation."""
    graph = Graph()
    symbols = graph.inputs("x", (4, 4))
    matrix, change = np.random.default_rng(0).normal(size=(2, 4, 4))
    right = np.arange(1.0, 5.0)
    solved = least_norm(
        factor(symbols[..., None], np.ones((4, 1))), graph.constants(right)[:, None]
    )
    flat = zip(symbols.flat, np.ravel(change), strict=True)
    seeds = {symbol.number: graph.constant(value) for symbol, value in flat}
    found = number(tangents(solved[:, 0], seeds), np.ravel(matrix))
    x = np.linalg.solve(matrix.T, right)
    assert_allclose(found, np.linalg.solve(matrix.T, -change.T @ x), 1e-11)


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
    assert_close(product, expected, 1e-11)


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
        assert_close(slope, ((ahead - behind) / (2 * STEP)).T, 1e-6)


@pytest.mark.parametrize("near_singular", [False, True])
@pytest.mark.parametrize("kind", ["UPS", "PUS"])
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
        assert_close(getattr(found, key), (ahead - behind) / (2 * step), limit)


@each_model
@pytest.mark.parametrize("name", ["UPS", "PUS, 8 legs", "PUS, smooth friction"])
def test_products_with_vectors_are_those_of_the_matrices(cases, name, model):
    case = cases[name]
    slopes = {key: getattr(case.slopes(model), key) for key in BY[model]}
    changes = {key: case.rng.normal(size=slope.shape[-1]) for key, slope in slopes.items()}
    weights = case.rng.normal(size=slopes["pose"].shape[-2])
    change = case.call("jvp", model, changes)
    assert_close(change, sum(slope @ changes[key] for key, slope in slopes.items()), 1e-11)
    backward = case.call("vjp", model, weights)
    for key, slope in slopes.items():
        assert_close(getattr(backward, key), weights @ slope, 1e-11)
    total = sum(getattr(backward, key) @ changes[key] for key in slopes)
    assert_allclose(weights @ change, total, rtol=1e-9)
    alone = case.call("jvp", model, {"twist": changes["twist"]})
    assert_close(alone, slopes["twist"] @ changes["twist"], 1e-11)


@pytest.mark.parametrize("name", ["UPS", "PUS", "PUS, 8 legs"])
def test_known_matrices(cases, name):
    """∂Γ/∂ξ̇ = (Jᵀ)⁺ M, ∂Γ/∂wrench = −(Jᵀ)⁺, ∂ξ̇/∂Γ = M⁻¹ Jᵀ, ∂ξ̇/∂wrench = M⁻¹."""
    case = cases[name]
    jacobian, mass = case.robot.jacobian(case.motion), case.robot.mass_matrix(case.motion)
    share = np.linalg.pinv(jacobian.T)
    inverse, direct = case.slopes("inverse"), case.slopes("direct")
    assert_close(inverse.acceleration, share @ mass, 1e-11)
    assert_close(inverse.wrench, -share, 1e-11)
    assert_close(direct.forces, np.linalg.solve(mass, jacobian.T), 1e-11)
    assert_close(direct.wrench, np.linalg.inv(mass), 1e-11)


@pytest.mark.parametrize("name", ["UPS", "PUS", "UPS, friction", "PUS, smooth friction"])
def test_direct_derivatives_undo_inverse_ones(cases, name):
    """Γ(x, ξ̇(x, Γ)) = Γ: ∂Γ/∂x + ∂Γ/∂ξ̇ ∂ξ̇/∂x = 0 and ∂Γ/∂ξ̇ ∂ξ̇/∂Γ = 1, with friction too."""
    case = cases[name]
    forces = case.robot.inverse_dynamics(case.motion, case.wrench).forces
    inverse = case.slopes("inverse")
    direct = case.call("derivatives", "direct", forces=forces)
    for key in ("pose", "twist", "wrench"):
        assert_close(inverse.acceleration @ getattr(direct, key), -getattr(inverse, key), 1e-9)
    assert_close(inverse.acceleration @ direct.forces, np.eye(6), 1e-10)


def test_friction_may_be_left_out(cases):
    rubbing, smooth = cases["UPS, friction"], Case("UPS, friction")
    found = rubbing.call("derivatives", "inverse", friction=False)
    jacobian = smooth.robot.jacobian(smooth.motion)
    assert_close(found.wrench, -np.linalg.inv(jacobian.T), 1e-11)
    mass = smooth.robot.mass_matrix(smooth.motion)
    assert_close(found.acceleration, np.linalg.solve(jacobian.T, mass), 1e-11)


# Linearisation


@pytest.mark.parametrize("name", ["UPS", "PUS, 8 legs", "PUS, smooth friction"])
def test_linearized_robot_follows_a_simulated_step(cases, name):
    """Rates of the deviations from a motion that turns, against steps forward and back in time."""
    case = cases[name]
    robot, motion = case.robot, case.motion
    A, B = derivatives.linearize(robot, motion, case.forces, case.wrench)
    size, time = 1e-5, 1e-4

    def stepped(start, forces, h):
        found = robot.direct_dynamics(start, forces, case.wrench)
        turn = start.angular_velocity * h + found.angular * h**2 / 2
        return (
            start.position + start.velocity * h + found.linear * h**2 / 2,
            Rotation.from_rotvec(turn).as_matrix() @ start.rotation,
            start.velocity + found.linear * h,
            start.angular_velocity + found.angular * h,
        )

    def deviation(change, push, h):
        ends = []
        for sign in (1, -1):
            start = moved(motion, "pose", sign * size * change[:6])
            start = moved(start, "twist", sign * size * change[6:])
            ends.append(stepped(start, case.forces + sign * size * push, h))
        (p, R, v, w), (p2, R2, v2, w2) = ends
        turn = Rotation.from_matrix(R @ R2.T).as_rotvec()
        return np.concatenate([p - p2, turn, v - v2, w - w2]) / (2 * size)

    for _ in range(3):
        change = case.rng.normal(size=12)
        push = 100 * case.rng.normal(size=robot.leg_count)
        rate = (deviation(change, push, time) - deviation(change, push, -time)) / (2 * time)
        assert_close(A @ change + B @ push, rate, 1e-5)


def test_linearization_at_the_motions_own_acceleration(cases):
    case = cases["UPS"]
    forces = case.robot.inverse_dynamics(case.motion).forces
    found, given = (
        derivatives.linearize(case.robot, case.motion),
        derivatives.linearize(case.robot, case.motion, forces),
    )
    for one, other in zip(found, given, strict=True):
        assert_close(one, other, 1e-12)
    omega = case.motion.angular_velocity
    assert_allclose(found.A[3:6, 3:6] @ [1.0, 2.0, 3.0], np.cross(omega, [1.0, 2.0, 3.0]))
    assert_allclose(found.A[:6, 6:], np.eye(6))
    assert not found.A[:3, :6].any()
    assert not found.B[:6].any()


# The regressor


@pytest.mark.parametrize("name", ["UPS", "PUS", "PUS, 8 legs", "UPS, friction"])
def test_regressor_times_parameters_is_the_forces(name):
    case = Case(name, shape=(4,))
    found = regressor.regressor(case.robot, case.motion)
    standard = regressor.standard_parameters(case.robot)
    assert found.shape == (4, case.robot.leg_count, len(standard))
    forces = case.robot.inverse_dynamics(case.motion, friction=False).forces
    assert_close(found @ standard, forces, 1e-11)


def test_regressor_does_not_depend_on_the_masses(cases):
    robot = cases["UPS"].robot
    lighter = robot.edited({"platform.mass": 1.0, "legs.rotor_mass": 0.0})
    lighter.__dict__["executor"] = numpy_executor(lighter.mechanism)
    found = [regressor.regressor(one, cases["UPS"].motion) for one in (robot, lighter)]
    assert_close(found[1], found[0], 1e-12)


def test_parameters_have_names(cases):
    robot = cases["PUS"].robot
    named = dict(
        zip(regressor.parameter_names(robot), regressor.standard_parameters(robot), strict=True)
    )
    assert len(named) == 6 * 30 + 6 + 10
    assert named["platform M"] == robot.mechanism.platform.body.mass.item()
    assert named["leg 2 link XY"] == robot.mechanism.legs.link.inertia[0, 1, 1, 0]
    assert named["leg 6 slider MZ"] == robot.mechanism.legs.slider.first_moment[2, 5, 0]
    assert named["leg 3 rotor_mass"] == robot.mechanism.legs.rotor[2, 0]


def test_a_general_hexapod_has_88_base_parameters():
    """Khalil & Guegan 2004: 88 of the 190 parameters of 6 UPS legs and platform, without rotors."""
    case = Case("UPS", shape=(40,))
    found = regressor.regressor(case.robot, case.motion)
    named = zip(regressor.parameter_names(case.robot), np.moveaxis(found, -1, 0), strict=True)
    columns = [column.ravel() for name, column in named if not name.endswith("rotor_mass")]
    assert len(columns) == 190
    used = np.stack([one / np.linalg.norm(one) for one in columns if one.any()])
    sizes = np.linalg.svd(used, compute_uv=False)
    assert sizes[87] > 1e10 * sizes[88]


# Batches, engines, errors


@pytest.mark.parametrize(
    ("name", "model"), [("UPS", "inverse"), ("UPS", "direct"), ("PUS, smooth friction", "inverse")]
)
@pytest.mark.parametrize("shape", SHAPES)
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
    assert_close(change, slopes.pose.sum(axis=-1), 1e-11)
    backward = case.call("vjp", model, np.ones(rows))
    assert_close(backward.twist, slopes.twist.sum(axis=-2), 1e-11)
    for index in list(np.ndindex(*shape))[-1:]:
        single = case.call(
            "derivatives",
            model,
            motion=case.motion[index],
            forces=case.forces[index],
            wrench=case.wrench[index],
        )
        assert_close(single.pose, slopes.pose[index], 1e-11)


@pytest.mark.parametrize("shape", SHAPES)
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
    assert_close(found.pose[0], case.slopes("inverse").pose, 1e-12)
    changes = {"pose": np.eye(6)[:, np.newaxis]}
    change = derivatives.inverse_dynamics_jvp(case.robot, case.motion, changes, wrenches)
    assert_close(np.moveaxis(change, 0, -1), found.pose, 1e-11)


def test_without_llvm(monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    compiled, plain = Case("UPS", (5,)), Case("UPS", (5,))
    del plain.robot.__dict__["executor"]
    assert isinstance(plain.robot.executor, NumPyExecutor)
    assert isinstance(compiled.robot.executor, CompiledExecutor)
    for model in MODELS:
        for key in BY[model]:
            found, expected = (getattr(one.slopes(model), key) for one in (compiled, plain))
            assert_close(found, expected, 1e-11)
    found, expected = (regressor.regressor(one.robot, one.motion) for one in (compiled, plain))
    assert_close(found, expected, 1e-12)


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
        assert_close(found[key], value, 1e-12)


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
