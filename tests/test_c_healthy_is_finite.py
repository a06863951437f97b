"""Exported C: an answer that is called healthy has no number that is not finite."""

import numpy as np
import pytest

import gough
from cases.common import impossible_bodies
from cases.exported import COMPILER, Exported
from gough.mechanics.state import RIGID_FIELDS

pytestmark = [
    impossible_bodies,
    pytest.mark.usefixtures("on_numpy"),
    pytest.mark.skipif(COMPILER is None, reason="no C compiler (gcc or cc) on this machine"),
]
HEALTHY, DOUBTFUL = range(2)


def wrong_states(robot):
    """States whose rotation is none, whose joints are nowhere, or that are far away."""
    home = np.concatenate([np.ravel(getattr(robot.home, name)) for name in RIGID_FIELDS])
    chains = np.zeros(0)
    if robot.mechanism.legs.coordinates:
        chains = robot.chains_of(robot.home)
    whole = np.concatenate([home, chains])
    yield 0 * whole  # as `state = {{0}}` makes it
    rng = np.random.default_rng(0)
    for rotation in (np.zeros(9), np.ones(9), *rng.normal(size=(10, 9))):
        yield np.concatenate([home[:3], rotation, home[12:], chains])
    for size in (0.0, 1e100, 1e200, 1e308):
        yield np.concatenate([home, 0 * chains + size])
        yield np.concatenate([0 * home[:3] + size, home[3:], chains])


@pytest.mark.parametrize(
    ("name", "programs", "counts"),
    [
        ("zoppi-exechon-2010", {"close_joints": 0, "inverse_kinematics": 0}, (14, 3)),
        ("alikoc-delta-2023", {"inverse_dynamics": 1, "mass_matrix": 0}, (3, 36)),
    ],
)
def test_wrong_states(name, programs, counts, tmp_path):
    robot = gough.load(name)
    c = Exported(robot, tmp_path / "c", programs=[*programs])
    for (program, inputs), count in zip(programs.items(), counts, strict=True):
        refused = 0
        for whole in wrong_states(robot):
            state = dict.fromkeys(RIGID_FIELDS, np.zeros(0))
            state["position"] = whole
            status, answer = c(program, state, *[None] * inputs)
            refused += status != HEALTHY
            assert status == DOUBTFUL or np.isfinite(answer[:count]).all()
        assert refused
