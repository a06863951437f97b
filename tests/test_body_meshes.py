"""Meshes of bodies: read, put where the bodies are, carried through files, drawn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import gough
from cases.command import refused
from cases.common import KIM, few_states
from cases.errors import refusal
from cases.mjcf import stewart
from gough.errors import FileError
from gough.model.mesh_places import mesh_places
from gough.show.layout import SceneLayout
from gough.show.meshes import FINEST, coarse
from gough.show.parts import robot_parts
from gough.studio.record import record

trimesh = pytest.importorskip("trimesh")


def write_box(path, sizes=(0.1, 0.2, 0.3), middle=(0.0, 0.0, 0.0)):
    box = trimesh.creation.box(sizes)
    box.apply_translation(middle)
    box.export(path)


def box_of(points):
    return np.stack([points.min(axis=0), points.max(axis=0)])


@pytest.mark.parametrize("ending", ["stl", "obj", "glb"])
def test_a_file_is_read_scaled_and_placed(ending, tmp_path):
    write_box(tmp_path / f"box.{ending}", (100, 200, 300))
    mesh = {"file": f"box.{ending}", "position": [1, 2, 3], "scale": [0.001, -0.001, 0.002]}
    mesh["rotation_vector"] = [0, 0, np.pi / 2]
    text = gough.load(KIM).edited({"platform.mesh": mesh}).text
    robot = gough.Robot.from_text(text, "robot", tmp_path)
    (found,) = robot.meshes
    assert (found.leg, found.name, len(found.faces)) == (None, "platform", 12)
    assert_allclose(box_of(found.vertices), [[0.9, 1.95, 2.7], [1.1, 2.05, 3.3]], atol=1e-6)
    corners = found.vertices[found.faces]
    outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    away = corners.mean(axis=1) - [1, 2, 3]
    assert np.all(np.sum(outward * away, axis=1) > 0)  # a mirrored mesh is not inside out


@few_states
def test_meshes_are_where_the_bodies_are(tmp_path):
    write_box(tmp_path / "rod.stl", (0.02, 0.02, 1.0), (0, 0, 0.5))
    write_box(tmp_path / "other.stl", (0.02, 0.02, 1.0), (0, 0, 0.5))
    lists = [["rod.stl"]] * 5 + [["other.stl", "rod.stl"]]
    text = gough.load(KIM).edited({"legs.link.mesh": lists}).text
    robot = gough.Robot.from_text(text, "robot", tmp_path)
    turn = Rotation.from_rotvec([0.05, -0.1, 0.2])
    pose = gough.Motion(robot.home.position + np.array([0.02, 0.01, 0.03]), turn)
    legs = robot.inverse_kinematics(pose)
    meshes = robot.meshes
    assert [one.leg for one in meshes] == [*range(6)]
    assert [len(one.faces) for one in meshes] == [12] * 5 + [24]
    base = robot.description.legs
    starts = base.rail_origin[..., 0].T + legs.q[:, np.newaxis] * base.rail_direction[..., 0].T
    for one, (place, axes), start, along in zip(
        meshes, mesh_places(robot, pose, meshes), starts, legs.direction, strict=True
    ):
        world = place + one.vertices @ axes.T
        assert_allclose(world.mean(axis=0), start + 0.5 * along, atol=1e-9)
    places = record(robot, pose).mesh_places
    assert_allclose(places[2][0][0], starts[2], atol=1e-9)


def test_a_mesh_that_is_missing_or_none(tmp_path):
    text = gough.load(KIM).edited({"platform.mesh": "no.stl"}).text
    (tmp_path / "robot.toml").write_text(text)
    assert "no.stl: No such file" in refused("draw", "robot.toml", "-o", "a.png", cwd=tmp_path)
    (tmp_path / "no.stl").write_text("solid nothing")
    assert "has no triangles" in refused("draw", "robot.toml", "-o", "a.png", cwd=tmp_path)
    assert not (tmp_path / "a.png").exists()
    assert gough.load(tmp_path / "robot.toml").mobility == 6  # forces need no pictures


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"platform.mesh": "a.exe"}, ("end", "stl")),
        ({"platform.mesh": {"file": "a.stl", "scale": 0.0}}, (0,)),
        ({"platform.mesh": [["a.stl"], ["b.stl"]]}, ("platform",)),
        ({"legs.link.mesh": [["a.stl"], ["b.stl"]]}, (2, 6)),
    ],
)
def test_what_no_mesh_is(changes, words):
    with refusal(FileError, *words):
        gough.load(KIM).edited(changes)


def test_paths_follow_a_file_to_another_folder(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    write_box(tmp_path / "one" / "box.stl")
    lists = [["box.stl", {"file": "box.stl", "scale": 2.0}]] * 6
    text = gough.load(KIM).edited({"platform.mesh": "box.stl", "legs.link.mesh": lists}).text
    robot = gough.Robot.from_text(text, "robot", tmp_path / "one")
    robot.save(tmp_path / "two" / "robot.toml")
    moved = gough.load(tmp_path / "two" / "robot.toml")
    assert len(moved.meshes) == 7
    assert_allclose(moved.meshes[3].vertices, robot.meshes[3].vertices)


@few_states
def test_meshes_come_in_with_their_places(tmp_path):
    (tmp_path / "assets").mkdir()
    write_box(tmp_path / "assets" / "box.stl", (100, 200, 300), (500, 0, 0))
    asset = '<asset><mesh name="m" file="box.stl" scale="0.001 0.001 0.001"/></asset>'
    shape = (
        '<geom type="mesh" mesh="m" pos="0.1 0.2 0.3" euler="0 0 1.5707963267948966"/>'
        '<geom type="mesh" mesh="m" group="3"/>'
    )
    text = stewart(asset, extra=shape).replace("<compiler ", '<compiler meshdir="assets" ')
    (tmp_path / "robot.xml").write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = gough.load(tmp_path / "robot.xml", "tool")
    (mesh,) = robot.meshes  # collision shapes are not drawn
    world = robot.home.position + mesh.vertices @ robot.home.rotation.T
    assert_allclose(box_of(world), [[0.0, 0.65, 0.95], [0.2, 0.75, 1.25]], atol=1e-6)
    parts, _ = robot_parts(robot, SceneLayout.of(robot), robot.home)
    (drawn,) = [one for one in parts if one.name == "platform"]
    assert len(drawn.mesh.faces) == 12


def test_masses_from_a_mesh_are_mujocos(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    write_box(tmp_path / "box.stl", (0.2, 0.2, 0.4))
    asset = '<asset><mesh name="m" file="box.stl"/></asset>'
    heavy = '<geom type="mesh" mesh="m" density="500"/>'
    text = stewart(asset, extra=f'<body name="load" pos="0 0 0.2">{heavy}</body>')
    (tmp_path / "robot.xml").write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = gough.load(tmp_path / "robot.xml", "plate")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    wanted = model.body("plate").mass[0] + model.body("load").mass[0]
    assert_allclose(robot.platform.mass, wanted, rtol=1e-12)
    assert_allclose(model.body("load").mass[0], 500 * 0.2 * 0.2 * 0.4, rtol=1e-6)


def test_a_fine_mesh_is_drawn_coarse():
    ball = trimesh.creation.icosphere(5)
    points, faces = coarse(ball.vertices, ball.faces)
    assert len(faces) <= FINEST < len(ball.faces)
    assert_allclose(np.linalg.norm(points, axis=1), 1.0, atol=0.02)
