"""Small motions about an equilibrium: forces at rest, modes, frequency responses, transmissibility.

    ẋ = A x + B_Γ δΓ + B_w δw + B_a a,    x = (δp, δθ, δv, δω); flexible (δp, δθ, δq_e, δv, δω, δq̇_e)

of the robot at rest in a pose under holding forces, with legs that may have a stiffness and a damping
(drives that hold their position: δΓ = −K δq − D δq̇). Where the base moves, x is relative to it, in axes
that move with it: `gough.simulation.base_motion`. World axes, SI units.

Of a platform that moves in m < 6 directions x has the m rows of (δp, δθ) and of (δv, δω) that
`robot.coordinates` names, as in `linearize`; `directions` gives the others.

Wrenches act and motions are seen at named points of the platform's material: "origin" (of its frame),
"tool" (fixed to the material at the origin), "tip 1" and so on (where leg 1 holds it), "node 0" and so
on (of a modal body), or at its floating "frame", which of a flexible platform is a mean of the material.
With Φ and Φ_r the shapes at a point r a point moves by

    S = [1  −[R r]×  R Φ  ]
        [0     1     R Φ_r]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import signal

from gough.base.arrays import Array, given_numbers
from gough.errors import InputError, MissingDataError
from gough.model.model import Model
from gough.model.outputs import origin_shapes
from gough.model.own_directions import own_directions
from gough.model.vibration import stiffness_matrix
from gough.motion import Motion
from gough.simulation.base_motion import base_inertia, carried

Input = Literal["forces", "wrench", "base", "base_rotation", "tilt"]
POINTS = "'origin', 'tool', 'tip 1' …, 'node 0' … or 'frame'"


class Eigenmodes(NamedTuple):
    """Vibration modes, slowest first; a real pole counts as one mode."""

    frequency: Array
    """|λ|/2π, Hz."""
    damping: Array
    """Ratio −Re λ/|λ|; negative: unstable."""
    poles: Array
    """λ, 1/s."""
    shapes: Array
    """(6 + N, modes): (δp, δθ, δq_e) of each, the largest entry 1."""


@dataclass(frozen=True, eq=False)
class LinearModel:
    """The robot near an equilibrium; see the module."""

    A: Array
    """(2 m + 2 N, 2 m + 2 N)."""
    inputs: dict[str, Array]
    """B by input: "forces" (…, actuators), "wrench" (…, 6), "base" (…, 3): acceleration of the base,
    "base_rotation" (…, 3): its angular acceleration about the world's origin, "tilt" (…, 3): its angle,
    which turns the weight."""
    forces: Array
    """Γ that holds the pose, (actuators,), N or N m."""
    position: Array
    """Of the platform, (3,), m."""
    directions: Array
    """(6 + N, m + N): (δp, δθ, δq_e) of the first half of x; 1 where the platform moves freely."""
    mass: Array
    """M (m + N, m + N) of the first half of x."""
    robot: Model
    motion: Motion
    """The pose at rest, with the static deflection of a flexible platform."""

    def modes(self) -> Eigenmodes:
        """Natural frequencies, damping ratios and shapes, from the eigenvalues of A."""
        poles, vectors = np.linalg.eig(self.A)
        chosen = np.flatnonzero(poles.imag >= 0)
        order = chosen[np.argsort(np.abs(poles[chosen]), kind="stable")]
        size = np.abs(poles[order])
        shapes = self.directions @ vectors[: len(self.A) // 2, order]
        largest = shapes[np.argmax(np.abs(shapes), axis=0), np.arange(len(order))]
        ratio = -poles[order].real / np.where(size == 0, 1.0, size)
        return Eigenmodes(size / (2 * np.pi), ratio, poles[order], shapes / largest)

    def state_space(
        self,
        input: Input = "wrench",
        output: str = "displacement",
        *,
        input_point: str = "origin",
        output_point: str = "origin",
    ) -> Any:
        """Return SciPy's `StateSpace` from an input to a point's displacement or acceleration (6).

        For the base as input the displacement is relative to the base, the acceleration absolute.
        Points are "origin", "tool", "tip 1", "node 0", "frame"; a wrench acts at `input_point`.
        """
        return signal.StateSpace(*self._matrices(input, output, input_point, output_point))

    def to_control(
        self,
        input: Input = "wrench",
        output: str = "displacement",
        *,
        input_point: str = "origin",
        output_point: str = "origin",
    ) -> Any:
        """Return the same as a `control.StateSpace` of python-control, which must be installed."""
        try:
            import control
        except ImportError:
            raise MissingDataError(
                "to_control needs python-control: pip install 'gough[control]'"
            ) from None
        return control.ss(*self._matrices(input, output, input_point, output_point))

    def frequency_response(
        self,
        frequencies: ArrayLike,
        input: Input = "wrench",
        output: str = "displacement",
        *,
        input_point: str = "origin",
        output_point: str = "origin",
    ) -> Array:
        """Return the complex response (frequencies, 6, inputs): C (jω − A)⁻¹ B + D.

        Args:
            frequencies: (n,), Hz.
            input: "forces", "wrench", "base", "base_rotation" or "tilt".
            output: "displacement" (m, rad) or "acceleration" (m/s², rad/s²) of `output_point`.
            input_point: where a wrench acts: "origin", "tool", "tip 1", "node 0", "frame".
            output_point: whose motion is seen, the same.

        """
        hertz = np.asarray(frequencies, dtype=np.float64)
        if hertz.ndim != 1 or not np.all(np.isfinite(hertz)):
            raise InputError(f"frequencies have shape {hertz.shape}, need (n,), finite, in Hz")
        A, B, C, D = self._matrices(input, output, input_point, output_point)
        s = 2j * np.pi * hertz[:, np.newaxis, np.newaxis]
        return np.asarray(C @ np.linalg.solve(s * np.eye(len(A)) - A, B.astype(complex)) + D)

    def transmissibility(self, frequencies: ArrayLike, *, output_point: str = "origin") -> Array:
        """Platform over base motion, complex (frequencies, 6, 6); at 0 Hz it goes along with the base.

        Rows are the absolute motion of a point of the platform (x, y, z in m, rotations in rad),
        columns the base's translation along x, y, z and its rotation about these axes through the
        world's origin, X how the point would go along with the base, at its place r:

            X + C (jω − A)⁻¹ ((jω)² B_base + B_tilt),    X = [1, −r^; 0, 1]
        """
        squares = (2j * np.pi * np.asarray(frequencies, dtype=np.float64)) ** 2
        shaken, turned, tilted = (
            self.frequency_response(frequencies, name, output_point=output_point)
            for name in ("base", "base_rotation", "tilt")
        )
        square = squares[:, np.newaxis, np.newaxis]
        relative = np.concatenate([square * shaken, square * turned + tilted], axis=2)
        return np.asarray(self._carried(output_point) + relative)

    def _carried(self, point: str) -> Array:
        """X (6, 6): how a point that is fixed to the base moves with it."""
        place = point_of(self.robot, point)[0]
        return carried(self.position + self.motion.rotation @ place)

    def _matrices(
        self, input: str, output: str, input_point: str, output_point: str
    ) -> tuple[Array, Array, Array, Array]:
        if input not in self.inputs:
            raise InputError(f"input is {', '.join(self.inputs)}, not {input!r}")
        half = len(self.A) // 2
        moves = point_map(self.robot, self.motion, output_point) @ self.directions
        B = self.inputs[input]
        if input == "wrench":
            pushed = point_map(self.robot, self.motion, input_point) @ self.directions
            B = np.concatenate([np.zeros((half, 6)), np.linalg.solve(self.mass, pushed.T)])
        if output == "displacement":
            seen = np.concatenate([moves, 0 * moves], axis=1)
            return self.A, B, seen, np.zeros((6, B.shape[1]))
        if output == "acceleration":
            through = moves @ B[half:]
            if input in ("base", "base_rotation"):
                first = 0 if input == "base" else 3
                through += self._carried(output_point)[:, first : first + 3]
            return self.A, B, moves @ self.A[half:], through
        raise InputError(f"output is displacement, acceleration, not {output!r}")


def equilibrium_forces(robot: Model, pose: Motion | None = None, wrench: Any = None) -> Array:
    """Γ (..., actuators) that hold the robot still, without friction; flexible platforms deflected."""
    return robot.inverse_dynamics(_resting(robot, pose), wrench, friction=False).forces


def linear_model(
    robot: Model,
    pose: Motion | None = None,
    *,
    stiffness: ArrayLike = 0.0,
    damping: ArrayLike = 0.0,
    wrench: ArrayLike | None = None,
) -> LinearModel:
    """The robot near rest in a pose (default: home), without Coulomb friction.

    `stiffness` (N/m, N m/rad of rotary actuators) and `damping` (N s/m, N m s/rad) along q: one number,
    or one per actuator; those of drives that hold their position, or of the legs themselves.
    """
    robot.need_rigid_drives("linear_model")
    robot.need_rigid_legs("linear_model")
    still = _resting(robot, pose)
    if still.shape:
        raise InputError(f"linear_model: a pose of batch shape {still.shape}, needs ()")
    count = robot.actuator_count
    gains = []
    for name, value in (("stiffness", stiffness), ("damping", damping)):
        array = given_numbers(f"linear_model: {name}", value)
        if array.shape not in ((), (count,)) or not np.all(array >= 0):
            raise InputError(f"linear_model: {name} must be () or ({count},), not negative")
        gains.append(np.broadcast_to(array, count))
    forces = robot.inverse_dynamics(still, wrench, friction=False).forces
    moves = own_directions(robot, still)
    mass, jacobian = moves.T @ robot.mass_matrix(still) @ moves, robot.jacobian(still) @ moves
    stiff = stiffness_matrix(robot, still, forces, wrench)
    stiff = stiff + jacobian.T @ (gains[0][:, np.newaxis] * jacobian)
    damp = jacobian.T @ (gains[1][:, np.newaxis] * jacobian)
    body = robot.modal
    if body is not None:
        damp[-body.modes :, -body.modes :] += body.damping
    size = len(mass)
    zero, one = np.zeros((size, size)), np.eye(size)
    A = np.block([[zero, one], [-np.linalg.solve(mass, stiff), -np.linalg.solve(mass, damp)]])
    dragged = base_inertia(robot, still)
    gravity = robot.mechanism.gravity[:, 0, 0]
    pushes = {
        "forces": jacobian.T,
        "wrench": moves.T @ _felt(robot, still),
        "base": -dragged[:, :3],
        "base_rotation": -dragged[:, 3:],
        "tilt": dragged[:, :3] @ np.cross(np.eye(3), -gravity).T,  # δg = −θ×g
    }
    inputs = {
        name: np.concatenate([np.zeros_like(push), np.linalg.solve(mass, push)])
        for name, push in pushes.items()
    }
    return LinearModel(A, inputs, forces, still.position, moves, mass, robot, still)


def _felt(robot: Model, still: Motion) -> Array:
    """(6 + N, 6): what a wrench at the origin does on the velocity coordinates; missing shapes are 0."""
    felt = np.eye(6 + robot.modes, 6)
    body = robot.modal
    for k, name in enumerate(("origin_shapes", "origin_rotations")):
        shapes = getattr(body, name, None)
        if shapes is not None:
            felt[6:, 3 * k : 3 * k + 3] = shapes.T @ still.rotation.T
    return felt


def point_of(robot: Model, name: str) -> tuple[Array, Array, Array]:
    """Return place (3,), shapes and rotations (3, N) of a named point; see the module."""
    body, none = robot.modal, np.zeros((3, robot.modes))
    if not isinstance(name, str):
        raise InputError(f"a point is {POINTS}, not {name!r}")
    if name == "frame":
        return np.zeros(3), none, none
    if name in ("origin", "tool"):
        place = robot.tool if name == "tool" else np.zeros(3)
        if not robot.modes:
            return place, none, none
        shapes, turns = origin_shapes(robot)
        return place, shapes + np.cross(turns, place[:, np.newaxis], axis=0), turns
    kind, _, number = name.partition(" ")
    places = {"tip": robot.description.platform_points[..., 0].T}
    first = 1 if kind == "tip" else 0
    if body is not None:
        places["node"] = body.positions
    if kind not in places or not number.isdecimal():
        raise InputError(f"a point is {POINTS}, not {name!r}")
    index, count = int(number) - first, len(places[kind])
    if not 0 <= index < count:
        raise InputError(f"{robot.name}: no {name}; its {kind}s are {first} to {count - 1 + first}")
    if body is None:
        return places[kind][index], none, none
    of_tip = (body.tip_shapes, body.tip_rotations)
    moved, turned = of_tip if kind == "tip" else (body.shapes, body.rotations)
    return places[kind][index], moved[index], none if turned is None else turned[index]


def point_map(robot: Model, motion: Motion, name: str) -> Array:
    """Return S (6, 6 + N): how a named point moves with (δp, δθ, δq_e), world axes."""
    place, shapes, turns = point_of(robot, name)
    R, S = motion.rotation, np.zeros((6, 6 + robot.modes))
    S[:, :6] = carried(R @ place)
    S[:3, 6:], S[3:, 6:] = R @ shapes, R @ turns
    return S


def _resting(robot: Model, pose: Motion | None) -> Motion:
    """The pose at rest, deflected if it is flexible and has no elastic coordinates of its own."""
    still = robot.home if pose is None else pose
    if robot.modes and not still.modes:
        return robot.static_deflection(still)
    return Motion(still.position, still.rotation, elastic=still.elastic)
