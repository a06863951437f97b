"""Times and angles whose unit nobody says are refused where another unit is as likely.

What a table is in is known here: it is written from formulas, in milliseconds or seconds.
"""

import numpy as np
import pytest

import gough
from cases.command import run
from gough.cueing.vehicle import read_vehicle
from gough.data.columns import Columns
from gough.data.encoders import read_encoders
from gough.data.motion_files import read_motion
from gough.errors import FileError

ROBOT = "kim-ryu-2002"


@pytest.fixture(scope="module")
def robot():
    return gough.load(ROBOT)


def written(path, header, *columns):
    np.savetxt(
        path, np.column_stack(columns), delimiter=",", header=header, comments="", fmt="%.12g"
    )
    return path


def swing(t):
    """50 mm to and fro at 1 Hz, about the robot's home."""
    x = 0.05 * np.sin(2 * np.pi * t)
    return x, 0 * t, 0.7 + 0 * t


@pytest.mark.parametrize("step", [1.0, 2.0, 0.5, 5.0])
def test_milliseconds_without_a_unit_are_refused(tmp_path, robot, step):
    t = np.arange(401) * step
    path = written(tmp_path / "ms.csv", "time,x,y,z", t, *swing(t / 1000))
    with pytest.raises(
        FileError, match=r"line 3, column time: .* is time in milliseconds\?.*time \[ms\]"
    ):
        read_motion(path, robot)
    motion = read_motion(path, robot, columns=Columns.of("ms"))
    assert motion.duration == pytest.approx(0.4 * step)
    named = written(tmp_path / "named.csv", "time [ms],x,y,z", t, *swing(t / 1000))
    assert np.abs(read_motion(named, robot).velocity[:, 0]).max() == pytest.approx(
        0.1 * np.pi, rel=1e-4
    )
    seconds = written(tmp_path / "s.csv", "time [s],x,y,z", t, *swing(t / 1000))
    assert read_motion(seconds, robot).duration == pytest.approx(400 * step)


def test_turns_alone_and_own_coordinates_too(tmp_path, robot):
    t = np.arange(401.0)
    turn = 0.1 * np.sin(2 * np.pi * t / 1000)
    path = written(
        tmp_path / "turn.csv",
        "time,x,y,z,rx,ry,rz",
        t,
        0 * t,
        0 * t,
        0.7 + 0 * t,
        turn,
        0 * t,
        0 * t,
    )
    with pytest.raises(FileError, match="milliseconds"):
        read_motion(path, robot)
    tripod = gough.load("shyam-heliostat-2017")
    path = written(tmp_path / "own.csv", "time,z,rx,ry", t, 2.0 + 0 * t, turn, 0 * t)
    with pytest.raises(FileError, match="milliseconds"):
        read_motion(path, tripod)


def test_seconds_pass(tmp_path, robot):
    """Waypoints a second apart, records of a motion at 100 Hz and of a slow one at 10 Hz."""
    t = np.arange(30.0)
    read_motion(written(tmp_path / "a.csv", "time,x,y,z", t, *swing(0.1 * t)), robot)
    t = np.arange(300) / 100
    read_motion(written(tmp_path / "b.csv", "time,x,y,z", t, *swing(t)), robot)
    t = np.arange(300) / 10
    read_motion(written(tmp_path / "c.csv", "time,x,y,z", t, *swing(t / 30)), robot)
    read_motion(
        written(tmp_path / "d.csv", "time,x,y,z", np.arange(4.0), *swing(np.arange(4) / 1e3)), robot
    )


def test_encoders_and_vehicles_ask_as_well(tmp_path, robot):
    t = np.arange(401.0)
    place = np.stack(swing(t / 1000), axis=-1)
    q = robot.inverse_kinematics(gough.Motion(place)).q
    path = written(tmp_path / "log.csv", "time," + ",".join(f"q{i}" for i in range(1, 7)), t, q)
    with pytest.raises(FileError, match="milliseconds"):
        read_encoders(robot, path)
    assert read_encoders(robot, path, columns=Columns.of("ms")).time[-1] == pytest.approx(0.4)
    felt = (np.sin(t / 100), 0 * t, 9.81 + 0 * t, 0 * t, 0 * t, 0 * t)
    ride = written(tmp_path / "ride.csv", "time,ax,ay,az,wx,wy,wz", t, *felt)
    with pytest.raises(FileError, match="milliseconds"):
        read_vehicle(ride)


def test_angles_beside_millimetres(tmp_path, robot):
    t = np.arange(101) / 100
    x, y, z = (1e3 * one for one in swing(t))
    path = written(tmp_path / "mm.csv", "time,x,y,z,rx,ry,rz", t, x, y, z, 0 * t, 0 * t, t)
    said = run("forces", ROBOT, path, "--units", "mm", "-o", tmp_path / "f.csv")
    assert said.returncode == 2
    assert "column rz has no unit, and mm does not tell it: add rad or deg" in said.stderr
    degrees = read_motion(path, robot, columns=Columns.of("mm,deg"))
    assert np.abs(degrees.rotation - np.eye(3)).max() < 0.02
    level = written(tmp_path / "level.csv", "time,x,y,z,rx,ry,rz", t, x, y, z, 0 * t, 0 * t, 0 * t)
    assert run("forces", ROBOT, level, "--units", "mm", "-o", tmp_path / "f.csv").returncode == 0
    told = []
    header = written(
        tmp_path / "head.csv", "time,x [mm],y [mm],z [mm],rx,ry,rz", t, x, y, z, 0 * t, 0 * t, t / 9
    )
    read_motion(header, robot, say=told.append)
    assert "rz without a unit taken in rad" in told
