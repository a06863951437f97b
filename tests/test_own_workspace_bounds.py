"""Workspaces in a robot's own coordinates are searched outwards from home, not cut by a hidden box.

The truth is the five-bar's geometry: points that both cranks reach with their rods, on a fine grid.
"""

import numpy as np
import pytest

from cases.command import run
from gough import Robot
from gough.analysis.own_workspace import own_workspace
from gough.errors import InputError

pytestmark = pytest.mark.usefixtures("on_numpy")
CRANK, ROD = 0.25, 0.2915
HOME = np.array([0.0, 0.35, 0.0])
MOTORS = np.array([[-0.1, 0.0, 0.0], [0.1, 0.0, 0.0]])


def five_bar():
    """Two motors 0.2 m apart; the platform is the left rod, its frame at the pin of both rods."""
    home, elbows = HOME, []
    for side, motor in zip((-1.0, 1.0), MOTORS, strict=True):
        d = home - motor
        size = np.linalg.norm(d)
        along = (size**2 + CRANK**2 - ROD**2) / (2 * size)
        normal = side * np.array([d[1], -d[0], 0.0]) / size
        elbows.append(motor + along * d / size + np.sqrt(CRANK**2 - along**2) * normal)

    def pin(point, **more):
        return {"type": "revolute", "point": np.array(point).tolist(), "axis": [0, 0, 1.0]} | more

    legs = [
        {"kind": "chain", "joints": [pin([motor], actuated=True), pin([elbow])]}
        for motor, elbow in zip(MOTORS, elbows, strict=True)
    ]
    legs[1]["joints"].append(pin([home]))
    data = {"format": 1, "name": "five-bar", "home": {"position": home.tolist()}, "legs": legs}
    return Robot.from_dict(data | {"platform": {"coordinates": ["x", "y"]}})


def test_a_five_bar_reaches_all_that_its_rods_do(tmp_path):
    grid = np.linspace(-0.7, 0.7, 701)
    x, y = np.meshgrid(grid, grid, indexing="ij")
    away = np.hypot(x[..., None] - MOTORS[:, 0], y[..., None] - MOTORS[:, 1])
    reached = ((away < CRANK + ROD) & (away > ROD - CRANK)).all(axis=-1)
    # poses are continued along straight lines from home: what lies behind a hole about a motor is not
    way = np.stack([x, y - HOME[1]], axis=-1)
    for motor in MOTORS:
        off = motor[:2] - HOME[:2]
        share = np.clip(way @ off / np.maximum(np.sum(way**2, axis=-1), 1e-12), 0, 1)
        reached &= np.linalg.norm(share[..., None] * way - off, axis=-1) > ROD - CRANK
    area = reached.sum() * (grid[1] - grid[0]) ** 2
    robot = five_bar()
    found = own_workspace(robot)
    assert found.kind == "area"
    assert found.measure == "m²"
    assert abs(found.volume - area) < found.error
    assert found.error < 0.2 * area
    # the set ends inside the box: no cell at an edge of it counts
    assert not found.inside[[0, -1]].any()
    assert not found.inside[:, [0, -1]].any()
    path = tmp_path / "five.toml"
    path.write_text(robot.text, "utf-8")
    assert "area" in run("workspace", path).stdout


def test_where_nothing_ends_the_set_bounds_are_asked_for():
    """One slider without a stroke."""
    z, x = [0, 0, 1.0], [1.0, 0, 0]
    joints = [
        {"type": "prismatic", "point": [[0.0, 0, 0]], "axis": x, "actuated": True},
        {"type": "prismatic", "point": [[0.0, 0, 0.5]], "axis": z, "actuated": True},
    ]
    other = [joint | {"point": [[0.0, 1.0, 0.5]], "actuated": False} for joint in joints]
    legs = [{"kind": "chain", "joints": one} for one in (joints, other)]
    data = {"format": 1, "name": "gantry", "home": {"position": [0, 0.5, 0.5]}, "legs": legs}
    robot = Robot.from_dict(data)
    assert robot.mobility == 2
    with pytest.raises(InputError, match=r"nothing ends its workspace towards .* give bounds"):
        own_workspace(robot)
    assert own_workspace(robot, [[-1, 1], [0, 1]]).volume == pytest.approx(2.0)
