"""Bodies with many modes on heavy legs stand, and are simulated from rest."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gough
from cases.plates import TIPS
from gough.description.modal.body import ModalBody
from gough.description.modal.npz import write_npz
from gough.simulation import GivenForces

pytestmark = [
    pytest.mark.usefixtures("on_numpy"),
    pytest.mark.filterwarnings("ignore::gough.errors.ModalBodyWarning"),
]
MODES = 20


def body_with(noise, spatial, modes=MODES):
    """Smooth shapes of a disc of point masses along z, with noise in the plane; or in space."""
    rng = np.random.default_rng(3)
    line = np.linspace(-0.55, 0.55, 13)
    x, y = (one.ravel() for one in np.meshgrid(line, line))
    inside = np.hypot(x, y) < 0.56
    positions = np.stack([x, y, 0 * x], axis=1)[inside]
    points = np.concatenate([positions, TIPS])
    waves = rng.uniform(-12, 12, (3, 2, modes))
    phases = rng.uniform(0, 2 * np.pi, (3, modes))
    shapes = np.sin(np.einsum("nc,ack->nak", points[:, :2], waves) + phases)
    if not spatial:
        shapes[:, :2] = 0
    masses = np.full(len(positions), 88.0 / len(positions))
    # orthonormal with the masses, and to rigid-body motions
    turns = np.cross(np.eye(3), points[:, np.newaxis]).swapaxes(1, 2)
    rigid = np.concatenate([np.broadcast_to(np.eye(3), turns.shape), turns], axis=2)
    every = np.concatenate([rigid, shapes], axis=2)
    columns = (every[:-6] * np.sqrt(masses[0])).reshape(-1, every.shape[2])
    shapes = (every @ np.linalg.inv(np.linalg.qr(columns)[1]))[..., 6:]
    shapes = shapes + noise * rng.normal(size=shapes.shape) * [[1], [1], [0]]
    stiffness = (2 * np.pi * np.linspace(40, 400, modes)) ** 2
    return {
        "positions": positions,
        "masses": masses,
        "shapes": shapes[:-6],
        "stiffness": stiffness,
        "damping": 0.02 * np.sqrt(stiffness),
        "tip_positions": TIPS,
        "tip_shapes": shapes[-6:],
    }


def robot_of(folder, body):
    write_npz(ModalBody(**body), folder / "body.npz")
    angles = np.array([10, 50, 130, 170, 250, 290]) * np.pi / 180
    base = 0.9 * np.column_stack([np.cos(angles), np.sin(angles), 0 * angles])
    bodies = {
        "cross": {},
        "cylinder": {"mass": 600.0, "center_of_mass": [0, -0.2, 0]},
        "rod": {"mass": 300.0, "center_of_mass": [0, 0, -0.2]},
        "rotor_mass": 150.0,
    }
    legs = {"kind": "UPS", "base": base.tolist(), "platform": TIPS.tolist(), **bodies}
    home = {"position": [0, 0, 1.0]}
    platform = {"modes": {"file": "body.npz"}}
    file = {"format": 1, "name": "many", "home": home, "legs": legs, "platform": platform}
    return gough.Robot.from_dict(file, folder)


@pytest.mark.parametrize("noise", [1e-11, None])
def test_it_stands_under_the_forces_that_hold_it(tmp_path, noise):
    """Flat, with rounding in the plane; and with tips that move in space, 18 numbers that legs feel."""
    robot = robot_of(tmp_path, body_with(noise or 0.0, spatial=noise is None))
    rest = robot.static_deflection(robot.home)
    forces = robot.inverse_dynamics(rest, friction=False).forces
    found = robot.direct_dynamics(rest, forces, friction=False)
    assert_allclose(found.linear, 0, atol=1e-9)
    assert_allclose(found.angular, 0, atol=1e-9)
    run = gough.simulate(robot, GivenForces(forces), robot.home, 0.002, step=2e-4, friction=False)
    assert_allclose(run.motion.position[-1], robot.home.position, atol=1e-9)


def test_rounding_in_the_plane_changes_nothing(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    flat = robot_of(tmp_path / "a", body_with(0.0, False, 6))
    noisy = robot_of(tmp_path / "b", body_with(1e-11, False, 6))
    assert noisy.mechanism.platform.modes.tips.shape == flat.mechanism.platform.modes.tips.shape
    rest = flat.static_deflection(flat.home)
    answers = [one.direct_dynamics(rest, np.full(6, 500.0)) for one in (flat, noisy)]
    assert_allclose(answers[0].linear, answers[1].linear, rtol=1e-7)
    assert_allclose(answers[0].elastic, answers[1].elastic, rtol=1e-6, atol=1e-6)
