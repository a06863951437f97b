"""Workspaces: volumes inside their own error bounds, boxes that prove what they say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import gough
from cases.common import each_kind
from cases.errors import refusal
from cases.workspaces import robot_of, sampled
from gough import Motion, Robot
from gough.analysis.margins import Conditions
from gough.analysis.octree import cut
from gough.analysis.pose_boxes import Orientations, Positions
from gough.analysis.rotation_measure import ALL_ORIENTATIONS
from gough.analysis.workspace import cone, dexterous, orientation_workspace, reachable, workspace
from gough.errors import InputError, MissingDataError, ToleranceWarning
from gough.model.limits import demands


def in_shells(robot, position, rotation):
    """The positions (n, 3) at which UPS legs are between their shortest and longest: shells."""
    legs = robot.file.legs
    tips = np.asarray(legs.platform) @ rotation.T
    strokes = np.broadcast_to(np.asarray(legs.limits.stroke, dtype=float), (len(tips), 2))
    for base, arm, (low, high) in zip(np.asarray(legs.base), tips, strokes, strict=True):
        leg = position + (arm - base)
        square = np.einsum("ni,ni->n", leg, leg)
        position = position[(square >= low**2) & (square <= high**2)]
    return position


def within_limits(robot, motion):
    """Whether (n,) each pose is reached and within all limits: what `robot.check` compares."""
    good = np.isfinite(robot.inverse_kinematics(motion, on_error="nan").q).all(axis=1)
    kept = np.ones(good.sum(), dtype=bool)
    for _, value, allowed in demands(robot, motion[good], robot.description.limits):
        kept &= (value <= allowed).all(axis=1)
    good[good] = kept
    return good


def monte_carlo(good, box, total, rng, chunk=500_000):
    """Volume and its standard deviation; `good` counts those that are inside of points (n, 3)."""
    size, hits = float(np.prod(box[:, 1] - box[:, 0])), 0
    for _ in range(total // chunk):
        hits += good(box[:, 0] + (box[:, 1] - box[:, 0]) * rng.random((chunk, 3)))
    share = hits / total
    return share * size, size * np.sqrt(share * (1 - share) / total)


def test_constant_orientation_is_the_intersection_of_shells():
    """10⁷ points: the volume is met to 0.5 %, and the bound holds but for the points' own noise."""
    stroke = [[0.8, 1.6], [0.85, 1.6], [0.8, 1.55], [0.8, 1.6], [0.75, 1.6], [0.8, 1.65]]
    robot = robot_of("UPS", 3, stroke=stroke)
    for name in ("universal_angle", "spherical_angle"):
        robot = robot.edited({f"legs.limits.{name}": 4.0})  # over π: no limit
    rotation = Rotation.from_rotvec([0.1, -0.2, 0.15]).as_matrix()
    found = workspace(robot, rotation, tolerance=1e-3)
    assert found.met
    assert found.error <= 1e-3 * found.volume
    rng = np.random.default_rng(0)
    box = found.bounds
    volume, noise = monte_carlo(
        lambda at: len(in_shells(robot, at, rotation)), box, 10_000_000, rng
    )
    assert abs(found.volume / volume - 1) < 5e-3
    assert abs(found.volume - volume) < found.error + 3 * noise
    assert noise < 1e-3 * volume  # a fifth of the 0.5 %
    # and no point outside the boxes is inside the shells
    wide = np.stack([box[:, 0] - 0.2, box[:, 1] + 0.2], axis=1)
    outside = rng.uniform(wide[:, 0], wide[:, 1], (200_000, 3))
    apart = ((outside < box[:, 0]) | (outside > box[:, 1])).any(axis=1)
    assert not len(in_shells(robot, outside[apart], rotation))


@pytest.mark.filterwarnings("ignore::gough.errors.ArchitectureWarning")
def test_bounds_close_in_on_a_ball():
    """One leg's reach alone, base and platform points at the origins: a shell of known volume."""
    text = {
        "format": 1,
        "name": "ball",
        "legs": {
            "kind": "UPS",
            "base": [[0, 0, 0]] * 6,
            "platform": [[0, 0, 0]] * 6,
            "axis": [[1, 0, 0]] * 6,
            "limits": {"stroke": [[0.5, 1.0], *[[0.0, 3.0]] * 5]},
        },
    }
    robot = Robot.from_dict(text)
    exact = 4 / 3 * np.pi * (1 - 0.5**3)
    errors = []
    for tolerance in (0.1, 0.01, 0.001):
        found = workspace(robot, np.eye(3), tolerance=tolerance)
        assert abs(found.volume - exact) < found.error + 1e-7
        assert found.error <= tolerance * found.volume
        errors.append((len(found.centre), found.error))
    # of second order, a hundredth of the error takes about 100 times the boxes; of first, 10 000 times
    assert errors[2][0] < 400 * errors[0][0]


@each_kind
@pytest.mark.parametrize("turning", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_margins_are_within_their_bounds_all_over_a_box(kind, turning, seed):
    """g(centre + δ) = value + slope·δ ± rest, for all conditions, boxes from large to tiny."""
    robot = robot_of(kind, seed, universal_angle=0.5, spherical_angle=[0.3] * 3 + [2.0] * 3)
    rng = np.random.default_rng(seed)
    conditions = Conditions(robot, leg_radius=0.02, platform_angle=0.3)
    labels = np.array(conditions.labels)
    if turning:
        place = robot.home.position + rng.uniform(-0.05, 0.05, 3)
        family, middle, spread = (
            Orientations(conditions.points, place, robot.home.rotation), np.zeros(3), 1.5
        )  # fmt: skip
    else:
        family = Positions(conditions.points, robot.home.rotation)
        middle, spread = robot.home.position, 0.5
    count, closest = 300, []
    for size in (0.4, 0.05, 1e-3, 1e-5):
        centre = middle + rng.uniform(-spread, spread, (count, 3))
        half = size * rng.uniform(0.2, 1, (count, 3))
        shift = half * rng.choice([-1.0, 1.0, 0.5, 0.0], (count, 3))
        box = conditions(family.boxes(centre, half))
        point = conditions(family.boxes(centre + shift, np.zeros((count, 3))))
        at_centre = conditions(family.boxes(centre, np.zeros((count, 3))))
        reach = labels == "reach"  # without it there is no q to speak of
        reached = (point.value[:, reach] >= 0).all(axis=1)
        reached &= (at_centre.value[:, reach] >= 0).all(axis=1)
        with np.errstate(invalid="ignore"):
            off = point.value - box.value - np.einsum("nki,ni->nk", box.slope, shift)
            told = np.isfinite(point.value) & np.isfinite(box.value) & reached[:, np.newaxis]
        assert (np.abs(off[told]) <= box.rest[told] * (1 + 1e-9) + 1e-12).all(), size
        assert told.sum() > 1000
        sharp = told & (labels != "legs")
        closest.append(np.median(box.rest[sharp]))
    # to second order: a hundredth of the size, a thousandth of the doubt and less
    assert closest[2] < 2e-3 * closest[1]


@each_kind
@pytest.mark.parametrize("seed", range(3))
def test_boxes_prove_what_robot_check_says(kind, seed):
    robot = robot_of(kind, seed, universal_angle=0.35, spherical_angle=0.4)
    rng = np.random.default_rng(seed)
    turn = Rotation.from_rotvec(rng.uniform(-0.1, 0.1, 3)).as_matrix() @ robot.home.rotation
    found = workspace(robot, turn, tolerance=0.1)
    assert found.met
    assert found.inside.sum() > 20
    inside = sampled(found.centre[found.inside], found.half[found.inside], rng, 60)
    assert within_limits(robot, Motion(inside, turn)).all()
    assert found.contains(inside).all()
    box = found.bounds
    size = box[:, 1] - box[:, 0]
    points = rng.uniform(box[:, 0] - 0.2 * size, box[:, 1] + 0.2 * size, (400, 3))
    gap = np.abs(points[:, np.newaxis] - found.centre) - found.half
    outside = points[(gap > 0).any(axis=2).all(axis=1)][:120]
    assert len(outside) > 30
    assert not within_limits(robot, Motion(outside, turn)).any()
    assert not found.contains(outside).any()
    # at any point the margins' signs are those of the check
    assert_allclose(found.contains(points), within_limits(robot, Motion(points, turn)))
    # and the volume is that of points
    volume, noise = monte_carlo(lambda at: found.contains(at).sum(), box, 40_000, rng, 20_000)
    assert abs(found.volume - volume) < found.error + 4 * noise


@each_kind
def test_orientations_at_a_point(kind):
    robot = robot_of(kind, 5, universal_angle=0.6, spherical_angle=0.5)
    found = orientation_workspace(robot, tolerance=0.1)
    assert found.unit == "rad"
    rng = np.random.default_rng(1)

    def poses(vectors):
        turns = Rotation.from_rotvec(vectors).as_matrix() @ robot.home.rotation
        return Motion(robot.home.position, turns)

    inside = sampled(found.centre[found.inside], found.half[found.inside], rng, 60)
    assert within_limits(robot, poses(inside)).all()
    points = rng.uniform(found.bounds[:, 0], found.bounds[:, 1], (300, 3))
    gap = np.abs(points[:, np.newaxis] - found.centre) - found.half
    outside = points[(gap > 0).any(axis=2).all(axis=1)]
    assert len(outside) > 30
    assert not within_limits(robot, poses(outside)).any()
    # the measure, from random rotations near home
    size = np.linalg.norm(points, axis=1)
    box = float(np.prod(found.bounds[:, 1] - found.bounds[:, 0]))
    many = rng.uniform(found.bounds[:, 0], found.bounds[:, 1], (20_000, 3))
    size = np.linalg.norm(many, axis=1)
    weight = found.contains(many) * (2 * np.sin(size / 2) / size) ** 2
    noise = box * weight.std() / np.sqrt(len(many))
    assert abs(box * weight.mean() - found.volume) < found.error + 4 * noise


@pytest.mark.filterwarnings("ignore::gough.errors.ArchitectureWarning")
def test_all_orientations_where_nothing_limits():
    """A platform of no size turns freely: the measure of all rotations is 8 π²."""
    robot = Robot.from_dict(
        {
            "format": 1,
            "name": "point",
            "home": {"position": [0, 0, 1]},
            "legs": {
                "kind": "UPS",
                "base": [[np.cos(a), np.sin(a), 0] for a in range(6)],
                "platform": [[0, 0, 0]] * 6,
                "limits": {"stroke": [0.5, 2.0]},
            },
        }
    )
    found = orientation_workspace(robot, tolerance=0.02)
    assert abs(found.volume - ALL_ORIENTATIONS) < found.error
    part = orientation_workspace(robot, within=0.7, tolerance=0.01)
    assert abs(part.volume - 8 * np.pi * (0.7 - np.sin(0.7))) < part.error


@each_kind
def test_reachable_and_dexterous_of_several_orientations(kind):
    robot = robot_of(kind, 2, universal_angle=0.5)
    turns = cone(0.25, robot.home.rotation, 2)
    some, every = (solve(robot, turns, tolerance=0.2) for solve in (reachable, dexterous))
    each = [workspace(robot, turn, tolerance=0.5) for turn in turns]
    rng = np.random.default_rng(0)
    box = some.bounds
    points = rng.uniform(box[:, 0], box[:, 1], (5_000, 3))
    feasible = np.stack([one.contains(points) for one in each])
    assert (some.contains(points) == feasible.any(axis=0)).all()
    assert (every.contains(points) == feasible.all(axis=0)).all()
    size = float(np.prod(box[:, 1] - box[:, 0]))
    for found, inside in ((some, feasible.any(axis=0)), (every, feasible.all(axis=0))):
        share = inside.mean()
        noise = size * np.sqrt(share * (1 - share) / len(points))
        assert abs(found.volume - size * share) < found.error + 4 * noise
        chosen = sampled(found.centre[found.inside], found.half[found.inside], rng, 200)
        assert found.contains(chosen).all()
    assert every.volume + every.error < some.volume - some.error


def test_share_of_a_cut_cube_against_random_points():
    rng = np.random.default_rng(0)
    slope = np.abs(rng.normal(size=(200, 3))) * 10.0 ** rng.uniform(-5, 0, (200, 3))
    value = rng.uniform(-1, 1, 200) * slope.sum(axis=1)
    rest = rng.uniform(0, 0.1, 200) * slope.sum(axis=1)
    low, high = cut(value, slope, rest)
    z = rng.uniform(-1, 1, (20_000, 3))
    level = value + z @ slope.T
    noise = 4 * 0.5 / np.sqrt(len(z))
    assert (low <= (level - rest >= 0).mean(axis=0) + noise).all()
    assert (high >= (level + rest >= 0).mean(axis=0) - noise).all()
    exact = cut(value, slope, np.zeros(200))
    assert np.abs(exact[0] - (level >= 0).mean(axis=0)).max() < 0.003 + noise
    assert (exact[1] - exact[0]).max() < 0.004
    low, high = cut(np.array([1.0, -1.0, 0.5]), np.zeros((3, 3)), np.array([0.5, 0.5, np.inf]))
    assert low.tolist() == [1, 0, 0]
    assert high.tolist() == [1, 0, 1]


def test_what_makes_no_sense_is_an_error_and_what_is_too_much_a_warning():
    robot = robot_of("UPS", 1)
    with refusal(InputError, "tolerance"):
        workspace(robot, tolerance=0)
    with refusal(InputError, "bounds"):
        workspace(robot, bounds=[[0, 1], [0, 1], [1, 1]])
    with refusal(InputError, "leg_radius"):
        workspace(robot, leg_radius=-1)
    with refusal(InputError, "legs", "apart"):
        workspace(robot, leg_radius=0.5)
    with refusal(InputError, "platform_angle"):
        workspace(robot, platform_angle=2)
    with refusal(InputError, "orientation"):
        workspace(robot, np.tile(np.eye(3), (2, 1, 1)))
    with refusal(InputError, "orientations"):
        dexterous(robot, np.zeros((0, 3, 3)))
    with refusal(InputError, "finite"):
        workspace(robot, np.full((3, 3), np.nan))
    with pytest.raises(InputError, match="within"):
        orientation_workspace(robot, within=4)
    with refusal(InputError, "position"):
        orientation_workspace(robot, [0, 0, np.nan])
    with refusal(MissingDataError, "stroke"):
        workspace(gough.load("dietmaier-1998"), np.eye(3))
    with pytest.warns(ToleranceWarning):
        found = workspace(robot, tolerance=1e-4, most_boxes=2000)
    assert not found.met
    assert found.error > 1e-4 * found.volume
    assert len(found.centre) <= 2000


def test_an_empty_workspace_has_volume_zero():
    robot = robot_of("UPS", 1, stroke=[[0.1, 0.2]] * 6)
    found = workspace(robot)
    assert (found.volume, found.error, found.met) == (0.0, 0.0, True)
    assert not found.contains([0.0, 0.0, 1.0])
    assert found.bounds.shape == (3, 2)


def test_a_robot_without_limits_fills_its_bounds():
    box = [[0, 1], [0, 2], [1, 2]]
    found = workspace(gough.load("dietmaier-1998"), np.eye(3), bounds=box, from_home=False)
    assert (found.volume, found.error, found.met) == (2.0, 0.0, True)
    assert found.contains([[0.5, 0.5, 1.5], [0.5, 0.5, 0.5]]).tolist() == [True, False]
    assert found.surface(points=21).volume == pytest.approx(2.0, rel=1e-2)


def test_generous_bounds_cost_no_accuracy():
    robot = robot_of("UPS", 1)
    wide = workspace(robot, tolerance=0.3, bounds=[[-1e4, 1e4]] * 3)
    own = workspace(robot, tolerance=0.3)
    assert wide.met
    assert (wide.volume, wide.error) == (own.volume, own.error)


def test_progress_gets_bounds_that_only_tighten():
    robot, seen = robot_of("UPS", 1), []
    found = workspace(robot, tolerance=0.01, progress=seen.append)
    assert len(seen) > 2
    least = [one.volume - one.error for one in seen]
    largest = [one.volume + one.error for one in seen]
    assert (np.diff(least) >= -1e-6 * found.volume).all()
    assert (np.diff(largest) <= 1e-6 * found.volume).all()
    assert seen[-1].volume == found.volume


@each_kind
def test_surface_is_closed_and_holds_the_volume(kind):
    found = workspace(robot_of(kind, 1), tolerance=0.05)
    rough = workspace(robot_of(kind, 1), tolerance=0.7)
    skin = found.surface(points=31)
    for one in (skin, rough.surface(points=15)):
        edges = np.sort(one.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        _, count = np.unique(edges, axis=0, return_counts=True)
        assert (count == 2).all()  # every edge has two triangles
    assert skin.volume == pytest.approx(found.volume, rel=0.05)
    assert np.abs(found.margins(skin.vertices).min(axis=1)).max() < 1e-6
