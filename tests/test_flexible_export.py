"""Flexible robots in C and CasADi: the compiled, or symbolic, programs answer as the robot does."""

import re
import shutil

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gough
from cases.common import few_states, impossible_bodies
from cases.derivatives import FlexibleCase
from cases.exported import COMPILER, Exported, make
from gough import Motion
from gough.exchange.c import export_c
from gough.exchange.casadi import to_casadi
from gough.exchange.programs import CLOSING, PROGRAMS, mass_times
from gough.model.execution import numpy_executor
from gough.motion import FIELDS

pytestmark = [
    pytest.mark.filterwarnings("ignore::gough.errors.ModalBodyWarning"),
    impossible_bodies,
    few_states,
    pytest.mark.filterwarnings("ignore:.*Swig.*:DeprecationWarning"),
]
needs_compiler = pytest.mark.skipif(
    COMPILER is None or shutil.which("make") is None, reason="no C compiler or no make here"
)
ROBOTS = ("UPS", "PUS", "PUS, smooth friction", "PUS, 8 legs")
FORCED = ("inverse_dynamics", "reactions", "direct_dynamics")


def fields_of(motion):
    return {name: np.asarray(getattr(motion, name)) for name in FIELDS}


class Flexible(Exported):
    """An exported flexible robot; its state has elastic coordinates too."""

    def __call__(self, name, state, *inputs, size=2000):
        whole = np.concatenate([np.ravel(state[field]) for field in FIELDS])
        packed = dict.fromkeys(("rotation", "velocity", "angular_velocity"), np.zeros(0))
        packed |= dict.fromkeys(("acceleration", "angular_acceleration"), np.zeros(0))
        return super().__call__(name, packed | {"position": whole}, *inputs, size=size)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    ready = {}

    def get(name, **options):
        key = (name, *options.values())
        if key not in ready:
            folder = tmp_path_factory.mktemp("c") / "robot"
            robot = gough.load(name) if name.startswith("long") else FlexibleCase(name).robot
            ready[key] = Flexible(robot, folder, **options)
        return ready[key]

    return get


def assert_near(found, expected, relative):
    expected = np.ravel(expected)
    assert_allclose(
        found[: expected.size], expected, rtol=0, atol=relative * np.abs(expected).max()
    )


# C


@pytest.mark.second_tier_from(1)
@needs_compiler
@pytest.mark.parametrize("name", [*ROBOTS, "long-khalil-martinet-2014"])
def test_the_test_program_passes(exported, name):
    one = exported(name)
    result = make(one.folder, "test")
    assert result.returncode == 0, result.stdout
    error = float(re.search(r"largest relative error (\S+)", result.stdout)[1])
    assert error < 1e-12
    expected = {*PROGRAMS.keys() - CLOSING, "mass_matrix_times", "forward_kinematics_step"}
    if not one.robot.mechanism.legs.friction.none:
        expected |= {f + end for f in FORCED for end in ("_under_loads", "_with_friction")}
    assert set(re.findall(r"^(\w+) +error", result.stdout, re.MULTILINE)) == expected


@pytest.mark.second_tier
@needs_compiler
def test_in_single_precision(exported):
    one = exported("long-khalil-martinet-2014", real="float")
    result = make(one.folder, "test")
    assert result.returncode == 0, result.stdout
    error = float(re.search(r"largest relative error (\S+)", result.stdout)[1])
    assert 1e-8 < error < 1e-3
    assert "double" not in (one.folder / f"{one.prefix}.c").read_text()


@pytest.mark.second_tier_from(1)
@needs_compiler
@pytest.mark.parametrize("name", ROBOTS)
def test_c_answers_as_the_robot_does(exported, name):
    case, one = FlexibleCase(name), exported(name)
    robot, motion, wrench, forces = case.robot, case.motion, case.wrench, case.forces
    motion = motion.replace(elastic_acceleration=10 * case.rng.normal(size=case.modes))
    trouble = 1e-13 * max(10, float(np.linalg.cond(robot.condensed(motion).sharing)))
    act = robot.inverse_dynamics(motion, wrench, friction=False)
    acc = robot.direct_dynamics(motion, forces, wrench, friction=False)
    jacobian, bias, legs = (
        getattr(robot, call)(motion) for call in ("jacobian", "bias", "inverse_kinematics")
    )
    energy = robot.energy(motion)
    extra = [None] if robot.leg_count > 6 else []
    calls = {
        "inverse_kinematics": ([], [legs.q, legs.qd, legs.qdd]),
        "jacobian": ([], [jacobian[:, :6], jacobian[:, 6:]]),
        "inverse_dynamics": (
            [wrench, *extra],
            [act.forces, act.power, act.elastic_acceleration],
        ),
        "direct_dynamics": ([forces, wrench], [acc.linear, acc.angular, acc.elastic]),
        "mass_matrix": ([], [robot.mass_matrix(motion)]),
        "bias": ([], [bias[:6], bias[6:]]),
        "energy": ([], [energy.kinetic, energy.potential]),
    }
    for program, (inputs, outputs) in calls.items():
        status, answer = one(program, fields_of(motion), *inputs)
        assert status == 0, program
        place = 0
        for output in outputs:
            assert_near(answer[place:], output, max(1e-12, trouble))
            place += np.size(output)
    lost = fields_of(motion) | {"elastic": np.full(case.modes, np.nan)}
    for program, (inputs, _) in calls.items():
        assert one(program, lost, *inputs)[0] == 1, program


@needs_compiler
def test_friction_in_c_agrees_with_its_loads(exported):
    case, one = FlexibleCase("PUS, smooth friction"), exported("PUS, smooth friction")
    state = fields_of(case.motion)
    expected = case.robot.inverse_dynamics(case.motion, case.wrench)
    status, answer = one("inverse_dynamics_with_friction", state, case.wrench, 25)
    assert status == 0
    assert_near(answer, expected.forces, 1e-11)
    assert_near(answer[12:], expected.elastic_acceleration, 1e-11)
    expected = case.robot.direct_dynamics(case.motion, case.forces, case.wrench)
    status, answer = one("direct_dynamics_with_friction", state, case.forces, case.wrench, 25)
    assert status == 0
    assert_near(answer[6:], expected.elastic, 1e-11)


# CasADi


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("name", [*ROBOTS[:3], "long-khalil-martinet-2014"])
@pytest.mark.parametrize("program", sorted(PROGRAMS.keys() - CLOSING))
def test_casadi_answers_as_the_robot_does(name, program):
    pytest.importorskip("casadi", reason="casadi is not installed (extra casadi)")
    if name.startswith("long"):
        robot = gough.load(name)
        robot.__dict__["executor"] = numpy_executor(robot.mechanism)
        motion = robot.static_deflection(robot.home)
        wrench, forces = np.arange(6.0), np.full(6, 300.0)
    else:
        case = FlexibleCase(name)
        robot, motion, wrench, forces = case.robot, case.motion, case.wrench, case.forces
    function = to_casadi(robot, program)
    names = function.name_in()
    given = {"wrench": wrench, "forces": forces, "q": robot.inverse_kinematics(motion).q}
    given = {key: value for key, value in given.items() if key in names}
    fields = fields_of(motion) | given
    found = {key: np.array(value) for key, value in function.call(fields).items()}
    rows = {key: value[np.newaxis] for key, value in fields.items()}
    expected = numpy_executor(robot.mechanism)(PROGRAMS[program], 1, rows)
    if program == "mass_matrix":
        whole = robot.mass_matrix(motion)[np.newaxis]
        expected = {"mass_matrix": whole, "margin": expected["margin"]}
    if program in ("jacobian", "bias"):
        expected[program] = np.concatenate([expected[program], expected.pop("elastic")], axis=-1)
    assert set(function.name_out()) == set(expected)
    trouble = 1e-13 * max(10, float(np.linalg.cond(robot.condensed(motion).sharing)))
    largest = max(np.max(np.abs(value)) for value in expected.values())
    for key, value in expected.items():
        scale = max(np.max(np.abs(value)), 1e-3 * largest)
        shaped = found[key].reshape(value.shape)
        near = max(1e-12, trouble)
        assert_allclose(shaped, value, rtol=0, atol=near * scale, err_msg=key)


def test_casadi_derivatives_are_ours():
    casadi = pytest.importorskip("casadi", reason="casadi is not installed (extra casadi)")
    case = FlexibleCase("PUS")
    function = to_casadi(case.robot, "direct_dynamics")
    given = fields_of(case.motion) | {"wrench": case.wrench, "forces": case.forces}
    found = function.jacobian().call(given | {f"out_{n}": 0 for n in function.name_out()})
    slopes = case.slopes("direct")
    for key in ("elastic", "elastic_velocity", "forces", "wrench"):
        parts = [
            np.array(casadi.DM(found[f"jac_{out}_{key}"]))
            for out in ("linear", "angular", "elastic")
        ]
        expected = getattr(slopes, key)
        assert_allclose(
            np.concatenate(parts), expected, rtol=0, atol=1e-10 * np.abs(expected).max()
        )


def test_mass_matrix_times_a_vector():
    case = FlexibleCase("UPS")
    along, elastic = case.rng.normal(size=6), case.rng.normal(size=case.modes)
    fields = fields_of(case.motion) | {"along": along, "elastic_along": elastic}
    rows = {key: value[np.newaxis] for key, value in fields.items()}
    found = numpy_executor(case.robot.mechanism)(mass_times, 1, rows)
    product = case.robot.mass_matrix(case.motion) @ np.concatenate([along, elastic])
    assert_near(np.concatenate([found["momentum"][0], found["elastic"][0]]), product, 1e-13)


def test_a_motion_without_elastic_coordinates_is_at_none(tmp_path):
    robot = gough.load("long-khalil-martinet-2014")
    states = Motion.stack([robot.home, robot.home])
    one = robot.export_c(tmp_path / "robot", programs=["energy"])
    assert "elastic[10]" in (one / "gough_long_khalil_martinet_2014.h").read_text()
    assert export_c(robot, tmp_path / "more", programs=["energy"], states=states)
