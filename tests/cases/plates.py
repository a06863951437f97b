"""Flexible bodies that several tests use: Long, Khalil & Martinet's plate, and a general one."""

import numpy as np
import pytest

import gough
from gough.description.modal.body import ModalBody
from gough.description.modal.plate import Material, regular_polygon

LONG_MATERIAL = Material(thickness=0.015, density=7500.0, young=2e10, poisson=0.3)
HEXAGON = regular_polygon(0.5, 6)
TIPS = np.column_stack([np.roll(HEXAGON, 2, axis=0), np.zeros(6)])
TABLE_2 = np.array(  # Long, Khalil & Martinet 2014, rad/s
    [188.7473, 188.7475, 315.7169, 401.0187, 474.7468, 709.5586, 709.5814]
)
ignore_coupling = pytest.mark.filterwarnings("ignore:.*not orthogonal")


def omega(body: ModalBody) -> np.ndarray:
    return 2 * np.pi * body.frequencies


def arrays(seed: int = 0, nodes: int = 12, modes: int = 3, **changes) -> dict:
    """A general body, 3-D, with orthogonal shapes that have rigid-body content."""
    rng = np.random.default_rng(seed)
    masses = rng.uniform(0.5, 2.0, nodes)
    root = np.sqrt(masses)[:, None, None]
    columns = np.linalg.qr(rng.normal(size=(3 * nodes, modes)))[0]
    return {
        "positions": rng.uniform(-0.3, 0.3, (nodes, 3)),
        "masses": masses,
        "shapes": columns.reshape(nodes, 3, modes) / root,
        "stiffness": rng.uniform(1e3, 1e5, modes),
        "damping": rng.uniform(1, 10, modes),
        "tip_positions": rng.normal(size=(6, 3)),
        "tip_shapes": rng.normal(size=(6, 3, modes)),
    } | changes


def robot_with(platform: dict, folder=None) -> gough.Robot:
    angles = np.array([10, 50, 130, 170, 250, 290]) * np.pi / 180  # in pairs: no regular hexagon
    base = 0.9 * np.column_stack([np.cos(angles), np.sin(angles)])
    return gough.Robot.from_dict(
        {
            "format": 1,
            "name": "bending",
            "home": {"position": [0, 0, 1.0]},
            "legs": {
                "kind": "UPS",
                "base": np.column_stack([base, np.zeros(6)]),
                "platform": TIPS,
            },
            "platform": platform,
        },
        folder,
    )
