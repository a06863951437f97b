"""Essential parameters: what symmetry leaves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cases.errors import refusal
from cases.parameters import drawn, made, regular, singular_values, stacked
from gough import Motion
from gough.errors import InputError
from gough.parameters.base import base_regressor
from gough.parameters.essential import ASSUMPTIONS, essential_parameters
from gough.parameters.grouping import (
    grouped_parameters,
)
from oracles.random_robot import random_motion


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize(
    ("kind", "assumption", "count"),
    [
        ("UPS", "off-centre", 52),
        ("UPS", "symmetric", 40),
        ("UPS", "revolution", 34),
        ("PUS", "off-centre", 46),
        ("PUS", "symmetric", 34),
        ("PUS", "revolution", 28),
        ("RUS", "off-centre", 46),
        ("RUS", "symmetric", 34),
        ("RUS", "revolution", 28),
    ],
)
def test_essential_parameters_of_an_assumption(kind, assumption, count):
    data = regular(kind, assumption)
    robot = made(data)
    base = grouped_parameters(robot)
    found = essential_parameters(base, assumption)
    assert found.count == count + 6  # and the rotors
    assert found.broken == ()
    assert_allclose(found.expansion @ found.values, base.values, rtol=1e-12, atol=1e-14)
    motion = Motion(**random_motion(np.random.default_rng(1), data, (20,)))
    forces = base_regressor(robot, base, motion) @ found.expansion @ found.values
    expected = robot.inverse_dynamics(motion, friction=False).forces
    assert_allclose(forces, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    # no column of the essential regressor is superfluous
    W = stacked(robot)[:, base.independent] @ found.expansion
    assert singular_values(W)[-1] > 1e-4
    stronger = list(ASSUMPTIONS)[list(ASSUMPTIONS).index(assumption) + 1 :]
    assert all(essential_parameters(base, other).broken for other in stronger)


def test_revolution_ties_the_transverse_inertias():
    found = essential_parameters(grouped_parameters(made(drawn("UPS"))), "revolution")
    assert "leg 1 cylinder XX = leg 1 cylinder ZZ − leg 1 cross ZZ" in found.dropped()
    assert "leg 3 rod MX = 0" in found.dropped()
    assert any("cross ZZ" in one for one in found.broken)
    with refusal(InputError, "off-centre", "symmetric"):
        essential_parameters(found.base, "round")
