"""Singularities: measures against independent ones, warnings at load, the locus, the way to it."""

import json
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import gough
from cases.command import run
from cases.common import each_kind, each_shape, impossible_bodies
from cases.errors import refusal
from cases.hexapods import BASE, SYMMETRIC, ring
from gough import Motion, Robot
from gough.analysis.clearance import clearance
from gough.analysis.locus import around_home, determinant, slice_at, surface
from gough.analysis.singularities import lines, matrix, singularity
from gough.errors import ArchitectureWarning, InputError, NotFiniteError, ReachError, SingularError
from gough.show.pictures.singularities import course, slice_pictures, surface_picture
from oracles.random_robot import random_motion, random_robot

NAMES = gough.catalogue()
pytestmark = impossible_bodies


def data_of(base, points, kind="UPS"):
    body = {"mass": 1.0}
    legs = {"kind": kind, "platform": np.asarray(points).tolist(), "axis": [0.3, 1, 0.1]}
    if kind == "UPS":
        legs |= {"base": np.asarray(base).tolist(), "cross": body, "cylinder": body, "rod": body}
    else:
        legs |= {"rail_origin": np.asarray(base).tolist(), "rail_direction": [0, 0, 1]}
        legs |= {"length": 1.4, "slider": body, "cross": body, "link": body}
    platform = {"mass": 5.0, "inertia": np.eye(3).tolist()}
    home = {"position": [0, 0, 1]}
    return {"format": 1, "name": "six", "legs": legs, "home": home, "platform": platform}


REGULAR = ring(1.0, 60 * np.arange(6))
TRIANGLE = ring(1.0, np.array([90, 210, 330]))
MIDDLES = (TRIANGLE + np.roll(TRIANGLE, -1, axis=0)) / 2
VERTICES_AND_MIDDLES = np.stack([TRIANGLE, MIDDLES], axis=1).reshape(6, 3)
TURN = Rotation.from_rotvec([0, 0, 0.4]).as_matrix()
SINGULAR = {
    "similar hexagons": (BASE, 0.5 * BASE),
    "similar hexagons, turned": (BASE, 0.5 * BASE @ TURN.T),
    "similar hexagons, rounded": (BASE.round(5), (0.5 * BASE).round(5)),
    "regular hexagons": (REGULAR, 0.6 * np.roll(REGULAR, 1, axis=0)),
    # vertices to the middles of sides and the other way round
    "Griffis-Duffy": (VERTICES_AND_MIDDLES, 0.5 * np.roll(VERTICES_AND_MIDDLES, 1, axis=0)),
    "two legs in one": (BASE[[0, 0, 2, 3, 4, 5]], SYMMETRIC[[0, 0, 2, 3, 4, 5]]),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_geometries_that_are_singular_everywhere_are_flagged_at_load(name):
    base, points = SINGULAR[name]
    with pytest.warns(ArchitectureWarning):
        robot = Robot.from_dict(data_of(base, points))
    pose = Motion([0.1, -0.05, 1.0], Rotation.from_rotvec([0.1, 0.2, -0.1]))
    measures = singularity(robot, pose)
    assert measures.transmission < 1e-4
    if "rounded" not in name:
        assert measures.kind == "parallel"
        with pytest.raises(SingularError):
            robot.inverse_dynamics(pose)
        assert np.isnan(robot.inverse_dynamics(pose, on_error="nan").forces).all()


def test_sliders_that_are_singular_everywhere_are_flagged_too():
    with pytest.warns(ArchitectureWarning):
        Robot.from_dict(data_of(*SINGULAR["two legs in one"], "PUS"))
    # similar hexagons on parallel rails are sound: the sliders leave their plane
    assert (
        singularity(
            Robot.from_dict(data_of(BASE, 0.5 * BASE, "PUS")),
            Motion([0.1, 0, 1], Rotation.from_rotvec([0.3, 0.2, 0.1])),
        ).kind
        == "regular"
    )


@pytest.mark.parametrize("name", NAMES)
def test_sound_robots_are_not_flagged(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ArchitectureWarning)
        gough.load(name)
        Robot.from_dict(data_of(BASE, SYMMETRIC))
        Robot.from_dict(data_of(BASE, SYMMETRIC, "PUS"))


@pytest.mark.parametrize("turn", [90, -90])
def test_a_symmetric_platform_turned_by_a_right_angle_is_flagged_at_the_pose(turn):
    robot = Robot.from_dict(data_of(BASE, SYMMETRIC))
    angles = np.deg2rad([0.9 * turn, turn, 1.1 * turn])
    poses = Motion([0, 0, 1.1], Rotation.from_rotvec(angles[:, None] * [0, 0, 1]))
    measures = singularity(robot, poses)
    assert measures.kind.tolist() == ["regular", "parallel", "regular"]
    assert measures.transmission[1] < 1e-12
    assert measures.smallest[1] < 1e-12
    assert np.all(measures.transmission[[0, 2]] > 0.1)
    with refusal(SingularError, "sample 1"):
        robot.inverse_dynamics(poses)


@each_kind
@pytest.mark.parametrize("seed", range(3))
def test_measures_are_those_of_the_jacobian(kind, seed):
    rng = np.random.default_rng(seed)
    data = random_robot(rng, kind, 6)
    robot = Robot.from_dict(data)
    state = random_motion(rng, data, (20,))
    poses = Motion(state["position"], state["rotation"])
    measures = singularity(robot, poses, length=0.3)
    scaled = robot.jacobian(poses) / ([1.0] * 3 + [0.3] * 3)
    values = np.linalg.svd(scaled, compute_uv=False)
    assert_allclose(measures.condition, values[:, 0] / values[:, -1], rtol=1e-9)
    assert_allclose(measures.smallest, values[:, -1], rtol=1e-9)
    assert measures.length == 0.3
    assert_allclose(singularity(robot, poses).condition, robot.condition_number(poses), rtol=1e-9)
    if kind == "PUS":
        rails = np.asarray(data["legs"]["rail_direction"])
        rails /= np.linalg.norm(rails, axis=1, keepdims=True)
        link = robot.inverse_kinematics(poses).direction
        assert_allclose(measures.serial, np.abs(np.sum(link * rails, axis=-1)), rtol=1e-12)
    elif kind == "RUS":
        w = robot.jacobian(poses)[..., :3]  # n/c
        assert_allclose(measures.serial, 1 / np.linalg.norm(w, axis=-1), rtol=1e-9)
    else:
        assert_array_equal(measures.serial, 1)
    # transmission by its definition: all actuators but one locked, the tip's velocity
    twists = np.linalg.inv(robot.jacobian(poses))  # column i moves q_i alone
    points = np.asarray(data["legs"]["platform"])
    arm = np.einsum("nij,lj->nli", poses.rotation, points)
    tip = np.swapaxes(twists[:, :3], 1, 2) + np.cross(np.swapaxes(twists[:, 3:], 1, 2), arm)
    link = robot.inverse_kinematics(poses).direction
    cosine = np.abs(np.sum(link * tip, axis=-1)) / np.linalg.norm(tip, axis=-1)
    assert_allclose(measures.output, cosine, rtol=1e-9)
    driven = measures.serial
    if kind == "RUS":  # over the speed at which the crank alone moves the tip
        motor, axis = (np.asarray(data["legs"][key]) for key in ("motor", "motor_axis"))
        axis = axis / np.linalg.norm(axis, axis=1, keepdims=True)
        place = poses.position[:, None] + arm
        driven = driven / np.linalg.norm(np.cross(axis, place - motor), axis=-1)
    assert_allclose(measures.transmission, np.minimum(cosine, driven).min(axis=1), rtol=1e-9)
    assert set(measures.kind) == {"regular"}


def test_transmission_needs_no_length_and_no_frame():
    data = random_robot(np.random.default_rng(0), "UPS", 6)
    robot = Robot.from_dict(data)
    one = singularity(robot, robot.home)
    assert singularity(robot, robot.home, length=50.0).transmission == pytest.approx(
        float(one.transmission), rel=1e-9
    )
    # all in another unit of length, and another origin of the platform frame
    shift = np.array([0.3, -0.2, 0.5])
    points = 1000 * (np.asarray(data["legs"]["platform"]) - shift)
    other = robot.edited(
        {
            "legs.base": (1000 * np.asarray(data["legs"]["base"])).tolist(),
            "legs.platform": points.tolist(),
        }
    )
    home = Motion(1000 * (robot.home.position + robot.home.rotation @ shift), robot.home.rotation)
    assert_allclose(singularity(other, home).output, one.output, rtol=1e-9)


def test_serial_singularities():
    base, points = BASE.copy(), SYMMETRIC.copy()
    base[0], points[0] = [1, 0, 0], [0.5, 0, 0]
    data = data_of(base, points, "PUS")
    data["legs"]["length"] = [0.5, 1.4, 1.4, 1.4, 1.4, 1.4]  # the first link is square to its rail
    robot = Robot.from_dict(data)
    measures = singularity(robot, robot.home)
    assert measures.kind == "serial"
    assert measures.serial[0] == 0
    assert np.all(measures.serial[1:] > 0.5)
    assert np.isinf(measures.condition)
    assert measures.transmission == 0
    with refusal((SingularError, ReachError), "leg 1"):
        robot.jacobian(robot.home)
    # a leg along its first universal axis
    up = data_of(BASE, BASE.copy())
    up["legs"]["axis"] = [0, 0, 1]
    with pytest.warns(ArchitectureWarning):
        robot = Robot.from_dict(up)
    measures = singularity(robot, Motion([0, 0, 1]))
    assert measures.kind == "both"
    assert measures.universal.max() < 1e-12
    # a leg without length
    robot = Robot.from_dict(data_of(BASE, SYMMETRIC))
    measures = singularity(robot, Motion(BASE[0] - SYMMETRIC[0]))
    assert measures.kind == "both"
    assert measures.transmission == 0


def test_more_than_six_legs_are_as_good_as_their_best_six():
    rng = np.random.default_rng(1)
    data = random_robot(rng, "UPS", 8)
    robot = Robot.from_dict(data)
    measures = singularity(robot, robot.home)
    assert np.isnan(measures.output).sum() == 2
    used = np.flatnonzero(~np.isnan(measures.output))
    legs = {
        key: [data["legs"][key][i] for i in used]
        for key in ("base", "platform", "axis", "reference")
    }
    six = Robot.from_dict(
        {"format": 1, "name": "six", "legs": {"kind": "UPS"} | legs, "home": data["home"]}
    )
    assert singularity(six, six.home).transmission == pytest.approx(float(measures.transmission))


@each_shape
def test_batches_are_their_samples(shape):
    robot = gough.load("kim-ryu-2002")
    rng = np.random.default_rng(0)
    poses = Motion(robot.home.position + rng.uniform(-0.05, 0.05, (*shape, 3)), robot.home.rotation)
    measures, near = singularity(robot, poses), clearance(robot, poses)
    assert measures.kind.shape == shape
    assert measures.serial.shape == (*shape, 6)
    assert near.distance.shape == near.foot.shape == near.determinant.shape == shape
    for index in np.ndindex(shape):
        one = singularity(robot, poses[index])
        for name in ("condition", "smallest", "parallel", "transmission", "output"):
            assert_allclose(getattr(measures, name)[index], getattr(one, name), rtol=1e-9)
        assert_allclose(clearance(robot, poses[index]).distance, near.distance[index], rtol=1e-6)


def test_bad_poses_and_arguments_are_named():
    robot = gough.load("kim-ryu-2002")
    positions = np.tile(robot.home.position, (3, 1))
    positions[1] = 50.0
    for measure in (singularity, clearance):
        with refusal(ReachError, "sample 1"):
            measure(robot, Motion(positions))
        with refusal(NotFiniteError, "sample 2"):
            measure(robot, Motion(np.where(np.arange(3)[:, None] == 2, np.nan, positions[:1])))
        with refusal(InputError, "length", -1):
            measure(robot, robot.home, length=-1)
    lost = singularity(robot, Motion(positions), on_error="nan")
    assert_array_equal(np.isnan(lost.condition), [False, True, False])
    assert lost.kind.tolist() == ["regular", "", "regular"]
    far = clearance(robot, Motion(positions), on_error="nan")
    assert_array_equal(np.isnan(far.distance), [False, True, False])
    five = Robot.from_dict(random_robot(np.random.default_rng(0), "UPS", 5))
    with refusal(InputError, 5):
        singularity(five, five.home)
    with refusal(InputError, 5):
        clearance(five, five.home)
    with refusal(InputError, "x", "y", "z", "w"):
        slice_at(robot, "w", 0, [[0, 1], [0, 1]])
    with refusal(InputError, "bounds", 2):
        slice_at(robot, "x", 0, [[1, 0], [0, 1]])
    with refusal(InputError, "points", 1):
        surface(robot, [[0, 1]] * 3, points=1)


def test_the_locus_is_singular_and_separates_the_signs():
    robot = gough.load("dietmaier-1998")
    x, y, z = around_home(robot)
    one = slice_at(robot, "z", robot.home.position[2], [x, y], points=101)
    assert len(one.curves) == 3
    for curve in one.curves:
        place = np.insert(curve, 2, one.at, axis=1)
        assert singularity(robot, Motion(place, robot.home.rotation)).parallel.max() < 1e-7
        assert np.ptp(curve, axis=0).max() > 1
    found = surface(robot, [x, y, z], points=21)
    poses = Motion(found.vertices, robot.home.rotation)
    assert singularity(robot, poses).parallel.max() < 1e-7
    # a closed surface but for the box: inner edges belong to two triangles each
    edges = np.sort(found.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    pairs, counts = np.unique(edges, axis=0, return_counts=True)
    assert counts.max() == 2
    rim = found.vertices[pairs[counts == 1]]
    box = np.array([x, y, z])
    on_box = np.isclose(rim[..., None], box, atol=1e-9).any(axis=-1)
    assert np.all(on_box.all(axis=1).any(axis=-1))
    # counterclockwise seen from where det > 0
    corner, second, third = (found.vertices[found.faces[:, i]] for i in range(3))
    normal = np.cross(second - corner, third - corner)
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    fat = size[:, 0] > 1e-6
    middle = (corner + second + third) / 3
    ahead = middle + 2e-2 * normal / np.maximum(size, 1e-300)
    behind = middle - 2e-2 * normal / np.maximum(size, 1e-300)
    rise = determinant(robot, ahead, robot.home.rotation, 1.0) - determinant(
        robot, behind, robot.home.rotation, 1.0
    )
    assert np.mean(rise[fat] > 0) > 0.99


def test_the_locus_of_a_cubic_is_known_exactly():
    """Flat base and flat, parallel platform: det is z³ times what the orientation gives."""
    robot = Robot.from_dict(data_of(BASE, SYMMETRIC))
    place = np.array([[0.3, 0.1, 0.7], [0.3, 0.1, 1.4]])
    legs = np.linalg.norm(place[:, None] + SYMMETRIC - BASE, axis=-1).prod(axis=1)
    low, high = determinant(robot, place, np.eye(3), 1.0) * legs
    assert high / low == pytest.approx(8)
    found = surface(robot, [[-0.5, 0.5], [-0.5, 0.5], [-0.33, 0.5]], points=8)
    assert len(found.faces) > 0
    assert_allclose(found.vertices[:, 2], 0, atol=1e-3)
    near = clearance(robot, Motion(place), turning=False)
    assert_allclose(near.distance, place[:, 2], rtol=1e-3)


def test_clearance_of_a_turning_platform():
    robot = Robot.from_dict(data_of(BASE, SYMMETRIC))
    angle = np.deg2rad(np.linspace(61, 119, 12))
    poses = Motion([0, 0, 1.1], Rotation.from_rotvec(angle[:, None] * [0, 0, 1]))
    near = clearance(robot, poses)
    assert_allclose(near.distance, np.abs(angle - np.pi / 2) * robot.length_scale, rtol=1e-6)
    assert_array_equal(near.crossings, [5])
    assert singularity(robot, near.foot).parallel.max() < 1e-8
    shift = np.linalg.norm(near.foot.position - poses.position, axis=-1)
    turn = Rotation.from_matrix(
        near.foot.rotation @ np.swapaxes(poses.rotation, -1, -2)
    ).magnitude()
    assert_allclose(np.hypot(shift, near.length * turn), near.distance, rtol=1e-9)


def test_nothing_nearer_is_found_by_brute_force():
    robot = gough.load("dietmaier-1998")
    near = clearance(robot, robot.home, turning=False)
    rng = np.random.default_rng(0)
    rays = rng.normal(size=(4000, 3))
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    shares = np.linspace(0, 1, 60)[:, None, None]
    inside = robot.home.position + 0.99 * float(near.distance) * shares * rays
    signs = np.sign(determinant(robot, inside, robot.home.rotation, 1.0))
    assert np.all(signs == signs[0, 0])


def test_lines_are_the_rows_of_the_jacobian():
    robot = gough.load("kim-ryu-2002")
    found = lines(robot, robot.home.position[None], robot.home.rotation[None])
    rows = matrix(found, 1.0)[0] / found.slope[0][:, None]
    assert_allclose(rows, robot.jacobian(robot.home), atol=1e-13)


def test_pictures(tmp_path):
    robot = gough.load("kim-ryu-2002")
    x, y, _ = around_home(robot, 0.5)
    one = slice_at(robot, "z", robot.home.position[2], [x, y], points=15)
    figure = slice_pictures(robot, [one])
    assert figure.axes[0].get_xlabel() == "x [m]"
    assert "home" in [text.get_text() for text in figure.legends[0].get_texts()]
    space = surface_picture(robot, surface(robot, around_home(robot, 0.5), points=5))
    assert space.axes[0].get_zlabel() == "z [m]"
    path = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=40).sample(5)
    figure = course(path, singularity(robot, path), clearance(robot, path))
    assert [axes.get_ylabel().split()[0] for axes in figure.axes] == [
        "condition",
        "transmission",
        "distance",
    ]
    with refusal(InputError, "curves", "shape"):
        course(robot.home, singularity(robot, robot.home), clearance(robot, robot.home))


def test_command_line(tmp_path):
    shown = run("singularities", "kim-ryu-2002")
    assert shown.returncode == 0, shown.stderr
    assert "length scale 0.165 m" in shown.stdout
    assert "singular:" not in shown.stdout
    picture = tmp_path / "course.png"
    name = "kim-ryu-2002/circle-40rpm"
    shown = run("singularities", "kim-ryu-2002", name, "--samples", "60", "-o", picture, "--json")
    numbers = json.loads(shown.stdout)
    assert len(numbers["condition"]) == len(numbers["distance"]) == 60
    assert numbers["crossings"] == []
    assert picture.read_bytes()[:4] == b"\x89PNG"
    data = tmp_path / "similar.toml"
    with pytest.warns(ArchitectureWarning):
        Robot.from_dict(data_of(BASE, 0.5 * BASE)).save(data)
    shown = run("singularities", data)
    assert "singular: parallel" in shown.stdout
    assert "architecturally singular" in shown.stderr
