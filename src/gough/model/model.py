"""The model under the tools: model calls, and what follows from them for one robot.

`gough.Robot` extends it by what tools offer. Tools are written against `Model`.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import LARGEST, Array
from gough.engine.run.threads import limited
from gough.errors import InputError
from gough.model import batch, chains, deflection, derivatives, forward, limits, vibration
from gough.model.batch import OnError
from gough.model.described import DescribedModel
from gough.model.drive_forces import drive_forces
from gough.model.elastic_motion import ElasticMotion, elastic_motion
from gough.model.outputs import Output, terminal_motion
from gough.model.own_coordinates import Solver, own_motion
from gough.motion import Motion, need_motion
from gough.results import Actuation


class Model(DescribedModel):
    """A parallel robot and what its models say."""

    @cached_property
    def _solver(self) -> Solver:
        return Solver.of(self)

    def follow_joints(
        self, start: chains.Poses, end: chains.Poses, near: Array, from_home: Array
    ) -> Array:
        """Joint coordinates (rows, K) of chain legs at poses, continued along lines in u."""
        if self._solver.straight:
            return super().follow_joints(start, end, near, from_home)
        return self._solver.follow_poses(start, end, near, from_home)

    def lost_way(self, poses: chains.Poses) -> tuple[chains.LostWay, str]:
        """How far lines from home to poses can be followed, and in what they are straight."""
        if self._solver.straight:
            return super().lost_way(poses)
        u = self._solver.coordinates(poses)[:, self._solver.given]
        return self._solver.lost(u), ", ".join(self.coordinates)

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
            q: (..., actuators) actuated coordinates, m or rad.
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
            found = forward.solve(self, q, start, along=along)
            return self.remember(found.motion(on_error), found.chains)

    def motion(
        self,
        u: ArrayLike,
        ud: ArrayLike | None = None,
        udd: ArrayLike | None = None,
        *,
        time: ArrayLike | None = None,
        guess: Motion | None = None,
        on_error: OnError = "raise",
    ) -> Motion:
        """The motion with given values of the robot's own coordinates; the rest is solved.

        Args:
            u: (..., m) values of `coordinates`: m of the position of the platform's origin and of the
                rotation vector of R R_homeᵀ, world axes, m and rad.
            ud: (..., m) their rates; 0 if left out.
            udd: (..., m) their second derivatives.
            time: (...) s; samples along the last axis are then continued from one to the next.
            guess: where to start; by default the rest is continued from home along a straight line.
            on_error: "raise" or "nan".

        Returns:
            Pose, twist and acceleration of the platform, of batch shape (...).

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> robot.coordinates
            ('x', 'y', 'z', 'rx', 'ry', 'rz')
            >>> robot.motion([0.0, 0.0, 0.6, 0.1, 0.0, 0.0]).position
            array([0. , 0. , 0.6])

        """
        return own_motion(self._solver, u, ud, udd, time, guess, on_error)

    def check(
        self,
        motion: Motion,
        wrench: ArrayLike | None = None,
        *,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> limits.Report:
        """Which limits of the robot file a motion exceeds: leg, limit, when, by how much.

        Timed samples (n,) are compared between samples, too, along the path that their rates come from.

        Args:
            motion: of any batch shape; with time the report says when.
            wrench: (..., 6) on the platform, for the forces.
            on_error: "raise", or "nan": the report lists samples that have no answer as `unanswered`.
            threads: at most so many.

        Returns:
            A report that is true where all limits are kept.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> print(robot.check(robot.home))
            within all limits

        """
        with limited(threads):
            return limits.check(self, motion, wrench, on_error=on_error)

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

    def drive_forces(
        self, motion: Motion, wrench: ArrayLike | None = None, friction: bool = True
    ) -> Actuation:
        """Forces and powers of the actuators along a motion over time, before compliant drives.

        Args:
            motion: (..., n) with time on the last axis, six samples or more.
            wrench: (..., 6) on the platform at its frame's origin, world axes.
            friction: whether the friction of the robot file counts.

        Returns:
            As `inverse_dynamics`, which it is of rigid drives; power is that of the rotors.

        Raises:
            SingularError: Coulomb friction without width jumps along the motion: there is no finite
                force before the spring.

        Example:
            >>> robot = gough.load("kim-ryu-2002").edited(
            ...     {"legs.rotor_mass": 5.0, "legs.drive.stiffness": 1e7}
            ... )
            >>> still = gough.Motion(np.tile(robot.home.position, (9, 1)), time=np.arange(9.0))
            >>> robot.drive_forces(still).forces.shape
            (9, 6)

        """
        return drive_forces(self, motion, wrench, friction)

    def elastic_motion(
        self,
        motion: Motion,
        output: Output = "frame",
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> ElasticMotion:
        """A motion over time with the elastic coordinates that it implies, from static deflection.

        Integrated forward where the zero dynamics are stable; else the bounded solution, which
        anticipates. What comes back says so in `way`, `residual`, `unstable` and `unsettled`.

        Args:
            motion: (..., n) with time on the last axis, and rates that are those of its poses.
            output: what follows it: "frame", the floating frame; "terminal", the material at the
                frame's origin; or "legs", whose q is then that of `inverse_kinematics(motion)`.
            wrench: (..., 6) or (..., n, 6) on the platform at its frame's origin, world axes.
            friction: whether the friction of the robot file counts.
            on_error: "raise", or "nan" for motions without an answer.
            threads: at most so many.

        Returns:
            The motion of the floating frame, with q̈e that `inverse_dynamics` solves for, of the same
            batch shape.

        Example:
            >>> robot = gough.load("long-khalil-martinet-2014")
            >>> raised = gough.Motion(robot.home.position + [[0, 0, 0], [0, 0, 0.01]])
            >>> path = gough.trajectories.RestToRest(raised, 0.5).sample(11)
            >>> print(robot.elastic_motion(path).way)
            forward

        """
        with limited(threads):
            return elastic_motion(self, motion, output, wrench, friction, on_error=on_error)

    def terminal_motion(self, motion: Motion) -> Motion:
        """Motion of the terminal frame: of the material at the platform frame's origin.

        Args:
            motion: of the floating frame, with elastic coordinates.

        Returns:
            Pose p + R Φ₀ qe and R exp((Φ_r qe)×), twist and acceleration, of the same batch shape.

        Example:
            >>> robot = gough.load("long-khalil-martinet-2014")
            >>> rest = robot.static_deflection(robot.home)
            >>> (1e3 * (robot.terminal_motion(rest).position - rest.position)).round(2)
            array([ 0.  ,  0.  , -0.39])

        """
        return terminal_motion(self, motion)

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
        """Natural frequencies at rest; warns where actuators that hold still do not hold the robot.

        Args:
            motion: the poses.
            actuators: of the rotors: "locked", "free", or held by a stiffness (..., actuators) in N/m or
                N m/rad, on which they swing with q, or behind which [legs.drive] gives way.
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
        self,
        motion: Motion,
        output: Output = "frame",
        *,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> vibration.ElasticHealth:
        """Whether actuators can command a flexible platform at these poses; warns where not.

        Args:
            motion: the poses; undeformed where it has no elastic coordinates.
            output: what is commanded, as in `elastic_motion`: "frame", "terminal" or "legs".
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
            return vibration.elastic_health(self, motion, output, on_error=on_error)

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
        need_motion(motion)
        for name, value in (("force", pushed), ("moment", turned)):
            if not np.all(np.abs(value) <= LARGEST):
                raise InputError(f"{name} must be finite and at most {LARGEST:g}")
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
            forces: (..., actuators) actuator forces; by default those that the motion takes.
            wrench: (..., 6) on the platform at its frame's origin, world axes.
            friction: whether the friction of the robot file counts.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            A (..., 2 n, 2 n) and B (..., 2 n, actuators), n = m + N: m is `mobility`, N the modes.

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
            ∂Γ/∂(pose, twist, acceleration, wrench), (..., actuators, 6) each; a turn δθ counts in world
            axes.

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
            forces: (..., actuators) actuator forces, N or N m.
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
