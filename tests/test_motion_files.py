"""Motions and results survive files exactly, and broken files end in one clear error."""

from __future__ import annotations

import contextlib
import functools

import numpy as np
import pytest
import xarray
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

import gough
from cases.common import WITH_MASSES, impossible_bodies
from cases.errors import refusal
from gough.base import tables
from gough.data import datasets
from gough.data.datasets import leg_dataset, write_dataset
from gough.data.motion_files import motion_dataset, read_motion, write_motion
from gough.errors import FileError, InputError
from gough.motion import ELASTIC_FIELDS, FIELDS, Motion

load = functools.cache(gough.load)
pytestmark = impossible_bodies


def some_motion(shape: tuple[int, ...], modes: int = 0, timed: bool = True) -> Motion:
    rng = np.random.default_rng(len(shape) + 10 * modes)
    count = int(np.prod(shape))
    vectors = (rng.normal(size=(*shape, 3)) for _ in range(4))
    return Motion(
        rng.normal(size=(*shape, 3)),
        Rotation.random(count, rng).as_matrix().reshape(*shape, 3, 3),
        *vectors,
        **{name: rng.normal(size=(*shape, modes)) for name in ELASTIC_FIELDS},
        time=np.cumsum(rng.random(count)).reshape(shape) if timed else None,
    )


def path_motion(robot: gough.Robot, samples: int = 5) -> Motion:
    t = np.linspace(0.0, 1.0, samples)
    swing = 0.05 * np.sin(np.pi * t)
    position = robot.home.position + np.stack([swing, 0 * t, -swing / 2], axis=-1)
    return Motion.from_samples(t, position, np.broadcast_to(robot.home.rotation, (samples, 3, 3)))


def assert_same(read: Motion, written: Motion) -> None:
    assert read.shape == written.shape
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(read, name), getattr(written, name), name)
    if written.time is None:
        assert read.time is None
    else:
        np.testing.assert_array_equal(read.time, written.time)


@pytest.fixture
def csv(tmp_path):
    def make(text: str | bytes):
        path = tmp_path / "motion.csv"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return make


# CSV


@pytest.mark.parametrize("modes", [0, 2])
@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("shape", [(), (1,), (7,)])
def test_csv_round_trip(tmp_path, shape, modes, timed):
    motion = some_motion(shape, modes, timed)
    path = tmp_path / "motion.csv"
    write_motion(motion, path)
    read = read_motion(path)
    np.testing.assert_allclose(
        read.rotation.reshape(motion.rotation.shape), motion.rotation, atol=1e-15
    )
    one_axis = motion if shape else motion.reshape(1)
    assert_same(read, one_axis.replace(rotation=read.rotation))
    assert list(tmp_path.iterdir()) == [path]


def test_long_tables_are_written_as_short_ones(tmp_path, monkeypatch):
    motion = some_motion((7,), 0, True)
    whole, parts = tmp_path / "whole.csv", tmp_path / "parts.csv"
    write_motion(motion, whole)
    monkeypatch.setattr("gough.data.datasets.ROWS", 3)
    write_motion(motion, parts)
    assert parts.read_bytes() == whole.read_bytes()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    position=arrays(np.float64, (2, 3), elements=st.floats(allow_nan=False, allow_infinity=False)),
    turn=arrays(np.float64, (2, 3), elements=st.floats(-10, 10)),
)
def test_csv_keeps_every_digit(tmp_path, position, turn):
    motion = Motion(position, Rotation.from_rotvec(turn))
    write_motion(motion, tmp_path / "motion.csv")
    read = read_motion(tmp_path / "motion.csv")
    assert read.position.tobytes() == motion.position.tobytes()  # −0.0 and subnormals included
    np.testing.assert_allclose(read.rotation, motion.rotation, rtol=0, atol=1e-15)


def test_csv_header_names_units(tmp_path):
    write_motion(some_motion((2,), modes=1), tmp_path / "motion.csv")
    header = (tmp_path / "motion.csv").read_text().splitlines()[0]
    assert header == (
        "time [s],x [m],y [m],z [m],qw,qx,qy,qz,vx [m/s],vy [m/s],vz [m/s],"
        "wx [rad/s],wy [rad/s],wz [rad/s],ax [m/s2],ay [m/s2],az [m/s2],"
        "alpha_x [rad/s2],alpha_y [rad/s2],alpha_z [rad/s2],e1,e1_rate,e1_acceleration"
    )


def test_columns_in_any_order_units_optional_excel_bytes(csv):
    text = '\ufeffz,"y [m]" ,x[m]\r\n3,2,1\r\n\r\n6,5, 4 \r\n'
    motion = read_motion(csv(text))
    np.testing.assert_array_equal(motion.position, [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(motion.rotation, np.broadcast_to(np.eye(3), (2, 3, 3)))
    assert motion.time is None
    assert not motion.velocity.any()


def test_rotation_vector_and_nearly_unit_quaternion(csv):
    vector = read_motion(csv("x,y,z,rx [rad],ry [rad],rz [rad]\n0,0,1,0.1,-0.2,0.3\n"))
    np.testing.assert_array_equal(
        vector.rotation[0], Rotation.from_rotvec([0.1, -0.2, 0.3]).as_matrix()
    )
    quaternion = read_motion(csv("x,y,z,qw,qx,qy,qz\n0,0,1,1.0000005,0,0,0\n"))
    np.testing.assert_array_equal(quaternion.rotation[0], np.eye(3))


@pytest.mark.parametrize("unit", ["m/s2", "m/s^2", "m/s²"])
def test_ways_to_write_a_square(csv, unit):
    header = ",".join(f"a{axis} [{unit}]" for axis in "xyz")
    assert read_motion(csv(f"x,y,z,{header}\n0,0,0,1,2,3\n")).acceleration[0, 2] == 3


# What a file may leave out


def test_timed_poses_alone_are_derived_by_the_spline(csv):
    t = np.linspace(0, 1, 9)
    rows = "\n".join(f"{a!r},{a**3!r},0,1,0,0,{a * a!r}" for a in t.tolist())
    motion = read_motion(csv(f"time [s],x,y,z,rx,ry,rz\n{rows}\n"))
    np.testing.assert_array_equal(motion.position[:, 0], t**3)
    np.testing.assert_allclose(motion.velocity[:, 0], 3 * t**2, atol=1e-12)
    np.testing.assert_allclose(motion.acceleration[:, 0], 6 * t, atol=1e-10)
    expected = Motion.from_samples(t, motion.position, motion.rotation)
    np.testing.assert_array_equal(motion.angular_velocity, expected.angular_velocity)
    np.testing.assert_array_equal(motion.angular_acceleration, expected.angular_acceleration)


def test_one_timed_pose_is_at_rest(csv):
    motion = read_motion(csv("time,x,y,z\n2,0,0,1\n"))
    assert motion.shape == (1,)
    assert not motion.velocity.any()


def test_untimed_states_take_zero_for_what_is_left_out(csv):
    motion = read_motion(csv("x,y,z,vx,vy,vz\n0,0,1,1,0,0\n"))
    np.testing.assert_array_equal(motion.velocity, [[1, 0, 0]])
    assert not motion.acceleration.any()


def test_timed_translation_needs_no_angular_columns(csv):
    motion = read_motion(csv("time,x,y,z,vx,vy,vz,ax,ay,az\n0,0,0,1,1,0,0,2,0,0\n"))
    np.testing.assert_array_equal(motion.acceleration, [[2, 0, 0]])


# What is refused

LINES = "time,x,y,z\n0,0,0,1\n"


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("", ["empty"]),
        ("\ufeff\n \n", ["empty"]),
        (b"\x89PNG\r\n\x1a\n\x00\x00", ["byte 0", "UTF-8"]),
        (b"\x00\x01\x02\n", ["unknown column", "\\x00\\x01"]),
        ("time,x,y,z\n", ["no samples"]),
        ("0,0,0,1\n1,0,0,1\n", ["first line", "name", "'0'"]),
        ("time;x;y;z\n0;0;0;1\n", ["commas"]),
        ("time,x,y\n0,0,0\n", ["column z", "missing"]),
        ("time\n0\n", ["position"]),
        ("x [kg],y,z\n1,2,3\n", ["column x", "'kg'", "needs m"]),
        ("x,y,z,qw [m],qx,qy,qz\n0,0,0,1,0,0,0\n", ["column qw", "'m'", "needs none"]),
        ("X,y,z\n1,2,3\n", ["unknown column 'X'", "nearest known is x"]),
        ("x,y,z,alfa_x\n1,2,3,4\n", ["'alfa_x'", "alpha_x"]),
        ("x,y,z,\n1,2,3,\n", ["unknown column ''"]),
        ("x,y,z,x [m]\n1,2,3,4\n", ["column x", "twice"]),
        ("x,y,z,qw,qx,qy\n0,0,0,1,0,0\n", ["column qz", "rotation"]),
        ("x,y,z,qw,qx,qy,qz,rx,ry,rz\n0,0,0,1,0,0,0,0,0,0\n", ["both"]),
        ("x,y,z,qw,qx,qy,qz\n0,0,0,1,0,0,0\n0,0,0,1,0.1,0,0\n", ["line 3", "1.00498"]),
        ("x,y,z,e1,e3\n0,0,0,1,2\n", ["column e2"]),
        (LINES + "1,0,0\n", ["line 3", "3 cells", "4"]),
        (LINES + "\n1,0,0,1,5\n", ["line 4", "5 cells"]),
        ("time,x,y,z\n0,0,0\n1,0,0\n", ["line 2", "3 cells"]),
        (LINES + "1,0,zero,1\n", ["line 3", "column y", "'zero'"]),
        (LINES + "1,0,,1\n", ["line 3", "column y", "''"]),
        (LINES + "1,0,1_0,1\n", ["line 3", "column y", "'1_0'"]),
        (LINES + "1,0,__import__('os'),1\n", ["line 3", "column y", "__import__"]),
        (LINES + "\n1,0,nan,1\n", ["line 4", "column y", "nan"]),
        (LINES + "1,0,1e999,1\n", ["line 3", "column y", "inf"]),
        (LINES + "1,0,0,1\n0.5,0,0,1\n", ["line 4", "decreases", "0.5"]),
        (LINES + "0,0,0,1\n", ["line 3", "stands still"]),
        (LINES + "1e-300,0,0,1\n", ["line 3", "a time step below 1e-12 s"]),
        (LINES + "1e300,0,0,1\n", ["line 3", "time is over 1e+15 s"]),
        ("time,x,y,z,vx,vy,vz\n0,0,0,1,0,0,0\n", ["velocity", "no acceleration", "ax, ay, az"]),
        (
            "time,x,y,z,qw,qx,qy,qz,vx,vy,vz,ax,ay,az\n0,0,0,1,1,0,0,0,0,0,0,0,0,0\n",
            ["no angular_velocity", "wx, wy, wz"],
        ),
        ("time,x,y,z,e1\n0,0,0,1,0\n", ["elastic", "no velocity"]),
    ],
)
def test_bad_csv_is_one_clear_error(csv, text, facts):
    path = csv(text)
    with pytest.raises(FileError) as caught:
        read_motion(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert len(message) < 400
    for fact in facts:
        assert fact in message


def test_repeated_times_are_fine_where_nothing_is_derived(csv):
    text = "time,x,y,z,vx,vy,vz,ax,ay,az\n" + "1,0,0,1,0,0,0,1,0,0\n" * 2
    np.testing.assert_array_equal(read_motion(csv(text)).time, [1, 1])


@pytest.mark.parametrize("kind", [".csv", ".nc"])
def test_missing_file_folder_and_size(tmp_path, kind, monkeypatch):
    path = tmp_path / f"motion{kind}"
    with refusal(FileError, "such", "file"):
        read_motion(path)
    path.mkdir()
    with refusal(FileError, "directory"):
        read_motion(path)
    with refusal(FileError, "directory"):
        write_motion(some_motion((2,)), path)
    path.rmdir()
    write_motion(some_motion((2,)), path)
    monkeypatch.setattr(tables, "LARGEST", 10)
    with pytest.raises(FileError, match="at most"):
        read_motion(path)


@pytest.mark.parametrize("name", ["motion.xlsx", "motion", "motion.csv.gz"])
def test_other_suffixes_name_the_allowed_ones(tmp_path, name):
    with refusal(FileError, "csv", "nc"):
        read_motion(tmp_path / name)
    with refusal(FileError, "csv", "nc"):
        write_motion(some_motion((2,)), tmp_path / name)


def test_what_csv_cannot_hold_is_not_written(tmp_path):
    path = tmp_path / "motion.csv"
    path.write_text("old")
    motion = some_motion((3,))
    velocity = np.array(motion.velocity)
    velocity[1, 2] = np.nan
    with refusal(InputError, "velocity", "sample 1"):
        write_motion(motion.replace(velocity=velocity), path)
    with refusal(InputError, "(2, 2)"):
        write_motion(some_motion((2, 2)), path)
    with refusal(InputError, "time", "sample 2"):
        write_motion(motion.replace(time=[0, 1, 0.5]), path)
    with refusal(InputError, "samples"):
        write_motion(motion[:0], path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


# NetCDF


@pytest.mark.parametrize("modes", [0, 3])
@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 1, 2)])
def test_netcdf_round_trip(tmp_path, shape, modes, timed):
    motion = some_motion(shape, modes, timed)
    path = tmp_path / "motion.nc"
    write_motion(motion, path)
    assert_same(read_motion(path), motion)
    assert list(tmp_path.iterdir()) == [path]


def test_netcdf_is_labelled(tmp_path):
    write_motion(some_motion((4,), modes=2), tmp_path / "motion.nc")
    dataset = xarray.load_dataset(tmp_path / "motion.nc", engine="scipy")
    assert dataset.rotation.dims == ("time", "axis", "platform_axis")
    assert dataset.elastic.dims == ("time", "mode")
    assert list(dataset.axis.values) == ["x", "y", "z"]
    assert dataset.acceleration.attrs["units"] == "m/s2"
    assert dataset.time.attrs["units"] == "s"
    untimed = motion_dataset(some_motion((2, 3), timed=False))
    assert untimed.position.dims == ("sample_0", "sample_1", "axis")


def test_netcdf_keeps_samples_without_an_answer(tmp_path):
    motion = some_motion((3,))
    position = np.array(motion.position)
    position[1] = np.nan
    write_motion(motion.replace(position=position), tmp_path / "motion.nc")
    assert_same(read_motion(tmp_path / "motion.nc"), motion.replace(position=position))


def test_netcdf_dimensions_in_any_order_and_poses_alone(tmp_path):
    motion = some_motion((6,))
    dataset = motion_dataset(motion)[["position", "rotation"]].transpose()
    write_dataset(dataset, tmp_path / "motion.nc")
    read = read_motion(tmp_path / "motion.nc")
    np.testing.assert_array_equal(read.rotation, motion.rotation)
    expected = Motion.from_samples(motion.time, motion.position, motion.rotation)
    np.testing.assert_array_equal(read.acceleration, expected.acceleration)


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        (lambda d: d.drop_vars("position"), ["position"]),
        (lambda d: d.rename(velocity="velocty"), ["'velocty'", "nearest known is velocity"]),
        (
            lambda d: d.assign(velocity=d.velocity.assign_attrs(units="mm/s2")),
            ["velocity", "'mm/s2'"],
        ),
        (lambda d: d.drop_vars("acceleration"), ["no acceleration"]),
        (lambda d: d.assign(velocity=d.velocity[:, 0]), ["velocity", "(time)", "(time, axis)"]),
        (lambda d: d.assign(velocity=d.velocity.astype(str)), ["velocity", "numbers"]),
        (lambda d: d.assign_coords(axis=["z", "y", "x"]), ["axis", "x, y, z"]),
        (lambda d: d.assign_coords(time=d.time[::-1].values), ["sample 1", "decreases"]),
        (lambda d: d.assign_coords(time=d.time * np.nan), ["sample 0", "not finite"]),
        (lambda d: d.assign(rotation=2 * d.rotation), ["rotation of sample", "not orthogonal"]),
        (lambda d: xarray.Dataset({"temperature": ("day", [1.0])}), ["'temperature'"]),
    ],
)
def test_netcdf_that_is_no_motion(tmp_path, change, facts):
    path = tmp_path / "motion.nc"
    write_dataset(change(motion_dataset(some_motion((3,)))), path)
    with pytest.raises(FileError) as caught:
        read_motion(path)
    assert str(caught.value).startswith(f"{path}: ")
    for fact in facts:
        assert fact in str(caught.value)


def test_broken_netcdf(tmp_path):
    path = tmp_path / "motion.nc"
    write_motion(some_motion((3,)), path)
    whole = path.read_bytes()
    for length in range(1, len(whole) - 100, 97):
        path.write_bytes(whole[:length])
        with refusal(FileError, "motion.nc", "NetCDF"):
            read_motion(path)
    path.write_bytes(b"")
    with refusal(FileError, "empty"):
        read_motion(path)
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with refusal(FileError, "NetCDF-4"):
        read_motion(path)
    rng = np.random.default_rng(0)
    for _ in range(100):
        data = bytearray(whole)
        data[rng.integers(1000)] ^= 1 << rng.integers(8)
        path.write_bytes(data)
        with contextlib.suppress(FileError):
            assert read_motion(path).shape == (3,)


# Results


@pytest.mark.parametrize("name", WITH_MASSES)
def test_leg_dataset_is_labelled(name):
    robot = load(name)
    motion = path_motion(robot)
    legs = robot.inverse_kinematics(motion)
    dataset = leg_dataset(robot, motion, legs)
    assert dict(dataset.sizes) == {"time": 5, "actuator": 6, "leg": 6, "joint": 3, "axis": 3}
    np.testing.assert_array_equal(dataset.time, motion.time)
    np.testing.assert_array_equal(dataset.q.sel(actuator=3), legs.q[:, 2])
    np.testing.assert_array_equal(dataset.q_acceleration, legs.qdd)
    actuated = "q3" if robot.kind == "UPS" else "lambda"
    np.testing.assert_array_equal(dataset.joint_rate.sel(joint=actuated), legs.qd)
    units = dataset.joint_rate.attrs["units"].split(", ")
    assert units[list(dataset.joint.values).index(actuated)] == "m/s"
    assert all("long_name" in dataset[one].attrs for one in dataset.data_vars)


def test_leg_dataset_of_any_batch():
    robot = load("kim-ryu-2002")
    for shape in [(), (2,), (2, 3)]:
        motion = Motion(np.broadcast_to(robot.home.position, (*shape, 3)))
        dataset = leg_dataset(robot, motion, robot.inverse_kinematics(motion))
        assert dataset.q.dims == (*(f"sample_{i}" for i in range(len(shape))), "actuator")
    with refusal(InputError, "(2, 3, 6)"):
        leg_dataset(robot, robot.home, robot.inverse_kinematics(motion))


def test_results_as_csv(tmp_path):
    robot = load("long-khalil-martinet-2014")
    motion = path_motion(robot)
    legs = robot.inverse_kinematics(motion)
    write_dataset(leg_dataset(robot, motion, legs), tmp_path / "legs.csv")
    header, *rows = (tmp_path / "legs.csv").read_text().splitlines()
    names = header.split(",")
    table = np.array([[float(cell) for cell in row.split(",")] for row in rows])
    assert names[:2] == ["time [s]", "q1 [m]"]
    expected = {
        "time [s]": motion.time,
        "q1 [m]": legs.q[:, 0],
        "q6_rate [m/s]": legs.qd[:, 5],
        "q2_acceleration [m/s2]": legs.qdd[:, 1],
        "joint4_coordinate_q1 [rad]": legs.joints[:, 3, 0],
        "joint4_acceleration_q3 [m/s2]": legs.joint_accelerations[:, 3, 2],
        "direction5_z": legs.direction[:, 4, 2],
        "link1_angular_velocity_x [rad/s]": legs.link_angular_velocity[:, 0, 0],
    }
    for name, values in expected.items():
        np.testing.assert_array_equal(table[:, names.index(name)], values, name)
    assert len(names) == 1 + 6 * (3 + 3 * 3 + 3 * 3)


def test_any_dataset_flattens(tmp_path):
    dataset = xarray.Dataset(
        {
            "force": (("sample", "leg"), [[1.5, np.nan]], {"units": "N"}),
            "universal_moment": (
                ("sample", "leg", "axis"),
                [[[1, 2, 3], [4, 5, 6]]],
                {"units": "N m"},
            ),
            "residual": (("sample",), [0.25]),
            "scale": ((), 2.0, {"units": "m"}),
        },
        coords={"leg": [1, 2], "axis": ["x", "y", "z"]},
    )
    write_dataset(dataset, tmp_path / "result.csv")
    header, row = (tmp_path / "result.csv").read_text().splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=True)) == {
        "sample": "0", "force1 [N]": "1.5", "force2 [N]": "nan",
        "universal1_moment_x [N m]": "1", "universal1_moment_y [N m]": "2",
        "universal1_moment_z [N m]": "3", "universal2_moment_x [N m]": "4",
        "universal2_moment_y [N m]": "5", "universal2_moment_z [N m]": "6",
        "residual": "0.25", "scale [m]": "2.0",
    }  # fmt: skip
    write_dataset(dataset, tmp_path / "result.nc")
    xarray.testing.assert_equal(
        xarray.load_dataset(tmp_path / "result.nc", engine="scipy"), dataset
    )
    write_dataset(dataset[["force"]].sel(leg=2), tmp_path / "result.csv")
    assert (tmp_path / "result.csv").read_text() == "sample,leg,force [N]\n0,2,nan\n"
    with refusal(InputError, "batch", "dimension"):
        write_dataset(dataset.expand_dims(run=2), tmp_path / "result.csv")
    with refusal(InputError, "labels", "leg"):
        write_dataset(dataset.drop_vars("leg"), tmp_path / "result.csv")


def test_units_follow_the_joint_whatever_the_order(tmp_path):
    robot = load("kim-ryu-2002")
    dataset = leg_dataset(robot, robot.home, robot.inverse_kinematics(robot.home))
    for order in [("leg", "joint"), ("joint", "leg")]:
        write_dataset(dataset[["joint_rate"]].transpose(*order), tmp_path / "legs.csv")
        header = (tmp_path / "legs.csv").read_text().splitlines()[0].split(",")
        assert {"joint6_rate_lambda [m/s]", "joint1_rate_phi2 [rad/s]"} < set(header)


def test_single_timed_state_keeps_its_time_in_csv(tmp_path):
    robot = load("kim-ryu-2002")
    motion = robot.home.replace(time=0.5)
    write_dataset(
        leg_dataset(robot, motion, robot.inverse_kinematics(motion)), tmp_path / "legs.csv"
    )
    header, row = (tmp_path / "legs.csv").read_text().splitlines()
    assert header.split(",")[0] == "time [s]"
    assert row.split(",")[0] == "0.5"


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "motion.csv"
    path.write_text("old")
    monkeypatch.setattr(datasets.csv, "writer", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_motion(some_motion((2,)), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with refusal(FileError, "exist"):
        write_motion(some_motion((2,)), tmp_path / "nowhere" / "motion.nc")
