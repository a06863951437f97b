"""What the models return: arrays with the batch axes of the motion in front, SI units, world axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from gough.base.arrays import Array
from gough.base.showing import shown
from gough.base.showing_results import Showing
from gough.errors import InputError

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure


class Result(Showing):
    """What a model returns: plain arrays, and what was asked, for pictures and datasets of them."""

    __slots__ = ("_asked", "_error")  # beside the arrays, not among them
    _asked: tuple[Any, Any]
    _error: float

    def about(self, robot: Any, motion: Any, error: float = 0.0) -> Self:
        """The same result, that says which robot and motion it is of, and how far off it is."""
        object.__setattr__(self, "_asked", (robot, motion))
        object.__setattr__(self, "_error", error)
        return self

    @property
    def error(self) -> float:
        """Of single precision: largest relative difference from doubles; 0 of double precision.

        It is |x − x_double|∞/|x_double|∞ of any array x of a state, over a sample of the states, those
        with the worst condition among them.

        Returns:
            One number for the whole call.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> found = robot.inverse_dynamics(robot.home, friction=False, precision="single")
            >>> bool(0 < found.error < 1e-5)
            True

        """
        return getattr(self, "_error", 0.0)

    def _of(self) -> tuple[Any, Any]:
        asked: tuple[Any, Any] | None = getattr(self, "_asked", None)
        if asked is None:
            raise InputError(
                f"this {type(self).__name__} does not know its robot and motion: it was made from arrays"
            )
        return asked

    def __getstate__(self) -> dict[str, Any]:
        """Arrays and their error alone travel between processes."""
        return {**self.__dict__, "_error": self.error}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    def plot(self) -> Figure:
        """Curves over time, or over samples.

        Returns:
            A matplotlib figure of its own.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> circle = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=40).sample(61)
            >>> figure = robot.inverse_dynamics(circle).plot()

        """
        figure: Figure = shown(f"picture of {type(self).__name__}", *self._of(), self)
        return figure

    def to_dataset(self) -> xarray.Dataset:
        """All there is, labelled, with units: dimensions of the batch, actuators and legs from 1.

        Returns:
            A dataset of xarray's.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> robot.inverse_dynamics(robot.home).to_dataset()["force"].attrs["units"]
            'N'

        """
        found: xarray.Dataset = shown(f"dataset of {type(self).__name__}", *self._of(), self)
        return found

    def to_dataframe(self) -> pandas.DataFrame:
        """A row per sample, with the columns of the .csv that commands write, units in their names.

        Returns:
            A data frame of pandas', indexed by time if the motion is timed; batch shape (n,) or ().

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> list(robot.inverse_dynamics(robot.home).to_dataframe().columns[:2])
            ['force1 [N]', 'force2 [N]']

        """
        found: pandas.DataFrame = shown("data frame", self.to_dataset())
        return found


@dataclass(frozen=True, repr=False)
class LegMotion(Result):
    """What the legs do: (..., actuators) and (..., legs, 3)."""

    q: Array
    """Actuated coordinates, m or rad."""
    qd: Array
    qdd: Array
    joints: Array
    """(..., legs, 3): UPS (q1, q2, q3), PUS (λ, φ1, φ2), RUS (q, φ1, φ2); of chains the first three."""
    joint_rates: Array
    joint_accelerations: Array
    direction: Array
    """Unit vector from the universal to the spherical joint."""
    link_angular_velocity: Array
    link_angular_acceleration: Array


@dataclass(frozen=True, repr=False)
class Actuation(Result):
    """What the actuators do: (..., actuators)."""

    forces: Array
    """Γ, N or N m; positive pushes towards larger q."""
    power: Array
    """Γ q̇, W."""
    elastic_acceleration: Array
    """(..., N) of a flexible platform."""
    residual: Array
    """Of the friction loop (...): largest disagreement of loads over the largest load."""


@dataclass(frozen=True, repr=False)
class Acceleration(Result):
    """Acceleration of the platform frame, (..., 3).

    Friction without a width is none where a joint stands still (sign 0 = 0), whatever pushes there:
    `may_stick` says of which actuators that is so.
    """

    linear: Array
    angular: Array
    elastic: Array
    """(..., N) of a flexible platform."""
    residual: Array
    """Of the friction loop (...)."""

    @property
    def may_stick(self) -> Array:
        """Actuators that stand still, and whose Coulomb friction, without a width, may hold them there.

        The acceleration is as if they had no Coulomb friction. The true one is smaller: none as long
        as forces exceed what holds the robot by less than its friction.

        Returns:
            (..., actuators) of True and False.

        Example:
            >>> robot = gough.load("kim-ryu-2002")
            >>> held = robot.inverse_dynamics(robot.home).forces
            >>> bool(robot.direct_dynamics(robot.home, held + 1).may_stick.all())
            True

        """
        robot, motion = self._of()
        laws = robot.mechanism.legs.friction
        sharp = ((laws.drive_jump > 0) & (laws.width == 0))[:, 0]
        mine = [bool(sharp[one.leg]) for one in robot.actuators]
        still = robot.inverse_kinematics(motion, on_error="nan").qd == 0
        found: Array = still & np.array(mine)
        return found


@dataclass(frozen=True, repr=False)
class Energy(Result):
    """Energy of the whole robot (...), J."""

    kinetic: Array
    potential: Array


@dataclass(frozen=True, repr=False)
class Reactions(Result):
    """Forces (N) and moments (N m) in joints, (..., legs, 3), world axes; NaN of those not there."""

    spherical: Array
    """Force of the leg on the platform, whatever the last joint is."""
    universal: Array
    """Force of the cross on the body it carries: UPS cylinder, PUS and RUS link."""
    universal_moment: Array
    """Couple of the joint on that body about the joint centre, less the universal friction couple."""
    guide: Array
    """PUS: the rail's force on the slider, normal to the rail."""
    guide_moment: Array
    """PUS: the rail's couple on the slider about the universal joint."""
    sliding_force: Array
    """UPS: force of the cylinder on the rod, actuator force included: along the leg it is the axial
    load, across it bends the leg."""
    sliding_moment: Array
    """UPS: couple of the cylinder on the rod about the tip; bends and twists the leg."""
    platform_moment: Array
    """Chains: moment of the leg on the platform about the last joint's point; 0 if it is spherical."""
    joint_force: Array
    """Chains: (..., legs, joints, 3), force of each joint of the file on the body it carries."""
    joint_moment: Array
    """Chains: (..., legs, joints, 3), moment of each joint on that body about the origin of its frame;
    drives and friction of the joints are part of both."""
    constraint: Array
    """(..., 6): the wrench N μ on the platform at its origin; zeros without `mobility`."""
    unique: Array
    """(..., legs): where a leg's reactions are the only possible ones; else they are the least."""
    residual: Array
    """Of the friction loop (...)."""


@dataclass(frozen=True)
class PlatformProperties:
    """The platform's own properties, undeformed; payload counted with it."""

    mass: float
    """kg."""
    center_of_mass: Array
    """(3,), platform frame, m."""
    inertia: Array
    """(3, 3) about the platform frame's origin, kg m²."""
    modal_mass: Array
    """m_ee (N, N); N = 0 for a rigid platform."""
    stiffness: Array
    """K (N,) where it is diagonal, else (N, N)."""
    damping: Array
    """D, the coefficient of q̇e, likewise."""


class Condensed(NamedTuple):
    """A (v̇, ω̇) + c = T Γ + wrench, world axes: Long, Khalil & Martinet 2014, Eqs. 46–49."""

    mass: Array
    """A (..., 6, 6)."""
    bias: Array
    """c (..., 6)."""
    sharing: Array
    """T = J_sys⁻ᵀ (..., 6, actuators)."""
