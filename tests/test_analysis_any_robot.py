"""What is asked of a robot beside its models, on robots of every shape: limits, variants, analyses."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

import gough
from cases.command import run
from cases.errors import refusal
from cases.families import draw, random_states
from gough import Motion, Robot, Variants
from gough.analysis.accuracy import Tolerances, accuracy
from gough.analysis.clearance import clearance
from gough.analysis.interference import leg_distances
from gough.analysis.locus import determinant_along
from gough.analysis.own_workspace import own_workspace, provable
from gough.analysis.postures import postures
from gough.analysis.singularities import singularity
from gough.analysis.stiffness import stiffness
from gough.analysis.stiffness_map import stiffness_map
from gough.analysis.workspace import workspace
from gough.errors import ConstraintError, InputError
from gough.model.freedom import COORDINATES
from gough.model.own_directions import own_directions
from gough.model.standing import standing
from gough.model.varied import varied_keys
from gough.sizing import Drive, size, worst_case
from oracles.arrays import Array

pytestmark = pytest.mark.usefixtures("on_numpy")
COUNT = 2
SOME = ("rotary Delta", "3-RPS", "Tricept", "planar 4-RRR", "five-bar", "3-RRRS", "6-UPS + SPR")


def robot_of(name: str) -> Robot:
    """A robot of a family."""
    return Robot.from_dict(draw(name, 0)[0])


def motion_of(name: str, count: int = COUNT) -> Motion:
    """States that it can be in."""
    return Motion(**random_states(0, draw(name, 0)[1], count))


def test_passive_joints_have_limits():
    robot, motion = robot_of("3-RPS"), motion_of("3-RPS")
    tables = robot.file.model_dump()
    assert tables["legs"]["kind"] == "chain"
    first = [[-10.0, 10.0], [-10.0, 10.0], [-10.0, 1e-3]]
    robot = robot.edited({"legs.joints.0.stroke": first, "legs.joints.0.home": [0.0, 0.0, 0.5]})
    q = robot.chains_of(motion).reshape(COUNT, -1, 3)[:, 0, 2] + 0.5
    (found,) = robot.check(motion).violations
    assert (found.leg, found.limit, found.part, found.unit) == (3, "stroke", "joint 1", "rad")
    assert_allclose([found.value, found.allowed, found.samples], [q.max(), 1e-3, COUNT], rtol=1e-12)
    assert str(found).startswith("leg 3: joint 1 stroke ")


def test_rates_of_passive_joints_have_limits():
    robot, motion = robot_of("3-RPS"), motion_of("3-RPS", 1)[0]
    robot = robot.edited({"legs.joints.0.speed": 1e-6})
    found = robot.check(motion).violations
    assert [(one.leg, one.part, one.unit) for one in found] == [
        (leg, "joint 1", "rad/s") for leg in (1, 2, 3)
    ]
    step = 1e-6
    back, ahead = (
        robot.chains_of(
            Motion(
                motion.position + sign * step * motion.velocity,
                gough.base.rotations.exponential(sign * step * motion.angular_velocity)[0]
                @ motion.rotation,
            )
        )[:3]
        for sign in (-1, 1)
    )
    rates = np.abs(ahead - back) / (2 * step)
    assert_allclose([one.value for one in found], rates, rtol=1e-6)


def test_each_actuator_has_its_own_limit_and_unit():
    robot, motion = robot_of("3-RRRS"), motion_of("3-RRRS")
    q = robot.inverse_kinematics(motion).q
    robot = robot.edited({"legs.joints.1.stroke": [[-9.0, 9.0], [-9.0, 9.0], [-9.0, -8.0]]})
    (found,) = robot.check(motion).violations
    assert (found.leg, found.part, found.unit) == (3, "actuator 2", "rad")
    assert_allclose(found.value, q[:, 5].max(), rtol=1e-14)
    mixed = robot_of("3-UPS + 3-PUS")
    assert mixed.check(mixed.home).ok


@pytest.mark.parametrize("name", SOME)
def test_variants_equal_robots_of_their_own(name):
    robot, motion = robot_of(name), motion_of(name)
    rng = np.random.default_rng(1)
    changes: dict[str, Array] = {}
    for key, core in varied_keys(robot).items():
        if key.endswith((".body.mass", ".rotor_mass")) or key == "platform.mass":
            changes[key] = rng.uniform(0.5, 2.0, (COUNT, *core))
    found = robot.variants(changes)[:, np.newaxis].inverse_dynamics(motion).forces
    assert found.shape == (COUNT, COUNT, robot.actuator_count)
    for i in range(COUNT):
        alone = robot.edited({key: value[i].tolist() for key, value in changes.items()})
        assert_allclose(found[i], alone.inverse_dynamics(motion).forces, rtol=1e-11, atol=1e-11)


def test_variants_of_chains_differ_in_geometry():
    robot, motion = robot_of("6-UPS chains"), motion_of("6-UPS chains")
    rng = np.random.default_rng(2)
    (group,) = robot.description.groups
    place, point = group.table.position, group.table.joints[-1].point
    changes = {
        f"{group.where}.position": place + 0.02 * rng.normal(size=(COUNT, 6, 3)),
        f"{group.where}.joints.3.point": point + 0.02 * rng.normal(size=(COUNT, 6, 3)),
    }
    many = robot.variants(changes)
    assert not np.allclose(*np.moveaxis(many.mechanism.points, -1, 0))
    found = many[:, np.newaxis].inverse_dynamics(motion).forces
    whole = [
        robot.edited({key: value[i].tolist() for key, value in changes.items()})
        for i in range(COUNT)
    ]
    for i, one in enumerate(whole):
        assert_allclose(found[i], one.inverse_dynamics(motion).forces, rtol=1e-9, atol=1e-10)
    joined = Variants(whole)[:, np.newaxis].inverse_dynamics(motion).forces
    assert_allclose(joined, found, rtol=1e-9, atol=1e-10)


def test_variants_name_what_cannot_vary():
    robot = robot_of("3-RPS")
    with refusal(InputError, "legs.joints.0.stroke", "3-RPS"):
        robot.variants({"legs.joints.0.stroke": np.zeros((2, 3, 2))})
    with refusal(InputError, "variants", "leg 2", "legs.joints.0.axis"):
        robot.variants({"legs.joints.0.axis": [[1, 0, 0], [0, 0, 0], [1, 0, 0]]})
    with refusal(InputError, "legs", "freedom"):
        Variants([robot, robot_of("3-RRRS")])
    with refusal(InputError, "joints"):
        Variants([robot, robot_of("3-SPR")])


@pytest.mark.parametrize("name", ["rotary Delta", "3-RPS", "planar 4-RRR", "Exechon", "3-RRRS"])
def test_stiffness_against_forward_kinematics(name):
    """Springs give way by Γ/k: the pose with q − δΓ/k has the deflection, preload apart."""
    robot, pose = robot_of(name), motion_of(name, 1)[0]
    rest = Motion(pose.position, pose.rotation)
    k = np.linspace(1.0, 2.0, robot.actuator_count) * 1e7
    found = stiffness(robot, rest, k, preload=False)
    load = np.random.default_rng(3).normal(size=6)
    weightless = robot.edited({"gravity": [0.0, 0.0, 0.0]})
    # what the actuators carry of the load; on redundant robots springs share it by their stiffness
    J, D = robot.jacobian(rest), own_directions(robot, rest)
    u = np.linalg.solve(found.matrix, D.T @ load)
    pushed = -k * (J @ D @ u)
    assert_allclose((J @ D).T @ pushed, -D.T @ load, rtol=1e-9, atol=1e-9)
    if robot.actuator_count == robot.mobility:
        held = weightless.inverse_dynamics(rest, load, friction=False).forces
        assert_allclose(held, pushed, rtol=1e-8, atol=1e-8)
    q = robot.inverse_kinematics(rest).q
    moved = robot.forward_kinematics(q - pushed / k, rest)
    shift = moved.position - rest.position
    turn = Rotation.from_matrix(moved.rotation @ rest.rotation.T).as_rotvec()
    assert robot.tool.tolist() == [0, 0, 0]
    change = found.deflection(load[:3], load[3:])
    assert_allclose(change, [*shift, *turn], rtol=1e-5, atol=1e-5 * np.abs(change).max())
    assert np.linalg.matrix_rank(found.compliance, tol=1e-9 * np.abs(found.compliance).max()) == (
        robot.mobility
    )


@pytest.mark.parametrize("name", ["rotary Delta", "3-RPS", "five-bar"])
def test_natural_frequencies_of_free_actuators_are_those_of_the_linear_model(name):
    robot, pose = robot_of(name), motion_of(name, 1)[0]
    springs = np.linspace(1.0, 2.0, robot.actuator_count) * 1e4
    found = robot.natural_frequencies(pose, springs)
    m = robot.mobility
    assert found.frequencies.shape == (m,)
    assert found.shapes.shape == (6, m)
    near = robot.linearize(found.motion, friction=False)
    rates = robot.jacobian(found.motion) @ own_directions(robot, found.motion)
    closed = near.A.copy()
    closed[m:, :m] -= near.B[m:] @ (springs[:, np.newaxis] * rates)
    poles = np.sort(np.abs(np.linalg.eigvals(closed).imag))[::2] / (2 * np.pi)
    assert_allclose(found.frequencies, poles, rtol=1e-9)
    # the platform can move so
    assert_allclose(
        standing(robot, found.motion).held[0] @ scaled(robot, found.shapes), 0, atol=1e-9
    )


def scaled(robot: Robot, twists: Array) -> Array:
    """(v, L ω)."""
    return twists * np.repeat([1.0, robot.length_scale], 3)[:, np.newaxis]


@pytest.mark.parametrize(
    "name", ["rotary Delta", "3-RPS", "planar 4-RRR", "Exechon", "6-UPS chains"]
)
def test_measures_of_singularities_are_those_of_the_jacobian_on_what_is_free(name):
    robot, motion = robot_of(name), motion_of(name)
    found = singularity(robot, motion)
    assert found.kind.tolist() == ["regular"] * COUNT
    held = standing(robot, motion).held
    scale = np.repeat([1.0, robot.length_scale], 3)
    for i in range(COUNT):
        free = null_space(held[i]) if held.shape[1] else np.eye(6)
        assert free.shape == (6, robot.mobility)
        sizes = np.linalg.svd(robot.jacobian(motion)[i] / scale @ free, compute_uv=False)
        assert_allclose(found.condition[i], sizes[0] / sizes[-1], rtol=1e-9)
        assert_allclose(found.smallest[i], sizes[-1], rtol=1e-9)
    assert_allclose(robot.condition_number(motion), found.condition, rtol=1e-9)
    assert found.serial.shape == found.output.shape == (COUNT, robot.actuator_count)
    assert found.universal.shape == (COUNT, robot.leg_count)
    assert np.all((found.constraint > 0.01) & (found.constraint <= 1))


def test_poses_that_are_not_allowed_are_named():
    robot = robot_of("rotary Delta")
    tilted = Motion(
        robot.home.position, Rotation.from_rotvec([0.1, 0, 0]).as_matrix() @ robot.home.rotation
    )
    with pytest.raises(ConstraintError):
        singularity(robot, tilted)


@pytest.mark.second_tier
def test_the_nearest_singularity_of_a_held_platform():
    robot = robot_of("3-RPS")
    found = clearance(robot, robot.home)
    assert 0 < found.distance < 1
    there = singularity(robot, found.foot)
    assert there.kind == "parallel"
    assert there.parallel < 1e-9
    assert determinant_along(robot, found.foot[np.newaxis], robot.length_scale)[0] == pytest.approx(
        0, abs=1e-9
    )
    with refusal(InputError, "many", "actuators"):
        clearance(robot_of("planar 4-RRR"), robot_of("planar 4-RRR").home)


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize(("name", "count"), [("rotary Delta", 1), ("3-RPS", 16)])
def test_postures_by_a_search(name, count):
    """A 3-RPS robot has up to sixteen (Tsai 1999); a Delta two, here one on another branch."""
    robot = robot_of(name)
    q = robot.inverse_kinematics(robot.home).q
    found = postures(robot, q)
    assert found.method == "quick"
    assert found.coverage is not None
    assert not found.proven
    assert len(found.motion) == count
    assert_allclose(robot.inverse_kinematics(found.motion).q, np.tile(q, (count, 1)), atol=1e-9)
    apart = np.abs(found.motion.position - robot.home.position).max(axis=1)
    assert apart.min() < 1e-9
    assert robot.assembly_modes(q).shape == (2 if count == 1 else count,)
    with refusal(InputError, "forty", "postures"):
        robot.assembly_modes(q, method="complete")


def test_groups_of_rods_have_forty_solutions():
    robot = robot_of("3-UPS + 3-PUS")
    found = postures(robot, robot.inverse_kinematics(robot.home).q)
    assert found.method == "complete"
    assert found.complex_count is not None
    assert np.abs(found.motion.position - robot.home.position).max(axis=1).min() < 1e-9


@pytest.mark.parametrize("name", ["rotary Delta", "3-RPS", "five-bar"])
def test_worst_cases_hold_and_are_nearly_met(name):
    robot = robot_of(name)
    own = np.array([COORDINATES.index(one) for one in robot.coordinates])
    unit = np.zeros(6)
    unit[own] = 1.0
    worst = worst_case(robot, robot.home, acceleration=2 * unit, load=[1.0] * 6, twist=0.5 * unit)
    rng = np.random.default_rng(4)
    count, m = 300, robot.mobility
    u = np.tile(np.concatenate([robot.home.position, np.zeros(3)])[own], (count, 1))
    ud, udd = rng.choice([-0.5, 0.5], (count, m)), rng.choice([-2.0, 2.0], (count, m))
    motion = robot.motion(u, ud, udd)
    wrench = rng.choice([-1.0, 1.0], (count, 6))
    forces = robot.inverse_dynamics(motion, wrench, friction=False).forces
    assert np.all(forces.max(axis=0) <= worst.push + 1e-9)
    assert np.all(-forces.min(axis=0) <= worst.pull + 1e-9)
    assert np.all(worst.force - np.abs(forces).max(axis=0) < 0.1 * worst.force)
    rates = np.abs(robot.inverse_kinematics(motion).qd).max(axis=0)
    assert_allclose(worst.speed, rates, rtol=1e-9)
    bad = 1.0 - unit
    with pytest.raises(InputError, match=r"moves by .*, not by"):
        worst_case(robot, robot.home, twist=bad)


def test_drives_of_rotary_robots():
    robot = robot_of("rotary Delta")
    t = np.linspace(0, 1, 41)
    u = robot.home.position + 0.02 * np.sin(2 * np.pi * t)[:, np.newaxis] * [1.0, 0.5, 0.2]
    motion = robot.motion(u, time=t)
    found = size(robot, motion, Drive(ratio=20.0, rotor_inertia=1e-5))
    assert found.units.force == "N m"
    assert found.legs.peak_force.shape == (1, 3)
    assert found.motors is not None
    assert np.all(np.isfinite(found.motors.peak_torque))
    with refusal(InputError, "ratio"):
        size(robot, motion, Drive(lead=0.01))


def test_workspaces_in_own_coordinates():
    robot = robot_of("3-RPS")
    box = np.stack([[-0.1, -0.2, -0.2], [0.1, 0.2, 0.2]], axis=1)
    box[0] += robot.home.position[2]
    assert robot.coordinates == ("z", "rx", "ry")
    assert not provable(robot)
    whole = own_workspace(robot, box, cells=5)
    assert whole.measure == "m rad²"
    assert whole.inside.all()
    assert whole.volume == pytest.approx(np.prod(np.ptp(box, axis=1)))
    q = robot.inverse_kinematics(robot.home).q
    limited = robot.edited(
        {"legs.joints.1.stroke": [[float(x) - 0.05, float(x) + 0.05] for x in q]}
    )
    part = own_workspace(limited, box, cells=7)
    assert 0 < part.volume < whole.volume
    assert part.error > 0
    assert part.limits["stroke"] > 0
    with refusal(InputError, "samples", "own_workspace"):
        workspace(robot)


def test_a_proved_workspace_agrees_with_a_sampled_one():
    robot = robot_of("rotary Delta")
    box = np.stack([robot.home.position - 0.1, robot.home.position + 0.1], axis=1)
    proved, sampled = (
        workspace(robot, bounds=box, tolerance=0.02),
        own_workspace(robot, box, cells=11),
    )
    assert abs(proved.volume - sampled.volume) < proved.error + sampled.error


def test_what_cannot_be_meant_is_named():
    robot = robot_of("3-RPS")
    with refusal(InputError, "chain", "legs"):
        stiffness(robot, robot.home, 1e6, 1e7, preload=False)
    with refusal(InputError, "chain", "legs"):
        leg_distances(robot, robot.home)
    with refusal(InputError, "accuracy", "3-RPS", 3):
        accuracy(robot, robot.home, Tolerances(leg=1e-5))
    with refusal(InputError, "stiffness_map", "3-RPS"):
        stiffness_map(robot, 1e6)
    with refusal(InputError, 3):
        _ = stiffness(robot, robot.home, 1e6).at_tool


def test_commands_know_any_robot(tmp_path):
    robot = robot_of("five-bar")
    path = tmp_path / "five.toml"
    robot.save(path)
    for command in (
        ["stiffness", str(path), "--stiffness", "1e6", "--json"],
        ["postures", str(path), "--json"],
    ):
        code, out, said = run(*command)
        assert code == 0, said
        assert json.loads(out)["robot"] == robot.name
