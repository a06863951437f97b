"""Motions of the platform as functions of time, with exact first and second derivatives.

A trajectory is called with times t in seconds, of any shape, and gives a `Motion` of that batch
shape with its time filled in: world axes, metres and radians. `sample(n)` takes n times evenly over
the whole `duration`. Outside that interval a trajectory does one of three things:

- `RestToRest` holds its first and its last pose;
- `Harmonic`, `Circle` and `Fourier` go on as their formula says;
- `ConstantAcceleration` and `Spline` raise an `InputError` that names the time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from gough.base import rotations
from gough.base.arrays import Array, real_numbers
from gough.base.pose_spline import PoseSpline
from gough.errors import InputError, NoMotionError
from gough.motion import FIELDS, Motion

MOTION_ONLY = (*FIELDS, "shape", "time", "modes", "reshape", "replace")


State = tuple[Array, Array, Array, Array, Array, Array]
"""Position, rotation, velocity, angular velocity, acceleration, angular acceleration."""
Outside = Literal["refuse", "hold", "continue"]
TIME_SLACK = 1e-10  # of the duration: how far rounding may carry a time past the ends


class Trajectory(ABC):
    """A motion as a function of time; a subclass sets `duration` and gives `_state`."""

    outside: ClassVar[Outside] = "refuse"
    """What happens at times outside [start_time, start_time + duration]."""
    start_time: float = 0.0  # s
    duration: float  # s

    @property
    def breaks(self) -> Array:
        """Times (n,), counted from `start_time`, at which acceleration or jerk jumps, s."""
        return np.zeros(0)

    @abstractmethod
    def _state(self, t: Array) -> State:
        """Pose, twist and acceleration at times of any shape, counted from `start_time`."""

    def __call__(self, t: ArrayLike) -> Motion:
        """The motion at times t (s) of any shape."""
        time = self._numbers("time", t)
        since = time - self.start_time
        if self.outside == "refuse":
            first, last = self.start_time, self.start_time + self.duration
            slack = TIME_SLACK * self.duration + 8 * np.spacing(max(abs(first), abs(last)))
            beyond = (since < -slack) | (since > self.duration + slack)
            self._refuse("time", time, beyond, f"must be in [{first:.12g}, {last:.12g}] s")
            since = np.clip(since, 0.0, self.duration)
        return Motion(*self._state(since), time=time)

    def __getattr__(self, name: str) -> Any:
        """What a motion has and a trajectory has not: say how to come from one to the other."""
        if name in MOTION_ONLY:
            raise NoMotionError(
                f"{type(self).__name__} is a function of time and has no {name}: call .sample(n) for "
                "a Motion"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def sample(self, samples: int) -> Motion:
        """The motion at `samples` times, evenly from first to last; at least two."""
        if not isinstance(samples, (int, np.integer)) or samples < 2:
            raise self._error(f"samples is {samples!r}, must be a whole number, at least 2")
        return self(np.linspace(self.start_time, self.start_time + self.duration, samples))

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _error(self, text: str) -> InputError:
        return InputError(f"{type(self).__name__}: {text}")

    def _refuse(self, name: str, array: Array, bad: NDArray[np.bool_], limit: str) -> None:
        if np.any(bad):
            index = tuple(int(i) for i in np.argwhere(bad)[0])
            where = f"[{', '.join(map(str, index))}]" if index else ""
            raise self._error(f"{name}{where} is {array[index]:.12g}, {limit}")

    def _numbers(self, name: str, value: ArrayLike, *shapes: tuple[int, ...]) -> Array:
        """A read-only copy: finite, of one of these shapes if any are given."""
        try:
            array = np.array(real_numbers(value))
        except (TypeError, ValueError):
            raise self._error(f"{name} is not an array of numbers") from None
        if shapes and array.shape not in shapes:
            needed = " or ".join(map(str, shapes))
            raise self._error(f"{name} has shape {array.shape}, needs {needed}")
        self._refuse(name, array, ~np.isfinite(array), "must be finite")
        array.flags.writeable = False
        return array

    def _positive(self, name: str, value: float) -> float:
        number = self._numbers(name, value, ())
        self._refuse(name, number, number <= 0, "must be positive")
        return float(number)

    def _poses(self, name: str, poses: Motion, *, one: bool) -> Motion:
        """The poses alone, made exactly orthogonal; finite, just one or several."""
        if not isinstance(poses, Motion):
            raise self._error(f"{name} is a {type(poses).__name__}, must be a Motion")
        if len(poses.shape) != (0 if one else 1) or min(poses.shape, default=2) < 2:
            needed = "()" if one else "(k,) with k at least 2"
            raise self._error(f"{name} has batch shape {poses.shape}, needs {needed}")
        self._numbers(f"{name}.position", poses.position)
        self._numbers(f"{name}.rotation", poses.rotation)
        return Motion(poses.position, Rotation.from_matrix(poses.rotation))

    def _coordinates(self, start: ArrayLike | Motion, convention: str) -> Array:
        """Six coordinates [x, y, z, three Euler angles], given as such or as a pose."""
        rotations.convention(convention)
        if isinstance(start, Motion):
            pose = self._poses("start", start, one=True)
            start = [*pose.position, *rotations.euler_angles(convention, pose.rotation)]
        return self._numbers("start", start, (6,))


@dataclass(frozen=True, eq=False, init=False)
class RestToRest(Trajectory):
    """From pose to pose, at rest at each of them; holds the first and the last pose outside.

    Between poses i and i+1, with τ = (t − t_i)/T_i and s = 10τ³ − 15τ⁴ + 6τ⁵,

        p = p_i + s (p_{i+1} − p_i),    R = exp(s θ_i×) R_i,    θ_i = log(R_{i+1} R_iᵀ):

    a straight line and the shortest turn, about one axis (half a turn has two: rounding chooses).
    Velocity and acceleration are zero at every pose, so acceleration is continuous. Fifth-order
    polynomials with rests at both ends: Long, Khalil & Martinet 2014, section 6.2.

    `poses` is a Motion of batch shape (k,), of which position and rotation count; `durations` of
    the moves (s) is one number or (k−1,), `rests` at the poses (s) one number or (k,).
    """

    outside: ClassVar[Outside] = "hold"
    poses: Motion
    durations: Array
    rests: Array
    _turns: Array = field(init=False, repr=False)

    def __init__(self, poses: Motion, durations: ArrayLike, rests: ArrayLike = 0.0) -> None:
        poses = self._poses("poses", poses, one=False)
        count = len(poses)
        spans = self._numbers("durations", durations, (), (count - 1,))
        self._refuse("durations", spans, spans <= 0, "must be positive")
        pauses = self._numbers("rests", rests, (), (count,))
        self._refuse("rests", pauses, pauses < 0, "must not be negative")
        spans, pauses = np.broadcast_to(spans, count - 1), np.broadcast_to(pauses, count)
        turned = Rotation.from_matrix(poses.rotation)
        turns = self._numbers("turns", (turned[1:] * turned[:-1].inv()).as_rotvec())
        self._set(poses=poses, durations=spans, rests=pauses, _turns=turns)
        self._set(duration=float(spans.sum() + pauses.sum()))

    @property
    def breaks(self) -> Array:
        """Begins and ends of the moves, s."""
        begin = np.cumsum(self.rests[:-1]) + np.cumsum(self.durations) - self.durations
        return np.concatenate([begin, begin + self.durations])

    def _state(self, t: Array) -> State:
        begin = np.cumsum(self.rests[:-1]) + np.cumsum(self.durations) - self.durations
        i = np.clip(np.searchsorted(begin, t, side="right") - 1, 0, len(begin) - 1)
        span = self.durations[i][..., None]
        x = np.clip((t - begin[i])[..., None] / span, 0.0, 1.0)
        s = x**3 * (10 - 15 * x + 6 * x**2)
        sd = 30 * x**2 * (1 - x) ** 2 / span
        sdd = 60 * x * (1 - x) * (1 - 2 * x) / span**2
        path, turn = np.diff(self.poses.position, axis=0)[i], self._turns[i]
        position = self.poses.position[i] + s * path
        rotation = rotations.exponential(s * turn)[0] @ self.poses.rotation[i]
        return position, rotation, sd * path, sd * turn, sdd * path, sdd * turn


@dataclass(frozen=True, eq=False, init=False)
class Harmonic(Trajectory):
    """To and fro along a cosine in position and Euler angles, from rest; goes on for all times.

        X(t) = X_0 + X* (1 − cos(2π t/period)),    X = [x, y, z, three Euler angles]    (m, rad)

    Half a period leads from rest to rest and moves by twice the amplitude X*. Sinatra, Xi & Staicu
    2009, Eq. 6: period 6 s, half a cycle; z has a minus sign there, so its amplitude is −z*.

    `start` is X_0, or a Motion of batch shape () for its pose; `amplitude` (6,) is X*, signed;
    `convention` names the Euler angles as in `gough.base.rotations.euler`. Duration: cycles · period.
    """

    outside: ClassVar[Outside] = "continue"
    start: Array
    amplitude: Array
    period: float
    cycles: float
    convention: str

    def __init__(
        self,
        start: ArrayLike | Motion,
        amplitude: ArrayLike,
        period: float,
        cycles: float = 1.0,
        convention: str = "sinatra-xi-staicu-2009",
    ) -> None:
        self._set(start=self._coordinates(start, convention), convention=convention)
        self._set(amplitude=self._numbers("amplitude", amplitude, (6,)))
        cycles, period = self._positive("cycles", cycles), self._positive("period", period)
        self._set(cycles=cycles, period=period, duration=cycles * period)

    def _state(self, t: Array) -> State:
        w = 2 * np.pi / self.period
        phase = w * t[..., None]
        x = self.start + 2 * np.sin(phase / 2) ** 2 * self.amplitude
        xd, xdd = w * np.sin(phase) * self.amplitude, w**2 * np.cos(phase) * self.amplitude
        return _from_coordinates(self.convention, x, xd, xdd)


@dataclass(frozen=True, eq=False, init=False)
class Circle(Trajectory):
    """Round a circle at constant speed with fixed orientation; goes on for all times.

        p = center + radius (cos α u + sin α v),    α = speed · t

    Kim & Ryu 2002, section 4: radius 0.1 m at 20, 40 and 60 rpm. It moves from the first instant.

    `center` (m) and the plane's `axes` (u, v) are in world axes; u, towards the first position, is
    made unit length, v that and perpendicular to u. Give `speed` (rad/s) or `rpm` (turns a minute),
    positive from u to v. `rotation` is (3, 3) or scipy's. Duration: that of `turns` turns.
    """

    outside: ClassVar[Outside] = "continue"
    center: Array
    radius: float
    speed: float
    axes: Array
    rotation: Array
    turns: float

    def __init__(
        self,
        center: ArrayLike,
        radius: float,
        *,
        speed: float | None = None,
        rpm: float | None = None,
        axes: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
        rotation: ArrayLike | Rotation | None = None,
        turns: float = 1.0,
    ) -> None:
        if speed is None and rpm is not None:
            speed, rpm = rpm * np.pi / 30, None
        if speed is None or rpm is not None:
            raise self._error("needs either speed (rad/s) or rpm")
        rate = self._numbers("speed", speed, ())
        self._refuse("speed", rate, rate == 0, "must not be zero")
        pair = self._numbers("axes", axes, (2, 3))
        basis, triangle = np.linalg.qr(pair.T)
        lengths = np.diagonal(triangle)
        if np.any(np.abs(lengths) <= 1e-9 * np.linalg.norm(pair, axis=-1)):
            raise self._error("axes must not be zero or parallel (to 1e-9 rad)")
        self._set(axes=self._numbers("axes", (basis * np.sign(lengths)).T), speed=float(rate))
        middle = self._numbers("center", center, (3,))
        pose = self._poses("pose", Motion(middle, rotation), one=True)
        self._set(center=middle, rotation=pose.rotation)
        self._set(radius=self._positive("radius", radius), turns=self._positive("turns", turns))
        self._set(duration=self.turns * 2 * np.pi / abs(self.speed))

    def _state(self, t: Array) -> State:
        alpha = self.speed * t[..., None]
        outward = np.cos(alpha) * self.axes[0] + np.sin(alpha) * self.axes[1]
        along = np.cos(alpha) * self.axes[1] - np.sin(alpha) * self.axes[0]
        position, velocity = self.center + self.radius * outward, self.radius * self.speed * along
        acceleration, still = -self.radius * self.speed**2 * outward, np.zeros_like(velocity)
        return position, self.rotation, velocity, still, acceleration, still


@dataclass(frozen=True, eq=False, init=False)
class ConstantAcceleration(Trajectory):
    """Piecewise constant acceleration of position and Euler angles, from rest at `start`.

        Ẍ = A_i for t_i ≤ t < t_i + T_i,    X = [x, y, z, three Euler angles]    (m, rad)

    Kim & Ryu 2002, Eq. 33, with X = [x, y, z, Ψ, θ, φ]. At an instant where the acceleration jumps
    the new one counts; at the very end the last. Times outside the pieces are refused.

    `start` is X at t = 0, or a Motion of batch shape () for its pose; `accelerations` (n, 6) in
    m/s² and rad/s²; `durations` (s) one number or (n,); `convention` as in `gough.base.rotations.euler`.
    """

    start: Array
    accelerations: Array
    durations: Array
    convention: str

    def __init__(
        self,
        start: ArrayLike | Motion,
        accelerations: ArrayLike,
        durations: ArrayLike,
        convention: str = "kim-ryu-2002",
    ) -> None:
        pieces = self._numbers("accelerations", accelerations)
        if pieces.ndim != 2 or pieces.shape[0] == 0 or pieces.shape[1] != 6:
            raise self._error(f"accelerations has shape {pieces.shape}, needs (n, 6)")
        spans = self._numbers("durations", durations, (), (len(pieces),))
        self._refuse("durations", spans, spans <= 0, "must be positive")
        self._set(start=self._coordinates(start, convention), convention=convention)
        self._set(accelerations=pieces, durations=np.broadcast_to(spans, len(pieces)))
        self._set(duration=float(self.durations.sum()))

    @property
    def breaks(self) -> Array:
        """Begins and ends of the pieces, s."""
        return np.concatenate([[0.0], np.cumsum(self.durations)])

    def _state(self, t: Array) -> State:
        begin = np.cumsum(self.durations) - self.durations
        spans, pieces = self.durations[:, None], self.accelerations
        speeds = np.cumsum(pieces * spans, axis=0) - pieces * spans
        steps = speeds * spans + pieces * spans**2 / 2
        i = np.clip(np.searchsorted(begin, t, side="right") - 1, 0, len(begin) - 1)
        s, xdd = (t - begin[i])[..., None], pieces[i]
        xd = speeds[i] + xdd * s
        x = self.start + (np.cumsum(steps, axis=0) - steps)[i] + speeds[i] * s + xdd * s**2 / 2
        return _from_coordinates(self.convention, x, xd, xdd)


@dataclass(frozen=True, eq=False, init=False)
class Fourier(Trajectory):
    """Sums of sines and cosines about a centre pose; goes on for all times.

        [d; θ] = Σ_h S_h sin(2π h t/period) + C_h cos(2π h t/period),    h = 1 … harmonics
        p = p_c + d,    R = exp(θ×) R_c,    displacement d (m), rotation vector θ (rad)

    `center` is a Motion of batch shape (), of which position and rotation count; `sine`, `cosine`
    (6, harmonics) are S and C, rows [x, y, z, θx, θy, θz], world axes. Duration: cycles · period.
    """

    outside: ClassVar[Outside] = "continue"
    center: Motion
    sine: Array
    cosine: Array
    period: float
    cycles: float

    def __init__(
        self, center: Motion, sine: ArrayLike, cosine: ArrayLike, period: float, cycles: float = 1.0
    ) -> None:
        self._set(center=self._poses("center", center, one=True))
        sines = self._numbers("sine", sine)
        if sines.ndim != 2 or sines.shape[0] != 6:
            raise self._error(f"sine has shape {sines.shape}, needs (6, harmonics)")
        self._set(sine=sines, cosine=self._numbers("cosine", cosine, sines.shape))
        cycles, period = self._positive("cycles", cycles), self._positive("period", period)
        self._set(cycles=cycles, period=period, duration=cycles * period)

    def _state(self, t: Array) -> State:
        w = 2 * np.pi / self.period * np.arange(1, self.sine.shape[1] + 1)
        waves = np.exp(1j * w * t[..., None])
        phasors = (self.cosine - 1j * self.sine).T
        x, xd, xdd = (((1j * w) ** order * waves @ phasors).real for order in range(3))
        turn, omega, omega_dot = rotations.exponential(x[..., 3:], xd[..., 3:], xdd[..., 3:])
        position, rotation = self.center.position + x[..., :3], turn @ self.center.rotation
        return position, rotation, xd[..., :3], omega, xdd[..., :3], omega_dot


@dataclass(frozen=True, eq=False, init=False)
class Spline(Trajectory):
    """Smoothly through given poses at given times; times outside them are refused.

    Position: the quintic spline through the points, four times continuously differentiable (not a
    knot at the ends); through fewer than six poses, the polynomial of least degree. Rotation: the same
    splines through the unit quaternions of what a constant angular velocity leaves, divided by their
    length. Rates are as good at both ends as inside, to the fourth power of the step, and the same
    whatever axes world and platform have.

    `times` (n,) in s, increasing, from any first time; `poses` is a Motion of batch shape (n,), of
    which position and rotation count. Each pose is reached by the shorter way round from the one before,
    beside the mean turn; turns over 2.9 rad are an error, cured by poses in between.
    """

    times: Array
    poses: Motion
    _spline: PoseSpline = field(init=False, repr=False)

    def __init__(self, times: ArrayLike, poses: Motion) -> None:
        poses = self._poses("poses", poses, one=False)
        times = self._numbers("times", times, poses.shape)
        self._refuse("times", times, np.r_[False, np.diff(times) <= 0], "must increase")
        t = times - times[0]
        self._set(times=times, poses=poses, start_time=float(times[0]), duration=float(t[-1]))
        try:
            self._set(_spline=PoseSpline(t, poses.position, poses.rotation))
        except InputError as error:
            raise self._error(str(error)) from None

    def _state(self, t: Array) -> State:
        return self._spline(t)


def _from_coordinates(convention: str, x: Array, xd: Array, xdd: Array) -> State:
    """State from (..., 6) coordinates [x, y, z, three Euler angles] and their derivatives."""
    rotation, omega, omega_dot = rotations.euler(convention, x[..., 3:], xd[..., 3:], xdd[..., 3:])
    return x[..., :3], rotation, xd[..., :3], omega, xdd[..., :3], omega_dot
