"""Forces before compliant drives where friction turns round; truth from one equation of one freedom.

Six telescopes without mass carry a platform straight up and down. By symmetry each has the same length
q = √(r² + z²) and carries f = m (z̈ + g) q / (6 z) + F s(q̇); before the spring Γ = f + I (q̈ + f̈/k).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gough
from gough import Motion
from gough.base.arrays import Array
from gough.errors import SingularError

pytestmark = pytest.mark.usefixtures("on_numpy")
MASS, ROTOR, STIFF, COULOMB, GRAVITY = 12.0, 3.0, 4e5, 25.0, 9.81
RADIUS, HEIGHT, SWING, PACE = 0.4, 0.5, 0.05, 6.0
ANGLES = np.radians([0.0, 60.0, 120.0, 180.0, 240.0, 300.0])
RING = np.stack([np.cos(ANGLES), np.sin(ANGLES), 0 * ANGLES], axis=1)
TWISTED = np.radians(30.0) * np.array([1, -1, 1, -1, 1, -1]) + ANGLES
TOP = 0.2 * np.stack([np.cos(TWISTED), np.sin(TWISTED), 0 * ANGLES], axis=1)
APART = float(np.linalg.norm(TOP[0] - RADIUS * RING[0]))


def robot(**friction: float) -> gough.Robot:
    data: dict[str, Any] = {
        "format": 1,
        "name": "lift on springs",
        "home": {"position": [0.0, 0.0, HEIGHT]},
        "legs": {
            "kind": "UPS",
            "base": (RADIUS * RING).tolist(),
            "platform": TOP.tolist(),
            "rotor_mass": ROTOR,
            "drive": {"stiffness": STIFF},
            "friction": friction,
            **{key: {} for key in ("cross", "cylinder", "rod")},
        },
        "platform": {"mass": MASS, "inertia": np.diag([0.3, 0.3, 0.4]).tolist()},
    }
    return gough.Robot.from_dict(data)


def heights(time: Array, phase: float = 0.0) -> tuple[Array, Array, Array]:
    angle = PACE * time + phase
    return (
        HEIGHT + SWING * np.sin(angle),
        SWING * PACE * np.cos(angle),
        -SWING * PACE**2 * np.sin(angle),
    )


def motion(time: Array, phase: float = 0.0) -> Motion:
    values = [np.stack([0 * one, 0 * one, one], axis=-1) for one in heights(time, phase)]
    position, velocity, acceleration = values
    return Motion(position, velocity=velocity, acceleration=acceleration, time=time)


def load(time: Array, width: float) -> Array:
    """f of each leg."""
    z, speed, acceleration = heights(time)
    q = np.sqrt(APART**2 + z**2)
    rate = z * speed / q
    sliding = COULOMB * rate / np.sqrt(rate**2 + width**2)
    return np.asarray(MASS * (acceleration + GRAVITY) * q / (6 * z) + sliding)


def test_with_a_width_forces_are_those_of_the_equation() -> None:
    time, width, h = np.linspace(0, 1.2, 601), 0.1, 1e-4
    found = robot(slider_coulomb=COULOMB, width=width).drive_forces(motion(time)).forces
    second = (load(time + h, width) - 2 * load(time, width) + load(time - h, width)) / h**2
    z, speed, acceleration = heights(time)
    q = np.sqrt(APART**2 + z**2)
    qdd = (speed**2 + z * acceleration) / q - (z * speed) ** 2 / q**3
    wanted = load(time, width) + ROTOR * (qdd + second / STIFF)
    inside = slice(20, -20)  # at its ends a spline of samples knows derivatives less well
    assert_allclose(found[inside], np.tile(wanted[inside, np.newaxis], 6), rtol=1e-4)


@pytest.mark.parametrize("samples", [41, 401])
def test_without_width_a_turn_is_refused_and_the_time_is_told(samples: int) -> None:
    """It turns at PACE t = π/2."""
    time = np.linspace(0, 0.4, samples)
    sharp = robot(slider_coulomb=COULOMB)
    words = r"jumps: here by 50 N at t = 0\.2617\d* s.* Give the friction a width"
    with pytest.raises(SingularError, match=words) as caught:
        sharp.drive_forces(motion(time))
    (failure,) = caught.value.failures
    assert time[failure.sample[0]] < np.pi / 2 / PACE < time[failure.sample[0] + 1]
    sharp.drive_forces(motion(time), friction=False)
    with pytest.raises(SingularError, match="Give the friction a width"):
        sharp.edited({"legs.limits.force": 500.0}).check(motion(time))


def test_without_width_motions_that_do_not_turn_have_forces() -> None:
    time = np.linspace(0, 0.25, 201)
    found = robot(slider_coulomb=COULOMB).drive_forces(motion(time, -np.pi / 4 * 0.99)).forces
    plain = robot().drive_forces(motion(time, -np.pi / 4 * 0.99)).forces
    assert_allclose(found - plain, COULOMB, rtol=1e-6)


def test_other_motions_of_a_batch_keep_their_forces() -> None:
    time = np.linspace(0, 0.4, 41)
    both = Motion.stack([motion(time, -1.5), motion(time)])
    sharp = robot(slider_coulomb=COULOMB)
    with pytest.raises(SingularError, match="sample 1, "):
        sharp.drive_forces(both)
