"""What rounding makes of answers: below 1e-8 where they are given, and else refused by name."""

import warnings

import numpy as np
import pytest

import gough
from fuzz.states import PLACES
from gough import Motion, Robot
from gough.errors import SampleError, SingularError
from gough.exchange.programs import forward_step
from gough.legs.pus.keys import guide_normal
from gough.mechanics import programs
from gough.mechanics.solves import factor, factor_symmetric
from gough.mechanics.state import RIGID_FIELDS
from oracles.many_digits import exact, longer
from oracles.random_robot import random_robot, toml_text

SPEEDS = {"velocity": [0.1, 0.05, -0.1], "acceleration": [0.1, 0.2, 0.3]}


def far_robot(distance):
    """A hexapod, and the vector of its platform frame's shift."""
    data = random_robot(np.random.default_rng(0), "UPS")
    shift = distance * np.array([0.6, -0.5, 0.62])
    data["legs"]["platform"] = (np.array(data["legs"]["platform"]) + shift).tolist()
    platform = data["platform"]
    del data["home"], platform["payload"]
    platform["center_of_mass"] = (np.array(platform["center_of_mass"]) + shift).tolist()
    return Robot.from_text(toml_text(data), "far"), shift


def accelerations(distance):
    """ω̇ of the hexapod in one state under one set of forces."""
    robot, shift = far_robot(distance)
    velocity, turn = np.array([0.3, 0.2, -0.1]), np.array([0.5, -0.4, 0.3])
    motion = Motion(
        position=np.array([0, 0, 1.0]) - shift,
        velocity=velocity - np.cross(turn, shift),
        angular_velocity=turn,
    )
    return robot.direct_dynamics(motion, np.linspace(100, 200, 6)).angular


def test_a_frame_far_from_its_joints_is_right_or_refused():
    true = accelerations(0)
    for distance in (10, 100):
        np.testing.assert_allclose(accelerations(distance), true, rtol=1e-8)
    for distance in (3e3, 1e5):
        with pytest.raises(SingularError):
            accelerations(distance)


@pytest.mark.second_tier_from(2)
@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("kim-ryu-2002", [0, 0, 1]),
        ("pollen-reachy-mini-2025", [0, 0, 1]),
        ("alikoc-delta-2023", [0, 0, 1]),
        ("shah-3rrr-2012", [1, 0, 0]),
    ],
)
def test_at_the_edge_of_reach_answers_are_told_or_refused(name, way, monkeypatch):
    if not name.startswith("shah"):  # joints of chains are searched, which takes long on NumPy
        monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    robot = gough.load(name)
    planar = robot.coordinates == ("x", "y", "rz")
    motion = robot.home.replace(
        **{key: np.array(value) * ([1, 1, 0] if planar else 1) for key, value in SPEEDS.items()}
    )

    def at(distance):
        return motion.replace(position=motion.position + distance * np.array(way))

    def there(distance):
        return np.isfinite(robot.inverse_kinematics(at(distance), on_error="nan").q).all()

    low, high = 0.0, 10 * float(np.abs(motion.position).max())
    assert not there(high)
    while low < (low + high) / 2 < high:
        middle = (low + high) / 2
        low, high = (middle, high) if there(middle) else (low, middle)
    for back in (0, 1e-12, 1e-9, 1e-6):
        one = at(low - back)
        given = {name: np.asarray(getattr(one, name)) for name in RIGID_FIELDS}
        given |= {"wrench": np.zeros(6), "chains": robot.chains_of(one)}
        true = exact(robot.mechanism, programs.inverse_dynamics, given, ["wrench"])["forces"]
        try:
            forces = robot.inverse_dynamics(one, friction=False).forces
        except SampleError:
            continue
        assert float(np.abs(forces - true).max() / np.abs(true).max()) < 1e-8


@pytest.mark.parametrize("kind", ["UPS", "PUS", "RUS"])
def test_what_takes_no_solve_is_right_or_refused_far_from_the_worlds_origin(kind, monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    data = random_robot(np.random.default_rng(0), kind)
    motion = Robot.from_text(toml_text(data), "near").home.replace(
        angular_velocity=[0.5, -0.4, 0.3], **SPEEDS
    )
    ground = np.array(data["legs"][PLACES[kind]])
    del data["home"]
    for distance in (1e2, 1e5, 1e8):
        shift = distance * np.array([0.6, -0.5, 0.62])
        data["legs"][PLACES[kind]] = (ground + shift).tolist()
        robot, there = Robot.from_text(toml_text(data), "far"), motion.position + shift
        fields = {name: np.asarray(getattr(motion, name))[np.newaxis] for name in RIGID_FIELDS}
        fields |= {"position": there[np.newaxis]}
        for name, parts in {
            "inverse_kinematics": programs.SCALARS,
            "jacobian": ["jacobian"],
            "mass_matrix": ["mass_matrix"],
            "bias": ["bias"],
            "condensed": ["mass", "bias", "sharing"],
            "energy": ["kinetic", "potential"],
        }.items():
            if distance > 1e7:
                with pytest.raises(SingularError):
                    getattr(robot, name)(motion.replace(position=there))
                continue
            found = getattr(robot, name)(motion.replace(position=there))
            true = longer(robot.mechanism, getattr(programs, name), fields)
            for part in parts:
                ours = found if len(parts) == 1 else getattr(found, part)
                assert np.abs(ours - true[part][0]).max() < 1e-8 * np.abs(true[part]).max()


def told(robot, motion, function, **given):
    """Error of an answer in relation to its largest, None where it is refused, and why."""
    fields = {name: np.asarray(getattr(motion, name)) for name in RIGID_FIELDS}
    others = {"wrench": np.zeros(6)} | given
    true = exact(robot.mechanism, getattr(programs, function), fields | others, list(others))
    try:
        found = getattr(robot, function)(motion, *given.values(), friction=False)
    except SingularError as error:
        return None, str(error)
    ours, sure = (found.forces, true["forces"]) if not given else (found.angular, true["angular"])
    return float(np.abs(ours - sure).max() / np.abs(sure).max()), ""


def test_two_legs_ever_closer_are_right_or_refused_as_rounded(monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    data = random_robot(np.random.default_rng(1), "UPS")
    legs, rounded = data["legs"], False
    apart = np.random.default_rng(2).normal(size=(2, 3))
    for distance in 10.0 ** np.arange(-2, -11, -1):
        for key, way in zip(("base", "platform"), apart, strict=True):
            legs[key][5] = (np.array(legs[key][0]) + distance * way).tolist()
        with warnings.catch_warnings(action="ignore"):  # that the architecture is singular
            robot = Robot.from_text(toml_text(data), "close")
        off, reason = told(robot, robot.home.replace(**SPEEDS), "inverse_dynamics")
        assert off is None or off < 1e-8
        near = robot.home.replace(position=robot.home.position + 1e-4)
        try:
            found = robot.forward_kinematics(robot.inverse_kinematics(robot.home).q, near)
        except SingularError:
            posed = False
        else:
            assert np.abs(found.position - robot.home.position).max() < 1e-8
            assert np.abs(found.rotation - robot.home.rotation).max() < 1e-8
            posed = True
        rounded = rounded or "which may change the answer by a share of" in reason
        assert posed or distance < 1e-5
    assert off is None
    assert rounded
    assert not posed


@pytest.mark.parametrize("kind", ["UPS", "PUS", "RUS"])
def test_platforms_ever_smaller_beside_their_legs_are_turned_right_or_refused(kind, monkeypatch):
    """The error of a pose that was found is J⁻¹ (q of that pose in sixty digits − q)."""
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    rng = np.random.default_rng(4)
    data = random_robot(rng, kind)
    joints, ground = (np.array(data["legs"][key]) for key in ("platform", PLACES[kind]))
    turned, given = joints @ Robot.from_text(toml_text(data), "large").home.rotation.T, []
    for size in 10.0 ** np.arange(-3, -10, -1):
        data["legs"]["platform"] = (size * joints).tolist()
        data["legs"][PLACES[kind]] = (
            ground + (size - 1) * turned
        ).tolist()  # at home the same legs
        robot = Robot.from_text(toml_text(data), "small")
        for _ in range(5):
            turn = Motion([0, 0, 0], rotvec=0.1 * rng.normal(size=3)).rotation
            place = robot.home.position + 0.02 * rng.normal(size=3)
            pose = Motion(place, turn @ robot.home.rotation)
            q = robot.inverse_kinematics(pose).q
            near = pose.replace(position=pose.position + 1e-3 * size)
            found = robot.forward_kinematics(q, near, on_error="nan")
            given.append(bool(np.isfinite(found.position).all()))
            there = {name: np.asarray(getattr(pose, name))[np.newaxis] for name in RIGID_FIELDS}
            in_c = robot.executor(forward_step, 1, there | {"q": q[np.newaxis]})["margin"]
            assert given[-1] or not in_c > 0
            if given[-1]:
                fields = {name: np.asarray(getattr(found, name)) for name in RIGID_FIELDS}
                true = exact(robot.mechanism, programs.inverse_kinematics, fields)["q"]
                off = np.linalg.solve(robot.jacobian(found), (true - q).astype(float))
                assert np.linalg.norm(off[3:]) < 1e-8
    assert all(given[:10])
    assert not any(given[-5:])


def test_drives_ever_heavier_are_right_or_refused_as_rounded(monkeypatch):
    """M = platform + rotor w wᵀ: what is lost is the platform's."""
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    data = random_robot(np.random.default_rng(3), "PUS")
    reasons = []
    for rotor in 10.0 ** np.arange(2, 12, 2):
        data["legs"]["rotor_mass"] = [rotor, *data["legs"]["rotor_mass"][1:]]
        robot = Robot.from_text(toml_text(data), "heavy")
        motion = robot.home.replace(**SPEEDS)
        off, reason = told(robot, motion, "direct_dynamics", forces=np.linspace(100, 200, 6))
        assert off is None or off < 1e-8
        reasons.append(reason)
    assert not reasons[0]
    assert any("which may change the answer by a share of" in one for one in reasons)


def test_a_turn_that_rounding_alone_resists_is_refused():
    """All lines of legs meet the platform's z axis: their moments about it are digits that were lost."""
    data = random_robot(np.random.default_rng(0), "UPS")
    angles = np.radians([10, 75, 130, 205, 250, 340])
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    base = around * np.array([[0.5, 0.61, 0.55, 0.48, 0.66, 0.52]]).T
    tips = around * np.array([[0.31, 0.22, 0.35, 0.28, 0.25, 0.33]]).T
    heights = [0, 0.05, 0.02, 0, 0.07, 0.01]
    data["legs"]["base"] = np.column_stack([base, np.zeros(6)]).tolist()
    data["legs"]["platform"] = np.column_stack([tips, heights]).tolist()
    data["home"] = {"position": [0, 0, 0.8], "rotation_vector": [0, 0, 0.5]}
    robot = Robot.from_text(toml_text(data), "untwisted")
    for turn in (0, 1e-12, 1e-9, 1e-7):
        with pytest.raises(SingularError):
            robot.inverse_dynamics(Motion([0, 0, 0.8], rotvec=[0, 0, turn], **SPEEDS))
    motion = Motion([0, 0, 0.8], rotvec=[0, 0, 1e-3], **SPEEDS)
    off, _ = told(robot, motion, "inverse_dynamics")
    assert off < 1e-8


def test_floors_lie_below_the_reciprocal_condition_number():
    rng = np.random.default_rng(0)
    for spread in np.logspace(0, -7, 30):
        square = rng.normal(size=(8, 6))
        square[:, 3] = square[:, :3] @ rng.normal(size=3) + spread * square[:, 3]
        units = square / np.linalg.norm(square, axis=0)
        floor = float(factor(square[..., np.newaxis]).floor[0])
        assert floor <= 1 / np.linalg.cond(units)
        assert floor > 1e-6 * spread
        mass = units.T @ units
        assert float(factor_symmetric(mass[..., np.newaxis]).floor[0]) <= 1.1 / np.linalg.cond(mass)


def test_a_shear_is_seen_though_all_that_is_left_is_one():
    shear = np.eye(2)
    shear[0, 1] = 1e8
    factors = factor(shear[..., np.newaxis])
    assert factors.health[0] == 1
    assert factors.floor[0] < 1e-7


@pytest.mark.parametrize(("sine", "from_axis"), [(1e-8, True), (1e-10, False)])
def test_the_guides_normal_is_the_axis_down_to_the_sine_that_robot_files_promise(sine, from_axis):
    rail, axis = np.array([[0.0], [0.0], [1.0]]), np.array([[sine], [0.0], [1.0]])
    found = guide_normal(axis, rail, np.array([[0.0], [1.0], [0.0]]))
    assert np.allclose(found[:, 0], [1.0, 0, 0] if from_axis else [0, 1.0, 0], atol=1e-7)
