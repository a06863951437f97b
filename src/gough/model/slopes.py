"""A model at a motion, where its derivatives are asked for: programs, unit vectors, one linear solve.

What is computed says `gough.model.derivatives`, the equations are in `gough.model.derivative_programs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.engine.functions import Function
from gough.engine.run.execute import CHUNK
from gough.errors import InputError, SingularError
from gough.mechanics import programs
from gough.mechanics.state import CHAINS, ELASTIC_FIELDS, RIGID_FIELDS
from gough.model import batch
from gough.model.allowed import Allowed, along_allowed
from gough.model.batch import OnError, Rows, Trouble, yes_or_no
from gough.model.derivative_programs import (
    balance_reverse,
    direct_forward,
    direct_loads,
    direct_reverse,
    grasped,
    inverse_forward,
    inverse_loads,
    inverse_reverse,
    joint_speeds,
)
from gough.model.described import DescribedModel
from gough.model.friction_loop import with_friction
from gough.motion import Motion

PAIRS = 32768
"""States times unit vectors that a program takes at a time."""


class Direction(NamedTuple):
    """Inverse or direct dynamics: programs of its derivatives, and by what it is differentiated."""

    forward: Function
    reverse: Function
    loads: Function
    by: tuple[str, ...]
    solved: str
    """What the model answers, beside q̈e."""


INVERSE = Direction(
    inverse_forward,
    inverse_reverse,
    inverse_loads,
    ("pose", "twist", "acceleration", "wrench"),
    "forces",
)
DIRECT = Direction(
    direct_forward,
    direct_reverse,
    direct_loads,
    ("pose", "twist", "forces", "wrench"),
    "acceleration",
)
ALSO_SOLVED = ("elastic_acceleration", "held", "loads", "multipliers", "elastic_multipliers")
"""What else is solved for, where there is such a thing; q̈e first, as part of the answer."""
MODAL = ("elastic", "elastic_velocity")
"""By what models of a flexible robot are differentiated, too."""


def matrices(
    robot: DescribedModel,
    reverse: Function,
    rows: int,
    fields: Mapping[str, Array],
    units: Mapping[str, Array],
) -> dict[str, Array]:
    """Matrices (rows, units, ...) from a program that multiplies weights with them.

    Every state meets every unit vector (of the weights by name, (units, ...) each), so that even one
    state makes a batch.
    """
    out: dict[str, Array] = {}
    several = len(next(iter(units.values())))
    step = max(1, PAIRS // several)
    for start in range(0, max(rows, 1), step):
        count = min(step, rows - start)
        given = {
            name: value
            if len(value) == 1
            else np.repeat(value[start : start + count], several, axis=0)
            for name, value in fields.items()
        }
        given |= {name: np.tile(one, (count, 1)) for name, one in units.items()}
        found = robot.executor(reverse, count * several, given)
        for name, value in found.items():
            if name not in out:
                out[name] = np.empty((rows, several, *value.shape[1:]))
            out[name][start : start + count] = value.reshape(count, several, *value.shape[1:])
    return out


def balance_slopes(
    robot: DescribedModel, rows: int, fields: Mapping[str, Array], sizes: Mapping[str, int]
) -> dict[str, Array]:
    """Derivatives (rows, equations, ...) of what `balance_reverse` weighs, by all that it depends on.

    `sizes` are the numbers of weights by name, 0 for those that there are not.
    """
    sizes = {name: size for name, size in sizes.items() if size}
    count, edges = sum(sizes.values()), np.cumsum([*sizes.values()])[:-1]
    units = dict(zip(sizes, np.split(np.eye(count), edges, axis=1), strict=True))
    found = matrices(robot, balance_reverse, rows, fields, units)
    for name in found:
        if name.startswith("elastic"):  # where all modes are alike there is one number for all
            found[name] = np.broadcast_to(found[name], (rows, count, robot.modes))
    return found


def joints_of(robot: DescribedModel, motion: Motion) -> batch.Inputs:
    """The joint coordinates of chain legs, as a further field of the state; none of other legs."""
    count = robot.mechanism.legs.coordinates
    return {CHAINS: (robot.chains_of(motion), (count,))} if count else {}


class Asked:
    """A model at a motion, where its derivatives are asked for."""

    def __init__(
        self,
        robot: DescribedModel,
        motion: Motion,
        forces: ArrayLike | None,
        wrench: ArrayLike | None,
        friction: bool,
        on_error: OnError,
    ) -> None:
        """Solve the model: forces None is inverse dynamics. Samples without an answer are NaN."""
        if forces is not None:
            robot.need_rigid_drives("derivatives of direct dynamics")
        self.robot, self.motion, self.on_error = robot, motion, on_error
        self.rubs = yes_or_no("friction", friction) and not robot.mechanism.legs.friction.none
        self.staged = not self.rubs and not robot.modes and robot.mobility == 6
        self.given: dict[str, tuple[ArrayLike, tuple[int, ...]]] = joints_of(robot, motion)
        if robot.modes:
            self.given |= robot.elastic_inputs(motion)
        if forces is None:
            self.model, self.answers = INVERSE, robot.actuator_count + robot.modes
            solved = robot.inverse_dynamics(motion, wrench, friction, on_error=on_error)
            forces, bending = solved.forces, solved.elastic_acceleration
        else:
            self.model, self.answers = DIRECT, 6 + robot.modes
            found = robot.direct_dynamics(motion, forces, wrench, friction, on_error=on_error)
            self.given["acceleration"] = found.linear, (3,)
            self.given["angular_acceleration"] = found.angular, (3,)
            bending = found.elastic
        if robot.modes:
            self.given["elastic_acceleration"] = bending, (robot.modes,)
        self.given["forces"] = forces, (robot.actuator_count,)
        if not self.staged:
            self.given["wrench"] = np.zeros(6) if wrench is None else wrench, (6,)
        self.by = (*self.model.by, *(MODAL if robot.modes else ()))

    def slopes(self) -> dict[str, Array]:
        """The matrices of all derivatives."""
        rows = batch.lay_out(self.motion, self.given)
        return self._complete(self._settle(rows, self._slopes(rows)))

    def lift(self, chosen: list[int]) -> Array:
        """(..., 12 + 2 N, chosen): the deviation (δp, δθ, δqe, δv, δω, δq̇e) from these rows of it.

        The allowed one: Cᵀ δx = 0 and ∂(Cᵀ ξ)/∂x δx + Cᵀ δξ = 0.
        """
        rows = batch.lay_out(self.motion, self.given)
        fields = {name: rows.fields[name] for name in (*self._state_fields(), "forces", "wrench")}
        fields |= self._loads(rows.rows, fields)
        allowed = self._held(rows.rows, fields)
        assert allowed is not None
        count, modes, felt = fields["held"].shape[-1], self.robot.modes, self._felt
        sizes = {"weights": 6 + felt + 2 * count, "elastic_weights": modes}
        found = balance_slopes(self.robot, rows.rows, fields, sizes)
        slope = found["pose"][:, 6 + felt : 6 + felt + count]
        m, size = self.robot.mobility, 6 + modes
        whole = np.zeros((rows.rows, 2 * size, 2 * (m + modes)))
        whole[:, :6, :m] = whole[:, size : size + 6, m + modes : 2 * m + modes] = allowed.directions
        whole[:, size : size + 6, :m] = -allowed.correction @ slope @ allowed.directions
        whole[:, 6:size, m : m + modes] = np.eye(modes)
        whole[:, size + 6 :, 2 * m + modes :] = np.eye(modes)
        told = whole[:, chosen]
        lost = ~(np.abs(np.linalg.det(np.nan_to_num(told))) > 0)
        told[lost] = np.eye(told.shape[-1])
        names = ", ".join(self.robot.coordinates)
        reason = f"its coordinates {names} do not tell there how the platform moves"
        troubles = batch.not_finite(rows)
        known = {one.row for one in troubles}
        troubles += [
            Trouble(int(row), None, SingularError, reason)
            for row in np.flatnonzero(lost)
            if int(row) not in known
        ]
        lifted = {"lift": whole @ np.linalg.inv(told)}
        return batch.settle(rows, lifted, troubles, self.on_error)["lift"]

    def forward(self, changes: Mapping[str, ArrayLike]) -> Array:
        """The matrices times changes."""
        unknown = set(changes) - set(self.by)
        if unknown:
            raise InputError(f"no change of {min(unknown)!r}: {', '.join(self.by)} may change")
        own = {"forces": self.robot.actuator_count} | dict.fromkeys(MODAL, self.robot.modes)
        widths = {name: own.get(name, 6) for name in self.by}
        given = {
            f"{name}_change": (changes.get(name, np.zeros(width)), (width,))
            for name, width in widths.items()
        }
        rows = batch.lay_out(self.motion, self.given | given)
        if self.staged:
            out = self.robot.executor(self.model.forward, rows.rows, rows.fields)
            return self._settle(rows, out)["change"]
        parts = [
            np.einsum("...ij,...j->...i", matrix, rows.fields[f"{name}_change"])
            for name, matrix in self._slopes(rows).items()
        ]
        return self._settle(rows, {"change": np.sum(parts, axis=0)})["change"]

    def reverse(self, weights: ArrayLike) -> dict[str, Array]:
        """Weights times the matrices."""
        rows = batch.lay_out(self.motion, self.given | {"weights": (weights, (self.answers,))})
        if self.staged:
            out = self.robot.executor(self.model.reverse, rows.rows, rows.fields)
        else:
            out = {
                name: np.einsum("...ij,...i->...j", matrix, rows.fields["weights"])
                for name, matrix in self._slopes(rows).items()
            }
        return self._complete(self._settle(rows, out))

    def _complete(self, out: dict[str, Array]) -> dict[str, Array]:
        """With the columns of no modes on a rigid platform."""
        none = np.zeros((*out["pose"].shape[:-1], 0))
        return {name: none for name in MODAL} | out

    def _settle(self, rows: Rows, out: dict[str, Array]) -> dict[str, Array]:
        troubles = batch.not_finite(rows)
        if self.rubs:
            known = {one.row for one in troubles}
            troubles += [one for one in self._standing(rows) if one.row not in known]
        return batch.settle(rows, out, troubles, self.on_error)

    def _slopes(self, rows: Rows) -> dict[str, Array]:
        """Derivatives (rows, ...)."""
        state = {name: rows.fields[name] for name in (*self._state_fields(), "forces")}
        if self.staged:
            units = {"weights": np.eye(self.answers)}
            return matrices(self.robot, self.model.reverse, rows.rows, state, units)
        fields = state | {"wrench": rows.fields["wrench"]}
        parts = []
        for start in range(0, max(rows.rows, 1), CHUNK):
            count = min(CHUNK, rows.rows - start)
            chunk = {n: v if len(v) == 1 else v[start : start + count] for n, v in fields.items()}
            parts.append(self._implicit_slopes(count, chunk))
        return {name: np.concatenate([one[name] for one in parts]) for name in self.by}

    def _state_fields(self) -> tuple[str, ...]:
        joints = (CHAINS,) if self.robot.mechanism.legs.coordinates else ()
        return (*RIGID_FIELDS, *(ELASTIC_FIELDS if self.robot.modes else ()), *joints)

    def _implicit_slopes(self, rows: int, fields: dict[str, Array]) -> dict[str, Array]:
        """−(∂F/∂z)⁻¹ ∂F/∂x of the equations F(x, z) = 0 behind `balance_reverse`.

        The unknowns z are Γ or (v̇, ω̇), q̈e, λ and μ, the loads and, where more actuators than there
        are directions share them, the multipliers of the shortest Γ. Of λ and μ, and of the equations
        of what they hold, there are as many as are independent; x changes along allowed motions.
        """
        robot, modes = self.robot, self.robot.modes
        fields = fields | self._loads(rows, fields)
        allowed = self._held(rows, fields)
        fields |= self._multipliers(rows, fields, allowed)
        shared, count = "multipliers" in fields, 0 if allowed is None else fields["held"].shape[-1]
        felt = self._felt
        ends = np.cumsum([6, felt, count, count, robot.actuator_count * shared, count * shared])
        sizes = {"weights": int(ends[-1]), "elastic_weights": modes}
        sizes["elastic_sharing_weights"] = modes * shared
        found = balance_slopes(robot, rows, fields, sizes)
        if self.rubs:
            found["loads"] = found["loads"].reshape(rows, sum(sizes.values()), felt)
        if allowed is not None:
            found = along_allowed(found, allowed, ends, shared, self.model is DIRECT)
        solved = (self.model.solved, *(name for name in ALSO_SOLVED if name in fields))
        matrix = np.concatenate([found[name] for name in solved], axis=-1)
        matrix[~np.isfinite(matrix).all(axis=(1, 2))] = np.eye(matrix.shape[-1])
        return {name: -np.linalg.solve(matrix, found[name])[:, : self.answers] for name in self.by}

    @property
    def _felt(self) -> int:
        """Number of loads that friction feels."""
        return 3 * self.robot.leg_count * self.rubs

    def _held(self, rows: int, fields: dict[str, Array]) -> Allowed | None:
        """What motions are allowed, with λ and μ added to the fields; None where nothing is held."""
        if self.robot.mobility == 6:
            return None
        found = self.robot.executor(grasped, rows, fields)
        allowed = Allowed.of(found["columns"], self.robot.mobility, self.robot.length_scale)
        carried = np.nan_to_num(found["carried"])
        fields["held"] = np.einsum("nki,ni->nk", allowed.shares, carried)
        return allowed

    def _loads(self, rows: int, fields: dict[str, Array]) -> dict[str, Array]:
        """The loads that friction feels, (rows, 3, legs); none without friction."""
        if not self.rubs:
            return {}
        given = {n: v for n, v in fields.items() if n != "forces" or self.model is DIRECT}
        robot = self.robot
        run = robot.executor, self.model.loads, rows, given, robot.mechanism.legs.friction
        return {"loads": with_friction(*run)[0]["loads"]}

    def _multipliers(
        self, rows: int, fields: dict[str, Array], allowed: Allowed | None
    ) -> dict[str, Array]:
        """Λ (rows, 6 + N) with Γ = J Λ, Cᵀ Λ = 0 and [M_er, M_ee] Λ = 0, where actuators share loads."""
        robot, modes = self.robot, self.robot.modes
        if robot.actuator_count == robot.mobility or self.model is DIRECT:
            return {}
        state = {name: fields[name] for name in self._state_fields()}
        found = robot.executor(programs.jacobian, rows, state)
        jacobian = np.nan_to_num(found["jacobian"])
        if not modes:
            moves = np.eye(6) if allowed is None else allowed.directions
            inverse = moves @ np.linalg.pinv(jacobian @ moves)
            return {"multipliers": (inverse @ fields["forces"][..., np.newaxis])[..., 0]}
        blocks = robot.executor(programs.mass_matrix, rows, state)
        del blocks["margin"]
        mass = robot.mechanism.platform.whole_mass(**blocks)
        moves = np.eye(6 + modes)
        if allowed is not None:
            moves = np.zeros((rows, 6 + modes, robot.mobility + modes))
            moves[:, :6, : robot.mobility] = allowed.directions
            moves[:, 6:, robot.mobility :] = np.eye(modes)
        jacobian = np.concatenate([jacobian, np.nan_to_num(found["elastic"])], axis=-1)
        system = np.concatenate([jacobian, np.nan_to_num(mass[:, 6:])], axis=1) @ moves
        inverse = moves @ np.linalg.pinv(system)
        every = (inverse[..., : robot.actuator_count] @ fields["forces"][..., np.newaxis])[..., 0]
        return {"multipliers": every[:, :6], "elastic_multipliers": every[:, 6:]}

    def _standing(self, rows: Rows) -> list[Trouble]:
        """Rows where a joint stands still whose Coulomb friction jumps there."""
        friction = self.robot.mechanism.legs.friction
        state = {name: rows.fields[name] for name in self._state_fields()}
        coulomb_friction = {
            "drive": None,  # knows itself where it jumps
            "universal joint": friction.universal_coulomb,
            "spherical joint": friction.spherical_coulomb,
        }
        speeds = self.robot.executor(joint_speeds, rows.rows, state)
        troubles: dict[int, Trouble] = {}
        for joint, coulomb in coulomb_friction.items():
            jumps = coulomb is None or (coulomb[:, 0] > 0) & (friction.width[:, 0] == 0)
            reason = (
                f"friction without width has no derivative where its {joint} stands still; "
                "give it a width or ask with friction=False"
            )
            for row, leg in np.argwhere(jumps & (speeds[joint] == 0)).tolist():
                troubles.setdefault(row, Trouble(row, leg, SingularError, reason))
        return list(troubles.values())
