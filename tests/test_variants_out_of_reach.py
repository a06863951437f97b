"""Variants with samples that have no answer: each is judged by its own numbers; truth in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from gough import Motion, Robot
from gough.errors import ConstraintError, ReachError

pytestmark = pytest.mark.usefixtures("on_numpy")
LENGTH = 0.9


def ring(count: int, radius: float, shift: float = 0.0) -> np.ndarray:
    angle = 2 * np.pi * np.arange(count) / count + shift
    return radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)


def robot(count: int) -> Robot:
    """Links on upright rails; three of them carry a platform that translates."""
    legs = {
        "kind": "PUS",
        "rail_origin": ring(count, 0.7).tolist(),
        "rail_direction": [[0.0, 0.0, 1.0]] * count,
        "length": LENGTH,
        "platform": ring(count, 0.1, 0.2).tolist(),
    }
    platform = {"mobility": "translation"} if count == 3 else {}
    home = {"position": [0, 0, 0.6]}
    return Robot.from_dict(
        {"format": 1, "name": "rails", "home": home, "legs": legs, "platform": platform}
    )


def test_samples_out_of_reach_cost_themselves_alone() -> None:
    factors = np.array([1.0, 2.0, 3.0])
    places = np.array([[0, 0, 0.6], [0.2, 0, 0.6], [0.3, 0.1, 0.6], [0.9, 0, 0.6], [0, 0.25, 0.6]])
    points = factors[:, np.newaxis, np.newaxis] * ring(6, 0.1, 0.2)
    many = robot(6).variants({"legs.platform": points})[:, np.newaxis]
    away = places[:, np.newaxis] + points[:, np.newaxis] - ring(6, 0.7)
    reached = (np.linalg.norm(away[..., :2], axis=-1) < LENGTH).all(axis=-1)  # beside upright rails
    assert 0 < (~reached).sum() < reached.sum()
    assert (~reached).sum() not in (1, len(factors))
    q = many.inverse_kinematics(Motion(places), on_error="nan").q
    assert np.array_equal(np.isfinite(q).all(axis=-1), reached)
    first = ", ".join(map(str, np.argwhere(~reached)[0]))
    with pytest.raises(ReachError, match=rf"sample {first}, leg \d: .*out of reach"):
        many.inverse_kinematics(Motion(places))


def test_rows_are_judged_by_the_size_of_their_own_robot() -> None:
    """A platform that translates is turned by 1 mrad: that is how far the nearest pose is."""
    points = np.array([1.0, 4.0])[:, np.newaxis, np.newaxis] * ring(3, 0.1, 0.2)
    many = robot(3).variants({"legs.platform": points})
    turned = Motion([0, 0, 0.6], rotvec=[1e-3, 0, 0])
    for rows in ([0, 0], [1, 1], [1, 0]):
        with pytest.raises(ConstraintError) as caught:
            many[rows].inverse_kinematics(turned)
        for failure in caught.value.failures:
            assert "is 0.001 m or rad away" in failure.reason
