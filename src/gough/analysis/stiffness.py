"""How stiff a robot is at its tool: compliance from actuators, legs, preload and a flexible platform.

At rest, with actuators that give way as springs, δΓ_i = −k_i δq_i, a small load w moves the robot by
δx = (δp, δθ, δqe), R ← exp(δθ) R:

    K δx = Sᵀ w,    K = Jᵀ diag(k) J + K_g,    K_g = ∂/∂x (b − Jᵀ Γ) at the forces Γ that hold the pose

K_g (`vibration.stiffness_matrix`) holds the preload of the legs (Gosselin 1990 leaves it out), the
weight and the stiffness of a flexible platform. The tool, at t in the platform frame, moves by S δx:

    S = [1  −[R t]×  R Φ − [R t]× R Φ_r]        Φ, Φ_r: `origin_shapes`, `origin_rotations` of the body,
        [0     1              R Φ_r    ]

so its compliance, in world axes, is C = S K⁻¹ Sᵀ. A leg that is itself elastic along its line with k_leg
adds to the compliance. It pushes the platform with w Γ, w the first three of its row of J (‖w‖ = 1 for
UPS, 1/|a·n| for PUS), so it gives way by ‖w‖ Γ/k_leg along w, which is worth ‖w‖ as much of q:

    1/k = 1/k_actuator + 1/k_drive + ‖w‖²/k_leg     along q

with k_drive and k_leg also those of the robot file's `[legs.drive]` and `[legs.beams]` (E A/l), if it
has them; exact without preload; with it K_g leaves out terms of order f/(k l), a leg's strain.

What legs or mobility hold is taken as rigid: x are then the robot's own coordinates u (and qe), of which
the platform moves as ξ = D u̇, and C = S D K⁻¹ Dᵀ Sᵀ has the rank m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array, given_numbers
from gough.errors import InputError, SingularError
from gough.mechanics.leg import Driven
from gough.mechanics.solves import WORST_CONDITION
from gough.model.batch import OnError, Trouble, last_axis, lay_out, settle
from gough.model.calls import ModelCalls
from gough.model.deflection import static_deflection
from gough.model.model import Model
from gough.model.outputs import origin_shapes
from gough.model.own_directions import own_directions
from gough.model.vibration import stiffness_matrix
from gough.motion import Motion, need_motion

Turning = Literal["free", "locked"]
STILL, GIVES = 1e-9, 1e-12
"""What counts as no turn of a coordinate, and as no compliance, of the largest."""

SOFTEST, STIFFEST = 1e-9, 1e18
"""N/m or N m/rad; what is stiffer is rigid, inf."""
LARGEST = 1e15
"""N or N m: loads beyond that are mistakes."""


@dataclass(frozen=True)
class Stiffness:
    """Stiffness of a robot at rest, of the batch shape (...) of its poses; world axes."""

    matrix: Array
    """K (..., m + N, m + N), by the robot's own coordinates, of the platform frame: N/m, N, N m."""
    actuators: Array
    """Jᵀ diag(k) J, the part of it that comes from actuators and legs."""
    compliance: Array
    """C (..., 6, 6) at the tool: (δ, δθ) = C (f, m); m/N, rad/N, rad/(N m)."""
    stable: Array
    """(...): the pose holds itself: the symmetric part of K is positive."""
    along: Array
    """k (..., actuators), N/m or N m/rad: stiffness of actuator and leg along q."""
    motion: Motion
    """The poses, at rest, with the static deflection of a flexible platform."""
    forces: Array
    """Γ (..., actuators) that hold them; 0 without preload."""
    tool: Array
    """S D (..., 6, m + N): how the tool moves with these coordinates, world axes."""

    @property
    def held(self) -> int:
        """Number of directions in which legs or mobility hold the tool, taken as rigid."""
        sizes = np.linalg.svd(np.nan_to_num(self.tool), compute_uv=False)
        moves = np.sum(sizes > STILL * sizes.max(axis=-1, keepdims=True, initial=0), axis=-1)
        return 6 - int(np.max(moves, initial=0))

    @property
    def at_tool(self) -> Array:
        """(..., 6, 6) stiffness at the tool: the compliance's inverse."""
        if self.held:
            raise InputError(
                f"at_tool: the platform is held in {self.held} directions, in which it does not give "
                "way; ask for compliance, deflection or principal"
            )
        return np.linalg.inv(self.compliance)

    def deflection(self, force: ArrayLike, moment: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """Displacement and rotation (..., 6) of the tool under a force and moment (..., 3) there."""
        load = np.concatenate(
            np.broadcast_arrays(last_axis("force", force, 3), last_axis("moment", moment, 3)),
            axis=-1,
        )
        if not np.all(np.abs(load) <= LARGEST):
            raise InputError(f"force and moment must be finite and at most {LARGEST:g} N, N m")
        return np.asarray((self.compliance @ load[..., np.newaxis])[..., 0])

    def principal(self, turning: Turning = "free") -> tuple[Array, Array]:
        """Principal stiffnesses (..., 3) of the tool, N/m, rising, and their axes as columns.

        "free": a force moves the tool, which may turn as it likes: eigenvalues of the inverse of C's
        3×3 block. "locked": the tool is kept from turning: those of the block of C⁻¹. Of the symmetric
        part, where a load makes the matrix unsymmetric.
        """
        if turning not in ("free", "locked"):
            raise InputError(f"turning is 'free' or 'locked', not {turning!r}")
        if self.held:
            return self._principal_held(turning)
        if turning == "free":
            block = np.linalg.inv(self.compliance[..., :3, :3])
        else:
            block = self.at_tool[..., :3, :3]
        values, axes = np.linalg.eigh((block + np.swapaxes(block, -1, -2)) / 2)
        return values, axes

    def _principal_held(self, turning: Turning) -> tuple[Array, Array]:
        """The same where the tool gives way in some directions alone: infinite in the others.

        Turning locked, of the coordinates those combinations are left that do not turn it.
        """
        block = self.compliance[..., :3, :3]
        if turning == "locked":
            block = np.zeros_like(block)
            for place in np.ndindex(block.shape[:-2]):
                _, turns, right = np.linalg.svd(self.tool[place][3:])
                rank = int(np.sum(turns > STILL * np.linalg.norm(self.tool[place])))
                still = right[rank:].T
                moved = self.tool[place][:3] @ still
                if still.size:
                    inner = still.T @ self.matrix[place] @ still
                    block[place] = moved @ np.linalg.solve(inner, moved.T)
        values, axes = np.linalg.eigh((block + np.swapaxes(block, -1, -2)) / 2)
        values, axes = values[..., ::-1], axes[..., ::-1]
        gives = np.abs(values) > GIVES * np.abs(values).max(axis=-1, keepdims=True)
        return np.where(gives, 1 / np.where(gives, values, 1.0), np.inf), axes


def stiffness(
    robot: Model,
    motion: Motion,
    actuator: ArrayLike = np.inf,
    leg: ArrayLike = np.inf,
    *,
    wrench: ArrayLike | None = None,
    preload: bool = True,
    on_error: OnError = "raise",
) -> Stiffness:
    """Stiffness and compliance at the motion's poses, at rest.

    `actuator` is the stiffness along q, N/m or N m/rad, (), (actuators,) or (..., actuators); `leg` that
    along the leg, N/m, (), (legs,) or (..., legs): one of them may be infinite, or both where the robot
    file has compliant drives or beams, which are in series with them. `wrench` (...,
    6), a dead load at the platform frame's origin, and the
    weight preload the legs; `preload=False` leaves K_g out and needs no masses.
    """
    need_motion(motion)
    robot.need_actuators()
    drives, robot = robot, robot.load_side
    if preload:
        rest = static_deflection(robot, motion, wrench, on_error=on_error)
        forces = robot.inverse_dynamics(rest, wrench, friction=False, on_error=on_error).forces
        geometric = stiffness_matrix(robot, rest, forces, wrench, on_error=on_error)
    else:
        if wrench is not None:
            raise InputError("a wrench without preload has no effect")
        rest = Motion(motion.position, motion.rotation, time=motion.time)
        forces = np.zeros((*rest.shape, robot.actuator_count))
        m = robot.mobility
        geometric = np.zeros((*rest.shape, m + robot.modes, m + robot.modes))
        if robot.description.modal is not None:
            geometric[..., m:, m:] = robot.description.modal.stiffness
    shape, size = geometric.shape[:-2], geometric.shape[-1]
    along = np.broadcast_to(
        along_actuators(drives, rest, actuator, leg, on_error=on_error),
        (*shape, robot.actuator_count),
    )
    own = own_directions(robot, rest)
    jacobian = robot.jacobian(rest, on_error=on_error) @ own
    sprung = np.swapaxes(jacobian, -1, -2) @ (along[..., np.newaxis] * jacobian)
    matrix = sprung + geometric
    tool = np.broadcast_to(tool_map(robot, rest) @ own, (*shape, 6, size))
    S = tool.reshape(-1, 6, size)
    rows = lay_out(Motion(np.broadcast_to(rest.position, (*shape, 3))), {})
    flat, troubles = matrix.reshape(-1, size, size), []
    compliance = np.full((len(flat), 6, 6), np.nan)
    stable = np.zeros(len(flat))
    scale = _scale(robot, flat)
    for row, K in enumerate(flat):
        if not np.isfinite(K).all():
            continue  # a sample that on_error made NaN
        scaled = K * scale[row] * scale[row][:, np.newaxis]
        if not np.linalg.cond(scaled) < WORST_CONDITION:
            reason = "the stiffness matrix is singular: no load can be held here"
            troubles.append(Trouble(row, None, SingularError, reason))
            continue
        inverse = np.linalg.inv(scaled) * scale[row] * scale[row][:, np.newaxis]
        compliance[row] = S[row] @ inverse @ S[row].T
        stable[row] = np.linalg.eigvalsh(scaled + scaled.T)[0] > 0
    found = settle(rows, {"compliance": compliance, "stable": stable}, troubles, on_error)
    sprung = np.broadcast_to(sprung, matrix.shape)
    good = np.asarray(found["stable"] == 1)
    return Stiffness(matrix, sprung, found["compliance"], good, along, rest, forces, tool)


def along_actuators(
    robot: Model,
    motion: Motion,
    actuator: ArrayLike,
    leg: ArrayLike = np.inf,
    *,
    on_error: OnError = "raise",
) -> Array:
    """k (..., actuators) along q of all in series: 1/k = 1/k_actuator + 1/k_drive + ‖w‖²/k_leg."""
    units = robot.units
    softness = 1 / _stiffnesses(
        "actuator", actuator, robot.actuator_count, f"{units.force}/{units.q}", motion.shape
    )
    softness = softness + 1 / robot.drives.stiffness
    links = _stiffnesses("leg", leg, robot.leg_count, "N/m", motion.shape)
    if robot.bends:
        links = 1 / (1 / links + 1 / robot.leg_stiffness)
    if np.any(np.isfinite(links)):
        for group in robot.description.groups:
            own = links[..., group.first : group.first + group.leg_count] if links.ndim else links
            if not isinstance(group.legs, Driven) and np.any(np.isfinite(own)):
                raise InputError(
                    f"stiffness: {group.kind.name} legs have no link along which they are elastic: "
                    "give the stiffness of the actuators"
                )
        w = robot.jacobian(motion, on_error=on_error)[..., :3]
        softness = softness + np.sum(w**2, axis=-1) / links
    if np.any(softness == 0):
        raise InputError("actuator and leg are both infinitely stiff: the robot gives no way")
    return np.asarray(1 / softness)


def held_by(
    robot: Model,
    motion: Motion,
    actuator: ArrayLike,
    leg: ArrayLike = np.inf,
    *,
    on_error: OnError = "raise",
) -> Literal["locked"] | Array:
    """How actuators hold, for `natural_frequencies`, which knows compliant drives and beams itself.

    Locked where nothing but the robot file's drives and legs gives way.
    """
    if np.all(np.isinf(np.asarray(actuator, float))) and np.all(np.isinf(np.asarray(leg, float))):
        return "locked"
    return along_actuators(robot.stiff, motion, actuator, leg, on_error=on_error)


def _stiffnesses(
    name: str, given: ArrayLike, count: int, unit: str, poses: tuple[int, ...]
) -> Array:
    value = given_numbers(name, given)
    try:
        np.broadcast_to(value, (*poses, count))
    except ValueError:
        raise InputError(
            f"{name} has shape {value.shape}, needs one stiffness or one per {name} ({count}), or "
            f"those of each pose {poses}"
        ) from None
    if not np.all((value >= SOFTEST) & ((value <= STIFFEST) | np.isinf(value))):
        raise InputError(f"{name} needs stiffnesses of {SOFTEST:g} to {STIFFEST:g} {unit}")
    return value


def tool_map(robot: ModelCalls, motion: Motion) -> Array:
    """S (..., 6, 6 + N): how the tool moves with the platform's coordinates, world axes."""
    arm = motion.rotation @ robot.tool
    S = np.zeros((*motion.shape, 6, 6 + robot.modes))
    S[..., :, :6] = np.eye(6)
    S[..., :3, 3:6] = np.cross(np.eye(3), arm[..., np.newaxis, :], axis=-1).swapaxes(-1, -2)
    if robot.modes:
        shapes, rotations = origin_shapes(robot)
        S[..., 3:, 6:] = motion.rotation @ rotations
        S[..., :3, 6:] = motion.rotation @ shapes + S[..., :3, 3:6] @ S[..., 3:, 6:]
    return S


def _scale(robot: Model, matrices: Array) -> Array:
    """(n, 6 + N) that make rows and columns of K alike: lengths for angles, own stiffness for modes."""
    scale = np.ones(matrices.shape[:-1])
    m = robot.mobility
    scale[:, :m] = [1 / robot.length_scale if name[0] == "r" else 1.0 for name in robot.coordinates]
    if robot.modes:
        stiff = np.abs(np.diagonal(matrices, axis1=1, axis2=2))
        size = (scale[:, :m] ** 2 * stiff[:, :m]).mean(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            scale[:, m:] = np.where(stiff[:, m:] > 0, np.sqrt(size / stiff[:, m:]), 1.0)
    return scale
