"""Derivatives of flexible robots: rules over modes, finite differences, the energy model."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

from cases.closeness import assert_near
from cases.common import each_shape
from cases.derivatives import FLEXIBLE, MODELS, FlexibleCase, moved
from gough import Motion, load
from gough.analysis.stiffness import stiffness
from gough.engine.graph import Graph
from gough.engine.passes.derivative import gradients, substitute, tangents
from gough.engine.program import assemble
from gough.engine.run.compiled import CompiledExecutor
from gough.engine.run.evaluate import values_of
from gough.errors import InputError, NotFiniteError, SingularError
from oracles.flexible_energy import (
    FlexibleEnergy,
    cayley,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::gough.errors.ModalBodyWarning"),
    pytest.mark.filterwarnings("ignore:.*Swig.*:DeprecationWarning"),
]
BY = {
    "inverse": ("pose", "twist", "acceleration", "wrench", "elastic", "elastic_velocity"),
    "direct": ("pose", "twist", "forces", "wrench", "elastic", "elastic_velocity"),
}
STEPS = {"wrench": 1e-1, "forces": 1e-1, "acceleration": 1e-3}
"""Of central differences; 1e-6 where nothing is said."""


@pytest.fixture(scope="module")
def cases():
    return {name: FlexibleCase(name) for name in FLEXIBLE}


each_robot = pytest.mark.parametrize("name", FLEXIBLE)
each_model = pytest.mark.parametrize("model", MODELS)


# The rules


MODES = 4


class OverModes:
    """A random program of shared values and values of modes, with sums and couplings of all of them."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.graph = graph = Graph(MODES)
        self.fields = {"a": (2,), "elastic": (MODES,), "elastic_velocity": (MODES,)}
        self.inputs = [*graph.inputs("a", (2,)), *(graph.mode(name) for name in MODE_NAMES)]
        nodes = [*self.inputs, graph.table(0), graph.constant(0.5)]
        for _ in range(14):
            first, second = (nodes[i] for i in rng.integers(len(nodes), size=2))
            nodes.append(
                [
                    lambda a, b: a + b,
                    lambda a, b: a * b,
                    lambda a, b: a / (b * b + 1.0),
                    lambda a, b: (a * a + b * b + 1.0).sqrt(),
                    lambda a, b: a.over_modes() - b,
                    lambda a, b: a.coupled_by(int(rng.integers(-2, 2))) + b,
                ][rng.integers(6)](first, second)
            )
        one = nodes[-1] + nodes[-2]
        self.outputs = np.array([one.over_modes(), nodes[-3] + 0 * self.inputs[2]], dtype=object)
        self.tables = rng.uniform(-1, 1, (1, MODES))
        some = rng.uniform(-1, 1, (2, MODES, MODES))
        self.matrices = np.concatenate([some, np.swapaxes(some, 1, 2)[::-1]])
        self.rng = rng

    def number(self, outputs, values, **seeds):
        """Outputs, those of modes (modes,), for values of the inputs' fields."""
        named = {str(i): np.array([one]) for i, one in enumerate(outputs)}
        fields = self.fields | {name: np.shape(value) for name, value in seeds.items()}
        program = assemble(self.graph, named, fields, MODES)
        given = {name: np.reshape(value, (-1, 1)) for name, value in (values | seeds).items()}
        tables, matrices = self.tables[list(program.tables)], self.matrices[list(program.matrices)]
        assert program.prologue == () or program.hoisted == ()
        found = values_of(program.body, given, tables[..., np.newaxis], matrices[..., np.newaxis])
        sizes = (MODES if output.varying else 1 for output in program.outputs.values())
        places = (output.places[0] for output in program.outputs.values())
        pairs = zip(places, sizes, strict=True)
        return [np.broadcast_to(np.ravel(found[place]), (size,)) for place, size in pairs]

    def some(self):
        return {name: self.rng.uniform(-1, 1, shape) for name, shape in self.fields.items()}


MODE_NAMES = ("elastic", "elastic_velocity")


@pytest.mark.parametrize("seed", range(40))
def test_sums_and_couplings_of_modes(seed):
    """Forward follows finite differences, and w·(J s) = (Jᵀ w)·s for reverse."""
    case = OverModes(seed)
    graph, x, change = case.graph, case.some(), case.some()
    seeds = [*graph.inputs("da", (2,)), graph.mode("elastic_d0"), graph.mode("elastic_d1")]
    parts = dict(zip(("da", "elastic_d0", "elastic_d1"), change.values(), strict=True))
    pairs = zip(case.inputs, seeds, strict=True)
    moved = tangents(case.outputs, {one.number: seed for one, seed in pairs})
    forward = case.number(moved, x, **parts)
    ahead, back = (
        case.number(case.outputs, {name: x[name] + step * change[name] for name in x})
        for step in (1e-6, -1e-6)
    )
    for found, high, low in zip(forward, ahead, back, strict=True):
        expected = (high - low) / 2e-6
        assert_near(np.broadcast_to(found, expected.shape), expected, 1e-8)
    weights = [graph.input("w", 0), graph.mode("elastic_w")]
    given = {"w": case.rng.normal(size=1), "elastic_w": case.rng.normal(size=MODES)}
    if not graph.varying[case.outputs[1].number]:
        weights[1], given["elastic_w"] = weights[1].over_modes(), given["elastic_w"]
    back = case.number(
        gradients(case.outputs, np.array(weights), np.array(case.inputs)), x, **given
    )
    pulled = [back[0] * change["a"][0], back[1] * change["a"][1]]
    pulled += [one * change[name] for one, name in zip(back[2:], MODE_NAMES, strict=True)]
    pushed = np.sum(given["w"] * forward[0]) + np.sum(given["elastic_w"] * forward[1])
    size = sum(np.abs(one).sum() for one in pulled)
    assert pushed == pytest.approx(sum(np.sum(one) for one in pulled), abs=1e-12 * max(size, 1))


def test_stages_over_modes():
    """d/dx of Σ_k (C h)_k² with h = x² put in after differentiation."""
    graph = Graph(MODES)
    x, held = graph.mode("elastic"), graph.mode("elastic_held")
    coupling = held.coupled_by(1)
    outer = np.array([(coupling * coupling).over_modes()])
    slope = gradients(outer, graph.constants([1.0]), np.array([held]))
    (put_in,) = substitute(slope, np.array([held]), np.array([x * x]))
    case = OverModes(0)
    case.graph = graph
    values = case.some()
    (found,) = case.number([put_in * x * 2.0], values)
    C, q = case.matrices[1], values["elastic"]
    assert_allclose(found, 2 * C.T @ (C @ q**2) * 2 * q, rtol=1e-13)


# The models


@each_model
@each_robot
def test_derivatives_follow_finite_differences(cases, name, model):
    case = cases[name]
    for key in BY[model]:
        slope, step = getattr(case.slopes(model), key), STEPS.get(key, 1e-6)
        count = slope.shape[-1]
        steps = step * np.concatenate([np.eye(count), -np.eye(count)])
        motion = Motion.stack([case.motion] * len(steps))
        forces, wrench = case.forces, case.wrench
        if key == "forces":
            forces = forces + steps
        elif key == "wrench":
            wrench = wrench + steps
        else:
            motion = moved(motion, key, steps)
        ahead, behind = np.split(case.answer(model, motion, forces, wrench), 2)
        assert_near(slope, ((ahead - behind) / (2 * step)).T, 1e-6)


def energy_slopes(case, forces, rate):
    """∂(M ξ̇ + b − Jᵀ Γ − (f, m, φ)) of the energy model by all it depends on, by machine."""
    oracle, modes = FlexibleEnergy(case.table, case.body), case.modes
    sizes = {"pose": 6, "elastic": modes, "twist": 6, "elastic_velocity": modes, "wrench": 6}
    sizes |= {"acceleration": 6, "elastic_acceleration": modes, "forces": len(forces)}
    given = {name: ca.MX.sym(name, size) for name, size in sizes.items()}
    turned = cayley(given["pose"][3:]) @ ca.DM(case.state["rotation"])
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
    by = ca.Function("slopes", symbols, [left, *(ca.jacobian(left, one) for one in symbols)])
    state = case.state
    values = {
        "pose": [*state["position"], 0, 0, 0],
        "elastic": state["elastic"],
        "twist": [*state["velocity"], *state["angular_velocity"]],
        "elastic_velocity": state["elastic_velocity"],
        "wrench": case.wrench,
        "acceleration": rate[:6],
        "elastic_acceleration": rate[6:],
        "forces": forces,
    }
    left, *slopes = (one.full() for one in by(*values.values()))
    assert_near(left[:, 0], np.zeros(len(left)), 1e-6)
    return dict(zip(given, slopes, strict=True))


@pytest.mark.parametrize("name", ["UPS", "PUS", "UPS, plate"])
def test_derivatives_are_those_of_the_energy_model(cases, name):
    """dΓ, dq̈e and dξ̇ from derivatives of an energy model that CasADi differentiates: exact."""
    case = cases[name]
    found = case.robot.inverse_dynamics(case.motion, case.wrench)
    rate = [case.motion.acceleration, case.motion.angular_acceleration, found.elastic_acceleration]
    slopes = energy_slopes(case, found.forces, np.concatenate(rate))
    solved = np.concatenate([slopes["forces"], slopes["elastic_acceleration"]], axis=1)
    inverse = case.slopes("inverse")
    for key in BY["inverse"]:
        assert_near(getattr(inverse, key), -np.linalg.solve(solved, slopes[key]), 1e-9)
    direct = case.call("derivatives", "direct", forces=found.forces)
    solved = np.concatenate([slopes["acceleration"], slopes["elastic_acceleration"]], axis=1)
    for key in BY["direct"]:
        assert_near(getattr(direct, key), -np.linalg.solve(solved, slopes[key]), 1e-9)


@pytest.mark.parametrize("name", [name for name in FLEXIBLE if FLEXIBLE[name][1] == 6])
def test_direct_derivatives_undo_inverse_ones(cases, name):
    """Γ(x, ẍ(x, Γ)) = Γ: ∂Γ/∂x + ∂Γ/∂ẍ ∂ẍ/∂x = 0, ∂Γ/∂ẍ ∂ẍ/∂Γ = 1, with friction too."""
    case = cases[name]
    forces = case.robot.inverse_dynamics(case.motion, case.wrench).forces
    inverse, direct = case.slopes("inverse"), case.call("derivatives", "direct", forces=forces)
    for key in ("pose", "twist", "wrench", "elastic", "elastic_velocity"):
        through = inverse.acceleration @ getattr(direct, key)[:6] + getattr(inverse, key)
        expected = np.concatenate([np.zeros((6, through.shape[1])), getattr(direct, key)[6:]])
        size = np.abs(getattr(inverse, key)).max()
        assert_allclose(through, expected, rtol=0, atol=1e-9 * size)
    assert_near((inverse.acceleration @ direct.forces[:6])[:6], np.eye(6), 1e-9)


@each_model
@pytest.mark.parametrize("name", ["UPS", "PUS, smooth friction"])
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


@pytest.mark.parametrize("name", ["UPS", "PUS", "PUS, smooth friction"])
def test_linearization_follows_direct_dynamics(cases, name):
    """A and B against finite differences of the compiled model in all of x = (pose, qe; rates)."""
    case, size = cases[name], 6 + cases[name].modes
    A, B = case.robot.linearize(case.motion, case.forces, case.wrench)
    assert A.shape == (2 * size, 2 * size)
    assert B.shape == (2 * size, 6)
    states = {"pose": 0, "elastic": 6, "twist": size, "elastic_velocity": size + 6}
    for key, start in states.items():
        width = case.modes if key.startswith("elastic") else 6
        steps = 1e-6 * np.concatenate([np.eye(width), -np.eye(width)])
        motion = moved(Motion.stack([case.motion] * len(steps)), key, steps)
        answers = case.answer("direct", motion, case.forces, case.wrench)
        ahead, behind = np.split(answers, 2)
        assert_near(A[size:, start : start + width], ((ahead - behind) / 2e-6).T, 1e-6)
    assert_allclose(A[:size, size:], np.eye(size))
    assert_allclose(A[3:6, 3:6] @ [1, 2, 3], np.cross(case.motion.angular_velocity, [1, 2, 3]))
    assert_allclose(B[size:], case.slopes("direct").forces)


def test_friction_may_be_left_out(cases):
    case = cases["UPS, friction"]
    direct = case.slopes("direct", friction=False)
    mass, jacobian = (
        getattr(case.robot, name)(case.motion) for name in ("mass_matrix", "jacobian")
    )
    assert_near(direct.forces, np.linalg.solve(mass, jacobian.T), 1e-10)


# Batches, engines, errors


@each_shape
@each_model
def test_batches(shape, model):
    case = FlexibleCase("PUS, smooth friction", shape)
    slopes = case.slopes(model)
    rows = 6 + case.modes
    for key in BY[model]:
        width = case.modes if key.startswith("elastic") else 6
        assert getattr(slopes, key).shape == (*shape, rows, width)
    assert case.call("jvp", model, {"elastic": np.ones(case.modes)}).shape == (*shape, rows)
    A, B = case.robot.linearize(case.motion)
    assert A.shape == (*shape, 2 * rows, 2 * rows)
    assert B.shape == (*shape, 2 * rows, 6)
    for index in list(np.ndindex(*shape))[-1:]:
        one = FlexibleCase("PUS, smooth friction")
        one.motion, one.wrench, one.forces = (
            case.motion[index],
            case.wrench[index],
            case.forces[index],
        )
        assert_near(one.slopes(model).pose, slopes.pose[index], 1e-10)


@pytest.mark.parametrize("name", ["UPS", "PUS, 8 legs"])
def test_compiled_and_plain(cases, name):
    compiled = FlexibleCase(name, engine=CompiledExecutor)
    for model in MODELS:
        for key in BY[model]:
            found, expected = (getattr(one.slopes(model), key) for one in (compiled, cases[name]))
            assert_near(found, expected, 1e-10)


def test_bad_samples_are_named():
    case = FlexibleCase("UPS", (3,))
    velocity = np.stack([case.state["elastic_velocity"]] * 3)
    velocity[1] = np.nan
    motion = case.motion.replace(elastic_velocity=velocity)
    with pytest.raises(NotFiniteError, match="sample 1: elastic_velocity is not finite"):
        case.robot.linearize(motion)
    A, _ = case.robot.linearize(motion, on_error="nan")
    assert np.isfinite(A).all(axis=(-2, -1)).tolist() == [True, False, True]
    with pytest.raises(InputError, match="no change of 'acceleration'"):
        case.call("jvp", "direct", {"acceleration": np.zeros(6)})


def test_friction_that_jumps_has_no_derivative_at_rest(cases):
    case = cases["UPS, friction"]
    rest = Motion(case.motion.position, case.motion.rotation, elastic=case.state["elastic"])
    with pytest.raises(SingularError, match="leg 1: friction without width has no derivative"):
        case.robot.linearize(rest)
    moving = rest.replace(elastic_velocity=case.state["elastic_velocity"])
    assert np.isfinite(case.robot.linearize(moving).A).all()


def test_a_held_platform_has_its_modes_in_their_own_rows(on_numpy):
    """A Delta with a plate: μ, which also is unknown, comes behind q̈e; so do natural frequencies."""
    plate = {"radius": 0.1625, "sides": 6, "thickness": 0.006, "density": 2700.0, "young": 7e10}
    plate |= {"poisson": 0.3, "modes": 4, "damping_ratio": 0.02}
    robot = load("alikoc-delta-2023").edited(
        {"platform": {"mobility": "translation", "plate": plate}}
    )
    rest = robot.static_deflection(robot.home)
    forces = robot.inverse_dynamics(rest, friction=False).forces
    near = robot.linearize(rest, forces, friction=False).A[7:, :7]
    inverse = robot.inverse_dynamics_derivatives(rest, friction=False).elastic

    def moved(by):
        return Motion(rest.position + by[:, :3], elastic=rest.elastic + by[:, 3:])

    def accelerations(motion):
        found = robot.direct_dynamics(motion, forces, friction=False)
        return np.concatenate([found.linear, found.elastic], axis=1).T

    def needed(motion):
        found = robot.inverse_dynamics(motion, friction=False)
        return np.concatenate([found.forces, found.elastic_acceleration], axis=1).T

    small = 1e-7 * np.eye(7)
    direct = (accelerations(moved(small)) - accelerations(moved(-small))) / 2e-7
    asked = (needed(moved(small[3:])) - needed(moved(-small[3:]))) / 2e-7
    np.testing.assert_allclose(near, direct, atol=1e-6 * np.abs(direct).max())
    np.testing.assert_allclose(inverse, asked, atol=1e-6 * np.abs(asked).max())
    mass = robot.mass_matrix(rest)[np.ix_([0, 1, 2, 6, 7, 8, 9], [0, 1, 2, 6, 7, 8, 9])]
    J = robot.jacobian(rest)[:, [0, 1, 2, 6, 7, 8, 9]]
    loose = linalg.null_space(J)
    squares = linalg.eigvals(-loose.T @ mass @ direct @ loose, loose.T @ mass @ loose).real
    hertz = np.sqrt(np.sort(squares)) / (2 * np.pi)
    np.testing.assert_allclose(robot.natural_frequencies(rest).frequencies, hertz, rtol=1e-5)
    assert hertz[0] > 90
    sag = stiffness(robot, rest, 1e5)
    assert sag.held == 3
    assert np.all(sag.principal()[0] < stiffness(robot.rigid, robot.home, 1e5).principal()[0])
