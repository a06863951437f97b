"""Model calls: what can be asked of one robot and of many at once, in the same words.

`gough.Robot` and `gough.Variants` inherit these. Batch axes lead; world axes, SI units; Γ > 0 pushes
towards larger q. `on_error` is "raise" (an error from `gough.errors` names the sample, the leg and the
limit) or "nan" (such samples are NaN); `threads` caps the threads of a call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array, condition, continuous
from gough.mechanics import programs
from gough.mechanics.contributions import contributions
from gough.mechanics.groups import parted
from gough.model.asking import Askable
from gough.model.batch import OnError, yes_or_no
from gough.model.contributions import Contributions
from gough.model.single import Precision
from gough.motion import Motion
from gough.results import Acceleration, Actuation, Condensed, Energy, LegMotion, Reactions

SURE = 1 - 1e-9
"""Certainty of a leg's reactions from which they are unique; see `gough.mechanics.held`."""


class ModelCalls(Askable):
    """One robot, or many of one shape, asked with motions."""

    def inverse_kinematics(
        self, motion: Motion, *, on_error: OnError = "raise", threads: int | None = None
    ) -> LegMotion:
        """What each leg does while the platform moves.

        Args:
            motion: where the platform is and how it moves, of any batch shape (...).
            on_error: "raise", or "nan" for samples without an answer.
            threads: at most so many.

        Returns:
            Actuated coordinates q, rates and accelerations (..., actuators) in m, m/s, m/s², or in
            rad, rad/s, rad/s² of rotary drives; joint coordinates, directions and rotations of the links
            (..., legs, 3), world axes. Angles of RUS legs are in (−π, π]; along the last axis of a
            motion that has time they do not jump. Those of chains are not wrapped: they are those of
            the straight line from home, or of the samples before along time.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> robot.inverse_kinematics(robot.home).q.shape
            (6,)

        """
        found = LegMotion(
            **self.run(programs.inverse_kinematics, motion, on_error, threads=threads)
        )
        if motion.time is None or not motion.shape:
            return found.about(self, motion)
        wrapped = [
            not one.coordinates for one in parted(self.mechanism.legs) for _ in range(one.count)
        ]
        rotary = [
            i for i, one in enumerate(self.actuators) if one.units.q == "rad" and wrapped[one.leg]
        ]
        if not rotary:
            return found.about(self, motion)
        q, joints = found.q.copy(), found.joints.copy()
        legs = sorted({self.actuators[i].leg for i in rotary})
        q[..., rotary] = continuous(q[..., rotary], -2)
        joints[..., legs, :] = continuous(joints[..., legs, :], -3)
        return replace(found, q=q, joints=joints).about(self, motion)

    def jacobian(
        self, motion: Motion, *, on_error: OnError = "raise", threads: int | None = None
    ) -> Array:
        """J of q̇ = J ξ.

        Args:
            motion: the poses (and, of a flexible platform, the elastic coordinates) that count.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            (..., actuators, 6 + N): by (v, ω) in world axes, and by the elastic velocities of N modes.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> robot.jacobian(robot.home).shape
            (6, 6)

        """
        out = self.run(programs.jacobian, motion, on_error, threads=threads)
        return _joined(out, "jacobian")

    def condition_number(
        self, motion: Motion, *, on_error: OnError = "raise", threads: int | None = None
    ) -> Array:
        """Condition number of the Jacobian on the directions in which the platform can move.

        Its angular columns are divided by `length_scale`.

        Args:
            motion: the poses that count.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            (...): 1 is best, infinity singular.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> float(robot.condition_number(robot.home)) > 1
            True

        """
        rows = self.run(programs.scaled_jacobian, motion, on_error, threads=threads)
        return condition(rows["jacobian"])

    def inverse_dynamics(
        self,
        motion: Motion,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        preload: ArrayLike | None = None,
        on_error: OnError = "raise",
        threads: int | None = None,
        precision: Precision = "double",
    ) -> Actuation:
        """Actuator forces and powers that this motion takes.

        Args:
            motion: pose, twist and acceleration of the platform; its elastic accelerations are
                solved for.
            wrench: (..., 6) force and moment on the platform at its frame's origin, world axes.
            friction: whether the friction of the robot file counts.
            preload: (..., actuators) forces of which the part that balances itself is added; there
                is one with more actuators than directions, whose forces are else of least norm.
            on_error: "raise" or "nan".
            threads: at most so many.
            precision: "single" computes with floats, for large sweeps of a rigid robot with six freedoms
                and legs in closed form, without friction; samples where floats cannot be trusted are
                computed with doubles, and `error` says how far off a sample of the others is.

        Returns:
            Forces in N or N m and powers Γ q̇ in W, (..., actuators); elastic accelerations (..., N).

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> robot.inverse_dynamics(robot.home).forces.round(1)
            array([-45.4, -45.5, -45.5, -45.5, -45.5, -45.4])

        """
        given = self.forced(wrench, preload)
        self.need_rigid_drives("inverse_dynamics of a moving robot", motion)
        out = self.run(
            programs.inverse_dynamics,
            motion,
            on_error,
            given,
            yes_or_no("friction", friction),
            False,
            threads,
            precision,
        )
        error = float(out.pop("error", 0.0))
        return Actuation(**_with_modes("elastic_acceleration", out)).about(self, motion, error)

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
        """Forces and moments in the joints along a motion.

        Args:
            motion: pose, twist and acceleration of the platform.
            wrench: (..., 6) on the platform at its frame's origin, world axes.
            friction: whether the friction of the robot file counts.
            preload: (..., actuators) as in `inverse_dynamics`.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            (..., legs, 3) each, world axes, N and N m; NaN where a leg has no such joint.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> robot.reactions(robot.home).spherical.shape
            (6, 3)

        """
        given = self.forced(wrench, preload)
        out = self.run(
            programs.reactions,
            motion,
            on_error,
            given,
            yes_or_no("friction", friction),
            False,
            threads,
        )
        unique = out.pop("certainty") > SURE
        none = np.broadcast_to(np.nan, out["spherical"].shape)  # read only, and no memory
        joints = np.zeros((*none.shape[:-1], 0, 3))
        absent = {
            item.name: joints if item.name.startswith("joint_") else none
            for item in fields(Reactions)
            if item.name not in (*out, "unique")
        }
        return Reactions(unique=unique, **out, **absent).about(self, motion)

    def direct_dynamics(
        self,
        motion: Motion,
        forces: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        on_error: OnError = "raise",
        threads: int | None = None,
        precision: Precision = "double",
    ) -> Acceleration:
        """Acceleration of the platform under actuator forces.

        Coulomb friction without a `width` is none where a rate is exactly 0, as in inverse dynamics: a
        robot that stands still is accelerated by all that exceeds its holding forces, also where its
        friction would hold it. `may_stick` of the result says of which actuators that is so. With a
        `width` in the robot file friction at rest is none, too, and grows with the rate.

        Args:
            motion: pose and twist of the platform; its accelerations are ignored.
            forces: (..., actuators) actuator forces, N.
            wrench: (..., 6) on the platform at its frame's origin, world axes.
            friction: whether the friction of the robot file counts.
            on_error: "raise" or "nan".
            threads: at most so many.
            precision: "single" computes with floats, for large sweeps of a rigid robot with six freedoms
                and legs in closed form, without friction; samples where floats cannot be trusted are
                computed with doubles, and `error` says how far off a sample of the others is.

        Returns:
            Linear and angular acceleration (..., 3), world axes; elastic accelerations (..., N).

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> held = robot.inverse_dynamics(robot.home).forces
            >>> bool(abs(robot.direct_dynamics(robot.home, held).linear).max() < 1e-9)
            True

        """
        self.need_masses()
        self.need_rigid_drives("direct_dynamics")
        given = self.acting(wrench) | {"forces": (forces, (self.actuator_count,))}
        out = self.run(
            programs.direct_dynamics,
            motion,
            on_error,
            given,
            yes_or_no("friction", friction),
            True,
            threads,
            precision,
        )
        error = float(out.pop("error", 0.0))
        return Acceleration(**_with_modes("elastic", out)).about(self, motion, error)

    def mass_matrix(
        self, motion: Motion, *, on_error: OnError = "raise", threads: int | None = None
    ) -> Array:
        """M of the whole robot, legs and rotors included: M ξ̇ + b = Jᵀ Γ + wrench, without friction.

        Rotors of compliant drives count as if their drives were rigid.

        Args:
            motion: the poses that count.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            (..., 6 + N, 6 + N) by (v, ω) in world axes and N elastic velocities.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> robot.mass_matrix(robot.home).shape
            (6, 6)

        """
        self.need_masses()
        out = self.run(programs.mass_matrix, motion, on_error, threads=threads)
        if not self.modes:
            return out["mass_matrix"]
        shape = out["mass_matrix"].shape[:-2]
        rows = {name: value.reshape(-1, *value.shape[len(shape) :]) for name, value in out.items()}
        whole = self.asked(shape).platform.whole_mass(**rows)
        return whole.reshape(*shape, *whole.shape[1:])

    def bias(
        self, motion: Motion, *, on_error: OnError = "raise", threads: int | None = None
    ) -> Array:
        """b of the whole robot: Coriolis, centrifugal and gravity terms.

        Args:
            motion: pose and twist of the platform.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            (..., 6 + N), world axes; of a flexible platform K qe + D q̇e is in it, and the wrench of
            M ξ̇ + b = Jᵀ Γ + wrench is (f, m, φ).

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> robot.bias(robot.home).shape
            (6,)

        """
        self.need_masses()
        return _joined(self.run(programs.bias, motion, on_error, threads=threads), "bias")

    def condensed(
        self, motion: Motion, *, on_error: OnError = "raise", threads: int | None = None
    ) -> Condensed:
        """A, c, T of A (v̇, ω̇) + c = T Γ + wrench with the elastic accelerations eliminated.

        Long, Khalil & Martinet 2014, Eqs. 46–49, without friction; T = J_sys⁻ᵀ. A wrench (f, m) with
        modal force φ enters as (f, m) − M_re M_ee⁻¹ φ, blocks of `mass_matrix`. Of a rigid robot A is
        its mass matrix, c its bias and T = Jᵀ.

        Args:
            motion: pose and twist of the platform.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            A (..., 6, 6), c (..., 6) and T (..., 6, actuators), world axes.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> A, c, T = robot.condensed(robot.home)

        """
        self.need_masses()
        self.need_rigid_drives("condensed")
        return Condensed(**self.run(programs.condensed, motion, on_error, threads=threads))

    def energy(
        self, motion: Motion, *, on_error: OnError = "raise", threads: int | None = None
    ) -> Energy:
        """Kinetic and potential energy of the whole robot.

        Args:
            motion: pose and twist of the platform.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            (...) each, J; heights count from the world's origin, elastic energy is potential.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> float(robot.energy(robot.home).kinetic)
            0.0

        """
        self.need_masses()
        self.need_rigid_drives("energy of a moving robot", motion)
        found = Energy(**self.run(programs.energy, motion, on_error, threads=threads))
        return found.about(self, motion)

    def contributions(
        self,
        motion: Motion,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        preload: ArrayLike | None = None,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> Contributions:
        """The actuator forces split by cause.

        Args:
            motion: pose, twist and acceleration of the platform.
            wrench: (..., 6) on the platform at its frame's origin, world axes.
            friction: whether the friction of the robot file counts.
            preload: (..., actuators) as in `inverse_dynamics`.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            Parts (..., actuators), N or N m, that add up to the forces of `inverse_dynamics`.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> parts = robot.contributions(robot.home)
            >>> bool(abs(parts.total - robot.inverse_dynamics(robot.home).forces).max() < 1e-9)
            True

        """
        given = self.forced(wrench, preload)
        self.need_rigid_drives("contributions of a moving robot", motion)
        parts = self.run(contributions, motion, on_error, given, threads=threads)
        more: dict[str, Any] = {"preload": preload, "on_error": on_error, "threads": threads}
        rubbing = self.inverse_dynamics(motion, wrench, friction, **more)
        smooth = self.inverse_dynamics(motion, wrench, False, **more)
        found = Contributions(friction=rubbing.forces - smooth.forces, **parts)
        for part in fields(found):
            getattr(found, part.name)[np.isnan(rubbing.forces)] = np.nan
        return found.about(self, motion)


def _with_modes(name: str, out: dict[str, Array]) -> dict[str, Array]:
    """A program's outputs with the elastic ones of a rigid platform: none."""
    if name not in out:
        out[name] = np.zeros((*out["residual"].shape, 0))
    return out


def _joined(out: Mapping[str, Array], name: str) -> Array:
    """An output and the elastic one behind it on the last axis."""
    return np.concatenate([out[name], out["elastic"]], -1) if "elastic" in out else out[name]
