"""Numbers that are none never come back silently: not finite, masked, complex, dated, too large."""

import numpy as np
import pytest

import gough
from cases.errors import refusal
from cases.exported import COMPILER, Exported
from gough.analysis.accuracy import Tolerances, accuracy
from gough.analysis.closest import closest
from gough.analysis.stiffness import stiffness
from gough.analysis.stiffness_map import stiffness_map
from gough.base.rotations import exponential
from gough.data.logs import Log
from gough.errors import FileError, InputError, NotFiniteError
from gough.sizing import Region

HUGE = (1e160, -1e160, 0.0)


@pytest.fixture(scope="module")
def robot():
    return gough.load("kim-ryu-2002")


@pytest.mark.parametrize("engine", ["llvm", "numpy"])
@pytest.mark.parametrize("field", ["velocity", "angular_velocity", "acceleration"])
def test_huge_numbers_that_cancel_are_refused(robot, monkeypatch, engine, field):
    monkeypatch.setenv("GOUGH_ENGINE", engine)
    one = gough.load("kim-ryu-2002")
    for shape in ((), (3,), (100,)):
        huge = {field: np.tile(HUGE, (*shape, 1))}
        many = gough.Motion(np.tile(one.home.position, (*shape, 1)), one.home.rotation, **huge)
        with pytest.raises(NotFiniteError):
            one.inverse_dynamics(many)
        assert np.isnan(one.inverse_dynamics(many, on_error="nan").forces).all()


def test_forces_that_cancel_are_refused(robot):
    with pytest.raises(NotFiniteError):
        robot.direct_dynamics(robot.home, [1e160, -1e160, 0, 0, 0, 0])


BAD = {
    "masked": np.ma.masked_array([0.0, 0.0, 1.0], [True, False, False]),
    "complex": np.array([0.0, 0.0, 1.0 + 1j]),
    "dated": np.array(["2020-01-01"] * 3, dtype="datetime64[s]"),
    "spans": np.array([1, 2, 3], dtype="timedelta64[s]"),
    "texts": ["0", "0", "1"],
    "beyond doubles": [0, 0, 10**400],
    "none": [0.0, None, 1.0],
    "objects": [0.0, {}, 1.0],
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_array_of_numbers_is_refused(robot, kind):
    with refusal(InputError, "position", "array"):
        gough.Motion(BAD[kind])
    twice = np.ma.concatenate([BAD[kind]] * 2) if kind == "masked" else [*BAD[kind], *BAD[kind]]
    with refusal(InputError, "wrench", "array"):
        robot.inverse_dynamics(robot.home, twice)
    with refusal(InputError, "forces", "array"):
        robot.direct_dynamics(robot.home, twice)


def test_what_is_an_array_of_numbers_is_taken(robot):
    for value in ([0, 0, 1], np.float32([0, 0, 1]), [np.float64(0), 0, True], np.uint8([0, 0, 1])):
        np.testing.assert_array_equal(gough.Motion(value).position, [0.0, 0.0, 1.0])


@pytest.mark.parametrize("friction", [None, "yes", 1, [True]])
def test_a_switch_is_true_or_false(robot, friction):
    for call in (
        lambda: robot.inverse_dynamics(robot.home, friction=friction),
        lambda: robot.reactions(robot.home, friction=friction),
        lambda: robot.direct_dynamics(robot.home, np.zeros(6), friction=friction),
    ):
        with refusal(InputError, "friction", "True"):
            call()


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("real", ["double", "float"])
def test_exported_c_calls_no_huge_state_healthy(robot, tmp_path, real):
    exported = Exported(robot, tmp_path / "c", real=real, programs=["inverse_dynamics"])
    home = {name: np.array(getattr(robot.home, name)) for name in ("position", "rotation")}
    rest = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")
    state = home | {name: np.zeros(3) for name in rest}
    healthy, _ = exported("inverse_dynamics", state, None)
    for name in rest:
        for huge in (HUGE, (np.inf, 0, 0), (np.nan, 0, 0), (np.inf, -np.inf, 0)):
            with np.errstate(over="ignore"):
                status, _ = exported("inverse_dynamics", state | {name: np.array(huge)}, None)
            assert status != healthy


@pytest.mark.parametrize(
    "on_error", [None, np.zeros(3), np.zeros(3, dtype=[("a", "f8")]), "", ["nan"]]
)
def test_on_error_is_one_of_two_words(robot, on_error):
    for call in (
        lambda: robot.inverse_dynamics(robot.home, on_error=on_error),
        lambda: robot.inverse_dynamics(gough.Motion([1e9, 0, 0]), on_error=on_error),
        lambda: robot.forward_kinematics(np.zeros(6), robot.home, on_error=on_error),
    ):
        with refusal(InputError, "raise", "nan", "on_error"):
            call()


@pytest.mark.parametrize("name", [3, None, b"kim-ryu-2002", ["kim-ryu-2002"]])
def test_a_robot_has_a_name(robot, name):
    with refusal(InputError, "named", "file"):
        gough.load(name)
    with refusal(InputError, "dotted", "key"):
        robot.edited({3: 1.0})


def test_numbers_that_a_file_makes_infinite_are_refused(robot):
    tiny = {"legs.friction.screw_torque": 0.1, "legs.friction.screw_lead": 1e-320}
    with refusal(InputError, "legs.friction.screw_drag"):
        robot.edited(tiny)


@pytest.mark.parametrize("key", ["rail_direction", "motor_axis", "axis"])
def test_directions_are_as_short_as_they_like(key):
    name = {"rail_direction": "plaza-hexaglide-2019", "motor_axis": "alikoc-delta-2023"}
    one = gough.load(name.get(key, "kim-ryu-2002"))
    given = 1e-160 * np.array(getattr(one.file.legs, key))
    wanted = one.inverse_dynamics(one.home).forces
    edited = one.edited({f"legs.{key}": given.tolist()})
    np.testing.assert_allclose(
        edited.inverse_dynamics(one.home).forces, wanted, rtol=1e-10, atol=1e-10
    )
    same = one.variants({f"legs.{key}": given[np.newaxis]})
    np.testing.assert_allclose(
        same.inverse_dynamics(one.home).forces[0], wanted, rtol=1e-10, atol=1e-10
    )


def test_a_turn_has_the_digits_of_an_angle():
    home = {"position": [0, 0, 0.8], "rotation_vector": [1e12, 7e11, 0]}
    with refusal(FileError, "home.rotation_vector", 1e12, 1e06):
        gough.load("kim-ryu-2002").edited({"home": home})


def test_shapes_point_as_shortly_as_they_like():
    def inertia(size):
        axis = [size, size, 0.0]
        rod = {"shape": "rod", "radius": 0.1, "length": 1.0, "mass": 1.0, "axis": axis}
        return gough.load("kim-ryu-2002").edited({"platform": rod}).platform.inertia

    np.testing.assert_allclose(inertia(1e-160), inertia(1.0), atol=1e-14)


def test_odd_arguments_have_an_error_of_their_own(tmp_path):
    kim, planar = gough.load("kim-ryu-2002"), gough.load("shah-3rrr-2012")
    flexible = gough.load("long-khalil-martinet-2014")
    array = np.zeros(3)
    for ask in (
        lambda: kim.tool_wrench(kim.home, [np.nan, 0, 0]),
        lambda: kim.tool_wrench(kim.home, [0, 0, 0], [1e61, 0, 0]),
        lambda: kim.tool_wrench(array, [0, 0, 0]),
        lambda: kim.check(kim.home, leg_radius=[1]),
        lambda: kim.check(kim.home, leg_radius=10**400),
        lambda: kim.natural_frequencies(array),
        lambda: planar.chains_of(array),
        lambda: flexible.deformation(flexible.home, array),
        lambda: flexible.deformation(array),
        lambda: gough.Robot.from_dict(array),
        lambda: gough.Robot.from_text(None),
        lambda: gough.Robot.from_text(b"format = 1"),
        lambda: kim.save(array),
    ):
        with pytest.raises(InputError):
            ask()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda r: r.natural_frequencies(r.home, np.inf), (0, 1e60)),
        (lambda r: r.natural_frequencies(r.home, BAD["masked"]), ("array", "numbers")),
        (lambda r: r.motion(np.zeros(6), time=3 + 4j), ("time", "array")),
        (lambda r: r.clamp(r.home, wrench=np.zeros((2, 6))), ("(6,)",)),
        (lambda r: r.room(r.home, wrench=[np.nan] * 6), ("finite", "numbers")),
        (lambda r: stiffness(r, r.home, 1e7 + 1j), ("actuator", "array")),
        (lambda r: stiffness(r, r.home, np.full((2, 6), 1e7)), ("pose",)),
        (lambda r: stiffness_map(r, 1e7, bounds=BAD["complex"]), ("bounds", "array")),
        (lambda r: accuracy(r, r.home, Tolerances(leg=1e-5 + 0j)), ("tolerance", "leg")),
        (lambda r: accuracy(r, np.zeros(3), Tolerances()), ("gough.Motion",)),
        (lambda r: closest(r, np.zeros(3)), ("gough.Motion",)),
        (lambda r: gough.Motion(r.home.position, rotvec=BAD["masked"]), ("rotvec", "array")),
        (lambda r: gough.Motion(r.home.position, rotvec=[0, 0, 1e10]), ("rotvec", "angle")),
        (lambda r: gough.Motion(r.home.position, euler=("xyz", [0, 1e10, 0])), ("limit",)),
        (lambda r: exponential([0, 0, -1e10]), ("vector", "angle")),
        (lambda r: Log(BAD["masked"], np.zeros((3, 6)), np.zeros((3, 6))), ("time", "array")),
        (lambda r: Region(r.home, shift=BAD["masked"]).size, ("shift", "array")),
    ],
)
def test_odd_numbers_beside_the_motion_are_refused(robot, call, said):
    with refusal(InputError, *said):
        call(robot)


def test_a_rigid_platform_that_is_nowhere_does_not_rest(robot):
    nowhere = gough.Motion([[0, 0, 0.8], [np.inf, 0, 0]])
    with refusal(NotFiniteError, "position", "sample 1"):
        robot.static_deflection(nowhere)
    rests = robot.static_deflection(nowhere, on_error="nan")
    assert np.array_equal(np.isnan(rests.position).all(axis=1), [False, True])
