"""The modes while an output follows its command: q̈e of inverse dynamics, its slopes, its rest.

    q̈e = f(t, qe, q̇e)

is what `inverse_dynamics` solves for on the motion of the floating frame that the command implies
(`gough.model.outputs`). These zero dynamics may be unstable though the robot is sound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.errors import ConvergenceError, Failure, SampleError
from gough.model import derivatives
from gough.model.batch import OnError
from gough.model.deflection import MOST_STEPS, PROBE, TOLERANCE, largest_shapes, static_deflection
from gough.model.described import DescribedModel
from gough.model.outputs import Commanded, Output, command_of, frame_slopes
from gough.motion import Motion

GROWS = 1e-7
"""Real part of a pole, of the largest |pole|, from which it grows: below it is rounding, or the
differences by which slopes are found. Poles of bodies without damping are imaginary."""
NO_REST = (
    "no equilibrium found with the {} held: the last step was {:.2g} of the deflection; "
    "natural_frequencies tells whether the robot can stand"
)


class Slopes(NamedTuple):
    """∂q̈e of f, (n, N, N) each."""

    by_elastic: Array
    by_velocity: Array
    share: Array
    """1 − E_x P: what of a change of q̈e the frame that follows it does not take back."""

    def system(self) -> Array:
        """A (n, 2 N, 2 N) of (q̇e, q̈e) = A (qe, q̇e) + …: its eigenvalues are the poles."""
        modes = self.by_elastic.shape[-1]
        top = np.broadcast_to(
            np.eye(modes, 2 * modes, modes), (len(self.by_elastic), modes, 2 * modes)
        )
        below = np.concatenate([self.by_elastic, self.by_velocity], axis=-1)
        return np.concatenate([top, below], axis=-2)


def least_growth(poles: Array) -> Array:
    """Return the real part (...) above which poles (..., n) grow, 1/s."""
    return np.asarray(GROWS * np.abs(poles).max(axis=-1, initial=0.0))


@dataclass(frozen=True)
class ZeroDynamics:
    """f of a robot, an output, and loads."""

    robot: DescribedModel
    output: Output
    friction: bool

    @property
    def rubs(self) -> bool:
        """There is friction, and it is asked for."""
        return self.friction and not self.robot.mechanism.legs.friction.none

    @property
    def jumps(self) -> bool:
        """Some friction jumps where a joint comes to rest: Coulomb's, without width."""
        laws = self.robot.mechanism.legs.friction
        coulomb = laws.universal_coulomb + laws.spherical_coulomb + laws.drive_jump
        return self.rubs and bool(np.any((coulomb > 0) & (laws.width == 0)))

    def commanded(self, command: Motion) -> Commanded:
        """The command (n,) of the output."""
        return command_of(self.output)(self.robot, command)

    def pull(self, motion: Motion, wrench: Array) -> Array:
        """q̈e (n, N) that inverse dynamics solves for."""
        asked: Any = self.robot.inverse_dynamics(motion, wrench, self.friction)
        return np.asarray(asked.elastic_acceleration)

    def slopes(self, commanded: Commanded, motion: Motion, wrench: Array) -> Slopes:
        """How f changes with qe and q̇e; without friction where that jumps because a joint rests.

        With E(pose, twist, x, qe, q̇e) of inverse dynamics, and pose, twist and x = (v̇, ω̇) of the frame
        following the modes, (1 − E_x P) δq̈e = dE/dqe δqe + dE/dq̇e δq̇e, all derivatives total.
        """
        by = self._derivatives(motion, wrench, self.rubs)
        frame = frame_slopes(commanded, motion, PROBE / largest_shapes(self.robot))
        share = np.eye(self.robot.modes) - by["acceleration"] @ commanded.following(motion)
        by_elastic = (
            by["elastic"]
            + by["pose"] @ frame.pose_by_elastic
            + by["twist"] @ frame.twist_by_elastic
            + by["acceleration"] @ frame.acceleration_by_elastic
        )
        by_velocity = (
            by["elastic_velocity"]
            + by["twist"] @ frame.twist_by_velocity
            + by["acceleration"] @ frame.acceleration_by_velocity
        )
        return Slopes(
            np.linalg.solve(share, by_elastic), np.linalg.solve(share, by_velocity), share
        )

    def _derivatives(self, motion: Motion, wrench: Array, friction: bool) -> dict[str, Array]:
        """Of q̈e by everything, (n, N, …) each."""
        legs = self.robot.actuator_count
        on_error: OnError = "nan" if friction else "raise"
        found = derivatives.inverse_dynamics_derivatives(
            self.robot, motion, wrench, friction, on_error=on_error
        )
        by = {name: getattr(found, name)[:, legs:] for name in found.__dataclass_fields__}
        jumping = np.isnan(by["elastic"]).any(axis=(1, 2))
        if friction and jumping.any():
            smooth = self._derivatives(motion[jumping], wrench[jumping], False)
            for name, value in smooth.items():
                by[name][jumping] = value
        return by

    def rest(self, command: Motion, wrench: Array) -> Motion:
        """The command's poses (n,) at rest, and the elastic coordinates that stay: f(qe, 0) = 0."""
        bent = command.elastic if command.modes else None
        still = Motion(command.position, command.rotation, elastic=bent)
        commanded = self.commanded(still)
        elastic = static_deflection(self.robot, still, wrench).elastic
        none = np.zeros_like(elastic)
        last = np.inf
        for _ in range(MOST_STEPS):
            try:
                here = commanded.motion(elastic, none, none)
            except SampleError:  # a step led where the legs do not meet
                break
            slopes = self.slopes(commanded, here, wrench)
            pull = self.robot.inverse_dynamics(here, wrench, False).elastic_acceleration
            step = -np.linalg.solve(slopes.share @ slopes.by_elastic, pull[..., np.newaxis])[..., 0]
            elastic = elastic + step
            last = np.abs(step).max() / max(np.abs(elastic).max(), 1e-300)
            if last < TOLERANCE:
                return commanded.motion(elastic, none, none)
        raise ConvergenceError([Failure((), None, NO_REST.format(self.output, last))])
