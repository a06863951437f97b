"""Bodies without damping, or with the default damping, are neither unstable nor refused."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

import gough
from cases.command import run
from cases.plates import TIPS
from gough.description.modal.body import ModalBody
from gough.description.modal.npz import write_npz
from gough.trajectories import RestToRest

pytestmark = pytest.mark.usefixtures("on_numpy")
MODES = 3


def beam_grid(damping=0.0):
    """A square grid of point masses with smooth shapes, no rigid-body motion in them."""
    line = np.linspace(-0.6, 0.6, 7)
    x, y = (one.ravel() for one in np.meshgrid(line, line))
    bent = np.stack([x * y, x**2 - y**2, x**2 + y**2 - np.mean(x**2 + y**2)], axis=-1)

    def moved(values):
        return np.stack([0 * values, 0 * values, values], axis=1)

    tip_x, tip_y, _ = TIPS.T
    at_tips = np.stack([tip_x * tip_y, tip_x**2 - tip_y**2,
                        tip_x**2 + tip_y**2 - np.mean(x**2 + y**2)], axis=-1)  # fmt: skip
    masses = np.full(len(x), 1.0)
    mass = np.einsum("n,nj,nk->jk", masses, bent, bent)
    scale = 1 / np.sqrt(np.diagonal(mass))
    squares = np.array([400.0, 900.0, 3135.0]) ** 2
    return {
        "positions": np.stack([x, y, 0 * x], axis=1),
        "masses": masses,
        "shapes": moved(bent * scale),
        "stiffness": squares,
        "damping": np.full(MODES, damping),
        "tip_positions": TIPS,
        "tip_shapes": moved(at_tips * scale),
        "origin_shapes": np.stack([0 * scale, 0 * scale, -np.mean(x**2 + y**2) * scale * [0, 0, 1]]),
        "origin_rotations": np.zeros((3, MODES)),
    }  # fmt: skip


def robot_of(folder, platform):
    angles = np.array([10, 50, 130, 170, 250, 290]) * np.pi / 180
    base = 0.9 * np.column_stack([np.cos(angles), np.sin(angles), 0 * angles])
    bodies = {"cross": {}, "cylinder": {"mass": 6.0}, "rod": {"mass": 2.0}}
    return gough.Robot.from_dict(
        {
            "format": 1,
            "name": "grid",
            "home": {"position": [0, 0, 1.0]},
            "legs": {"kind": "UPS", "base": base.tolist(), "platform": TIPS.tolist(), **bodies},
            "platform": platform,
        },
        folder,
    )


@pytest.fixture
def undamped(tmp_path):
    write_npz(ModalBody(**beam_grid()), tmp_path / "body.npz")
    return robot_of(tmp_path, {"modes": {"file": "body.npz"}})


@pytest.mark.parametrize("output", ["frame", "legs"])
def test_undamped_modes_are_stable(undamped, output):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        health = undamped.elastic_health(undamped.home, output)
        path = RestToRest(gough.Motion(np.array([[0, 0, 1.0], [0, 0, 1.05]])), 0.5).sample(41)
        motion = undamped.elastic_motion(path, output)
    # truth: eigenvalues of M_z s² + K by SciPy's symmetric or general solver, real parts are rounding
    poles = linalg.eigvals(np.linalg.solve(health.zero_mass, undamped.modal.stiffness))
    assert poles.real.min() > 0
    assert_allclose(
        np.sort(np.abs(health.poles.imag))[::2], np.sort(np.sqrt(poles.real)), rtol=1e-6
    )
    assert health.stable
    assert motion.way == "forward"
    assert motion.unstable == 0
    asked = undamped.inverse_dynamics(motion).elastic_acceleration
    size = np.abs(motion.elastic_acceleration).max()
    assert_allclose(motion.elastic_acceleration, asked, atol=1e-6 * size)


def test_plates_that_state_no_damping_have_a_little_and_say_so(tmp_path):
    plate = {"radius": 0.5, "sides": 6, "thickness": 0.015, "density": 7500.0, "young": 2e10}
    robot = robot_of(tmp_path, {"plate": plate | {"modes": 4}})
    omega = np.sqrt(np.diagonal(robot.modal.stiffness))
    assert_allclose(np.diagonal(robot.modal.damping), 2 * 0.005 * omega, rtol=1e-9)
    robot.save(tmp_path / "robot.toml")
    for command in ("modes", "show"):
        code, text, _ = run(command, tmp_path / "robot.toml")
        assert code == 0
        assert "damping_ratio = 0.005 of the platform's modes" in " ".join(text.split())
    stated = robot_of(tmp_path, {"plate": plate | {"modes": 4, "damping_ratio": 0.0}})
    assert not stated.modal.damping.any()
    assert not stated.file.assumptions
