"""Robot: read from a file, and all that can be asked of it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.base.files import replacing
from gough.description import files
from gough.description.catalogue import catalogue
from gough.description.modal.integrals import flexible_part
from gough.description.numbers import Description, describe, length_scale
from gough.description.schema import RobotFile
from gough.engine.run.execute import Executor, Function, at_most, executor, with_friction
from gough.errors import ConvergenceError, ImpossibleBodyWarning, InputError, MissingDataError
from gough.legs.pus import equations as pus
from gough.legs.ups import equations as ups
from gough.mechanics import programs
from gough.mechanics.equation import ELASTIC_FIELDS, Mechanism
from gough.mechanics.friction import WORST_RESIDUAL
from gough.model import batch, deflection, derivatives, forward, vibration
from gough.model.batch import OnError
from gough.model.contributions import Contributions
from gough.model.diagnosis import diagnose
from gough.model.limits import Report, check
from gough.motion import Motion
from gough.parameters import generalised, regressor
from gough.results import Acceleration, Actuation, Condensed, Energy, LegMotion, Platform, Reactions

if TYPE_CHECKING:
    from gough.variants import Variants

NO_WRENCH = np.zeros(6)
NO_ACCELERATION = np.zeros((1, 3))
NO_INPUTS: dict[str, tuple[ArrayLike, tuple[int, ...]]] = {}
NO_FRICTION = (
    "friction finds no loads that agree with it: residual {:.2g}, " + f"limit {WORST_RESIDUAL:g}"
)
LEG_KINDS: dict[str, ModuleType] = {"UPS": ups, "PUS": pus}


@dataclass(frozen=True, eq=False)
class Robot:
    """A parallel robot. Made by `gough.load` or `Robot.from_dict`; never changes."""

    file: RobotFile
    text: str = field(repr=False)
    """The robot file's text, comments and all."""
    description: Description = field(repr=False)
    folder: Path = field(default=Path(), repr=False)
    """Where paths in the robot file start."""

    @classmethod
    def from_text(
        cls, text: str, name: str = "robot", folder: str | os.PathLike[str] | None = None
    ) -> Self:
        """A robot from the text of a robot file; paths in it start at `folder` (the current one)."""
        file, start = files.parse(text, name), Path.cwd() if folder is None else Path(folder)
        return cls(file, text, describe(file, name, start), start)

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], folder: str | os.PathLike[str] | None = None
    ) -> Self:
        """A robot from a dictionary with the keys of a robot file."""
        name = str(data.get("name", "robot"))
        file, start = files.validate(data, name), Path.cwd() if folder is None else Path(folder)
        return cls(file, files.to_text(data), describe(file, name, start), start)

    def edited(self, changes: Mapping[str, Any]) -> Self:
        """A robot with values at dotted keys changed: `robot.edited({"platform.mass": 12.0})`."""
        return self.from_text(files.edit(self.text, changes), self.name, self.folder)

    def variants(self, changes: Mapping[str, ArrayLike]) -> Variants:
        """Many robots that differ from this one in the numbers given; see `gough.Variants.of`."""
        from gough.variants import Variants

        return Variants.of(self, changes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the robot file, its comments included; paths in it are made to fit the new place."""
        text = files.moved(self.text, self.file, self.folder, Path(path).parent)
        with replacing(path) as temporary:
            Path(temporary).write_text(text, "utf-8")

    @property
    def name(self) -> str:
        """The robot's name."""
        return self.file.name

    @property
    def kind(self) -> str:
        """Leg architecture, "UPS" or "PUS"."""
        return self.file.legs.kind

    @property
    def leg_count(self) -> int:
        """Number of legs."""
        return int(self.description.platform_points.shape[1])

    @property
    def modes(self) -> int:
        """Number of modes of the platform; 0 if it is rigid."""
        return 0 if self.description.modal is None else self.description.modal.modes

    @cached_property
    def platform(self) -> Platform:
        """Mass, inertia and modal properties of the platform, payload included."""
        body = self.mechanism.platform
        mass, moment = float(body.mass[0, 0]), body.first_moment[:, 0, 0]
        modal, none = self.description.modal, np.zeros(0)
        return Platform(
            mass,
            moment / mass if mass else np.zeros(3),
            body.inertia[:, :, 0, 0],
            np.zeros((0, 0)) if modal is None else modal.modal_mass,
            none if modal is None else _diagonal(modal.stiffness),
            none if modal is None else _diagonal(modal.damping),
        )

    @cached_property
    def rigid(self) -> Self:
        """The same robot with a platform that does not bend: its file has the undeformed inertia."""
        if self.description.modal is None:
            return self
        body = self.platform
        center = body.center_of_mass
        steiner = body.mass * (center @ center * np.eye(3) - np.outer(center, center))
        table = {
            "mass": body.mass,
            "center_of_mass": center.tolist(),
            "inertia": (body.inertia - steiner).tolist(),
        }
        with warnings.catch_warnings(action="ignore", category=ImpossibleBodyWarning):
            return self.edited({"platform": table})

    @property
    def home(self) -> Motion:
        """The home pose, at rest."""
        if self.description.home is None:
            raise MissingDataError(f"{self.name} has no home pose")
        return self.description.home

    @cached_property
    def length_scale(self) -> float:
        """Characteristic length for condition numbers: rms distance of the P_i from their mean, m."""
        return float(length_scale(self.description.platform_points)[0])

    @cached_property
    def mechanism(self) -> Mechanism:
        """The robot as the equations see it."""
        parts = self.description
        return Mechanism(
            LEG_KINDS[self.kind],
            parts.legs,
            parts.platform_points,
            parts.platform,
            parts.gravity.reshape(3, 1, 1),
            parts.friction,
            self.length_scale,
            flexible_part(parts.modal) if parts.modal is not None and self.modes else None,
        )

    @cached_property
    def executor(self) -> Executor:
        """Runs the robot's programs: compiled, or NumPy where LLVM is missing."""
        return executor(self.mechanism)

    @cached_property
    def _rubs(self) -> bool:
        """The robot file gives friction."""
        return not self.mechanism.friction.none

    def inverse_kinematics(
        self, motion: Motion, on_error: OnError = "raise", *, threads: int | None = None
    ) -> LegMotion:
        """What each leg does while the platform moves: coordinates, rates, accelerations."""
        return LegMotion(
            **self._run(programs.inverse_kinematics, motion, on_error, threads=threads)
        )

    def jacobian(
        self, motion: Motion, on_error: OnError = "raise", *, threads: int | None = None
    ) -> Array:
        """(..., legs, 6): q̇ = J (v, ω), world axes; flexible (..., legs, 6 + N): q̇ = J (v, ω, q̇e)."""
        out = self._run(programs.jacobian, motion, on_error, threads=threads)
        return (
            np.concatenate([out["jacobian"], out["elastic"]], -1) if self.modes else out["jacobian"]
        )

    def condition_number(self, motion: Motion, on_error: OnError = "raise") -> Array:
        """Condition number (...) of the Jacobian, its angular columns divided by `length_scale`."""
        scale = np.array([1.0] * 3 + [self.length_scale] * 3)
        return forward.condition(self.jacobian(motion, on_error)[..., :6] / scale)

    def forward_kinematics(
        self,
        q: ArrayLike,
        guess: Motion | None = None,
        *,
        along: int | None = None,
        on_error: OnError = "raise",
    ) -> Motion:
        """The pose with actuated coordinates q (..., legs), found by Newton from a guess (or home).

        A flexible platform is taken as deflected as the guess says.

        `along` names a batch axis of q that is time: each sample then starts from the one before.
        """
        start = self.home if guess is None else guess
        return forward.solve(self, q, start, along=along).motion(on_error)

    def assembly_modes(
        self,
        q: ArrayLike,
        *,
        method: Literal["complete", "quick"] = "complete",
        on_error: OnError = "raise",
    ) -> Motion:
        """Every real posture with actuated coordinates q (legs,): a motion at rest of shape (k,).

        "complete" follows all 40 complex solutions and misses none that is isolated; "quick" is a
        random search. None at all is shape (0,); where the postures are a continuum a `SingularError`,
        or one NaN. `gough.analysis.postures.postures` also says how sure the answer is.
        """
        from gough.analysis.postures import assembly_modes

        return assembly_modes(self, q, method=method, on_error=on_error)

    def check(self, motion: Motion, wrench: ArrayLike | None = None) -> Report:
        """Which limits of the robot file the motion exceeds: leg, limit, when, by how much."""
        return check(self, motion, wrench)

    def inverse_dynamics(
        self,
        motion: Motion,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        preload: ArrayLike | None = None,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> Actuation:
        """Actuator forces and powers that this motion takes.

        `wrench` (..., 6) is force and moment on the platform at its frame's origin, world axes.
        With more than six legs the forces of least norm; `preload` (..., legs) adds what of it is
        internal (balances itself).
        """
        out = self._run(
            programs.inverse_dynamics,
            motion,
            on_error,
            self._inputs(wrench, preload),
            friction,
            threads=threads,
        )
        return Actuation(**_with_modes("elastic_acceleration", out))

    def reactions(
        self,
        motion: Motion,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        preload: ArrayLike | None = None,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> Reactions:
        """Forces and moments in the joints, (..., legs, 3), world axes."""
        inputs = self._inputs(wrench, preload)
        found = self._run(programs.reactions, motion, on_error, inputs, friction, threads=threads)
        return Reactions(**found)

    def direct_dynamics(
        self,
        motion: Motion,
        forces: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> Acceleration:
        """Acceleration of the platform under actuator forces (..., legs).

        The motion's own accelerations are ignored.
        """
        inputs = self._inputs(wrench, None) | {"forces": (forces, (self.leg_count,))}
        out = self._run(
            programs.direct_dynamics,
            motion,
            on_error,
            inputs,
            friction,
            coasting=True,
            threads=threads,
        )
        return Acceleration(**_with_modes("elastic", out))

    def mass_matrix(
        self, motion: Motion, on_error: OnError = "raise", *, threads: int | None = None
    ) -> Array:
        """M (..., 6 + N, 6 + N) of the whole robot: M ξ̇ + b = Jᵀ Γ + wrench, without friction."""
        self._need_masses()
        program = programs.flexible_mass_matrix if self.modes else programs.mass_matrix
        return self._run(program, motion, on_error, threads=threads)["mass_matrix"]

    def bias(
        self, motion: Motion, on_error: OnError = "raise", *, threads: int | None = None
    ) -> Array:
        """b (..., 6 + N) of the whole robot: Coriolis, centrifugal and gravity terms.

        Of a flexible platform also K qe + D q̇e; the wrench is then (f, m, φ).
        """
        self._need_masses()
        out = self._run(programs.bias, motion, on_error, threads=threads)
        return np.concatenate([out["bias"], out["elastic"]], -1) if self.modes else out["bias"]

    def condensed(self, motion: Motion, on_error: OnError = "raise") -> Condensed:
        """A, c, T of A (v̇, ω̇) + c = T Γ + wrench with the elastic accelerations eliminated.

        Long, Khalil & Martinet 2014, Eqs. 46–49, world axes, without friction; T = J_sys⁻ᵀ. A wrench
        (f, m) with modal force φ enters as (f, m) − M_re M_ee⁻¹ φ, blocks of `mass_matrix`.
        """
        self._need_masses()
        if self.modes:
            return Condensed(**self._run(programs.condensed, motion, on_error))
        return Condensed(
            self.mass_matrix(motion, on_error),
            self.bias(motion, on_error),
            np.swapaxes(self.jacobian(motion, on_error), -1, -2),
        )

    def static_deflection(
        self, motion: Motion, wrench: ArrayLike | None = None, *, on_error: OnError = "raise"
    ) -> Motion:
        """The motion's poses at rest, with the deflection that weight and wrench (..., 6) cause."""
        return deflection.static_deflection(self, motion, wrench, on_error=on_error)

    def deformation(self, motion: Motion, at: deflection.Where = "tips") -> deflection.Deformation:
        """Places and velocities of points of a flexible platform: "origin", "tips" or "nodes"."""
        return deflection.deformation(self, motion, at)

    def natural_frequencies(
        self,
        motion: Motion,
        actuators: vibration.Actuators | ArrayLike = "locked",
        wrench: ArrayLike | None = None,
        *,
        on_error: OnError = "raise",
    ) -> vibration.Vibration:
        """Natural frequencies at rest: actuators "locked", "free" or of a stiffness, N/m."""
        return vibration.natural_frequencies(self, motion, actuators, wrench, on_error=on_error)

    def elastic_health(
        self, motion: Motion, on_error: OnError = "raise"
    ) -> vibration.ElasticHealth:
        """Whether actuators can command a flexible platform at these poses; warns where not."""
        return vibration.elastic_health(self, motion, on_error=on_error)

    def energy(self, motion: Motion, on_error: OnError = "raise") -> Energy:
        """Kinetic and potential energy (...) of the whole robot, J, heights from the world's origin."""
        self._need_masses()
        return Energy(**self._run(programs.energy, motion, on_error))

    def contributions(
        self,
        motion: Motion,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        preload: ArrayLike | None = None,
        on_error: OnError = "raise",
    ) -> Contributions:
        """The actuator forces split by cause; the parts add up to `inverse_dynamics`' forces."""
        self.need_rigid("contributions")
        inputs = self._inputs(wrench, preload)
        parts = self._run(programs.contributions, motion, on_error, inputs)
        rubbing = self.inverse_dynamics(
            motion, wrench, friction, preload=preload, on_error=on_error
        )
        smooth = self.inverse_dynamics(motion, wrench, False, preload=preload, on_error=on_error)
        found = Contributions(friction=rubbing.forces - smooth.forces, **parts)
        for part in fields(found):
            getattr(found, part.name)[np.isnan(rubbing.forces)] = np.nan
        return found

    def tool_wrench(
        self, motion: Motion, force: ArrayLike, moment: ArrayLike = (0.0, 0.0, 0.0)
    ) -> Array:
        """The wrench (..., 6) of a force and moment (..., 3) at the tool point, world axes.

        (f, R t × f + m), for `wrench=` of the dynamic models.
        """
        pushed = batch.last_axis("force", force, 3)
        turned = batch.last_axis("moment", moment, 3)
        arm = motion.rotation @ self.description.tool
        try:
            arm, pushed, turned = np.broadcast_arrays(arm, pushed, turned)
        except ValueError:
            shapes = f"motion {motion.shape}, force {pushed.shape[:-1]}, moment {turned.shape[:-1]}"
            raise InputError(f"the batch axes do not fit: {shapes}") from None
        return np.concatenate([pushed, np.cross(arm, pushed) + turned], axis=-1)

    def linearize(
        self,
        motion: Motion,
        forces: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        on_error: OnError = "raise",
    ) -> derivatives.Linearization:
        """A and B of ẋ = A x + B δΓ near a motion; see `gough.model.derivatives.linearize`."""
        return derivatives.linearize(self, motion, forces, wrench, friction, on_error=on_error)

    def inverse_dynamics_derivatives(
        self,
        motion: Motion,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        on_error: OnError = "raise",
    ) -> derivatives.InverseDerivatives:
        """∂Γ/∂(pose, twist, acceleration, wrench), (..., legs, 6) each."""
        return derivatives.inverse_dynamics_derivatives(
            self, motion, wrench, friction, on_error=on_error
        )

    def direct_dynamics_derivatives(
        self,
        motion: Motion,
        forces: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        on_error: OnError = "raise",
    ) -> derivatives.DirectDerivatives:
        """∂(v̇, ω̇)/∂(pose, twist, forces, wrench)."""
        return derivatives.direct_dynamics_derivatives(
            self, motion, forces, wrench, friction, on_error=on_error
        )

    def regressor(
        self, motion: Motion, friction: bool = False, *, on_error: OnError = "raise"
    ) -> Array:
        """W (..., legs, parameters): Γ = W X, X = `standard_parameters(robot, friction)`.

        See `gough.parameters.regressor`.
        """
        return regressor.regressor(self, motion, friction, on_error=on_error)

    def generalised_regressor(
        self, motion: Motion, friction: bool = False, *, on_error: OnError = "raise"
    ) -> generalised.GeneralisedRegressor:
        """Y (..., 6 + N, parameters) and y0 (..., 6 + N): Jᵀ Γ + (f, m, φ) = Y X + y0.

        For rigid (y0 = 0) and flexible platforms, stiffness and damping of whose modes are parameters
        too; the motion's elastic accelerations count. See `gough.parameters.generalised`.
        """
        return generalised.generalised_regressor(self, motion, friction, on_error=on_error)

    def to_casadi(self, name: str, *, loads: bool = False) -> Any:
        """A program ("inverse_dynamics", …) as a `casadi.Function`; see `export.to_casadi`."""
        from gough.exchange.export import to_casadi

        return to_casadi(self, name, loads=loads)

    def export_c(
        self,
        folder: str | os.PathLike[str],
        *,
        programs: Sequence[str] | None = None,
        real: str = "double",
    ) -> Path:
        """Write the robot's programs as portable C99; see `gough.exchange.export.export_c`."""
        from gough.exchange.export import export_c

        return export_c(self, folder, programs=programs, real=real)

    def _run(
        self,
        function: Function,
        motion: Motion,
        on_error: OnError,
        inputs: Mapping[str, tuple[ArrayLike, tuple[int, ...]]] | None = None,
        friction: bool | None = None,
        coasting: bool = False,
        threads: int | None = None,
    ) -> dict[str, Array]:
        """A program's outputs for a motion, in its batch shape.

        `friction` None: the program knows none. Else the outputs come with the `residual` of the
        friction loop, which runs if the robot has friction and it is asked for. `coasting`: the
        motion's own accelerations do not count. `threads` caps the threads of this call.
        """
        if threads is not None:
            with at_most(threads):
                return self._run(function, motion, on_error, inputs, friction, coasting)
        if self.modes or getattr(motion, "modes", 0):
            inputs = {**self.elastic_inputs(motion), **(inputs or NO_INPUTS)}
        rows = batch.lay_out(motion, inputs or NO_INPUTS)
        if coasting:
            rows.fields["acceleration"] = rows.fields["angular_acceleration"] = NO_ACCELERATION
        if self.modes and function is not programs.inverse_kinematics:
            rows.fields["elastic_acceleration"] = np.zeros((1, self.modes))
        residual = None
        if friction and self._rubs:
            out, residual = with_friction(
                self.executor, function, rows.rows, rows.fields, self.mechanism.friction
            )
        else:
            out = self.executor(function, rows.rows, rows.fields)
        margin = out.pop("margin")
        troubles: list[batch.Trouble] = []
        lowest = margin[0] if rows.rows == 1 else margin.min(initial=np.inf)
        if not lowest > 0:  # NaN is not
            troubles = batch.not_finite(rows)
            suspects = np.flatnonzero(~(margin > 0))
            troubles += diagnose(self, function, rows, suspects, {one.row for one in troubles})
        if residual is not None:
            known = {one.row for one in troubles}
            troubles += [
                batch.Trouble(int(i), None, ConvergenceError, NO_FRICTION.format(residual[i]))
                for i in np.flatnonzero(~(residual <= WORST_RESIDUAL))
                if int(i) not in known
            ]
        if friction is not None:
            out["residual"] = np.zeros(rows.rows) if residual is None else residual
        return batch.settle(rows, out, troubles, on_error)

    def _inputs(
        self, wrench: ArrayLike | None, preload: ArrayLike | None
    ) -> dict[str, tuple[ArrayLike, tuple[int, ...]]]:
        """Check that forces can be asked for at all, and name the programs' further inputs."""
        self._need_masses()
        if self.leg_count < 6:
            raise InputError(
                f"{self.name} has {self.leg_count} legs; forces on a platform that moves in six "
                "directions need six or more"
            )
        inputs: dict[str, tuple[ArrayLike, tuple[int, ...]]] = {
            "wrench": (NO_WRENCH if wrench is None else wrench, (6,))
        }
        if preload is not None:
            inputs["preload"] = (preload, (self.leg_count,))
        return inputs

    def elastic_inputs(self, motion: Motion) -> dict[str, tuple[ArrayLike, tuple[int, ...]]]:
        """The motion's elastic coordinates, 0 where it has none."""
        if not isinstance(motion, Motion):
            raise InputError(f"needs a gough.Motion, has {type(motion).__name__}")
        if motion.modes not in (0, self.modes):
            has = f"has {self.modes} modes" if self.modes else "is rigid"
            raise InputError(f"motion has {motion.modes} elastic coordinates, the platform {has}")
        still = np.zeros(self.modes)
        return {
            name: (getattr(motion, name) if motion.modes else still, (self.modes,))
            for name in ELASTIC_FIELDS
        }

    def need_rigid(self, task: str) -> None:
        """Refuse what is there for rigid platforms only."""
        if self.modes:
            raise InputError(
                f"{self.name} has a flexible platform: {task} knows rigid ones only; "
                "`robot.rigid` is the same robot with a rigid one"
            )

    def _need_masses(self) -> None:
        if self.description.missing:
            lacking = ", ".join(f"[{name}]" for name in self.description.missing)
            raise MissingDataError(
                f"{self.name}: dynamics needs the masses of {lacking} "
                "(an empty table stands for a body without mass)"
            )


def _with_modes(name: str, out: dict[str, Array]) -> dict[str, Array]:
    """A program's outputs with the elastic ones of a rigid platform: none."""
    if name not in out:
        out[name] = np.zeros((*out["residual"].shape, 0))
    return out


def _diagonal(matrix: Array) -> Array:
    """The diagonal (N,) of a matrix that has nothing else."""
    diagonal = np.diagonal(matrix)
    return diagonal if np.array_equal(matrix, np.diag(diagonal)) else matrix


def load(name: str | os.PathLike[str]) -> Robot:
    """A robot from a catalogue name or from a robot file."""
    text, shown = files.read_text(name)
    catalogued = isinstance(name, str) and name in catalogue()
    return Robot.from_text(text, shown, None if catalogued else Path(name).absolute().parent)
