"""Why samples have no answer: which leg, which measure, what limit. Runs only for the suspects."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array, condition
from gough.engine.functions import VARIANT, Function
from gough.errors import ReachError, SingularError
from gough.mechanics import programs
from gough.mechanics.equation import Mechanism
from gough.mechanics.leg import Leg
from gough.mechanics.solves import WORST_CONDITION
from gough.mechanics.state import State
from gough.model.batch import Rows, Trouble
from gough.model.execution import numpy_executor

SYSTEMS = {
    "direct_dynamics": ("mass_matrix", "the mass matrix is singular"),
    "inverse_dynamics": ("jacobian", "the pose is singular"),
    "reactions": ("jacobian", "the pose is singular"),
    "contributions": ("jacobian", "the pose is singular"),
}
"""What each program solves, and what it means if that fails."""


def diagnose(
    mechanism: Mechanism, function: Function, rows: Rows, suspects: Array, known: set[int]
) -> list[Trouble]:
    """Troubles of the suspect rows; a doubtful solve with a bearable condition is none."""
    rest = np.array([row for row in suspects if int(row) not in known], dtype=np.intp)
    if not rest.size:
        return []
    fields = {
        name: value if len(value) == 1 else value[rest]
        for name, value in rows.fields.items()
        if name in (*State._fields, VARIANT)
    }
    found = numpy_executor(mechanism)(programs.diagnosis, len(rest), fields)
    system, meaning = SYSTEMS.get(function.__name__, (None, ""))
    conditions = np.zeros(len(rest)) if system is None else condition(found[system])
    troubles: list[Trouble] = []
    for i, row in enumerate(rest):
        trouble = _leg_trouble(mechanism.legs, int(row), found["legs"][i])
        if trouble is None and not conditions[i] < WORST_CONDITION:
            reason = f"{meaning}: condition number {conditions[i]:.3g}, limit {WORST_CONDITION:g}"
            trouble = Trouble(int(row), None, SingularError, reason)
        if trouble is not None:
            troubles.append(trouble)
    return troubles


def _leg_trouble(legs: Leg, row: int, measures: Array) -> Trouble | None:
    for values, health in zip(measures, legs.HEALTH, strict=True):
        bad = np.flatnonzero(~(values > health.limit))
        if bad.size:
            leg = int(bad[0])
            reason = health.reason.format(value=values[leg], limit=health.limit)
            return Trouble(row, leg, SingularError if health.singular else ReachError, reason)
    return None
