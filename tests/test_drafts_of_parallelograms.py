"""Drafts of Deltas have two rods in each parallelogram, and remarks on what a draft leaves open."""

import numpy as np
import pytest

import gough
from gough.description.drafts import Answers, draft

pytestmark = pytest.mark.usefixtures("on_numpy")


@pytest.mark.parametrize("family", ["delta", "linear-delta"])
def test_a_link_is_both_rods(family):
    """2 ρ π r² l each, and a home that is held against the weight of all of them."""
    given = {"link_radius": 0.006, "density": 2700.0}
    robot = gough.Robot.from_text(draft(family, "mine", Answers(given)))
    legs = robot.description.legs
    length = legs.length[:, 0]
    mass = 2 * 2700.0 * np.pi * 0.006**2 * length
    np.testing.assert_allclose(legs.link.mass[:, 0], mass, rtol=1e-9)
    # virtual work: forces at rest lift all bodies by as much as potential energy grows
    forces = robot.inverse_dynamics(robot.home, friction=False).forces
    rise = robot.jacobian(robot.home)[:, 2]
    energy = [
        robot.energy(gough.Motion(robot.home.position + np.array([0, 0, step]))).potential
        for step in (1e-5, -1e-5)
    ]
    assert forces @ rise == pytest.approx((energy[0] - energy[1]) / 2e-5, rel=1e-6)


def test_other_families_have_rods_one_by_one():
    robot = gough.Robot.from_text(draft("rotary", "mine", Answers({"link_radius": 0.006})))
    legs = robot.description.legs
    mass = 7850.0 * np.pi * 0.006**2 * legs.length[:, 0]
    np.testing.assert_allclose(legs.link.mass[:, 0], mass, rtol=1e-9)


def test_remarks_say_what_a_draft_leaves_open():
    for family in ("hexapod", "rotary", "delta", "linear-delta", "tripod"):
        assert "solid" in draft(family, "mine", Answers())
    assert "before sizing" in draft("delta", "mine", Answers())
