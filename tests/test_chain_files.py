"""Chains in robot files: their numbers, and one clear line on whatever is wrong with them."""

import copy
import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from cases.chains import ARM, changed, delta, described, groups, said
from cases.common import repeatable
from cases.errors import warning
from gough import Robot
from gough.description import files
from gough.errors import GoughError, ImpossibleBodyWarning
from gough.legs.chain.equations import Chain
from gough.legs.chain.pin import Pin
from gough.legs.units import LINEAR, ROTARY
from gough.mechanics.groups import LegGroups


def test_joints_and_bodies_are_in_the_world_at_home():
    place = [[0.1, 0.2, 0.3], [0, 0, 0], [0, -1, 0]]
    turns = [[0.3, -0.2, 0.5], [1.0, 2.0, 0.1], [0, 0, 0]]
    found = described(changed(delta(), {"legs.position": place, "legs.rotation_vector": turns}))
    legs = found.legs
    assert isinstance(legs, Chain)
    assert legs.joints == ("revolute",) * 5
    assert legs.actuated == (True, False, False, False, False)
    assert legs.body_port
    for i, turn in enumerate(Rotation.from_rotvec(turns).as_matrix()):
        assert_allclose(legs.axes[0][:, i, 0], turn @ [0, 1, 0], atol=1e-15)
        assert_allclose(legs.axes[2][:, i, 0], turn @ [0.8, 0, -0.6], atol=1e-15)
        points = [[0.2, 0, 0], *[[0.4, 0, -0.1]] * 2, *[[0.1, 0, -0.5]] * 2]
        for point, given_ in zip(legs.points, points, strict=True):
            assert_allclose(point[:, i, 0], place[i] + turn @ given_, atol=1e-15)
        assert_allclose(legs.port[:, i, 0], place[i] + turn @ points[-1], atol=1e-15)
        arm = legs.bodies[0]
        assert_allclose(arm.first_moment[:, i, 0], turn @ [0.04, 0, 0], atol=1e-16)
        about = ARM["inertia"] + np.diag([0, 4e-3, 4e-3])
        assert_allclose(arm.inertia[:, :, i, 0], turn @ about @ turn.T, atol=1e-16)
    massless = [not body.mass.any() for body in legs.bodies]
    assert massless == [False, True, False, True, True]
    assert_array_equal(legs.home[0], [[0.3]] * 3)
    assert_array_equal(legs.rotor_inertia[0], [[0.01]] * 3)
    assert_array_equal(legs.home_position.ravel(), [0, 0, -0.5])
    tips = legs.port[..., 0] - [[0], [0], [-0.5]]
    assert_allclose(found.platform_points[..., 0], tips, atol=1e-15)
    apart = tips - tips.mean(axis=1, keepdims=True)
    assert_allclose(legs.length_scale, np.sqrt(np.mean(np.sum(apart**2, axis=0))))


def test_points_are_seen_from_a_turned_platform():
    vector = [0.2, -0.4, 0.9]
    found = described(changed(delta(), {"home.rotation_vector": vector}))
    turn = Rotation.from_rotvec(vector).as_matrix()
    back = np.array([[0], [0], [-0.5]]) + turn @ found.platform_points[..., 0]
    assert_allclose(back, found.legs.port[..., 0], atol=1e-15)


def test_a_prismatic_joint_sits_where_the_joint_before_does():
    joints = [
        {"type": "prismatic", "axis": [0, 3.0, 0], "actuated": True, "body": {}},
        {
            "type": "universal",
            "point": [0, 0, 1],
            "axis": [1, 0, 0],
            "axis2": [0, 1, 0],
            "body": {},
        },
        {"type": "prismatic", "axis": [0, 0, 1], "body": {}},
        {"type": "prismatic", "point": [5, 0, 0], "axis": [1, 0, 0], "body": {}},
        {"type": "revolute", "point": [0, 0, 2], "axis": [0, 0, 1]},
    ]
    place = [[1, 0, 0], [0, 1, 0]]
    data = changed(delta(), {"legs": {"kind": "chain", "position": place, "joints": joints}})
    legs = described(data).legs
    assert legs.joints == ("prismatic", "revolute", "revolute", *["prismatic"] * 2, "revolute")
    assert [point[2, 0, 0] for point in legs.points] == [0, 1, 1, 1, 0, 2]
    assert_array_equal(legs.points[4][:, 1, 0], [5, 1, 0])
    assert_array_equal(legs.port[..., 0].T, [[1, 0, 2], [0, 1, 2]])


def test_a_spherical_joint_may_be_anywhere():
    ball = {"type": "spherical", "point": [0.4, 0, -0.1], "body": {"mass": 0.1}}
    legs = described(changed(delta(), {"legs.joints.1": ball})).legs
    assert legs.joints == ("revolute", "spherical", "revolute", "revolute")
    assert not legs.axes[1].any()
    assert_array_equal(legs.bodies[1].mass, [[0.1]] * 3)
    ends = {"type": "spherical", "point": [0.1, 0, -0.5]}
    pins = described(changed(delta(), {"legs.joints": [ends]})).legs
    assert isinstance(pins, Pin)
    assert pins.port.shape == (3, 3, 1)


def test_the_second_axis_is_made_perpendicular():
    skew = [1e-7, 1.0, 0.3e-6]
    legs = described(changed(delta(), {"legs.joints.2.axis2": skew})).legs
    first, second = legs.axes[3:]
    assert np.abs(np.sum(first * second, axis=0)).max() < 2e-16
    assert_allclose(np.linalg.norm(second, axis=0), 1, atol=4e-16)
    assert_allclose(second[:, 0, 0], [0, 1, 0], atol=1e-6)


def test_one_value_for_all_legs_or_one_per_leg():
    lists = {
        "point": [0.2, 0, 0], "axis": [0, 2, 0], "actuated": True, "home": 0.3,
        "rotor_inertia": 0.01, "viscous": 0.1, "coulomb": 0.2, "width": 0.01, "force": 9.0,
        "speed": 3.0, "stroke": [-1.0, 1.0],
    }  # fmt: skip
    one = described(changed(delta(), {f"legs.joints.0.{key}": v for key, v in lists.items()}))
    for many in ([copy.deepcopy(ARM)] * 3, {key: [value] * 3 for key, value in ARM.items()}):
        spread = {f"legs.joints.0.{key}": [value] * 3 for key, value in lists.items()}
        found = described(changed(delta(), spread | {"legs.joints.0.body": many}))
        for key in ("axes", "points", "home", "rotor_inertia", "viscous", "coulomb", "width"):
            for a, b in zip(getattr(found.legs, key), getattr(one.legs, key), strict=True):
                assert_array_equal(a, b)
        for a, b in zip(found.legs.bodies[0], one.legs.bodies[0], strict=True):
            assert_array_equal(a, b)
        for a, b in zip(found.limits, one.limits, strict=True):
            assert_array_equal(a, b)
    assert_array_equal(found.limits.force, [9, 9, 9])
    assert_array_equal(found.limits.shortest, [-1, -1, -1])


def test_legs_that_differ_in_what_is_actuated_are_groups_in_order():
    driven = {"legs.joints.0.actuated": [True, False, False], "legs.joints.0.rotor_inertia": 0.0}
    found = described(changed(delta(), driven))
    assert isinstance(found.legs, LegGroups)
    assert [part.actuated[0] for part in found.legs.groups] == [True, False]
    assert [part.port.shape for part in found.legs.groups] == [(3, 1, 1), (3, 2, 1)]
    ports = np.concatenate([part.port for part in found.legs.groups], axis=1)
    assert_array_equal(ports, described(delta()).legs.port)
    assert [one.leg for one in found.actuators] == [0]
    assert found.limits.force.shape == (1,)
    assert found.limits.universal_angle.shape == (3,)
    assert len(found.groups) == 1


def test_several_actuators_in_a_leg_and_limits_of_passive_joints():
    joints = [
        {"type": "revolute", "point": [0, 0, 0], "axis": [0, 0, 1], "actuated": True, "force": 7.0},
        {"type": "prismatic", "axis": [0, 0, 1], "actuated": [True, False], "stroke": [[0, 1], [0, 2]]},
        {"type": "revolute", "point": [0, 0, 1], "axis": [0, 1, 0], "speed": 2.0},
        {"type": "universal", "point": [0, 0, 2], "axis": [1, 0, 0], "axis2": [0, 1, 0]},
    ]  # fmt: skip
    found = described(changed(delta(), {"legs": {"kind": "chain", "joints": joints}}))
    assert [(one.leg, one.units) for one in found.actuators] == [
        (0, ROTARY),
        (0, LINEAR),
        (1, ROTARY),
    ]
    assert_array_equal(found.limits.force, [7, np.inf, 7])
    assert_array_equal(found.limits.longest, [np.inf, 1, np.inf])
    told = [(one.leg, one.joint, one.longest, one.speed) for one in found.passive]
    assert told == [(0, 2, np.inf, 2), (1, 1, 2, np.inf), (1, 2, np.inf, 2)]
    assert found.missing == tuple(f"legs.joints.{i}.body" for i in range(3))


REFUSED = [
    ({"legs.joints.0.axis": None}, ["legs.joints.0", "revolute", "needs axis"]),
    ({"legs.joints.0.point": None}, ["legs.joints.0", "revolute", "needs point"]),
    ({"legs.joints.1.point": None}, ["legs.joints.1", "universal", "needs point"]),
    ({"legs.joints.1.axis2": None}, ["legs.joints.1", "universal", "needs axis2"]),
    ({"legs.joints.2": {"type": "spherical"}}, ["legs.joints.2", "spherical", "needs point"]),
    ({"legs.joints.2": {"type": "spherical", "point": [0, 0, 0], "axis": [0, 0, 1]}},
     ["legs.joints.2", "spherical", "no axis"]),
    ({"legs.joints.0.axis2": [1, 0, 0]}, ["legs.joints.0", "revolute", "no axis2"]),
    ({"legs.joints.0.axis": [[0, 1, 0], [0, 0, 0], [0, 1, 0]]},
     ["legs.joints.0.axis", "leg 2", "zero length"]),
    ({"legs.joints.1.axis2": [[1, 0, 0], [1, 0, 0], [1, 2e-6, 0]]},
     ["legs.joints.1.axis2", "leg 3", "2e-06 rad off", "limit 1e-06"]),
    ({"legs.joints.1.axis2": [0, 1, 0]}, ["legs.joints.1.axis2", "leg 1", "1.57 rad"]),
    ({"legs.joints.1.actuated": True}, ["legs.joints.1", "universal", "cannot be actuated"]),
    ({"legs.joints.2": {"type": "spherical", "point": [0, 0, 0], "actuated": [False, True, False]}},
     ["legs.joints.2", "spherical", "cannot be actuated"]),
    ({"legs.joints.1.viscous": 0.1}, ["legs.joints.1", "universal", "no viscous"]),
    ({"legs.joints.1.home": 0.1}, ["legs.joints.1", "universal", "no home"]),
    ({"legs.joints.1.stroke": [0, 1]}, ["legs.joints.1", "universal", "no stroke"]),
    ({"legs.joints.0.actuated": [True, True, False]},
     ["legs.joints.0.rotor_inertia", "leg 3", "not actuated"]),
    ({"legs.joints.0.rotor_inertia": -1.0}, ["legs.joints.0.rotor_inertia", "leg 1", "negative"]),
    ({"legs.joints.0.viscous": [0, -1.0, 0]}, ["legs.joints.0.viscous", "leg 2", "negative"]),
    ({"legs.joints.0.coulomb": -1.0}, ["legs.joints.0.coulomb", "leg 1", "negative"]),
    ({"legs.joints.0.width": -1.0}, ["legs.joints.0.width", "leg 1", "negative"]),
    ({"legs.joints.0.stroke": [[0, 1], [0, 1], [2, 1]]}, ["legs.joints.0.stroke", "leg 3", "min < max"]),
    ({"legs.joints.0.force": 0}, ["legs.joints.0.force", "leg 1", "not positive"]),
    ({"legs.joints.0.speed": [1, 1, -1]}, ["legs.joints.0.speed", "leg 3", "not positive"]),
    ({"legs.joints.2.body": {}}, ["legs.joints.2.body", "last joint", "platform"]),
    ({"legs.joints": []}, ["legs.joints", "1 item"]),
    ({"legs.joints": None}, ["missing key legs.joints"]),
    ({"legs.joints.0.type": "helical"}, ["legs.joints.0.type", "revolute"]),
    ({"legs.joints.0": 3}, ["legs.joints.0 needs a table"]),
    ({"legs.joints.0.type": None}, ["missing key legs.joints.0.type"]),
    ({"legs.joints.0.axes": [0, 0, 1]}, ["unknown key legs.joints.0.axes", "nearest known key is axis"]),
    ({"legs.joints.0.body.mas": 1}, ["unknown key legs.joints.0.body", "mas", "mass"]),
    ({"legs.joints.0.home": [0.1, 0.2]}, ["legs.joints.0.home", "2 legs", "3"]),
    ({"legs.joints.0.actuated": [True]}, ["legs.joints.0.actuated", "1 legs", "3"]),
    ({"legs.joints.0.actuated": 1}, ["legs.joints.0.actuated", "true or false", "1"]),
    ({"legs.joints.0.body": [{}, {}]}, ["legs.joints.0.body", "2 tables", "3 legs"]),
    ({"legs.joints.0.body.mass": [1.0, 2.0]}, ["legs.joints.0.body.mass", "2 legs", "3"]),
    ({"legs.joints.0.body.inertia": [[1, 2, 0], [0, 2, 0], [0, 0, 2]]}, ["joints.0.body", "symmetric"]),
    ({"legs.position": [[0, 0, 0]] * 2}, ["legs.rotation_vector", "3 legs", "2"]),
    ({"legs.position": [0, 0]}, ["legs.position", "3 numbers"]),
    ({"legs.rotation_vector": None}, ["has 1 leg", "2 or more", "legs.position"]),
    ({"legs.platform": [[0, 0, 0]] * 3}, ["unknown key legs.platform", "nearest"]),
    ({"home": None, "platform.mobility": None}, ["home is missing"]),
    ({"home": None}, ["platform.mobility needs home"]),
    ({"platform.mobility": "spherical"}, ["platform.mobility", "translation", "schoenflies"]),
    ({"platform.coordinates": ["x", "y", "x"]}, ["platform", "coordinates", "'x' twice"]),
    ({"platform.coordinates": ["x", "y", "w"]}, ["platform.coordinates.2", "'rz'"]),
    ({"platform.coordinates": []}, ["platform.coordinates", "1 item"]),
    ({"platform": {"plate": {"outline": [[0, 0], [1, 0], [0, 1]], "thickness": 0.1, "density": 1,
                             "young": 1}}},
     ["leg 1 ends in a universal joint", "flexible"]),
    ({"legs": []}, ["legs", "1 item"]),
    ({"legs": 3}, ["legs needs a table"]),
    ({"legs": [3]}, ["legs.0 needs a table"]),
    ({"legs.kind": "chian"}, ["legs.kind needs", "'chain'"]),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "words"), REFUSED, ids=[str(one)[:60] for one, _ in REFUSED])
def test_a_chain_that_cannot_be_is_one_clear_line(changes, words):
    message = said(changed(delta(), changes))
    assert message.startswith("delta: ")
    assert [word for word in words if word not in message] == []


U = {
    "type": "universal",
    "point": [0.4, 0, -0.1],
    "axis": [0, 1, 0],
    "axis2": [1, 0, 0],
    "body": {},
}
S = {"type": "spherical", "point": [0.4, 0, -0.1], "body": {}}
P = {"type": "prismatic", "axis": [0, 0.6, 0.8], "actuated": True, "body": {}}
TIP = {"type": "spherical", "point": [0.1, 0.3, 0.3]}
IDLE = [
    ([S, P, TIP], ["legs.joints.0 of leg 1", "make legs.joints.0 universal"]),
    ([U, P, S | {"point": [0.2, 0.2, 0.2]}, TIP], ["legs.joints.2", "make legs.joints.2 universal"]),
    ([P, P | {"actuated": False}, TIP], ["legs.joints.0, legs.joints.1 of leg 1", "leave one"]),
    ([U, P, U | {"point": [0, 0, 0]}, TIP], ["of leg 1 can move"]),
    ([U, U | {"point": [0, 0, 0]}, U | {"point": [0, 0, 1]}, delta()["legs"]["joints"][2]],
     ["of leg 1 can move while the platform rests"]),
]  # fmt: skip


@pytest.mark.parametrize(("joints", "words"), IDLE, ids=[words[-1] for _, words in IDLE])
def test_a_leg_that_hangs_as_it_likes_is_refused(joints, words):
    message = said(changed(delta(), {"legs.joints": joints}))
    assert [word for word in words if word not in message] == []


def test_an_axis_through_the_spherical_joint_moves_nothing():
    spin = {"type": "revolute", "point": [0.1, 0.3, 0], "axis": [0, 0, 1], "body": {}}
    assert described(changed(delta(), {"legs.joints": [U, P, TIP]})).legs.joints[2] == "prismatic"
    message = said(changed(delta(), {"legs.joints": [P, spin, TIP]}))
    assert "legs.joints.1 of leg 1 can move while the platform rests: leave it out" in message


def test_a_missing_body_is_missing_mass_and_an_empty_one_is_massless():
    assert described(delta()).missing == ()
    assert described(changed(delta(), {"legs.joints.1.body": {}})).missing == ()
    data = changed(delta(), {"legs.joints.1.body": None, "platform": None})
    assert described(data).missing == ("legs.joints.1.body", "platform")


ODD = [
    None, "", "x", "revolute", True, False, 0, -1, 1e-300, 1e300, np.nan, np.inf, 10**400, [], {},
    [0, 0, 0], [1, 0, 0], [[1, 0, 0]], [[0, 0, 0]] * 3, [True, False, True], [{}], [[]], {"a": 1},
    [1, 2], [2, 1], ["x"], [[1, 2], [3]], {"mass": -1}, {"mass": 1, "XX": 1}, [[0, 1]] * 3,
]  # fmt: skip


def leaves(value: object, path: tuple = ()) -> list[tuple]:
    """Ways to all values in nested tables and lists."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, one in inside:
        found.append((*path, key))
        if isinstance(one, dict | list):
            found += leaves(one, (*path, key))
    return found


def trouble(make: Callable[[Any], Robot], given_: object) -> str:
    """What gough says of a robot that cannot be, or nothing."""
    try:
        with warnings.catch_warnings(action="ignore"):
            make(given_)
    except GoughError as error:
        return str(error)
    return ""


@repeatable
@given(st.sampled_from([delta, groups]), st.data())
def test_mutated_files_give_nothing_but_errors_of_gough(make, data):
    robot = json.loads(json.dumps(make(), default=np.ndarray.tolist))
    for _ in range(data.draw(st.integers(1, 3))):
        *way, last = data.draw(st.sampled_from(leaves(robot)))
        place = robot
        for key in way:
            place = place[key]
        match data.draw(st.sampled_from(["odd", "gone", "twice"])):
            case "odd":
                place[last] = data.draw(st.sampled_from(ODD))
            case "gone":
                del place[last]
            case "twice" if isinstance(place, list):
                place.append(copy.deepcopy(place[last]))
    assert "\n" not in trouble(Robot.from_dict, robot)


@repeatable
@given(st.sampled_from([delta, groups]), st.integers(0), st.integers(0, 60), st.text(max_size=3))
def test_cut_texts_give_nothing_but_errors_of_gough(make, start, length, put):
    text = files.to_text(make())
    start %= len(text)
    assert "\n" not in trouble(Robot.from_text, text[:start] + put + text[start + length :])


def test_bodies_that_cannot_be_warn():
    data = changed(delta(), {"legs.joints.0.body": {"M": 1.0, "MX": [0, 1.0, 0]}})
    with warning(ImpossibleBodyWarning, "delta", "leg 2", "legs.joints.0.body"):
        described(data)


def test_a_passive_leg_of_impossible_bodies_is_a_warning():
    odd = changed(groups(), {"legs.1.joints.0.body": {"M": -1.0}})
    with warning(ImpossibleBodyWarning, "legs.1.joints.0.body"):
        described(odd)
