"""Several groups of legs, mobility and coordinates in robot files, and edits that reach into them."""

import json
import re
import tomllib

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cases.chains import changed, delta, described, groups, said
from gough import Robot
from gough.description import files
from gough.description.numbers import describe
from gough.description.schema import json_schema
from gough.errors import FileError
from gough.mechanics.groups import LegGroups


def test_groups_are_numbered_through():
    found = described(groups())
    assert isinstance(found.legs, LegGroups)
    told = [(one.kind.name, one.where, one.first, one.leg_count) for one in found.groups]
    assert told == [("UPS", "legs.0", 0, 3), ("chain", "legs.1", 3, 1), ("PUS", "legs.2", 4, 2)]
    assert found.platform_points.shape == (3, 6, 1)
    assert_allclose(found.platform_points[:, 3, 0], [0, 0, -0.6])
    assert [one.leg for one in found.actuators] == [0, 1, 2, 4, 5]
    assert [len(one) for one in found.limits] == [5, 5, 5, 5, 6, 6]
    assert [(one.leg, one.joint, one.shortest) for one in found.passive] == [(3, 1, -0.1)]
    assert "legs.0.rod" in found.missing
    assert "legs.2.slider" in found.missing
    assert not [one for one in found.missing if one.startswith("legs.1")]
    scale = found.legs.groups[1].length_scale
    points = found.platform_points[..., 0]
    apart = points - points.mean(axis=1, keepdims=True)
    assert_allclose(scale, np.sqrt(np.mean(np.sum(apart**2, axis=0))))


GROUPS_REFUSED = [
    ({"legs.2.rail_direction": [[0, 0, 1], [0, 0, 0]]}, ["legs.2.rail_direction", "leg 6", "zero"]),
    ({"legs.2.length": [1.5, -1.0]}, ["legs.2.length", "leg 6", "not positive"]),
    ({"legs.2.length": [1.5] * 3}, ["legs.2.length", "3 legs", "the group has 2"]),
    ({"legs.2.lenght": 1}, ["unknown key legs.2.lenght", "nearest known key is length"]),
    ({"legs.2.length": None}, ["missing key legs.2.length"]),
    ({"legs.0.kind": None}, ["missing key legs.0.kind"]),
    ({"legs.0.kind": "UPU"}, ["legs.0.kind needs", "'UPS'", "'chain'"]),
    ({"legs.0.limits": {"force": [1.0]}}, ["legs.0.limits.force", "1 legs", "the group has 3"]),
    ({"legs.0.friction": {"slider_viscos": 1}}, ["unknown key legs.0.friction.slider_viscos"]),
    ({"legs.1.joints.1.stroke": [1, 0]}, ["legs.1.joints.1.stroke", "leg 4", "min < max"]),
    ({"home": None}, ["legs.1", "home"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"), GROUPS_REFUSED, ids=[str(one)[:60] for one, _ in GROUPS_REFUSED]
)
def test_mistakes_name_the_group(changes, words):
    message = said(changed(groups(), changes))
    assert [word for word in words if word not in message] == []


def test_two_legs_are_enough_and_few_need_a_home():
    data = groups()
    data["legs"] = {
        "kind": "UPS",
        "base": [[1, 0, 0], [0, 1, 0]],
        "platform": [[0.1, 0, 0], [0, 0, 0]],
    }
    assert described(data).platform_points.shape == (3, 2, 1)
    assert "home is missing; a robot of 2 legs" in said(changed(data, {"home": None}))
    one = changed(data, {"legs.base": [[1, 0, 0]], "legs.platform": [[0.1, 0, 0]]})
    assert "has 1 leg, needs 2 or more" in said(one)
    single = changed(data, {"legs.base": [1, 0, 0], "legs.platform": [0.1, 0, 0]})
    assert "legs.platform or legs.base must be a list with one point per leg" in said(single)


def test_a_group_of_one_leg_needs_no_list():
    data = groups()
    data["legs"][0] |= {"base": [1, 0, 0], "platform": [0.1, 0, 0]}
    assert [one.leg_count for one in described(data).groups] == [1, 1, 2]


@pytest.mark.parametrize("mobility", ["translation", "rotation", "planar", "schoenflies"])
def test_mobility_and_coordinates_are_kept(mobility):
    names = {"platform.mobility": mobility, "platform.coordinates": ["z", "rx", "ry"]}
    found = described(changed(groups(), names))
    assert (found.mobility, found.coordinates) == (mobility, ("z", "rx", "ry"))
    free = described(groups())
    assert (free.mobility, free.coordinates) == (None, None)
    plate = {"sides": 6, "radius": 0.3, "thickness": 0.01, "density": 1, "young": 1}
    file = files.validate(changed(delta(), {"platform": {"plate": plate, **table(names)}}), "kept")
    assert file.platform.mobility == mobility


def test_a_rigid_copy_of_a_flexible_robot_keeps_its_mobility():
    points = [[np.cos(a), np.sin(a), 0.0] for a in (0, 0.5, 2.1, 2.6, 4.2, 4.7)]
    legs = {
        "kind": "UPS",
        "base": points,
        "platform": [[0.4 * x, 0.4 * y, 0] for x, y, _ in points],
    }
    plate = {"sides": 6, "radius": 0.5, "thickness": 0.02, "density": 2700, "young": 7e10}
    platform = {
        "mobility": "planar",
        "coordinates": ["x", "y", "rz"],
        "plate": {**plate, "modes": 2},
    }
    robot = Robot.from_dict(
        {"format": 1, "name": "kept", "home": {"position": [0, 0.1, 1]}, "legs": legs}
        | {"platform": platform}
    )
    kept = robot.rigid.file.platform
    assert (kept.plate, kept.mobility, kept.coordinates) == (None, "planar", ["x", "y", "rz"])


def table(names: dict) -> dict:
    return {key.removeprefix("platform."): value for key, value in names.items()}


def equal(a: object, b: object) -> bool:
    """Whether two descriptions have the same arrays."""
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    if hasattr(a, "__dataclass_fields__"):
        return all(equal(getattr(a, key), getattr(b, key)) for key in a.__dataclass_fields__)
    return a == b


@pytest.mark.parametrize("make", [delta, groups])
def test_dictionaries_and_texts_say_the_same(make):
    data = make()
    text = files.to_text(data)
    again = describe(files.parse(text, data["name"]), data["name"])
    assert equal(described(data).legs, again.legs)
    arrays = {"legs.joints.0.actuated": np.array([True, True, True]), "legs.position": np.eye(3)}
    if make is delta:
        data = changed(data, arrays)
        again = files.parse(files.to_text(data), "arrays")
        assert again.legs.joints[0].actuated == [True] * 3


def test_edits_reach_into_groups_and_joints():
    text = "# two groups\n" + files.to_text(groups())
    changes = {
        "legs.2.length": [1.7, 1.8],
        "legs.0.rod.mass": 3.0,
        "legs.1.joints.1.home": 0.25,
        "legs.1.joints.0.body.mass": 2.0,
        "platform.mobility": "planar",
    }
    edited = files.edit(text, changes)
    assert edited.startswith("# two groups\n")
    data = tomllib.loads(edited)
    assert data["legs"][2]["length"] == [1.7, 1.8]
    assert data["legs"][0]["rod"] == {"mass": 3.0}
    assert data["legs"][1]["joints"][1]["home"] == 0.25
    assert data["legs"][1]["joints"][0]["body"] == {"mass": 2.0}
    assert files.parse(edited, "edited").platform.mobility == "planar"
    for key in ("legs.length", "legs.3.length", "legs.-1.length", "legs.²", "legs.1.joints.x.home"):
        with pytest.raises(FileError, match=re.escape(key)):
            files.edit(text, {key: 1.0})
    inline = 'legs = [{ kind = "UPS", base = [1] }]\n'
    assert files.edit(inline, {"legs.0.base": [2]}) == inline.replace("[1]", "[2]")


def test_the_schema_knows_chains_and_groups():
    schema = json.loads(json.dumps(json_schema()))
    forms = schema["properties"]["legs"]["oneOf"]
    assert [one.get("type", "object") for one in forms] == ["object", "array"]
    assert {"ChainTable", "JointTable"} <= set(schema["$defs"])
    platform = schema["$defs"]["PlatformTable"]["properties"]
    assert {"mobility", "coordinates"} <= set(platform)
