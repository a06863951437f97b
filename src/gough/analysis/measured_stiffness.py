"""Stiffness of drives from tests of a machine: loads and deflections, natural frequencies.

The stiffnesses k_i along q that make the model agree with what was measured over poses, by weighted
least squares in log k, all tests together:

    loads           δ = S K⁻¹ Sᵀ w,  K = Jᵀ diag(k) J + K_g    deflection at the tool under a load there
    frequencies     det(K − (2π f)² M) = 0                      the lowest ones, actuators locked

as in `gough.analysis.stiffness`: drive and leg in series count as one spring along q, what legs or
mobility hold is rigid, and M is without the rotors, which stand still. Residuals are weighed by what
each kind of measurement leaves; standard deviations come from that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import least_squares

from gough.analysis.stiffness import tool_map
from gough.base.arrays import Array
from gough.errors import InputError
from gough.model.deflection import static_deflection
from gough.model.model import Model
from gough.model.own_directions import own_directions
from gough.model.vibration import stiffness_matrix
from gough.motion import Motion

START = 1e7
"""First guess, N/m or N m/rad, before it is scaled to the measurements."""
UNSEEN = 1e-6
"""Singular value of a combination of stiffnesses, of the largest, that tests do not show."""
TOUCHED = 1e-3
"""Share of an unseen combination that makes a stiffness unseen."""
PASSES = 3
"""Of making weights agree with residuals."""
FLOOR = 1e-9
"""Least noise, of the measurements' own size."""


class LoadTests(NamedTuple):
    """Poses (n,), loads at the tool (n, 6), N and N m, and deflections there (n, 3 or 6), m and rad."""

    motion: Motion
    load: Array
    deflection: Array


class FrequencyTests(NamedTuple):
    """Poses (n,) and the lowest natural frequencies in them (n, k), rising, Hz."""

    motion: Motion
    frequencies: Array


@dataclass(frozen=True, eq=False)
class MeasuredStiffness:
    """Stiffness of drives along q, and how well it is known."""

    stiffness: Array
    """(actuators,), N/m or N m/rad."""
    deviations: Array
    """(actuators,), the same units; ∞ where the tests tell nothing."""
    residuals: dict[str, float]
    """Rms of what is left, by kind: "deflection" m, "turn" rad, "frequency" as a part."""
    unseen: tuple[int, ...]
    """Actuators, from 0, whose stiffness the tests do not tell."""

    def adopted(self, robot: Model) -> Model:
        """The robot with these stiffnesses in its file, under `drive`; comments stay."""
        return robot.edited(drive_changes(robot, self.stiffness))


class _Poses(NamedTuple):
    """What stiffness needs of the robot in each test's pose."""

    jacobian: Array
    geometric: Array
    mass: Array
    tool: Array


def measured_stiffness(
    robot: Model,
    loads: LoadTests | None = None,
    frequencies: FrequencyTests | None = None,
    *,
    equal: bool = False,
) -> MeasuredStiffness:
    """Stiffness of each drive along q from tests.

    Args:
        robot: with masses; its own drives' stiffness does not count.
        loads: loads and deflections over poses.
        frequencies: natural frequencies over poses, drives locked.
        equal: one stiffness for all actuators of a unit.

    Returns:
        Stiffnesses with standard deviations.

    """
    if loads is None and frequencies is None:
        raise InputError("needs loads with deflections, or natural frequencies")
    robot.need_actuators()
    robot.need_masses()
    robot.need_rigid_legs("stiffness from tests")
    units = [one.units for one in robot.actuators]
    kinds = [*dict.fromkeys(units)] if equal else [*range(len(units))]
    shared = np.array([kinds.index(one) for one in units]) if equal else np.arange(len(units))
    beyond = robot.edited(drive_changes(robot, np.full(len(units), START))).load_side
    pushed = None if loads is None else _poses(beyond, loads.motion)
    rung = None if frequencies is None else _poses(beyond, frequencies.motion)

    def errors(logs: Array) -> dict[str, Array]:
        """What the model misses by, by kind of measurement."""
        along, found = np.exp(logs)[shared], {}
        if loads is not None and pushed is not None:
            missed = _deflections(pushed, along, loads.load) - np.pad(
                loads.deflection, ((0, 0), (0, 6 - loads.deflection.shape[1]))
            )
            found["deflection"] = missed[:, :3].ravel()
            if loads.deflection.shape[1] == 6:
                found["turn"] = missed[:, 3:].ravel()
        if frequencies is not None and rung is not None:
            lowest = _frequencies(rung, along)[:, : frequencies.frequencies.shape[1]]
            found["frequency"] = np.log(lowest / frequencies.frequencies).ravel()
        return found

    count = len(kinds)
    logs = np.full(count, np.log(START))
    sizes = _sizes(loads, frequencies)
    weights = {name: 1 / size for name, size in sizes.items()}
    for _ in range(PASSES):

        def weighed(z: Array, weights: dict[str, float] = weights) -> Array:
            return np.concatenate([weights[name] * one for name, one in errors(z).items()])

        run: Any = least_squares
        found = run(weighed, logs, method="trf", x_scale=1.0, xtol=1e-14, ftol=1e-14, gtol=1e-14)
        logs = found.x
        left = {name: float(np.sqrt(np.mean(one**2))) for name, one in errors(logs).items()}
        weights = {name: 1 / max(one, FLOOR * sizes[name]) for name, one in left.items()}
    slopes = found.jac
    rows = len(found.fun)
    if rows < count:
        raise InputError(f"{rows} measurements are too few for {count} stiffnesses")
    _, values, turned = np.linalg.svd(slopes, full_matrices=False)
    seen = values > UNSEEN * values[0]
    noise = float(np.sum(found.fun**2)) / max(rows - int(seen.sum()), 1)
    parts = np.where(seen, 1 / np.where(seen, values, 1.0), 0.0)
    spread = np.sqrt(noise * np.sum((turned.T * parts) ** 2, axis=1))
    lost = np.sum(turned[~seen] ** 2, axis=0) > TOUCHED
    stiff = np.exp(logs)[shared]
    deviations = np.where(lost, np.inf, spread)[shared] * stiff
    unseen = tuple(int(i) for i in np.flatnonzero(lost[shared]))
    return MeasuredStiffness(stiff, deviations, left, unseen)


def drive_changes(robot: Model, stiffness: Array) -> dict[str, Any]:
    """Keys of the robot file that give the drives these stiffnesses (actuators,)."""
    found: dict[str, Any] = {}
    for group in robot.description.groups:
        holders = [one.leg for one in group.actuators]
        own = [i for i, one in enumerate(robot.actuators) if one.leg in {*holders}]
        keys = [f"{group.where}.{key}.stiffness" for key in group.table.actuated_keys()]
        values = np.asarray(stiffness)[own]
        if not keys or not own:
            continue
        if len(values) % len(keys):
            raise InputError(
                f"{group.where}: legs of one group have different numbers of actuators; give their "
                "drives by hand"
            )
        for key, column in zip(keys, values.reshape(-1, len(keys)).T, strict=True):
            same = np.all(column == column[0])
            found[key] = float(column[0]) if same else column.tolist()
    return found


def _poses(robot: Model, motion: Motion) -> _Poses:
    """Jacobian, K_g, mass and the tool's map by the robot's own coordinates, in each pose."""
    rest = static_deflection(robot, motion)
    forces = robot.inverse_dynamics(rest, friction=False).forces
    own = own_directions(robot, rest)
    mass = np.swapaxes(own, -1, -2) @ robot.mass_matrix(rest) @ own
    return _Poses(
        robot.jacobian(rest) @ own,
        stiffness_matrix(robot, rest, forces),
        mass,
        tool_map(robot, rest) @ own,
    )


def _matrix(poses: _Poses, along: Array) -> Array:
    """K (n, m + N, m + N)."""
    sprung = np.swapaxes(poses.jacobian, -1, -2) @ (along[:, np.newaxis] * poses.jacobian)
    return np.asarray(sprung + poses.geometric)


def _deflections(poses: _Poses, along: Array, load: Array) -> Array:
    """S K⁻¹ Sᵀ w, (n, 6)."""
    right = np.swapaxes(poses.tool, -1, -2) @ load[..., np.newaxis]
    return np.asarray((poses.tool @ np.linalg.solve(_matrix(poses, along), right))[..., 0])


def _frequencies(poses: _Poses, along: Array) -> Array:
    """Natural frequencies (n, m + N), rising, Hz; of the symmetric part."""
    stiff = _matrix(poses, along)
    squares = [
        eigh((K + K.T) / 2, (M + M.T) / 2, eigvals_only=True)
        for K, M in zip(stiff, poses.mass, strict=True)
    ]
    return np.sqrt(np.maximum(squares, 1e-12)) / (2 * np.pi)


def _sizes(loads: LoadTests | None, frequencies: FrequencyTests | None) -> dict[str, float]:
    """Rms of the measurements, by kind: their first weights."""
    found: dict[str, float] = {}
    if loads is not None:
        parts = {"deflection": loads.deflection[:, :3], "turn": loads.deflection[:, 3:]}
        found |= {
            name: float(np.sqrt(np.mean(one**2))) or 1.0 for name, one in parts.items() if one.size
        }
    if frequencies is not None:
        found["frequency"] = 1.0
    return found
