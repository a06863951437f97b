"""Units and names of columns: every unit on every column, exactly, and nothing guessed silently."""

from fractions import Fraction
from math import pi

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import gough
from cases.errors import refusal, warning
from gough.base.units import SYMBOLS, unit
from gough.data.columns import Columns
from gough.data.logs import Log, read_log, write_log
from gough.data.motion_files import UNITS, motion_dataset, read_motion, write_motion
from gough.errors import FileError, GoughError, InputError, ReachError, UnitsWarning

FITTING = {
    column: sorted(name for name in SYMBOLS if unit(name).dimension == unit(si).dimension)
    for column, si in UNITS.items()
}
"""Symbols that measure what a column holds."""
COMPOUND = {
    "m/s": ["mm/s", "m/min", "inch/s", "km/h", "ft/s", "mm/ms", "cm s^-1"],
    "rad/s": ["deg/s", "rpm", "rev/min", "mrad/ms", "°/s"],
    "m/s2": ["mm/s2", "mm/s^2", "mm/s²", "cm s-2", "m/s/s"],
    "rad/s2": ["deg/s2", "rpm/s", "deg/s^2"],
}


def ulps(value, exact):
    """How far a number is from the exact one, in units of its last place."""
    return abs(Fraction(float(value)) - exact) / Fraction(
        float(np.spacing(abs(float(value)) or 1.0))
    )


@given(st.floats(1e-9, 1e9), st.sampled_from(sorted(SYMBOLS)))
def test_units_are_exact(value, name):
    one = unit(name)
    if one.turns == 0:
        assert ulps(one.to_si(value), Fraction(value) * one.factor) <= 1.5
        if 1 in (one.factor.numerator, one.factor.denominator):
            assert ulps(one.to_si(value), Fraction(value) * one.factor) <= 0.5
    np.testing.assert_allclose(
        one.to_si(value), value * float(one.factor) * pi**one.turns, rtol=4e-16
    )
    np.testing.assert_allclose(one.from_si(one.to_si(value)), value, rtol=8e-16)


@pytest.mark.parametrize(
    ("text", "factor"),
    [
        ("kN m", 1000.0), ("kg mm2", 1e-6), ("N/µm", 1e6), ("N m s/rad", 1.0), ("lbf", 4.4482216152605),
        ("inch", 0.0254), ("deg", pi / 180), ("rpm", pi / 30), ("km/h", 1 / 3.6), ("N·m", 1.0),
        ("MPa", 1e6), ("Nmm", 1e-3), ("1/s", 1.0), ("", 1.0),
    ],
)  # fmt: skip
def test_known_values(text, factor):
    np.testing.assert_allclose(unit(text).to_si(1.0), factor, rtol=2e-16)


HUGE = ("km9 km9 km9 km9 m/nm9 nm9 nm9 nm9", "nm9 nm9 nm9 nm9 m/km9 km9 km9 km9")


@pytest.mark.parametrize(
    "text", ["mmm", "m//s", "/s", "m/", "furlong", "m" * 100, "x2", "m s 0", *HUGE]
)
def test_what_is_no_unit(text):
    with refusal(InputError, "unknown", "unit"):
        unit(text)


HEADINGS = ("{0} [{1}]", "{0} ({1})", "{0}[{1}]", "{0}_{1}")


MOVING = [name for name in UNITS if name not in ("qw", "qx", "qy", "qz")]
TEXTS = [(name, one) for name in MOVING for one in FITTING[name] + COMPOUND.get(UNITS[name], [])]


def numbers_of(motion):
    """What a motion holds, by column."""
    vector = Rotation.from_matrix(motion.rotation).as_rotvec()
    triples = {
        ("x", "y", "z"): motion.position,
        ("rx", "ry", "rz"): vector,
        ("vx", "vy", "vz"): motion.velocity,
        ("wx", "wy", "wz"): motion.angular_velocity,
        ("ax", "ay", "az"): motion.acceleration,
        ("alpha_x", "alpha_y", "alpha_z"): motion.angular_acceleration,
    }
    found = {name: a[1, i] for names, a in triples.items() for i, name in enumerate(names)}
    return found | {"time": motion.time[1]}


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from(TEXTS), st.sampled_from(HEADINGS), st.floats(0.01, 3.0))
def test_every_unit_on_every_column_of_a_motion(tmp_path, one, heading, number):
    column, text = one
    names = [heading.format(name, text) if name == column else name for name in MOVING]
    rows = np.full((2, len(MOVING)), 0.25)
    rows[0, MOVING.index("time")] = 0.0
    rows[1, MOVING.index(column)] = number
    lines = [",".join(names), *(",".join(map(repr, row)) for row in rows.tolist())]
    (tmp_path / "m.csv").write_text("\n".join(lines) + "\n", "utf-8")
    said = []
    found = numbers_of(read_motion(tmp_path / "m.csv", say=said.append))
    expected = unit(text).to_si(number)
    if column.startswith("r"):  # the rotation vector: the shortest of its rotation
        vector = [expected if name == column else 0.25 for name in ("rx", "ry", "rz")]
        shortest = Rotation.from_rotvec(vector).as_rotvec()
        np.testing.assert_allclose([found["rx"], found["ry"], found["rz"]], shortest, atol=1e-12)
    else:
        assert found[column] == expected
    assert unit(text).is_si or f"{column} from {text} to {UNITS[column]}" in said


@pytest.fixture(scope="module")
def hexapod():
    return gough.load("kim-ryu-2002")


@pytest.fixture(scope="module")
def log(hexapod):
    time = np.linspace(0.0, 1.0, 101)
    home = hexapod.inverse_kinematics(hexapod.home).q
    q = home + 0.01 * np.sin(6 * time)[:, np.newaxis] * np.arange(1, 7)
    return Log(time, q, 50.0 + 20.0 * np.cos(5 * time)[:, np.newaxis] * np.arange(1, 7))


@pytest.mark.parametrize("how", ["header", "suffix", "option", "map", "toml", "netcdf"])
def test_a_log_in_other_units_and_names(how, hexapod, log, tmp_path):
    path, columns = tmp_path / "log.csv", Columns()
    write_log(log, path)
    _, rest = path.read_text("utf-8").split("\n", 1)
    numbers = np.loadtxt(rest.splitlines(), delimiter=",")
    numbers[:, 0] *= 1000
    numbers[:, 1:7] *= 1000
    numbers[:, 7:] /= 1000
    names = ["time", *(f"q{i}" for i in range(1, 7)), *(f"force{i}" for i in range(1, 7))]
    units = ["ms", *["mm"] * 6, *["kN"] * 6]
    if how == "header":
        names = [f"{name} [{one}]" for name, one in zip(names, units, strict=True)]
    elif how == "suffix":
        names = [f"{name}_{one}" for name, one in zip(["t", *names[1:]], units, strict=True)]
    elif how == "option":
        columns = Columns.of("mm, kN, ms")
    elif how == "map":
        names = ["t", *(f"L{i}" for i in range(1, 7)), *(f"F{i}" for i in range(1, 7))]
        legs = [f"L{i}=q{i} [mm],F{i}=force{i} [kN]" for i in range(1, 7)]
        columns = Columns.of("ms", ",".join(legs))
    elif how == "toml":
        names = ["T", *(f"L{i}" for i in range(1, 7)), *(f"F{i}" for i in range(1, 7))]
        lines = ['units = "mm,kN,ms"', "[columns]", 'T = "time"']
        lines += [f'L{i} = "q{i}"\nF{i} = "force{i}"' for i in range(1, 7)]
        (tmp_path / "columns.toml").write_text("\n".join(lines))
        columns = Columns.of(names=tmp_path / "columns.toml")
    text = "\n".join([",".join(names), *(",".join(map(repr, row)) for row in numbers.tolist())])
    path.write_text(text, "utf-8")
    if how == "netcdf":
        import xarray

        from gough.data.datasets import write_dataset

        path = tmp_path / "log.nc"
        write_dataset(
            xarray.Dataset(
                {
                    "lengths": (("time", "actuator"), numbers[:, 1:7], {"units": "mm"}),
                    "force": (("time", "actuator"), numbers[:, 7:], {"units": "kN"}),
                },
                {"time": ("time", numbers[:, 0], {"units": "ms"})},
            ),
            path,
        )
        columns = Columns.of(names="lengths=q")
    said = []
    found = read_log(hexapod, path, columns=columns, say=said.append)
    np.testing.assert_allclose(found.time, log.time, rtol=1e-15)
    np.testing.assert_allclose(found.q, log.q, rtol=1e-15)
    np.testing.assert_allclose(found.forces, log.forces, rtol=1e-15)
    assert any("from mm to m" in line for line in said)
    assert any("from kN to N" in line for line in said)
    assert any("from ms to s" in line for line in said)


@pytest.mark.parametrize(
    ("header", "columns", "words"),
    [
        ("time,x,y,z", {"names": "X=x"}, ["no column 'X'", "'x'"]),
        ("time,X,y,z", {"names": "X=xx"}, ["'xx'", "nearest known is x"]),
        ("time,X,y,z", {}, ["unknown column 'X'", "nearest known is x"]),
        ("time,x [mm],y,z", {"names": "x=x [inch]"}, ["'mm'", "'inch'"]),
        ("t,time,y,z", {}, ["time is there twice"]),
        ("time,x_kg,y,z", {}, ["x_kg", "'kg'", "needs m"]),
        ("time,x [parsec],y,z", {}, ["unknown unit 'parsec'", "needs m"]),
        ("time,x,y,z,vx,vy,vz", {"units": "mm"}, ["vx", "mm does not tell it", "m/s"]),
        ("time,x,y,z", {"units": "mm,inch"}, ["mm and inch"]),
        ("time,x,y,z", {"units": "mmm"}, ["'mmm'"]),
        ("time,x,y,z", {"names": "x"}, ["L1=q1"]),
        ("time,x,y,z", {"names": "x="}, ["L1=q1"]),
        ("time,x,y,z", {"names": "x=y,x=z"}, ["twice"]),
        ("time,x,y,z", {"names": "no.toml"}, ["no.toml"]),
    ],
)
def test_what_cannot_be_known_is_refused(header, columns, words, tmp_path):
    path = tmp_path / "m.csv"
    rows = [",".join([str(i)] * header.count(",")) for i in range(3)]
    path.write_text("\n".join([header, *(f"{i},{row}" for i, row in enumerate(rows))]))
    with pytest.raises(GoughError) as caught:
        read_motion(path, columns=Columns.of(**columns))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("name", "units", "samples"),
    [
        ("position", "m, mm", 4),  # there are three axes
        ("position", "m, m, m, mm", 4),
        ("time", "s, ms", 4),
        ("time", "s, ms", ()),
    ],
)
def test_a_list_of_units_is_one_for_each(name, units, samples, tmp_path):
    motion = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=40).sample(4)
    dataset = motion_dataset(motion if samples else motion[0])
    dataset[name].attrs["units"] = units
    dataset.to_netcdf(tmp_path / "m.nc", engine="scipy")
    with pytest.raises(FileError, match=f"{name} has the unit '{units}', needs"):
        read_motion(tmp_path / "m.nc")


def test_plain_numbers_that_make_no_sense(hexapod, tmp_path):
    far = hexapod.home.replace(position=1000 * hexapod.home.position)
    for call in (hexapod.inverse_kinematics, hexapod.jacobian, hexapod.inverse_dynamics):
        with refusal(ReachError, "millimetres"):
            call(far)
    both = gough.Motion(np.stack([far.position, hexapod.home.position]))
    assert np.isnan(hexapod.inverse_kinematics(both, on_error="nan").q).any(axis=1).tolist() == [
        True,
        False,
    ]
    telescopes = gough.load("dietmaier-1998")
    with refusal(ReachError, "millimetres"):
        telescopes.inverse_kinematics(telescopes.home.replace(position=[0.0, 0.0, 2000.0]))
    for robot in (hexapod, telescopes):
        q = robot.inverse_kinematics(robot.home).q
        with refusal(ReachError, "millimetres"):
            robot.forward_kinematics(1000 * q)
    write_motion(far, tmp_path / "far.csv")
    with refusal(FileError, "millimetres", "line 2"):
        read_motion(tmp_path / "far.csv", hexapod)
    motion_dataset(far).to_netcdf(tmp_path / "far.nc", engine="scipy")
    with refusal(GoughError, "millimetres"):
        hexapod.inverse_kinematics(read_motion(tmp_path / "far.nc", hexapod))


IN_MILLIMETRES = """# drawn in mm
format = 1
name = "drawn"
units = { length = "mm", angle = "deg", inertia = "kg mm2" }   # all of them
home = { position = [0, 0, 123.4], rotation_vector = [0, 0, 90] }
[legs]
kind = "UPS"
base = [
    [500, 0, 0],  # leg 1
    [-250.5, 433, 0], [-250.5, -433, 0], [400, 300, 0], [-400, 300, 0], [0, -500, 0],
]
platform = [[0, 100.1, 0], [100, 0, 0], [-100, 0, 0], [60, -80, 1], [-60, -80, 2], [0, -100, 3]]
axis = [0, 0, 1]
limits = { stroke = [100, 900], universal_angle = 45 }
[platform]
mass = 2.5
inertia = [[2500, 0, 0], [0, 2500, 0], [0, 0, 5000]]
"""


def test_a_robot_file_in_millimetres(tmp_path):
    path = tmp_path / "drawn.toml"
    path.write_text(IN_MILLIMETRES)
    robot = gough.load(path)
    assert robot.home.position.tolist() == [0.0, 0.0, 0.1234]
    assert robot.file.legs.base[1].tolist() == [-0.2505, 0.433, 0.0]
    assert robot.limits.longest.tolist() == [0.9] * 6
    np.testing.assert_allclose(robot.limits.universal_angle, pi / 4, rtol=1e-15)
    np.testing.assert_allclose(robot.home.rotation[:, 0], [0, 1, 0], atol=1e-15)
    assert robot.platform.inertia[2, 2] == 0.005
    saved = tmp_path / "saved.toml"
    robot.edited({"platform.mass": 3.0}).save(saved)
    text = saved.read_text("utf-8")
    assert "# leg 1" in text
    assert "units =" not in text
    assert gough.load(saved).home.position.tolist() == [0.0, 0.0, 0.1234]
    import tomllib

    same = gough.Robot.from_dict(tomllib.loads(IN_MILLIMETRES))
    np.testing.assert_array_equal(same.mechanism.points, robot.mechanism.points)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"mm"', '"kg"', ["units: length", "'kg'", "needs m"]),
        ('"mm"', '"mmm"', ["units: length", "'mmm'"]),
        ("length =", "lenght =", ["units.lenght", "length"]),
        (', inertia = "kg mm2"', "", ["platform.inertia", "kg mm2"]),
    ],
)
def test_units_of_a_robot_file_that_cannot_be(old, new, words, tmp_path):
    with pytest.raises(FileError) as caught:
        gough.Robot.from_text(IN_MILLIMETRES.replace(old, new))
    for word in words:
        assert word in str(caught.value)


def test_a_robot_of_three_hundred_metres_is_asked_about(tmp_path):
    path = tmp_path / "large.toml"
    path.write_text(IN_MILLIMETRES.split("[platform]")[0].replace("units", "# units"))
    with warning(UnitsWarning, "millimetres"):
        gough.load(path)
