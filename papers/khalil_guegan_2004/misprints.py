"""What the paper's misprints do to forces: docs/errata.md. The paper has no example of its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np

import gough
from gough.base.arrays import Array
from gough.errors import ImpossibleBodyWarning

from .closed_forms import ClosedForms, closed_forms
from .regrouping import regrouped
from .robots import ROBOT, STATES, general_robot, random_states
from .routes import peers


def effects() -> dict[str, float]:
    """Largest change of an actuator force, N, by the place of the misprint.

    On the robot of Long, Khalil & Martinet along its rest-to-rest motion, rigid platform; Eqs. 37, 60
    and 63, which that does not show, on the general robot in random states.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleBodyWarning)
        robot, data = gough.load(ROBOT).rigid, general_robot()
        general = gough.Robot.from_dict(data)
        states = random_states(general, STATES)
        moved = regrouped(data, printed=True).inverse_dynamics(states).forces
    motion = peers.motion(f"{ROBOT}/poses")
    ours = _each(robot, motion[::3])
    theirs = _each(general, states)
    forces = general.inverse_dynamics(states).forces
    return {
        "Eq. 34": _largest((_solved(form, -2 * form.leg_wrench) for _, form in ours)),
        "Eqs. 34, 37, note ii": _largest((_solved(form, form.undotted) for _, form in ours)),
        "Eqs. 36, 38": _largest(
            (_solved(form, (form.printed_inertia - form.inertia) @ rate) for rate, form in ours)
        ),
        "Eq. 37": _largest((_solved(form, form.printed_bias - form.bias) for _, form in theirs)),
        "Eqs. 60, 63": float(np.abs(moved - forces).max()),
    }


def _each(robot: gough.Robot, motion: gough.Motion) -> list[tuple[Array, ClosedForms]]:
    """V̇ and closed forms at every sample."""
    rates = np.concatenate([motion.acceleration, motion.angular_acceleration], axis=-1)
    return [(rates[k], closed_forms(robot, motion[k])) for k in range(len(motion))]


def _solved(form: ClosedForms, wrench: Array) -> Array:
    """Γ of J_p⁻ᵀ Γ = wrench."""
    return np.linalg.solve(form.inverse_jacobian.T, wrench)


def _largest(found: Iterable[Array]) -> float:
    return max(float(np.abs(one).max()) for one in found)
