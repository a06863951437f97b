"""The part of a workspace that a robot reaches from home, against a flood fill on a fine grid."""

import numpy as np
import pytest
from scipy import ndimage

import gough
from cases.common import impossible_bodies
from gough import Robot
from gough.analysis.leaves import Leaves
from gough.analysis.side import Side
from gough.analysis.workspace import dexterous, orientation_workspace, reachable, workspace
from gough.motion import Motion

pytestmark = impossible_bodies
POINTS = 61


def hexapod(**limits):
    """A plain hexapod whose strokes leave a mirror image below its base."""
    base, top = np.radians([0, 40, 120, 160, 240, 280]), np.radians([-10, 50, 110, 170, 230, 290])
    return Robot.from_dict(
        {
            "format": 1,
            "name": "hexapod",
            "home": {"position": [0, 0, 1.2]},
            "legs": {
                "kind": "UPS",
                "base": np.c_[np.cos(base), np.sin(base), 0 * base].tolist(),
                "platform": (0.5 * np.c_[np.cos(top), np.sin(top), 0 * top]).tolist(),
                "limits": {"stroke": [1.0, 1.8]} | limits,
            },
        }
    )


def flooded(robot, rotation=None):
    """Volumes of home's part and of all, and its cells, by a grid: limits, and the sign of det J."""
    turn = robot.home.rotation if rotation is None else rotation
    found = workspace(robot, turn, tolerance=0.1, from_home=False)
    grids = [np.linspace(low, high, POINTS) for low, high in found.bounds]
    places = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1)
    motion = Motion(places.reshape(-1, 3), turn)
    jacobian = robot.jacobian(motion, on_error="nan").reshape(*places.shape[:3], 6, 6)
    with np.errstate(invalid="ignore"):
        sign = np.sign(np.linalg.det(jacobian))
    inside = found.contains(places) & (sign == np.sign(np.linalg.det(robot.jacobian(robot.home))))
    parts, _ = ndimage.label(inside)
    cell = np.prod([grid[1] - grid[0] for grid in grids])
    home = [int(np.argmin(np.abs(g - x))) for g, x in zip(grids, robot.home.position, strict=True)]
    part = parts == parts[tuple(home)]
    return cell * part.sum(), cell * found.contains(places).sum(), places, part


def test_the_mirror_image_below_the_base_is_told_apart():
    robot = hexapod()
    found = workspace(robot, tolerance=0.01)
    volume, whole, places, part = flooded(robot)
    grid = 0.01 * whole
    assert abs(found.volume - volume) < found.error + grid
    least, most = found.beyond
    assert least - grid < whole - volume < most + grid
    assert least > 0.4 * found.volume
    inner = ndimage.binary_erosion(part, iterations=2)
    outer = ~ndimage.binary_dilation(part, iterations=2)
    assert found.contains(places[inner]).all()
    beyond = found.contains(places[outer])
    assert beyond.mean() < 1e-4  # slivers along the boundary, thinner than the grid
    assert found.contains(robot.home.position)
    assert not found.contains(robot.home.position * [1, 1, -1])
    assert found.surface(points=41).volume == pytest.approx(found.volume, rel=0.05)


def test_everything_is_what_it_was():
    robot = hexapod()
    whole = workspace(robot, tolerance=0.02, from_home=False)
    part = workspace(robot, tolerance=0.02)
    assert whole.beyond == (0.0, 0.0)
    least, most = part.beyond
    assert part.volume - part.error + least <= whole.volume + whole.error
    assert whole.volume - whole.error <= part.volume + part.error + most
    assert "singularity" in part.labels
    assert "singularity" not in whole.labels
    assert (part.margins(robot.home.position) >= 0).all()


def test_several_orientations_and_turns_have_sides_too():
    robot = hexapod()
    turns = np.stack([robot.home.rotation, robot.home.rotation])
    for solve in (reachable, dexterous):
        found = solve(robot, turns, tolerance=0.05)
        assert found.contains(robot.home.position)
        assert not found.contains(robot.home.position * [1, 1, -1])
    turned = orientation_workspace(robot, tolerance=0.2, within=1.0)
    assert turned.contains([0.0, 0.0, 0.0])
    assert turned.beyond[1] >= 0


def test_a_delta_and_a_flexible_robot_have_sides():
    for name in ("alikoc-delta-2023", "long-khalil-martinet-2014"):
        robot = gough.load(name)
        side = Side(robot)
        assert side.sign in (-1.0, 1.0)
    delta = gough.load("alikoc-delta-2023")
    assert workspace(delta, tolerance=0.3).beyond[0] > 0


def test_redundant_robots_have_one_side():
    base, top = np.radians(np.arange(8) * 45.0), np.radians([20, 30, 95, 130, 200, 210, 280, 330])
    robot = Robot.from_dict(
        {
            "format": 1,
            "name": "eight legs",
            "home": {"position": [0, 0, 1.2]},
            "legs": {
                "kind": "UPS",
                "base": np.c_[np.cos(base), np.sin(base), 0 * base].tolist(),
                "platform": (0.5 * np.c_[np.cos(top), np.sin(top), 0 * top]).tolist(),
                "limits": {"stroke": [1.2, 1.4]},
            },
        }
    )
    found = workspace(robot, tolerance=0.05)
    assert "singularity" not in found.labels
    assert found.beyond[0] > 0  # below the base, and apart
    assert not found.contains(robot.home.position * [1, 1, -1])


def test_boxes_by_place():
    centre = np.array([[0.5, 0.5, 0.5], [1.25, 0.25, 0.25], [1.25, 0.75, 0.25], [3.5, 0.5, 0.5]])
    half = np.array([[0.5] * 3, [0.25] * 3, [0.25] * 3, [0.5] * 3])
    leaves = Leaves(centre, half, np.zeros(3))
    points = np.array([[0.1, 0.9, 0.2], [1.3, 0.6, 0.1], [2.5, 0.5, 0.5], [np.nan, 0, 0]])
    assert leaves.holding(points).tolist() == [0, 2, -1, -1]
    parts = leaves.parts(np.ones(4, dtype=bool))
    assert parts[0] == parts[1] == parts[2] != parts[3]
    assert leaves.beside(np.array([True, False, False, False])).tolist() == [
        False,
        True,
        True,
        False,
    ]
