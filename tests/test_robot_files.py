"""Robot files: nothing is lost, defaults are the contract's, and bad files say what is wrong."""

import copy
import difflib
import json
import os
import re
import tomllib
import warnings
from dataclasses import fields
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import null_space

import gough
from cases.common import KIM, each_kind, impossible_bodies
from cases.errors import refusal
from gough import Robot
from gough.description import files
from gough.description.schema import json_schema
from gough.errors import FileError, GoughError, ImpossibleBodyWarning, MissingDataError
from gough.legs.bodies import from_standard, pseudo_inertias
from gough.legs.completion import completion, ten_parameters
from gough.legs.register import KINDS

PUBLISHED_SCHEMA = Path(__file__).parents[1] / "docs" / "robot.schema.json"
IMPOSSIBLE = {"M": 1.0, "ZZ": 0.1}
each_robot = pytest.mark.parametrize("name", gough.catalogue())


def catalogue_bytes(name: str) -> bytes:
    return (resources.files("gough.description") / "catalogue" / f"{name}.toml").read_bytes()


def ring(radius: float, *degrees: float) -> np.ndarray:
    """Points (3, n) on a horizontal circle."""
    angles = np.deg2rad(degrees)
    return radius * np.stack([np.cos(angles), np.sin(angles), 0 * angles])


def minimal(kind: str) -> dict:
    """Only what a robot file must have, six legs."""
    points = ring(1.0, 10, 110, 130, 230, 250, 350).T
    legs = {"kind": kind, "platform": (0.4 * np.roll(points, 1, axis=0)).tolist()}
    legs[KINDS[kind].place] = points.tolist()
    if kind == "PUS":
        legs |= {"rail_direction": [0, 0, 3.0], "length": 1.2}
    if kind == "RUS":
        legs |= {"motor_axis": [0, 3.0, 0], "crank_zero": [2.0, 1.0, 0], "crank_length": 0.3}
        legs |= {"length": 1.2}
    return {"format": 1, "name": "small", "legs": legs | {"axis": [0.0, 2.0, 0.0]}}


def changed(data: dict, changes: dict) -> dict:
    """A copy with values at dotted keys changed, or taken out where the value is None.

    Of several groups of legs it is the first that changes.
    """
    data = copy.deepcopy(data)
    for key, value in changes.items():
        *tables, last = key.split(".")
        place = data
        for name in tables:
            place = place.setdefault(name, {})
            place = place[0] if isinstance(place, list) else place
        if value is None:
            del place[last]
        else:
            place[last] = value
    return data


def test_the_catalogue_lists_its_robots():
    papers = ["dietmaier-1998", "kim-ryu-2002", "long-khalil-martinet-2014"]
    papers += ["sinatra-xi-staicu-2009", "chablat-orthoglide-2003", "zoppi-exechon-2010"]
    papers += ["shyam-heliostat-2017", "shah-3rrr-2012", "alikoc-delta-2023"]
    models = ["ferrandiz-3ups-rpu-2021", "plaza-hexaglide-2019", "pollen-reachy-mini-2025"]
    assert gough.catalogue() == sorted(papers + models)


@impossible_bodies
@each_robot
def test_a_round_trip_loses_no_byte(name, tmp_path):
    first, second = tmp_path / "a.toml", tmp_path / "b.toml"
    gough.load(name).save(first)
    gough.load(first).save(second)
    assert first.read_bytes() == second.read_bytes() == catalogue_bytes(name)
    assert sorted(tmp_path.iterdir()) == [first, second]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_comments_and_digits_survive(newline, tmp_path):
    lines = catalogue_bytes("kim-ryu-2002").decode().splitlines()
    lines += ["# ein Größenvergleich · 尺寸", "[[platform.payload]]   # tool", "mass = 1.50_0e+0"]
    text = newline.join(lines)  # and no newline at the end
    path, copied = tmp_path / "robot.toml", tmp_path / "copy.toml"
    path.write_bytes(text.encode())
    gough.load(path).save(copied)
    assert copied.read_bytes() == text.encode()


def test_edited_changes_one_value_and_nothing_else():
    robot = gough.load("kim-ryu-2002")
    heavier = robot.edited({"platform.mass": 12.5, "legs.friction.width": 0.01})
    assert heavier.description.platform.mass.item() == 12.5
    assert np.all(heavier.description.legs.friction.width == 0.01)
    delta = difflib.ndiff(robot.text.splitlines(), heavier.text.splitlines())
    changes = [line for line in delta if line[0] in "+-"]
    assert changes == ["+ width = 0.01", "- mass = 10.7673", "+ mass = 12.5"]


def test_edited_adds_tables_and_takes_arrays():
    robot = gough.load("dietmaier-1998").edited(
        {"platform.mass": 2, "legs.rod.mass": np.full(6, 0.5), "tool": np.array([0, 0, 0.1])}
    )
    assert robot.description.platform.mass.item() == 2
    assert_array_equal(robot.description.legs.rod.mass[:, 0], 0.5)
    assert_array_equal(robot.description.tool, [0, 0, 0.1])
    assert robot.text.startswith("# The Gough-Stewart platform")


@pytest.mark.parametrize(
    ("key", "value"),
    [("platform.mas", 1.0), ("platform.mass", "heavy"), ("platform.mass", None), ("name.x", 1)],
)
def test_edited_checks_like_a_file(key, value):
    with pytest.raises(GoughError):
        gough.load("kim-ryu-2002").edited({key: value})


@impossible_bodies
@each_robot
def test_sources_and_assumptions_are_listed(name):
    file = gough.load(name).file
    assert {name.split("-")[0], name[-4:]} <= {*re.findall(r"\w+", file.source.lower())}
    assert min(map(len, file.assumed), default=0) > 10


def test_numbers_of_kim_and_ryu():
    robot = gough.load("kim-ryu-2002").description
    start = [[-0.7380, -0.8480, -0.11, 0.11, 0.8480, 0.7380],
             [-0.5531, -0.3625, 0.9157, 0.9157, -0.3625, -0.5531], [0.0] * 6]  # fmt: skip
    end = [[-0.2130, -0.3230, -0.11, 0.11, 0.3230, 0.2130],
           [-0.2500, -0.0594, 0.3095, 0.3095, -0.0594, -0.2500], [0.35] * 6]  # fmt: skip
    rails = (np.array(end) - start) / np.linalg.norm(np.array(end) - start, axis=0)
    legs = robot.legs
    assert_array_equal(legs.rail_origin[..., 0], start)
    assert_allclose(legs.rail_direction[..., 0], rails, atol=1e-15)
    axis = np.cross([0, 0, 1], rails.T).T
    assert_allclose(legs.axis[..., 0], axis / np.linalg.norm(axis, axis=0), atol=1e-15)
    assert_array_equal(robot.platform_points[:, 4, 0], [0.1615, 0.0337, 0])
    assert {*legs.length.flat, *legs.slider.mass.flat} == {0.9, 0.9971}
    assert {*legs.link.mass.flat, *legs.cross.mass.flat} == {2.1729, 0}
    assert_array_equal([robot.gravity, robot.home.position], [[0, 0, 9.81], [0, 0, 0.8]])
    assert_allclose(legs.link.inertia[0, 0], 0.1402837 + 2.1729 * 0.45**2, rtol=1e-15)
    assert_allclose(robot.platform.first_moment.ravel(), [0, 0, 10.7673 * 0.007])
    friction = [0.001, 0.2, 0.001, 0.006, 0.001, 0.006, 0.0, 0.0, 0.0, 0.0]
    assert_array_equal([np.unique(one).item() for one in legs.friction], friction)


@impossible_bodies
def test_numbers_of_long():
    robot = gough.load("long-khalil-martinet-2014").description
    legs = robot.legs
    assert_array_equal(legs.base[0, :, 0], [0.1, 0.3, 1.3, 1.0, -0.2, -0.7])
    assert_array_equal(legs.base[1, :, 0], [-0.2, -0.2, 0.4, 1.0, 0.9, 0.5])
    hexagon = ring(0.5, *range(-120, 240, 60))
    assert_allclose(robot.platform_points[..., 0], hexagon, atol=1e-15)
    assert_allclose(robot.home.position, [0.25, 0.4330127, 1], atol=5e-8)
    cylinder = [[4.823, 0.215, 0], [0.215, 0.945, 0], [0, 0, 5.11]]
    assert_array_equal(legs.cylinder.inertia[:, :, 3, 0], cylinder)
    assert_array_equal(legs.cylinder.first_moment[:, 0, 0], [4.29, -12.628, 0])
    assert_array_equal(legs.rod.first_moment[:, 0, 0], [0, 0, -3.018])
    masses = [legs.cross.mass, legs.rod.mass, legs.cylinder.mass, legs.rotor_mass]
    assert_array_equal(np.unique(masses), [3.176, 5.39, 30.176, 45.89])
    assert_allclose(robot.platform.mass, 73.069, rtol=3e-5)
    plate = robot.platform.mass * 0.25 * 5 / 24 * np.diag([1, 1, 2])  # a hexagon's m r² 5/24
    assert_allclose(robot.platform.inertia[..., 0, 0], plate, atol=1e-13)
    assert robot.modal.modes == 10
    first = [188.7473, 188.7475, 315.7169, 401.0187, 474.7468]  # Table 2, rad/s
    assert_allclose(2 * np.pi * robot.modal.frequencies[:5], first, rtol=0.008)


def test_numbers_of_sinatra():
    robot = gough.load("sinatra-xi-staicu-2009").description
    legs = robot.legs
    masses = [legs.slider.mass, legs.cross.mass, legs.link.mass, robot.platform.mass]
    assert_array_equal([np.unique(mass).item() for mass in masses], [0.1, 0.05, 0.398, 3.983])
    link = np.diag([0.0722, 0.0722, 0])  # y3 along the leg there, z here
    assert_array_equal(legs.link.inertia[..., 0, 0], link)
    assert_allclose(legs.link.first_moment[:, 0, 0], [0, 0, 0.398 * 0.25])
    assert_array_equal(robot.platform.inertia[..., 0, 0], np.diag([0.068, 0.068, 0.136]))
    points = ring(0.3, 55, 65, 175, 185, -65, -55)
    assert_allclose(robot.platform_points[..., 0], points, atol=1e-15)
    assert_array_equal(robot.gravity, [0, 0, 9.81])
    stroke = [robot.limits.shortest[0], robot.limits.longest[5]]
    assert_allclose(stroke, [-0.347537, 0.347537], atol=5e-7)


def test_numbers_of_dietmaier():
    robot = gough.load("dietmaier-1998")
    base, points = robot.description.legs.base[..., 0], robot.description.platform_points[..., 0]
    assert_array_equal(base[:, 3], [0.735077, -0.223935, 0.525991])
    assert_array_equal(points[:, 4], [0.478359, 1.158742, 0.107672])
    lengths = [1, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071]
    assert_allclose(robot.inverse_kinematics(robot.home).q, lengths, atol=1e-12)


def fits(value: object, schema: dict, root: dict) -> bool:
    """Whether a value has the structure a JSON Schema asks for (what ours uses of it)."""
    if "$ref" in schema:
        return fits(value, root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root)
    if choices := schema.get("anyOf", schema.get("oneOf")):
        return any(fits(value, one, root) for one in choices)
    if "const" in schema or "enum" in schema:
        return value in schema.get("enum", [schema.get("const")])
    if schema["type"] == "object":
        known = schema["properties"]
        assert schema["additionalProperties"] is False
        if not isinstance(value, dict):
            return False
        complete = set(schema.get("required", ())) <= set(value) <= set(known)
        return complete and all(fits(item, known[key], root) for key, item in value.items())
    if schema["type"] == "array":
        fewest, most = schema.get("minItems", 0), schema.get("maxItems", np.inf)
        if not isinstance(value, list) or not fewest <= len(value) <= most:
            return False
        return all(fits(item, schema["items"], root) for item in value)
    kinds = {"number": (int, float), "integer": int, "boolean": bool, "string": str}
    kinds["null"] = type(None)
    return isinstance(value, kinds[schema["type"]])


@each_robot
def test_the_json_schema_takes_the_catalogue(name):
    schema = json_schema()
    data = tomllib.loads(catalogue_bytes(name).decode())
    assert fits(data, schema, schema)
    first = data["legs"][0] if isinstance(data["legs"], list) else data["legs"]
    needed = "platform" if "platform" in first else "joints"
    for changes in ({"mass": 3}, {"legs.kind": "UPU"}, {f"legs.{needed}": None}):
        assert not fits(changed(data, changes), schema, schema)


def test_the_published_schema_is_this_one():
    assert json.loads(PUBLISHED_SCHEMA.read_text("utf-8")) == json.loads(json.dumps(json_schema()))


@each_kind
def test_defaults(kind):
    robot = Robot.from_dict(minimal(kind))
    parts = robot.description
    assert (robot.kind, robot.leg_count, robot.name) == (kind, 6, "small")
    assert_array_equal(parts.gravity, [0, 0, -9.81])
    assert not any(map(np.any, (parts.tool, parts.legs.rotor, *parts.legs.friction)))
    assert_array_equal(parts.legs.axis[..., 0].T, [[0, 1, 0]] * 6)
    assert_array_equal(parts.legs.reference[..., 0].T, [[1, 0, 0]] * 6)  # z is as far: the first
    assert np.all(np.isneginf(parts.limits.shortest))
    assert np.all(np.isposinf(parts.limits[1:]))
    if kind == "PUS":
        assert_array_equal(parts.legs.sign, -1)
        assert_array_equal(parts.legs.rail_direction[..., 0].T, [[0, 0, 1]] * 6)
    with refusal(MissingDataError, "home"):
        _ = robot.home
    if kind == "RUS":
        assert_array_equal(parts.legs.sign, -1)
        assert_array_equal(parts.legs.e1[..., 0].T, [[1, 0, 0]] * 6)
    bodies = {
        "PUS": ["slider", "cross", "link"],
        "UPS": ["cross", "cylinder", "rod"],
        "RUS": ["crank", "cross", "link"],
    }[kind]
    lacking = ", ".join([f"[legs.{body}]" for body in bodies] + ["[platform]"])
    with pytest.raises(MissingDataError, match=re.escape(lacking)):
        robot.inverse_dynamics(gough.Motion([0, 0, 1]))


@pytest.mark.parametrize("kind", ["UPS", "PUS"])
def test_default_axis_and_reference(kind):
    with refusal(FileError, "home", "legs.axis"):
        Robot.from_dict(changed(minimal(kind), {"legs.axis": None}))
    home = {"position": [0.1, 0, 1], "rotation_vector": [0.1, -0.2, 0.3]}
    robot = Robot.from_dict(changed(minimal(kind), {"legs.axis": None, "home": home}))
    direction = robot.inverse_kinematics(robot.home).direction
    axis = np.cross([0, 0, 1], direction)
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    assert_allclose(robot.description.legs.axis[..., 0].T, axis, atol=1e-14)
    assert_allclose(robot.description.legs.reference[..., 0].T, [[0, 0, 1]] * 6)
    tilted = robot.edited({"legs.axis": [3, 2, 6], "legs.reference": [1, 1, 1]})
    made = np.array([1, 1, 1]) - 11 / 49 * np.array([3, 2, 6])
    reference = tilted.description.legs.reference[:, 2, 0]
    assert_allclose(reference, made / np.linalg.norm(made), atol=1e-15)


def test_one_value_or_one_per_leg():
    lists = {
        "legs.length": [1.2] * 6, "legs.branch": ["minus"] * 6, "legs.rail_direction": [[0, 0, 5]] * 6,
        "legs.rotor_mass": [2.0] * 6, "legs.friction.slider_viscous": [0.3] * 6,
        "legs.limits.stroke": [[0, 1]] * 6, "legs.link.center_of_mass": [[0, 0, 0.5]] * 6,
        "legs.link.inertia": [np.diag([0.3, 0.3, 0.1]).tolist()] * 6, "legs.link.mass": [4.0] * 6,
    }  # fmt: skip
    one = {key: value[0] for key, value in lists.items()}
    tables = {"legs.link": [{key[10:]: one[key] for key in lists if "link" in key}] * 6}
    ten = {"M": 4.0, "MZ": 2.0, "XX": 1.3, "YY": 1.3, "ZZ": 0.1}
    plain = {key: value for key, value in lists.items() if "link" not in key}
    expected = Robot.from_dict(changed(minimal("PUS"), one)).description
    for changes in (lists, plain | tables, plain | {"legs.link": ten}):
        found = Robot.from_dict(changed(minimal("PUS"), changes)).description
        numbers = [
            [getattr(one.legs, field.name) for field in fields(one.legs)[:7]]
            for one in (found, expected)
        ]
        for a, b in (numbers, (found.legs.link, expected.legs.link)):
            assert all(np.allclose(x, y, rtol=1e-15) for x, y in zip(a, b, strict=True))
        assert all(map(np.array_equal, found.legs.friction, expected.legs.friction))
        assert all(map(np.array_equal, found.limits, expected.limits))


def test_payload_adds_up():
    box = {"mass": 2.0, "center_of_mass": [0.1, 0, 0], "inertia": np.diag([1, 2, 2.5]).tolist()}
    ten = {"M": 3.0, "MZ": -1.5, "XX": 1.5, "YY": 1.5, "XY": 0.2, "ZZ": 1.0}
    platform = {"platform": {**box, "payload": [ten, box]}}
    body = Robot.from_dict(changed(minimal("UPS"), platform)).description.platform
    assert body.mass.item() == 7
    assert_allclose(body.first_moment.ravel(), [0.4, 0, -1.5])
    assert_allclose(body.inertia[..., 0, 0], [[3.5, 0.2, 0], [0.2, 5.54, 0], [0, 0, 6.04]])


def test_impossible_bodies_warn_and_possible_ones_do_not():
    five = [{"mass": 1.0}] * 4 + [IMPOSSIBLE] + [{"mass": 1.0}]
    bad = {"legs.rod of leg 5": {"legs.rod": five}, "platform: ": {"platform": {"MX": 1.0}}}
    bad |= {"platform.payload.0": {"platform": {"mass": 9.0, "payload": [IMPOSSIBLE]}}}
    for words, changes in bad.items():
        with pytest.warns(ImpossibleBodyWarning, match=words):
            Robot.from_dict(changed(minimal("UPS"), changes))
    plate = np.diag([0.1, 0.1, 0.2]).tolist()  # the thinnest body there is
    possible = [{}, {"mass": 2.0, "center_of_mass": [1, 2, 3]}, {"mass": 1.0, "inertia": plate}]
    with warnings.catch_warnings(action="error"):
        for body in possible:
            Robot.from_dict(changed(minimal("UPS"), {"platform": body, "legs.rod": body}))
        for name in ("kim-ryu-2002", "sinatra-xi-staicu-2009", "dietmaier-1998"):
            gough.load(name)


def test_grouped_parameters_of_real_legs_do_not_warn():
    """Long, Khalil & Martinet's Table 3: no entry is a real body, but real legs feel the same."""
    with warnings.catch_warnings(action="error"):
        robot = gough.load("long-khalil-martinet-2014")

    def least(bodies):
        return np.linalg.eigvalsh(pseudo_inertias(*from_standard(*bodies.T)))[:, 0]

    legs, rules = robot.description.legs, robot.leg_kind.parameters
    grouping = rules.opened(legs, 0)
    felt = grouping.rows[:, :30]
    printed = np.stack([ten_parameters(body)[0] for body in legs.named_bodies().values()])
    assert least(printed).max() < -0.1
    real = completion(printed, null_space(felt))
    assert least(real).min() > 0
    assert_allclose(felt @ real.ravel(), felt @ printed.ravel(), atol=1e-12)
    weighed = np.vstack([felt, np.eye(30)[grouping.place("cylinder M")]])
    for mass, exists in ((30.176, False), (62.1, False), (62.3, True)):
        heavier = printed.copy()
        heavier[1, 9] = mass
        assert (completion(heavier, null_space(weighed)) is not None) == exists
    with pytest.warns(ImpossibleBodyWarning) as seen:
        robot.edited({"legs.rod.M": -1.0})
    assert any("legs.rod: no real body" in str(one.message) for one in seen)


def assert_one_clear_line(error: pytest.ExceptionInfo, *words: str) -> None:
    assert "\n" not in str(error.value)
    assert [word for word in words if word not in str(error.value)] == []


WRONG = [
    ({"mass": 3.0}, ["unknown key mass", "nearest"]),
    ({"legs.friction.slider_viscos": 1.0}, ["legs.friction.slider_viscos", "slider_viscous"]),
    ({"platform.payload": [{"center_of_mas": 0}]}, ["payload.0.center_of_mas;", "center_of_mass"]),
    ({"format": None}, ["missing key format"]),
    ({"legs.length": None}, ["missing key legs.length"]),
    ({"legs.kind": "UPU"}, ["legs.kind", "UPS", "PUS"]),
    ({"format": 2}, ["format", "1"]),
    ({"name": "a\x1b[31mb"}, ["name", "control character", "x1b"]),
    ({"gravity": "down"}, ["gravity", "numbers", "'down'"]),
    ({"gravity": [0, -9.81]}, ["gravity", "3 numbers", "(2,)"]),
    ({"gravity": [0, 0, np.nan]}, ["gravity", "not finite"]),
    ({"legs.length": np.inf}, ["legs.length", "not finite"]),
    ({"legs.length": 10**400}, ["legs.length", "not finite"]),
    ({"legs.length": [0.9, 0.9]}, ["legs.length", "2 legs", "6"]),
    ({"legs.branch": "left"}, ["legs.branch", "minus", "plus", "'left'"]),
    ({"legs.axis": [0, 0, 0]}, ["legs.axis", "leg 1", "zero length"]),
    ({"legs.rail_direction": [[0, 0, 1]] * 5 + [[0, 0, 0]]}, ["leg 6 has zero length"]),
    ({"legs.reference": [0, 5, 0]}, ["legs.reference", "leg 1", "parallel"]),
    ({"legs.axis": None, "home": {"position": [5, 0, 1]}}, ["leg", "cannot reach"]),
    ({"legs.friction.screw_torque": 0.1}, ["screw_torque", "screw_lead"]),
    ({"legs.link": {"mass": 1, "XX": 1}}, ["legs.link", "mass", "XX"]),
    ({"legs.link": [{"mass": 1}] * 2}, ["legs.link", "2", "6"]),
    ({"platform.mass": [1.0] * 6}, ["platform", "mass"]),
    ({"platform.inertia": [[1, 2, 0], [0, 2, 0], [0, 0, 2]]}, ["inertia", "symmetric"]),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "words"), WRONG, ids=[str(one)[:50] for one, _ in WRONG])
def test_bad_content_is_one_clear_line(changes, words):
    with pytest.raises(FileError) as error:
        Robot.from_dict(changed(minimal("PUS"), changes))
    assert_one_clear_line(error, *words)


def test_a_vertical_leg_needs_an_axis():
    data = changed(minimal("UPS"), {"legs.axis": None, "home": {"position": [0, 0, 1]}})
    data["legs"]["platform"][3] = data["legs"]["base"][3]
    with refusal(FileError, "leg 4"):
        Robot.from_dict(data)


TEXTS = [
    (b"this is not TOML", "not TOML"),
    (b"\x7fELF\x02\x01\x01\x00\xff\xfe", "not a text file"),
    (b"", "missing key"),
    (b"format = 1\nname = 'x'\ngravity = [0, 0, nan]\n", "gravity"),
    (b"gravity = " + b"[" * 100_000, "nested too deep"),
    (b"gravity = [0, 0, " + b"9" * 5000 + b"]", "bad.toml"),
]


@pytest.mark.parametrize(("content", "words"), TEXTS, ids=[words for _, words in TEXTS])
def test_a_bad_file_is_one_clear_line(content, words, tmp_path):
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    with pytest.raises(FileError) as error:
        gough.load(path)
    assert_one_clear_line(error, "bad.toml", words)


def test_a_path_that_holds_no_file(tmp_path):
    large = tmp_path / "large.toml"
    large.touch()
    os.truncate(large, 100_000_000)
    for path, words in (
        (large, ["large.toml", "100 MB"]),
        (tmp_path, ["Is a directory"]),
        (tmp_path / "nowhere.toml", ["nowhere.toml", "no such robot file"]),
        ("kim-ryu-2003", ["kim-ryu-2003", "did you mean 'kim-ryu-2002'?"]),
        ("x" * 5000, ["no such robot file"]),
    ):
        with pytest.raises(FileError) as error:
            gough.load(path)
        assert_one_clear_line(error, *words)


def test_text_of_a_dictionary_is_rendered_when_it_is_read(monkeypatch):
    data = tomllib.loads(gough.load(KIM).text)
    with monkeypatch.context() as patch:
        patch.setattr(files, "to_text", None)
        robot = gough.Robot.from_dict(data)
    data["platform"]["mass"] = 1e3
    data["legs"]["platform"][0][0] = 1e3
    assert tomllib.loads(robot.text) == tomllib.loads(gough.load(KIM).text)
