"""Payload bolted to a flexible platform: mass, first and second moments with the modes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

import gough
from calculix_files import BrickPlate
from gough.description.modal.body import ModalBody
from gough.description.modal.npz import write_npz
from gough.description.modal.plate import Material, plate_body
from gough.errors import FileError

pytestmark = [
    pytest.mark.usefixtures("on_numpy"),
    pytest.mark.filterwarnings("ignore::gough.errors.ModalBodyWarning"),
]
STEEL = Material(0.02, 7850.0, 2.1e11, 0.3)
CORNERS = np.array([[-0.5, -0.4], [0.5, -0.4], [0.5, 0.4], [-0.5, 0.4]])
TIPS = np.array([[0.5, -0.4], [0.5, 0.4], [-0.5, 0.4], [-0.5, -0.4], [0.5, 0], [-0.5, 0]])
TIPS = np.column_stack([TIPS, np.full(6, -0.01)])
GROUND = np.array([[0.2, -0.9], [1.1, 0.1], [-1.0, 0.3], [-0.3, -0.9], [0.9, 0.4], [-0.2, 0.8]])
GROUND = np.column_stack([GROUND, np.full(6, -0.8)])
PLATE = {"outline": CORNERS.tolist(), "thickness": 0.02, "density": 7850.0, "young": 2.1e11,
         "modes": 8, "damping_ratio": 0.01}  # fmt: skip
POINT = np.array([0.2, 0.1, 0.0])


def file_of(platform):
    legs = {"kind": "UPS", "base": GROUND.tolist(), "platform": TIPS.tolist()}
    legs |= {"cross": {}, "cylinder": {"mass": 5.0}, "rod": {"mass": 2.0}}
    home = {"position": [0, 0, 0]}
    return {"format": 1, "name": "carrier", "home": home, "legs": legs, "platform": platform}


def containing(folder, places, masses):
    """A robot whose modal body has these point masses on it, rigid with the material at POINT."""
    around = np.vstack([TIPS, [POINT]])
    bare = plate_body(CORNERS, STEEL, around, 8, damping_ratio=0.01)
    # signs of the modes are told by the tips, which come first: those of the plate of the robot file
    arm = places - POINT
    turn, moved = bare.tip_rotations[6], bare.tip_shapes[6]
    x, y, z = arm.T[:, :, None, None]
    crossed = np.stack([turn[1] * z[..., 0] - turn[2] * y[..., 0],
                        turn[2] * x[..., 0] - turn[0] * z[..., 0],
                        turn[0] * y[..., 0] - turn[1] * x[..., 0]], axis=1)  # fmt: skip
    body = ModalBody(
        positions=np.concatenate([bare.positions, places]),
        masses=np.concatenate([bare.masses, masses]),
        shapes=np.concatenate([bare.shapes, moved + crossed]),
        stiffness=bare.stiffness,
        damping=bare.damping,
        tip_positions=TIPS,
        tip_shapes=bare.tip_shapes[:6],
        tip_rotations=bare.tip_rotations[:6],
        origin_shapes=bare.origin_shapes,
        origin_rotations=bare.origin_rotations,
    )
    write_npz(body, folder / "body.npz")
    return gough.Robot.from_dict(file_of({"modes": {"file": "body.npz"}}), folder)


def a_motion(modes):
    rng = np.random.default_rng(5)
    turn = np.array([[0.98, -0.17, 0.1], [0.17, 0.98, 0.05], [-0.1, -0.03, 0.99]])
    left, _, right = np.linalg.svd(turn)
    return gough.Motion(
        [0.01, -0.02, 0.03], left @ right, [0.1, 0.2, -0.3], [0.5, -0.4, 0.6], [1, 2, 3], [4, 5, -6],
        elastic=1e-3 * rng.normal(size=modes), elastic_velocity=0.1 * rng.normal(size=modes),
    )  # fmt: skip


def box():
    """Eight unequal masses above the plate: places, masses and what a robot file says of them."""
    rng = np.random.default_rng(8)
    places = np.array([0.22, 0.07, 0.15]) + rng.uniform(-0.12, 0.12, (8, 3))
    masses = rng.uniform(0.3, 1.5, 8)
    center = masses @ places / masses.sum()
    arm = places - center
    second = np.einsum("n,ni,nj->ij", masses, arm, arm)
    inertia = np.trace(second) * np.eye(3) - second
    table = {"mass": masses.sum(), "center_of_mass": center.tolist(), "inertia": inertia.tolist()}
    return places, masses, table


@pytest.mark.parametrize("what", ["point mass", "box"])
def test_dynamics_are_those_of_a_body_that_contains_it(tmp_path, what):
    if what == "box":
        places, masses, table = box()
    else:
        places, masses, table = POINT[np.newaxis], np.array([4.0]), {"mass": 4.0}
    truth = containing(tmp_path, places, masses)
    payload = table | {"point": POINT.tolist()}
    robot = gough.Robot.from_dict(file_of({"plate": PLATE, "payload": [payload]}))
    assert_allclose(robot.platform.mass, truth.platform.mass, rtol=1e-12)
    assert_allclose(robot.platform.modal_mass, truth.platform.modal_mass, atol=1e-9)
    motion, wrench = a_motion(8), [100.0, -50, 30, 4, 5, -6]
    ours, theirs = (one.inverse_dynamics(motion, wrench) for one in (robot, truth))
    assert_allclose(ours.forces, theirs.forces, rtol=1e-8)
    size = np.abs(theirs.elastic_acceleration).max()
    assert_allclose(ours.elastic_acceleration, theirs.elastic_acceleration, atol=1e-8 * size)
    bare = gough.Robot.from_dict(file_of({"plate": PLATE})).inverse_dynamics(motion, wrench)
    assert np.abs(bare.forces - theirs.forces).max() > 10
    assert_allclose(robot.modal.frequencies, truth.modal.frequencies, rtol=1e-9)


def test_calculix_with_a_mass_on_the_corner(tmp_path):
    plate = BrickPlate((1.0, 0.8), (6, 4), STEEL)
    plate.modes(tmp_path, "plate", 46)
    loaded = plate.modes(tmp_path, "loaded", 12, 8.0, TIPS[1])
    modes = {"file": "plate.frd", "geometry": "plate.inp"}
    payload = [{"mass": 8.0, "point": TIPS[1].tolist()}]
    robot = gough.Robot.from_dict(file_of({"modes": modes, "payload": payload}), tmp_path)
    body = robot.modal
    # free in space: rigid-body motions beside the modes
    arm = body.positions
    turns = np.cross(np.eye(3), arm[:, np.newaxis]).swapaxes(1, 2)
    fields = np.concatenate([np.broadcast_to(np.eye(3), turns.shape), turns, body.shapes], axis=2)
    mass = np.einsum("n,nij,nik->jk", body.masses, fields, fields)
    stiffness = np.zeros_like(mass)
    stiffness[6:, 6:] = body.stiffness
    found = np.sqrt(np.maximum(linalg.eigh(stiffness, mass, eigvals_only=True), 0)) / (2 * np.pi)
    elastic = loaded[loaded > 5]
    assert_allclose(found[6:11], elastic[:5], rtol=0.01)
    bare = gough.Robot.from_dict(file_of({"modes": modes}), tmp_path).modal.frequencies
    assert abs(bare[0] / elastic[0] - 1) > 0.05


def test_arrays_carry_payload_where_they_have_shapes(tmp_path):
    bare = plate_body(CORNERS, STEEL, TIPS, 8, damping_ratio=0.01)
    write_npz(bare, tmp_path / "bare.npz")
    file = {"modes": {"file": "bare.npz"}}
    _, _, table = box()
    for point in (np.zeros(3), TIPS[2]):
        payload = [table | {"point": point.tolist()}]
        robots = [gough.Robot.from_dict(file_of(own | {"payload": payload}), tmp_path)
                  for own in (file, {"plate": PLATE})]  # fmt: skip
        answers = [one.inverse_dynamics(a_motion(8)).forces for one in robots]
        assert_allclose(*answers, rtol=1e-8)


def test_what_cannot_be_carried_is_refused(tmp_path):
    write_npz(plate_body(CORNERS, STEEL, TIPS, 8), tmp_path / "bare.npz")
    plate, arrays = {"plate": PLATE}, {"modes": {"file": "bare.npz"}}
    flat = {"mass": 1.0, "inertia": np.diag([3.0, 1.0, 1.0]).tolist(), "point": [0, 0, 0]}
    for message, platform in {
        "has payload as well as plate: payload 1 needs the point": plate
        | {"payload": [{"mass": 1.0}]},
        "payload 1: nothing says how the body moves at its point (9, 0, 0)": plate
        | {"payload": [{"mass": 1.0, "point": [9.0, 0, 0]}]},
        "payload 2: nothing says how the body moves at its point (0.123, 0, 0)": arrays
        | {"payload": [{"mass": 1.0, "point": [0, 0, 0]}, {"mass": 1.0, "point": [0.123, 0, 0]}]},
        "payload 1: no body has such an inertia": plate | {"payload": [flat]},
        "payload 1 has a point, which goes with a flexible": {"mass": 5.0, "payload": [flat]},
    }.items():
        with pytest.raises(FileError) as caught:
            gough.Robot.from_dict(file_of(platform), tmp_path)
        assert message in str(caught.value)
