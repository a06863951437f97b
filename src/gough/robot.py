"""Robot: read from a file, and all that can be asked of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from numpy.typing import ArrayLike

from gough.analysis import postures
from gough.base.arrays import Array
from gough.engine.run.threads import limited
from gough.exchange import c, casadi
from gough.model.batch import OnError
from gough.model.model import Model
from gough.motion import Motion
from gough.parameters import generalised
from gough.variants import Variants


class Robot(Model):
    """A parallel robot. Made by `gough.load` or `Robot.from_dict`; never changes."""

    def variants(self, changes: Mapping[str, ArrayLike]) -> Variants:
        """Many robots that differ from this one in the numbers given.

        Args:
            changes: values by keys of the robot file, batch axes first; see `gough.Variants.of`.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> robot.variants({"platform.mass": [10.0, 20.0]}).shape
            (2,)

        """
        return Variants.of(self, changes)

    def assembly_modes(
        self,
        q: ArrayLike,
        *,
        method: Literal["complete", "quick"] = "complete",
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> Motion:
        """Every real posture with given actuated coordinates.

        Args:
            q: (legs,) actuated coordinates, m.
            method: "complete" follows all 40 complex solutions and misses none that is isolated;
                "quick" is a random search.
            on_error: where the postures are a continuum, "raise" a SingularError or give one "nan".
            threads: at most so many.

        Returns:
            A motion at rest of shape (k,), (0,) if there is none;
            `gough.analysis.postures.postures` also says how sure the answer is.

        Example:
            >>> robot = gough.load("dietmaier-1998")
            >>> robot.assembly_modes(robot.inverse_kinematics(robot.home).q).shape
            (40,)

        """
        with limited(threads):
            return postures.assembly_modes(self, q, method=method, on_error=on_error)

    def regressor(
        self,
        motion: Motion,
        friction: bool = False,
        *,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> Array:
        """W of Γ = W X: actuator forces are linear in the inertial parameters.

        Of a flexible robot Γ = W X + w0 along a motion that has the elastic acceleration which belongs
        to it; `gough.parameters.generalised.force_regressor` has both and says why.

        Args:
            motion: pose, twist and acceleration, elastic ones included.
            friction: with columns for the friction that forces are linear in.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            (..., legs, parameters); X and its names are `standard_parameters` and `parameter_names`
            of `gough.parameters.regressor`.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> robot.regressor(robot.home).shape
            (6, 196)

        """
        with limited(threads):
            return generalised.force_regressor(self, motion, friction, on_error=on_error).matrix

    def generalised_regressor(
        self,
        motion: Motion,
        friction: bool = False,
        *,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> generalised.GeneralisedRegressor:
        """Y and y0 of Jᵀ Γ + (f, m, φ) = Y X + y0, for rigid (y0 = 0) and flexible platforms.

        Args:
            motion: pose, twist and acceleration, elastic ones included.
            friction: with columns for the friction that forces are linear in.
            on_error: "raise" or "nan".
            threads: at most so many.

        Returns:
            Y (..., 6 + N, parameters) and y0 (..., 6 + N); stiffness and damping of modes are
            parameters too. See `gough.parameters.generalised`.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> robot.generalised_regressor(robot.home).matrix.shape
            (6, 196)

        """
        with limited(threads):
            return generalised.generalised_regressor(self, motion, friction, on_error=on_error)

    def to_casadi(self, name: str, *, loads: bool = False) -> Any:
        """A program of the robot as a `casadi.Function`.

        Args:
            name: "inverse_dynamics", …; see `gough.exchange.casadi.to_casadi`.
            loads: with the friction loads as a further input.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> forces = robot.to_casadi("inverse_dynamics")

        """
        return casadi.to_casadi(self, name, loads=loads)

    def export_c(
        self,
        folder: str | os.PathLike[str],
        *,
        programs: Sequence[str] | None = None,
        real: str = "double",
    ) -> Path:
        """Write the robot's programs as portable C99.

        Args:
            folder: where to; made if it is not there.
            programs: which; all by default. See `gough.exchange.c.export_c`.
            real: "double" or "float".

        Returns:
            The folder.

        Example:
            >>> folder = gough.load("kim-ryu-2002").export_c("kim")

        """
        return c.export_c(self, folder, programs=programs, real=real)


def load(name: str | os.PathLike[str]) -> Robot:
    """A robot from a catalogue name or from a robot file.

    Args:
        name: one of `gough.catalogue()`, or a path.

    Example:
        >>> gough.load("kim-ryu-2002").leg_count
        6

    """
    return Robot.load(name)
