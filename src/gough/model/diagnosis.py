"""Why samples have no answer: which leg, which measure, what limit. Runs only for the suspects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array, condition
from gough.engine.functions import VARIANT, Function
from gough.errors import ConstraintError, ReachError, SampleError, SingularError
from gough.mechanics import programs
from gough.mechanics.leg import TOLD, Leg
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.programs import OFF, STILL
from gough.mechanics.solves import WORST_CONDITION
from gough.mechanics.state import State
from gough.model.batch import Rows, Trouble
from gough.model.execution import numpy_executor
from gough.model.freedom import NOTHING
from gough.model.rounding import PARTS, answer, lost_in_accelerations, lost_in_forces, of_rows

SYSTEMS = {
    "direct_dynamics": ("mass_matrix", "the mass matrix is singular"),
    "inverse_dynamics": ("jacobian", "the pose is singular"),
    "reactions": ("jacobian", "the pose is singular"),
    "contributions": ("jacobian", "the pose is singular"),
}
"""What each program solves, and what it means if that fails."""
FAR = 100
"""Distance of the platform frame from its joints, length scales, from which an error speaks of it."""
REMOTE = 1000
"""The same of the platform from the world's origin."""
ACCELERATED = ("inverse_dynamics", "reactions", "contributions")
"""Programs whose answers use the motion's accelerations."""


def diagnose(
    mechanism: Mechanism, function: Function, rows: Rows, suspects: Array, known: set[int]
) -> list[Trouble]:
    """Troubles of the suspect rows; a doubtful solve with a bearable condition is none."""
    rest = np.array([row for row in suspects if int(row) not in known], dtype=np.intp)
    if not rest.size:
        return []
    every = _rows(rows.fields, rest)
    fields = {name: value for name, value in every.items() if name in (*State._fields, VARIANT)}
    found = numpy_executor(mechanism)(programs.diagnosis, len(rest), fields)
    sizes = np.broadcast_to(of_rows(np.atleast_1d(mechanism.length_scale), fields), len(rest))
    troubles: list[Trouble] = []
    sound: dict[int, dict[str, Array]] = {}
    for i, row in enumerate(rest):
        measures = {name: value[i] for name, value in found.items()}
        trouble = _leg_trouble(mechanism.legs, int(row), measures["legs"])
        if trouble is None and "columns" in measures:
            held = HeldSample.of(measures, 6 - mechanism.mobile, float(sizes[i]))
            wrong = held.trouble(function.__name__ in ACCELERATED)
            trouble = None if wrong is None else Trouble(int(row), None, *wrong)
            measures |= held.free(measures)
        if trouble is not None:
            troubles.append(trouble)
        else:
            sound[i] = measures
    if sound and function.__name__ in PARTS:
        told = answer(mechanism, function, len(sound), _rows(every, np.array([*sound])))
        for (i, measures), *here in zip(sound.items(), *told, strict=True):
            reason = _lost_digits(function.__name__, measures, *here)
            if reason:
                reason += _far(mechanism, every["position"][i % len(every["position"])])
                troubles.append(Trouble(int(rest[i]), None, SingularError, reason))
    return troubles


def _rows(fields: Mapping[str, Array], which: Array) -> dict[str, Array]:
    """Some rows of fields (rows, ...), or (1, ...) where all are the same."""
    return {name: value if len(value) == 1 else value[which] for name, value in fields.items()}


def _leg_trouble(legs: Leg, row: int, measures: Array) -> Trouble | None:
    for values, health in zip(measures, legs.HEALTH, strict=True):
        bad = np.flatnonzero(~(values > health.limit))
        if bad.size:
            leg = int(bad[0])
            reason = health.reason.format(value=values[leg], limit=health.limit)
            return Trouble(row, leg, SingularError if health.singular else ReachError, reason)
    return None


def _far(mechanism: Mechanism, position: Array) -> str:
    """What to say of frames so far from joints, or from the world's origin, that answers lose digits."""
    away = float(np.max(np.linalg.norm(np.mean(mechanism.points, axis=1), axis=0)))
    remote, size = float(np.linalg.norm(position)), float(np.max(mechanism.length_scale))
    if away >= FAR * size:
        return f"; the platform frame is {away:.3g} m from the platform's joints: put it nearer"
    if remote >= REMOTE * size:
        return f"; the platform is {remote:.3g} m from the world's origin: put it nearer"
    return ""


def _lost_digits(
    name: str, measures: Mapping[str, Array], found: Array, size: Array, change: float
) -> str:
    """Why rounding leaves too little of an answer, of which `found` and `size` (n,) are parts; or ""."""
    system, meaning = SYSTEMS.get(name, ("", "the pose is singular"))
    known = ""
    if system:
        worst = float(condition(measures[system]))
        if not worst < WORST_CONDITION:
            return f"{meaning}: condition number {worst:.3g}, limit {WORST_CONDITION:g}"
        known = f"; condition number {worst:.3g}"
        if system == "jacobian":
            forces = len(measures["jacobian"])  # what else was found follows them
            found, size = found[:forces], size[:forces]
            lost = lost_in_forces(measures["jacobian"], found)
        else:
            loose = measures.get("loose", np.eye(6))
            lost = lost_in_accelerations(measures["mass_matrix"], found, loose)
        change = change + float(np.max(lost / size))
    if change <= TOLD:
        return ""
    return (
        f"{meaning} to within rounding, which may change the answer by a share of {change:.2g}, "
        f"limit {TOLD:g}{known}"
    )


class HeldSample(NamedTuple):
    """One sample of a platform that cannot move in all directions, by singular values of C."""

    measures: Mapping[str, Array]
    held: Array
    """Orthonormal held directions (6, r), scaled."""
    loose: Array
    """Orthonormal free directions (6, m), scaled."""
    sizes: Array
    """Singular values of the unit columns, over the largest."""
    length_scale: float

    @classmethod
    def of(cls, measures: Mapping[str, Array], rank: int, length_scale: float) -> HeldSample:
        """Of the outputs of `programs.diagnosis`."""
        columns = np.nan_to_num(measures["columns"])
        lengths = np.linalg.norm(columns, axis=0)
        turned, sizes, _ = np.linalg.svd(columns / np.where(lengths == 0, 1, lengths))
        padded = np.zeros(6)
        padded[: len(sizes)] = sizes / max(sizes[0], 1e-300)
        return cls(measures, turned[:, :rank], turned[:, rank:], padded, length_scale)

    def free(self, measures: Mapping[str, Array]) -> dict[str, Array]:
        """What is solved, on the free directions alone."""
        return {
            "jacobian": measures["jacobian"] @ self.loose,
            "mass_matrix": self.loose.T @ measures["mass_matrix"] @ self.loose,
            "loose": self.loose,
        }

    def trouble(self, accelerated: bool) -> tuple[type[SampleError], str] | None:
        """What is wrong with it, if anything."""
        rank, count = self.held.shape[1], int(np.sum(self.sizes >= NOTHING))
        if count != rank:
            return SingularError, (
                f"the platform can move in {6 - count} directions here, in {6 - rank} at home "
                f"(singular values {self.sizes[min(rank, count)]:.2g}, limit {NOTHING:g})"
            )
        off = self._correction()
        if off > OFF:
            return ConstraintError, (
                f"the platform cannot be there: the nearest pose that its legs and mobility allow is "
                f"{off:.3g} m or rad away, limit {OFF:g}"
            )
        twist = self.measures["twist"]
        speed = _sum(twist)
        lost = float(np.linalg.norm(self.held.T @ twist))
        limit = OFF * speed + STILL
        if lost > limit:
            return ConstraintError, (
                f"the platform cannot move so: {lost:.3g} m/s of its twist are in held directions, "
                f"limit {limit:.3g}"
            )
        if not accelerated:
            return None
        rate = self.measures["twist_rate"]
        least = np.linalg.pinv(self.measures["columns"].T, rcond=NOTHING) @ self.measures["second"]
        missed = float(np.linalg.norm(self.held.T @ (rate - least)))
        omega = float(np.linalg.norm(twist[3:])) / self.length_scale
        limit = OFF * (_sum(rate) + omega * speed) + STILL
        if missed > limit:
            return ConstraintError, (
                f"the platform cannot accelerate so: {missed:.3g} m/s² are in held directions, "
                f"limit {limit:.3g}"
            )
        return None

    def _correction(self) -> float:
        """The least (δp, δθ), m and rad alike, that closes all gaps."""
        rows = self.measures["columns"].T * np.repeat([1.0, self.length_scale], 3)
        return float(np.linalg.norm(np.linalg.pinv(rows, rcond=NOTHING) @ self.measures["gap"]))


def _sum(scaled: Array) -> float:
    """‖v‖ + L ‖ω‖ of a scaled twist."""
    return float(np.linalg.norm(scaled[:3]) + np.linalg.norm(scaled[3:]))
