"""Robot: read from a file, and all that can be asked of it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from gough.analysis import postures
from gough.analysis.closest import closest, with_parts
from gough.base.arrays import Array
from gough.base.showing import shown
from gough.engine.emit.jax import Pure
from gough.engine.run.threads import limited
from gough.errors import ForeignFileWarning, InputError
from gough.exchange import c, casadi, fmu, jax, mjcf, urdf
from gough.exchange.incoming.reading import is_foreign, read_foreign
from gough.model.batch import OnError
from gough.model.limits import Report
from gough.model.model import Model
from gough.motion import Motion
from gough.parameters import generalised
from gough.planning.clamping import Clamped, clamp
from gough.planning.room import Room, room
from gough.variants import Variants

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Robot(Model):
    """A parallel robot. Made by `gough.load` or `Robot.from_dict`; never changes."""

    def _repr_html_(self) -> str:
        """For notebooks: picture and sheet."""
        return str(shown("robot in a notebook", self))

    def plot(self, motion: Motion | None = None) -> Figure:
        """The robot in space, at home or along a motion.

        Args:
            motion: poses (n,) or (); home by default.

        Returns:
            A matplotlib figure of its own.

        Example:
            >>> figure = gough.load("kim-ryu-2002").plot()

        """
        figure: Figure = shown("picture of a robot", self, motion)
        return figure

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
        method: Literal["complete", "quick"] | None = None,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> Motion:
        """Every real posture with given actuated coordinates, or those that a search finds.

        Legs may be on any branch: with its actuators locked a robot of PUS or RUS legs can stand so that
        links lean, or cranks are bent, the other way than `branch` of the robot file says.
        Such postures come last; inverse kinematics, on the file's branch, finds another q there.

        Args:
            q: (actuators,) actuated coordinates, m or rad.
            method: "complete" follows all 40 complex solutions of rods that hold a free platform, or
                solves the quadrics of planar and spherical chains, and misses none that is isolated;
                "quick" is a random search: there may be others. By default "complete" where it can be.
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

    def check(
        self,
        motion: Motion,
        wrench: ArrayLike | None = None,
        *,
        leg_radius: float | None = None,
        on_error: OnError = "raise",
        threads: int | None = None,
    ) -> Report:
        """Which limits of the robot file a motion exceeds: leg, limit, when, by how much.

        Timed samples (n,) are compared between samples, too, along the path that their rates come from.

        Args:
            motion: of any batch shape; with time the report says when.
            wrench: (..., 6) on the platform, for the forces.
            leg_radius: m; where it is given, parts that meet count as well, and the report's `closest`
                has all distances: `gough.analysis.closest`. Then every sample has to have an answer.
            on_error: "raise", or "nan": the report lists samples that have no answer as `unanswered`.
            threads: at most so many.

        Returns:
            A report that is true where all limits are kept.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> print(robot.check(robot.home))
            within all limits
            >>> round(robot.check(robot.home, leg_radius=0.01).closest.distance, 3)
            0.083

        """
        report = super().check(motion, wrench, on_error=on_error, threads=threads)
        if leg_radius is None:
            return report
        with limited(threads):
            return with_parts(report, closest(self, motion, leg_radius=leg_radius))

    def room(
        self,
        motion: Motion,
        *,
        pivot: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
        threads: int | None = None,
    ) -> Room:
        """How far poses can go in every direction, and which limit of which leg ends it.

        Limits are those that `check` compares poses at rest with, reach, and nearness to a singularity.
        They depend on the pose: all other coordinates are kept.

        Args:
            motion: poses of any batch shape.
            pivot: (3,) m, platform frame: the point about which turns go; the frame's origin by default.
            wrench: (6,) on the platform, for holding forces.
            threads: at most so many.

        Returns:
            Distances (..., 2m) in m and rad along + and − of x, y, z, rx, ry, rz in world axes, or of
            the robot's own coordinates, searched up to two leg lengths and π; 0 where a pose exceeds a
            limit as it is, or is out of reach.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> name, far, end = robot.room(robot.home).ends()[4]
            >>> print(name, round(far, 3), end)
            +z 0.43 leg 3 stroke 0.7 m

        """
        with limited(threads):
            return room(self, motion, pivot=pivot, wrench=wrench)

    def clamp(
        self, motion: Motion, *, wrench: ArrayLike | None = None, threads: int | None = None
    ) -> Clamped:
        """The nearest poses that limits allow, and what stands in the way of those wished for.

        Limits as in `room`. Nearest by √(‖δp‖² + (L θ)²), L the robot's length scale; of a robot with
        fewer than six freedoms by its own coordinates.

        Args:
            motion: poses of any batch shape.
            wrench: (6,) on the platform, for holding forces.
            threads: at most so many.

        Returns:
            Poses at rest, their distance from the wishes in m, and reasons.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> high = gough.Motion(robot.home.position + [0.0, 0.0, 0.6])
            >>> found = robot.clamp(high)
            >>> robot.check(found.motion).ok, round(float(found.distance), 4), str(found.reason())
            (True, 0.1695, 'leg 2 stroke 0.7 m')

        """
        with limited(threads):
            return clamp(self, motion, wrench=wrench)

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
            (..., actuators, parameters); X and its names are `standard_parameters` and `parameter_names`
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

    def to_jax(self, name: str, *, loads: bool = False) -> Pure:
        """A program of the robot as a pure function for `jax.jit`, `jax.vmap` and `jax.grad`.

        Args:
            name: "inverse_dynamics", …; see `gough.exchange.jax.to_jax`.
            loads: with the friction loads as a further input.

        Returns:
            A function from a dictionary of one state's fields to a dictionary of answers, SI units.

        Example:
            >>> import jax
            >>> jax.config.update("jax_enable_x64", True)
            >>> robot = gough.load("kim-ryu-2002")
            >>> forces = robot.to_jax("inverse_dynamics")

        """
        return jax.to_jax(self, name, loads=loads)

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

    def export_fmu(
        self,
        path: str | os.PathLike[str],
        *,
        fmi: int = 2,
        inverse: bool = False,
        reactions: bool = False,
        sources_only: bool = False,
    ) -> Path:
        """Write the robot as a functional mock-up unit for other simulators.

        Args:
            path: the file, such as robot.fmu.
            fmi: version of the standard, 2 or 3.
            inverse: the inverse model, motion in and forces out.
            reactions: forces and moments in the joints as outputs, too.
            sources_only: without the binary, which takes a C compiler.

        Returns:
            The path.

        Example:
            >>> path = gough.load("kim-ryu-2002").export_fmu("kim.fmu", sources_only=True)

        """
        return fmu.export_fmu(
            self,
            path,
            fmi=fmi,
            inverse=inverse,
            reactions=reactions,
            sources_only=sources_only,
        )

    def export_mjcf(self, path: str | os.PathLike[str]) -> tuple[str, ...]:
        """Write the robot for MuJoCo: a tree of bodies with its loops closed, at home.

        Args:
            path: the XML file.

        Returns:
            What of the robot the file does not have, one line each.

        Example:
            >>> gough.load("plaza-hexaglide-2019").export_mjcf("plaza.xml")
            ()

        """
        return mjcf.export_mjcf(self, path)

    def export_urdf(self, path: str | os.PathLike[str]) -> tuple[str, ...]:
        """Write the robot as URDF, and its loops into a YAML file beside it.

        Args:
            path: the URDF file; the other has the same name and ends in .yaml.

        Returns:
            What of the robot the files do not have, one line each.

        Example:
            >>> gough.load("plaza-hexaglide-2019").export_urdf("plaza.urdf")
            ()

        """
        return urdf.export_urdf(self, path)


def load(
    name: str | os.PathLike[str], platform: str | None = None, *, meshes: bool = True
) -> Robot:
    """A robot from a catalogue name, from a robot file, or from a file of another program.

    Args:
        name: one of `gough.catalogue()`, or a path: a robot file (TOML), MuJoCo's MJCF (.xml), or URDF
            (.urdf, with its loops in a .yaml beside it).
        platform: of MJCF and URDF the body, link or site whose frame is the platform's; by default the
            body that most legs hold.
        meshes: of MJCF and URDF: with the meshes that the file names, which must then be there.

    Returns:
        The robot. What another program's file has and a robot file does not is listed in a
        ForeignFileWarning and under `assumed` of the robot file.

    Example:
        >>> gough.load("kim-ryu-2002").leg_count
        6

    """
    if not is_foreign(name):
        if platform is not None:
            raise InputError(f"{name}: platform= is for MJCF and URDF; a robot file says it itself")
        return Robot.load(name)
    found = read_foreign(name, platform, meshes=meshes)
    if found.told:
        warnings.warn(f"{name}: {'; '.join(found.told)}", ForeignFileWarning, stacklevel=2)
    return Robot.from_text(found.text, str(name), Path(name).absolute().parent)
