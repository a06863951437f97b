"""A wrench works on the modes wherever the platform frame's origin is on the body's mesh."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gough
from calculix_files import BrickPlate
from cases.plates import LONG_MATERIAL, arrays
from gough.analysis.stiffness import stiffness
from gough.description.modal.attachment import Meshed, attached
from gough.description.modal.body import ModalBody
from gough.description.modal.elements import FAMILIES, Solid
from gough.description.modal.meshed import Selection
from gough.description.modal.nastran import read_nastran
from gough.description.modal.npz import write_npz
from gough.description.modal.plate import Material, plate_body
from gough.errors import InputError, ModalBodyWarning
from nastran_files import write_bdf, write_op2

STEEL = Material(0.02, 7850.0, 2.1e11, 0.3)
SIZE = (1.0, 0.8)
TIPS = np.array([[0.5, -0.4], [0.5, 0.4], [-0.5, 0.4], [-0.5, -0.4], [0.5, 0], [-0.5, 0]])
TIPS = np.column_stack([TIPS, np.full(6, -0.01)])
GROUND = np.array([[0.2, -0.9], [1.1, 0.1], [-1.0, 0.3], [-0.3, -0.9], [0.9, 0.4], [-0.2, 0.8]])
GROUND = np.column_stack([GROUND, np.full(6, -0.8)])
SPRING = 5e6


def on_legs(folder, platform):
    bodies = {"cross": {}, "cylinder": {}, "rod": {}}
    legs = {"kind": "UPS", "base": GROUND.tolist(), "platform": TIPS.tolist(), **bodies}
    home = {"position": [0, 0, 0]}
    file = {"format": 1, "name": "plate", "gravity": [0, 0, 0], "home": home, "legs": legs}
    return gough.Robot.from_dict(file | {"platform": platform}, folder)


@pytest.fixture(scope="module")
def calculix(tmp_path_factory):
    """CalculiX' deflection of the plate on six springs, and the folder of its modes on two meshes."""
    folder = tmp_path_factory.mktemp("calculix")
    even = BrickPlate(SIZE, (6, 4), STEEL)
    even.modes(folder, "even", 30)
    BrickPlate(SIZE, (7, 5), STEEL).modes(folder, "odd", 30)  # no node at the origin
    moved = even.on_springs(folder, TIPS, GROUND, SPRING, [0, 0, 0], [0, 0, -1000])
    return folder, moved


@pytest.mark.parametrize("name", ["even", "odd"])
def test_calculix_deflects_as_calculix_says(calculix, name):
    folder, truth = calculix
    robot = on_legs(folder, {"modes": {"file": f"{name}.frd", "geometry": f"{name}.inp"}})
    moved = stiffness(robot, robot.home, SPRING).deflection([0, 0, -1000])[:3]
    # 24 modes of infinitely many: a little too stiff
    assert_allclose(moved, truth, atol=0.02 * np.linalg.norm(truth))


def rigid_and_bent(positions):
    """Fields with known rotations: a rigid motion, and bending w = x²/2 + x y with thickness."""
    x, y, z = positions.T
    still = np.zeros_like(x)
    spin = np.array([0.3, -0.2, 0.5])
    rigid = np.cross(spin, positions) + np.arange(1, 4)
    bent = np.stack([-z * (x + y), -z * x, x**2 / 2 + x * y], axis=1)
    turned = np.stack([x, -(x + y), still], axis=1)
    return np.stack([rigid, bent], axis=-1), np.stack([np.tile(spin, (len(x), 1)), turned], axis=-1)


@pytest.mark.parametrize("name", ["C3D20", "C3D15", "C3D10"])
def test_points_in_solids_move_with_the_element(name):
    family = FAMILIES[name]
    nodes = family.nodes @ np.diag([0.2, 0.3, 0.1]) + [0.05, -0.1, 0.02]
    shapes, _ = rigid_and_bent(nodes)
    solid = Solid(family, np.arange(len(nodes))[np.newaxis], np.ones(1))
    mesh = Meshed(nodes, shapes, None, [solid], np.zeros((0, 4), dtype=int))
    points = family.corners.mean(axis=0) * [0.2, 0.3, 0.1] + [
        [0.05, -0.1, 0.02],
        [0.06, -0.09, 0.03],
    ]
    truth = rigid_and_bent(points)
    for found, wanted in zip(attached(mesh, points, 1e-9), truth, strict=True):
        assert_allclose(found, wanted, atol=1e-12)


def test_points_on_shells_bend_to_second_order():
    line = np.linspace(-0.35, 0.25, 5)
    nodes = np.array([[x, y, 0.0] for x in line for y in line])
    quads = np.array([[5 * i + j, 5 * i + j + 5, 5 * i + j + 6, 5 * i + j + 1]
                      for i in range(4) for j in range(4)])  # fmt: skip
    shapes, turns = rigid_and_bent(nodes)
    mesh = Meshed(nodes, shapes, turns, [], quads)
    points = np.array([[0.0, 0.0, 0.0], [0.07, -0.12, 0.004]])
    for found, wanted in zip(attached(mesh, points, 1e-9), rigid_and_bent(points), strict=True):
        assert_allclose(found, wanted, atol=1e-12)


def test_points_off_the_mesh_are_tied_to_the_nodes_near_them():
    angle = 2 * np.pi * np.arange(24) / 24
    ring = np.concatenate([r * np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)
                           for r in (0.3, 0.4)])  # fmt: skip
    shapes, _ = rigid_and_bent(ring)
    mesh = Meshed(ring, shapes, None, [], np.zeros((0, 4), dtype=int))
    found, turned = attached(mesh, np.array([[0.0, 0, 0], [3.0, 0, 0]]), 1e-9)
    assert_allclose(found[0, :, 0], [1, 2, 3], atol=1e-12)  # a rigid motion stays one
    assert_allclose(turned[0, :, 0], [0.3, -0.2, 0.5], atol=1e-12)
    inner = shapes[:24, 2, 1]  # of the bent ring the mean of its inner rim
    assert_allclose(found[0, 2, 1], inner.mean(), atol=1e-12)
    assert np.isnan(found[1]).all()
    assert np.isnan(turned[1]).all()


def test_nastran_without_a_node_at_the_origin(tmp_path):
    pytest.importorskip("pyNastran", reason="pyNastran is not installed here")
    square = np.array([[-0.3, -0.3], [0.3, -0.3], [0.3, 0.3], [-0.3, 0.3]])
    material = Material(0.01, 2700.0, 7e10, 0.3)
    count = 10  # an odd number of elements
    line = np.linspace(-0.3, 0.3, count)
    points = np.array([[x, y, 0.0] for x in line for y in line])
    quads = [
        [i * count + j, (i + 1) * count + j, (i + 1) * count + j + 1, i * count + j + 1]
        for i in range(count - 1)
        for j in range(count - 1)
    ]
    body = plate_body(square, material, points, 5, refinements=1)
    fields = np.concatenate([body.tip_shapes, body.tip_rotations], axis=1).transpose(2, 0, 1)
    write_bdf(tmp_path / "plate.bdf", points, quads, material)
    write_op2(tmp_path / "plate.op2", fields, np.diagonal(body.stiffness))
    wanted = Selection(points[[0, 9, 90]], None, None, 0.0)
    read = read_nastran(tmp_path / "plate.op2", tmp_path / "plate.bdf", wanted)
    largest = np.abs(body.shapes).max()
    # masses are lumped to the nodes, which scales the shapes by a few per cent
    assert_allclose(read.origin_shapes, body.origin_shapes, atol=0.04 * largest)
    turned = np.abs(body.tip_rotations).max()
    assert_allclose(read.origin_rotations, body.origin_rotations, atol=0.04 * turned)


def test_outline_that_leaves_the_origin_out():
    # a frame around the origin, open on one side: the origin is tied to its inner rim
    right = [[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, 0.02], [-0.4, 0.02]]
    inner = [[-0.4, 0.4], [0.4, 0.4], [0.4, -0.4], [-0.4, -0.4], [-0.4, -0.02], [-1, -0.02]]
    body = plate_body(0.5 * np.array(right + inner), LONG_MATERIAL, np.zeros((0, 3)), 4)
    x, y, _ = body.positions.T
    near = np.hypot(x, y) < np.hypot(x, y).min() + 0.05 + 1e-8
    plane = np.column_stack([np.ones(near.sum()), x[near], y[near]])
    root = np.sqrt(body.masses[near])[:, np.newaxis]
    fit = np.linalg.lstsq(root * plane, root * body.shapes[near, 2], rcond=None)[0]
    assert_allclose(body.origin_shapes[2], fit[0], atol=1e-9)
    assert_allclose(body.origin_rotations[:2], [fit[2], -fit[1]], atol=1e-9)
    assert np.abs(body.origin_shapes).max() > 0.01 * np.abs(body.shapes).max()


def test_arrays_without_shapes_at_the_origin_say_so(tmp_path):
    write_npz(ModalBody(**arrays(tip_positions=TIPS)), tmp_path / "body.npz")
    robot = on_legs(tmp_path, {"modes": {"file": "body.npz"}})
    with pytest.raises(InputError, match="no origin_shapes: nothing says how the material"):
        stiffness(robot, robot.home, 1e6, preload=False)
    with pytest.raises(InputError, match="no origin_shapes"):
        robot.deformation(robot.home, "origin")
    wrench = [0, 0, -100.0, 0, 0, 0]
    with pytest.warns(ModalBodyWarning, match=r"no origin_shapes: the force .* at most 100"):
        loaded = robot.static_deflection(robot.home, wrench)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bare = robot.static_deflection(robot.home)
    assert loaded.elastic.shape == bare.elastic.shape
