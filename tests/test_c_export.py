"""The exported C: compiles without a warning, passes its own tests, and answers as gough does."""

import ctypes
import re
import shutil
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import gough
from cases.common import WITH_MASSES, few_states, impossible_bodies
from cases.errors import refusal
from cases.exported import COMPILER, STRICT, STRICTER, Exported, make, run
from cases.robots import ROTARY, with_masses
from gough import Motion, Robot
from gough.engine.emit import c
from gough.engine.emit.c import sanitised
from gough.engine.graph import Graph
from gough.engine.operations import OPERATIONS
from gough.engine.program import assemble
from gough.errors import FileError, InputError, MissingDataError
from gough.exchange.c import export_c
from gough.exchange.c.header import header_text
from gough.exchange.c.package import Function, Limits, Package
from gough.exchange.c.source import source_text
from gough.exchange.programs import CLOSING, FINDING, PROGRAMS
from gough.mechanics.state import RIGID_FIELDS, RIGID_SHAPES
from oracles.random_robot import random_motion, random_robot

pytestmark = [
    impossible_bodies,
    few_states,
    pytest.mark.skipif(COMPILER is None, reason="no C compiler (gcc or cc) on this machine"),
    pytest.mark.skipif(shutil.which("make") is None, reason="no make on this machine"),
    pytest.mark.skipif(sys.platform == "win32", reason="shared libraries built the POSIX way"),
]
MATH = {"sqrt", "fabs", "copysign", "atan2"}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Robots by name and options, each exported and compiled once."""
    ready = {}

    def get(name, **options):
        key = (name, *options.values())
        if key not in ready:
            folder = tmp_path_factory.mktemp("c") / "robot"
            ready[key] = Exported(with_masses(name), folder, **options)
        return ready[key]

    return get


def states_near_home(robot, count=4):
    """Dictionaries of a state each, and the motion of all."""
    rng = np.random.default_rng(7)
    draws = rng.uniform(-1, 1, (6, count, 3))
    length = robot.length_scale
    motion = Motion(
        robot.home.position + 0.2 * length * draws[0],
        Rotation.from_rotvec(0.2 * draws[1]).as_matrix() @ robot.home.rotation,
        *draws[2:],
    )
    return [{f: getattr(motion[i], f) for f in RIGID_FIELDS} for i in range(count)], motion


def condition(robot, motion):
    return max(10.0, np.max(robot.condition_number(motion)))


def assert_near(found, expected, relative, beside=0.0):
    """Close relative to the largest expected number, or to a hundredth of what is beside it."""
    expected = np.ravel(expected)
    scale = max(1e-3, np.max(np.abs(expected)), 0.01 * beside)
    assert_allclose(found[: expected.size], expected, rtol=0, atol=relative * scale)


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("name", [*WITH_MASSES, ROTARY])
def test_the_test_program_passes(exported, name):
    one = exported(name)
    result = make(one.folder, "test")
    assert result.returncode == 0, result.stdout
    error = float(re.search(r"largest relative error (\S+)", result.stdout)[1])
    assert error < 1e-12
    expected = PROGRAMS.keys() - CLOSING | {"forward_kinematics_step"}
    if not one.robot.mechanism.legs.friction.none:
        forced = ("inverse_dynamics", "reactions", "direct_dynamics")
        expected |= {f + end for f in forced for end in ("_under_loads", "_with_friction")}
    assert set(re.findall(r"^(\w+) +error", result.stdout, re.MULTILINE)) == expected


@pytest.mark.second_tier
def test_optimised_with_the_makefiles_own_flags(tmp_path):
    programs = ("inverse_kinematics", "inverse_dynamics")
    folder = export_c(gough.load("kim-ryu-2002"), tmp_path / "new/folder", programs=programs)
    result = run("make", "-C", folder, "test")
    assert (result.returncode, result.stderr) == (0, "")
    assert all(word in result.stdout for word in [*STRICT, "-O2"])


@pytest.mark.second_tier
def test_in_single_precision(exported):
    one = exported("kim-ryu-2002", real="float")
    result = make(one.folder, "test")
    assert result.returncode == 0, result.stdout
    error = float(re.search(r"largest relative error (\S+)", result.stdout)[1])
    assert 1e-8 < error < 1e-4
    source = (one.folder / f"{one.prefix}.c").read_text()
    assert "double" not in source
    assert not re.search(r"\b(sqrt|fabs|copysign|atan2)\(", source)
    states, motion = states_near_home(one.robot)
    expected = one.robot.inverse_dynamics(motion, friction=False).forces
    for state, forces in zip(states, expected, strict=True):
        status, answer = one("inverse_dynamics", state, None)
        assert status == 0
        assert_near(answer, forces, 1e-5)


@pytest.mark.second_tier_from(2)
@pytest.mark.parametrize("name", [*WITH_MASSES, ROTARY])
def test_answers_as_the_robot_does(exported, name):
    one = exported(name)
    robot = one.robot
    states, motion = states_near_home(robot)
    rng = np.random.default_rng(3)
    wrench, push = rng.normal(size=(2, len(states), 6)) * 20
    legs = robot.inverse_kinematics(motion)
    actuation = robot.inverse_dynamics(motion, wrench, friction=False)
    forces = actuation.forces + push
    direct = robot.direct_dynamics(motion, forces, wrench, friction=False)
    reactions = robot.reactions(motion, wrench, friction=False)
    first = [reactions.spherical, reactions.universal, reactions.universal_moment]
    sideways = reactions.guide if robot.kind == "PUS" else reactions.sliding_force
    first += [] if robot.kind == "RUS" else [sideways]
    matrix, bias, energy = robot.mass_matrix(motion), robot.bias(motion), robot.energy(motion)
    jacobian = robot.jacobian(motion)
    near = 1e-12 * condition(robot, motion)
    for i, state in enumerate(states):
        calls = {
            "inverse_kinematics": ([], [legs.q[i], legs.qd[i], legs.qdd[i], legs.joints[i]]),
            "jacobian": ([], [jacobian[i]]),
            "inverse_dynamics": ([wrench[i]], [actuation.forces[i], actuation.power[i]]),
            "direct_dynamics": ([forces[i], wrench[i]], [direct.linear[i], direct.angular[i]]),
            "reactions": ([wrench[i]], [value[i] for value in first]),
            "mass_matrix": ([], [matrix[i]]),
            "bias": ([], [bias[i]]),
            "energy": ([], [energy.kinetic[i], energy.potential[i]]),
        }
        for program, (inputs, outputs) in calls.items():
            status, answer = one(program, state, *inputs)
            assert status == 0, program
            place, largest = 0, max(np.max(np.abs(output)) for output in outputs)
            for output in outputs:
                assert_near(answer[place:], output, near, largest)
                place += np.size(output)


def test_friction_agrees_with_its_loads(exported):
    one = exported("kim-ryu-2002")
    robot = one.robot
    states, motion = states_near_home(robot)
    near = 1e-12 * condition(robot, motion)
    actuation = robot.inverse_dynamics(motion)
    smooth = robot.inverse_dynamics(motion, friction=False)
    assert np.max(np.abs(actuation.forces - smooth.forces)) > 1
    direct = robot.direct_dynamics(motion, smooth.forces)
    for i, state in enumerate(states):
        status, answer = one("inverse_dynamics_with_friction", state, None, 25)
        assert status == 0
        assert_near(answer, [actuation.forces[i], actuation.power[i]], near)
        margin, residual = answer[12:14]
        passes = int(answer[14:15].view(np.int32)[0])
        assert margin > 0
        assert residual <= 1e-13
        assert 2 <= passes < 25
        status, answer = one("direct_dynamics_with_friction", state, smooth.forces[i], None, 25)
        assert status == 0
        assert_near(answer, [direct.linear[i], direct.angular[i]], near)
        status, answer = one("inverse_dynamics_with_friction", state, None, 1)
        assert status == 2  # one pass is not enough, and C says so
        assert answer[13] > 1e-12


def test_friction_that_plain_passes_cannot_settle_is_reported(tmp_path):
    robot = gough.load("kim-ryu-2002").edited(
        {"legs.friction.universal_coulomb": 1.0, "legs.friction.spherical_coulomb": 1.0}
    )
    one = Exported(robot, tmp_path / "robot", programs=("inverse_dynamics",))
    assert make(one.folder, "test").returncode == 0
    states, _ = states_near_home(robot)
    status, answer = one("inverse_dynamics_with_friction", states[0], None, 25)
    assert status == 2
    assert not answer[13] <= 1e-12


def test_a_wrong_vector_makes_the_test_program_fail(exported, tmp_path):
    one = exported("sinatra-xi-staicu-2009")
    folder = tmp_path / "robot"
    shutil.copytree(one.folder, folder)
    source = folder / f"test_{one.prefix}.c"
    text = source.read_text()
    start = text.index("inverse_dynamics_forces[COUNT]")
    number = re.compile(r"-?\d+\.\d{8,}").search(text, start)
    wrong = repr(float(number[0]) * (1 + 1e-9))
    source.write_text(text[: number.start()] + wrong + text[number.end() :])
    result = make(folder, "test")
    assert result.returncode != 0
    assert re.search(r"inverse_dynamics +error .*FAILED", result.stdout)
    assert result.stdout.count("FAILED") == 1


def bad_states(robot):
    """States without an answer: out of reach, singular, not finite."""
    home = {f: np.array(getattr(robot.home, f)) for f in RIGID_FIELDS}
    far, lost, endless = (dict(home) for _ in range(3))
    lost["velocity"] = np.array([0, np.nan, 0])
    endless["position"] = np.array([0, np.inf, 0])
    states = [lost, endless]
    if robot.kind == "PUS":
        far["position"] = home["position"] + [0, 0, 100]
        states.append(far)
    return states


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("name", [*WITH_MASSES, ROTARY])
def test_states_without_an_answer_are_refused(exported, name):
    one = exported(name)
    for state in bad_states(one.robot):
        for program in PROGRAMS.keys() - {*CLOSING, *FINDING}:
            inputs = {"direct_dynamics": (np.ones(6), None)}.get(program, (None,))
            if program not in ("inverse_dynamics", "direct_dynamics", "reactions"):
                inputs = ()
            assert one(program, state, *inputs)[0] == 1, program
        if not one.robot.mechanism.legs.friction.none:
            assert one("inverse_dynamics_with_friction", state, None, 25)[0] == 1
    home = {f: getattr(one.robot.home, f) for f in RIGID_FIELDS}
    assert one("inverse_dynamics", home, np.full(6, np.nan))[0] == 1


def test_a_singular_pose_is_refused(tmp_path):
    # two triangles with their corners cut, turned against each other by 90 degrees
    corner = np.repeat(np.arange(3) * 2 * np.pi / 3, 2)
    base, top = corner + np.tile([-0.2, 0.2], 3), corner + np.tile([-0.8, 0.8], 3)
    lower, upper = (np.stack([np.cos(a), np.sin(a), 0 * a], axis=1) for a in (base, top))
    legs = {"kind": "UPS", "base": lower, "platform": upper / 2, "cross": {}, "cylinder": {}}
    legs |= {"rod": {"mass": 1.0}, "axis": [1.0, 0.3, 0]}
    home = {"position": [0, 0, 1], "rotation_vector": [0, 0, np.pi / 2]}
    data = {"format": 1, "name": "Fichter's singularity", "home": home}
    data |= {"legs": legs, "platform": {"mass": 3.0, "inertia": np.eye(3)}}
    robot = Robot.from_dict(data)
    with pytest.raises(MissingDataError):
        export_c(robot, tmp_path / "robot")
    kinematics = ("inverse_kinematics", "mass_matrix")
    assert export_c(robot, tmp_path / "robot", programs=kinematics)
    turned = Motion([0, 0, 1.0], Rotation.from_rotvec([0, 0, 0.1]))
    programs = ("inverse_dynamics", *kinematics)
    one = Exported(robot, tmp_path / "turned", programs=programs, states=turned)
    assert make(one.folder, "test").returncode == 0
    home = {f: getattr(robot.home, f) for f in RIGID_FIELDS}
    assert one("inverse_dynamics", home, None)[0] == 1
    assert one("inverse_kinematics", home)[0] == 0
    with refusal(InputError, "good", "answer"):
        export_c(robot, tmp_path / "home", programs=programs, states=robot.home)


def test_no_wrench_is_a_wrench_of_zeros(exported):
    one = exported("long-khalil-martinet-2014")
    states, _ = states_near_home(one.robot)
    assert_array_equal(
        one("inverse_dynamics", states[0], None)[1],
        one("inverse_dynamics", states[0], np.zeros(6))[1],
    )


def test_nothing_but_mathematics(exported):
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("no nm on this machine")
    one = exported("kim-ryu-2002")
    symbols = re.findall(
        r"(\w) (\w+)$", run(nm, one.folder / f"{one.prefix}.o").stdout, re.MULTILINE
    )
    kinds = {kind for kind, _ in symbols}
    assert not kinds & set("BbDdCc"), "variables that are written"
    needed = {name.strip("_") for kind, name in symbols if kind == "U"}
    assert needed - {"GLOBAL_OFFSET_TABLE", "memcpy", "memset", "stack_chk_fail"} <= MATH
    public = {name for kind, name in symbols if kind == "T"}
    assert all(name.startswith(f"{one.prefix}_") for name in public)


def test_the_header_is_good_cplusplus(exported, tmp_path):
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler on this machine")
    includes = [exported(name).folder / f"{exported(name).prefix}.h" for name in WITH_MASSES]
    unit = tmp_path / "unit.cpp"
    unit.write_text("".join(f'#include "{path}"\n' for path in includes * 2))
    result = run(compiler, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", unit)
    assert result.returncode == 0, result.stderr


def test_fast_math_is_refused(exported):
    one = exported("sinatra-xi-staicu-2009")
    result = run(COMPILER, "-ffast-math", "-fsyntax-only", one.folder / f"{one.prefix}.c")
    assert result.returncode != 0
    assert "NaN" in result.stderr


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("friction", [False, True])
def test_eight_legs_and_preload(tmp_path, friction):
    rng = np.random.default_rng(5)
    data = random_robot(rng, "UPS", 8, friction=friction)
    robot = Robot.from_dict(data)
    one = Exported(robot, tmp_path / "robot", programs=("inverse_dynamics",))
    assert make(one.folder, "test").returncode == 0
    state = random_motion(rng, data)
    motion = Motion(**state)
    wrench, preload = rng.normal(size=6), 100 * rng.normal(size=8)
    near = 1e-12 * condition(robot, motion)
    name, more = ("inverse_dynamics_with_friction", [25]) if friction else ("inverse_dynamics", [])
    for given in (None, preload):
        status, answer = one(name, state, wrench, given, *more)
        assert status == 0
        assert_near(answer, robot.inverse_dynamics(motion, wrench, preload=given).forces, near)


def test_a_name_cannot_get_out_of_its_comment(tmp_path):
    name = '*/ #error "out" ??/\\ /* Żółw − 3×'
    data = gough.load("dietmaier-1998").edited({"name": name})
    one = Exported(data, tmp_path / "robot")
    assert one.prefix == "gough_error_out_zo_w_3x"
    assert make(one.folder, "test").returncode == 0
    assert sanitised("*/") == "robot"
    assert sanitised("x" * 5000) == "x" * 100  # the name of a file, too
    named = export_c(data, tmp_path / "named", identifier="My Robot!")
    assert (named / "gough_my_robot.h").exists()


def test_every_operation_on_special_numbers(tmp_path):
    graph = Graph()
    x, y, z = graph.inputs("position", (3,))
    outputs = {
        **{"sum": x + y, "difference": x - y, "product": x * y, "ratio": x / y, "opposite": -x},
        **{"root": x.sqrt(), "size": abs(x), "signed_size": x.copysign(y), "angle": x.arctan2(y)},
        **{"least": x.minimum(y), "most": x.maximum(y), "safe": x.or_one(), "margin": z},
    }
    operations = ["add", "sub", "mul", "div", "neg", "sqrt", "abs", "copysign", "atan2"]
    operations += ["min", "max", "or_one"]
    arrays = {name: np.array(symbol, dtype=object) for name, symbol in outputs.items()}
    program = assemble(graph, arrays, RIGID_SHAPES)
    function = Function("everything", program, np.zeros(1), "Every operation.")
    limits = Limits(1, 0.0, 0.0, 1, 0.0)
    package = Package("special", ["special"], 6, 6, RIGID_SHAPES, "double", [function], {}, limits)
    (tmp_path / "gough_special.h").write_text(header_text(package))
    (tmp_path / "gough_special.c").write_text(source_text(package))
    library = tmp_path / "special.so"
    source = tmp_path / "gough_special.c"
    built = run(
        COMPILER, *STRICT, *STRICTER, "-O2", "-shared", "-fPIC", source, "-o", library, "-lm"
    )
    assert built.returncode == 0, built.stderr
    call = ctypes.CDLL(str(library)).gough_special_everything
    numbers = [0.0, -0.0, 1.0, -2.5, 1e-300, np.inf, -np.inf, np.nan]
    for a in numbers:
        for b in numbers:
            state, answer = np.zeros(24), np.zeros(13)
            state[:3] = a, b, 1.0
            status = call(ctypes.c_void_p(state.ctypes.data), ctypes.c_void_p(answer.ctypes.data))
            assert (status == 0) == np.isfinite(answer).all()
            with np.errstate(all="ignore"):
                for found, operation in zip(answer, operations, strict=False):
                    apply = OPERATIONS[operation].numpy
                    given = (a,) if operation in ("neg", "sqrt", "abs", "or_one") else (a, b)
                    assert_array_equal(found, apply(*map(np.float64, given)), err_msg=operation)


def test_numbers_keep_every_digit():
    rng = np.random.default_rng(0)
    for value in (*rng.normal(size=50) * 10.0 ** rng.integers(-300, 300, 50), 1.0, 1e22, -0.1):
        assert float(c.literal(value, "double").strip("()")) == value
    for value in (*rng.normal(size=50) * 10.0 ** rng.integers(-35, 35, 50), 1.0, 1e22):
        text = c.literal(value, "float").strip("()")
        assert text.endswith("f")
        assert re.search(r"[.e]", text)
        assert np.float32(text[:-1]) == np.float32(value)
    assert c.literal(-1.5, "double") == "(-1.5)"
    assert c.literal(np.inf, "float") == "INFINITY"
    with refusal(InputError, "large", "float"):
        c.literal(1e39, "float")


def test_a_folder_with_other_files_stays_as_it_is(tmp_path):
    robot = gough.load("dietmaier-1998")
    folder = export_c(robot, tmp_path / "robot")
    notes = folder / "notes.txt"
    notes.write_text("mine")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert export_c(robot, folder) == folder  # again: replaced, and nothing else touched
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    with refusal(FileError, "Makefile", "file"):
        export_c(gough.load("sinatra-xi-staicu-2009"), folder, programs=("jacobian",))
    (folder / "README.txt").write_text("mine too")
    with refusal(FileError, "README.txt"):
        export_c(robot, folder, real="float")
    before["README.txt"] = b"mine too"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    with refusal(FileError, "folder"):
        export_c(robot, notes)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["robot"]


def test_what_cannot_be_exported(tmp_path):
    bare, kim = gough.load("dietmaier-1998"), gough.load("kim-ryu-2002")
    with refusal(MissingDataError, "masses", "legs", "inverse_dynamics"):
        export_c(bare, tmp_path / "robot", programs=("inverse_dynamics",))
    with refusal(InputError, "kinematics", "inverse_kinematics"):
        export_c(kim, tmp_path / "robot", programs=("kinematics",))
    with refusal(InputError, "real", "double", "float", "half"):
        export_c(kim, tmp_path / "robot", real="half")
    for programs in ((), "jacobian"):
        with refusal(InputError, "programs", "list"):
            export_c(kim, tmp_path / "robot", programs=programs)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_export_leaves_nothing(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", full)
    with refusal(FileError, "space", "left"):
        export_c(gough.load("dietmaier-1998"), tmp_path / "robot")
    assert list(tmp_path.iterdir()) == []
