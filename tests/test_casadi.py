"""CasADi functions: the robot's answers, and derivatives that agree with finite differences."""

import importlib

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import gough
from cases.common import WITH_MASSES
from cases.errors import refusal
from cases.robots import ROTARY, with_masses
from gough import Motion, Robot
from gough.errors import GoughError, InputError, MissingDataError
from gough.exchange.casadi import to_casadi
from gough.exchange.programs import CLOSING, PROGRAMS
from gough.mechanics.state import RIGID_FIELDS
from gough.model.execution import numpy_executor
from oracles.random_robot import random_motion, random_robot

pytestmark = pytest.mark.filterwarnings(
    "ignore::gough.errors.ImpossibleBodyWarning",
    "ignore:.*Swig.*:DeprecationWarning",  # casadi on Python 3.12 and later
)


def test_without_casadi_the_error_names_the_extra(monkeypatch):
    def no_casadi(name, *rest, imported=importlib.import_module):
        if name == "casadi":
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(importlib, "import_module", no_casadi)
    assert issubclass(MissingDataError, GoughError)
    with refusal(MissingDataError, "gough[casadi]"):
        to_casadi(gough.load("kim-ryu-2002"), "inverse_dynamics")


@pytest.fixture(scope="module")
def casadi():
    return pytest.importorskip("casadi", reason="casadi is not installed (extra casadi)")


def states(robot, count=3):
    draws = np.random.default_rng(7).uniform(-1, 1, (6, count, 3))
    motion = Motion(
        robot.home.position + 0.2 * robot.length_scale * draws[0],
        Rotation.from_rotvec(0.2 * draws[1]).as_matrix() @ robot.home.rotation,
        *draws[2:],
    )
    return motion, [{f: getattr(motion[i], f) for f in RIGID_FIELDS} for i in range(count)]


def inputs_of(function, robot, rng):
    """Further inputs of a function by name."""
    sizes = {"wrench": (6,), "forces": (robot.leg_count,), "preload": (robot.leg_count,)}
    names = [function.name_in(i) for i in range(function.n_in())]
    found = {name: 50 * rng.normal(size=sizes[name]) for name in names if name in sizes}
    return found | ({"q": robot.inverse_kinematics(robot.home).q} if "q" in names else {})


def call(function, state, inputs):
    """Outputs by name, as arrays in gough's shapes (vectors are columns)."""
    return {name: np.array(value) for name, value in function.call({**state, **inputs}).items()}


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("name", [*WITH_MASSES, ROTARY])
@pytest.mark.parametrize("program", sorted(PROGRAMS.keys() - CLOSING.keys()))
def test_answers_as_the_robot_does(casadi, name, program):
    robot = with_masses(name)
    function = to_casadi(robot, program)
    assert function.name() == program
    motion, several = states(robot)
    condition = max(10, np.max(robot.condition_number(motion)))
    rng = np.random.default_rng(3)
    for i, state in enumerate(several):
        inputs = inputs_of(function, robot, rng)
        found = call(function, state, inputs)
        fields = {f: value[np.newaxis] for f, value in {**state, **inputs}.items()}
        expected = numpy_executor(robot.mechanism)(PROGRAMS[program], 1, fields)
        assert function.name_out() == list(expected)
        largest = max(np.max(np.abs(value)) for value in expected.values())
        for key, value in expected.items():
            assert found[key].shape == (*value.shape[1:], 1, 1)[:2], key
            scale = max(np.max(np.abs(value)), 0.01 * largest)
            shaped = found[key].reshape(value.shape)
            assert_allclose(shaped, value, rtol=0, atol=1e-12 * condition * scale, err_msg=key)
        if program == "inverse_dynamics":
            forces = robot.inverse_dynamics(motion[i], inputs["wrench"], friction=False).forces
            assert_allclose(found["forces"][:, 0], forces, rtol=1e-12 * condition)


@pytest.mark.parametrize("name", ["kim-ryu-2002", ROTARY])
@pytest.mark.parametrize("program", ["inverse_dynamics", "direct_dynamics"])
def test_derivatives_agree_with_finite_differences(casadi, program, name):
    robot = with_masses(name)
    function = to_casadi(robot, program)
    derivative = function.jacobian()
    _, (state, *_) = states(robot)
    given = {**state, **inputs_of(function, robot, np.random.default_rng(3))}
    wanted = "forces" if program == "inverse_dynamics" else "angular"
    found = derivative.call(given | {f"out_{n}": 0 for n in function.name_out()})
    for name, value in given.items():
        if program == "direct_dynamics" and name.endswith("acceleration"):
            assert np.all(np.array(casadi.DM(found[f"jac_{wanted}_{name}"])) == 0)
            continue
        columns = []
        for place in range(value.size):
            step = np.zeros(value.size)
            step[place] = 1e-4 * max(1, np.max(np.abs(value)))
            step = step.reshape(value.shape, order="F")  # casadi's order of elements
            more, high, low, less = (
                call(function, given | {name: value + s * step}, {})[wanted][:, 0]
                for s in (2, 1, -1, -2)
            )
            columns.append((8 * (high - low) - (more - less)) / (12 * step.max()))  # fourth order
        expected = np.stack(columns, axis=1)
        jacobian = np.array(casadi.DM(found[f"jac_{wanted}_{name}"]))
        scale = np.max(np.abs(expected))
        assert scale > 0
        assert_allclose(jacobian, expected, rtol=0, atol=1e-7 * scale, err_msg=name)


def test_under_loads_the_loads_caused_come_back(casadi):
    robot = gough.load("kim-ryu-2002")
    function = to_casadi(robot, "inverse_dynamics", loads=True)
    motion, (state, *_) = states(robot)
    loads = np.zeros((3, 6))
    for _ in range(30):
        found = call(function, {**state, "wrench": np.zeros(6)}, {"loads": loads})
        loads = found["caused"]
    assert found["vectors"].shape == (8, 6)
    reactions = robot.reactions(motion[0])
    assert_allclose(loads[1], np.linalg.norm(reactions.spherical, axis=-1), rtol=1e-11)
    assert_allclose(found["forces"][:, 0], robot.inverse_dynamics(motion[0]).forces, rtol=1e-11)


def test_eight_legs_take_a_preload(casadi):
    rng = np.random.default_rng(5)
    data = random_robot(rng, "UPS", 8)
    robot, state = Robot.from_dict(data), random_motion(rng, data)
    function = to_casadi(robot, "inverse_dynamics")
    inputs = inputs_of(function, robot, rng)
    assert set(inputs) == {"wrench", "preload"}
    expected = robot.inverse_dynamics(Motion(**state), **inputs).forces
    found = call(function, state, inputs)["forces"][:, 0]
    assert_allclose(found, expected, rtol=1e-10)


def test_states_without_an_answer_have_no_margin(casadi):
    robot = gough.load("kim-ryu-2002")
    home = {f: np.array(getattr(robot.home, f)) for f in RIGID_FIELDS}
    for program in ("inverse_kinematics", "inverse_dynamics"):
        function = to_casadi(robot, program)
        assert call(function, home, {})["margin"] > 0
        for change in ({"position": [0, 0, 100.0]}, {"velocity": [np.nan, 0, 0]}):
            assert not call(function, home | change, {})["margin"] > 0


def test_what_cannot_be_asked_for(casadi):
    with refusal(InputError, "forces", "inverse_kinematics"):
        to_casadi(gough.load("kim-ryu-2002"), "forces")
    with refusal(InputError, "jacobian", "depend"):
        to_casadi(gough.load("kim-ryu-2002"), "jacobian", loads=True)
    with refusal(MissingDataError, "masses"):
        to_casadi(gough.load("dietmaier-1998"), "inverse_dynamics")
    five = random_robot(np.random.default_rng(0), "UPS", 5)
    with refusal(InputError, "inverse_dynamics", 5):
        to_casadi(Robot.from_dict(five), "inverse_dynamics")
