"""Defaults of variants follow the numbers that they come from, as in a robot file; truth in NumPy.

The axis that a file leaves out is unit(z × leg direction at home), the reference the world axis least
along the axis: with a base, rail or axis of another variant both are that variant's own.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gough import Motion, Robot
from gough.base.arrays import Array

pytestmark = pytest.mark.usefixtures("on_numpy")
HEIGHT = 0.6
ANGLES = np.deg2rad([10.0, 110.0, 130.0, 230.0, 250.0, 350.0])
RING = np.stack([np.cos(ANGLES), np.sin(ANGLES), 0 * ANGLES], axis=1)
TOP = 0.2 * np.roll(RING, 1, axis=0)
BASE = 0.4 * RING
LINK = 0.75
RAIL = RING * [-0.5, -0.5, 0] + [0, 0, 1.0]
HOME = np.array([0.0, 0.0, HEIGHT])
POSE = np.array([0.02, -0.03, HEIGHT + 0.01])
BODY = {"mass": 1.0, "center_of_mass": [0.0, 0.02, 0.1], "inertia": np.diag([0.03, 0.03, 0.01])}
FACTORS = np.array([0.6, 0.9, 1.3])


def robot(legs: dict[str, object]) -> Robot:
    body = BODY | {"inertia": BODY["inertia"].tolist()}
    bodies = ("cross", "cylinder", "rod") if legs["kind"] == "UPS" else ("slider", "cross", "link")
    return Robot.from_dict(
        {
            "format": 1,
            "name": "made for variants",
            "home": {"position": [0, 0, HEIGHT]},
            "legs": {"platform": TOP.tolist(), **legs, **dict.fromkeys(bodies, body)},
            "platform": body,
        }
    )


def ups() -> Robot:
    return robot({"kind": "UPS", "base": BASE.tolist()})


def pus() -> Robot:
    rails = {"rail_origin": BASE.tolist(), "rail_direction": RAIL.tolist()}
    return robot({"kind": "PUS", **rails, "length": LINK})


def default_axis(leg: Array) -> Array:
    axis = np.cross([0.0, 0.0, 1.0], leg)
    return np.asarray(axis / np.linalg.norm(axis, axis=-1, keepdims=True))


def default_reference(axis: Array) -> Array:
    reference = np.eye(3)[np.argmin(np.round(np.abs(axis), 9), axis=-1)]
    reference = reference - np.sum(reference * axis, axis=-1, keepdims=True) * axis
    return np.asarray(reference / np.linalg.norm(reference, axis=-1, keepdims=True))


def angles(axis: Array, along: Array) -> tuple[Array, Array]:
    """About the axis from its default reference to the leg, and from the axis to the leg."""
    unit = along / np.linalg.norm(along, axis=-1, keepdims=True)
    first = default_reference(axis)
    second = np.cross(axis, first)
    about = np.arctan2(np.sum(unit * second, axis=-1), np.sum(unit * first, axis=-1))
    return about, np.arccos(np.sum(unit * axis, axis=-1))


def links(base: Array, tip: Array) -> Array:
    """Link vectors of sliders on rails from `base`, the branch "minus"."""
    rail = RAIL / np.linalg.norm(RAIL, axis=1, keepdims=True)
    d = tip - base
    along = np.sum(d * rail, axis=-1)
    q = along - np.sqrt(along**2 - np.sum(d * d, axis=-1) + LINK**2)
    return np.asarray(d - q[..., np.newaxis] * rail)


def test_the_axis_of_telescopes_follows_the_base() -> None:
    many = ups().variants({"legs.base": FACTORS[:, np.newaxis, np.newaxis] * BASE})
    joints = many.inverse_kinematics(Motion(POSE)).joints
    for factor, found in zip(FACTORS, joints, strict=True):
        axis = default_axis(TOP + HOME - factor * BASE)
        about, between = angles(axis, TOP + POSE - factor * BASE)
        assert_allclose(found[:, 0], about, rtol=0, atol=1e-12)
        assert_allclose(found[:, 1], np.pi - between, rtol=0, atol=1e-12)


def test_the_axis_of_links_follows_the_rail_and_the_platform() -> None:
    scale = FACTORS[1:, np.newaxis, np.newaxis]
    many = pus().variants({"legs.rail_origin": scale * BASE, "legs.platform": scale * TOP})
    joints = many.inverse_kinematics(Motion(POSE)).joints
    for factor, found in zip(FACTORS[1:], joints, strict=True):
        base, top = factor * BASE, factor * TOP
        axis = default_axis(links(base, top + HOME))
        about, between = angles(axis, links(base, top + POSE))
        assert_allclose(found[:, 1], about, rtol=0, atol=1e-12)
        assert_allclose(found[:, 2], between, rtol=0, atol=1e-12)


def test_the_reference_follows_the_axis() -> None:
    axis = np.array([[1.0, 0.1, 0.2], [0.1, 1.0, 0.3]])[:, np.newaxis]
    many = ups().variants({"legs.axis": axis})
    unit = axis / np.linalg.norm(axis, axis=-1, keepdims=True)
    found = many.inverse_kinematics(Motion(POSE)).joints[..., 0]
    about, _ = angles(
        np.broadcast_to(unit, (2, 6, 3)), np.broadcast_to(TOP + POSE - BASE, (2, 6, 3))
    )
    assert_allclose(found, about, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("make", "key"), [(ups, "legs.base"), (pus, "legs.rail_origin")])
def test_variants_have_the_forces_of_the_files_that_they_stand_for(make: object, key: str) -> None:
    """Scaled and turned: forces depend on the axis through the inertia about it."""
    one: Robot = make()  # type: ignore[operator]
    turn = np.array([[np.cos(0.3), -np.sin(0.3), 0], [np.sin(0.3), np.cos(0.3), 0], [0, 0, 1]])
    values = np.stack([0.9 * BASE, BASE @ turn.T])
    rates = {"velocity": [0.3, 0.2, 0.1], "angular_velocity": [1.0, -2.0, 1.5]}
    motion = Motion(POSE, **rates, acceleration=[4.0, 3.0, -2.0])
    forces = one.variants({key: values}).inverse_dynamics(motion).forces
    for value, found in zip(values, forces, strict=True):
        file = one.edited({key: value.tolist()}).inverse_dynamics(motion).forces
        assert_allclose(found, file, rtol=1e-12)
