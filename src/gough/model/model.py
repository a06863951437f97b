"""The model under the tools: model calls, and what follows from them for one robot.

`gough.Robot` extends it by what tools offer. Tools are written against `Model`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.engine.run.threads import limited
from gough.errors import InputError
from gough.model import batch, deflection, derivatives, forward, limits, vibration
from gough.model.batch import OnError
from gough.model.described import DescribedModel
from gough.motion import Motion


class Model(DescribedModel):
    """A parallel robot and what its models say."""

    def forward_kinematics(
        self,
        q: ArrayLike,
        guess: Motion | None = None,
        *,
        along: int | None = None,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> Motion:
        """The pose with given actuated coordinates, found by Newton from a guess.

        Args:
            q: (..., legs) actuated coordinates, m.
            guess: where to start; home by default. A flexible platform is taken as deflected as it.
            along: a batch axis of q that is time: each sample then starts from the one before.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            Poses at rest, of batch shape (...).

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> q = robot.inverse_kinematics(robot.home).q
            >>> bool(abs(robot.forward_kinematics(q).position - robot.home.position).max() < 1e-12)
            True

        """
        start = self.home if guess is None else guess
        with limited(threads):
            return forward.solve(self, q, start, along=along).motion(on_error)

    def check(
        self, motion: Motion, wrench: ArrayLike | None = None, *, threads: int | None = None
    ) -> limits.Report:
        """Which limits of the robot file a motion exceeds: leg, limit, when, by how much.

        Args:
            motion: of any batch shape; with time the report says when.
            wrench: (..., 6) on the platform, for the forces.
            threads: at most so many.

        Returns:
            A report that is true where all limits are kept.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> print(robot.check(robot.home))
            within all limits

        """
        with limited(threads):
            return limits.check(self, motion, wrench)

    def static_deflection(
        self,
        motion: Motion,
        wrench: ArrayLike | None = None,
        *,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> Motion:
        """The motion's poses at rest, with the deflection that weight and wrench cause.

        Args:
            motion: the poses.
            wrench: (..., 6) on the platform at its frame's origin, world axes.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            The poses with elastic coordinates (..., N).

        Example:
            >>> robot = gough.load("long-khalil-martinet-2014")
            >>> robot.static_deflection(robot.home).elastic.shape
            (10,)

        """
        with limited(threads):
            return deflection.static_deflection(self, motion, wrench, on_error=on_error)

    def deformation(self, motion: Motion, at: deflection.Where = "tips") -> deflection.Deformation:
        """Places and velocities of points of a flexible platform.

        Args:
            motion: pose and elastic coordinates.
            at: "origin", "tips" or "nodes".

        Returns:
            Positions, velocities and rotations of the points, (..., points, 3), world axes.

        Example:
            >>> robot = gough.load("long-khalil-martinet-2014")
            >>> robot.deformation(robot.static_deflection(robot.home)).position.shape
            (6, 3)

        """
        return deflection.deformation(self, motion, at)

    def natural_frequencies(
        self,
        motion: Motion,
        actuators: vibration.Actuators | ArrayLike = "locked",
        wrench: ArrayLike | None = None,
        *,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> vibration.Vibration:
        """Natural frequencies at rest.

        Args:
            motion: the poses.
            actuators: "locked", "free", or a stiffness (..., legs) in N/m.
            wrench: (..., 6) on the platform at its frame's origin, world axes.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            Frequencies in Hz, rising, with their shapes.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> robot.natural_frequencies(robot.home, 1e7).frequencies.shape
            (6,)

        """
        with limited(threads):
            return vibration.natural_frequencies(self, motion, actuators, wrench, on_error=on_error)

    def elastic_health(
        self, motion: Motion, *, on_error: OnError = "raise", threads: int | None = None
    ) -> vibration.ElasticHealth:
        """Whether actuators can command a flexible platform at these poses; warns where not.

        Args:
            motion: the poses.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            Condition of T = J_sys⁻ᵀ, and mass and poles of the zero dynamics.

        Example:
            >>> robot = gough.load("long-khalil-martinet-2014")
            >>> robot.elastic_health(robot.home).poles.shape
            (20,)

        """
        with limited(threads):
            return vibration.elastic_health(self, motion, on_error=on_error)

    def tool_wrench(
        self, motion: Motion, force: ArrayLike, moment: ArrayLike = (0.0, 0.0, 0.0)
    ) -> Array:
        """The wrench of a force and moment at the tool point, for `wrench=` of the dynamic models.

        Args:
            motion: the poses.
            force: (..., 3) N, world axes.
            moment: (..., 3) N m, world axes.

        Returns:
            (f, R t × f + m), (..., 6), at the platform frame's origin.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> robot.tool_wrench(robot.home, [0, 0, -100]).shape
            (6,)

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
        threads: int | None = None,
    ) -> derivatives.Linearization:
        """A and B of ẋ = A x + B δΓ near a motion; see `gough.model.derivatives.linearize`.

        Args:
            motion: pose and twist.
            forces: (..., legs) actuator forces; by default those that the motion takes.
            wrench: (..., 6) on the platform at its frame's origin, world axes.
            friction: whether the friction of the robot file counts.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            A (..., 2 n, 2 n) and B (..., 2 n, legs) with n = 6 + N.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> robot.linearize(robot.home, friction=False).A.shape
            (12, 12)

        """
        with limited(threads):
            return derivatives.linearize(self, motion, forces, wrench, friction, on_error=on_error)

    def inverse_dynamics_derivatives(
        self,
        motion: Motion,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> derivatives.InverseDerivatives:
        """Derivatives of the actuator forces by pose, twist, acceleration and wrench.

        Args:
            motion: pose, twist and acceleration.
            wrench: (..., 6) on the platform at its frame's origin, world axes.
            friction: whether the friction of the robot file counts.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            ∂Γ/∂(pose, twist, acceleration, wrench), (..., legs, 6) each; a turn δθ counts in world axes.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> robot.inverse_dynamics_derivatives(robot.home, friction=False).pose.shape
            (6, 6)

        """
        with limited(threads):
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
        threads: int | None = None,
    ) -> derivatives.DirectDerivatives:
        """Derivatives of the platform's acceleration by pose, twist, forces and wrench.

        Args:
            motion: pose and twist.
            forces: (..., legs) actuator forces, N.
            wrench: (..., 6) on the platform at its frame's origin, world axes.
            friction: whether the friction of the robot file counts.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            ∂(v̇, ω̇)/∂(pose, twist, forces, wrench), (..., 6, 6 or legs) each.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> held = robot.inverse_dynamics(robot.home).forces
            >>> robot.direct_dynamics_derivatives(robot.home, held, friction=False).forces.shape
            (6, 6)

        """
        with limited(threads):
            return derivatives.direct_dynamics_derivatives(
                self, motion, forces, wrench, friction, on_error=on_error
            )
