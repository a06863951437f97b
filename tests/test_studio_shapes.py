"""The studio's scene: bodies where the robot has them, closed and facing outwards."""

import warnings

import numpy as np
import pytest
from matplotlib.textpath import TextPath
from scipy.spatial.transform import Rotation

import gough
from cases.common import DIETMAIER, KIM, LONG, each_shape
from gough.legs.shape import CYLINDER, ROD, rod_length
from gough.model.places import ground, placed_legs, tips
from gough.show.layout import FIELD, SceneLayout, round_number
from gough.show.solids import ball, bar, bars, box, cone, slab, turns_from_z
from gough.studio.arrows import arrow_vectors, said
from gough.studio.floor import grid, rings
from gough.studio.motions import sagging
from gough.studio.skin import BANDS, Skin
from gough.studio.tags import letters


@each_shape
@pytest.mark.parametrize("name", [KIM, LONG])
def test_places_are_where_the_platform_has_its_joints(name, shape):
    with warnings.catch_warnings(action="ignore"):
        robot = gough.load(name)
    rng = np.random.default_rng(1)
    turn = Rotation.from_rotvec(rng.normal(0, 0.05, (int(np.prod(shape)), 3))).as_matrix()
    home = robot.home
    motion = gough.Motion(
        home.position + rng.normal(0, 0.02, (*shape, 3)), turn.reshape(*shape, 3, 3) @ home.rotation
    )
    legs = robot.inverse_kinematics(motion)
    placed = placed_legs(robot, motion, legs)
    universal, spherical = placed[0].places.points[..., 0, :], tips(placed)
    held = robot.description.platform_points[..., 0].T
    wanted = motion.position[..., None, :] + held @ np.swapaxes(motion.rotation, -1, -2)
    assert universal.shape == (*shape, 6, 3)
    np.testing.assert_allclose(spherical, wanted, atol=1e-12)


def test_rails_end_where_the_stroke_does(kim):
    ends = ground(kim, kim.inverse_kinematics(kim.home).q)
    assert ends.shape == (6, 2, 3)
    np.testing.assert_allclose(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=-1), 0.7)


@pytest.mark.parametrize(
    "mesh",
    [
        bar(0.1, 2.0),
        bar(0.1, -2.0),
        ball(0.3),
        cone(0.1, 0.3),
        box((1.0, 2.0, 3.0)),
        slab(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]]), 0.1, 0.02),
    ],
    ids=["bar", "bar downwards", "ball", "cone", "box", "slab"],
)
def test_shapes_are_closed_and_face_outwards(mesh):
    a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    area = np.cross(b - a, c - a) / 2
    assert np.abs(area.sum(axis=0)).max() < 1e-12
    assert np.sum(a * area) / 3 > 0  # the divergence theorem's volume


def test_volumes():
    def volume(mesh):
        a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
        return np.sum(a * np.cross(b, c)) / 6

    assert volume(box((1.0, 2.0, 3.0))) == pytest.approx(6.0)
    assert volume(bar(0.1, -2.0)) == pytest.approx(np.pi * 0.02, rel=0.02)
    two = bars(np.zeros((2, 3)), np.array([[0, 0, 1.0], [2.0, 0, 0]]), 0.1)
    assert volume(two) == pytest.approx(np.pi * 0.03, rel=0.02)


def test_turns_from_z():
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(3, 1, 2, 3))
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    directions[0, 0, 0], directions[0, 0, 1] = [0, 0, -1.0], [0, 0, 1.0]
    turned = turns_from_z(directions)
    z = Rotation.from_quat(turned.reshape(-1, 4), scalar_first=True).apply([0, 0, 1.0])
    np.testing.assert_allclose(z.reshape(directions.shape), directions, atol=1e-12)


def test_arrows_are_as_long_as_forces_are_strong():
    forces = np.array([[[0, 0, 50.0], [0, 0, 0], [0, -100.0, 0], [900.0, 0, 0]]])
    found = arrow_vectors(forces, 100.0, 0.4)
    wanted = [[[0, 0, 0.2], [0, 0, 0], [0, -0.4, 0], [0.6, 0, 0]]]
    np.testing.assert_allclose(found, wanted)
    assert np.isfinite(arrow_vectors(forces, 0.0, 0.4)).all()


def test_a_rod_never_leaves_its_cylinder():
    home = np.array([1.0, 2.0])
    for length in np.linspace(0.3, 3.0, 40) * home[:, None]:
        for q, own in zip(length, home, strict=False):
            rod = rod_length(np.array([q]), np.array([own]))[0]
            assert rod <= q + 1e-12
            assert q - rod <= CYLINDER * own
    assert rod_length(home, home) == pytest.approx(ROD * home)


@pytest.mark.parametrize("name", [KIM, LONG, DIETMAIER, "sinatra-xi-staicu-2009"])
def test_layout_and_floor(name):
    with warnings.catch_warnings(action="ignore"):
        robot = gough.load(name)
    layout = SceneLayout.of(robot)
    points = np.concatenate([layout.ground.reshape(-1, 3), tips(layout.legs)])
    assert (points @ layout.up > layout.floor).all()
    for aspect in (0.6, 1.0, 2.0):
        eye, target = layout.camera(aspect)
        away = (eye - target) / np.linalg.norm(eye - target)
        right = np.cross(layout.up, away) / np.linalg.norm(np.cross(layout.up, away))
        sideways, upright, deep = (
            (points - eye) @ np.stack([right, np.cross(away, right), -away]).T
        ).T
        half = np.tan(np.radians(FIELD) / 2)
        seen = max(
            np.abs(upright / deep).max() / half, np.abs(sideways / deep).max() / half / aspect
        )
        assert 0.5 < seen < 1  # all in view, and not small
        assert away @ layout.up > 0
    sheet = np.concatenate([one.vertices for one in rings(layout)])
    np.testing.assert_array_less(sheet @ layout.up, layout.floor)
    for mesh in grid(layout, round_number(layout.size / 8), 0.001):
        np.testing.assert_allclose(mesh.vertices @ layout.up, layout.floor)


def test_forces_are_said_in_few_digits():
    assert [said(force) for force in (0.0, 45.46, 1918.7, 2.5e6)] == [
        "0 N",
        "45.5 N",
        "1.92 kN",
        "2.5 MN",
    ]


def test_letters_are_solid_and_have_their_holes():
    area = {}
    for text in ("1", "8", "12"):
        mesh = letters(text)
        a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
        area[text] = np.abs(np.cross(b - a, c - a)[:, 2]).sum() / 2
        assert np.ptp(mesh.vertices[:, 1]) == pytest.approx(1.0)
        middle = (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0)) / 2
        np.testing.assert_allclose(middle, 0, atol=1e-12)
    outline = TextPath((0, 0), "8", size=100, prop={"weight": "bold"})
    loops = [np.asarray(one) for one in outline.to_polygons()]
    exact = sum(np.sum(one[:-1, 0] * one[1:, 1] - one[:-1, 1] * one[1:, 0]) / 2 for one in loops)
    assert area["8"] == pytest.approx(abs(exact) / outline.get_extents().height ** 2, rel=0.02)
    assert area["12"] > area["1"]


def test_round_numbers():
    assert [round_number(value) for value in (0.9, 1.0, 4.99, 0.03, 7600)] == [
        0.5,
        1.0,
        2.0,
        0.02,
        5000,
    ]


def test_the_drawn_deformation_is_the_platforms(long):
    pose = sagging(long, long.home.reshape(1))
    elastic = pose.elastic[0]
    skin = Skin(long.description.modal)
    deepest = skin.largest(pose.elastic)
    nodes = long.deformation(pose, "nodes").displacement[0]
    assert deepest == pytest.approx(np.linalg.norm(nodes, axis=-1).max(), rel=0.02)
    tips = long.home.position + skin.moved_tips(elastic, 1.0) @ long.home.rotation.T
    np.testing.assert_allclose(tips, long.deformation(pose, "tips").position[0], atol=1e-12)
    bands = skin.bands(elastic, 1.0, deepest)
    assert sum(map(len, bands)) == len(skin.faces)
    assert len(bands) == len(BANDS)
    assert len(bands[-1]) > 0
    flat = skin.bands(elastic, 0.0, deepest)
    assert np.concatenate(flat)[..., 2].max() == 0
