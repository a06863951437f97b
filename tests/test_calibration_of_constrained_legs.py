"""Calibration of robots whose legs hold the platform in directions of no actuator."""

import numpy as np
import pytest
from scipy.optimize import root
from scipy.spatial.transform import Rotation

import gough
from gough.calibration import Geometry, PoseMeasurements, calibrate, simulate
from gough.calibration.closing import closing, pose_slopes, stand
from gough.calibration.start import drawn_poses
from gough.parameters.own_fourier import home_coordinates

KNOWN = ["tracker", "target"]
SIZES = np.array([1e-6] * 3 + [5e-6] * 3)
"""Noise of the tracker, m and rad."""
NOISE = {"position": SIZES[0], "rotation": SIZES[3]}
HINGE, TIP, SLIDE = np.array([0.5, 0, 0]), np.array([0.3, 0, 0.8]), np.array([-0.2, 0, 0.8])
HOME = np.array([0, 0, 0.8])


def tripod(turn=0.0):
    """The 3-RPS of docs/howto/chain-leg.md, turned about z."""
    turns = turn + 2 * np.pi / 3 * np.array([0, 1, -1])
    joints = [
        {"type": "revolute", "point": HINGE.tolist(), "axis": [0, 1, 0], "body": {"mass": 6}},
        {
            "type": "prismatic",
            "point": TIP.tolist(),
            "axis": SLIDE.tolist(),
            "actuated": True,
            "home": float(np.linalg.norm(SLIDE)),
            "body": {"mass": 2},
        },
        {"type": "spherical", "point": TIP.tolist()},
    ]
    legs = {"kind": "chain", "rotation_vector": [[0, 0, z] for z in turns], "joints": joints}
    home = {"position": HOME.tolist(), "rotation_vector": [0, 0, turn]}
    table = {"format": 1, "name": "tripod", "home": home, "legs": legs}
    return gough.Robot.from_dict({**table, "platform": {"mass": 40}})


def own_poses(turn, q, hinges, tips, tilts=0, slides=0):
    """Poses of a 3-RPS with other hinges B, balls C (m), axes a and slides d, by SciPy.

    A leg's ball is at B + Rot(a, θ) (C − B + (q − l) d), the platform's at p + R R_hᵀ (C − p_h).
    """
    frames = Rotation.from_rotvec([[0, 0, turn + z] for z in 2 * np.pi / 3 * np.array([0, 1, -1])])
    length = np.linalg.norm(SLIDE)
    axes, away = frames.apply(np.array([0, 1, 0]) + tilts), frames.apply(SLIDE / length + slides)
    axes, away = (one / np.linalg.norm(one, axis=1)[:, None] for one in (axes, away))
    base, ball = frames.apply(HINGE + hinges), frames.apply(TIP + tips)

    def off(x, q):
        hung = Rotation.from_rotvec(x[6:, None] * axes).apply(
            ball - base + (q - length)[:, None] * away
        )
        return (base + hung - x[:3] - Rotation.from_rotvec(x[3:6]).apply(ball - HOME)).ravel()

    found = []
    start = np.concatenate([HOME, np.zeros(6)])
    for row in q:
        solution = root(off, start, args=(row,), tol=1e-15)
        assert np.abs(off(solution.x, row)).max() < 1e-13
        found.append(solution.x[:6])
    found = np.array(found)
    whole = Rotation.from_rotvec(found[:, 3:]) * Rotation.from_rotvec([0, 0, turn])
    return found[:, :3], whole


@pytest.fixture(scope="module")
def machine():
    """Lengths of legs (16, 3), m, errors of build, and noise over its deviation."""
    rng = np.random.default_rng(2)
    q = np.linalg.norm(SLIDE) + rng.uniform(-0.1, 0.1, (16, 3))
    return q, 3e-4 * rng.uniform(-1, 1, (4, 3, 3)), rng.normal(size=(16, 6))


@pytest.mark.parametrize("turn", [0.0, 0.3])
@pytest.mark.usefixtures("on_numpy")
def test_the_search_ends_at_the_least_sum_of_squares(machine, turn):
    """The sum of squares that the true machine has is that of the noise: the least one is below."""
    q, errors, noise = machine
    position, rotation = own_poses(turn, q, *errors)
    turned = (Rotation.from_rotvec(noise[:, 3:] * SIZES[3:]) * rotation).as_rotvec()
    seen = np.full((len(q), 7), np.nan)
    seen[:, :6] = np.concatenate([position + noise[:, :3] * SIZES[:3], turned], axis=1)
    found = calibrate(
        tripod(turn), PoseMeasurements(q, seen), known=KNOWN, noise=NOISE, hold_back=0.0
    )
    least, true = found.residuals @ found.residuals, np.sum(noise**2)
    # the minimum lies χ² of as many degrees as there are combinations below: 27 ± 3 √54
    assert true - 50 < least < true - 8
    assert found.fit < 1.2


@pytest.mark.parametrize("turn", [0.0, 0.3])
@pytest.mark.usefixtures("on_numpy")
def test_slopes_of_poses_by_every_number(turn):
    """At turn 0 the direction that a leg holds has other signs on both sides of the axis drawn."""
    robot = tripod(turn)
    geometry = Geometry(robot)
    q = np.linalg.norm(SLIDE) + np.array([[0.03, -0.05, 0.01], [-0.02, 0.0, 0.04]])
    near = drawn_poses(robot, PoseMeasurements(q, np.ones((2, 7))))
    none = np.zeros(geometry.count)
    there = stand(geometry, none, q, near)
    slopes, _ = pose_slopes(closing(geometry, none, q, there), robot.length_scale)
    keys = ("joints.0.point", "joints.2.point", "joints.0.axis", "joints.1.axis")
    places = {one.key: one for one in geometry.places}
    for i, place in enumerate(places[f"legs.{key}"] for key in keys):
        for leg, tangents in enumerate(place.tangents):
            for j, tangent in enumerate(tangents):
                step = np.zeros((4, 3, 3))
                step[i, leg] = 1e-6 * tangent
                up, down = (own_poses(turn, q, *(sign * step))[0] for sign in (1, -1))
                which = place.first + leg * place.freedoms + j
                np.testing.assert_allclose((up - down) / 2e-6, slopes[:, :3, which], atol=1e-6)


@pytest.mark.usefixtures("on_numpy")
def test_a_platform_that_is_held_in_more_directions_than_needed():
    """Without noise the machine's own poses come back, though its legs do not close exactly."""
    robot = gough.load("shah-3rrr-2012")
    geometry, rng = Geometry(robot), np.random.default_rng(3)
    errors = 1e-4 * rng.uniform(-1, 1, geometry.count) * geometry.sizes
    poses = robot.motion(home_coordinates(robot) + 0.1 * rng.uniform(-1, 1, (24, 3)))
    found = calibrate(robot, simulate(robot, errors, poses), known=KNOWN, hold_back=0.0)
    assert found.after.position < 1e-13
    assert found.before.position > 5e-5
