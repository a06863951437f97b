"""Every posture: forty of forty, proven; nothing the random search finds is missed; honest failures."""

import json
import time
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import gough
from cases.command import refused, run
from cases.common import each_kind, impossible_bodies
from cases.errors import refusal
from cases.hexapods import BASE, HEXAGON, SYMMETRIC, ring
from gough import Motion, Robot
from gough.analysis import homotopy, multistart
from gough.analysis.certificate import apart, certify, not_real
from gough.analysis.postures import postures
from gough.analysis.start_system import geometry_of, line_between, make, separation, start_system
from gough.analysis.study import quadrics, rounding, to_pose, to_study
from gough.description.rods import UNFRAMED, Rods, constants, framed
from gough.errors import InputError, NotFiniteError, ReachError, SingularError
from oracles.random_robot import random_motion, random_robot

DIETMAIER = np.array([1, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071])
PLATFORMS = 3
pytestmark = impossible_bodies


def hexapod(base, points, name="hexapod"):
    legs = {"kind": "UPS", "base": np.asarray(base).tolist(), "axis": [0, 1, 0.1]}
    legs["platform"] = np.asarray(points).tolist()
    return Robot.from_dict(
        {"format": 1, "name": name, "legs": legs, "home": {"position": [0, 0, 1]}}
    )


def lengths(base, points, position, turn=(0, 0, 0)):
    rotation = Rotation.from_rotvec(turn).as_matrix()
    return np.linalg.norm(position + points @ rotation.T - base, axis=1)


def flat(motion):
    return np.concatenate([motion.position, motion.rotation.reshape(-1, 9)], axis=1)


def holds(motion, pose):
    """Whether a set of postures holds a pose."""
    return np.linalg.norm(flat(motion) - flat(pose[None]), axis=1).min(initial=9.0) < 1e-7


def test_dietmaiers_forty_postures_are_all_found_and_proven():
    robot = gough.load("dietmaier-1998")
    start = time.perf_counter()
    found = postures(robot, DIETMAIER)
    spent = time.perf_counter() - start
    assert found.motion.shape == (40,)
    assert found.complex_count == 40
    assert found.proven
    assert found.certified.all()
    assert found.radius.max() < 1e-7
    assert spent < 5
    q = robot.inverse_kinematics(found.motion).q
    assert_allclose(q, np.broadcast_to(DIETMAIER, (40, 6)), rtol=0, atol=1e-14)
    distances = np.linalg.norm(flat(found.motion)[:, None] - flat(found.motion), axis=-1)
    assert (distances + 9 * np.eye(40)).min() == pytest.approx(0.34, abs=0.005)
    assert_array_equal(flat(found.motion), flat(robot.assembly_modes(DIETMAIER)))


def test_quick_finds_dietmaiers_forty_in_half_a_second():
    robot = gough.load("dietmaier-1998")
    postures(robot, DIETMAIER, method="quick")  # imports and first calls are not the search
    start = time.process_time()
    found = postures(robot, DIETMAIER, method="quick")
    spent = time.process_time() - start
    assert found.motion.shape == (40,)
    assert found.certified.all()
    assert found.coverage.found == 40
    assert found.coverage.estimated == 40
    assert found.coverage.share == 1
    assert found.complex_count is None
    assert not found.proven
    assert spent < 0.5
    everything = flat(postures(robot, DIETMAIER).motion)
    assert_allclose(flat(found.motion), everything, rtol=0, atol=1e-8)


@pytest.mark.parametrize("seed", range(PLATFORMS))
def test_random_platforms_have_forty_solutions_and_no_surprises(seed):
    rng = np.random.default_rng([42, seed])
    base, points = rng.normal(size=(2, 6, 3))
    pose = Motion(rng.normal(size=3), Rotation.random(rng=rng))
    q = np.linalg.norm(pose.position + points @ pose.rotation.T - base, axis=1)
    robot = hexapod(base, points)
    found = postures(robot, q)
    assert found.complex_count == 40
    assert found.proven
    assert found.certified.all()
    assert len(found.motion) % 2 == 0  # complex ones come in pairs
    assert holds(found.motion, pose)
    met = postures(robot, q, method="quick")
    assert all(holds(found.motion, one) for one in met.motion)
    assert len(met.motion) <= len(found.motion)


@pytest.mark.parametrize("name", ["kim-ryu-2002", "sinatra-xi-staicu-2009"])
def test_sliders_count_only_on_their_branch(name):
    robot = gough.load(name)
    pose = Motion(
        robot.home.position + np.array([0.02, 0.01, -0.015]),
        robot.home.rotation @ Rotation.from_rotvec([0.1, 0.05, -0.07]).as_matrix(),
    )
    q = robot.inverse_kinematics(pose).q
    found = postures(robot, q)
    assert found.complex_count == 40
    assert found.proven
    assert holds(found.motion, pose)
    assert_allclose(robot.inverse_kinematics(found.motion).q - q, 0, atol=1e-12)
    elsewhere = robot.inverse_kinematics(found.other_branch, on_error="nan").q
    assert np.all(np.abs(elsewhere - q).max(axis=1) > 1e-3)
    if name.startswith("sinatra"):
        assert len(found.other_branch) > 0
    met = postures(robot, q, method="quick")
    assert_allclose(flat(met.motion), flat(found.motion), atol=1e-8)
    assert_allclose(flat(met.other_branch), flat(found.other_branch), atol=1e-8)


@pytest.mark.second_tier
@each_kind
def test_more_than_six_legs_filter(kind):
    rng = np.random.default_rng(3)
    data = random_robot(rng, kind, 8)
    robot = Robot.from_dict(data)
    state = random_motion(rng, data)
    pose = Motion(state["position"], state["rotation"])
    q = robot.inverse_kinematics(pose).q
    for method in ("complete", "quick"):
        found = postures(robot, q, method=method)
        assert found.motion.shape == (1,)
        assert found.certified.all()
        assert holds(found.motion, pose)
    q[7] += 1e-3  # eight lengths that no pose has
    assert robot.assembly_modes(q).shape == (0,)


def test_special_geometries_keep_what_is_isolated():
    """Symmetric planar hexapods have fewer than 40: other paths end where there are no poses."""
    robot = hexapod(BASE, SYMMETRIC)
    found = postures(robot, lengths(BASE, SYMMETRIC, [0.1, 0.05, 1], [0.1, 0.2, 0.3]))
    assert found.complex_count == 16
    assert found.complex_count + found.at_infinity + found.singular == 40
    assert len(found.motion) == 8
    assert found.certified.all()
    assert not found.proven
    mirrored = found.motion.position * [1, 1, -1]  # base and platform are flat
    gaps = np.linalg.norm(mirrored[:, None] - found.motion.position, axis=-1)
    assert_allclose(gaps.min(axis=1), 0, atol=1e-9)


@pytest.mark.parametrize("size", [1e-4, 1e-8])
def test_nearly_special_geometries_are_solved_too(size):
    rng = np.random.default_rng(0)
    base, points = BASE + size * rng.normal(size=(6, 3)), SYMMETRIC + size * rng.normal(size=(6, 3))
    q = lengths(base, points, [0.1, 0.05, 1], [0.1, 0.2, 0.3])
    found = postures(hexapod(base, points), q)
    assert len(found.motion) == 8
    assert found.certified.all()
    assert holds(found.motion, Motion([0.1, 0.05, 1], Rotation.from_rotvec([0.1, 0.2, 0.3])))


def test_a_singular_posture_is_found_but_not_certified():
    robot = hexapod(BASE, SYMMETRIC)
    turned = Motion([0, 0, 1.1], Rotation.from_rotvec([0, 0, np.pi / 2]))
    found = postures(robot, lengths(BASE, SYMMETRIC, [0, 0, 1.1], [0, 0, np.pi / 2]))
    gap = np.linalg.norm(flat(found.motion) - flat(turned[None]), axis=1)
    assert gap.min() < 1e-4  # a double solution is known to half the digits
    assert not found.certified[np.argmin(gap)]
    assert found.continuum.shape == (0,)


@pytest.mark.filterwarnings("ignore::gough.errors.ArchitectureWarning")
def test_continua_are_named():
    similar = hexapod(BASE, ring(0.5, HEXAGON))
    q = lengths(BASE, ring(0.5, HEXAGON), [0.1, 0.2, 1], [0.1, 0.2, 0.3])
    for method in ("complete", "quick"):
        with pytest.raises(SingularError):
            similar.assembly_modes(q, method=method)
    # one shape twice and equal legs: the platform swings, staying parallel
    shape = np.random.default_rng(0).normal(size=(6, 3))
    robot = hexapod(shape, shape)
    found = postures(robot, np.ones(6))
    assert len(found.continuum) > 0
    assert_allclose(robot.inverse_kinematics(found.continuum).q, 1, atol=1e-9)
    with pytest.raises(SingularError):
        robot.assembly_modes(np.ones(6), method="quick")
    lost = similar.assembly_modes(q, on_error="nan")
    assert lost.shape == (1,)
    assert np.isnan(lost.position).all()
    # and with other legs it does not
    pose = [0.3, 0.2, 1], [0.4, 0.5, 0.1]
    found = postures(robot, lengths(shape, shape, *pose))
    assert found.continuum.shape == (0,)
    assert holds(found.motion, Motion(pose[0], Rotation.from_rotvec(pose[1])))


def test_lengths_without_a_posture_have_none():
    robot = hexapod(BASE, SYMMETRIC)
    for q in (np.array([1, 1, 1, 1, 1, 9.0]), np.full(6, 0.05), np.array([1, 1.3, 1, 1.3, 1, 1.9])):
        for method in ("complete", "quick"):
            assert robot.assembly_modes(q, method=method).shape == (0,)


def test_bad_arguments_are_named():
    robot = gough.load("dietmaier-1998")
    with refusal(InputError, "(5,)", 6):
        robot.assembly_modes(np.ones(5))
    with refusal(InputError, "(2, 6)", "(6,)"):
        robot.assembly_modes(np.ones((2, 6)))
    with refusal(NotFiniteError, "leg 3"):
        robot.assembly_modes(np.where(np.arange(6) == 2, np.nan, 1.0))
    with refusal(ReachError, "leg 2", -1):
        robot.assembly_modes([1, -1, 1, 1, 1, 1])
    assert np.isnan(robot.assembly_modes([1, -1, 1, 1, 1, 1], on_error="nan").position).all()
    with refusal(InputError, "complete", "quick", "all"):
        robot.assembly_modes(DIETMAIER, method="all")
    with refusal(InputError, "on_error"):
        robot.assembly_modes(DIETMAIER, on_error="ignore")
    five = Robot.from_dict(random_robot(np.random.default_rng(0), "UPS", 5))
    with refusal(InputError, 5):
        five.assembly_modes(np.ones(5))


def test_the_quadrics_are_the_rods_equations():
    rng = np.random.default_rng(0)
    rods = Rods(rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), rng.uniform(1, 2, 6))
    small, frame = framed(rods)
    assert np.log2(frame.scale) == round(np.log2(frame.scale))
    position, rotation = rng.normal(size=(5, 3)), Rotation.random(5, rng).as_matrix()
    z = to_study(position, rotation, frame)
    assert_allclose(np.linalg.norm(z, axis=1), 1)
    back = to_pose(z, frame)
    assert_allclose(back[0], position, atol=1e-14)
    assert_allclose(back[1], rotation, atol=1e-14)
    value = np.einsum("ni,eij,nj->ne", z, quadrics(small.anchor, small.point, constants(small)), z)
    rod = position[:, None] + np.einsum("nij,lj->nli", rotation, rods.point) - rods.anchor
    error = (np.sum(rod**2, axis=-1) - rods.length**2) / frame.scale**2
    norm = np.sum(z[:, :4] ** 2, axis=1, keepdims=True)
    assert_allclose(value[:, :6], norm * error, atol=1e-13)
    assert_allclose(value[:, 6], 0, atol=1e-15)


def test_the_stored_start_system_is_what_its_script_makes():
    geometry, z = start_system()
    made, again = make()
    for one, other in zip(geometry, made, strict=True):
        assert_array_equal(one, other)
    gaps = [np.linalg.norm(again - np.outer(again @ one.conj(), one), axis=1).min() for one in z]
    assert max(gaps) < 1e-9
    assert separation(z).min() > 0.01
    test = certify(quadrics(*geometry), np.zeros((7, 8, 8)), z)
    assert test.proven.all()
    assert apart(z, test.radius).all()
    assert not_real(z, test.radius).all()


def test_a_loop_of_geometries_permutes_the_forty():
    """Monodromy: following all solutions around a loop gives the same forty, in another order."""
    geometry, z = start_system()
    rng = np.random.default_rng(5)

    def other():
        return type(geometry)(
            *(rng.normal(size=part.shape) + 1j * rng.normal(size=part.shape) for part in geometry)
        )

    corners = [geometry, other(), other(), geometry]
    moved = z
    for a, b in pairwise(corners):
        moved, arrived = homotopy.track(line_between(a, b), moved, 0.0, 1.0)
        assert arrived.all()
    overlap = np.abs(moved.conj() @ z.T) > 1 - 1e-9
    assert_array_equal(overlap.sum(axis=0), np.ones(40))
    assert_array_equal(overlap.sum(axis=1), np.ones(40))
    assert np.sum(np.diagonal(overlap)) < 40


def test_the_certificate_refuses_what_is_not_a_solution():
    robot = gough.load("dietmaier-1998")
    rods = Rods(
        robot.description.legs.base[..., 0].T,
        robot.description.platform_points[..., 0].T,
        DIETMAIER,
    )
    small, frame = framed(rods)
    matrices = quadrics(*geometry_of(small))
    found = robot.assembly_modes(DIETMAIER)
    z = to_study(found.position, found.rotation, frame)
    doubt = rounding(small, frame)
    good = certify(matrices, doubt, z)
    assert good.proven.all()
    off = z + 1e-3 * np.random.default_rng(0).normal(size=z.shape)
    off /= np.linalg.norm(off, axis=1, keepdims=True)
    best = certify(matrices, doubt, off)
    # whatever is still proven holds a true solution within its radius
    for one, radius in zip(off[best.proven], best.radius[best.proven], strict=True):
        gaps = np.linalg.norm(z - np.outer(z @ one, one), axis=1)
        assert gaps.min() < np.sqrt(8) * radius
    assert not best.proven.all()
    assert not certify(matrices, 1e-2 + 0 * doubt, z).proven.any()
    # a wider uncertainty of the coefficients widens the proof
    wider = certify(matrices, doubt * 1e3, z)
    assert np.all(wider.radius[wider.proven] > good.radius[wider.proven])
    pair = np.concatenate([z[:1], z[:1]])
    assert not apart(pair, np.full(2, 1e-12)).any()
    assert not not_real(z, good.radius).any()


def test_the_coverage_estimates_what_is_unseen():
    seen = multistart.coverage(100, np.array([5, 3, 1, 1, 2]))
    assert (seen.hits, seen.found) == (12, 5)
    assert seen.estimated == 5 + 2 * 1 / (2 * 2)
    assert seen.share == pytest.approx(10 / 12)
    # a short search of Dietmaier's platform knows that it is not done
    robot = gough.load("dietmaier-1998")
    rods = Rods(
        robot.description.legs.base[..., 0].T,
        robot.description.platform_points[..., 0].T,
        DIETMAIER,
    )
    small, _ = framed(rods)
    position, rotation = multistart.random_starts(small, 60, np.random.default_rng(0))
    done = multistart.newton(small, position, rotation)
    poses = np.concatenate([position, rotation.reshape(-1, 9)], axis=1)[done]
    _, counts = multistart.distinct(poses)
    short = multistart.coverage(60, counts)
    assert short.found < 40
    assert short.estimated > short.found
    assert short.share < 1
    assert to_study(position, rotation, UNFRAMED).shape == (60, 8)


@pytest.mark.second_tier
def test_command_line(tmp_path):
    shown = run("postures", "dietmaier-1998", "--q", ",".join(map(str, DIETMAIER)))
    assert shown.returncode == 0, shown.stderr
    assert "40 postures" in shown.stdout
    assert "proven and different" in shown.stdout
    picture = tmp_path / "postures.png"
    shown = run("postures", "long-khalil-martinet-2014", "-o", str(picture), "--quick", "--json")
    assert len(json.loads(shown.stdout)["postures"]) == 8
    assert json.loads(shown.stdout)["coverage"]["found"] == 8
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert "cannot both reach" in run("postures", "dietmaier-1998", "--q", "1,1,1,1,1,9").stdout
    assert "2 numbers" in refused("postures", "dietmaier-1998", "--q", "1,2")
    assert "needs numbers" in refused("postures", "dietmaier-1998", "--q", "1,x")
