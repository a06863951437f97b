"""Classical washout with tilt coordination.

L. D. Reid, M. A. Nahon, Flight Simulation Motion-Base Drive Algorithms, UTIAS Report 296, 1985.

Attitude: high-passed rates, and a slow tilt that lets gravity stand in for what lasts. With the specific
force f of the vehicle less that at rest, and g (world axes, m/s²),

    θ_turn = s²/(s² + 2ζω_r s + ω_r²) · ω/s
    θ_tilt = (g × LP f)/‖g‖²,  LP = ω_t²/(s² + 2ζω_t s + ω_t²)

θ_tilt turns no faster than a rate that is not noticed, ‖θ̇_tilt‖ ≤ `tilt_rate` about whatever axis.
Angles about axes that the robot cannot turn about stay 0. Position: with R of θ_turn + θ_tilt,

    p̈ = s³/((s² + 2ζω_p s + ω_p²)(s + ω_p)) · (R (f − g) + g)

Third order: after any lasting acceleration the platform comes back to where it was.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.cueing.limiting import Displacements, gravity_of
from gough.cueing.third_order import ThirdOrder
from gough.cueing.vehicle import Vehicle
from gough.errors import InputError
from gough.legs.reading import Limits
from gough.model.freedom import COORDINATES
from gough.model.model import Model

LEAST, MOST = 1e-6, 1e3
"""Of frequencies in Hz, rates in deg/s and damping."""


@dataclass(frozen=True)
class Washout:
    """A classical washout, as a vehicle engineer sets it."""

    translation: float = 0.1
    """Break frequency of the high pass of acceleration, Hz."""
    rotation: float = 0.1
    """Break frequency of the high pass of turn rates, Hz."""
    tilt: float = 0.3
    """Break frequency of the low pass that tilts, Hz."""
    tilt_rate: float = 3.0
    """Largest turn rate of tilting, about any axis, deg/s."""
    damping: float = 1.0
    """ζ of all three."""

    def __post_init__(self) -> None:
        """Refuse what no filter can be."""
        for one in fields(self):
            value = getattr(self, one.name)
            if not LEAST <= value <= MOST:
                raise InputError(f"washout: {one.name} is {value}, must be {LEAST:g} to {MOST:g}")

    def cue(self, robot: Model, vehicle: Vehicle, limits: Limits) -> Displacements:
        """Displacements (n, m) that the washout asks of a robot: filters know no limits."""
        gravity = gravity_of(robot)
        force = vehicle.specific_force(gravity)
        turns = np.isin(COORDINATES[3:], robot.coordinates)
        turn = self.turning(vehicle.step)(turns * vehicle.rates)
        tilt = self._tilted(turns * np.cross(gravity, force) / (gravity @ gravity), vehicle.step)
        angle, rate, second = (a + b for a, b in zip(turn, tilt, strict=True))
        attitude = Rotation.from_rotvec(angle)
        wished = attitude.apply(force - gravity) + gravity
        place = self.moving(vehicle.step)(wished)
        every = [
            np.concatenate(pair, axis=1) for pair in zip(place, (angle, rate, second), strict=True)
        ]
        own = [COORDINATES.index(name) for name in robot.coordinates]
        return Displacements(vehicle.time, *(one[:, own] for one in every))

    def _second_order(self, frequency: float) -> Array:
        """s² + 2ζω s + ω²."""
        omega = 2 * np.pi * frequency
        return np.array([1.0, 2 * self.damping * omega, omega**2])

    def turning(self, step: float) -> ThirdOrder:
        """From turn rates to θ_turn, differentiable by a lag of half a sample of `step` s."""
        return ThirdOrder.of(np.polymul(self._second_order(self.rotation), [0.5 * step, 1.0]), step)

    def moving(self, step: float) -> ThirdOrder:
        """From a wished acceleration to position."""
        below = self._second_order(self.translation)
        return ThirdOrder.of(np.polymul(below, [1.0, 2 * np.pi * self.translation]), step)

    def tilting(self) -> tuple[float, float, float]:
        """2ζω_t, ω_t² and the largest rate (1/s, 1/s², rad/s)."""
        _, drag, pull = self._second_order(self.tilt)
        return float(drag), float(pull), float(np.radians(self.tilt_rate))

    def _tilted(self, wished: Array, step: float) -> list[Array]:
        """θ_tilt towards `wished` (n, 3), its rate and second derivative, within the tilt rate.

        θ̈ = ω²(wished − θ) − 2ζω θ̇, held over a step (solved for the end of it); where ‖θ̇‖ is
        cut to the limit, its direction stays.
        """
        drag, pull, limit = self.tilting()
        angle, rate, second = (np.zeros_like(wished) for _ in range(3))
        inertia = 1.0 + step * drag + step**2 * pull
        at = going = np.zeros(wished.shape[1])
        for i, wish in enumerate(wished):
            push = pull * (wish - at - step * going) - drag * going
            after = going + step * push / inertia
            after = after * min(1.0, limit / max(float(np.linalg.norm(after)), limit))
            second[i] = (after - going) / step
            at, going = at + step * (going + after) / 2, after
            angle[i], rate[i] = at, going
        return [angle, rate, second]
