"""Bodies by shape: inertia beside meshes of another library, places, units, refusals, editing."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import gough
from cases.errors import refusal
from gough import Robot
from gough.errors import FileError, InputError
from gough.legs.bodies import steiner

trimesh = pytest.importorskip("trimesh")

PLACE = [0.1, 0.2, 0.3]
SHAPES = {
    "rod": ({"radius": 0.2, "length": 0.7}, [(0, 0), (0.2, 0), (0.2, 0.7), (0, 0.7)]),
    "tube": (
        {"radius": 0.2, "inner_radius": 0.15, "length": 0.7},
        [(0.15, 0), (0.2, 0), (0.2, 0.7), (0.15, 0.7), (0.15, 0)],
    ),
    "disc": ({"radius": 0.2, "thickness": 0.1}, [(0, -0.05), (0.2, -0.05), (0.2, 0.05), (0, 0.05)]),
    "cone": (
        {"radius": 0.2, "end_radius": 0.05, "length": 0.7},
        [(0, 0), (0.2, 0), (0.05, 0.7), (0, 0.7)],
    ),
}
"""Sizes, and the same as a half section for trimesh."""


def hexapod(**changes: object) -> Robot:
    """A hexapod whose bodies are made of shapes."""
    turn = np.deg2rad([-10, 10, 110, 130, 230, 250])
    ring = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
    data: dict = {
        "format": 1,
        "name": "shapes",
        "home": {"position": [0, 0, 1]},
        "legs": {
            "kind": "UPS",
            "base": ring.tolist(),
            "platform": (0.5 * np.roll(ring, 1, axis=0)).tolist(),
            "cross": {},
            "cylinder": {
                "shape": "tube",
                "radius": 0.05,
                "inner_radius": 0.03,
                "length": 0.6,
                "density": 7850.0,
            },
            "rod": {"shape": "rod", "radius": 0.03, "length": 0.5, "mass": [1, 2, 3, 4, 5, 6]},
        },
        "platform": {"mass": 1.0},
    }
    return Robot.from_dict(data).edited(changes) if changes else Robot.from_dict(data)


def assert_same(robot: Robot, mesh) -> None:
    """The platform has a mesh's mass, centre and inertia, to the roundness of its circles."""
    found = robot.platform
    assert_allclose(found.mass, mesh.mass, rtol=1e-5)
    assert_allclose(found.center_of_mass, mesh.center_mass, atol=1e-12)
    about = mesh.moment_inertia + mesh.mass * steiner(mesh.center_mass)
    assert_allclose(found.inertia, about, atol=1e-5 * np.abs(about).max())


@pytest.mark.parametrize("shape", SHAPES)
def test_round_shapes_weigh_what_their_meshes_do(shape):
    sizes, outline = SHAPES[shape]
    axis = np.array([1.0, 2.0, -2.0])
    robot = hexapod(
        platform={
            "shape": shape,
            "density": 1000.0,
            "position": PLACE,
            "axis": axis.tolist(),
            **sizes,
        }
    )
    mesh = trimesh.creation.revolve(np.array(outline, dtype=float), sections=1024)
    mesh.apply_transform(trimesh.geometry.align_vectors([0, 0, 1], axis))
    mesh.apply_translation(PLACE)
    mesh.density = 1000.0
    assert_same(robot, mesh)
    drawn = next(one for one in robot.meshes if one.leg is None)
    coarse = trimesh.Trimesh(drawn.vertices, drawn.faces)
    assert 0.99 < coarse.volume / mesh.volume < 1
    assert_allclose(coarse.center_mass, mesh.center_mass, atol=1e-9)


def test_a_box_and_several_shapes_together():
    box = {"shape": "box", "size": [0.1, 0.2, 0.3], "mass": 5.0, "position": PLACE}
    box["rotation_vector"] = [0.3, 0.2, -0.5]
    mesh = trimesh.creation.box([0.1, 0.2, 0.3])
    turn = np.eye(4)
    turn[:3, :3] = Rotation.from_rotvec(box["rotation_vector"]).as_matrix()
    turn[:3, 3] = PLACE
    mesh.apply_transform(turn)
    mesh.density = 5.0 / mesh.volume
    assert_same(hexapod(platform=box), mesh)
    one, two = hexapod(platform=box).platform, hexapod(platform={**box, "mass": 2.0}).platform
    both = hexapod(platform={"shapes": [box, {**box, "mass": 2.0}]}).platform
    assert_allclose(both.inertia, one.inertia + two.inertia)
    assert_allclose(both.mass, 7.0)


def test_shapes_lie_along_the_leg_from_its_joints():
    """What a cylinder and rod written out by hand have; a crank along its x, a link along its z."""
    robot = hexapod()
    mass = 7850 * np.pi * (0.05**2 - 0.03**2) * 0.6
    across = (3 * (0.05**2 + 0.03**2) + 0.6**2) / 12
    tube = mass * np.diag([across, (0.05**2 + 0.03**2) / 2, across])
    rods = np.arange(1.0, 7.0)
    thin = np.diag([(3 * 0.03**2 + 0.25) / 12] * 2 + [0.03**2 / 2])
    by_hand = robot.edited(
        {
            "legs.cylinder": {"mass": mass, "center_of_mass": [0, -0.3, 0], "inertia": tube},
            "legs.rod": {
                "mass": rods,
                "center_of_mass": [0, 0, -0.25],
                "inertia": rods[:, np.newaxis, np.newaxis] * thin,
            },
        }
    )
    legs, others = robot.description.legs, by_hand.description.legs
    for one, two in zip([*legs.cylinder, *legs.rod], [*others.cylinder, *others.rod], strict=True):
        assert_allclose(one, two, atol=1e-12)
    rotary = gough.load("pollen-reachy-mini-2025")
    rod = {"shape": "rod", "radius": 0.01, "length": 0.2, "mass": 3.0}
    legs = rotary.edited({"legs.crank": rod, "legs.link": rod}).description.legs
    assert_allclose(legs.crank.first_moment[:, 0, 0], [0.3, 0, 0], atol=1e-15)
    assert_allclose(legs.link.first_moment[:, 0, 0], [0, 0, 0.3], atol=1e-15)


def test_sizes_have_the_units_of_the_file_and_editing_keeps_remarks():
    robot = hexapod(platform={"shape": "rod", "radius": 0.1, "length": 0.4, "mass": 1.0})
    text = robot.text
    for key, metres in (("radius", 0.1), ("length", 0.4)):
        text = text.replace(f"{key} = {metres}\n", f"{key} = {1000 * metres}  # as drawn\n")
    head, _, tail = text.partition("[platform]")
    in_mm = Robot.from_text(
        'units = { length = "mm" }\n' + head.replace("1.0", "1000.0") + "[platform]" + tail
    )
    assert_allclose(in_mm.platform.inertia, robot.platform.inertia)
    longer = in_mm.edited({"platform.length": 0.8})
    assert_allclose(longer.platform.center_of_mass, [0, 0, 0.4])
    assert longer.text.count("# as drawn") == 2


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"shape": "tube", "radius": 1}, ("inner_radius",)),
        ({"radius": 1, "mass": 1}, ("radius", "shape's")),
        ({"shape": "rod", "radius": 1, "length": 1}, ("density", "mass")),
        ({"shape": "rod", "radius": 1, "length": 1, "mass": 1, "density": 1}, ()),
        ({"shape": "rod", "radius": 1, "length": 1, "mass": 1, "XX": 1}, ("XX",)),
        ({"shape": "rod", "radius": 1, "length": 1, "mass": 1, "size": [1] * 3}, ("size",)),
        ({"shape": "rod", "radius": 0, "length": 1, "mass": 1}, ("positive",)),
        ({"shape": "rod", "radius": [1, 2], "length": 1, "mass": 1}, ("platform",)),
        ({"shape": "ball"}, ("rod", "platform.shape")),
        (
            {"shape": "tube", "radius": 1, "inner_radius": 1, "length": 1, "mass": 1},
            ("below", "radius"),
        ),
        ({"shapes": [{"mass": 1}]}, ("platform.shapes.0",)),
        (
            {"shape": "disc", "radius": 1, "thickness": 1, "mass": 1, "axis": [0] * 3},
            ("zero", "length"),
        ),
    ],
)
def test_what_does_not_fit_a_shape_is_refused(body, words):
    with refusal(FileError, *words):
        hexapod(platform=body)


def test_variants_refuse_shapes_and_files_do_not():
    robot = hexapod()
    with refusal(InputError, "legs.rod"):
        robot.variants({"legs.rod.mass": [[1.0]]})
    with refusal(FileError, "legs.rod.mass", 2):
        robot.edited({"legs.rod.mass": [1.0, 2.0]})
    many = gough.Variants([robot.edited({"legs.cylinder.length": one}) for one in (0.5, 0.6)])
    forces = many.inverse_dynamics(robot.home).forces
    assert_allclose(forces[1], robot.inverse_dynamics(robot.home).forces, rtol=1e-12)
    assert np.all(np.abs(forces[0]) < np.abs(forces[1]))
    assert robot.variants({"platform.mass": [1.0, 2.0]}).shape == (2,)
